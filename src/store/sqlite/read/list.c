/* list.c - memories by a filter: a page of them, how many, and what they come to. */
#include <assert.h>
#include <float.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/db/rows.h"
#include "store/sqlite/state/reader.h"

/* Each statement exists for one pool (by its number), for one layer of a pool, and for all pools of
 * a user. */
struct list {
    const struct memory_filter *f;
    int64_t pool, now;
};

static enum status find_pool(struct ctx *ctx, struct db *db, const struct memory_filter *f,
                             struct list *out)
{
    struct pool_row row = {0};
    if (f->pool.space.n)
        TRY(pool_find(ctx, db, f->pool, &row));
    *out = (struct list){f, row.no, clock_ms()};
    return OK;
}

/* The place of a name in the list; -1 for "", which the statements take as any. */
static int index_or_any(const char *const *names, str name)
{
    return name.n ? name_index(names, name, -1) : -1;
}

/* Every condition of a filter is a parameter with a neutral value ("" or the widest range), so that
 * no SQL is put together at run time. The order is that of MEMORY_MATCHES in sql.def. */
static void bind_filter(struct query *q, const struct list *l)
{
    const struct memory_filter *f = l->f;
    /* A priority ranges from its least importance to that of the next higher one. */
    int p = index_or_any(priority_names, f->priority);
    double least = p < 0 || p == PRIORITY_LOW ? -DBL_MAX : priority_least[p];
    double below = p <= PRIORITY_CRITICAL ? DBL_MAX : priority_least[p - 1];
    assert(p < PRIORITY_COUNT);
    if (f->pool.space.n)
        sql_int(q, l->pool);
    else
        sql_text(q, f->pool.user);
    SQL_BIND(q, f->after ? f->after : INT64_MIN, f->before ? f->before : INT64_MAX,
             index_or_any(type_names, f->type), f->category, f->session,
             utf8_lower(&q->ctx->arena, f->contains), f->with_closed, f->with_expired, l->now,
             index_or_any(layer_names, f->layer), f->kind, least, below);
}

/* There is an index of the layers other than facts. */
static bool is_one_layer(const struct memory_filter *f)
{
    return f->pool.space.n && name_index(layer_names, f->layer, LAYER_FACT) != LAYER_FACT;
}

static enum status count_memories(struct ctx *ctx, struct db *db, const struct list *l,
                                  int64_t *out)
{
    SQL_RUN(q, ctx, db,
            is_one_layer(l->f)   ? SQL_MEMORY_COUNT_LAYER
            : l->f->pool.space.n ? SQL_MEMORY_COUNT
                                 : SQL_MEMORY_COUNT_OF_USER);
    bind_filter(&q, l);
    return sql_number(&q, out);
}

static enum sql list_of(const struct memory_filter *f)
{
    if (f->by_use)
        return f->pool.space.n ? SQL_MEMORY_LIST_BY_USE : SQL_MEMORY_LIST_OF_USER_BY_USE;
    if (is_one_layer(f))
        return f->oldest_first ? SQL_MEMORY_LIST_LAYER_OLDEST : SQL_MEMORY_LIST_LAYER;
    if (f->pool.space.n)
        return f->oldest_first ? SQL_MEMORY_LIST_OLDEST : SQL_MEMORY_LIST;
    return f->oldest_first ? SQL_MEMORY_LIST_OF_USER_OLDEST : SQL_MEMORY_LIST_OF_USER;
}

/* Page and total come from one transaction and agree. total may be NULL: counting reads all
 * matches. */
enum status sqlite_list_memories(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total)
{
    struct list l;
    int64_t all = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(find_pool(ctx, r.db, f, &l));
    if (total)
        TRY(count_memories(ctx, r.db, &l, &all));
    SQL_RUN(q, ctx, r.db, list_of(f));
    bind_filter(&q, &l);
    SQL_BIND(&q, sql_limit(f->limit), sql_limit(f->offset));
    TRY(read_memories(&q, out, n));
    if (total)
        *total = all;
    return OK;
}

/* One pass over the matches: counting each group apart would read them a dozen times. */
enum status sqlite_memory_totals(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory_totals *out)
{
    struct list l;
    struct memory_totals found = {0};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(find_pool(ctx, r.db, f, &l));
    SQL_RUN(q, ctx, r.db, f->pool.space.n ? SQL_MEMORY_TOTALS : SQL_MEMORY_TOTALS_OF_USER);
    bind_filter(&q, &l);
    if (sql_row(&q)) {
        for (int i = 0; i < TYPE_COUNT; i++)
            found.total += found.by_type[i] = sql_get_int(&q);
        for (int i = 0; i < KIND_COUNT; i++)
            found.by_kind[i] = sql_get_int(&q);
        for (int i = 0; i < PRIORITY_COUNT; i++)
            found.by_priority[i] = sql_get_int(&q);
        found.uses = sql_get_int(&q);
        found.oldest = sql_get_int(&q);
        found.newest = sql_get_int(&q);
        found.tokens = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    *out = found;
    return OK;
}

static void read_pool(struct query *q, str user, struct pool_info *out)
{
    out->pool = (struct pool_ref){user, sql_get_text(q)};
    out->created = sql_get_int(q);
    out->sessions = sql_get_int(q);
    out->messages = sql_get_int(q);
    out->memories = sql_get_int(q);
}

enum status sqlite_pools(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                         size_t *n)
{
    struct pool_info *v = NULL;
    size_t have = 0, cap = 0;
    str owner = str_dup(&ctx->arena, user);
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_POOL_LIST, user);
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        read_pool(&q, owner, &v[have++]);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}

enum status sqlite_users(struct ctx *ctx, struct store *s, struct strs *out)
{
    struct strs found = {0};
    size_t cap = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_POOL_USERS);
    while (sql_row(&q)) {
        found.v = arena_more(&ctx->arena, found.v, found.n, &cap, sizeof *found.v);
        found.v[found.n++] = sql_get_text(&q);
    }
    TRY(sql_end(&q));
    *out = found;
    return OK;
}

enum status sqlite_pool_sums(struct ctx *ctx, struct store *s, struct pool_ref pool,
                             struct pool_sum **out, size_t *n)
{
    struct pool_sum *v = NULL;
    size_t have = 0, cap = 0;
    str owner = str_dup(&ctx->arena, pool.user);
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_POOL_SUMS, pool.user, pool.space);
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        struct pool_sum *p = &v[have++];
        read_pool(&q, owner, &p->pool);
        p->facts = sql_get_int(&q);
        p->episodes = sql_get_int(&q);
        p->signals = sql_get_int(&q);
        p->updated = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}
