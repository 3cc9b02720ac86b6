/* session_list.c - a page of a user's sessions, last spoken in first, also by title. */
#include "store/sql/index/titles.h"
#include "store/sql/read/places.h"
#include "store/sql/records/sessions.h"
#include "store/sql/state/reader.h"

/*
 * The list spans all pools of a user, each of which has its own index by time. From each pool the
 * newest `want` places are taken (with a title: those that match), these are sorted, and full
 * rows are read for the page only. Without a title the cost grows with offset + limit, not with the
 * number of sessions.
 */

struct finding {
    struct ctx *ctx;
    struct db *db;
    str contains; /* folded; "" for any */
    size_t want;  /* places to find, newest first */
    int64_t after, before;
    struct places places; /* by the time of the last message */
    int64_t total;
};

static bool is_any_time(const struct finding *f)
{
    return f->after == INT64_MIN && f->before == INT64_MAX;
}

static struct place place_of(int64_t pool, int64_t no, int64_t updated)
{
    return (struct place){.value = (double)updated, .no = no, .pool = pool};
}

/* Every session of the pool from the place of the page on, newest first. */
static struct query recent_begin(struct finding *f, int64_t pool, size_t limit)
{
    const struct place *behind = &f->places.behind;
    bool is_later = (double)f->before <= behind->value;
    struct query q = sql_begin(f->ctx, f->db, SQL_SESSION_RECENT);
    SQL_BIND(&q, pool, sql_limit(limit), is_later ? f->before : (int64_t)behind->value,
             is_later ? INT64_MIN : behind->no, f->after);
    return q;
}

static enum status list_pool(struct finding *f, int64_t pool, int64_t sessions)
{
    int64_t n = sessions; /* without a time the pool's row has the count */
    if (!is_any_time(f))
        TRY(SQL_NUMBER(f->ctx, f->db, &n, SQL_SESSION_COUNT, pool, f->after, f->before));
    f->total += n;
    CLEANUP(sql_leave) struct query q = recent_begin(f, pool, f->want);
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q), updated = sql_get_int(&q);
        places_add(&f->places, place_of(pool, no, updated));
    }
    return sql_end(&q);
}

static enum status look_up(struct finding *f, int64_t pool, const struct session_nos *found)
{
    int64_t in_time = 0;
    for (size_t i = 0; i < found->n; i++) {
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_UPDATED, pool, found->v[i]);
        bool is_there = sql_row(&q);
        int64_t updated = is_there ? sql_get_int(&q) : 0;
        TRY(sql_end(&q));
        if (!is_there || updated < f->after || updated >= f->before)
            continue;
        in_time++;
        struct place place = place_of(pool, found->v[i], updated);
        if (place_is_behind(&f->places, &place))
            places_add(&f->places, place);
    }
    f->total += is_any_time(f) ? (int64_t)found->n : in_time;
    return OK;
}

/* Walks the sessions of the pool, newest first, until enough of the found ones were met. */
static enum status walk_recent(struct finding *f, int64_t pool, const struct session_nos *found)
{
    size_t enough = f->places.n + (f->want < found->n ? f->want : found->n);
    CLEANUP(sql_leave) struct query q = recent_begin(f, pool, SIZE_MAX);
    while (f->places.n < enough && sql_row(&q)) {
        int64_t no = sql_get_int(&q);
        size_t at = doc_place(found->v, found->n, sizeof no, no); /* numbers, ascending */
        if (at < found->n && found->v[at] == no)
            places_add(&f->places, place_of(pool, no, sql_get_int(&q)));
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

static enum status find_places(struct finding *f, struct pool_ref pool)
{
    SQL_RUN(q, f->ctx, f->db, SQL_SESSION_POOLS, pool.user, pool.space);
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q), sessions = sql_get_int(&q);
        TRY(f->contains.n ? search_pool(f, no) : list_pool(f, no, sessions));
    }
    return sql_end(&q);
}

/* Rows are read for the page alone. */
static enum status read_page(struct finding *f, size_t from, size_t limit, struct session **out,
                             size_t *n)
{
    size_t have = from < f->places.n ? f->places.n - from : 0;
    have = have < limit ? have : limit;
    struct session *v = NEW_N(&f->ctx->arena, struct session, have);
    for (size_t i = 0; i < have; i++) {
        const struct place *place = &f->places.v[from + i];
        struct session_row row;
        SQL_RUN(q, f->ctx, f->db, SQL_SESSION_GET, place->pool, place->no);
        TRY(session_read(&q, &row));
        v[i] = row.session;
    }
    *out = v;
    *n = have;
    return OK;
}

enum status store_sessions(struct ctx *ctx, struct store *s, const struct session_filter *f,
                           struct session **out, size_t *n, int64_t *total)
{
    READER(r, ctx, s);
    struct finding all = {
        .ctx = ctx,
        .db = r.db,
        .contains = title_folded(&ctx->arena, f->contains),
        .want = f->limit ? (size_t)(sql_limit(f->offset) + sql_limit(f->limit)) : 0,
        .after = f->after ? f->after : INT64_MIN,
        .before = f->before ? f->before : INT64_MAX,
        .places = places_of(&ctx->arena, false),
    };
    if (f->no)
        all.places.behind = place_of(0, f->no, f->at);
    TRY(find_places(&all, f->pool));
    places_sort(&all.places);
    TRY(read_page(&all, f->offset, f->limit, out, n));
    if (total)
        *total = all.total;
    return OK;
}
