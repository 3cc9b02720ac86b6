/* items.h - the input of a response as a conversation: who said what, and where. */
#pragma once

#include "surface/proxy/model_chat.h"

/* instructions first, then the input: a text, whose place is the input itself, or items. False when
 * there is no input that can be read. */
bool items_read(struct arena *a, const struct json *root, bool is_codex, struct talk *out);

/* The body's member input.type, for an item; "message" when the type is missing. */
str item_type(const struct json *item);

/* Puts a block behind what was said there, as an item of its own, unless the client has it there
 * already. */
void items_put(struct splice *s, const struct json *place, const char *role, str block);
