/* project.h - the space of a project: beside the user's own memory, one for each folder of code. */
#pragma once

#include "surface/surface.h"

/* What the name of every project's space begins with. */
#define PROJECT_PREFIX "project:"

/* "project:NAME-HASH" of a path: the last folder's name, and 8 digits that tell two folders of one
 * name apart. "" for a path without a folder. */
str project_space(struct arena *a, str path);

/*
 * The pool of the project that a session works in: where the session is kept already, else that of
 * the path. So a session stays in its project when it changes its folder. user is the owner.
 */
MUST_USE enum status project_pool(struct ctx *ctx, struct app *app, str user, str session, str path,
                                  struct pool_ref *out);
