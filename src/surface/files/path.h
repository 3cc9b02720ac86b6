/* path.h - paths of the memory tool: always under /memories. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#define FILES_ROOT "/memories"
enum { PATH_MAX_BYTES = 512 };

/* The path without empty parts, "." and "..", or false with the words for the model: it is not
 * under the root, leaves it, or tries to in an encoded form. */
bool path_read(struct arena *a, str given, str *out, str *why);

/* Whether path is below folder, and what is behind its slash. */
bool path_is_below(str path, str folder, str *rest);
