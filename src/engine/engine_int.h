/* engine_int.h - what the files of the engine share: its parts, its counters, a turn's steps. */
#pragma once

#include <stdatomic.h>

#include "embed/embed.h"
#include "engine/breaker.h"
#include "engine/engine.h"
#include "llm/llm.h"

struct extractor;
struct snapshot;

/* Why what waits for vectors gets none. */
enum trouble { TROUBLE_NONE, TROUBLE_SOURCE, TROUBLE_LENGTH, TROUBLE_STORE, TROUBLE_OTHER };

/* Made once; only what is atomic changes afterwards. */
struct engine {
    struct store *store;
    const struct settings *settings;
    struct extractor *extractor;
    struct embed *embed;
    _Atomic(struct snapshot *) now;    /* the live settings: live.c */
    atomic_bool is_changing;           /* someone makes another snapshot */
    atomic_bool is_consolidating;      /* someone consolidates a pool */
    atomic_int_least64_t looked;       /* clock_mono_us of the last look at what is stored */
    struct breaker questions;          /* vectors: the source, as chats meet it */
    struct breaker making;             /* and as what is kept meets it */
    struct llm_meter meter;            /* what the core model was given to do */
    struct breaker core;               /* of the core model, as distillation meets it */
    struct breaker gate;               /* and as chats meet it that it is late for */
    struct breaker rewriter;           /* the same where it rewrites questions */
    atomic_int_least64_t core_took_ms; /* how long an answer of it takes, about; 0: not known */
    atomic_int_least64_t core_wants;   /* tokens that a session needs and the hour lacked */
    atomic_bool is_looking;            /* someone claims sessions that are due */
    atomic_int_least64_t chat_at;      /* clock_mono_us of when the last turn of a chat began */
    atomic_uint_least64_t distilled, distil_failed; /* sessions */
    atomic_int ingests;                  /* conversations brought in that a model may be asked of */
    struct breaker reranks;              /* of the server that puts in order */
    atomic_int rerank_last;              /* enum status of the last call of it */
    atomic_int_least64_t rerank_asked;   /* clock_mono_us of that; 0: not this model */
    atomic_uint_least64_t rerank_failed; /* how often it has failed */
    struct breaker mirror;               /* of Qdrant */
    atomic_bool is_mirroring;            /* someone carries memories to it */
    atomic_uint_least64_t mirror_of;     /* hash of the settings that it is about */
    atomic_uint_least64_t warm;          /* hash of the source that has made a vector here */
    atomic_uint_least64_t begun;         /* of the set of vectors that was in force last */
    _Atomic(enum trouble) trouble;
    uint8_t *seal;                   /* what model keys are sealed with, guarded; or NULL */
    atomic_bool needs_token;         /* once it is true it stays */
    atomic_int_least64_t token_look; /* clock_mono_us of the last look that found none; 0: never */
    atomic_uint_least64_t recalls, recalled, injected_tokens, silent, timed_out, failed, turns,
        facts, dropped_turns, recall_us_sum;
    atomic_uint_least64_t recall_buckets[RECALL_BUCKETS];
};

/* Adds to a counter; nothing is ordered by it. */
static inline void count(atomic_uint_least64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* Counts a recall and how long it took; engine_recall calls it, whoever asked. Whether it put
 * something into a chat, was silent, late or failed there is counted by the turn. */
void engine_count_recall(struct engine *e, int64_t took_us);

/* --- credentials.c --- */

/* What a new token is: an id, its text and what is kept of it. prefix as for engine_make_token. */
void token_make(struct arena *a, struct token *t, str *secret);

/* --- people.c --- */

void seal_free(struct engine *e); /* wipes it */

/* --- live.c --- */

/* The first snapshot; needs the store and embed. */
MUST_USE enum status live_open(struct ctx *ctx, struct engine *e);
void live_free(struct engine *e);
/* What is known against the source of vectors is forgotten: it is tried again at once. */
MUST_USE enum status live_renew(struct ctx *ctx, struct engine *e);

/* Whether chats have memory. Who has set maxTokens to 0 wants nothing kept either (OmniRoute's
 * rule); the setting budget_tokens of 0 only injects nothing. */
bool live_remembers(const struct live *l);
/* Most tokens of a chat's block. */
int64_t live_budget(const struct engine *e, const struct live *l);
/* Only what was made since then is found in chats; 0: any age. */
int64_t live_after(const struct live *l, int64_t now);
enum strategy live_strategy(const struct live *l);

/* --- vectors.c --- */

/* A question as a vector, in the ctx's arena. */
struct question_vector {
    const float *v; /* NULL: there is none */
    size_t dimensions;
    str signature; /* of what is chosen; "" when nothing is */
    str without;   /* why there is none, in words; "" when there is one */
};
/* Never fails. With a deadline another server is given half of what is left, a model that is not
 * loaded yet is not waited for, and a source that has just failed is left alone. */
void vectors_of_question(struct ctx *ctx, struct engine *e, str text, struct question_vector *out);

/* Before a search outside chats: makes some of the vectors that the pool waits for, so that what
 * was just added is found. At most max texts, one batch, and half of what is left of the deadline;
 * a failure is told by engine_status. */
void vectors_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t max);

/* --- rerank.c --- */

/* Fills out->rerank: how the last call went, or (probe) how one goes now; a call may cost money, so
 * that a status that is asked again and again makes one a minute. */
void rerank_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out);

/* --- extract.c --- */

/* The patterns, compiled. Any number of threads may match with one. */
struct extractor *extractor_new(void);
void extractor_free(struct extractor *x);

/* The list v of n with room for one more; it moves when n is a power of two. */
struct memory *memories_with_room(struct arena *a, struct memory *v, size_t n);

/* Whether it holds what no memory may hold: keys, passwords, card numbers. */
bool extractor_finds_secret(const struct extractor *x, str text);

/* --- session.c --- */

/*
 * Finds where the conversation of a turn stands in the store and fills record.session, whole, ids,
 * fresh, n_fresh, chain and last. A store that does not answer is as one that knows nothing.
 */
void turn_place(struct ctx *ctx, struct engine *e, struct turn *t);

/* The assistant's message at the end of a turn. */
struct message turn_answer(struct arena *a, const struct turn *t, str answer);
/* The sentences of an answer that say more than the block that stood beside the question. */
str echo_says(struct arena *a, str answer, str block);

/* --- block.c --- */

/*
 * The text that carries recalled things beside a message: those marked injected, the best first
 * until the budget is full, then in the order of their dates. What does not fit loses its mark and
 * says why. "" when nothing is left. now and budget_tokens as in recall; budget < 0 has no end.
 */
str block_render(struct arena *a, struct recalled *v, size_t n, int64_t budget_tokens, int64_t now);

/* The remembered texts of a block, ours or Osaurus's, one for each of its lines. */
struct strs block_texts(struct arena *a, str block);
