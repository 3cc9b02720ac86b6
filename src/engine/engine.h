/* engine.h - the face of the engine: the verbs of memory, each in its part. */
#pragma once

#include "core/settings.h"
#include "engine/accounts.h"
#include "engine/chat.h"
#include "engine/context.h"
#include "engine/distil.h"
#include "engine/events.h"
#include "engine/files.h"
#include "engine/history.h"
#include "engine/inspect.h"
#include "engine/jobs.h"
#include "engine/memories.h"
#include "engine/recall.h"
#include "engine/review.h"
#include "engine/runtime.h"
#include "engine/text.h"

/* The store stays the caller's. UNSUPPORTED: the patterns of extraction do not compile here. */
MUST_USE enum status engine_open(struct ctx *ctx, struct store *store,
                                 const struct settings *settings, struct engine **out);
void engine_close(struct engine *e);
