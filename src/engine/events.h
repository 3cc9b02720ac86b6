/* events.h - a part of the engine's face: following what changes for a user. */
#pragma once

#include "base/fields.h"
#include "core/event.h"

struct engine;
struct listener;

/* Who listens, and to what. */
struct listen_in {
    struct pool_ref pool; /* space "": every space of the user but the hidden ones */
    struct strs hidden;   /* spaces out of reach */
    str spaces;           /* names between commas, of which alone it hears; "": any */
    str owner;            /* the credential's user */
    bool has_token;       /* the credential is an access token */
    bool is_operator;     /* learns of settings and of the server's jobs as well */
    int64_t until;        /* unix ms: when the credential expires; 0: never */
    str after;            /* the id of the last event it has, or "" */
};

/* What it hears. */
struct event_heard {
    enum event_kind kind;
    str id, what, space; /* of the event; of what the event is about, or ""; where that is, or "" */
    int64_t at;          /* unix ms */
};

enum { LISTENERS_MAX = 256, LISTENERS_OF_USER = 8, EVENTS_KEPT = 4096 };

/* Begins to listen. The first listener makes the engine follow its store; before that nothing is
 * noted. TOO_BUSY beyond LISTENERS_OF_USER of one user, or LISTENERS_MAX. */
MUST_USE enum status engine_listen(struct ctx *ctx, struct engine *e, const struct listen_in *in,
                                   struct listener **out);
/* The id before the next event, in the arena. */
str engine_heard_so_far(struct listener *l, struct arena *a);
/* Whether engine_hear has something to say, or the listener has ended: an event loop may ask. */
bool engine_has_heard(struct listener *l);
/* The next event, or false. A listener that is behind by more than EVENTS_KEPT events, or names one
 * that this process did not make, hears EVENT_RESET. */
bool engine_hear(struct listener *l, struct arena *a, struct event_heard *out);
/* Whether its credential may still listen, as far as is known: it is asked again for each stream,
 * so one whose tokens were changed just ends. */
bool engine_may_listen(struct listener *l);
void engine_stop_listening(struct listener *l);
