/* said.h - the messages of a chat's request as text. */
#pragma once

#include "surface/surface.h"

/* Whether what is there (json_at) is that text. */
bool json_says(const struct json *v, const char *path, const char *text);
/* Whether a body lets the model call a tool of that name. */
bool offers_tool(const struct json *root, const char *name);
/* The text of a message's content: a string, or its text parts joined by newlines. */
str text_of_content(struct arena *a, const struct json *content);
bool role_is_system(str role);

/* The texts of an array of messages. False when it is not an array, is empty, or a message has no
 * role. */
bool said_read(struct ctx *ctx, const struct json *messages, struct said **out, size_t *n);

/* The user's last message, and how many tokens all of them have: for the built-in model. */
str said_question(const struct said *said, size_t n);
int64_t said_tokens(const struct said *said, size_t n);
