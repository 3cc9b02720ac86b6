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
ORDER(best_first, struct session_found, DOWN(rank) ?: UP(best));

/* The place of a conversation; n: it is not there. */
static size_t place_of(const struct session_found *v, size_t n, str id, str space)
{
    size_t i = 0;
    while (i < n && !(str_eq(v[i].session.id, id) && str_eq(v[i].session.space, space)))
        i++;
    return i;
}

/* Odds are counted against the first message, as exp(rank) alone may be out of range. */
struct session_found *engine_by_session(struct arena *a, const struct recalled *v, size_t n,
                                        size_t *n_out)
{
    struct session_found *hits = NEW_N(a, struct session_found, n + 1);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        const struct session of = {.id = v[i].message.session, .space = v[i].space};
        size_t at = place_of(hits, *n_out, of.id, of.space);
        if (at == *n_out)
            hits[(*n_out)++] = (struct session_found){of, &v[i], 0};
        hits[at].rank += i < SESSION_COUNTED ? exp(v[i].measured.rank - v[0].measured.rank) : 0;
    }
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
    size_t i = place_of(s->v, s->n, one->session.id, one->session.space);
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
                           struct session_found *hit)
{
    struct session *session = &hit->session;
    pool.space = pool.space.n ? pool.space : session->space;
    enum status status = store_session(s->ctx, s->e->store, pool, session->id, session);
    if (soft_if(s->ctx, status, NOT_FOUND))
        return OK;
    TRY(status);
    if (session->updated >= s->in->after && (!s->in->before || session->updated < s->in->before))
        add_found(s, hit);
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
    struct session_found *hits = engine_by_session(&s->ctx->arena, found.v, found.n, &n);
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
