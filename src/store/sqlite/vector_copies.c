/* vector_copies.c - the copies of vectors in memory follow the rows, this process's and others'. */
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/sqlite/sqlite_store.h"
#include "store/vectors/kernels.h"
#include "store/vectors/row.h"

/* So many are read even when there is no time. */
enum { READ_AT_LEAST = 1024 };

static void note_lost(struct ctx *ctx, struct lost_rows *lost, int64_t seq, int64_t pool,
                      doc_id doc)
{
    lost->v = arena_more(&ctx->arena, lost->v, lost->n, &lost->cap, sizeof *lost->v);
    lost->v[lost->n++] = (struct lost_row){seq, pool, doc};
}

static enum status begin_anew(struct ctx *ctx, struct db *db, struct held *h,
                              const struct vector_set_row *set)
{
    codes_free(&h->codes);
    codes_begin(&h->codes, set->set.dimensions);
    h->set = set->no;
    h->seen = 0;
    SQL_RUN(q, ctx, db, SQL_VECTOR_COUNT);
    sql_int(&q, h->pool);
    if (sql_row(&q)) {
        codes_reserve(&h->codes, (size_t)sql_get_int(&q));
        h->began = sql_get_int(&q);
    }
    return sql_end(&q);
}

/* Half of what is left, so that there is time for what follows. */
static int64_t half_of(const struct ctx *ctx)
{
    int64_t now = clock_mono_us();
    return ctx->deadline_us ? now + (ctx->deadline_us - now) / 2 : INT64_MAX;
}

/* What came since; *again when so much was forgotten since it began that everything is to be read.
 * A great pool may take longer than there is time: what was read stays, and the next one goes on.
 */
static enum status read_rows(struct ctx *ctx, struct db *db, const struct vector_set *set,
                             struct held *h, struct lost_rows *lost, bool *again)
{
    float scale, *room = NEW_N(&ctx->arena, float, set->dimensions);
    int8_t *codes = NEW_N(&ctx->arena, int8_t, vector_lanes(set->dimensions));
    int64_t until = half_of(ctx);
    size_t n = 0;
    SQL_RUN(q, ctx, db, SQL_VECTOR_SINCE);
    sql_int(&q, h->pool);
    sql_int(&q, h->seen);
    while (sql_row(&q)) {
        int64_t seq = sql_get_int(&q);
        doc_id doc = sql_get_int(&q);
        bool is_gone = sql_get_int(&q) != 0;
        *again = doc < 0 && seq > h->began;
        if (*again)
            return OK;
        if (!is_gone && vector_row_codes(sql_see_blob(&q), set->dimensions, set->is_int8, room,
                                         codes, &scale)) {
            codes_put(&h->codes, doc, codes, scale);
        } else {
            codes_remove(&h->codes, doc);
            if (!is_gone)
                note_lost(ctx, lost, seq, h->pool, doc);
        }
        h->seen = seq;
        if (++n % READ_AT_LEAST == 0 && clock_mono_us() > until)
            return fail(ctx, TIMED_OUT, "the vectors are still being read");
    }
    return sql_end(&q);
}

/* The copy's lock is held for writing. */
static enum status follow(struct ctx *ctx, struct db *db, const struct vector_set_row *set,
                          struct held *h, struct lost_rows *lost)
{
    bool again = false;
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

static enum status is_fresh(struct ctx *ctx, struct db *db, const struct held *h, bool *out)
{
    SQL_RUN(q, ctx, db, SQL_VECTOR_SINCE);
    sql_int(&q, h->pool);
    sql_int(&q, h->seen);
    *out = !sql_row(&q);
    return sql_end(&q);
}

/* A great pool is read for seconds; who has less time does not wait for whoever reads it. */
static enum status lock(struct ctx *ctx, struct held *h, bool to_write)
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
    return rc ? fail(ctx, TIMED_OUT, "the vectors are still being read") : OK;
}

