/* sessions.c - a user's sessions: made, changed, found by id, listed, searched by title. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

struct session_row {
    int64_t pool;
    struct session session;
};

static void read_session(struct query *q, struct session_row *out)
{
    struct session *session = &out->session;
    *out = (struct session_row){.pool = sql_get_int(q)};
    session->no = sql_get_int(q);
    session->id = sql_get_text(q);
    session->space = sql_get_text(q);
    session->title = sql_get_text(q);
    session->metadata = sql_get_text(q);
    session->created = sql_get_int(q);
    session->updated = sql_get_int(q);
    session->messages = sql_get_int(q);
}

static enum status one_session(struct query *q, struct session_row *out)
{
    struct session_row found;
    bool is_there = sql_row(q);
    if (is_there)
        read_session(q, &found);
    TRY(sql_end(q));
    if (!is_there)
        return NOT_FOUND;
    *out = found;
    return OK;
}

static enum status find_session(struct ctx *ctx, struct db *db, struct pool_ref pool, str id,
                                struct session_row *out)
{
    struct pool_row row = {0};
    if (pool.space.n)
        TRY(pool_find(ctx, db, pool, &row));
    SQL_RUN(q, ctx, db, pool.space.n ? SQL_SESSION_BY_ID : SQL_SESSION_BY_ID_OF_USER);
    if (pool.space.n)
        sql_int(&q, row.no);
    else
        sql_text(&q, pool.user);
    sql_text(&q, id);
    return one_session(&q, out);
}

enum status sqlite_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct session *out)
{
    struct session_row row;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(find_session(ctx, r.db, pool, id, &row));
    *out = row.session;
    return OK;
}

/* --- in the writer's transaction --- */

enum status session_add(struct ctx *ctx, struct db *db, int64_t pool, const struct session *session,
                        int64_t *no)
{
    SQL_RUN(q, ctx, db, SQL_SESSION_ADD);
    sql_int(&q, pool);
    sql_text(&q, session->id);
    sql_text(&q, session->title);
    sql_text(&q, session->metadata);
    sql_int(&q, session->created);
    sql_int(&q, session->updated);
    TRY(sql_do(&q));
    *no = sqlite3_last_insert_rowid(db->handle);
    return title_put(ctx, db, pool, *no, session->title);
}

struct put_session {
    struct pool_ref pool;
    const struct session *session;
};

static enum status put_session(struct ctx *ctx, struct db *db, const void *what)
{
    const struct put_session *p = what;
    struct session session = *p->session;
    int64_t pool, no, now = clock_ms();
    TRY(pool_make(ctx, db, p->pool, now, &pool));
    TRY(session_find(ctx, db, pool, session.id, &no));
    if (no)
        return fail(ctx, CONFLICT, "there is a session '" S_FMT "' already", S_ARG(session.id));
    session.created = session.created ? session.created : now;
    session.updated = session.updated ? session.updated : session.created;
    TRY(session_add(ctx, db, pool, &session, &no));
    SQL_RUN(q, ctx, db, SQL_POOL_COUNT);
    sql_int(&q, pool);
    sql_int(&q, 1);
    for (int i = 0; i < 3; i++)
        sql_int(&q, 0);
    return sql_do(&q);
}

enum status sqlite_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const struct session *session)
{
    struct put_session p = {pool, session};
    return writer_call(ctx, sqlite_of(s)->writer, put_session, &p);
}

struct change_session {
    struct pool_ref pool;
    str id;
    const struct session_change *change;
    struct session *out;
};

static enum status change_session(struct ctx *ctx, struct db *db, const void *what)
{
    const struct change_session *c = what;
    struct session_row row;
    TRY(find_session(ctx, db, c->pool, c->id, &row));
    if (c->change->was && !str_eq(*c->change->was, row.session.metadata))
        return CONFLICT;
    SQL_RUN(q, ctx, db, SQL_SESSION_CHANGE);
    sql_int(&q, row.pool);
    sql_int(&q, row.session.no);
    sql_int(&q, c->change->sets_title);
    sql_text(&q, c->change->title);
    sql_int(&q, c->change->sets_metadata);
    sql_text(&q, c->change->metadata);
    TRY(sql_do(&q));
    if (c->change->sets_title) {
        row.session.title = c->change->title;
        TRY(title_put(ctx, db, row.pool, row.session.no, row.session.title));
    }
    if (c->change->sets_metadata)
        row.session.metadata = c->change->metadata;
    *c->out = row.session;
    return OK;
}

enum status sqlite_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  const struct session_change *change, struct session *out)
{
    struct session changed;
    struct change_session c = {pool, id, change, &changed};
    TRY(writer_call(ctx, sqlite_of(s)->writer, change_session, &c));
    *out = changed;
    return OK;
}

/* --- a page of them --- */

/* Where a session stands in the order of the list. */
struct place {
    int64_t updated, no, pool;
};

/* Those of one pool, newest first. */
struct run {
    size_t at, end;
};

struct finding {
    struct ctx *ctx;
    struct db *db;
    str contains; /* folded; "" for any */
    size_t want;  /* so many of the newest */
    struct place *v;
    size_t n, cap;
    struct run *runs;
    size_t n_runs, cap_runs;
    int64_t total;
};

static int newest_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->updated != y->updated)
        return x->updated < y->updated ? 1 : -1;
    return (x->no < y->no) - (x->no > y->no);
}

static void add_place(struct finding *f, struct place place)
{
    f->v = arena_more(&f->ctx->arena, f->v, f->n, &f->cap, sizeof *f->v);
    f->v[f->n++] = place;
}

