/* dependency.h - a server that may fail: its circuit breaker, how it last went, words and log. */
#pragma once

#include <stdatomic.h>

#include "base/ctx.h"

enum { DEPENDENCY_FIRST_MS = 1000, DEPENDENCY_MOST_MS = 60000 };

/* One server has two kinds where a failure for one caller says nothing about the other. */
enum dependency_kind {
    DEPENDENCY_EMBED_QUESTIONS, /* the embedding source, for the questions of chats */
    DEPENDENCY_EMBED_QUEUE,     /* the embedding source, for what is kept */
    DEPENDENCY_RERANK,
    DEPENDENCY_CORE_MODEL, /* for background work and requests */
    DEPENDENCY_SECTIONS,   /* the core model where a chat waits for its choice of a section */
    DEPENDENCY_REWRITE,    /* the core model where a chat waits for its question */
    DEPENDENCY_QDRANT
};

/* All zero but the kind: nothing has failed. Any number of threads may share one. */
struct dependency {
    enum dependency_kind kind;
    atomic_int_least64_t until_us;  /* clock_mono_us until which the circuit is open; 0: closed */
    atomic_int_least64_t wait_ms;   /* of the last failure; each failure doubles it */
    atomic_int_least64_t tried_us;  /* clock_mono_us of the last try; 0: none */
    atomic_int last;                /* enum status of the last try */
    atomic_uint_least64_t failures; /* since the start */
};

/* UPSTREAM, with dependency_why, while the circuit is open; of several callers that come when the
 * wait is over, one may try. *ticket goes to dependency_end. */
MUST_USE enum status dependency_begin(struct ctx *ctx, struct dependency *d, int64_t *ticket);
/* A try although the circuit may be open, for an administrator who asks. */
int64_t dependency_begin_now(struct dependency *d);
/* How the try ended. A status that is not the server's fault closes the circuit; a cancelled call
 * says nothing. Of several tries that failed together one counts. The first failure and the first
 * success after it are logged, with ctx->why. */
void dependency_end(const struct ctx *ctx, struct dependency *d, int64_t ticket, enum status s);
/* Forgets failures: the settings changed, or somebody may have repaired the server. */
void dependency_reset(struct dependency *d);

/* Whether nobody may try now. */
bool dependency_is_open(const struct dependency *d);
/* Whether the last try failed, also when the next one is due. */
bool dependency_is_failing(const struct dependency *d);
/* Whole seconds until the next try, at least 1; 0: it does not fail. */
int64_t dependency_seconds(const struct dependency *d);

/* How the last try ended: "the core model timed out". */
str dependency_last(struct arena *a, const struct dependency *d);
/* "<what>: circuit open, not retried for 3 s" */
str dependency_retry(struct arena *a, const struct dependency *d, str what);
/* Both: "the core model timed out: circuit open, not retried for 3 s". */
str dependency_why(struct arena *a, const struct dependency *d);
