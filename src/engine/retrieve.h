/* retrieve.h - what the parts of retrieval share: the question, what passes, and their lists. */
#pragma once

#include "engine/engine_int.h"

/* One retrieval on its way. */
struct retrieval {
    struct ctx *ctx;
    struct engine *e;
    const struct retrieve_in *in;
    const struct live *live;
    str query;
    int64_t now, after;     /* what was made before `after` is too old */
    size_t most;            /* how long the list of words may become, … */
    size_t nearest;         /* … and that of vectors */
    struct pool_ref *pools; /* that are searched, and … */
    size_t n_pools;
    struct pool_ref whose; /* … as one: space "" is every space of the user */
    bool is_partial;       /* too few of what is searched have a vector yet */
    struct buf fallback;   /* each step down from what was asked for, in words */
};

/* Best first. */
struct ranking {
    struct retrieved *v;
    size_t n;
};

/* Whether a memory may be found at all: of the type and session that are asked for, not expired,
 * not superseded, not too old. Every tier asks this, so none can forget it. */
bool retrieval_wants(const struct retrieval *r, const struct memory *m);

/* A step down. */
void retrieval_note(struct retrieval *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same for a failure that retrieval survives: its words are noted and forgotten in ctx. */
void retrieval_survive(struct retrieval *r, const char *what);

/* --- the lists --- */

/* What retrieve_by_words says of a question. */
enum searchable { HAS_WORDS, HAS_NO_WORDS };

/* By the words index and recall's own scores; *has is HAS_NO_WORDS when the question holds none
 * that can be searched. */
MUST_USE enum status retrieve_by_words(struct retrieval *r, struct ranking *out,
                                       enum searchable *has);

/* By vectors: Qdrant where it is used, else our own. Never fails: an empty list has its reason in
 * the fallback. Fills out->source, model and store when vectors took part. */
struct ranking retrieve_by_vectors(struct retrieval *r, struct retrieve_out *out);

/*
 * The seed's keyword score. Haystacks and query are compared without regard to case. Each haystack
 * that holds the whole query gives 20; for each word of the query the key gives 6 once and the
 * others 3 for each time it stands there. What equals the key counts as the key.
 */
int64_t keyword_score(struct arena *a, str query, str content, str key, str metadata);

/* --- rerank.c --- */

/* Puts a ranking in the order of the model that the settings name. Whatever goes wrong leaves the
 * order, and is noted, counted and told by rerank_status. True when the model's order stands. */
bool rerank(struct retrieval *r, struct ranking *v);
