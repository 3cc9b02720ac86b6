/* page.c - a page of memories by any filter and order, over spaces, and how many there are. */
#include <assert.h>
#include <float.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "core/memory_select.h"
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/db/rows.h"
#include "store/sqlite/state/reader.h"

/*
 * A page is found as numbers first, in each pool apart, by the index of its order: so a page costs
 * the same at the end of a list as at its beginning, whatever the size. The pools' numbers are
 * merged, and only the rows of the page are read.
 *
 * In the order of an index every row that does not match is looked at. So where an index names the
 * few that can match (of a session, a key, a rare category), these are read and sorted instead.
 *
 * Totals come from memory_tally, which triggers keep, unless the filter asks for more than kinds.
 */

/* Up to so many rows are sorted, rather than looked for in the order of the list. */
enum { FEW_MAX = 1000, BUCKETS = 1024 };

struct place {
    double value;
    int64_t no, pool;
    size_t at; /* of the pool, in the request */
};

struct paging {
    struct ctx *ctx;
    struct db *db;
    const struct memory_page_in *in;
    const struct memory_select *f;
    str contains; /* in lower case */
    int64_t now;
    int64_t *pools; /* numbers; 0: there is no such pool */
    struct place *places;
    size_t n, cap;
    struct memory_tally *tallies;
    size_t n_tallies, tallies_cap, next_cap;
    uint32_t buckets[BUCKETS], *next; /* by kind: 1 + the place in tallies, or 0 */
};

/* Nothing but what memory_tally counts. */
static bool asks_kinds(const struct memory_select *f)
{
    return !f->session.n && !f->key.n && !f->tag.n && !f->contains.n && !f->after && !f->before &&
           !f->expires_before && f->importance_min <= 0 && f->importance_max >= 1;
}

static void bind_kinds(struct query *q, const struct paging *p, const struct memory_select *f,
                       int64_t pool)
{
    SQL_BIND(q, pool, f->after ? f->after : INT64_MIN, f->before ? f->before : INT64_MAX, f->type,
             f->category, f->layer, f->origin, f->closed, p->now, f->expires_before,
             f->importance_min, f->importance_max);
}

/* Of an index that is sorted by it a statement uses one range, that of the filter: so the place is
 * a part of it. */
static struct memory_select narrowed(const struct memory_page_in *in)
{
    struct memory_select f = in->select;
    double at = in->place_value;
    if (!in->has_place)
        return f;
    if (in->sort == SORT_CREATED && in->is_ascending)
        f.after = (int64_t)at > f.after ? (int64_t)at : f.after;
    else if (in->sort == SORT_CREATED)
        f.before = !f.before || (int64_t)at + 1 < f.before ? (int64_t)at + 1 : f.before;
    else if (in->sort == SORT_IMPORTANCE && in->is_ascending)
        f.importance_min = at > f.importance_min ? at : f.importance_min;
    else if (in->sort == SORT_IMPORTANCE)
        f.importance_max = at < f.importance_max ? at : f.importance_max;
    return f;
}

/* --- how many --- */

static size_t bucket_of(const struct memory_tally *t)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < t->category.n; i++)
        h = (h ^ (unsigned char)t->category.p[i]) * 16777619u;
    h ^= (uint32_t)(t->layer << 6 | t->type << 4 | t->origin << 1 | t->is_closed) * 2654435761u;
    return (h ^ (uint32_t)t->pool) % BUCKETS;
}

static bool is_same_kind(const struct memory_tally *a, const struct memory_tally *b)
{
    return a->pool == b->pool && a->layer == b->layer && a->type == b->type &&
           a->origin == b->origin && a->is_closed == b->is_closed &&
           str_eq(a->category, b->category);
}

static void add_tally(struct paging *p, struct memory_tally one)
{
    uint32_t *at = &p->buckets[bucket_of(&one)];
    for (uint32_t i = *at; i; i = p->next[i - 1]) {
        if (is_same_kind(&p->tallies[i - 1], &one)) {
            p->tallies[i - 1].n += one.n;
            return;
        }
    }
    struct arena *a = &p->ctx->arena;
    size_t n = p->n_tallies;
    p->tallies = arena_more(a, p->tallies, n, &p->tallies_cap, sizeof *p->tallies);
    p->next = arena_more(a, p->next, n, &p->next_cap, sizeof *p->next);
    one.category = str_dup(a, one.category);
    p->tallies[n] = one;
    p->next[n] = *at;
    *at = (uint32_t)++p->n_tallies;
}

