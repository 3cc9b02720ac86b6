/* page.c - the list of memories by any filter and order, over spaces, and how many there are. */
#include "store/sql/read/page.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "store/sql/db/rows.h"
#include "store/sql/read/places.h"

/*
 * A page is found as numbers first, in each pool apart, by the index of its order: so a page costs
 * the same at the end of a list as at its beginning, whatever the size. The pools' numbers are
 * sorted together, and only the rows of the page are read.
 *
 * In the order of an index every row that does not match is looked at. So where an index names the
 * few that can match (of a session, a key, a rare category), or all have to be counted one by one,
 * these are read and sorted instead.
 *
 * Totals come from memory_tally, which triggers keep, unless the filter asks for more than kinds.
 */

/* Up to so many rows are sorted, rather than looked for in the order of the list. */
enum { FEW_MAX = 1000, BUCKETS = 1024 };

struct paging {
    struct ctx *ctx;
    struct db *db;
    const struct memory_page_in *in;
    const struct memory_select *f;
    int64_t now;
    const int64_t *pools; /* numbers; 0: there is no such pool */
    struct places places;
    struct memory_tally *tallies;
    size_t n_tallies, tallies_cap, next_cap;
    uint32_t buckets[BUCKETS], *next; /* by kind: 1 + the place in tallies, or 0 */
};

/* Nothing but kinds and a range of dates or importance. */
static bool asks_range(const struct memory_select *f)
{
    return !f->session.n && !f->key.n && !f->tag.n && !f->contains.n && !f->expires_before;
}

/* Nothing but what memory_tally counts. */
static bool asks_kinds(const struct memory_select *f)
{
    return asks_range(f) && !f->after && !f->before && f->importance_min <= 0 &&
           f->importance_max >= 1;
}

/* Each term of a filter is a parameter with a neutral value, so no SQL is put together. */
void select_bind(struct query *q, const struct memory_select *f, int64_t pool, int64_t now)
{
    SQL_BIND(q, pool, f->after ? f->after : INT64_MIN, f->before ? f->before : INT64_MAX, f->type,
             f->category, f->layer, f->origin, f->closed, now, f->expires_before, f->importance_min,
             f->importance_max, f->kind, f->session, f->key,
             utf8_lower(&q->ctx->arena, f->contains), f->tag);
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
    uint64_t kind = (uint64_t)(t->layer << 6 | t->type << 4 | t->origin << 1 | t->is_closed);
    return (str_hash(t->category) ^ kind * 2654435761u ^ t->pool) % BUCKETS;
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

static enum memory_kind kind_of_tally(const struct memory_tally *t)
{
    return kind_of(&(struct memory){.layer = (enum layer)t->layer,
                                    .type = (enum memory_type)t->type,
                                    .category = t->category});
}

/* Of those that have expired t says is_closed, unless these are asked for, too. */
static bool is_selected(const struct memory_select *f, const struct memory_tally *t)
{
    return (f->closed == CLOSED_TOO || t->is_closed == (f->closed == CLOSED_ONLY)) &&
           (f->type < 0 || t->type == f->type) && (f->layer < 0 || t->layer == f->layer) &&
           (f->origin < 0 || t->origin == f->origin) &&
           (!f->category.n || str_eq(t->category, f->category)) &&
           (!f->kind.n || str_is(f->kind, kind_names[kind_of_tally(t)]));
}

/* The category is not copied for each of many rows: it lives until the next one. */
static struct memory_tally read_kind(struct query *q, size_t at)
{
    struct memory_tally t = {.pool = at, .n = 1};
    SQL_GET(q, t.layer, t.type, t.origin, t.is_closed);
    t.category = sql_see_blob(q);
    return t;
}

/* What the counts kept have. */
static enum status add_kept(struct paging *p, size_t at, struct query *q)
{
    while (sql_row(q)) {
        struct memory_tally t = read_kind(q, at);
        t.n = sql_get_int(q);
        if (is_selected(p->f, &t))
            add_tally(p, t);
    }
    return sql_end(q);
}

/* Those that have expired, made from a time on and before another, are counted as open there until
 * they are pruned. */
static enum status move_expired(struct paging *p, size_t at, int64_t from, int64_t to)
{
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_TALLY_EXPIRED, p->pools[at], from, to, p->now);
    while (p->f->closed != EXPIRED_TOO && sql_row(&q)) {
        struct memory_tally t = read_kind(&q, at);
        int64_t n = sql_get_int(&q);
        for (int closed = 0; closed < 2; closed++) {
            t.is_closed = closed != 0;
            t.n = closed ? n : -n;
            if (is_selected(p->f, &t))
                add_tally(p, t);
        }
    }
    return sql_end(&q);
}

