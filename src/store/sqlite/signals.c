/* signals.c - turns that wait to be distilled: who is due, what waits in a session, how it ends. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

/* Binds the pool, and the first and last document that the session can have. */
static void bind_range(struct query *q, struct session_ref session)
{
    sql_int(q, session.pool);
    sql_int(q, doc_of_message(session.no, 0));
    sql_int(q, doc_of_message(session.no + 1, 0) - 1);
}

static enum status run_range(struct ctx *ctx, struct db *db, enum sql which,
                             struct session_ref session)
{
    SQL_RUN(q, ctx, db, which);
    bind_range(&q, session);
    return sql_do(&q);
}

static enum status run_session(struct ctx *ctx, struct db *db, enum sql which,
                               struct session_ref session)
{
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, session.pool);
    sql_int(&q, session.no);
    return sql_do(&q);
}

/* --- what the writer does with a bundle --- */

enum status signal_add(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc, int64_t now)
{
    SQL_RUN(q, ctx, db, SQL_SIGNAL_ADD);
    sql_int(&q, pool);
    sql_int(&q, doc);
    sql_int(&q, now);
    return sql_do(&q);
}

static enum status wait_until(struct ctx *ctx, struct db *db, enum sql which,
                              struct session_ref session, int64_t due)
{
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, session.pool);
    sql_int(&q, session.no);
    sql_int(&q, due);
    return sql_do(&q);
}

enum status session_waits(struct ctx *ctx, struct db *db, struct session_ref session, int64_t due,
                          int64_t now)
{
    TRY(wait_until(ctx, db, SQL_WAITING_ADD, session, due));
    return due - now > DAY_MS ? OK : wait_until(ctx, db, SQL_WAITING_HURRY, session, now);
}

static enum status lease(struct ctx *ctx, struct db *db, int64_t session, int64_t until)
{
    SQL_RUN(q, ctx, db, SQL_WAITING_LEASE);
    sql_int(&q, session);
    sql_int(&q, until);
    sql_int(&q, db->hold ? db->hold->mark : 0);
    return sql_do(&q);
}

enum status session_claim(struct ctx *ctx, struct db *db, struct session_ref session, int64_t until)
{
    return lease(ctx, db, session.no, until);
}

enum status session_is_claimed(struct ctx *ctx, struct db *db, struct session_ref session,
                               bool *out)
{
    SQL_RUN(q, ctx, db, SQL_WAITING_CLAIMED);
    sql_int(&q, session.pool);
    sql_int(&q, session.no);
    sql_int(&q, clock_ms());
    *out = sql_row(&q);
    return sql_end(&q);
}

static enum status disown(struct ctx *ctx, struct db *db, int64_t owner)
{
    SQL_RUN(q, ctx, db, SQL_WAITING_DISOWN);
    sql_int(&q, owner);
    return sql_do(&q);
}

