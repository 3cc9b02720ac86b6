/* secrets.h - finding and masking what must not be given again: keys, passwords, card numbers. */
#pragma once

#include "base/str.h"

struct engine;
struct memory;
struct strs;

/* Whether a text holds a key, a password, or a number with a valid checksum. */
bool secrets_are_in(str text);

/* Adds each secret of the text that is long enough to be known again, and not yet there. */
void secrets_add(struct arena *a, str text, struct strs *out);

/* The text with "[secret]" in the place of each; the text itself when there is none. These values
 * (or NULL) are secrets as well, wherever they appear. */
str secrets_masked(struct arena *a, str text, const struct strs *values);

/* --- what callers write: masked, unless the setting keeps secrets --- */

str secrets_kept(const struct engine *e, struct arena *a, str text);
/* Of a JSON text, which stays one; "" when that is not possible. */
str secrets_kept_json(const struct engine *e, struct arena *a, str json);
/* The content, also as the value of its key, the metadata and the tags. */
void secrets_leave(const struct engine *e, struct arena *a, struct memory *m);
