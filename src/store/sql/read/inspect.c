/* inspect.c - lessons, past truths and numbers of one pool, for people who look. */
#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/state/reader.h"

/*
 * Reads beside those of chats. Each is one statement on one pool: the caller adds up pools, as only
 * it knows which of them may be seen.
 */

enum status sql_doc_of(struct ctx *ctx, struct store *s, struct pool_ref pool, str id, doc_id *out)
{
    struct memory memory;
    POOL_READER(r, row, ctx, s, pool);
    TRY(memory_find(ctx, r.db, SQL_MEMORY_BY_ID, row.no, id, &memory));
    *out = memory.doc;
    return memory.id.n ? OK : message_find(ctx, r.db, row.no, id, out);
}

enum status sql_learnt(struct ctx *ctx, struct store *s, struct pool_ref pool, str message,
                       struct memory **out, size_t *n)
{
    POOL_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_memory, out, n, SQL_MEMORY_BY_SOURCE, row.no, message);
}

enum status sql_once_true(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t at,
                          size_t limit, struct memory **out, size_t *n)
{
    POOL_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_memory, out, n, SQL_MEMORY_ONCE_TRUE, row.no, at, clock_ms(),
                    sql_limit(limit));
}

/* --- numbers --- */

static void read_group(struct query *q, struct memory_group *out)
{
    out->layer = (enum layer)sql_get_int(q);
    out->type = (enum memory_type)sql_get_int(q);
    out->origin = (enum origin)sql_get_int(q);
    out->n = sql_get_int(q);
}

enum status sql_memory_groups(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              struct memory_group **out, size_t *n)
{
    POOL_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, SQL_MEMORY_GROUPS, row.no);
    return SQL_ROWS(&q, read_group, out, n);
}

enum status sql_pool_totals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            struct pool_totals *out)
{
    *out = (struct pool_totals){0};
    POOL_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, SQL_POOL_TOTALS, row.no);
    if (sql_row(&q)) {
        out->created = sql_get_int(&q);
        out->sessions = sql_get_int(&q);
        out->messages = sql_get_int(&q);
        out->memories = sql_get_int(&q);
        out->closed = sql_get_int(&q);
        out->receipts = sql_get_int(&q);
    }
    return sql_end(&q);
}

static void read_day(struct query *q, struct day_count *out)
{
    out->day = sql_get_int(q);
    out->stat = (int)sql_get_int(q);
    out->n = sql_get_int(q);
}

static enum status read_days(struct ctx *ctx, struct store *s, struct pool_ref pool, enum sql which,
                             int64_t from, int64_t to, struct day_count **out, size_t *n)
{
    POOL_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, which, row.no, from, to);
    return SQL_ROWS(&q, read_day, out, n);
}

enum status sql_days(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t from,
                     int64_t to, struct day_count **out, size_t *n)
{
    return read_days(ctx, s, pool, SQL_DAY_LIST, from, to, out, n);
}

enum status sql_day_sums(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t from,
                         int64_t to, struct day_count **out, size_t *n)
{
    return read_days(ctx, s, pool, SQL_DAY_SUM, from, to, out, n);
}