static bool is_selected(const struct memory_select *f, bool is_closed)
{
    return f->closed == CLOSED_TOO || is_closed == (f->closed == CLOSED_ONLY);
}

/* Closed or not. */
static bool is_of_kind(const struct memory_select *f, const struct memory_tally *t)
{
    return (f->type < 0 || t->type == f->type) && (f->layer < 0 || t->layer == f->layer) &&
           (f->origin < 0 || t->origin == f->origin) &&
           (!f->category.n || str_eq(t->category, f->category));
}

/* The category is not copied for each of many rows: it lives until the next one. */
static struct memory_tally read_kind(struct query *q, size_t at)
{
    struct memory_tally t = {.pool = at, .n = 1};
    t.layer = (int)sql_get_int(q);
    t.type = (int)sql_get_int(q);
    t.origin = (int)sql_get_int(q);
    t.is_closed = sql_get_int(q) != 0;
    t.category = sql_see_blob(q);
    return t;
}

/* What the counts kept have. */
static enum status add_kept(struct paging *p, size_t at, struct query *q)
{
    while (sql_row(q)) {
        struct memory_tally t = read_kind(q, at);
        t.n = sql_get_int(q);
        if (is_of_kind(p->f, &t) && is_selected(p->f, t.is_closed))
            add_tally(p, t);
    }
    return sql_end(q);
}

/* Those that have expired are counted as open there until they are pruned. */
static enum status move_expired(struct paging *p, size_t at, struct query *q)
{
    while (sql_row(q)) {
        struct memory_tally t = read_kind(q, at);
        int64_t n = sql_get_int(q);
        for (int closed = 0; closed < 2 && is_of_kind(p->f, &t); closed++) {
            t.is_closed = closed != 0;
            t.n = closed ? n : -n;
            if (is_selected(p->f, t.is_closed))
                add_tally(p, t);
        }
    }
    return sql_end(q);
}

static enum status tally_kinds(struct paging *p, size_t at)
{
    const struct memory_select *f = p->f;
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_TALLY, p->pools[at], f->type, f->category, f->layer,
            f->origin);
    TRY(add_kept(p, at, &q));
    SQL_RUN(x, p->ctx, p->db, SQL_MEMORY_TALLY_EXPIRED, p->pools[at], f->type, f->category,
            f->layer, f->origin, p->now);
    return move_expired(p, at, &x);
}

/* Of all rows that an index has in a range. */
static enum status count_rows(struct paging *p, size_t at, struct query *q)
{
    const struct memory_select *f = p->f;
    while (sql_row(q)) {
        struct memory_tally t = read_kind(q, at);
        int64_t expires = sql_get_int(q), created = sql_get_int(q);
        bool is_of_time = (!f->after || created >= f->after) && (!f->before || created < f->before);
        t.is_closed |= expires && expires <= p->now;
        if (is_of_time && is_of_kind(f, &t) && is_selected(f, t.is_closed))
            add_tally(p, t);
    }
    return sql_end(q);
}

static enum status count_weights(struct paging *p, size_t at)
{
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_KINDS_IMPORTANCE, p->pools[at], p->f->importance_min,
            p->f->importance_max);
    return count_rows(p, at, &q);
}

static enum status count_created(struct paging *p, size_t at, int64_t from, int64_t to)
{
    if (from >= to)
        return OK;
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_KINDS_CREATED, p->pools[at], from, to);
    return count_rows(p, at, &q);
}

