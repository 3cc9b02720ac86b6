/* hybrid.h - what the parts of hybrid retrieval share: the question, the filter, the rankings. */
#pragma once

#include "engine/state/state.h"

/* One retrieval on its way. */
struct retrieval {
    struct ctx *ctx;
    struct engine *e;
    const struct retrieve_in *in;
    const struct runtime *runtime;
    str query;
    int64_t now, after;     /* memories made before `after` are too old */
    size_t most;            /* most entries of the ranking by words, … */
    size_t nearest;         /* … and of the ranking by vectors */
    struct pool_ref *pools; /* to search, … */
    size_t n_pools;
    struct pool_ref whose; /* … and the same as one filter: space "" is every space of the user */
    bool is_partial;       /* too many of the texts lack a vector */
    struct buf fallback;   /* each step down from the wanted strategy, in words */
};

/* Best first. */
struct ranking {
    struct retrieved *v;
    size_t n;
};

/* Whether a memory may be found at all: of the wanted type and session, not expired, not
 * superseded, not too old. Words, vectors and Qdrant all ask this one function. */
bool retrieval_wants(const struct retrieval *r, const struct memory *m);

/* Notes a step down. */
void retrieval_note(struct retrieval *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same for a failure that retrieval survives: takes its words out of ctx. */
void retrieval_survive(struct retrieval *r, const char *what);

/* --- the lists --- */

/* Whether a question has words that can be searched. */
enum searchable { HAS_WORDS, HAS_NO_WORDS };

/* By the words index and the scores of recall. */
MUST_USE enum status retrieve_by_words(struct retrieval *r, struct ranking *out,
                                       enum searchable *has);

/* By vectors: of Qdrant where it is used, else our own. Never fails: the fallback says why a
 * ranking is empty. Fills out->source, model and store when vectors took part. */
struct ranking retrieve_by_vectors(struct retrieval *r, struct retrieve_out *out);

/*
 * A score that clients of this API know from earlier servers. Case does not matter. Each haystack
 * that holds the whole query gives 20. For each word of the query the key gives 6 once, and the
 * others give 3 for each occurrence. A haystack that equals the key counts as the key.
 */
int64_t keyword_score(struct arena *a, str query, str content, str key, str metadata);

/* --- rerank.c --- */

/* Puts a ranking in the order of the reranker that the settings name. After a failure the order is
 * unchanged; the failure is noted, counted and reported by rerank_status. True when reordered. */
bool rerank(struct retrieval *r, struct ranking *v);
