/* session_history.h - a session's earlier messages, as a request to a model holds them. */
#pragma once

#include "surface/proxy/splice.h"
#include "surface/surface.h"

/* The messages that the turn's model is shown, which become the turn's window. Its pool, session
 * and model are set; asked is the user's new message. */
MUST_USE enum status history_of(struct ctx *ctx, struct app *app, struct turn_in *t,
                                int64_t system_tokens, str asked, struct window *out);

/* {"role":…,"content":…} */
void history_message(struct json_out *w, str role, str text);
/*
 * A model that demands that user and assistant take turns refuses two messages of one role in a
 * row, which failed answers leave behind. So adjacent messages of one role become one, with a blank
 * line between their texts, and those of the user at the window's end go in front of the new
 * message.
 */
str history_unanswered(struct arena *a, const struct window *window);
/* The others, as elements of an open array. */
void history_write(struct arena *a, struct json_out *w, const struct window *window);
/* Gives the messages the blocks of memory that stood beside them, in a copy of the list. */
void history_put_earlier(struct arena *a, struct window *window, const struct turn_out *turn,
                         bool is_front);
/* Puts all of them into a body, after the system messages at its front. */
void history_splice(struct splice *body, const struct json *messages, const struct window *window);
