/* history.h - a session's earlier messages, as a request to a model holds them. */
#pragma once

#include "surface/splice.h"
#include "surface/surface.h"

/* Whether a request may hold new messages alone: nothing in it was answered. */
bool history_is_wanted(const struct said *said, size_t n);

/* Those that the turn's model is shown; the turn, whose pool, session and model are set, knows them
 * from now on. asked is what the user says now. */
MUST_USE enum status history_of(struct ctx *ctx, struct app *app, struct turn *t,
                                int64_t system_tokens, str asked, struct window *out);

/* {"role":…,"content":…} */
void history_message(struct json_out *w, str role, str text);
/* Each of them, as elements of an array that is open. */
void history_write(struct json_out *w, const struct window *window);
/* Puts them into a body, behind the system's messages that its conversation begins with. */
void history_splice(struct arena *a, struct splice *body, const struct json *messages,
                    const struct window *window);
