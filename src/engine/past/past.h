/* past.h - memories as they were true at a time, for a recall that asks how it was then. */
#pragma once

#include "engine/state/state.h"

/* A memory is true from valid_from (where that is earlier than its creation) until it was closed or
 * expired. One that was closed since is no longer in the index, so that its words are looked at
 * here. Vectors of it are gone: by meaning alone it is not found. Content that was corrected in
 * place is the corrected one. */
struct past {
    struct ctx *ctx; /* for what is read, here and by the calls below */
    struct engine *e;
    struct pool_ref pool;
    int64_t at;       /* unix ms; 0: now, and nothing below differs from the store */
    struct memory *v; /* true then, and not found by today's searches; newest first */
    size_t n;
};

/* Reads them. */
MUST_USE enum status past_open(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t at,
                               struct past *out);

/* store_search_words, with those as well. What was made later is among the hits, too: who reads it
 * decides (find_wants). */
MUST_USE enum status past_words(const struct past *past, bool memories_only, const str *stems,
                                size_t n, size_t max, struct word_hits *out);
/* store_memories, each as it was then. */
MUST_USE enum status past_memories(const struct past *past, const doc_id *docs, size_t n,
                                   struct memory *out);
/* store_list_memories of the newest that were there then; of the filter the layer, type, session,
 * after and limit count. */
MUST_USE enum status past_list(const struct past *past, const struct memory_filter *f,
                               struct memory **out, size_t *n);