static enum status tally_kinds(struct paging *p, size_t at)
{
    const struct memory_select *f = p->f;
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_TALLY, p->pools[at], f->type, f->category, f->layer,
            f->origin);
    TRY(add_kept(p, at, &q));
    return move_expired(p, at, INT64_MIN, INT64_MAX);
}

/* Of all rows that an index has in a range. */
static enum status count_rows(struct paging *p, size_t at, struct query *q)
{
    const struct memory_select *f = p->f;
    while (sql_row(q)) {
        struct memory_tally t = read_kind(q, at);
        int64_t expires = sql_get_int(q), created = sql_get_int(q);
        bool is_of_time = (!f->after || created >= f->after) && (!f->before || created < f->before);
        t.is_closed |= f->closed != EXPIRED_TOO && expires && expires <= p->now;
        if (is_of_time && is_selected(f, &t))
            add_tally(p, t);
    }
    return sql_end(q);
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
    TRY(move_expired(p, at, from * day, to * day));
    if (f->after)
        TRY(count_created(p, at, f->after, from * day));
    return f->before ? count_created(p, at, to * day, f->before) : OK;
}

static enum status count_range(struct paging *p, size_t at)
{
    double min = p->f->importance_min, max = p->f->importance_max;
    if (min <= 0 && max >= 1)
        return count_dates(p, at);
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_KINDS_IMPORTANCE, p->pools[at], min, max);
    return count_rows(p, at, &q);
}

static int64_t sum_of(const struct paging *p, size_t from)
{
    int64_t sum = 0;
    for (size_t i = from; i < p->n_tallies; i++)
        sum += p->tallies[i].n;
    return sum;
}

/* Whether kept counts say where few rows are, or where the last one is. */
static bool is_narrow(const struct memory_select *f)
{
    return f->category.n || f->type >= 0 || f->origin >= 0 || f->kind.n || f->closed == CLOSED_ONLY;
}

/* How many match in the pool, without a look at each; -1: that is not known. */
static enum status count_fast(struct paging *p, size_t at, int64_t *known)
{
    size_t before = p->n_tallies;
    *known = -1;
    if (asks_kinds(p->f) && (p->in->counts || is_narrow(p->f)))
        TRY(tally_kinds(p, at));
    else if (asks_range(p->f) && p->in->counts)
        TRY(count_range(p, at));
    else
        return OK;
    *known = sum_of(p, before);
    return OK;
}

/* --- the page --- */

/* Whether all that an index has of the filter are read and sorted. */
static bool reads_few(const struct paging *p, int64_t known)
{
    const struct memory_select *f = p->f;
    if (f->session.n || f->key.n || f->expires_before || p->in->sort == SORT_ACTIVE)
        return true;
    if (known < 0)
        return p->in->counts;
    bool has_index = f->category.n || f->type > 0 || (f->layer > 0 && p->in->sort != SORT_CREATED);
    return known <= FEW_MAX && has_index;
}

static enum sql few_of(const struct memory_select *f)
{
    return f->session.n        ? SQL_MEMORY_KINDS_SESSION
           : f->key.n          ? SQL_MEMORY_KINDS_KEY
           : f->expires_before ? SQL_MEMORY_KINDS_EXPIRY
           : f->category.n     ? SQL_MEMORY_KINDS_CATEGORY
           : f->layer > 0      ? SQL_MEMORY_KINDS_LAYER
           : f->type > 0       ? SQL_MEMORY_KINDS_TYPE
                               : SQL_MEMORY_KINDS_ANY;
}

