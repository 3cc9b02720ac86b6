/* duplicates.c - memories that say the same as an older one: found, shown, closed. */
#include "ext/duplicates/duplicates.h"

#include <math.h>

#include "base/clock.h"
#include "engine/dedup/equivalence.h"
#include "engine/text/content_key.h"
#include "engine/vectors/embed_queue.h"

/*
 * A pair is looked at when its vectors are near or its rarest words are shared, never each text
 * with each. Two memories that both have a vector are as near as their cosine says; of others the
 * share of their telling words counts.
 *
 * Steps of a call: read the newest memories, fold those with the same words into one entry, note
 * pairs by near vectors, then pairs by shared rare words, ask the core model about the pairs in
 * doubt, and group. The oldest of a group stays; the rest would be closed in its favour
 * (decisions/014). Nothing is written here except by engine_deduplicate, in one transaction.
 *
 * Cost: with n memories neither search is quadratic. Vectors give each memory at most NEAREST
 * others; words give each only those that share one of its rarest words, at most BUCKET_MAX of
 * them. ASKED_MAX is for the model's tokens: beyond it, pairs in doubt stay apart.
 */
enum {
    LOOKED_AT = 20000, /* memories, the newest */
    NEAREST = 32,      /* to each of them that are looked at */
    CATCH_UP = 64,     /* memories that get their vector first */
    ASKED_MAX = 100,   /* pairs of a call that the model is asked of, the most alike */
    BUCKET_MAX = 200   /* texts of one rare word that are held against each other */
};

struct entry {
    const struct memory *memory;
    struct saying says;
    size_t first; /* the entry that it says the same as, or itself */
    double similarity;
};

/* The entry `other` is newer than `one`. */
struct pair {
    size_t one, other;
    double similarity;
    enum relation relation; /* SAME or UNSURE */
};

struct search {
    struct ctx *ctx;
    struct engine *e;
    struct pool_ref pool;
    bool with_model;
    struct entry *v; /* the oldest first */
    size_t n;
    struct pair *pairs;
    size_t n_pairs, cap;
};

/* --- reading --- */

/* The profile has its own rules for names. A memory that expires, or is unconfirmed, must not close
 * one that stays. Two keys of a caller's own mean that both are true. */
static bool takes_part(struct arena *a, const struct memory *m)
{
    return (m->layer == LAYER_FACT || m->layer == LAYER_IDENTITY) && !m->expires &&
           !memory_is_unconfirmed(m) && !str_is(m->category, "profile") && !callers_key(a, m).n;
}

ORDER(by_age, struct memory, UP(created) ?: UP(doc));

/* Sorted by age, so that in each pair the smaller index is the older memory; all that follows
 * relies on it. Vectors are computed for some new memories first, or the newest would be compared
 * by words. */
static enum status read_memories(struct search *s)
{
    struct memory *v;
    size_t n;
    const struct memory_filter f = {.pool = s->pool, .limit = LOOKED_AT};
    vectors_catch_up(s->ctx, s->e, s->pool, CATCH_UP);
    TRY(store_list_memories(s->ctx, s->e->store, &f, &v, &n, NULL));
    SORT(v, n, by_age);
    s->v = NEW_N(&s->ctx->arena, struct entry, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!takes_part(&s->ctx->arena, &v[i]))
            continue;
        s->v[s->n] = (struct entry){.memory = &v[i], .first = s->n, .similarity = 1};
        s->v[s->n++].says = saying_of(&s->ctx->arena, v[i].content);
    }
    return OK;
}

/* --- the same words --- */

struct worded {
    uint64_t word;
    size_t at, times; /* times: how many have it; for the search by words */
};

ORDER(by_word, struct worded, UP(word) ?: UP(at));

