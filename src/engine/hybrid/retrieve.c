/* retrieve.c - hybrid retrieval: which sources answer, fused by rank, within the token budget. */
#include "engine/hybrid/hybrid.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "base/clock.h"
#include "core/tokens.h"
#include "engine/recall/rank.h"

enum { FALLBACK_MAX = 1000 };

bool retrieval_wants(const struct retrieval *r, const struct memory *m)
{
    const struct retrieve_in *in = r->in;
    return m->id.n && !m->valid_to && !m->superseded_by.n && (!m->expires || m->expires > r->now) &&
           (!r->after || m->created >= r->after) &&
           (!in->type.n || str_is(in->type, type_names[m->type])) &&
           (in->scope != SCOPE_SESSION || str_eq(in->session, m->session));
}

void retrieval_note(struct retrieval *r, const char *fmt, ...)
{
    char text[FALLBACK_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (r->fallback.n)
        buf_add(&r->fallback, S("; "));
    buf_add(&r->fallback, str_of(text));
}

void retrieval_survive(struct retrieval *r, const char *what)
{
    str why = ctx_take_why(r->ctx);
    retrieval_note(r, "%s: " S_FMT, what, S_ARG(why));
}

/* --- which pools --- */

static enum status find_pools(struct retrieval *r)
{
    struct arena *a = &r->ctx->arena;
    r->whose = r->in->pool;
    if (r->in->scope != SCOPE_USER) {
        r->pools = NEW(a, struct pool_ref);
        r->pools[0] = r->in->pool;
        r->n_pools = 1;
        return OK;
    }
    struct pool_info *all;
    size_t n;
    TRY(store_pools(r->ctx, r->e->store, r->in->pool.user, &all, &n));
    r->whose.space = S("");
    r->pools = NEW_N(a, struct pool_ref, n + 1);
    for (size_t i = 0; i < n; i++)
        if (all[i].memories)
            r->pools[r->n_pools++] = all[i].pool;
    return OK;
}

/* --- the newest --- */

static int by_score(const void *a, const void *b)
{
    const struct retrieved *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->memory.created != y->memory.created)
        return x->memory.created < y->memory.created ? 1 : -1;
    return (x->memory.doc < y->memory.doc) - (x->memory.doc > y->memory.doc);
}

static void sort_ranking(struct ranking *v)
{
    if (v->n)
        qsort(v->v, v->n, sizeof *v->v, by_score);
}

/* The newest memories; by_keywords: of these the ones that hold a word of the query, by keyword
 * score. */
static enum status rank_newest(struct retrieval *r, bool by_keywords, struct ranking *out)
{
    struct memory_filter f = {.pool = r->whose,
                              .type = r->in->type,
                              .session = r->in->scope == SCOPE_SESSION ? r->in->session : S(""),
                              .after = r->after,
                              .limit = r->most};
    struct memory *found;
    size_t n;
    TRY(store_list_memories(r->ctx, r->e->store, &f, &found, &n, NULL));
    struct ranking all = {.v = NEW_N(&r->ctx->arena, struct retrieved, n + 1)};
    for (size_t i = 0; i < n; i++) {
        struct retrieved one = {.memory = found[i],
                                .tier = "fts5",
                                .vector_score = NAN,
                                .words_score = NAN};
        if (!retrieval_wants(r, &one.memory))
            continue;
        if (by_keywords) {
            /* Without metadata: there every extracted memory has "preference" and "source". */
            one.score = (double)keyword_score(&r->ctx->arena, r->query, one.memory.content,
                                              one.memory.key, S(""));
            one.words_score = one.score;
            if (one.score <= 0)
                continue;
        }
        all.v[all.n++] = one;
    }
    if (by_keywords)
        sort_ranking(&all);
    *out = all;
    return OK;
}

/* --- fusing --- */

static size_t place_in(const struct ranking *v, doc_id doc)
{
    size_t i = 0;
    while (i < v->n && v->v[i].memory.doc != doc)
        i++;
    return i < v->n ? i + 1 : 0;
}

static struct ranking fuse_rankings(struct retrieval *r, const struct ranking *words,
                                    const struct ranking *vectors)
{
    double k = (double)r->e->settings->rrf_k;
    assert(vectors->n);
    struct ranking all = {.v = NEW_N(&r->ctx->arena, struct retrieved, words->n + vectors->n + 1)};
    for (size_t i = 0; i < vectors->n; i++) {
        struct retrieved one = vectors->v[i];
        size_t place = place_in(words, one.memory.doc);
        one.words_score = place ? words->v[place - 1].words_score : NAN;
        one.score = rank_rrf(k, i + 1) + rank_rrf(k, place);
        if (strcmp(one.tier, "vector") == 0)
            one.tier = "hybrid-rrf";
        all.v[all.n++] = one;
    }
    const char *tier = all.v[0].tier;
    for (size_t i = 0; i < words->n; i++) {
        struct retrieved one = words->v[i];
        if (place_in(vectors, one.memory.doc))
            continue;
        one.score = rank_rrf(k, i + 1);
        one.tier = tier;
        all.v[all.n++] = one;
    }
    sort_ranking(&all);
    return all;
}

