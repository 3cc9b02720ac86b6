/* event.c - the names of events. */
#include "core/event.h"

const char *const event_names[] = {
    [EVENT_MEMORY_ADDED] = "memory.added",
    [EVENT_MEMORY_CHANGED] = "memory.changed",
    [EVENT_MEMORY_CLOSED] = "memory.closed",
    [EVENT_MEMORY_OPENED] = "memory.opened",
    [EVENT_MEMORY_ERASED] = "memory.erased",
    [EVENT_TURN_KEPT] = "turn.kept",
    [EVENT_MESSAGE_ERASED] = "message.erased",
    [EVENT_SESSION_ADDED] = "session.added",
    [EVENT_SESSION_CHANGED] = "session.changed",
    [EVENT_SESSION_ERASED] = "session.erased",
    [EVENT_SPACE_ADDED] = "space.added",
    [EVENT_SPACE_ERASED] = "space.erased",
    [EVENT_RECEIPT_WRITTEN] = "receipt.written",
    [EVENT_REVIEW_CHANGED] = "review.changed",
    [EVENT_SETTINGS_CHANGED] = "settings.changed",
    [EVENT_JOB_CHANGED] = "job.changed",
    [EVENT_RESET] = "reset",
    [EVENT_ACCESS] = "access",
    NULL,
};
