/* known.c - known memories that concern a session which is about to be distilled. */
#include "engine/distil/known.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "engine/questions/query.h"

/*
 * The model is shown what is stored, so that it does not say it again and can name what a new fact
 * replaces. It sees a few lines of each kind and not the whole memory: prompts must fit small
 * models. Lines are shown as u1, u2 … and f1, f2 …; shown_memory reads such a name back.
 *
 * EPISODE_DAYS and EPISODES: the last few of a season, for continuity. FACTS_SHOWN: half of them by
 * the user's words, the rest by use. SIMILAR_MAX, HITS_MAX and SPOKEN_MAX bound the search by
 * words.
 */

enum { IDENTITY_LINES = 30, EPISODES = 3, EPISODE_DAYS = 90 };
enum { FACTS_SHOWN = 12, SIMILAR_MAX = 32, HITS_MAX = 2000, SPOKEN_MAX = 20000 };

str episode_id(struct arena *a, str session)
{
    return ID_OF(a, S("episode"), session);
}

static enum status list_memories(struct ctx *ctx, const struct distilling *d,
                                 struct memory_filter f, struct memory **out, size_t *n)
{
    f.pool = d->pool;
    return store_list_memories(ctx, d->e->store, &f, out, n, NULL);
}

/* Best first in a simple sense: those that hold all words of the text, then all but one, and so on,
 * at most SIMILAR_MAX. Not the ranking of recall, which is made for questions. */
enum status similar_facts(struct ctx *ctx, const struct distilling *d, str text,
                          struct memory **out, size_t *n)
{
    struct query q = query_of(&ctx->arena, text, d->date);
    struct word_hits hits;
    doc_id docs[SIMILAR_MAX];
    size_t found = 0;
    *out = NEW_N(&ctx->arena, struct memory, SIMILAR_MAX);
    *n = 0;
    if (!q.n)
        return OK;
    STORE_VIEW(view, ctx, d->e->store);
    TRY(store_ask_words(ctx, d->e->store, d->pool, q.stems, q.n, true, HITS_MAX));
    TRY(store_search_words(ctx, d->e->store, d->pool, q.stems, q.n, true, HITS_MAX, &hits));
    for (size_t least = q.n; least > 0 && found < SIMILAR_MAX; least--) {
        for (size_t i = 0; i < hits.n && found < SIMILAR_MAX; i++) {
            size_t held = 0;
            for (size_t s = 0; s < q.n; s++)
                held += (hits.v[i].counts[s] & 15) != 0;
            if (held == least)
                docs[found++] = hits.v[i].doc;
        }
    }
    TRY(store_memories(ctx, d->e->store, d->pool, docs, found, *out));
    *n = found;
    return OK;
}

/* Closed facts and other layers are skipped, and each fact stands once. */
static void add_fact(struct distilling *d, const struct memory *m)
{
    bool may_be_shown = m->id.n && m->layer == LAYER_FACT && !m->valid_to;
    if (may_be_shown && d->n_facts < FACTS_SHOWN &&
        !SOME(i, d->n_facts, str_eq(d->facts[i].id, m->id)))
        d->facts[d->n_facts++] = *m;
}

/* Those that the user's words find, then the ones used last: what is replaced need not share a word
 * with what replaces it. */
static enum status gather_facts(struct ctx *ctx, struct distilling *d)
{
    struct buf spoken = buf_make(&ctx->arena, SPOKEN_MAX);
    struct memory *v;
    size_t n;
    for (size_t i = 0; i < d->n && !spoken.full; i++) {
        buf_add(&spoken, d->signals[i].message.text);
        buf_byte(&spoken, '\n');
    }
    d->facts = NEW_N(&ctx->arena, struct memory, FACTS_SHOWN);
    TRY(similar_facts(ctx, d, utf8_cut(buf_str(&spoken), SPOKEN_MAX), &v, &n));
    for (size_t i = 0; i < n && d->n_facts < FACTS_SHOWN / 2; i++)
        add_fact(d, &v[i]);
    TRY(list_memories(
        ctx, d, (struct memory_filter){.layer = S("fact"), .by_use = true, .limit = FACTS_SHOWN},
        &v, &n));
    for (size_t i = 0; i < n; i++)
        add_fact(d, &v[i]);
    return OK;
}

/* Called once for each part of a session, before the model is asked. The session's own episode is
 * not among d->episodes but in d->before: the model continues it. */
enum status distil_gather(struct ctx *ctx, struct distilling *d)
{
    struct memory *v, *before = NEW(&ctx->arena, struct memory);
    size_t n;
    str id = episode_id(&ctx->arena, d->session);
    TRY(list_memories(ctx, d,
                      (struct memory_filter){.layer = S("identity"), .limit = IDENTITY_LINES},
                      &d->identity, &d->n_identity));
    TRY(gather_facts(ctx, d));
    TRY(list_memories(ctx, d,
                      (struct memory_filter){.layer = S("episode"),
                                             .after = d->date - EPISODE_DAYS * DAY_MS,
                                             .before = d->date + DAY_MS,
                                             .limit = EPISODES + 1},
                      &v, &n));
    d->episodes = NEW_N(&ctx->arena, struct memory, EPISODES);
    for (size_t i = 0; i < n && d->n_episodes < EPISODES; i++)
        if (!str_eq(v[i].session, d->session))
            d->episodes[d->n_episodes++] = v[i];
    enum status s = store_memory(ctx, d->e->store, d->pool, id, before);
    if (s == OK && !before->valid_to)
        d->before = before;
    return soft_or(ctx, s, NOT_FOUND);
}

static str without_stop(str text)
{
    text = str_trim(text);
    return str_ends(text, S(".")) ? str_sub(text, 0, text.n - 1) : text;
}

/* Models name a line by its number, by its id or by saying it again; anything else is NULL, so
 * nothing is replaced by mistake. */
static const struct memory *named_in(const struct memory *v, size_t n, char letter, str name)
{
    int64_t no;
    bool is_no = name.n > 1 && (name.p[0] | 32) == letter && str_int(str_sub(name, 1, name.n), &no);
    if (is_no && no >= 1 && (size_t)no <= n)
        return &v[no - 1];
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].id, name) || str_eq_nocase(without_stop(v[i].content), without_stop(name)))
            return &v[i];
    return NULL;
}

const struct memory *shown_memory(const struct distilling *d, str name)
{
    name = str_trim(name);
    if (!name.n)
        return NULL;
    const struct memory *m = named_in(d->identity, d->n_identity, 'u', name);
    return m ? m : named_in(d->facts, d->n_facts, 'f', name);
}
