/* vector_cache.c - the copies of vectors in memory follow the rows, this process's and others'. */
#include "store/sql/search/vector_cache.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/sql/db/lookup.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"
#include "store/vectors/kernels.h"
#include "store/vectors/row.h"

/*
 * A search compares every vector of a pool, so they are kept in memory as int8 codes. Rows carry a
 * growing number (seq), and a removed vector leaves a row with a new one. Before each search a
 * cache reads the rows behind the last number that it has seen, which also brings in what other
 * processes wrote.
 *
 * Order of locks: a call first takes the pool from the shelf (it cannot be evicted then), then its
 * lock, for reading to search and for writing to add rows. The view of the database is the reader's
 * transaction, so all that this view shows is in the codes when cached_begin returns OK; rows that
 * a later view added may be there already.
 */

/* Rows that are read even without time, so that every search makes progress. */
enum { READ_AT_LEAST = 1024 };

static enum status begin_anew(struct ctx *ctx, struct db *db, struct held *h,
                              const struct vector_set_row *set)
{
    codes_free(&h->codes);
    token_store_empty(&h->tokens);
    codes_begin(&h->codes, set->set.dimensions);
    h->set = set->no;
    h->seen = 0;
    int64_t rows = 0;
    TRY(SQL_ALONE(SQL_GET_ROW(&q_, rows, h->began), ctx, db, SQL_VECTOR_COUNT, h->pool));
    codes_reserve(&h->codes, (size_t)rows);
    return OK;
}

/* Half of the time left, so that the search itself has the other half. */
static int64_t half_of(const struct ctx *ctx)
{
    int64_t now = clock_mono_us();
    return ctx->deadline_us ? now + (ctx->deadline_us - now) / 2 : INT64_MAX;
}

/* Reads the rows since the last time. *again: rows were deleted behind the cache, so it must start
 * over. A large pool may take longer than there is time: the rows read so far stay, and the next
 * search continues. */
static enum status read_rows(struct ctx *ctx, struct db *db, const struct vector_set *set,
                             struct held *h, struct lost_rows *lost, bool *again)
{
    float scale, *room = NEW_N(&ctx->arena, float, set->dimensions);
    int8_t *codes = NEW_N(&ctx->arena, int8_t, vector_lanes(set->dimensions));
    int64_t until = half_of(ctx);
    size_t n = 0;
    SQL_RUN(q, ctx, db, SQL_VECTOR_SINCE, h->pool, h->seen);
    while (sql_row(&q)) {
        int64_t seq = sql_get_int(&q);
        doc_id doc = sql_get_int(&q);
        bool is_gone = sql_get_int(&q) != 0;
        *again = doc < 0 && seq > h->began;
        if (*again)
            return OK;
        token_store_remove(&h->tokens, doc);
        if (!is_gone && vector_row_codes(sql_see_blob(&q), set->dimensions, set->is_int8, room,
                                         codes, &scale)) {
            codes_put(&h->codes, doc, codes, scale);
        } else {
            codes_remove(&h->codes, doc);
            if (!is_gone)
                ARENA_ADD(&ctx->arena, lost->v, lost->n, lost->cap) =
                    (struct lost_row){seq, h->pool, doc};
        }
        h->seen = seq;
        if (++n % READ_AT_LEAST == 0 && clock_mono_us() > until)
            return fail(ctx, TIMED_OUT, "the vectors are still being read; try again");
    }
    return sql_end(&q);
}

/* The lock of h is held for writing. */
static enum status follow_rows(struct ctx *ctx, struct db *db, const struct vector_set_row *set,
                               struct held *h, struct lost_rows *lost)
{
    bool again = false;
    if (atomic_load(&h->tokens.is_full))
        token_store_empty(&h->tokens);
    if (h->set > set->no)
        return OK;
    if (h->set < set->no)
        TRY(begin_anew(ctx, db, h, set));
    TRY(read_rows(ctx, db, &set->set, h, lost, &again));
    if (!again)
        return OK;
    TRY(begin_anew(ctx, db, h, set));
    return read_rows(ctx, db, &set->set, h, lost, &again);
}

/* Reading a large pool takes seconds; a search with less time does not wait for another one's. The
 * timed locks of POSIX count by the wall clock: a jump of it makes a wait longer or shorter,
 * nothing else. */