static enum status list_pool(struct finding *f, int64_t pool, int64_t sessions)
{
    f->total += sessions;
    SQL_RUN(q, f->ctx, f->db, SQL_SESSION_RECENT);
    sql_int(&q, pool);
    sql_int(&q, (int64_t)f->want);
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q), updated = sql_get_int(&q);
        add_place(f, (struct place){updated, no, pool});
    }
    return sql_end(&q);
}

static enum status look_up(struct finding *f, int64_t pool, const struct session_nos *found)
{
    size_t before = f->n;
    for (size_t i = 0; i < found->n; i++) {
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_UPDATED);
        sql_int(&q, pool);
        sql_int(&q, found->v[i]);
        if (sql_row(&q))
            add_place(f, (struct place){sql_get_int(&q), found->v[i], pool});
        TRY(sql_end(&q));
    }
    qsort(f->v + before, f->n - before, sizeof *f->v, newest_first);
    return OK;
}

/* A bit for each number from the first found to the last. */
static uint8_t *bits_of(struct arena *a, const struct session_nos *found)
{
    int64_t first = found->v[0], last = found->v[found->n - 1];
    uint8_t *bits = arena_alloc(a, (size_t)((last - first) / 8 + 1));
    for (size_t i = 0; i < found->n; i++)
        bits[(found->v[i] - first) / 8] |= (uint8_t)(1 << (found->v[i] - first) % 8);
    return bits;
}

/* The newest of them: those of the pool are walked through, newest first, until there are enough.
 */
static enum status walk(struct finding *f, int64_t pool, const struct session_nos *found)
{
    int64_t first = found->v[0], last = found->v[found->n - 1];
    const uint8_t *bits = bits_of(&f->ctx->arena, found);
    size_t enough = f->n + (f->want < found->n ? f->want : found->n);
    SQL_RUN(q, f->ctx, f->db, SQL_SESSION_RECENT);
    sql_int(&q, pool);
    sql_int(&q, INT64_MAX);
    while (f->n < enough && sql_row(&q)) {
        int64_t no = sql_get_int(&q);
        if (no >= first && no <= last && bits[(no - first) / 8] >> (no - first) % 8 & 1)
            add_place(f, (struct place){sql_get_int(&q), no, pool});
    }
    return sql_end(&q);
}

/* Few are looked up one by one; of many the first are soon met with. */
static enum status search_pool(struct finding *f, int64_t pool)
{
    enum { FEW = 1500 };
    struct session_nos found;
    TRY(titles_find(f->ctx, f->db, pool, f->contains, &found));
    f->total += (int64_t)found.n;
    if (!f->want || !found.n)
        return OK;
    return found.n <= FEW ? look_up(f, pool, &found) : walk(f, pool, &found);
}

static void note_run(struct finding *f, size_t begin)
{
    if (begin == f->n)
        return;
    f->runs = arena_more(&f->ctx->arena, f->runs, f->n_runs, &f->cap_runs, sizeof *f->runs);
    f->runs[f->n_runs++] = (struct run){begin, f->n};
}

/* The newest of all pools, each of which is in order. */
static void merge(struct finding *f)
{
    size_t n = f->n < f->want ? f->n : f->want;
    if (f->n_runs < 2)
        return;
    struct place *v = NEW_N(&f->ctx->arena, struct place, n);
    for (size_t i = 0; i < n; i++) {
        struct run *newest = f->runs;
        for (struct run *r = f->runs + 1; r < f->runs + f->n_runs; r++)
            if (newest_first(&f->v[r->at], &f->v[newest->at]) < 0)
                newest = r;
        v[i] = f->v[newest->at++];
        if (newest->at == newest->end)
            *newest = f->runs[--f->n_runs];
    }
    f->v = v;
    f->n = n;
}

static enum status find_places(struct finding *f, struct pool_ref pool)
{
    SQL_RUN(q, f->ctx, f->db, SQL_SESSION_POOLS);
    sql_text(&q, pool.user);
    sql_text(&q, pool.space);
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q), sessions = sql_get_int(&q);
        size_t before = f->n;
        TRY(f->contains.n ? search_pool(f, no) : list_pool(f, no, sessions));
        note_run(f, before);
    }
    return sql_end(&q);
}

static enum status read_page(struct finding *f, size_t from, size_t limit, struct session **out,
                             size_t *n)
{
    size_t have = from < f->n ? f->n - from : 0;
    have = have < limit ? have : limit;
    struct session *v = NEW_N(&f->ctx->arena, struct session, have);
    for (size_t i = 0; i < have; i++) {
        struct session_row row;
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_GET);
        sql_int(&q, f->v[from + i].pool);
        sql_int(&q, f->v[from + i].no);
        TRY(one_session(&q, &row));
        v[i] = row.session;
    }
    *out = v;
    *n = have;
    return OK;
}

static size_t most(size_t n)
{
    return n < INT32_MAX ? n : INT32_MAX;
}

enum status sqlite_sessions(struct ctx *ctx, struct store *s, const struct session_filter *f,
                            struct session **out, size_t *n, int64_t *total)
{
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    struct finding all = {.ctx = ctx,
                          .db = r.db,
                          .contains = title_folded(&ctx->arena, f->contains),
                          .want = f->limit ? most(f->offset) + most(f->limit) : 0};
    TRY(find_places(&all, f->pool));
    merge(&all);
    TRY(read_page(&all, f->offset, f->limit, out, n));
    if (total)
        *total = all.total;
    return OK;
}
