/* pending.c - turns that wait to be distilled: who is due, what waits in a session, how it ends. */
#include "store/sql/records/pending.h"

#include "base/clock.h"
#include "store/sql/db/file.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/work.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * A user's message becomes a signal, and its session a waiting one with the time when it is due. A
 * worker claims a due session with a lease: when it crashes, the session is free again once the
 * lease is over, or as soon as the process's mark is gone. The claim ends with memories
 * (signals_distilled), with a failure (it is due later, or dead), or without anything to keep.
 *
 * A signal's number is the proof that nothing was forgotten meanwhile: erasing renews the numbers,
 * and a result that names an old one is refused.
 */

/* Runs a statement on the signals of a session; what else it takes is bound behind these. */
#define DO_IN_SESSION(ctx, db, which, session, ...)                                                \
    SQL_DO(ctx, db, which, (session).pool, session_first((session).no),                            \
           session_last((session).no) __VA_OPT__(, ) __VA_ARGS__)

/* --- what the writer does with a bundle --- */

/* A new message is a sign that the user is there: other sessions of the pool are distilled now,
 * while they can still help. Not when the wait is long on purpose (over a day). */
enum status session_waits(struct ctx *ctx, struct db *db, struct session_ref session, int64_t due,
                          int64_t now)
{
    TRY(SQL_LATER(ctx, db, SQL_WAITING_ADD, session.pool, session.no, due));
    return due - now > DAY_MS
               ? OK
               : SQL_LATER(ctx, db, SQL_WAITING_HURRY, session.pool, session.no, now);
}

/* The mark lets others see whether the process that claimed it still runs. */
enum status session_claim(struct ctx *ctx, struct db *db, int64_t session, int64_t until)
{
    assert(session && db_in_transaction(db));
    return SQL_LATER(ctx, db, SQL_WAITING_LEASE, session, until, db->hold ? db->hold->mark : 0);
}

/* A crash is noticed by the lock behind the mark, which the system drops when the process ends.
 * Another process that is alive keeps its claims. */
enum status claims_free(struct ctx *ctx, struct db *db)
{
    if (is_postgres(db))
        return SQL_DO(ctx, db, SQL_WAITING_ABANDONED);
    SQL_ALL(int64_t, owners, n, ctx, db, sql_read_int, SQL_WAITING_OWNERS);
    for (size_t i = 0; i < n; i++)
        if (!hold_has_mark(db->hold, owners[i]))
            TRY(SQL_DO(ctx, db, SQL_WAITING_DISOWN, owners[i]));
    return OK;
}

/* A forgotten message has lost its signal, and what was made of it must not be written. */
enum status signals_distilled(struct ctx *ctx, struct db *db, struct session_ref session,
                              const int64_t *no, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        TRY(DO_IN_SESSION(ctx, db, SQL_SIGNAL_DONE, session, no[i]));
        if (db_changes(db) != 1)
            return fail(ctx, CONFLICT, "a pending turn was forgotten or distilled meanwhile");
    }
    TRY(SQL_LATER(ctx, db, SQL_WAITING_END, session.pool, session.no));
    return SQL_LATER(ctx, db, SQL_WAITING_SUCCEED, session.pool, session.no, clock_ms());
}

/* --- erasing --- */

enum status signals_erase(struct ctx *ctx, struct db *db, struct session_ref session)
{
    TRY(DO_IN_SESSION(ctx, db, SQL_SIGNAL_DELETE, session));
    return SQL_LATER(ctx, db, SQL_WAITING_END, session.pool, session.no);
}

/* Without tries or error, as if the session were new. An erasure is several transactions, and no
 * model is asked between them. */
static enum status wait_again(struct ctx *ctx, struct db *db, struct session_ref session)
{
    enum { ERASED_WITHIN_MS = 1000 };
    int64_t now = clock_ms(), due = now + ERASED_WITHIN_MS;
    TRY(DO_IN_SESSION(ctx, db, SQL_SIGNAL_ADD_ALL, session, now));
    TRY(SQL_LATER(ctx, db, SQL_WAITING_ADD, session.pool, session.no, due));
    return SQL_LATER(ctx, db, SQL_WAITING_SUCCEED, session.pool, session.no, due);
}

enum status signals_renew(struct ctx *ctx, struct db *db, struct session_ref session, bool all)
{
    TRY(all ? wait_again(ctx, db, session) : DO_IN_SESSION(ctx, db, SQL_SIGNAL_RENEW, session));
    TRY(SQL_LATER(ctx, db, SQL_WAITING_END, session.pool, session.no));
    return SQL_LATER(ctx, db, SQL_WAITING_LEASE, session.no, (int64_t)0, (int64_t)0);
}

enum status signals_follow(struct ctx *ctx, struct db *db, struct session_ref session)
{
    TRY(DO_IN_SESSION(ctx, db, SQL_SIGNAL_ORPHANS, session));
    TRY(SQL_LATER(ctx, db, SQL_WAITING_ADD, session.pool, session.no, clock_ms()));
    return SQL_LATER(ctx, db, SQL_WAITING_END, session.pool, session.no);
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
    SQL_RUN(q, ctx, db, SQL_WAITING_DUE, now, c->limit);
    for (c->n = 0; c->n < c->limit && sql_row(&q);) { /* from 0: see write_fn */
        struct waiting_session *w = &c->v[c->n];
        sessions[c->n++] = sql_get_int(&q);
        SQL_GET(&q, w->pool.user, w->pool.space, w->session, w->due, w->tries, w->is_answer_fault);
    }
    return sql_end(&q);
}