enum status claims_free(struct ctx *ctx, struct db *db)
{
    int64_t *owners = NULL;
    size_t n = 0, cap = 0;
    SQL_RUN(q, ctx, db, SQL_WAITING_OWNERS);
    while (sql_row(&q)) {
        owners = arena_more(&ctx->arena, owners, n, &cap, sizeof *owners);
        owners[n++] = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    for (size_t i = 0; i < n; i++)
        if (!hold_has_mark(db->hold, owners[i]))
            TRY(disown(ctx, db, owners[i]));
    return OK;
}

static enum status signal_done(struct ctx *ctx, struct db *db, struct session_ref session,
                               int64_t no, bool *was_there)
{
    SQL_RUN(q, ctx, db, SQL_SIGNAL_DONE);
    bind_range(&q, session);
    sql_int(&q, no);
    TRY(sql_do(&q));
    *was_there = db_changes(db) == 1;
    return OK;
}

enum status signals_distilled(struct ctx *ctx, struct db *db, struct session_ref session,
                              const int64_t *no, size_t n)
{
    bool was_there;
    for (size_t i = 0; i < n; i++) {
        TRY(signal_done(ctx, db, session, no[i], &was_there));
        if (!was_there)
            return fail(ctx, CONFLICT, "a signal was forgotten or distilled meanwhile");
    }
    TRY(run_session(ctx, db, SQL_WAITING_END, session));
    return wait_until(ctx, db, SQL_WAITING_SUCCEED, session, clock_ms());
}

/* --- erasing --- */

enum status signal_erase(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc)
{
    SQL_RUN(q, ctx, db, SQL_SIGNAL_DELETE);
    sql_int(&q, pool);
    sql_int(&q, doc);
    sql_int(&q, doc);
    return sql_do(&q);
}

enum status signals_erase(struct ctx *ctx, struct db *db, struct session_ref session)
{
    TRY(run_range(ctx, db, SQL_SIGNAL_DELETE, session));
    return run_session(ctx, db, SQL_WAITING_END, session);
}

static enum status add_all(struct ctx *ctx, struct db *db, struct session_ref session)
{
    int64_t now = clock_ms();
    SQL_RUN(q, ctx, db, SQL_SIGNAL_ADD_ALL);
    bind_range(&q, session);
    sql_int(&q, now);
    TRY(sql_do(&q));
    TRY(wait_until(ctx, db, SQL_WAITING_ADD, session, now));
    return wait_until(ctx, db, SQL_WAITING_SUCCEED, session, now);
}

enum status signals_renew(struct ctx *ctx, struct db *db, struct session_ref session, bool all)
{
    TRY(all ? add_all(ctx, db, session) : run_range(ctx, db, SQL_SIGNAL_RENEW, session));
    TRY(run_session(ctx, db, SQL_WAITING_END, session));
    return run_session(ctx, db, SQL_WAITING_RELEASE, session);
}

/* --- claims --- */

struct claim {
    int64_t lease_ms;
    size_t limit;
    struct waiting_session *v;
    size_t n;
};

static enum status find_due(struct ctx *ctx, struct db *db, int64_t now, struct claim *c,
                            int64_t *sessions)
{
    SQL_RUN(q, ctx, db, SQL_WAITING_DUE);
    sql_int(&q, now);
    sql_int(&q, (int64_t)c->limit);
    while (c->n < c->limit && sql_row(&q)) {
        struct waiting_session *w = &c->v[c->n];
        sessions[c->n++] = sql_get_int(&q);
        w->pool.user = sql_get_text(&q);
        w->pool.space = sql_get_text(&q);
        w->session = sql_get_text(&q);
        w->due = sql_get_int(&q);
        w->tries = sql_get_int(&q);
        w->error = sql_get_text(&q);
    }
    return sql_end(&q);
}

/* No other process writes between the look and the lease. */
static enum status claim(struct ctx *ctx, struct db *db, const void *what)
{
    struct claim *c = *(struct claim *const *)what;
    int64_t *sessions = NEW_N(&ctx->arena, int64_t, c->limit), now = clock_ms();
    c->v = NEW_N(&ctx->arena, struct waiting_session, c->limit);
    TRY(find_due(ctx, db, now, c, sessions));
    for (size_t i = 0; i < c->n; i++)
        TRY(lease(ctx, db, sessions[i], now + c->lease_ms));
    return OK;
}

static enum status any_due(struct ctx *ctx, struct sqlite_store *s, bool *out)
{
    READER(r);
    TRY(reader_begin(ctx, s, &r));
    SQL_RUN(q, ctx, r.db, SQL_WAITING_ANY);
    sql_int(&q, clock_ms());
    *out = sql_row(&q);
    return sql_end(&q);
}

/* Looks before it writes, for a write wakes those who wait for one to look again. */
enum status sqlite_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms, size_t limit,
                                struct waiting_session **out, size_t *n)
{
    enum { CLAIM_MAX = 4096 };
    struct claim c = {lease_ms, limit < CLAIM_MAX ? limit : CLAIM_MAX, NULL, 0}, *at = &c;
    bool any;
    TRY(any_due(ctx, sqlite_of(s), &any));
    if (any && limit)
        TRY(writer_call(ctx, sqlite_of(s)->writer, claim, &at));
    *out = c.v;
    *n = c.n;
    return OK;
}

/* --- what waits in a session --- */

static enum status find_session(struct ctx *ctx, struct db *db, struct pool_ref pool, str id,
                                struct session_ref *out)
{
    struct pool_row row;
    TRY(pool_find(ctx, db, pool, &row));
    out->pool = row.no;
    return session_find(ctx, db, row.no, id, &out->no);
}

enum status sqlite_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                           size_t limit, struct pending_signal **out, size_t *n)
{
    struct session_ref ref;
    struct pending_signal *v = NULL;
    size_t have = 0, cap = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(find_session(ctx, r.db, pool, session, &ref));
    SQL_RUN(q, ctx, r.db, SQL_SIGNAL_LIST);
    bind_range(&q, ref);
    sql_int(&q, limit > INT32_MAX ? INT32_MAX : (int64_t)limit);
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        v[have].no = sql_get_int(&q);
        v[have].answer = sql_get_text(&q);
        read_message(&q, &v[have++].message);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}