/* Leaves the lock held for reading when it is OK. */
static enum status catch_up(struct ctx *ctx, struct db *db, const struct vector_set_row *set,
                            struct held *h, struct lost_rows *lost)
{
    for (;;) {
        bool fresh = false;
        TRY(lock(ctx, h, false));
        enum status status = h->set == set->no ? is_fresh(ctx, db, h, &fresh) : OK;
        if (status == OK && (fresh || h->set > set->no))
            return OK;
        pthread_rwlock_unlock(&h->lock);
        TRY(status);
        TRY(lock(ctx, h, true));
        status = follow(ctx, db, set, h, lost);
        pthread_rwlock_unlock(&h->lock);
        TRY(status);
    }
}

enum status copy_begin(struct ctx *ctx, struct sqlite_store *s, struct db *db, int64_t pool,
                       const struct vector_set_row *set, struct lost_rows *lost, struct copy *out)
{
    struct copy c = {s, shelf_take(&s->shelf, pool)};
    enum status status = catch_up(ctx, db, set, c.held, lost);
    if (status != OK) {
        shelf_give(&s->shelf, c.held);
        return status;
    }
    if (c.held->set != set->no)
        copy_end(&c);
    *out = c;
    return OK;
}

void copy_end(struct copy *c)
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

static enum status mend(struct ctx *ctx, struct db *db, const void *what)
{
    const struct mend *m = what;
    for (size_t i = 0; i < m->lost->n; i++) {
        const struct lost_row *row = &m->lost->v[i];
        SQL_RUN(drop, ctx, db, SQL_VECTOR_LOST);
        sql_int(&drop, row->seq);
        TRY(sql_do(&drop));
        if (!db_changes(db))
            continue;
        SQL_RUN(wait, ctx, db, SQL_VECTOR_TODO_ADD);
        sql_int(&wait, row->doc);
        sql_int(&wait, row->pool);
        TRY(sql_do(&wait));
        ++*m->n;
    }
    return OK;
}

void copies_mend(struct ctx *ctx, struct sqlite_store *s, const struct lost_rows *lost)
{
    int64_t n = 0;
    if (!lost->n)
        return;
    enum status status = writer_call(ctx, s->writer, mend, &(struct mend){lost, &n});
    if (status != OK)
        ctx_clear_failure(ctx);
    log_event(LOG_WARN, "store.vectors_unreadable", "found=%zu made_anew=%lld", lost->n,
              status == OK ? (long long)n : 0);
    pthread_mutex_lock(&s->lock);
    s->unreadable += (int64_t)lost->n;
    pthread_mutex_unlock(&s->lock);
}

/* --- erasing --- */

static enum status is_there(struct ctx *ctx, struct db *db, int64_t pool, bool *out)
{
    SQL_RUN(q, ctx, db, SQL_POOL_THERE);
    sql_int(&q, pool);
    *out = sql_row(&q);
    return sql_end(&q);
}

static enum status follow_all(struct ctx *ctx, struct sqlite_store *s, const struct pool_ref *only,
                              struct lost_rows *lost)
{
    struct pool_row row = {0};
    struct vector_set_row set;
    size_t n;
    int64_t *pools = shelf_pools(&ctx->arena, &s->shelf, &n);
    if (!n)
        return OK;
    READER(r);
    TRY(reader_begin(ctx, s, &r));
    TRY(vector_set_find(ctx, r.db, &set));
    if (only)
        TRY(pool_find(ctx, r.db, *only, &row));
    for (size_t i = 0; i < n; i++) {
        bool there = set.no != 0;
        if (only && pools[i] != row.no)
            continue;
        if (there)
            TRY(is_there(ctx, r.db, pools[i], &there));
        if (!there) {
            shelf_drop(&s->shelf, pools[i]);
            continue;
        }
        COPY(c);
        TRY(copy_begin(ctx, s, r.db, pools[i], &set, lost, &c));
    }
    return OK;
}

/* What fails here is done by the next search. */
void copies_follow(struct sqlite_store *s, const struct pool_ref *pool)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct lost_rows lost = {0};
    if (follow_all(&own, s, pool, &lost) != OK)
        ctx_clear_failure(&own);
    copies_mend(&own, s, &lost);
}
