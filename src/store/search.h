/* search.h - searching a pool: by words, by a vector, and for pairs of near documents. */
#pragma once

#include "core/memory.h"

struct store;

/* --- words --- */

/* One document that holds at least one of the words, with counts in its own words and its label. */
struct word_hit {
    doc_id doc;
    uint8_t counts[QUERY_WORDS_MAX]; /* up to 15 each; low half: own words, high half: label */
};

struct word_hits {
    struct word_hit *v; /* ascending by doc: a session's messages are neighbours, in order */
    size_t n;
    int64_t messages, memories;      /* in the pool */
    uint32_t found[QUERY_WORDS_MAX]; /* documents per word; UINT32_MAX: skipped, too common */
};

/*
 * Every document of the pool that holds a word of the query; stems are as words_of gives them.
 * Superseded and expired memories are not found. When the words have more than max documents
 * together, the commonest words are skipped (see found) rather than some documents. Among memories
 * alone many messages with the words crowd out none.
 */
MUST_USE enum status store_search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                        const str *stems, size_t n, bool memories_only, size_t max,
                                        struct word_hits *out);
/* Says, in a view, that these words of any number will be searched, QUERY_WORDS_MAX at a time,
 * among memories alone or not: where a question to the store takes time, they are asked together.
 */
MUST_USE enum status store_ask_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                     const str *stems, size_t n, bool memories_only, size_t max);
/* Where all words are too common: of each word the newest max messages and as many memories.
 * `found` is the size of the pool then, as if each document had the word. */
MUST_USE enum status store_search_newest_words(struct ctx *ctx, struct store *s,
                                               struct pool_ref pool, const str *stems, size_t n,
                                               bool memories_only, size_t max,
                                               struct word_hits *out);

/* --- vectors --- */

struct vector_find {
    struct pool_ref pool;
    str signature; /* of the set that the question's vector belongs to */
    const float *v;
    size_t dimensions;
    size_t nearest;          /* how many to find */
    bool messages, memories; /* among which */
    const doc_id *also;      /* these are compared as well, near or not */
    size_t n_also;
};
struct vector_hit {
    doc_id doc;
    float cosine; /* with its vector; 0 when it has none */
    float window; /* of a message: with the unit sum of its own, the two before and the one after */
    bool is_near; /* one of the nearest */
};
struct vector_hits {
    struct vector_hit *v; /* ascending by doc, each once */
    size_t n;
    int64_t vectors; /* of the pool; 0 when the signature is not that of the set */
    int64_t waiting; /* of the pool; counted up to 1000 */
};
/*
 * Compares every vector of the pool. With int8 sets a cosine is off by 0.0006 (at 256 dimensions,
 * on average); with float32 sets those of the nearest are exact. A pool's vectors stay in memory
 * from its first search on, and the least used pools are evicted. TIMED_OUT when reading them takes
 * more than half of the time left; the next search continues there. Damaged vectors are skipped and
 * made again.
 */
MUST_USE enum status store_search_vectors(struct ctx *ctx, struct store *s,
                                          const struct vector_find *f, struct vector_hits *out);

/* A row is not copied: it lives until the call returns. */
typedef void token_vectors_see(void *what, size_t i, str row);
/*
 * Shows what was put with the vectors of these documents of the pool (ascending, each once) about
 * their tokens: see(what, i, row) for each docs[i] that has something, in any order.
 */
MUST_USE enum status store_token_vectors(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                         const doc_id *docs, size_t n, token_vectors_see *see,
                                         void *what);

/* Two documents of a list, by their places in it, the earlier one first. */
struct vector_pair {
    uint32_t one, other;
    float cosine;
};
struct vector_pairs {
    struct vector_pair *v;
    size_t n;
    bool *has_vector; /* of each document of the list */
};
/* For each document the nearest ones behind it in the list, at most `each`, with a cosine of at
 * least `least`. Compares all pairs, by int8: a second for 10,000. TIMED_OUT at the deadline. */
MUST_USE enum status store_vector_pairs(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                        const doc_id *docs, size_t n, float least, size_t each,
                                        struct vector_pairs *out);