/* --- the end of a claim without memories --- */

static enum status fail_session(struct ctx *ctx, struct db *db, struct session_ref session,
                                const struct distil_end *end, int64_t due, int64_t now)
{
    SQL_RUN(q, ctx, db, SQL_WAITING_FAIL);
    sql_int(&q, session.pool);
    sql_int(&q, session.no);
    sql_int(&q, due);
    sql_int(&q, now);
    sql_text(&q, end->error);
    sql_int(&q, end->is_dead);
    return sql_do(&q);
}

static enum status end_claim(struct ctx *ctx, struct db *db, const void *what)
{
    const struct distil_end *end = what;
    struct session_ref session;
    bool was_there;
    int64_t now = clock_ms(), due = end->again_at ? end->again_at : now;
    if (end->work)
        TRY(work_add(ctx, db, end->work));
    TRY(find_session(ctx, db, end->pool, end->session, &session));
    for (size_t i = 0; i < end->n_done; i++)
        TRY(signal_done(ctx, db, session, end->done[i], &was_there));
    TRY(run_session(ctx, db, SQL_WAITING_END, session));
    if (end->error.n)
        return fail_session(ctx, db, session, end, due, now);
    if (end->n_done && !end->is_dead)
        return wait_until(ctx, db, SQL_WAITING_SUCCEED, session, due);
    SQL_RUN(q, ctx, db, SQL_WAITING_LEAVE);
    sql_int(&q, session.pool);
    sql_int(&q, session.no);
    sql_int(&q, due);
    sql_int(&q, end->is_dead);
    return sql_do(&q);
}

enum status sqlite_end_distil(struct ctx *ctx, struct store *s, const struct distil_end *end)
{
    return writer_call(ctx, sqlite_of(s)->writer, end_claim, end);
}

/* --- on demand --- */

struct flush {
    struct pool_ref pool;
    str session;
    int64_t *n;
};

static enum status flush(struct ctx *ctx, struct db *db, const void *what)
{
    const struct flush *f = what;
    TRY(claims_free(ctx, db));
    SQL_RUN(q, ctx, db, SQL_WAITING_FLUSH);
    sql_text(&q, f->pool.user);
    sql_text(&q, f->pool.space);
    sql_int(&q, clock_ms());
    sql_text(&q, f->session);
    TRY(sql_do(&q));
    *f->n = db_changes(db);
    return OK;
}

enum status sqlite_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 str session, int64_t *n)
{
    int64_t flushed;
    TRY(writer_call(ctx, sqlite_of(s)->writer, flush, &(struct flush){pool, session, &flushed}));
    *n = flushed;
    return OK;
}

static enum status count_sessions(struct ctx *ctx, struct db *db, const struct pool_row *pool,
                                  struct signal_stats *out)
{
    SQL_RUN(q, ctx, db, pool ? SQL_WAITING_STATS_OF : SQL_WAITING_STATS);
    if (pool)
        sql_int(&q, pool->no);
    if (sql_row(&q)) {
        out->sessions = sql_get_int(&q);
        out->dead = sql_get_int(&q);
        (void)sql_get_int(&q); /* the time of the last failure, which chooses the error */
        out->error = sql_get_text(&q);
    }
    return sql_end(&q);
}

static enum status count_signals(struct ctx *ctx, struct db *db, const struct pool_row *pool,
                                 struct signal_stats *out)
{
    SQL_RUN(q, ctx, db, pool ? SQL_SIGNAL_STATS_OF : SQL_SIGNAL_STATS);
    if (pool)
        sql_int(&q, pool->no);
    if (sql_row(&q)) {
        out->signals = sql_get_int(&q);
        out->oldest = sql_get_int(&q);
    }
    return sql_end(&q);
}

enum status sqlite_signal_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                struct signal_stats *out)
{
    struct pool_row row = {0};
    struct signal_stats found = {0};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    if (pool)
        TRY(pool_find(ctx, r.db, *pool, &row));
    TRY(count_sessions(ctx, r.db, pool ? &row : NULL, &found));
    TRY(count_signals(ctx, r.db, pool ? &row : NULL, &found));
    *out = found;
    return OK;
}
