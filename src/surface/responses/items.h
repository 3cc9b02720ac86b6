/* items.h - the input of a response as a conversation: who said what, and where. */
#pragma once

#include "surface/proxy/splice.h"
#include "surface/surface.h"

struct items {
    const struct json *input;
    struct said *said;
    const struct json **places; /* of the same number: the item, or NULL when it is none */
    size_t n;
};

/* instructions first, then the input: a text, or items. False when there is no input that can be
 * read. */
bool items_read(struct arena *a, const struct json *root, bool is_codex, struct items *out);

/* The body's member input.type, for an item; "message" when the type is missing. */
str item_type(const struct json *item);

/* The cut that puts a block behind what was said at `at`, as an item of its own. False when the
 * client has it there already. */
bool items_put(struct arena *a, const struct items *items, size_t at, const char *role, str block,
               struct cut *out);
