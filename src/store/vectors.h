/* vectors.h - the set of vectors that a store keeps, and the queue of texts that wait for one. */
#pragma once

#include "core/memory.h"

struct store;

/*
 * Every message and memory that is searched by words can have a vector, too. One model makes all
 * vectors of a store: another signature, length or precision begins another set, and every document
 * waits for a new vector. Without a set nothing waits and nothing is kept.
 */
struct vector_set {
    str signature; /* "static:potion-base-8M:256"; "" when there is no set */
    size_t dimensions;
    bool is_int8;  /* kept as int8, else as float32 */
    int64_t begun; /* unix ms; set by the store */
};
/* Cheap. Without a set, dimensions is 0. */
MUST_USE enum status store_vector_set(struct ctx *ctx, struct store *s, struct vector_set *out);
/* Removes all vectors and queues every document, in one transaction. When that set is in force and
 * `anew` is false, only what was given up is queued again. signature "" ends vectors. */
MUST_USE enum status store_begin_vectors(struct ctx *ctx, struct store *s,
                                         const struct vector_set *set, bool anew);

/* A text that waits for its vector. */
struct unembedded {
    int64_t no; /* in the queue; another one once the text has changed */
    doc_id doc;
    struct pool_ref pool;
    str text;
    int64_t tries; /* that failed */
};
/* Those that are due, oldest first; pool NULL: of every pool. */
MUST_USE enum status store_unembedded(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                      size_t limit, struct unembedded **out, size_t *n);

struct vector_put {
    int64_t no;
    doc_id doc;
    const float *v;   /* length 1; NULL: it could not be made */
    int64_t again_at; /* without v: when to try again, unix ms; 0: never */
    str tokens;       /* vectors of its tokens, as store_token_vectors shall give them; or "" */
};
/* Keeps vectors of the set with that signature, in one transaction. Texts that no longer wait
 * (changed, erased, another set) are skipped. */
MUST_USE enum status store_put_vectors(struct ctx *ctx, struct store *s, str signature,
                                       const struct vector_put *v, size_t n);

struct vector_stats {
    int64_t rows, waiting, failed; /* failed: given up */
    int64_t bytes;                 /* in memory */
};
/* pool NULL: of the whole store. */
MUST_USE enum status store_vector_stats(struct ctx *ctx, struct store *s,
                                        const struct pool_ref *pool, struct vector_stats *out);

/* What Qdrant, a vector server beside the store, has found. */
struct qdrant_hit {
    str id, payload; /* of the memory, and as JSON */
    double score;
};
