/* store.h - the face of the store, where memories live; its parts can be read one by one. */
#pragma once

#include "store/accounts.h"
#include "store/bars.h"
#include "store/erasures.h"
#include "store/file.h"
#include "store/follow.h"
#include "store/inspect.h"
#include "store/qdrant.h"
#include "store/queue.h"
#include "store/read.h"
#include "store/review.h"
#include "store/search.h"
#include "store/sessions.h"
#include "store/vectors.h"
#include "store/write.h"

/*
 * Every function may be called from any thread and may block (a read for microseconds to a few ms,
 * a write until it is durable). Results live in the ctx's arena. Reads of a pool that does not
 * exist find nothing. STORAGE is a failure of the disk or the database: ctx->why says which, and
 * the call has changed nothing.
 */