static enum status lock_held(struct ctx *ctx, struct held *h, bool to_write)
{
    struct timespec until;
    int64_t left = half_of(ctx) - clock_mono_us();
    if (!ctx->deadline_us) {
        if (to_write)
            pthread_rwlock_wrlock(&h->lock);
        else
            pthread_rwlock_rdlock(&h->lock);
        return OK;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    left = (left < 0 ? 0 : left) + until.tv_nsec / 1000;
    until.tv_sec += left / 1000000;
    until.tv_nsec = left % 1000000 * 1000;
    int rc = to_write ? pthread_rwlock_timedwrlock(&h->lock, &until)
                      : pthread_rwlock_timedrdlock(&h->lock, &until);
    return rc ? fail(ctx, TIMED_OUT, "the vectors are still being read; try again") : OK;
}

/* On OK the lock is held for reading. Another thread may add rows between the two locks, or take
 * the pool to a newer set, so everything is looked at again under the lock for reading. */
static enum status catch_up(struct ctx *ctx, struct db *db, const struct vector_set_row *set,
                            struct held *h, struct lost_rows *lost)
{
    for (;;) {
        bool has_rows = true;
        TRY(lock_held(ctx, h, false));
        enum status status = OK;
        if (h->set == set->no)
            status = SQL_ANY(ctx, db, &has_rows, SQL_VECTOR_SINCE, h->pool, h->seen);
        bool has_room = !atomic_load(&h->tokens.is_full);
        if (status == OK && ((!has_rows && has_room) || h->set > set->no))
            return OK;
        pthread_rwlock_unlock(&h->lock);
        TRY(status);
        TRY(lock_held(ctx, h, true));
        status = follow_rows(ctx, db, set, h, lost);
        pthread_rwlock_unlock(&h->lock);
        TRY(status);
    }
}

enum status cached_begin(struct ctx *ctx, struct store *s, struct db *db, int64_t pool,
                         const struct vector_set_row *set, struct lost_rows *lost,
                         struct cached *out)
{
    assert(pool && set->no);
    struct cached c = {s, shelf_take(&s->shelf, pool)};
    enum status status = catch_up(ctx, db, set, c.held, lost);
    if (status != OK) {
        shelf_give(&s->shelf, c.held);
        return status;
    }
    if (c.held->set != set->no)
        cached_end(&c);
    *out = c;
    return OK;
}

void cached_end(struct cached *c)
{
    if (!c->held)
        return;
    pthread_rwlock_unlock(&c->held->lock);
    shelf_give(&c->s->shelf, c->held);
    c->held = NULL;
}

/* --- damaged rows --- */

struct mend {
    const struct lost_rows *lost;
    int64_t *n;
};

/* Only rows that are still damaged: another search may have been faster, or the text has changed.
 */
static enum status mend_rows(struct ctx *ctx, struct db *db, const void *what)
{
    const struct mend *m = what;
    *m->n = 0; /* it may run again */
    for (size_t i = 0; i < m->lost->n; i++) {
        const struct lost_row *row = &m->lost->v[i];
        TRY(SQL_DO(ctx, db, SQL_VECTOR_LOST, row->seq, row->pool));
        if (!db_changes(db))
            continue;
        TRY(SQL_DO(ctx, db, SQL_VECTOR_TODO_ADD, row->doc, row->pool));
        ++*m->n;
    }
    return OK;
}

/* Not within cached_begin: this waits for the writer, and the caller would hold a reader and a lock
 * meanwhile. */
void vector_cache_mend(struct ctx *ctx, struct store *s, const struct lost_rows *lost)
{
    int64_t n = 0;
    if (!lost->n)
        return;
    enum status status = writer_call(ctx, s->writer, mend_rows, &(struct mend){lost, &n});
    soft(ctx, status);
    log_event(LOG_WARN, "store.vectors_unreadable", "found=%zu made_anew=%lld", lost->n,
              status == OK ? (long long)n : 0);
}

/* --- erasing --- */

/* Erased vectors must not stay in memory until the next search, which may never come. */
static enum status follow_all(struct ctx *ctx, struct store *s, const struct pool_ref *only,
                              struct lost_rows *lost)
{
    struct pool_row row = {0};
    struct vector_set_row set;
    size_t n;
    int64_t *pools = shelf_pools(&ctx->arena, &s->shelf, &n);
    if (!n)
        return OK;
    READER(r, ctx, s);
    TRY(vector_set_find(ctx, r.db, &set));
    if (only)
        TRY(pool_find(ctx, r.db, *only, &row));
    for (size_t i = 0; i < n; i++) {
        bool there = set.no != 0;
        if (only && pools[i] != row.no)
            continue;
        if (there)
            TRY(SQL_ANY(ctx, r.db, &there, SQL_POOL_THERE, pools[i]));
        if (!there) {
            shelf_drop(&s->shelf, pools[i]);
            continue;
        }
        CACHED(c);
        TRY(cached_begin(ctx, s, r.db, pools[i], &set, lost, &c));
    }
    return OK;
}

/* A failure is made good by the next search. */
void vector_cache_follow(struct store *s, const struct pool_ref *pool)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct lost_rows lost = {0};
    soft(&own, follow_all(&own, s, pool, &lost));
    vector_cache_mend(&own, s, &lost);
}