/* Whole days have counts that are kept; of the days that are cut the rows are read. */
static enum status count_dates(struct paging *p, size_t at)
{
    enum { DAYS_MAX = 100000000 };
    const struct memory_select *f = p->f;
    int64_t day = DAY_MS, from = -DAYS_MAX, to = DAYS_MAX;
    if (f->after)
        from = f->after / day + (f->after % day > 0);
    if (f->before)
        to = f->before / day - (f->before % day < 0);
    if (from >= to)
        return count_created(p, at, f->after ? f->after : INT64_MIN,
                             f->before ? f->before : INT64_MAX);
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_DAYS, p->pools[at], from, to);
    TRY(add_kept(p, at, &q));
    SQL_RUN(x, p->ctx, p->db, SQL_MEMORY_DAYS_EXPIRED, p->pools[at], from * day, to * day, p->now);
    TRY(move_expired(p, at, &x));
    if (f->after)
        TRY(count_created(p, at, f->after, from * day));
    return f->before ? count_created(p, at, to * day, f->before) : OK;
}

static enum status count_range(struct paging *p, size_t at)
{
    bool is_weighed = p->f->importance_min > 0 || p->f->importance_max < 1;
    return is_weighed ? count_weights(p, at) : count_dates(p, at);
}

/* In the order of the list, behind the place where the page begins. */
static bool is_behind(const struct memory_page_in *in, double value, int64_t row)
{
    if (!in->has_place)
        return true;
    if (value == in->place_value)
        return in->is_ascending ? row > in->place_row : row < in->place_row;
    return in->is_ascending ? value > in->place_value : value < in->place_value;
}

static void add_place(struct paging *p, size_t at, int64_t no, double value)
{
    p->places = arena_more(&p->ctx->arena, p->places, p->n, &p->cap, sizeof *p->places);
    p->places[p->n++] = (struct place){.no = no, .value = value, .pool = p->pools[at], .at = at};
}

static bool asks_text(const struct memory_select *f)
{
    return !f->session.n && !f->key.n && !f->expires_before && (f->tag.n || f->contains.n);
}

static enum status count_kinds(struct paging *p, size_t at)
{
    const struct memory_select *f = p->f;
    bool is_any = asks_text(f);
    SQL_RUN(q, p->ctx, p->db,
            is_any         ? SQL_MEMORY_KINDS_ANY
            : f->session.n ? SQL_MEMORY_KINDS_SESSION
            : f->key.n     ? SQL_MEMORY_KINDS_KEY
                           : SQL_MEMORY_KINDS_EXPIRY);
    bind_kinds(&q, p, f, p->pools[at]);
    SQL_BIND(&q, f->session, f->key, p->contains, f->tag);
    if (is_any) {
        SQL_BIND(&q, p->in->sort);
    }
    while (sql_row(&q)) {
        add_tally(p, read_kind(&q, at));
        int64_t no = is_any ? sql_get_int(&q) : 0;
        double value = is_any ? sql_get_real(&q) : 0;
        if (is_any && p->in->limit && is_behind(p->in, value, no))
            add_place(p, at, no, value);
    }
    return sql_end(&q);
}

static bool asks_range(const struct memory_select *f)
{
    return !f->session.n && !f->key.n && !f->expires_before && !f->tag.n && !f->contains.n;
}

static int64_t sum_of(const struct paging *p, size_t from)
{
    int64_t sum = 0;
    for (size_t i = from; i < p->n_tallies; i++)
        sum += p->tallies[i].n;
    return sum;
}

/* --- the page --- */

static bool is_known(const struct paging *p, size_t at, int64_t *n)
{
    *n = 0;
    for (size_t i = 0; i < p->n_tallies; i++)
        *n += p->tallies[i].pool == at ? p->tallies[i].n : 0;
    return asks_kinds(p->f) || p->in->counts;
}

/* PAGE_UP and PAGE_DOWN stand in the order of the sorts. */
static enum sql page_of(const struct paging *p, size_t at, bool *is_few)
{
    const struct memory_select *f = p->f;
    int64_t n;
    bool few = is_known(p, at, &n) && n <= FEW_MAX;
    *is_few = true;
    if (f->session.n)
        return SQL_MEMORY_PAGE_SESSION;
    if (f->key.n)
        return SQL_MEMORY_PAGE_KEY;
    if (f->expires_before)
        return SQL_MEMORY_PAGE_EXPIRY;
    if (few && f->category.n)
        return SQL_MEMORY_PAGE_CATEGORY;
    if (few && f->layer > 0)
        return SQL_MEMORY_PAGE_LAYER;
    if (few && f->type > 0)
        return SQL_MEMORY_PAGE_TYPE;
    *is_few = false;
    return (enum sql)(
        (p->in->is_ascending ? SQL_MEMORY_PAGE_CREATED_UP : SQL_MEMORY_PAGE_CREATED_DOWN) +
        p->in->sort);
}

