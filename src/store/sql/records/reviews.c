/* reviews.c - messages and memories that recall held back, and what was decided about them. */
#include "store/review.h"
#include "store/sql/db/lookup.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * A row is about one version of a message or memory; when the same is held back again, it counts
 * up. A decision counts for the version that it was made about (store/review.h). Rows disappear
 * with what they are about, by triggers of the schema. Noting is a write that nobody waits for, as
 * it happens during a recall; it joins the commit of the receipt.
 */

struct hold_note {
    struct pool_ref pool;
    struct held_item held;
    int64_t now;
};

static enum status note_held(struct ctx *ctx, struct db *db, const void *what)
{
    const struct hold_note *h = what;
    POOL_ROW(pool, ctx, db, h->pool);
    return SQL_DO(ctx, db, SQL_REVIEW_HOLD, pool.no, h->held.id, h->held.version, h->now,
                  h->held.is_memory);
}

enum status store_hold(struct ctx *ctx, struct store *s, struct pool_ref pool,
                       const struct held_item *held, int64_t now)
{
    TRY(pool_check(ctx, pool));
    struct later *later;
    TRY(writer_reserve(ctx, s->writer,
                       sizeof(struct hold_note) + pool.user.n + pool.space.n + held->id.n, &later));
    struct arena *a = &later->ctx.arena;
    struct hold_note *own = NEW(a, struct hold_note);
    *own = (struct hold_note){pool_copy(a, pool), *held, now};
    own->held.id = str_dup(a, held->id);
    later->task.pool = own->pool;
    later->task.is_touch = true;
    later->pool = writer_pool(pool);
    writer_queue(s->writer, later, note_held, own);
    return OK;
}

SQL_READER(read_held, struct held_item, out->id, out->is_memory, out->version, out->state,
           out->first, out->last, out->times);

enum status store_held(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                       struct held_item *out)
{
    *out = (struct held_item){.id = S("")};
    POOL_READER(r, row, ctx, s, pool);
    return SQL_FIRST(ctx, r.db, read_held, out, SQL_REVIEW_GET, row.no, id);
}

enum status store_held_list(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            enum review_state state, struct held_item **out, size_t *n)
{
    POOL_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_held, out, n, SQL_REVIEW_LIST, row.no, state);
}

struct decision {
    struct pool_ref pool;
    str id;
    enum review_state state;
    int64_t version;
};

/* REVIEW_FORGOTTEN is not stored: the row goes. */
static enum status put_decision(struct ctx *ctx, struct db *db, const void *what)
{
    const struct decision *d = what;
    bool is_there;
    POOL_ROW(pool, ctx, db, d->pool);
    TRY(SQL_ANY(ctx, db, &is_there, SQL_REVIEW_GET, pool.no, d->id));
    if (!is_there)
        return fail(ctx, NOT_FOUND, "nothing with the id '" S_FMT "' is quarantined", S_ARG(d->id));
    if (d->state == REVIEW_FORGOTTEN)
        return SQL_DO(ctx, db, SQL_REVIEW_DELETE, pool.no, d->id);
    return SQL_DO(ctx, db, SQL_REVIEW_DECIDE, pool.no, d->id, d->state, d->version);
}

enum status store_decide(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                         enum review_state state, int64_t version)
{
    TRY(pool_check(ctx, pool));
    return writer_call(ctx, s->writer, put_decision, &(struct decision){pool, id, state, version});
}
