/* messages.c - a message in its conversation, and a conversation page by page. */
#include "engine/state/state.h"

#include "engine/inspect.h"

/* Positions of erased messages are not used again, so there may be fewer neighbours than asked. */
static enum status read_around(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               const struct message *m, int64_t around, struct message_around *out)
{
    int64_t at = doc_position(m->doc), from = at > around ? at - around : 0;
    size_t n, kept = 0;
    TRY(store_session_messages(ctx, e->store, pool, m->session, from, (size_t)(2 * around + 1),
                               &out->v, &n));
    for (size_t i = 0; i < n && doc_position(out->v[i].doc) <= at + around; i++) {
        if (out->v[i].doc == m->doc)
            out->at = i;
        kept++;
    }
    out->n = kept;
    return kept ? OK : NOT_FOUND; /* it was erased since */
}

enum status engine_message(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           size_t around, struct message_around *out)
{
    struct message m;
    *out = (struct message_around){0};
    engine_catch_up(ctx, e, pool);
    enum status s = store_message(ctx, e->store, pool, id, &m);
    if (s == OK)
        s = read_around(ctx, e, pool, &m, (int64_t)around, out);
    if (s == OK)
        s = store_session(ctx, e->store, pool, m.session, &out->session);
    if (soft_if(ctx, s, NOT_FOUND))
        return fail(ctx, NOT_FOUND, "no message has the id '" S_FMT "'", S_ARG(id));
    TRY(s);
    return store_learnt(ctx, e->store, pool, id, &out->learnt, &out->n_learnt);
}

/* --- pages of a session --- */

/* Backwards a page may cross the positions of erased messages, so that more are asked for until the
 * page is full. */
static enum status read_back(struct ctx *ctx, struct engine *e, const struct session_page_in *in,
                             size_t want, struct message **out, size_t *n)
{
    struct message *v;
    int64_t end = in->from;
    *out = NEW_N(&ctx->arena, struct message, want);
    *n = 0;
    if (end < 0) {
        TRY(store_session_messages(ctx, e->store, in->pool, in->session, -1, 1, &v, n));
        end = *n ? doc_position(v->doc) + 1 : 0;
        *n = 0;
    }
    while (*n < want && end > 0) {
        int64_t begin = end > (int64_t)want ? end - (int64_t)want : 0;
        size_t got;
        TRY(store_session_messages(ctx, e->store, in->pool, in->session, begin,
                                   (size_t)(end - begin), &v, &got));
        while (got && *n < want)
            if (doc_position(v[--got].doc) < end)
                (*out)[(*n)++] = v[got];
        end = begin;
    }
    return OK;
}

enum status engine_session_page(struct ctx *ctx, struct engine *e, const struct session_page_in *in,
                                struct message **out, size_t *n, bool *has_more)
{
    size_t want = in->limit + 1;
    assert(in->limit && in->pool.space.n && in->from >= -1);
    engine_catch_up(ctx, e, in->pool);
    TRY(in->newest_first ? read_back(ctx, e, in, want, out, n)
                         : store_session_messages(ctx, e->store, in->pool, in->session,
                                                  in->from + 1, want, out, n));
    *has_more = *n > in->limit;
    *n = *has_more ? in->limit : *n;
    return OK;
}
