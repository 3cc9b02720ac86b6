/* existing.c - the search for a new memory among those stored, in the same words or in others. */
#include "base/clock.h"
#include "base/utf8.h"
#include "engine/dedup/equivalence.h"
#include "engine/questions/query.h"
#include "engine/vectors/embed_queue.h"

/*
 * Two questions about a line that is about to be stored. same_seek: does a stored fact say the same
 * or change it, in whatever words? By vectors, and the model where the words leave it open; for
 * distillation, which may wait. same_is_kept: is it there in the same words? By the words index
 * alone, for every door that writes, as nobody waits for a model there (decisions/014 and 024).
 */

enum { NEAREST = 8, HITS_MAX = 2000, READ_MAX = 16, CATCH_UP = 64 };

/* --- in other words --- */

struct near_memory {
    struct memory memory;
    double cosine;
    enum relation relation; /* of the line to it */
};

struct seeking {
    struct ctx *ctx;
    struct same_seeker *s;
    str line;
    enum layer layer;
    struct near_memory v[NEAREST]; /* the nearest first */
    size_t n;
};

ORDER(nearest_first, struct near_memory, DOWN(cosine));

/* Closed and expired memories and other layers are no duplicates of anything. */
static bool may_be_like(const struct memory *m)
{
    return m->id.n && !m->valid_to && (!m->expires || m->expires > clock_ms()) &&
           (m->layer == LAYER_FACT || m->layer == LAYER_IDENTITY);
}

static enum status read_hits(struct seeking *k, const struct vector_hits *hits)
{
    doc_id docs[NEAREST];
    double cosines[NEAREST];
    size_t n = 0;
    for (size_t i = 0; i < hits->n && n < NEAREST; i++) {
        if ((double)hits->v[i].cosine < same_least(k->s->e->settings))
            continue;
        cosines[n] = (double)hits->v[i].cosine;
        docs[n++] = hits->v[i].doc;
    }
    struct memory *v = NEW_N(&k->ctx->arena, struct memory, NEAREST);
    TRY(store_memories(k->ctx, k->s->e->store, k->s->pool, docs, n, v));
    for (size_t i = 0; i < n; i++)
        if (may_be_like(&v[i]))
            k->v[k->n++] = (struct near_memory){.memory = v[i], .cosine = cosines[i]};
    SORT(k->v, k->n, nearest_first);
    return OK;
}

/* Without a vector of the line nothing is near: k->n stays 0 and the line is new. */
static enum status look_up(struct seeking *k)
{
    struct engine *e = k->s->e;
    struct question_vector q;
    struct vector_hits hits;
    vectors_catch_up(k->ctx, e, k->s->pool, CATCH_UP);
    vectors_of_question(k->ctx, e, k->s->pool, k->line, &q);
    if (!q.v)
        return OK;
    const struct vector_find f = {.pool = k->s->pool,
                                  .signature = q.signature,
                                  .v = q.v,
                                  .dimensions = q.dimensions,
                                  .nearest = NEAREST,
                                  .memories = true};
    TRY(store_search_vectors(k->ctx, e->store, &f, &hits));
    return read_hits(k, &hits);
}

/* The nearest first. In another layer only the same counts, for a change must not move a fact. */
static enum relation settle_relation(struct seeking *k, bool with_model, struct memory *like)
{
    struct arena *a = &k->ctx->arena;
    struct likeness by = {BY_VECTOR, k->s->e->settings, .with_model = with_model};
    struct saying line = saying_of(a, k->line);
    for (size_t i = 0; i < k->n; i++) {
        struct near_memory *m = &k->v[i];
        struct saying there = saying_of(a, m->memory.content);
        by.cosine = m->cosine;
        m->relation = relation_of(&line, &there, &by);
        *like = m->memory;
        if (m->relation == SAME || (relation_replaces(m->relation) && m->memory.layer == k->layer))
            return m->relation;
    }
    return DIFFERENT;
}

/* All doubtful ones in one question: each call of the model costs seconds. */
static enum relation ask_relation(struct seeking *k, struct memory *like)
{
    struct doubt doubts[NEAREST];
    size_t of[NEAREST], n = 0;
    for (size_t i = 0; i < k->n; i++) {
        if (k->v[i].relation != UNSURE)
            continue;
        doubts[n] = (struct doubt){.older = k->v[i].memory.content, .newer = k->line};
        of[n++] = i;
    }
    if (!n || k->s->questions-- <= 0)
        return DIFFERENT;
    same_ask(k->ctx, k->s->e, k->s->pool, doubts, n);
    for (size_t i = 0; i < n; i++) {
        *like = k->v[of[i]].memory;
        bool takes_place = relation_replaces(doubts[i].relation) && like->layer == k->layer;
        if (doubts[i].relation == SAME || takes_place)
            return doubts[i].relation;
    }
    return DIFFERENT;
}

