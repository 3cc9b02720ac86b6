/* same_seek.c - whether what is about to be kept is kept already, in these words or in others. */
#include "base/clock.h"
#include "base/words.h"
#include "engine/query.h"
#include "engine/same.h"

enum { NEAREST = 8, HITS_MAX = 2000, READ_MAX = 16, CATCH_UP = 64, WITH_KEY = 5 };

/* --- in other words --- */

struct near_memory {
    struct memory memory;
    double cosine;
    enum relation relation;
    enum sameness answer;
};

struct seeking {
    struct ctx *ctx;
    struct same_seeker *s;
    str line;
    enum layer layer;
    struct near_memory v[NEAREST]; /* the nearest first */
    size_t n;
};

static int nearest_first(const void *a, const void *b)
{
    const struct near_memory *x = a, *y = b;
    return (x->cosine < y->cosine) - (x->cosine > y->cosine);
}

static bool may_be_like(const struct memory *m)
{
    int64_t now = clock_ms();
    return m->id.n && !m->valid_to && (!m->expires || m->expires > now) &&
           (m->layer == LAYER_FACT || m->layer == LAYER_IDENTITY);
}

static enum status read(struct seeking *k, const struct vector_hits *hits)
{
    struct arena *a = &k->ctx->arena;
    doc_id docs[NEAREST];
    double cosines[NEAREST];
    size_t n = 0;
    for (size_t i = 0; i < hits->n && n < NEAREST; i++) {
        if ((double)hits->v[i].cosine < same_least(k->s->e->settings))
            continue;
        cosines[n] = (double)hits->v[i].cosine;
        docs[n++] = hits->v[i].doc;
    }
    struct memory *v = NEW_N(a, struct memory, NEAREST);
    struct saying line = saying_of(a, k->line);
    TRY(store_memories(k->ctx, k->s->e->store, k->s->pool, docs, n, v));
    for (size_t i = 0; i < n; i++) {
        if (!may_be_like(&v[i]))
            continue;
        struct saying there = saying_of(a, v[i].content);
        k->v[k->n++] = (struct near_memory){v[i], cosines[i], sayings_relate(&line, &there), 0};
    }
    if (k->n)
        qsort(k->v, k->n, sizeof *k->v, nearest_first);
    return OK;
}

static enum status look(struct seeking *k)
{
    struct engine *e = k->s->e;
    struct question_vector q;
    struct vector_hits hits;
    vectors_catch_up(k->ctx, e, k->s->pool, CATCH_UP);
    vectors_of_question(k->ctx, e, k->line, &q);
    if (!q.v)
        return OK;
    const struct vector_find f = {.pool = k->s->pool,
                                  .signature = q.signature,
                                  .v = q.v,
                                  .dimensions = q.dimensions,
                                  .nearest = NEAREST,
                                  .memories = true};
    TRY(store_search_vectors(k->ctx, e->store, &f, &hits));
    return read(k, &hits);
}

static enum likeness settled(struct seeking *k, bool with_model, struct memory *like)
{
    for (size_t i = 0; i < k->n; i++) {
        struct near_memory *m = &k->v[i];
        bool takes_place = m->relation == CHANGED || m->relation == FULLER;
        m->answer = same_by_cosine(k->s->e->settings, m->relation, m->cosine, with_model);
        *like = m->memory;
        if (m->answer == IS_SAME)
            return THE_SAME;
        if (takes_place && m->memory.layer == k->layer)
            return NEWER;
    }
    return ANOTHER;
}

/* All that are doubtful in one question. */
static enum likeness asked(struct seeking *k, struct memory *like)
{
    struct doubt doubts[NEAREST];
    size_t of[NEAREST], n = 0;
    for (size_t i = 0; i < k->n; i++) {
        if (k->v[i].answer != ASK_MODEL)
            continue;
        doubts[n] = (struct doubt){.older = k->v[i].memory.content, .newer = k->line};
        of[n++] = i;
    }
    if (!n || k->s->questions-- <= 0)
        return ANOTHER;
    same_ask(k->ctx, k->s->e, k->s->pool, doubts, n);
    for (size_t i = 0; i < n; i++) {
        *like = k->v[of[i]].memory;
        if (doubts[i].verdict == VERDICT_EQUIVALENT)
            return THE_SAME;
        if (doubts[i].verdict == VERDICT_CHANGED && like->layer == k->layer)
            return NEWER;
    }
    return ANOTHER;
}

