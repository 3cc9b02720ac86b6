/* said.h - the messages of a chat's request as text. */
#pragma once

#include "surface/surface.h"

/* A body's conversation: what was said, and where a block of memory for it goes in the body. */
struct talk {
    struct said *said;          /* the system text first, if there is one */
    const struct json **places; /* of the same number: a message or item, or NULL */
    size_t n;
};
/* There is room for one more. */
void talk_add(struct talk *t, struct said said, const struct json *place);

bool role_is_system(str role);

/* The text of a message's content: a string, or its text parts joined by newlines. */
str text_of_content(struct arena *a, const struct json *content);

/* The texts of an array of messages. False when it is not an array, is empty, or a message has no
 * role. */
bool said_read(struct ctx *ctx, const struct json *messages, struct said **out, size_t *n);

/* The user's last message, and how many tokens all of them have: for the built-in model. */
str said_question(const struct said *said, size_t n);
int64_t said_tokens(const struct said *said, size_t n);
