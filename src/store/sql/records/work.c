/* work.c - the log of work done in the background, and what it came to. */
#include "store/sql/records/work.h"

#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * One row for each piece of background work: what it did, with which model, at what cost. Rows name
 * their pool by text since they outlive it; forgetting a user blanks the names and details and
 * keeps the counts. Pruned after WORK_DAYS (prune.c).
 */

/* What a pool's work cost outlives its row in the log. */
static enum status count_tokens(struct ctx *ctx, struct db *db, const struct work *work)
{
    if (!work->model.n || !work->pool.space.n || !(work->tokens_in + work->tokens_out))
        return OK;
    POOL_ROW(pool, ctx, db, work->pool);
    if (!pool.no)
        return OK;
    TRY(days_add(ctx, db, pool.no, DAY_CORE_IN, work->tokens_in));
    return days_add(ctx, db, pool.no, DAY_CORE_OUT, work->tokens_out);
}

enum status work_add(struct ctx *ctx, struct db *db, const struct work *work)
{
    TRY(count_tokens(ctx, db, work));
    return SQL_LATER(ctx, db, SQL_WORK_ADD, work->pool.user, work->pool.space, work->kind,
                     work->status, work->details, work->model, work->tokens_in, work->tokens_out,
                     work->took_ms, work->created ? work->created : clock_ms());
}

static enum status log_work(struct ctx *ctx, struct db *db, const void *what)
{
    return work_add(ctx, db, what);
}

enum status store_log_work(struct ctx *ctx, struct store *s, const struct work *work)
{
    return writer_call(ctx, s->writer, log_work, work);
}

SQL_READER(read_work, struct work, out->pool.user, out->pool.space, out->kind, out->status,
           out->details, out->model, out->tokens_in, out->tokens_out, out->took_ms, out->created);

enum status store_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool, str kind,
                           size_t limit, struct work **out, size_t *n)
{
    READER(r, ctx, s);
    return pool ? SQL_LIST(ctx, r.db, read_work, out, n, SQL_WORK_LIST_OF, sql_limit(limit), kind,
                           pool->user, pool->space)
                : SQL_LIST(ctx, r.db, read_work, out, n, SQL_WORK_LIST, sql_limit(limit), kind);
}

enum status store_work_sum(struct ctx *ctx, struct store *s, int64_t since, struct work_sum *out)
{
    *out = (struct work_sum){0};
    READER(r, ctx, s);
    SQL_RUN(q, ctx, r.db, SQL_WORK_SUM, since);
    return SQL_GET_ROW(&q, out->calls, out->failures, out->tokens_in, out->tokens_out,
                       out->took_ms);
}
