/* talk.h - a Messages body as a conversation: who said what, where a block of memory may stand. */
#pragma once

#include "surface/proxy/model_chat.h"

/* Of a body's thread, which the model's server keeps: the answer that the request continues. */
#define THREAD_ID "previous_message_id"

/*
 * False when there are no messages with roles. Tools' results are messages of the role tool without
 * a text. Only those of the user have a place. What the client's program adds to the user's
 * messages is not the user's words. The last `aside` messages are left out.
 */
bool talk_read(struct arena *a, const struct json *root, size_t aside, struct talk *out);

/* How many messages at the end hold nothing of a user or a tool, but a text of the client's
 * program; 0 when an answer is the last message. */
size_t talk_aside(struct arena *a, const struct json *root);

/* Whether a text is the client's program's: it stands in front of the user's words or for them. */
bool talk_is_note(str text);

/* The text blocks of a message, joined by newlines; without the program's notes they are the user's
 * words. */
str talk_text(struct arena *a, const struct json *content, bool with_notes);