static enum status read_places(struct paging *p, size_t at)
{
    const struct memory_page_in *in = p->in;
    bool is_few, up = in->is_ascending;
    double value = in->has_place ? in->place_value : up ? -DBL_MAX : DBL_MAX;
    int64_t row = in->has_place ? in->place_row : up ? -1 : INT64_MAX;
    size_t most = in->offset + in->limit + 1;
    int64_t n;
    if (is_known(p, at, &n) && (uint64_t)n < most)
        most = (size_t)n; /* behind the last one no row need be looked at */
    const struct memory_select f = narrowed(in);
    SQL_RUN(q, p->ctx, p->db, page_of(p, at, &is_few));
    bind_kinds(&q, p, &f, p->pools[at]);
    SQL_BIND(&q, f.session, f.key, p->contains, f.tag, value, row, sql_limit(most));
    if (is_few) {
        SQL_BIND(&q, in->sort, up ? 1 : -1);
    }
    while (sql_row(&q)) {
        int64_t no = sql_get_int(&q);
        add_place(p, at, no, sql_get_real(&q));
    }
    return sql_end(&q);
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

static int by_place_down(const void *a, const void *b)
{
    return by_place(b, a);
}

static enum status read_page(struct paging *p, struct memory_page *out)
{
    const struct memory_page_in *in = p->in;
    if (p->n > 1)
        qsort(p->places, p->n, sizeof *p->places, in->is_ascending ? by_place : by_place_down);
    size_t from = in->offset < p->n ? in->offset : p->n;
    size_t n = p->n - from < in->limit ? p->n - from : in->limit;
    out->v = NEW_N(&p->ctx->arena, struct memory, n + 1);
    out->has_more = p->n - from > n;
    for (size_t i = 0; i < n; i++) {
        const struct place *place = &p->places[from + i];
        SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_GET, place->pool, place->no);
        assert(out->n < n);
        if (sql_row(&q))
            read_memory(&q, &out->v[out->n++]);
        TRY(sql_end(&q));
    }
    return OK;
}

static enum status page_pool(struct paging *p, size_t at)
{
    struct pool_row row;
    int64_t known;
    TRY(pool_find(p->ctx, p->db, p->f->pools[at], &row));
    p->pools[at] = row.no;
    if (!row.no)
        return OK;
    if (asks_kinds(p->f))
        TRY(tally_kinds(p, at));
    else if (p->in->counts)
        TRY(asks_range(p->f) ? count_range(p, at) : count_kinds(p, at));
    bool has_places = p->in->counts && asks_text(p->f);
    if (has_places || !p->in->limit || (is_known(p, at, &known) && !known))
        return OK;
    return read_places(p, at);
}

/* All of it in one transaction, so that the page and its counts agree. */
enum status sqlite_memory_page(struct ctx *ctx, struct store *s, const struct memory_page_in *in,
                               struct memory_page *out)
{
    struct memory_page page = {0};
    struct paging p = {.ctx = ctx,
                       .in = in,
                       .f = &in->select,
                       .contains = utf8_lower(&ctx->arena, in->select.contains),
                       .now = clock_ms(),
                       .pools = NEW_N(&ctx->arena, int64_t, in->select.n_pools + 1)};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    p.db = r.db;
    for (size_t i = 0; i < in->select.n_pools; i++)
        TRY(page_pool(&p, i));
    TRY(read_page(&p, &page));
    if (in->counts) {
        page.total = sum_of(&p, 0);
        page.tallies = p.tallies;
        page.n_tallies = p.n_tallies;
    }
    *out = page;
    return OK;
}