enum likeness same_seek(struct ctx *ctx, struct same_seeker *s, str line, enum layer layer,
                        struct memory *like)
{
    struct ctx own = {.deadline_us = s->until_us, .is_cut = ctx->is_cut};
    struct seeking *k = NEW(&own.arena, struct seeking);
    enum likeness found = ANOTHER;
    *k = (struct seeking){.ctx = &own, .s = s, .line = line, .layer = layer};
    if (ctx_has_time(&own) && look(k) == OK && k->n) {
        found = settled(k, s->questions > 0 && same_may_ask(&own, s->e), like);
        if (found == ANOTHER)
            found = asked(k, like);
    }
    if (found != ANOTHER)
        *like = memory_copy(&ctx->arena, like);
    ctx_free(&own);
    return found;
}

/* --- in the same words --- */

/* One that is true under the key says otherwise. */
static enum status has_key(struct ctx *ctx, struct engine *e, struct pool_ref pool, str key,
                           bool *out)
{
    struct memory *v;
    size_t n;
    const struct memory_filter f = {.pool = pool, .contains = key, .limit = WITH_KEY};
    *out = false;
    if (!key.n)
        return OK;
    TRY(store_list_memories(ctx, e->store, &f, &v, &n, NULL));
    for (size_t i = 0; i < n; i++)
        *out |= str_eq(v[i].key, key);
    *out |= n == WITH_KEY;
    return OK;
}

static bool adds_nothing(struct arena *a, const struct settings *s, const struct memory *m,
                         const struct memory *there)
{
    struct saying new = saying_of(a, m->content), old = saying_of(a, there->content);
    return may_be_like(there) && !str_eq(there->key, m->key) &&
           sayings_share(&new, &old) >= s->dedup_similarity && sayings_relate(&new, &old) == ALIKE;
}

/* Those that hold every word that tells something. */
static enum status find(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                        const struct memory *m, struct memory *out, size_t *n)
{
    struct query q = query_of(&ctx->arena, m->content, m->created);
    struct word_hits hits;
    doc_id docs[READ_MAX];
    *n = 0;
    if (!q.n)
        return OK;
    TRY(store_search_memory_words(ctx, e->store, pool, q.stems, q.n, HITS_MAX, &hits));
    for (size_t i = hits.n; i-- > 0 && *n < READ_MAX;) {
        size_t held = 0;
        for (size_t w = 0; w < q.n; w++)
            held += hits.v[i].counts[w] != 0;
        if (2 * held >= q.n)
            docs[(*n)++] = hits.v[i].doc;
    }
    return store_memories(ctx, e->store, pool, docs, *n, out);
}

static enum status look_for(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct memory *m, bool *out)
{
    struct memory *v = NEW_N(&ctx->arena, struct memory, READ_MAX);
    bool is_otherwise = false;
    size_t n, at = 0;
    *out = false;
    TRY(find(ctx, e, pool, m, v, &n));
    while (at < n && !adds_nothing(&ctx->arena, e->settings, m, &v[at]))
        at++;
    if (at == n)
        return OK;
    TRY(has_key(ctx, e, pool, m->key, &is_otherwise));
    *out = !is_otherwise;
    return *out ? store_touch(ctx, e->store, pool, &v[at].doc, 1, clock_ms()) : OK;
}

bool same_is_kept(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m)
{
    struct ctx own = {.is_cut = ctx->is_cut};
    bool is_kept;
    if (look_for(&own, e, pool, m, &is_kept) != OK)
        is_kept = false;
    ctx_free(&own);
    return is_kept;
}
