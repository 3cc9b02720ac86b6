/* work.c - the log of work done in the background, and what it came to. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

enum status work_add(struct ctx *ctx, struct db *db, const struct work *work)
{
    SQL_RUN(q, ctx, db, SQL_WORK_ADD);
    sql_text(&q, work->pool.user);
    sql_text(&q, work->pool.space);
    sql_text(&q, work->kind);
    sql_text(&q, work->status);
    sql_text(&q, work->details);
    sql_text(&q, work->model);
    sql_int(&q, work->tokens_in);
    sql_int(&q, work->tokens_out);
    sql_int(&q, work->took_ms);
    sql_int(&q, work->created ? work->created : clock_ms());
    return sql_do(&q);
}

static enum status add(struct ctx *ctx, struct db *db, const void *what)
{
    return work_add(ctx, db, what);
}

enum status sqlite_log_work(struct ctx *ctx, struct store *s, const struct work *work)
{
    return writer_call(ctx, sqlite_of(s)->writer, add, work);
}

static void read_work(struct query *q, struct work *out)
{
    *out = (struct work){0};
    out->pool.user = sql_get_text(q);
    out->pool.space = sql_get_text(q);
    out->kind = sql_get_text(q);
    out->status = sql_get_text(q);
    out->details = sql_get_text(q);
    out->model = sql_get_text(q);
    out->tokens_in = sql_get_int(q);
    out->tokens_out = sql_get_int(q);
    out->took_ms = sql_get_int(q);
    out->created = sql_get_int(q);
}

enum status sqlite_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool, str kind,
                            size_t limit, struct work **out, size_t *n)
{
    struct work *v = NULL;
    size_t have = 0, cap = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, pool ? SQL_WORK_LIST_OF : SQL_WORK_LIST);
    sql_int(&q, limit > INT32_MAX ? INT32_MAX : (int64_t)limit);
    sql_text(&q, kind);
    if (pool) {
        sql_text(&q, pool->user);
        sql_text(&q, pool->space);
    }
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        read_work(&q, &v[have++]);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}

enum status sqlite_work_sum(struct ctx *ctx, struct store *s, int64_t since, struct work_sum *out)
{
    struct work_sum found = {0};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_WORK_SUM);
    sql_int(&q, since);
    if (sql_row(&q)) {
        found.calls = sql_get_int(&q);
        found.failures = sql_get_int(&q);
        found.tokens_in = sql_get_int(&q);
        found.tokens_out = sql_get_int(&q);
        found.took_ms = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    *out = found;
    return OK;
}
