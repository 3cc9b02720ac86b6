/* list.c - memories by a filter: a page of them, how many, and what they come to. */
#include <float.h>

#include "base/clock.h"
#include "base/words.h"
#include "core/tokens.h"
#include "store/sqlite/sqlite_store.h"

static void tokens(sqlite3_context *result, int n, sqlite3_value **values)
{
    (void)n;
    const char *p = (const char *)sqlite3_value_text(values[0]);
    sqlite3_result_int64(result, tokens_of((str){p, (size_t)sqlite3_value_bytes(values[0])}));
}

/* SQLite's own lower() knows no letters but those of ASCII. */
static void lowered(sqlite3_context *result, int n, sqlite3_value **values)
{
    struct arena own = {0};
    (void)n;
    const char *p = (const char *)sqlite3_value_text(values[0]);
    str text = utf8_lower(&own, (str){p, (size_t)sqlite3_value_bytes(values[0])});
    sqlite3_result_text(result, text.p, (int)text.n, SQLITE_TRANSIENT);
    arena_free(&own);
}

enum status list_setup(struct ctx *ctx, struct db *db)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    int rc = sqlite3_create_function(db->handle, "tokens", 1, FLAGS, NULL, tokens, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(db->handle, "lowered", 1, FLAGS, NULL, lowered, NULL, NULL);
    return rc == SQLITE_OK ? OK : db_failed(ctx, db, rc);
}

/* A statement comes in forms: for one pool, by its number, for a layer of it, and for all of a
 * user. */
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

/* From its least importance on, up to the least of the one above. */
static void bind_priority(struct query *q, str priority)
{
    int p = priority.n ? name_index(priority_names, priority, -1) : -1;
    sql_real(q, p < 0 || p == PRIORITY_LOW ? -DBL_MAX : priority_least[p]);
    sql_real(q, p <= PRIORITY_CRITICAL ? DBL_MAX : priority_least[p - 1]);
}

static void bind(struct query *q, const struct list *l)
{
    const struct memory_filter *f = l->f;
    if (f->pool.space.n)
        sql_int(q, l->pool);
    else
        sql_text(q, f->pool.user);
    sql_int(q, f->after ? f->after : INT64_MIN);
    sql_int(q, f->before ? f->before : INT64_MAX);
    sql_int(q, f->type.n ? name_index(type_names, f->type, -1) : -1);
    sql_text(q, f->category);
    sql_text(q, f->session);
    sql_text(q, utf8_lower(&q->ctx->arena, f->contains));
    sql_int(q, f->with_closed);
    sql_int(q, f->with_expired);
    sql_int(q, l->now);
    sql_int(q, f->layer.n ? name_index(layer_names, f->layer, -1) : -1);
    sql_text(q, f->kind);
    bind_priority(q, f->priority);
}

/* Which an index leads to. */
static bool is_one_layer(const struct memory_filter *f)
{
    return f->pool.space.n && name_index(layer_names, f->layer, LAYER_FACT) != LAYER_FACT;
}

static enum status count(struct ctx *ctx, struct db *db, const struct list *l, int64_t *out)
{
    SQL_RUN(q, ctx, db,
            is_one_layer(l->f)   ? SQL_MEMORY_COUNT_LAYER
            : l->f->pool.space.n ? SQL_MEMORY_COUNT
                                 : SQL_MEMORY_COUNT_OF_USER);
    bind(&q, l);
    *out = sql_row(&q) ? sql_get_int(&q) : 0;
    return sql_end(&q);
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

enum status sqlite_list_memories(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total)
{
    struct list l;
    int64_t all = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(find_pool(ctx, r.db, f, &l));
    if (total)
        TRY(count(ctx, r.db, &l, &all));
    SQL_RUN(q, ctx, r.db, list_of(f));
    bind(&q, &l);
    sql_int(&q, f->limit > INT32_MAX ? INT32_MAX : (int64_t)f->limit);
    sql_int(&q, f->offset > INT32_MAX ? INT32_MAX : (int64_t)f->offset);
    TRY(read_memories(&q, out, n));
    if (total)
        *total = all;
    return OK;
}

enum status sqlite_memory_totals(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory_totals *out)
{
    struct list l;
    struct memory_totals found = {0};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(find_pool(ctx, r.db, f, &l));
    SQL_RUN(q, ctx, r.db, f->pool.space.n ? SQL_MEMORY_TOTALS : SQL_MEMORY_TOTALS_OF_USER);
    bind(&q, &l);
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
    SQL_RUN(q, ctx, r.db, SQL_POOL_LIST);
    sql_text(&q, user);
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
    SQL_RUN(q, ctx, r.db, SQL_POOL_SUMS);
    sql_text(&q, pool.user);
    sql_text(&q, pool.space);
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
