/* engine_int.h - what the files of the engine share: its parts, its counters, a turn's steps. */
#pragma once

#include <stdatomic.h>

#include "engine/engine.h"

struct extractor;

/* Made once; only the counters change afterwards. */
struct engine {
    struct store *store;
    const struct settings *settings;
    struct extractor *extractor;
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

/* --- extract.c --- */

/* The patterns, compiled. Any number of threads may match with one. */
struct extractor *extractor_new(void);
void extractor_free(struct extractor *x);

/* The list v of n with room for one more; it moves when n is a power of two. */
struct memory *memories_with_room(struct arena *a, struct memory *v, size_t n);

/* --- session.c --- */

/*
 * Finds where the conversation of a turn stands in the store and fills record.session, fresh,
 * n_fresh, chain and last. *exclude are the ids of its messages, as far as they are known. A store
 * that does not answer is as one that knows nothing.
 */
void turn_place(struct ctx *ctx, struct engine *e, struct turn *t, struct strs *exclude);

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

/* The remembered texts of a block, one for each of its lines. */
struct strs block_texts(struct arena *a, str block);
