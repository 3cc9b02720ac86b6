/* list.c - memories by a filter, what they come to, and the pools and users that there are. */
#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/read/page.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"

/* --- memories --- */

/* A selection of no pool finds nothing; one of every pool cannot be asked for. */
enum status store_memory_page(struct ctx *ctx, struct store *s, const struct memory_page_in *in,
                              struct memory_page *out)
{
    const struct memory_select *f = &in->select;
    for (size_t i = 0; i < f->n_pools; i++)
        TRY(pool_check(ctx, f->pools[i]));
    int64_t *pools = NEW_N(&ctx->arena, int64_t, f->n_pools + 1);
    READER(r, ctx, s);
    for (size_t i = 0; i < f->n_pools; i++) {
        POOL_ROW(row, ctx, r.db, f->pools[i]);
        pools[i] = row.no;
    }
    return page_read(ctx, r.db, in, pools, f->n_pools, out);
}

/* One pool, or all of a user's. */
static enum status pools_of(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t **out,
                            size_t *n)
{
    if (!pool.space.n)
        return SQL_LIST(ctx, db, sql_read_int, out, n, SQL_SESSION_POOLS, pool.user, pool.space);
    POOL_ROW(row, ctx, db, pool);
    *out = NEW(&ctx->arena, int64_t);
    **out = row.no;
    *n = 1;
    return OK;
}

/* A priority ranges from its least importance to that of the next higher one. */
static enum status read_filter(struct ctx *ctx, const struct memory_filter *f,
                               struct memory_select *out)
{
    int priority = name_index(priority_names, f->priority, -1);
    *out = SELECT_ALL;
    out->layer = name_index(layer_names, f->layer, -1);
    out->type = name_index(type_names, f->type, -1);
    if (f->layer.n && out->layer < 0)
        return fail_field(ctx, "layer", "must be fact, episode, identity or summary");
    if (f->kind.n && name_index(kind_names, f->kind, -1) < 0)
        return fail_field(ctx, "kind",
                          "must be fact, preference, context, procedure, entity or relationship");
    if (f->priority.n && priority < 0)
        return fail_field(ctx, "priority", "must be critical, high, medium or low");
    out->kind = f->kind;
    out->category = f->category;
    out->session = f->session;
    out->contains = f->contains;
    out->after = f->after;
    out->before = f->before;
    out->closed = f->with_closed ? CLOSED_TOO : f->with_expired ? EXPIRED_TOO : CLOSED_OUT;
    out->importance_min =
        priority < 0 || priority == PRIORITY_LOW ? -DBL_MAX : priority_least[priority];
    out->importance_max =
        priority <= PRIORITY_CRITICAL ? DBL_MAX : nextafter(priority_least[priority - 1], 0);
    return type_check(ctx, f->type);
}

enum status store_list_memories(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                struct memory **out, size_t *n, int64_t *total)
{
    struct memory_page_in in = {.sort = f->by_use ? SORT_ACTIVE : SORT_CREATED,
                                .is_ascending = f->oldest_first && !f->by_use,
                                .limit = f->limit,
                                .offset = f->offset,
                                .counts = total != NULL};
    struct memory_page page;
    int64_t *pools;
    size_t n_pools;
    TRY(read_filter(ctx, f, &in.select));
    READER(r, ctx, s);
    TRY(pools_of(ctx, r.db, f->pool, &pools, &n_pools));
    TRY(page_read(ctx, r.db, &in, pools, n_pools, &page));
    *out = page.v;
    *n = page.n;
    if (total)
        *total = page.total;
    return OK;
}

/* One pass over the matches: counting each group apart would read them a dozen times. */
static enum status add_totals(struct query *q, struct memory_totals *out)
{
    int64_t n = 0;
    if (!sql_row(q))
        return sql_end(q);
    for (int i = 0; i < TYPE_COUNT; i++) {
        int64_t of_type = sql_get_int(q);
        out->by_type[i] += of_type;
        n += of_type;
    }
    for (int i = 0; i < KIND_COUNT; i++)
        out->by_kind[i] += sql_get_int(q);
    for (int i = 0; i < PRIORITY_COUNT; i++)
        out->by_priority[i] += sql_get_int(q);
    out->uses += sql_get_int(q);
    int64_t oldest = sql_get_int(q), newest = sql_get_int(q);
    if (n && (!out->total || oldest < out->oldest))
        out->oldest = oldest;
    if (n && (!out->total || newest > out->newest))
        out->newest = newest;
    out->tokens += sql_get_int(q);
    out->total += n;
    return sql_end(q);
}

enum status store_memory_totals(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                struct memory_totals *out)
{
    struct memory_select select;
    int64_t *pools, now = clock_ms();
    size_t n_pools;
    *out = (struct memory_totals){0};
    TRY(read_filter(ctx, f, &select));
    READER(r, ctx, s);
    TRY(pools_of(ctx, r.db, f->pool, &pools, &n_pools));
    for (size_t i = 0; i < n_pools; i++) {
        SQL_RUN(q, ctx, r.db, SQL_MEMORY_TOTALS);
        select_bind(&q, &select, pools[i], now);
        TRY(add_totals(&q, out));
    }
    return OK;
}

/* --- pools --- */

SQL_READER(read_pool, struct pool_info, out->pool.user, out->pool.space, out->created,
           out->sessions, out->messages, out->memories);

static void read_sum(struct query *q, struct pool_sum *out)
{
    read_pool(q, &out->pool);
    SQL_GET(q, out->facts, out->episodes, out->signals, out->updated);
}

enum status store_pools(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                        size_t *n)
{
    READER(r, ctx, s);
    return SQL_LIST(ctx, r.db, read_pool, out, n, SQL_POOL_LIST, user);
}

enum status store_usage(struct ctx *ctx, struct store *s, struct pool_ref pool, struct usage *out)
{
    *out = (struct usage){0};
    READER(r, ctx, s);
    SQL_RUN(q, ctx, r.db, SQL_POOL_USAGE, pool.user, pool.space);
    return SQL_GET_ROW(&q, out->spaces, out->messages, out->memories, out->bytes, out->has_space);
}

enum status store_users(struct ctx *ctx, struct store *s, str memory, struct strs *out)
{
    READER(r, ctx, s);
    return SQL_LIST(ctx, r.db, sql_read_text, &out->v, &out->n, SQL_POOL_USERS, memory);
}

enum status store_pool_sums(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            struct pool_sum **out, size_t *n)
{
    READER(r, ctx, s);
    return SQL_LIST(ctx, r.db, read_sum, out, n, SQL_POOL_SUMS, pool.user, pool.space);
}
