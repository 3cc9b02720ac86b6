/* pages.c - receipts, conversations and messages by pages; a message in its conversation. */
#include "engine/inspect.h"
#include "engine/recall/tombstones.h"
#include "engine/state/state.h"

/* --- receipts --- */

ORDER(newest_receipt_first, struct receipt, DOWN(created) ?: DOWN(no));

/* One more than a page holds tells whether there is another. */
static enum status add_pool(struct ctx *ctx, struct engine *e, const struct receipts_in *in,
                            struct pool_ref pool, struct receipts_out *out)
{
    struct receipt_filter f = {.pool = pool,
                               .decision = in->decision,
                               .session = in->session,
                               .after = in->after,
                               .before = in->before,
                               .at = in->at,
                               .no = in->no,
                               .limit = in->limit + 1};
    struct receipt *v;
    size_t n;
    int64_t total;
    if (in->of.n)
        TRY(store_doc_of(ctx, e->store, pool, in->of, &f.doc));
    if (in->of.n && !f.doc)
        return OK;
    TRY(store_receipts(ctx, e->store, &f, &v, &n, &total));
    out->v = DUP_N(&ctx->arena, out->v, out->n, out->n + n + 1);
    for (size_t i = 0; i < n; i++) {
        v[i].space = pool.space;
        out->v[out->n++] = v[i];
    }
    out->total += total;
    return OK;
}

/* From each pool as many as a page holds; the newest are the page. A user has few spaces. */
enum status engine_receipts(struct ctx *ctx, struct engine *e, const struct receipts_in *in,
                            struct receipts_out *out)
{
    assert(in->limit && in->pools.n);
    *out = (struct receipts_out){0};
    for (size_t i = 0; i < in->pools.n; i++) {
        engine_catch_up(ctx, e, in->pools.v[i]);
        TRY(add_pool(ctx, e, in, in->pools.v[i], out));
    }
    SORT(out->v, out->n, newest_receipt_first);
    out->has_more = out->n > in->limit;
    out->n = out->has_more ? in->limit : out->n;
    return OK;
}

/* --- conversations --- */

ORDER(newest_session_first, struct session, DOWN(updated) ?: DOWN(no));

/* From each pool as many as the page may need, of which the newest are the page. */
enum status engine_sessions_page(struct ctx *ctx, struct engine *e, struct pools pools,
                                 const struct session_filter *f, struct sessions_out *out)
{
    struct session *all = NULL, *v;
    size_t have = 0, cap = 0, n;
    int64_t total;
    assert(f->limit && pools.n);
    *out = (struct sessions_out){0};
    for (size_t i = 0; i < pools.n; i++) {
        struct session_filter one = *f;
        one.pool = pools.v[i];
        engine_catch_up(ctx, e, one.pool);
        one.offset = 0;
        one.limit = f->offset + f->limit + 1;
        TRY(store_sessions(ctx, e->store, &one, &v, &n, &total));
        out->total += total;
        for (size_t k = 0; k < n; k++)
            ARENA_ADD(&ctx->arena, all, have, cap) = v[k];
    }
    SORT(all, have, newest_session_first);
    out->v = have > f->offset ? all + f->offset : all;
    out->n = have > f->offset ? have - f->offset : 0;
    out->has_more = out->n > f->limit;
    out->n = out->has_more ? f->limit : out->n;
    return OK;
}

/* --- messages --- */

/* Of a message that was forgotten in part recall looks at the rest. */
static enum status leave_forgotten(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   struct message *v, size_t n)
{
    struct tombstones tombstones;
    TRY(tombstones_load(ctx, e, pool, &tombstones));
    for (struct message *m = v; m < v + n; m++) {
        m->says = tombstones_left(&tombstones, &ctx->arena, m);
        m->is_echo |= m->says.n < m->text.n;
    }
    return OK;
}

/* Positions of erased messages are not used again, so there may be fewer neighbours than asked. */
static enum status read_around(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               const struct message *m, int64_t around, struct message_around *out)
{
    int64_t at = doc_position(m->doc), from = at > around ? at - around : 0;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool, m->session, from, (size_t)(2 * around + 1),
                               &out->v, &n));
    for (; out->n < n && doc_position(out->v[out->n].doc) <= at + around; out->n++)
        if (out->v[out->n].doc == m->doc)
            out->at = out->n;
    TRY(leave_forgotten(ctx, e, pool, out->v, out->n));
    return out->n ? OK : NOT_FOUND; /* it was erased since */
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

/* Where messages were erased more are asked for, until the page is full. */
static enum status read_back(struct ctx *ctx, struct engine *e, const struct session_page_in *in,
                             size_t want, struct message **out, size_t *n)
{
    struct message *v;
    size_t got;
    *out = NEW_N(&ctx->arena, struct message, want);
    *n = 0;
    for (int64_t end = in->from; *n < want && end;) {
        TRY(messages_before(ctx, e, in->pool, in->session, want, &end, &v, &got));
        while (got && *n < want)
            (*out)[(*n)++] = v[--got];
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
    return leave_forgotten(ctx, e, in->pool, *out, *n);
}
