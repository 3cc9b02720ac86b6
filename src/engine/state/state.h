/* state.h - the common state of the engine's files: parts, counters, steps of its verbs. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "embed/embed.h"
#include "embed/reranker.h"
#include "engine/engine.h"
#include "engine/state/dependency.h"
#include "engine/state/unkept.h"
#include "llm/llm.h"
#include "store/store.h"

struct feed;
struct known_tokens;
struct registry;
struct snapshot;

/* Why what waits for vectors gets none. */
enum trouble { TROUBLE_NONE, TROUBLE_SOURCE, TROUBLE_LENGTH, TROUBLE_STORE, TROUBLE_OTHER };

/* The live settings: runtime_settings.c. */
struct settings_state {
    _Atomic(struct snapshot *) now;
    atomic_bool is_changing;     /* one thread makes another snapshot */
    atomic_int_least64_t looked; /* clock_mono_us of the last look at what is stored */
    bool is_unread;              /* that look failed; of the thread that is changing */
};

/* What makes vectors, and for which set. */
struct vectors_state {
    struct dependency questions; /* the source, as chats meet it */
    struct dependency making;    /* the source, as the queue meets it */
    atomic_uint_least64_t warm;  /* hash of the source that has made a vector here */
    pthread_mutex_t beginning;   /* one thread at a time looks at the set and begins another */
    atomic_uint_least64_t begun; /* of the set of vectors that was in force last */
    _Atomic(enum trouble) trouble;
};

struct core_model_state {
    struct dependency background;    /* as distillation and requests meet it */
    struct dependency sections;      /* as chats that wait for a section meet it */
    struct dependency rewriter;      /* as chats that wait for their question meet it */
    struct llm_meter meter;          /* tokens spent */
    atomic_int_least64_t took_ms;    /* how long a session takes, about; 0: not known */
    atomic_int_least64_t part_turns; /* that fit into one answer, as cut ones show; 0: all */
    atomic_int_least64_t wants;      /* tokens that a session needs and the hour lacked */
};

struct qdrant_state {
    struct dependency server;
    atomic_bool is_syncing;      /* one thread carries memories to it */
    atomic_uint_least64_t about; /* hash of the settings that the dependency is about */
};

/* What runs in the background, and what it gives way to. */
struct work_state {
    atomic_bool is_consolidating; /* one thread consolidates a pool */
    atomic_bool is_looking;       /* one thread claims sessions that are due */
    atomic_int ingests;           /* ingested conversations whose callers wait for the model */
    atomic_int_least64_t chat_at; /* clock_mono_us of when the last turn of a chat began */
    atomic_int asking;            /* chats whose model waits for what is recalled */
    struct spool *spool;          /* turns that wait for the store; or NULL */
    int late_tries;               /* of its first line; of the thread that keeps it */
};

struct accounts_state {
    uint8_t *_Atomic seal;   /* what model keys are sealed with, guarded; or NULL */
    atomic_bool needs_token; /* once it is true it stays */
    struct known_tokens *known;
    atomic_int_least64_t token_look; /* clock_mono_us of the last look that found none; 0: never */
};

#define COUNTER(name) atomic_uint_least64_t name;
struct counters {
    ENGINE_COUNTERS(COUNTER)
    atomic_uint_least64_t recall_buckets[RECALL_BUCKETS];
};
#undef COUNTER

/* Made once; only what is atomic changes afterwards. */
enum { QUOTA_SLOTS = 64 };

struct engine {
    struct store *store;
    const struct settings *settings;
    struct embed *embed;
    struct settings_state runtime;
    struct vectors_state vectors;
    struct core_model_state core_model;
    struct dependency rerank;
    struct reranker *reranker; /* of this machine */
    struct qdrant_state qdrant;
    struct work_state work;
    struct accounts_state accounts;
    struct unkept_list unkept;
    struct counters counters;
    struct feed *feed;                              /* events/feed.c */
    struct registry *jobs;                          /* jobs/registry.c */
    atomic_uint_least64_t quota_noted[QUOTA_SLOTS]; /* hashes of users whose limit was logged */
};

/* --- quota.c --- */

/* What they count as. */
int64_t quota_bytes(const struct message *messages, size_t n_messages,
                    const struct memory *memories, size_t n_memories);
/* By how many bytes a change makes a memory longer; below 0: shorter, which is always possible. */
int64_t quota_grown(const struct change *change, const struct memory *old);
/* engine_check_quota of one more token. */
MUST_USE enum status quota_check_token(struct ctx *ctx, struct engine *e, str user);
/* Logs once that a user has reached a limit. */
void quota_note(struct engine *e, str user, const char *why);

/* Adds to a counter; nothing is ordered by it. */
static inline void count(atomic_uint_least64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* Whether a chat began in the last moment, so that others are expected. */
enum { CHATS_MS = 50 };
bool engine_has_chats(const struct engine *e);

/* Counts a recall and how long it took; engine_recall calls it, whoever asked. Whether it put
 * something into a chat, was silent, late or failed there is counted by the turn. */
void engine_count_recall(struct engine *e, int64_t took_us);

/* --- runtime_settings.c --- */

/* The first snapshot; needs the store and embed. */
MUST_USE enum status runtime_open(struct ctx *ctx, struct engine *e);
void runtime_free(struct engine *e);
/* Forgets failures of the source of vectors, so that it is retried at once. */
MUST_USE enum status runtime_renew(struct ctx *ctx, struct engine *e);

/* Whether chats have memory. A budget_tokens of 0 from the API also keeps nothing; one from
 * elsewhere only injects nothing. */
bool runtime_remembers(const struct settings *r);
/* Most tokens of a chat's block. */
int64_t runtime_budget(const struct settings *r);
/* Chats find only memories made since this time; 0: of any age. */
int64_t runtime_after(const struct settings *r, int64_t now);
/* Whether messages are kept no longer than episodes: someone has set how long. */
bool runtime_prunes(const struct settings *r);

/* A page of a session's messages, in order: those at the `most` positions in front of *end, or
 * (*end < 0) the last. *end becomes the end of the page in front of it; 0: there is none. */
MUST_USE enum status messages_before(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     str session, size_t most, int64_t *end, struct message **v,
                                     size_t *n);
