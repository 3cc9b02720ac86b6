/* mirror.c - the settings that the store keeps, and the queue of what a second place must follow.
 */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

/* --- settings --- */

enum status sqlite_setting(struct ctx *ctx, struct store *s, str name, str *out)
{
    str value = S("");
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    SQL_RUN(q, ctx, r.db, SQL_SETTING_GET);
    sql_text(&q, name);
    if (sql_row(&q))
        value = sql_get_text(&q);
    TRY(sql_end(&q));
    *out = value;
    return OK;
}

struct setting {
    str name, value;
};

static enum status put_setting(struct ctx *ctx, struct db *db, const void *what)
{
    const struct setting *setting = what;
    SQL_RUN(q, ctx, db, setting->value.n ? SQL_SETTING_PUT : SQL_SETTING_DELETE);
    sql_text(&q, setting->name);
    if (setting->value.n)
        sql_text(&q, setting->value);
    return sql_do(&q);
}

enum status sqlite_put_setting(struct ctx *ctx, struct store *s, str name, str value)
{
    struct setting setting = {name, value};
    return writer_call(ctx, sqlite_of(s)->writer, put_setting, &setting);
}

/* --- the mirror --- */

static enum status run(struct ctx *ctx, struct db *db, enum sql which)
{
    SQL_RUN(q, ctx, db, which);
    return sql_do(&q);
}

static enum status is_on(struct ctx *ctx, struct db *db, bool *out)
{
    SQL_RUN(q, ctx, db, SQL_FACT_GET);
    sql_text(&q, S("mirror"));
    *out = sql_row(&q);
    return sql_end(&q);
}

/* The triggers look for the fact. */
static enum status remember(struct ctx *ctx, struct db *db, bool on)
{
    SQL_RUN(q, ctx, db, on ? SQL_FACT_PUT : SQL_FACT_DELETE);
    sql_text(&q, S("mirror"));
    if (on)
        sql_text(&q, S("on"));
    return sql_do(&q);
}

static enum status turn(struct ctx *ctx, struct db *db, const void *what)
{
    bool on = *(const bool *)what, was;
    TRY(is_on(ctx, db, &was));
    if (on == was)
        return OK;
    TRY(remember(ctx, db, on));
    return run(ctx, db, on ? SQL_MIRROR_ALL : SQL_MIRROR_CLEAR);
}

enum status sqlite_mirror(struct ctx *ctx, struct store *s, bool on)
{
    return writer_call(ctx, sqlite_of(s)->writer, turn, &on);
}

static enum status queue_all(struct ctx *ctx, struct db *db, const void *what)
{
    bool on;
    (void)what;
    TRY(is_on(ctx, db, &on));
    return on ? run(ctx, db, SQL_MIRROR_ALL) : OK;
}

enum status sqlite_mirror_all(struct ctx *ctx, struct store *s)
{
    return writer_call(ctx, sqlite_of(s)->writer, queue_all, NULL);
}

static enum status next(struct ctx *ctx, struct db *db, size_t limit, struct mirrored **out,
                        size_t *n)
{
    struct mirrored *v = NULL;
    size_t have = 0, cap = 0;
    SQL_RUN(q, ctx, db, SQL_MIRROR_NEXT);
    sql_int(&q, clock_ms());
    sql_int(&q, limit > INT32_MAX ? INT32_MAX : (int64_t)limit);
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        struct mirrored *m = &v[have++];
        *m = (struct mirrored){.no = sql_get_int(&q)};
        m->pool.user = sql_get_text(&q);
        m->pool.space = sql_get_text(&q);
        m->id = sql_get_text(&q);
        m->tries = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}

static enum status read_one(struct ctx *ctx, struct db *db, struct mirrored *m)
{
    struct pool_row row;
    TRY(pool_find(ctx, db, m->pool, &row));
    SQL_RUN(q, ctx, db, SQL_MEMORY_BY_ID);
    sql_int(&q, row.no);
    sql_text(&q, m->id);
    if (sql_row(&q))
        read_memory(&q, &m->memory);
    m->exists = m->memory.id.n && !m->memory.valid_to;
    if (!m->exists)
        m->memory = (struct memory){0};
    return sql_end(&q);
}

static enum status count(struct ctx *ctx, struct db *db, int64_t *out)
{
    SQL_RUN(q, ctx, db, SQL_MIRROR_COUNT);
    *out = sql_row(&q) ? sql_get_int(&q) : 0;
    return sql_end(&q);
}

enum status sqlite_mirror_waiting(struct ctx *ctx, struct store *s, size_t limit,
                                  struct mirrored **out, size_t *n, int64_t *all)
{
    struct mirrored *v;
    size_t have;
    int64_t waiting;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(count(ctx, r.db, &waiting));
    TRY(next(ctx, r.db, limit, &v, &have));
    for (size_t i = 0; i < have; i++)
        TRY(read_one(ctx, r.db, &v[i]));
    *out = v;
    *n = have;
    *all = waiting;
    return OK;
}

struct done {
    const int64_t *no;
    size_t n;
    int64_t again_at;
};

static enum status leave(struct ctx *ctx, struct db *db, const void *what)
{
    const struct done *done = what;
    for (size_t i = 0; i < done->n; i++) {
        SQL_RUN(q, ctx, db, done->again_at ? SQL_MIRROR_AGAIN : SQL_MIRROR_DONE);
        sql_int(&q, done->no[i]);
        if (done->again_at)
            sql_int(&q, done->again_at);
        TRY(sql_do(&q));
    }
    return OK;
}

enum status sqlite_mirror_done(struct ctx *ctx, struct store *s, const int64_t *no, size_t n,
                               int64_t again_at)
{
    struct done done = {no, n, again_at};
    return n ? writer_call(ctx, sqlite_of(s)->writer, leave, &done) : OK;
}