/* Texts of the same words become one entry, so that later steps compare each text once. */
static void fold_equal(struct search *s)
{
    struct worded *all = NEW_N(&s->ctx->arena, struct worded, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        all[i] = (struct worded){.word = s->v[i].says.all, .at = i};
    qsort(all, s->n, sizeof *all, by_word);
    for (size_t i = 1; i < s->n; i++)
        if (all[i].word == all[i - 1].word && s->v[all[i].at].says.plain.n)
            s->v[all[i].at].first = s->v[all[i - 1].at].first;
}

/* Later steps skip the others. */
static bool is_first(const struct search *s, size_t i)
{
    return s->v[i].first == i;
}

/* DIFFERENT, CHANGED and FULLER are never noted: a change is not a duplicate. */
static void note_pair(struct search *s, size_t one, size_t other, double similarity,
                      enum relation relation)
{
    assert(one < other && other < s->n);
    ARENA_ADD(&s->ctx->arena, s->pairs, s->n_pairs, s->cap) =
        (struct pair){one, other, similarity, relation};
}

/* --- near vectors --- */

/* has_vector[i] is set here and read by the search by words, which leaves pairs alone that both
 * have a vector: their cosine has decided. */
static enum status look_by_vectors(struct search *s, bool *has_vector)
{
    struct arena *a = &s->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, s->n + 1);
    size_t *of = NEW_N(a, size_t, s->n + 1), n = 0;
    struct vector_pairs near;
    for (size_t i = 0; i < s->n; i++)
        if (is_first(s, i)) {
            of[n] = i;
            docs[n++] = s->v[i].memory->doc;
        }
    TRY(store_vector_pairs(s->ctx, s->e->store, s->pool, docs, n, (float)same_least(s->e->settings),
                           NEAREST, &near));
    for (size_t i = 0; i < n; i++)
        has_vector[of[i]] = near.has_vector[i];
    for (size_t i = 0; i < near.n; i++) {
        size_t one = of[near.v[i].one], other = of[near.v[i].other];
        double cosine = (double)near.v[i].cosine;
        struct likeness by = {BY_VECTOR, s->e->settings, cosine, s->with_model};
        enum relation relation = relation_of(&s->v[other].says, &s->v[one].says, &by);
        if (relation == SAME || relation == UNSURE)
            note_pair(s, one, other, cosine < 1 ? cosine : 1, relation);
    }
    return OK;
}

/* --- shared words --- */

/* How many memories hold each word, at most BUCKET_MAX. The rows are sorted by word. */
static void count_words(struct worded *v, size_t n)
{
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && v[to].word == v[from].word)
            to++;
        for (size_t i = from; i < to; i++)
            v[i].times = to - from < BUCKET_MAX ? to - from : BUCKET_MAX;
    }
}

/* Both share a rare word. Without a cosine nobody is asked in case of doubt: only SAME counts. */
static void hold_together(struct search *s, size_t one, size_t other, const bool *has_vector)
{
    if (has_vector[one] && has_vector[other])
        return;
    const struct saying *older = &s->v[one].says, *newer = &s->v[other].says;
    if (relation_of(newer, older, &(struct likeness){BY_WORDS, s->e->settings}) == SAME)
        note_pair(s, one, other, sayings_share(newer, older), SAME);
}

/* Prefix filtering: two lists that share at least this part of their words share one of the first
 * prefix_of words of each, in any common order. The rarest words first make the buckets small. */
static size_t prefix_of(double least, size_t n)
{
    size_t shared = (size_t)ceil(least * (double)n - 1e-9);
    return n + 1 - (shared ? shared : 1);
}

ORDER(rarest_first, struct worded, UP(at) ?: UP(times) ?: UP(word));

/* Two passes over (word, memory) rows: the first keeps the rarest words of each memory, as many as
 * prefix filtering needs, and in the second memories of one word's run are compared. */
static void look_by_words(struct search *s, const bool *has_vector)
{
    size_t n = 0, kept = 0, room = 0;
    for (size_t i = 0; i < s->n; i++)
        room += s->v[i].says.telling.n;
    struct worded *v = NEW_N(&s->ctx->arena, struct worded, room + 1);
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; is_first(s, i) && k < s->v[i].says.telling.n; k++)
            v[n++] = (struct worded){.word = s->v[i].says.telling.v[k], .at = i};
    qsort(v, n, sizeof *v, by_word);
    count_words(v, n);
    qsort(v, n, sizeof *v, rarest_first);
    for (size_t i = 0, words; i < n; i += words) {
        words = s->v[v[i].at].says.telling.n;
        size_t most = prefix_of(s->e->settings->dedup_similarity, words);
        assert(most <= words);
        memmove(v + kept, v + i, most * sizeof *v);
        kept += most;
    }
    qsort(v, kept, sizeof *v, by_word);
    for (size_t i = 0; i < kept; i++)
        for (size_t k = i + 1; k < kept && k - i < BUCKET_MAX && v[k].word == v[i].word; k++)
            hold_together(s, v[i].at, v[k].at, has_vector);
}

/* --- the model --- */

ORDER(most_alike, struct pair, DOWN(similarity) ?: UP(other));

/* The most alike first, as the hour's token budget may end in between. What gets no answer stays
 * apart: a duplicate too many is better than a fact lost. */