/* --- strategies --- */

/* A query without a searchable word and without a vector is treated like no query. */
static enum status say_nothing(struct retrieval *r, struct retrieve_out *out, struct ranking *found)
{
    retrieval_note(r, "the query holds no word that can be searched: these are the newest");
    out->strategy = STRATEGY_RECENT;
    return rank_newest(r, false, found);
}

/*
 * Vectors first. Words are added for hybrid, and for semantic while many texts lack a vector, and
 * replace vectors when nothing was found by them. The result is then called hybrid, also with words
 * alone: hybrid without vectors is exactly that.
 */
static enum status look_up(struct retrieval *r, struct retrieve_out *out, struct ranking *found)
{
    struct ranking vectors = retrieve_by_vectors(r, out), words = {0};
    enum searchable has;
    if (out->strategy == STRATEGY_SEMANTIC && vectors.n && !r->is_partial) {
        *found = vectors;
        return OK;
    }
    out->strategy = STRATEGY_HYBRID;
    TRY(retrieve_by_words(r, &words, &has));
    if (vectors.n)
        *found = fuse_rankings(r, &words, &vectors);
    else if (has == HAS_NO_WORDS)
        return say_nothing(r, out, found);
    else
        *found = words;
    return OK;
}

static enum status find_memories(struct retrieval *r, struct retrieve_out *out,
                                 struct ranking *found)
{
    TRY(find_pools(r));
    out->strategy = r->query.n ? r->in->strategy : STRATEGY_RECENT;
    if (out->strategy == STRATEGY_RECENT)
        return rank_newest(r, r->query.n > 0, found);
    TRY(look_up(r, out, found));
    if (out->strategy != STRATEGY_RECENT)
        out->is_reranked = rerank(r, found);
    return OK;
}

/* --- the budget --- */

static void spend_budget(struct retrieval *r, struct ranking *found, struct retrieve_out *out)
{
    size_t limit = r->in->limit ? r->in->limit : RETRIEVE_LIMIT;
    size_t n = found->n < limit ? found->n : limit;
    int64_t budget = r->in->budget_tokens, *tokens = NEW_N(&r->ctx->arena, int64_t, n + 1);
    budget = budget < 1 ? 1 : budget > RETRIEVE_BUDGET_MAX ? RETRIEVE_BUDGET_MAX : budget;
    for (size_t i = 0; i < n; i++)
        tokens[i] = found->v[i].tokens = tokens_of(found->v[i].memory.content);
    out->v = found->v;
    out->n = rank_walk(tokens, n, budget);
    assert(out->n <= n);
    for (size_t i = 0; i < out->n; i++)
        out->tokens += tokens[i];
}

enum status engine_retrieve(struct ctx *ctx, struct engine *e, const struct retrieve_in *in,
                            struct retrieve_out *out)
{
    int64_t began = clock_mono_us(), now = clock_ms();
    size_t most = in->limit > RETRIEVE_LIMIT ? in->limit : RETRIEVE_LIMIT;
    struct retrieval r = {.ctx = ctx,
                          .e = e,
                          .in = in,
                          .runtime = engine_runtime(e),
                          .query = str_trim(in->query),
                          .now = now,
                          .after = in->retention_days > 0 ? now - in->retention_days * DAY_MS : 0,
                          .most = most,
                          .nearest = in->limit ? most : (size_t)e->settings->vec_top_k,
                          .fallback = buf_make(&ctx->arena, FALLBACK_MAX)};
    struct retrieve_out given = {.model = S(""), .store = "none"};
    struct ranking found = {0};
    assert(in->pool.user.n);
    if (in->scope == SCOPE_SESSION && !in->session.n)
        return fail_field(ctx, "session", "is required by this scope");
    engine_catch_up(ctx, e, in->pool);
    enum status s = find_memories(&r, &given, &found);
    engine_count_recall(e, clock_mono_us() - began);
    TRY(s);
    if (!ctx_has_time(ctx))
        return fail(ctx, TIMED_OUT, "retrieval exceeded its time limit");
    spend_budget(&r, &found, &given);
    given.fallback = buf_str(&r.fallback);
    *out = given;
    return OK;
}
