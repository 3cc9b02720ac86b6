/* change.h - a correction of a memory: what it takes, and what bulk changes take from it. */
#pragma once

#include "surface/surface.h"

#define UNDO_HEADER "X-Rememberd-Undo"
#define UNDO_UNTIL_HEADER "X-Rememberd-Undo-Until"

/* Of a struct memory. */
extern const struct field change_in_fields[];
/* The members that a change's JSON names, as CHANGE_…. BAD_INPUT for a null that cannot be. */
MUST_USE enum status change_named(struct ctx *ctx, const struct json *body, unsigned *what);
handler memory_change;
/* Adds the version of a memory to its answer. */
void memory_tag(struct ctx *ctx, const struct memory *m, struct reply *out);
/* Makes a mark; *out is NULL unless the query says undo=true. */
MUST_USE enum status undo_asked(struct ctx *ctx, const struct request *in, struct undo_mark *mark,
                                const struct undo_mark **out);