static void ask_model(struct search *s)
{
    struct doubt *v = NEW_N(&s->ctx->arena, struct doubt, ASKED_MAX);
    size_t of[ASKED_MAX], n = 0;
    SORT(s->pairs, s->n_pairs, most_alike);
    for (size_t i = 0; i < s->n_pairs && n < ASKED_MAX; i++) {
        if (s->pairs[i].relation != UNSURE)
            continue;
        v[n] = (struct doubt){.older = s->v[s->pairs[i].one].memory->content,
                              .newer = s->v[s->pairs[i].other].memory->content};
        of[n++] = i;
    }
    if (n)
        same_ask(s->ctx, s->e, s->pool, v, n);
    for (size_t i = 0; i < n; i++)
        if (v[i].relation == SAME)
            s->pairs[of[i]].relation = SAME;
}

/* --- groups --- */

ORDER(by_first, struct pair, UP(one) ?: UP(other));

/* The oldest memory of a group represents it. A memory that belongs to a group never represents
 * another: A like B and B like C does not make A like C. */
static void group_pairs(struct search *s)
{
    SORT(s->pairs, s->n_pairs, by_first);
    for (size_t i = 0; i < s->n_pairs; i++) {
        const struct pair *p = &s->pairs[i];
        if (p->relation != SAME || !is_first(s, p->one) || !is_first(s, p->other))
            continue;
        s->v[p->other].first = p->one;
        s->v[p->other].similarity = p->similarity;
    }
    for (size_t i = 0; i < s->n; i++) {
        struct entry *mine = &s->v[i];
        const struct entry *first = &s->v[mine->first];
        if (first->first == mine->first)
            continue;
        mine->first = first->first;
        mine->similarity = first->similarity;
    }
}

ORDER(by_group, struct entry, UP(first) ?: UP(memory));

/* Only groups that have others. Entries are sorted for it: the oldest of a group comes first. */
static void gather_groups(struct search *s, struct duplicates **out, size_t *n)
{
    struct duplicates *groups = NEW_N(&s->ctx->arena, struct duplicates, s->n + 1);
    struct similar *others = ROOM_N(&s->ctx->arena, struct similar, s->n + 1);
    *n = 0;
    assert(EVERY(i, s->n, is_first(s, s->v[i].first)));
    SORT(s->v, s->n, by_group);
    for (size_t i = 0, end; i < s->n; i = end) {
        for (end = i + 1; end < s->n && s->v[end].first == s->v[i].first; end++)
            others[end] = (struct similar){*s->v[end].memory, s->v[end].similarity};
        if (end > i + 1)
            groups[(*n)++] = (struct duplicates){*s->v[i].memory, &others[i + 1], end - i - 1};
    }
    *out = groups;
}

/* Shows and changes nothing but vectors that were due anyway. The caller's ctx holds all of it: at
 * the most LOOKED_AT memories with their words. */
enum status engine_duplicates(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              struct duplicates **out, size_t *n)
{
    struct search s = {.ctx = ctx, .e = e, .pool = pool, .with_model = same_may_ask(ctx, e)};
    assert(pool.user.n && pool.space.n);
    engine_catch_up(ctx, e, pool);
    TRY(read_memories(&s));
    bool *has_vector = NEW_N(&ctx->arena, bool, s.n + 1);
    fold_equal(&s);
    TRY(look_by_vectors(&s, has_vector));
    look_by_words(&s, has_vector);
    ask_model(&s);
    group_pairs(&s);
    gather_groups(&s, out, n);
    return OK;
}

/* The metadata of the oldest is written again as it is, since a merge may change it. What was said
 * in between is safe: the store compares with c.seen. */
enum status engine_deduplicate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               int64_t *groups, int64_t *closed)
{
    engine_catch_up(ctx, e, pool);
    struct consolidation c = {.pool = pool, .seen = clock_ms()};
    struct duplicates *v;
    size_t n, cap = 0;
    *closed = 0;
    TRY(engine_duplicates(ctx, e, pool, &v, &n));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i].n; k++)
            ARENA_ADD(&ctx->arena, c.merges, c.n_merges, cap) =
                (struct merged){.keep = v[i].first.id,
                                .drop = v[i].v[k].memory.id,
                                .metadata = v[i].first.metadata};
    if (c.n_merges)
        TRY(store_consolidate(ctx, e->store, &c, closed));
    *groups = (int64_t)n;
    return OK;
}
