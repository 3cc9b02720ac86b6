/* lookup.c - names into row numbers, on any connection; and the counts that a pool's row keeps. */
#include "store/sql/db/lookup.h"

#include <stdatomic.h>

#include "base/clock.h"

/*
 * Everything below the face works with row numbers; names are looked up once at the start of a
 * call. A name that is not there gives number 0, which no row has, so a statement that is run with
 * it finds nothing.
 */

/* Of several servers one writes to a pool at a time: the writer locks the row. */
static bool locks_pools(const struct db *db)
{
    return is_postgres(db) && db->changes;
}

static enum sql pool_statement(const struct db *db)
{
    return locks_pools(db) ? SQL_POOL_LOCK : SQL_POOL_FIND;
}

static bool is_seen(const struct db *db, struct pool_ref pool)
{
    const struct seen *seen = db->seen;
    return seen && str_eq(seen->pool.user, pool.user) && str_eq(seen->pool.space, pool.space);
}

/* Numbers of pools by their names. A wrong one only costs a statement that nobody needs, so a name
 * is known by a hash, and the last pool in a place stays. */
enum { KNOWN = 4096 };
static struct known_pool {
    atomic_uint_fast64_t name;
    atomic_int_fast64_t no, generation;
} known_pools[KNOWN];

static uint64_t hash_name(struct pool_ref pool)
{
    return (str_hash(pool.user) * 0x9E3779B97F4A7C15u) ^ str_hash(pool.space);
}

/* The writer asks for many pools at once, whose rows it locks in an order of its own. */
enum status pool_guess(struct ctx *ctx, struct db *db, struct pool_ref pool, struct pool_row *out)
{
    uint64_t name = hash_name(pool);
    struct known_pool *known = &known_pools[name % KNOWN];
    *out = (struct pool_row){0};
    bool is_known = atomic_load(&known->name) == name;
    if (is_seen(db, pool) || (!is_known && !locks_pools(db)))
        return pool_find(ctx, db, pool, out);
    SQL_AHEAD(ctx, db, pool_statement(db), pool.user, pool.space);
    if (!is_known)
        return OK;
    out->no = atomic_load(&known->no);
    out->generation = atomic_load(&known->generation);
    return OK;
}

enum status pool_ahead(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t *out)
{
    struct pool_row row = {0};
    if (is_postgres(db))
        TRY(pool_guess(ctx, db, pool, &row));
    *out = row.no;
    return OK;
}

static void note_known(struct pool_ref pool, const struct pool_row *row)
{
    uint64_t name = hash_name(pool);
    struct known_pool *known = &known_pools[name % KNOWN];
    atomic_store(&known->no, row->no);
    atomic_store(&known->generation, row->generation);
    atomic_store(&known->name, name);
}

enum status pool_find(struct ctx *ctx, struct db *db, struct pool_ref pool, struct pool_row *out)
{
    struct seen *seen = db->seen;
    *out = (struct pool_row){0};
    if (is_seen(db, pool)) {
        *out = seen->row;
        return OK;
    }
    TRY(SQL_ALONE(SQL_GET_ROW(&q_, out->no, out->messages, out->memories, out->generation), ctx, db,
                  pool_statement(db), pool.user, pool.space));
    if (is_postgres(db) && out->no)
        note_known(pool, out);
    if (!seen)
        return OK;
    seen->pool = pool_copy(&ctx->arena, pool);
    seen->row = *out;
    return OK;
}

int64_t expired_by(const struct db *db)
{
    if (!db->seen)
        return clock_ms();
    if (!db->seen->now)
        db->seen->now = clock_ms();
    return db->seen->now;
}

enum status pool_make(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t now,
                      int64_t *no)
{
    assert(pool.user.n && pool.space.n && db_in_transaction(db));
    POOL_ROW(row, ctx, db, pool);
    *no = row.no;
    if (row.no)
        return OK;
    TRY(SQL_DO(ctx, db, SQL_POOL_ADD, pool.user, pool.space, now));
    *no = db_last_row(db);
    return OK;
}

/*
 * One small row for each pool, day and kind of count. The rows of today are neighbours and stay in
 * the page cache, so that counting adds little to a write.
 */
enum status days_add(struct ctx *ctx, struct db *db, int64_t pool, int stat, int64_t n)
{
    if (!n)
        return OK;
    assert(pool && stat >= 0 && stat < DAY_STAT_COUNT && db_in_transaction(db));
    return SQL_LATER(ctx, db, SQL_DAY_ADD, pool, day_number(clock_ms()), stat, n);
}

/* A day counts what came, which what went does not undo. */
static enum status count_today(struct ctx *ctx, struct db *db, int64_t pool,
                               const struct pool_gain *gain)
{
    for (int i = 0; i < TYPE_COUNT; i++)
        TRY(days_add(ctx, db, pool, DAY_ADDED + i, gain->added[i]));
    TRY(days_add(ctx, db, pool, DAY_FORGOTTEN, gain->forgotten));
    TRY(days_add(ctx, db, pool, DAY_EXPIRED, gain->expired));
    TRY(days_add(ctx, db, pool, DAY_SESSIONS, gain->sessions > 0 ? gain->sessions : 0));
    return days_add(ctx, db, pool, DAY_MESSAGES, gain->messages > 0 ? gain->messages : 0);
}

/* Kept in the row, so that totals need no count over millions of rows. */
enum status pool_count(struct ctx *ctx, struct db *db, int64_t pool, struct pool_gain gain)
{
    TRY(count_today(ctx, db, pool, &gain));
    if (!gain.sessions && !gain.messages && !gain.memories && !gain.closed)
        return OK;
    assert(pool && db_in_transaction(db));
    return SQL_LATER(ctx, db, SQL_POOL_COUNT, pool, gain.sessions, gain.messages, gain.memories,
                     gain.closed);
}

enum status session_find(struct ctx *ctx, struct db *db, int64_t pool, str id, int64_t *no)
{
    return SQL_NUMBER(ctx, db, no, SQL_SESSION_FIND, pool, id);
}

enum status message_find(struct ctx *ctx, struct db *db, int64_t pool, str id, doc_id *out)
{
    return SQL_NUMBER(ctx, db, out, SQL_MESSAGE_FIND, pool, id);
}
