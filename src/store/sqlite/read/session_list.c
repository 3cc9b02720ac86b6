/* session_list.c - a page of a user's sessions, last spoken in first, also by title. */
#include <assert.h>

#include "store/sqlite/index/titles.h"
#include "store/sqlite/records/sessions.h"
#include "store/sqlite/state/reader.h"

/*
 * The list spans all pools of a user, each of which has its own index by time. From each pool the
 * newest `want` places are taken (with a title: those that match), the runs are merged, and full
 * rows are read for the page only. Without a title the cost grows with offset + limit, not with the
 * number of sessions.
 */

/* The place of a session in the order of the list. */
struct place {
    int64_t updated, no, pool;
};

/* Places of one pool, newest first. */
struct run {
    size_t at, end;
};

struct finding {
    struct ctx *ctx;
    struct db *db;
    str contains; /* folded; "" for any */
    size_t want;  /* places to find, newest first */
    int64_t after, before;
    struct place behind; /* the page begins behind it */
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

static bool is_any_time(const struct finding *f)
{
    return f->after == INT64_MIN && f->before == INT64_MAX;
}

static bool is_behind(const struct finding *f, const struct place *p)
{
    return newest_first(&f->behind, p) < 0;
}

/* Every session of the pool from the place of the page on, newest first. */
static struct query recent_begin(struct finding *f, int64_t pool, size_t limit)
{
    bool is_later = f->before <= f->behind.updated;
    struct query q = sql_begin(f->ctx, f->db, SQL_SESSION_RECENT);
    SQL_BIND(&q, pool, sql_limit(limit), is_later ? f->before : f->behind.updated,
             is_later ? INT64_MIN : f->behind.no, f->after);
    return q;
}

/* Without a time the pool's row has the count. */
static enum status count_pool(struct finding *f, int64_t pool, int64_t sessions)
{
    int64_t n = sessions;
    if (!is_any_time(f)) {
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_COUNT, pool, f->after, f->before);
        TRY(sql_number(&q, &n));
    }
    f->total += n;
    return OK;
}

static enum status list_pool(struct finding *f, int64_t pool, int64_t sessions)
{
    TRY(count_pool(f, pool, sessions));
    CLEANUP(sql_leave) struct query q = recent_begin(f, pool, f->want);
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q), updated = sql_get_int(&q);
        add_place(f, (struct place){updated, no, pool});
    }
    return sql_end(&q);
}

static enum status look_up(struct finding *f, int64_t pool, const struct session_nos *found)
{
    size_t before = f->n;
    int64_t in_time = 0;
    for (size_t i = 0; i < found->n; i++) {
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_UPDATED, pool, found->v[i]);
        bool is_there = sql_row(&q);
        struct place place = {is_there ? sql_get_int(&q) : 0, found->v[i], pool};
        TRY(sql_end(&q));
        if (!is_there || place.updated < f->after || place.updated >= f->before)
            continue;
        in_time++;
        if (is_behind(f, &place))
            add_place(f, place);
    }
    f->total += is_any_time(f) ? (int64_t)found->n : in_time;
    if (f->n > before)
        qsort(f->v + before, f->n - before, sizeof *f->v, newest_first);
    return OK;
}

/* One bit for each number from the first to the last found. */
static uint8_t *bits_of(struct arena *a, const struct session_nos *found)
{
    int64_t first = found->v[0], last = found->v[found->n - 1];
    assert(found->n && first <= last);
    uint8_t *bits = arena_alloc(a, (size_t)((last - first) / 8 + 1));
    for (size_t i = 0; i < found->n; i++)
        bits[(found->v[i] - first) / 8] |= (uint8_t)(1 << (found->v[i] - first) % 8);
    return bits;
}

/* Walks the sessions of the pool, newest first, until enough of the found ones were met. */
static enum status walk_recent(struct finding *f, int64_t pool, const struct session_nos *found)
{
    int64_t first = found->v[0], last = found->v[found->n - 1];
    const uint8_t *bits = bits_of(&f->ctx->arena, found);
    size_t enough = f->n + (f->want < found->n ? f->want : found->n);
    CLEANUP(sql_leave) struct query q = recent_begin(f, pool, SIZE_MAX);
    while (f->n < enough && sql_row(&q)) {
        int64_t no = sql_get_int(&q);
        if (no >= first && no <= last && bits[(no - first) / 8] >> (no - first) % 8 & 1)
            add_place(f, (struct place){sql_get_int(&q), no, pool});
    }
    return sql_end(&q);
}

/* Few matches are looked up one by one; with many, a walk over the newest sessions soon meets
 * enough. Those of a time are counted, so that each is looked up. */
static enum status search_pool(struct finding *f, int64_t pool)
{
    enum { FEW = 1500 };
    struct session_nos found;
    TRY(titles_find(f->ctx, f->db, pool, f->contains, &found));
    if (!found.n)
        return OK;
    if (!is_any_time(f) || (f->want && found.n <= FEW))
        return look_up(f, pool, &found);
    f->total += (int64_t)found.n;
    return f->want ? walk_recent(f, pool, &found) : OK;
}

static void note_run(struct finding *f, size_t begin)
{
    if (begin == f->n)
        return;
    assert(begin < f->n);
    f->runs = arena_more(&f->ctx->arena, f->runs, f->n_runs, &f->cap_runs, sizeof *f->runs);
    f->runs[f->n_runs++] = (struct run){begin, f->n};
}

/* Merges the pools' lists, each of which is in order. A user has few pools, so the newest is found
 * by looking at each. */
static void merge_runs(struct finding *f)
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
    SQL_RUN(q, f->ctx, f->db, SQL_SESSION_POOLS, pool.user, pool.space);
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q), sessions = sql_get_int(&q);
        size_t before = f->n;
        TRY(f->contains.n ? search_pool(f, no) : list_pool(f, no, sessions));
        note_run(f, before);
    }
    return sql_end(&q);
}

/* Rows are read for the page alone. */
static enum status read_page(struct finding *f, size_t from, size_t limit, struct session **out,
                             size_t *n)
{
    size_t have = from < f->n ? f->n - from : 0;
    have = have < limit ? have : limit;
    struct session *v = NEW_N(&f->ctx->arena, struct session, have);
    for (size_t i = 0; i < have; i++) {
        struct session_row row;
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_GET, f->v[from + i].pool, f->v[from + i].no);
        TRY(session_read(&q, &row));
        v[i] = row.session;
    }
    *out = v;
    *n = have;
    return OK;
}

enum status sqlite_sessions(struct ctx *ctx, struct store *s, const struct session_filter *f,
                            struct session **out, size_t *n, int64_t *total)
{
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    struct finding all = {
        .ctx = ctx,
        .db = r.db,
        .contains = title_folded(&ctx->arena, f->contains),
        .want = f->limit ? (size_t)(sql_limit(f->offset) + sql_limit(f->limit)) : 0,
        .after = f->after ? f->after : INT64_MIN,
        .before = f->before ? f->before : INT64_MAX,
        .behind = {f->no ? f->at : INT64_MAX, f->no ? f->no : INT64_MAX, 0},
    };
    TRY(find_places(&all, f->pool));
    merge_runs(&all);
    TRY(read_page(&all, f->offset, f->limit, out, n));
    if (total)
        *total = all.total;
    return OK;
}