/* In one transaction: no other process can claim between finding and leasing. */
static enum status claim_due(struct ctx *ctx, struct db *db, const void *what)
{
    struct claim *c = *(struct claim *const *)what;
    int64_t *sessions = NEW_N(&ctx->arena, int64_t, c->limit), now = clock_ms();
    c->v = NEW_N(&ctx->arena, struct waiting_session, c->limit);
    if (is_postgres(db)) /* other servers may have ended */
        TRY(claims_free(ctx, db));
    TRY(find_due(ctx, db, now, c, sessions));
    for (size_t i = 0; i < c->n; i++)
        TRY(session_claim(ctx, db, sessions[i], now + c->lease_ms));
    return OK;
}

/* Reads first: a write would wake the waiting workers, which would look again. */
enum status store_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms, size_t limit,
                               struct waiting_session **out, size_t *n)
{
    /* Bounds the arrays of one claim. */
    enum { CLAIM_MAX = 4096 };
    struct claim c = {lease_ms, limit < CLAIM_MAX ? limit : CLAIM_MAX, NULL, 0}, *at = &c;
    bool any;
    {
        READER(r, ctx, s);
        TRY(SQL_ANY(ctx, r.db, &any, SQL_WAITING_ANY, clock_ms()));
    }
    if (any && limit)
        TRY(writer_call(ctx, s->writer, claim_due, &at));
    *out = c.v;
    *n = c.n;
    return OK;
}

/* --- what waits in a session --- */

static enum status find_session(struct ctx *ctx, struct db *db, struct pool_ref pool, str id,
                                struct session_ref *out)
{
    POOL_ROW(row, ctx, db, pool);
    out->pool = row.no;
    return session_find(ctx, db, row.no, id, &out->no);
}

static void read_signal(struct query *q, struct pending_signal *out)
{
    SQL_GET(q, out->no, out->answer);
    read_message(q, &out->message);
}

enum status store_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                          size_t limit, struct pending_signal **out, size_t *n)
{
    struct session_ref ref;
    READER(r, ctx, s);
    TRY(find_session(ctx, r.db, pool, session, &ref));
    return SQL_LIST(ctx, r.db, read_signal, out, n, SQL_SIGNAL_LIST, ref.pool,
                    session_first(ref.no), session_last(ref.no), sql_limit(limit));
}

/* --- the end of a claim without memories --- */

/* After a failure the signals stay and count a try; else the session waits for new ones or goes. */
static enum status end_claim(struct ctx *ctx, struct db *db, const void *what)
{
    const struct distil_end *end = what;
    struct session_ref session;
    int64_t now = clock_ms(), due = end->again_at ? end->again_at : now;
    if (end->work)
        TRY(work_add(ctx, db, end->work));
    TRY(find_session(ctx, db, end->pool, end->session, &session));
    for (size_t i = 0; i < end->n_done; i++)
        TRY(DO_IN_SESSION(ctx, db, SQL_SIGNAL_DONE, session, end->done[i]));
    TRY(SQL_LATER(ctx, db, SQL_WAITING_END, session.pool, session.no));
    if (end->error.n)
        return SQL_DO(ctx, db, SQL_WAITING_FAIL, session.pool, session.no, due, now, end->error,
                      end->is_answer_fault, end->is_dead);
    if (end->n_done && !end->is_dead) {
        TRY(SQL_LATER(ctx, db, SQL_WAITING_SUCCEED, session.pool, session.no, due));
        return end->claim_ms ? session_claim(ctx, db, session.no, now + end->claim_ms) : OK;
    }
    return SQL_LATER(ctx, db, SQL_WAITING_LEAVE, session.pool, session.no, due, end->is_dead);
}

enum status store_end_distil(struct ctx *ctx, struct store *s, const struct distil_end *end)
{
    TRY(pool_check(ctx, end->pool));
    return writer_call(ctx, s->writer, end_claim, end);
}

/* --- on demand --- */

/* Sessions that were given up get another chance: their tries start from 0. */
static enum status flush_waiting(struct ctx *ctx, struct db *db, const void *what)
{
    const struct pool_call *c = what;
    TRY(claims_free(ctx, db));
    TRY(SQL_DO(ctx, db, SQL_WAITING_FLUSH, c->pool.user, c->pool.space, clock_ms(), c->id));
    *c->n = db_changes(db);
    return OK;
}

enum status store_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                                int64_t *n)
{
    return writer_call(ctx, s->writer, flush_waiting, &(struct pool_call){pool, session, n});
}

static void bind_pools(struct query *q, const struct pool_ref *pool)
{
    if (!pool)
        return;
    sql_text(q, pool->user);
    sql_text(q, pool->space);
}

enum status store_signal_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                               struct signal_stats *out)
{
    *out = (struct signal_stats){0};
    READER(r, ctx, s);
    SQL_RUN(sessions, ctx, r.db, pool ? SQL_WAITING_STATS_OF : SQL_WAITING_STATS);
    bind_pools(&sessions, pool);
    TRY(SQL_GET_ROW(&sessions, out->sessions, out->dead, out->failed, out->error));
    SQL_RUN(signals, ctx, r.db, pool ? SQL_SIGNAL_STATS_OF : SQL_SIGNAL_STATS);
    bind_pools(&signals, pool);
    return SQL_GET_ROW(&signals, out->signals, out->oldest);
}
