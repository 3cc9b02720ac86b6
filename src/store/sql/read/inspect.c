/* inspect.c - lessons, past truths and numbers of one pool, for people who look. */
#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"

/*
 * Reads beside those of chats. Each is one statement on one pool: the caller adds up pools, as only
 * it knows which of them may be seen.
 */

enum status store_doc_of(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                         doc_id *out)
{
    struct memory memory;
    CHECKED_READER(r, row, ctx, s, pool);
    TRY(memory_find(ctx, r.db, SQL_MEMORY_BY_ID, row.no, id, &memory));
    *out = memory.doc;
    return memory.id.n ? OK : message_find(ctx, r.db, row.no, id, out);
}

enum status store_learnt(struct ctx *ctx, struct store *s, struct pool_ref pool, str message,
                         struct memory **out, size_t *n)
{
    CHECKED_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_memory, out, n, SQL_MEMORY_BY_SOURCE, row.no, message);
}

enum status store_once_true(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t at,
                            size_t limit, struct memory **out, size_t *n)
{
    CHECKED_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_memory, out, n, SQL_MEMORY_ONCE_TRUE, row.no, at, clock_ms(),
                    sql_limit(limit));
}

/* --- numbers --- */

enum status store_pool_totals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              struct pool_totals *out)
{
    *out = (struct pool_totals){0};
    CHECKED_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, SQL_POOL_TOTALS, row.no);
    return SQL_GET_ROW(&q, out->created, out->sessions, out->messages, out->memories, out->closed,
                       out->receipts);
}

SQL_READER(read_day, struct day_count, out->day, out->stat, out->n);

enum status store_days(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t from,
                       int64_t to, bool sums, struct day_count **out, size_t *n)
{
    CHECKED_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_day, out, n, sums ? SQL_DAY_SUM : SQL_DAY_LIST, row.no, from,
                    to);
}
