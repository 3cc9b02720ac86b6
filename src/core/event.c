/* event.c - the names of events. */
#include "core/event.h"

#define EVENT_NAME(id, name) [id] = name,
const char *const event_names[] = {EVENTS(EVENT_NAME) NULL};
#undef EVENT_NAME
