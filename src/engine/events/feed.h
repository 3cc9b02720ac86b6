/* feed.h - the last events of this process, and who listens. */
#pragma once

#include "core/event.h"
#include "engine/state/state.h"

struct feed *feed_new(struct engine *e);
/* Nobody listens any more. */
void feed_free(struct feed *f);
/* Adds an event that no write of the store makes. */
void feed_tell(struct feed *f, const struct event *v);
