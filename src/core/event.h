/* event.h - changes, for those who follow a server: a kind and an id, never a text. */
#pragma once

#include "core/memory.h"

/* Kinds and their names. Nobody gets EVENT_ACCESS: streams that it is about end. */
#define EVENTS(X)                                                                                  \
    X(EVENT_MEMORY_ADDED, "memory.added")                                                          \
    X(EVENT_MEMORY_CHANGED, "memory.changed")                                                      \
    X(EVENT_MEMORY_CLOSED, "memory.closed")                                                        \
    X(EVENT_MEMORY_OPENED, "memory.opened") /* a closed one is true again */                       \
    X(EVENT_MEMORY_ERASED, "memory.erased")                                                        \
    X(EVENT_TURN_KEPT, "turn.kept") /* messages were added; id is the session's */                 \
    X(EVENT_MESSAGE_ERASED, "message.erased")                                                      \
    X(EVENT_SESSION_ADDED, "session.added")                                                        \
    X(EVENT_SESSION_CHANGED, "session.changed") /* its title or metadata */                        \
    X(EVENT_SESSION_ERASED, "session.erased")                                                      \
    X(EVENT_SPACE_ADDED, "space.added")                                                            \
    X(EVENT_SPACE_ERASED, "space.erased")                                                          \
    X(EVENT_RECEIPT_WRITTEN, "receipt.written")                                                    \
    X(EVENT_REVIEW_CHANGED, "review.changed") /* a text is held back, or was decided about */      \
    X(EVENT_SETTINGS_CHANGED, "settings.changed")                                                  \
    X(EVENT_JOB_CHANGED, "job.changed")                                                            \
    X(EVENT_RESET, "reset") /* more than can be listed: whoever follows reads everything again */  \
    X(EVENT_ACCESS, "access") /* tokens or an account changed */
#define EVENT_ENUM(id, name) id,
enum event_kind { EVENTS(EVENT_ENUM) };
#undef EVENT_ENUM
/* NULL-ended, in the order of the enum. */
extern const char *const event_names[];

struct event {
    enum event_kind kind;
    struct pool_ref pool; /* whose; user "": settings, a job of the server, or what is for all */
    str id;               /* of what the kind names, or "" */
};