/* Never fails and never lasts beyond s->until_us: in doubt the line is new, since a duplicate can
 * be merged later and a lost fact cannot be found. */
enum relation same_seek(struct ctx *ctx, struct same_seeker *s, str line, enum layer layer,
                        struct memory *like)
{
    assert(s->pool.user.n && (layer == LAYER_FACT || layer == LAYER_IDENTITY));
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    if (!own.deadline_us || s->until_us < own.deadline_us)
        own.deadline_us = s->until_us;
    struct seeking *k = NEW(&own.arena, struct seeking);
    enum relation found = DIFFERENT;
    *k = (struct seeking){.ctx = &own, .s = s, .line = line, .layer = layer};
    if (ctx_has_time(&own) && look_up(k) == OK && k->n) {
        found = settle_relation(k, s->questions > 0 && same_may_ask(&own, s->e), like);
        if (found == DIFFERENT)
            found = ask_relation(k, like);
    }
    if (found != DIFFERENT)
        *like = memory_copy(&ctx->arena, like);
    return found;
}

/* --- in the same words --- */

enum status memory_with_key(struct ctx *ctx, struct engine *e, struct pool_ref pool, str key,
                            enum memory_closed closed, struct memory *out)
{
    struct memory_page_in ask = {.select = SELECT_ALL, .limit = 1};
    struct memory_page page = {0};
    ask.select.pools = &pool;
    ask.select.n_pools = 1;
    ask.select.key = key;
    ask.select.closed = closed;
    if (key.n)
        TRY(store_memory_page(ctx, e->store, &ask, &page));
    *out = page.n ? page.v[0] : (struct memory){0};
    return OK;
}

/* What stems are without: letters with marks ("gezahlt" is not "gezählt"), the end of "C++". */
static str marked_letters(struct arena *a, str text)
{
    str lower = utf8_lower(a, text);
    struct buf b = buf_make(a, lower.n + 1);
    for (size_t i = 0; i < lower.n; i++)
        if ((unsigned char)lower.p[i] >= 0xC3 && (unsigned char)lower.p[i] <= 0xC9)
            buf_add(&b, str_sub(lower, i, i + 2));
        else if (char_is_one_of(lower.p[i], "+#"))
            buf_byte(&b, lower.p[i]);
    return buf_str(&b);
}

/* The store replaces one with the same key. What is said confirms what is unconfirmed. */
static bool adds_nothing(struct arena *a, const struct settings *s, const struct memory *m,
                         const struct memory *there)
{
    struct saying new = saying_of(a, m->content), old = saying_of(a, there->content);
    return may_be_like(there) && !memory_is_unconfirmed(there) &&
           (!m->key.n || !str_eq(there->key, m->key)) &&
           str_eq(marked_letters(a, m->content), marked_letters(a, there->content)) &&
           relation_of(&new, &old, &(struct likeness){BY_WORDS, s}) == SAME;
}

/* Memories that hold at least half of the content words, the newest first. */
static enum status find_candidates(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   const struct memory *m, struct memory *out, size_t *n)
{
    struct query q = query_of(&ctx->arena, m->content, m->created);
    struct word_hits hits;
    doc_id docs[READ_MAX];
    *n = 0;
    if (!q.n)
        return OK;
    STORE_VIEW(view, ctx, e->store);
    TRY(store_ask_words(ctx, e->store, pool, q.stems, q.n, true, HITS_MAX));
    TRY(store_search_words(ctx, e->store, pool, q.stems, q.n, true, HITS_MAX, &hits));
    for (size_t i = hits.n; i-- > 0 && *n < READ_MAX;) {
        size_t held = 0;
        for (size_t w = 0; w < q.n; w++)
            held += hits.v[i].counts[w] != 0;
        if (2 * held >= q.n)
            docs[(*n)++] = hits.v[i].doc;
    }
    return store_memories(ctx, e->store, pool, docs, *n, out);
}

/* *like stays as it is where there is none. */
static enum status look_for(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct memory *m, struct memory *like)
{
    struct memory *v = NEW_N(&ctx->arena, struct memory, READ_MAX);
    struct memory other;
    size_t n, at = 0;
    TRY(find_candidates(ctx, e, pool, m, v, &n));
    while (at < n && !adds_nothing(&ctx->arena, e->settings, m, &v[at]))
        at++;
    if (at == n)
        return OK;
    TRY(memory_with_key(ctx, e, pool, m->key, CLOSED_OUT, &other));
    if (other.id.n)
        return OK;
    *like = v[at];
    return store_touch(ctx, e->store, pool, &v[at].doc, 1, clock_ms());
}

/* In a ctx of its own, as up to READ_MAX memories are read to find one. */
bool same_is_kept(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m,
                  struct memory *like)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct memory found = {0};
    bool is_kept = look_for(&own, e, pool, m, &found) == OK && found.id.n;
    if (is_kept && like)
        *like = memory_copy(&ctx->arena, &found);
    return is_kept;
}
