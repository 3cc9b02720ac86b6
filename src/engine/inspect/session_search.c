/* session_search.c - conversations by what was said in them. */
#include <math.h>

#include "base/clock.h"
#include "engine/inspect.h"
#include "engine/recall.h"
#include "engine/state/state.h"

/*
 * That an answer lies in a conversation is as likely as that one of its messages is the answer. By
 * the weights of recall a message is that with odds of exp(rank), so a conversation has the sum of
 * those. Only the first SESSION_COUNTED messages of a search count: behind them a long conversation
 * would gain by its length alone (decisions/003).
 */

/* --- messages to conversations --- */

/* In a tie the conversation whose message was found first. */
ORDER(best_first, struct session_hit, DOWN(rank) ?: UP(best));

static struct session_hit *hit_of(struct session_hit *v, size_t *n, const struct recalled *r)
{
    size_t i = 0;
    while (i < *n && !(str_eq(v[i].id, r->message.session) && str_eq(v[i].space, r->space)))
        i++;
    if (i == *n)
        v[(*n)++] = (struct session_hit){r->message.session, r->space, 0, r};
    return &v[i];
}

/* Odds are counted against the first message, as exp(rank) alone may be out of range. */
struct session_hit *engine_by_session(struct arena *a, const struct recalled *v, size_t n,
                                      size_t *n_out)
{
    struct session_hit *hits = NEW_N(a, struct session_hit, n + 1);
    *n_out = 0;
    for (size_t i = 0; i < n; i++)
        hit_of(hits, n_out, &v[i])->rank +=
            i < SESSION_COUNTED ? exp(v[i].measured.rank - v[0].measured.rank) : 0;
    for (size_t i = 0; i < *n_out; i++)
        hits[i].rank = v[0].measured.rank + log(hits[i].rank);
    SORT(hits, *n_out, best_first);
    return hits;
}

/* --- a search --- */

struct session_search {
    struct ctx *ctx;
    struct engine *e;
    const struct session_search_in *in;
    struct session_found *v;
    size_t n, cap;
};

static void add_found(struct session_search *s, const struct session_found *one)
{
    size_t i = 0;
    while (i < s->n && !(str_eq(s->v[i].session.id, one->session.id) &&
                         str_eq(s->v[i].session.space, one->session.space)))
        i++;
    if (i < s->n)
        s->v[i].best = one->best;
    else
        ARENA_ADD(&s->ctx->arena, s->v, s->n, s->cap) = *one;
}

static enum status add_titled(struct session_search *s)
{
    const struct session_filter f = {.contains = s->in->question,
                                     .after = s->in->after,
                                     .before = s->in->before,
                                     .limit = s->in->limit};
    struct sessions_out titled;
    TRY(engine_sessions_page(s->ctx, s->e, s->in->pools, &f, &titled));
    for (size_t i = 0; i < titled.n; i++)
        add_found(s, &(struct session_found){.session = titled.v[i]});
    return OK;
}

/* Erased meanwhile: it is no longer found. */
static enum status add_hit(struct session_search *s, struct pool_ref pool,
                           const struct session_hit *hit)
{
    pool.space = pool.space.n ? pool.space : hit->space;
    struct session_found one = {.best = hit->best, .rank = hit->rank};
    enum status status = store_session(s->ctx, s->e->store, pool, hit->id, &one.session);
    if (soft_if(s->ctx, status, NOT_FOUND))
        return OK;
    TRY(status);
    int64_t at = one.session.updated;
    if (at >= s->in->after && (!s->in->before || at < s->in->before))
        add_found(s, &one);
    return OK;
}

/* A pool without a space: all of the user. */
static enum status add_said(struct session_search *s, struct pool_ref pool)
{
    const struct recall_in ask = {.pool = pool,
                                  .scope = pool.space.n ? SCOPE_SPACE : SCOPE_USER,
                                  .question = s->in->question,
                                  .limit = SESSION_LOOKED_AT,
                                  .budget_tokens = -1,
                                  .only.turns = true,
                                  .by.is_unordered = true,
                                  .by.is_patient = true,
                                  .only.after = runtime_after(engine_runtime(s->e), clock_ms())};
    struct recall_out found;
    size_t n;
    TRY(engine_recall(s->ctx, s->e, &ask, &found));
    struct session_hit *hits = engine_by_session(&s->ctx->arena, found.v, found.n, &n);
    for (size_t i = 0; i < n; i++)
        TRY(add_hit(s, pool, &hits[i]));
    return OK;
}

ORDER(most_likely_first, struct session_found, DOWN(rank) ?: DOWN(session.updated));

enum status engine_search_sessions(struct ctx *ctx, struct engine *e,
                                   const struct session_search_in *in, struct session_found **out,
                                   size_t *n)
{
    struct session_search s = {.ctx = ctx, .e = e, .in = in};
    TRY(add_titled(&s));
    size_t n_titled = s.n;
    for (size_t i = 0; i < in->pools.n; i++)
        TRY(add_said(&s, in->pools.v[i]));
    SORT(s.v + n_titled, s.n - n_titled, most_likely_first);
    *out = s.v;
    *n = s.n;
    return OK;
}