static enum status read_few(struct paging *p, size_t at, bool is_counted)
{
    SQL_RUN(q, p->ctx, p->db, few_of(p->f));
    select_bind(&q, p->f, p->pools[at], p->now);
    SQL_BIND(&q, p->in->sort);
    while (sql_row(&q)) {
        struct memory_tally kind = read_kind(&q, at);
        if (!is_counted)
            add_tally(p, kind);
        struct place place = {.no = sql_get_int(&q), .pool = p->pools[at]};
        place.value = sql_get_real(&q);
        if (p->in->limit && place_is_behind(&p->places, &place))
            places_add(&p->places, place);
    }
    return sql_end(&q);
}

/* Both directions of a sort follow each other. */
static enum sql page_of(const struct paging *p)
{
    bool is_layer = p->f->layer > 0 && p->in->sort == SORT_CREATED;
    enum sql down = is_layer ? SQL_MEMORY_PAGE_LAYER_DOWN
                             : (enum sql)(SQL_MEMORY_PAGE_CREATED_DOWN + 2 * p->in->sort);
    return (enum sql)(down + p->in->is_ascending);
}

/* Behind the last one no row need be looked at. */
static enum status read_in_order(struct paging *p, size_t at, int64_t known)
{
    const struct memory_select f = narrowed(p->in);
    size_t most = (size_t)(sql_limit(p->in->offset) + sql_limit(p->in->limit)) + 1;
    if (known >= 0 && (uint64_t)known < most)
        most = (size_t)known;
    SQL_RUN(q, p->ctx, p->db, page_of(p));
    select_bind(&q, &f, p->pools[at], p->now);
    SQL_BIND(&q, p->places.behind.value, p->places.behind.no, sql_limit(most));
    while (sql_row(&q)) {
        struct place place = {.no = sql_get_int(&q), .pool = p->pools[at]};
        place.value = sql_get_real(&q);
        places_add(&p->places, place);
    }
    return sql_end(&q);
}

static enum status page_pool(struct paging *p, size_t at)
{
    int64_t known;
    if (!p->pools[at])
        return OK;
    TRY(count_fast(p, at, &known));
    if (!known || (!p->in->limit && (known > 0 || !p->in->counts)))
        return OK;
    return reads_few(p, known) ? read_few(p, at, known > 0 || !p->in->counts)
                               : read_in_order(p, at, known);
}

/* One statement for all rows of a pool that follow each other. */
static enum status read_page(struct paging *p, struct memory_page *out)
{
    const struct memory_page_in *in = p->in;
    places_sort(&p->places);
    size_t from = in->offset < p->places.n ? in->offset : p->places.n, left = p->places.n - from;
    size_t n = left < in->limit ? left : in->limit;
    const struct place *v = left ? p->places.v + from : NULL;
    int64_t *nos = NEW_N(&p->ctx->arena, int64_t, n + 1);
    out->v = NEW_N(&p->ctx->arena, struct memory, n + 1);
    out->has_more = left > n;
    for (size_t i = 0, begin = 0; i < n; i++) {
        nos[i] = v[i].no;
        if (i + 1 < n && v[i + 1].pool == v[i].pool)
            continue;
        SQL_RUN(q, p->ctx, p->db, SQL_MEMORIES_GET, v[i].pool);
        sql_list(&q, nos + begin, i + 1 - begin);
        while (out->n <= i && sql_row(&q))
            read_memory(&q, &out->v[out->n++]);
        TRY(sql_end(&q));
        begin = i + 1;
    }
    return OK;
}

enum status page_read(struct ctx *ctx, struct db *db, const struct memory_page_in *in,
                      const int64_t *pools, size_t n_pools, struct memory_page *out)
{
    struct paging p = {.ctx = ctx,
                       .db = db,
                       .in = in,
                       .f = &in->select,
                       .now = clock_ms(),
                       .pools = pools,
                       .places = places_of(&ctx->arena, in->is_ascending)};
    if (in->has_place)
        p.places.behind = (struct place){.value = in->place_value, .no = in->place_row};
    for (size_t i = 0; i < n_pools; i++)
        TRY(page_pool(&p, i));
    *out = (struct memory_page){0};
    TRY(read_page(&p, out));
    if (in->counts) {
        out->total = sum_of(&p, 0);
        out->tallies = p.tallies;
        out->n_tallies = p.n_tallies;
    }
    return OK;
}
