/* helper_calls.h - requests that a client's program makes for itself: titles, tags, sub-agents. */
#pragma once

#include "surface/surface.h"

/* One row of the table: who asks for what, how it is recognized, and what memory does for it. */
struct helper_call;

/* What is looked at of a request. */
struct helper_facts {
    const struct request *in;
    const struct json *root; /* the body */
    const str *system;       /* the system texts */
    size_t n_system;
    str last;        /* the last message of the user, with what the program has added to it */
    size_t messages; /* besides the system texts */
};

/* The first row that fits, or NULL: a chat of the user's, as far as the table knows. */
const struct helper_call *helper_call_find(const struct helper_facts *f);
/* For what only its API can recognize: a message without any words of the user, the program's own
 * question, and a part of it that works for the chat: its user is the chat's model. */
extern const struct helper_call helper_note, helper_own, helper_agent;

/* Sets the mode, the name and the kind of the turn. A turn with is_aside is begun without the
 * messages from the user's last one on. */
void helper_call_apply(struct arena *a, const struct helper_call *call, struct turn_in *turn);

/* All of it for a body whose system texts are messages, as at chat completions, which are in
 * turn->said: of an aside, the program's own message and what follows it are left out. */
void helper_call_read(struct arena *a, const struct request *in, const struct json *root,
                      struct turn_in *turn);
