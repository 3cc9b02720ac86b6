/* retrieve_words.c - memories by words, with the scores that recall gives them. */
#include <assert.h>
#include <math.h>

#include "engine/hybrid/hybrid.h"
#include "engine/recall/features.h"
#include "engine/recall/rank.h"
#include "engine/text/query.h"

enum {
    HITS_MAX = 100000, /* documents read from the index of a pool */
    WIDEN = 4          /* times as many are read when too few of the best may be found */
};

/* Which pool a document is in. */
struct owner {
    doc_id doc;
    size_t pool;
};

struct word_search {
    struct retrieval *r;
    struct query query;
    struct word_hits hits; /* of all pools */
    struct owner *owners;  /* of the hits, ascending by doc */
    size_t hits_cap, owners_cap;
    float weights[QUERY_WORDS_MAX];
    double unknown;
    struct scan scan;
    struct memory *memories; /* of the scan, as far as they may be found */
    size_t *of;              /* the candidate of each */
    size_t n;
};

static int by_doc(const void *a, const void *b)
{
    const struct word_hit *x = a, *y = b;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

static int by_owned(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

/* A word that the index skipped as too frequent counts as found in every document of the pool. */
static void add_hits(struct word_search *s, const struct word_hits *more, size_t pool)
{
    struct arena *a = &s->r->ctx->arena;
    for (size_t i = 0; i < more->n; i++) {
        s->hits.v = arena_more(a, s->hits.v, s->hits.n, &s->hits_cap, sizeof *s->hits.v);
        s->owners = arena_more(a, s->owners, s->hits.n, &s->owners_cap, sizeof *s->owners);
        s->hits.v[s->hits.n] = more->v[i];
        s->owners[s->hits.n++] = (struct owner){more->v[i].doc, pool};
    }
    for (size_t w = 0; w < s->query.n; w++)
        s->hits.found[w] +=
            more->found[w] == UINT32_MAX ? (uint32_t)more->memories : more->found[w];
    s->hits.memories += more->memories;
}

/* Several pools are searched as if they were one, so that their scores can be compared. */
static enum status search_pools(struct word_search *s)
{
    struct retrieval *r = s->r;
    for (size_t i = 0; i < r->n_pools; i++) {
        struct word_hits more;
        TRY(store_search_memory_words(r->ctx, r->e->store, r->pools[i], s->query.stems, s->query.n,
                                      HITS_MAX, &more));
        add_hits(s, &more, i);
    }
    if (s->hits.n && r->n_pools > 1) {
        qsort(s->hits.v, s->hits.n, sizeof *s->hits.v, by_doc);
        qsort(s->owners, s->hits.n, sizeof *s->owners, by_owned);
    }
    s->unknown = scan_weigh(&s->hits, s->query.n, s->hits.memories, s->weights);
    return OK;
}

/* The candidates of one pool in one read. */
static enum status read_pool(struct word_search *s, size_t pool, const size_t *pool_of,
                             struct memory *out)
{
    struct retrieval *r = s->r;
    doc_id *docs = NEW_N(&r->ctx->arena, doc_id, s->scan.n + 1);
    struct memory *read = NEW_N(&r->ctx->arena, struct memory, s->scan.n + 1);
    size_t n = 0, at = 0;
    for (size_t i = 0; i < s->scan.n; i++)
        if (pool_of[i] == pool)
            docs[n++] = s->scan.v[i].doc;
    if (!n)
        return OK;
    TRY(store_memories(r->ctx, r->e->store, r->pools[pool], docs, n, read));
    for (size_t i = 0; i < s->scan.n; i++)
        if (pool_of[i] == pool)
            out[i] = read[at++];
    return OK;
}

/* Those of the best that may be found. */
static enum status read_best(struct word_search *s)
{
    struct retrieval *r = s->r;
    struct arena *a = &r->ctx->arena;
    size_t *pool_of = NEW_N(a, size_t, s->scan.n + 1);
    struct memory *all = NEW_N(a, struct memory, s->scan.n + 1);
    for (size_t i = 0; i < s->scan.n; i++) {
        struct owner key = {.doc = s->scan.v[i].doc};
        const struct owner *o = bsearch(&key, s->owners, s->hits.n, sizeof key, by_owned);
        assert(o && o->pool < r->n_pools);
        pool_of[i] = o->pool;
    }
    for (size_t i = 0; i < r->n_pools; i++)
        TRY(read_pool(s, i, pool_of, all));
    s->memories = NEW_N(a, struct memory, s->scan.n + 1);
    s->of = NEW_N(a, size_t, s->scan.n + 1);
    s->n = 0;
    for (size_t i = 0; i < s->scan.n && s->n < r->most; i++) {
        if (!retrieval_wants(r, &all[i]))
            continue;
        s->of[s->n] = i;
        s->memories[s->n++] = all[i];
    }
    return OK;
}

/* As many as are wanted, or all there are. */
static enum status pick_best(struct word_search *s)
{
    assert(s->r->most > 0);
    for (size_t most = s->r->most;; most *= WIDEN) {
        s->scan = scan_hits(&s->r->ctx->arena, &s->hits, s->weights, s->query.n, most);
        TRY(read_best(s));
        if (s->n == s->r->most || s->scan.n < most)
            return OK;
    }
}

struct placed {
    double rank;
    struct retrieved found;
};

static int best_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return (x->found.memory.doc < y->found.memory.doc) -
           (x->found.memory.doc > y->found.memory.doc);
}

static void score_best(struct word_search *s, struct ranking *out)
{
    struct arena *a = &s->r->ctx->arena;
    struct asked_of asked = {
        .query = &s->query,
        .scan = &s->scan,
        .rarest = rank_idf(s->hits.memories, 1),
        .unknown = s->unknown,
        .now = s->r->now,
        .shown = shown_words(&s->query),
    };
    struct placed *v = NEW_N(a, struct placed, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        double signals[SIGNALS_MAX];
        signals_of(&asked, &s->scan.v[s->of[i]], NULL, &s->memories[i], S(""), signals);
        double rank = signals_rank(WORDS_ALONE, signals);
        double sure = signals_sure(WORDS_ALONE, signals, rank);
        v[i] = (struct placed){rank,
                               {.memory = s->memories[i],
                                .score = sure,
                                .tier = "fts5",
                                .vector_score = NAN,
                                .words_score = sure}};
    }
    if (s->n)
        qsort(v, s->n, sizeof *v, best_first);
    out->v = NEW_N(a, struct retrieved, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        out->v[i] = v[i].found;
    out->n = s->n;
}

enum status retrieve_by_words(struct retrieval *r, struct ranking *out, enum searchable *has)
{
    struct word_search s = {.r = r, .query = query_of(&r->ctx->arena, r->query, r->now)};
    *has = s.query.n ? HAS_WORDS : HAS_NO_WORDS;
    *out = (struct ranking){0};
    if (!s.query.n)
        return OK;
    TRY(search_pools(&s));
    TRY(pick_best(&s));
    score_best(&s, out);
    return OK;
}
