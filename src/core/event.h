/* event.h - changes, for those who follow a server: a kind and an id, never a text. */
#pragma once

#include "core/memory.h"

enum event_kind {
    EVENT_MEMORY_ADDED,
    EVENT_MEMORY_CHANGED,
    EVENT_MEMORY_CLOSED,
    EVENT_MEMORY_OPENED, /* a closed one is true again */
    EVENT_MEMORY_ERASED,
    EVENT_TURN_KEPT, /* messages were added; id is the session's */
    EVENT_MESSAGE_ERASED,
    EVENT_SESSION_ADDED,
    EVENT_SESSION_CHANGED, /* its title or metadata */
    EVENT_SESSION_ERASED,
    EVENT_SPACE_ADDED,
    EVENT_SPACE_ERASED,
    EVENT_RECEIPT_WRITTEN,
    EVENT_REVIEW_CHANGED, /* a text is held back, or was decided about */
    EVENT_SETTINGS_CHANGED,
    EVENT_JOB_CHANGED,
    EVENT_RESET, /* more than can be listed: whoever follows reads everything again */
    EVENT_ACCESS /* tokens or an account changed. Nobody gets it: streams that it is about end */
};
/* "memory.added" and so on; NULL-ended, in the order of the enum. */
extern const char *const event_names[];

struct event {
    enum event_kind kind;
    struct pool_ref pool; /* whose; user "": settings, a job of the server, or what is for all */
    str id;               /* of what the kind names, or "" */
};
