/* read.c - lists and searches of mem0's API: filters, users, spaces, pages. */
#include "ext/dialects/mem0/read.h"

#include <math.h>

#include "surface/common/json_form.h"
#include "surface/common/memory_json.h"

/*
 * Whatever narrows a request is one filter, also what comes in members beside it. It names the
 * users whose memories are read; each is read for itself. A list whose filter names ids alone is a
 * page of the store. With other conditions every memory of the user is looked at.
 */

const struct field mem0_search_in_fields[] = {MEM0_ASKED_ROWS FIELD_ROWS(
    mem0_search_in, (STR, query, .required = true, .min = 1, .max = 65536),
    (INT, top_k, .min = 1, .max = 1000, .help = "most results; default: 10"),
    (INT, limit, .min = 1, .max = 1000, .help = "the same"),
    (NUM, threshold, .otherwise = -1, .min = -1, .max = 1,
     .help = "how alike a memory must be, 0 to 1")){0}};

FIELDS(mem0_page_in, (INT, page, .min = 1, .max = 1e7, .help = "from 1"),
       (INT, page_size, .otherwise = 100, .min = 1, .max = 1000));

/* The request's own address with another page: whatever else its query names stays. */
static str page_link(struct ctx *ctx, const struct request *in, int64_t page, int64_t size)
{
    bool is_secure = str_is(request_header(in, "X-Forwarded-Proto"), "https");
    struct buf b = buf_make(&ctx->arena, in->query.n + in->path.n + 1000);
    str rest = in->query, host = request_header(in, "Host");
    buf_printf(&b, "http%s://" S_FMT S_FMT "?", is_secure ? "s" : "", S_ARG(host), S_ARG(in->path));
    while (rest.n) {
        str pair = str_cut(&rest, '&'), value = pair, name = str_cut(&value, '=');
        if (pair.n && !str_is(name, "page") && !str_is(name, "page_size"))
            buf_printf(&b, S_FMT "&", S_ARG(pair));
    }
    buf_printf(&b, "page=%lld&page_size=%lld", (long long)page, (long long)size);
    return buf_str(&b);
}

void mem0_page_links(struct ctx *ctx, const struct request *in, const struct mem0_page_in *page,
                     struct mem0_page *io)
{
    int64_t at = page->page ? page->page : 1;
    if (at * page->page_size < io->count)
        io->next = page_link(ctx, in, at + 1, page->page_size);
    if (at > 1)
        io->previous = page_link(ctx, in, at - 1, page->page_size);
}

/* --- the filter --- */

/* A member beside the filters, as a condition: {"created_at": {"gte": …}}. */
struct condition {
    const char *field, *op; /* op NULL: the value alone */
    const struct json *value;
};

/* {"AND": [filters, {"user_id": …, …}]} */
static enum status read_filter(struct ctx *ctx, const struct mem0_asked *asked,
                               enum mem0_grammar grammar, const struct mem0_filter **out)
{
    const struct condition conditions[] = {{"metadata", NULL, asked->metadata},
                                           {"categories", NULL, asked->categories},
                                           {"created_at", "gte", asked->start_date},
                                           {"created_at", "lte", asked->end_date},
                                           {"keywords", "icontains", asked->keywords}};
    enum { CONDITIONS = sizeof conditions / sizeof *conditions, IDS_MAX = 16384 };
    const struct json *filters = asked->filters;
    size_t most = IDS_MAX + (filters ? filters->source.n : 0);
    struct json *all;
    for (size_t i = 0; i < CONDITIONS; i++)
        most += conditions[i].value ? conditions[i].value->source.n + 64 : 0;
    struct json_out w = json_in(&ctx->arena, most);
    json_open(&w, '{');
    json_member_open(&w, "AND", '[');
    if (filters && filters->type != JSON_NULL)
        json_raw(&w, filters->source);
    json_open(&w, '{');
    for (size_t i = 0; i < ENTITY_COUNT; i++)
        if (asked->ids.of[i].n)
            json_member_str(&w, mem0_ids_fields[i].name, asked->ids.of[i]);
    for (const struct condition *c = conditions; c < conditions + CONDITIONS; c++)
        if (c->value && c->value->type != JSON_NULL)
            json_member_raw(&w, c->field,
                            c->op
                                ? JSON_FORM(&ctx->arena, "{'%':%}", str_of(c->op), c->value->source)
                                : c->value->source);
    json_close(&w, '}');
    json_close(&w, ']');
    json_close(&w, '}');
    assert(!w.b->full);
    TRY(json_parse(ctx, buf_str(w.b), &all));
    return mem0_filter_read(ctx, all, grammar, out);
}

/* Whose memories: those of the users that the filter names, else the request's own. */
struct reading {
    struct ctx *ctx;
    struct app *app;
    const struct request *in;
    const struct mem0_asked *asked;
    const struct mem0_filter *filter;
    struct mem0_ids ids;
    bool is_ids_alone;
    struct mem0_who *users;
    size_t n_users;
    struct mem0_memory *v; /* what was found */
    size_t n, cap;
    int64_t total;
};

static enum status begin_reading(struct reading *r, enum mem0_grammar grammar)
{
    struct strs users;
    TRY(read_filter(r->ctx, r->asked, grammar, &r->filter));
    TRY(mem0_filter_users(r->ctx, r->filter, &users));
    r->ids = mem0_filter_ids(r->filter, &r->is_ids_alone);
    r->n_users = users.n ? users.n : 1;
    r->users = NEW_N(&r->ctx->arena, struct mem0_who, r->n_users);
    for (size_t i = 0; i < r->n_users; i++)
        TRY(mem0_who(r->ctx, r->in, users.n ? users.v[i] : S(""), &r->users[i]));
    return OK;
}

/* --- lists --- */

static struct memory_page_in page_of(const struct reading *r, struct pools pools)
{
    struct memory_page_in ask = {.select = SELECT_ALL, .sort = SORT_CREATED};
    ask.select.pools = pools.v;
    ask.select.n_pools = pools.n;
    ask.select.session = r->ids.run_id;
    ask.select.closed = r->asked->show_expired ? CLOSED_TOO : CLOSED_OUT;
    return ask;
}

static enum status list_by_ids(struct reading *r, size_t offset, size_t limit)
{
    const struct mem0_who *who = &r->users[0];
    struct pools pools;
    struct memory_page page;
    TRY(mem0_pools(r->ctx, r->app, who, &r->ids, &pools));
    struct memory_page_in ask = page_of(r, pools);
    ask.offset = offset;
    ask.limit = limit;
    ask.counts = true;
    if (!pools.n)
        return OK;
    TRY(engine_page(r->ctx, r->app->engine, &ask, &page));
    for (size_t i = 0; i < page.n; i++)
        ARENA_ADD(&r->ctx->arena, r->v, r->n, r->cap) = mem0_shape(r->ctx, who, &page.v[i]);
    r->total = page.total;
    return OK;
}

/* Of a page's memories only those that are shown outlive it. */
static enum status scan_page(struct reading *r, struct ctx *round, const struct mem0_who *who,
                             struct memory_page_in *ask, size_t offset, size_t limit, bool *more)
{
    struct memory_page page;
    TRY(engine_page(round, r->app->engine, ask, &page));
    for (const struct memory *m = page.v; m < page.v + page.n; m++) {
        if (m->valid_to || !mem0_filter_fits(round, r->filter, who, m))
            continue;
        size_t at = (size_t)r->total++;
        if (at < offset || at - offset >= limit)
            continue;
        struct memory kept = memory_copy(&r->ctx->arena, m);
        ARENA_ADD(&r->ctx->arena, r->v, r->n, r->cap) = mem0_shape(r->ctx, who, &kept);
    }
    *more = page.has_more;
    if (!page.n)
        return OK;
    ask->has_place = true;
    ask->place_value = memory_sort_value(&page.v[page.n - 1], ask->sort);
    ask->place_row = memory_row(&page.v[page.n - 1]);
    return OK;
}

static enum status scan_user(struct reading *r, const struct mem0_who *who, size_t offset,
                             size_t limit)
{
    enum { AT_ONCE = 500 };
    struct pools pools;
    TRY(mem0_pools(r->ctx, r->app, who, &r->ids, &pools));
    struct memory_page_in ask = page_of(r, pools);
    ask.limit = AT_ONCE;
    for (bool more = pools.n > 0; more;) {
        CLEANUP(ctx_free) struct ctx round = ctx_child(r->ctx, 0);
        TRY(ctx_pass(r->ctx, &round, scan_page(r, &round, who, &ask, offset, limit, &more)));
        if (!ctx_has_time(r->ctx))
            return fail(r->ctx, TIMED_OUT, "the filter looks at too many memories; name more ids");
    }
    return OK;
}

enum status mem0_list(struct ctx *ctx, struct app *app, const struct request *in,
                      const struct mem0_asked *asked, enum mem0_grammar grammar, size_t offset,
                      size_t limit, const struct json **results, int64_t *total)
{
    struct reading r = {.ctx = ctx, .app = app, .in = in, .asked = asked};
    TRY(begin_reading(&r, grammar));
    if (r.is_ids_alone && r.n_users == 1 && !asked->show_expired)
        TRY(list_by_ids(&r, offset, limit));
    else
        for (size_t i = 0; i < r.n_users; i++)
            TRY(scan_user(&r, &r.users[i], offset, limit));
    *total = r.total;
    return json_list(ctx, mem0_memory_fields, r.v, r.n, sizeof *r.v, results);
}

/* --- searches --- */

static enum status search_pool(struct reading *r, const struct mem0_who *who, struct pool_ref pool,
                               str query, double threshold)
{
    const struct similar_in ask = {.pool = pool,
                                   .query = query,
                                   .least = threshold,
                                   .limit = SIZE_MAX};
    struct similar *v;
    size_t n;
    int64_t total;
    TRY(engine_similar(r->ctx, r->app->engine, &ask, &v, &n, &total));
    for (size_t i = 0; i < n; i++) {
        if (!mem0_filter_fits(r->ctx, r->filter, who, &v[i].memory))
            continue;
        struct mem0_memory shape = mem0_shape(r->ctx, who, &v[i].memory);
        shape.score = round(v[i].similarity * 1e6) / 1e6;
        ARENA_ADD(&r->ctx->arena, r->v, r->n, r->cap) = shape;
    }
    return OK;
}

ORDER(most_alike, struct mem0_memory, DOWN(score) ?: DOWN(of.created) ?: BY_TEXT(of.id));

enum status mem0_search(struct ctx *ctx, struct app *app, const struct request *in,
                        const struct mem0_search_in *asked, enum mem0_grammar grammar,
                        double threshold, const struct json **results)
{
    struct reading r = {.ctx = ctx, .app = app, .in = in, .asked = &asked->asked};
    size_t most = (size_t)(asked->top_k ? asked->top_k : asked->limit ? asked->limit : 10);
    str query = str_trim(asked->query);
    if (!query.n)
        return fail_field(ctx, "query", "must not be blank");
    if (asked->asked.show_expired)
        return fail_field(ctx, "show_expired", "is for lists: expired memories are not searched");
    TRY(begin_reading(&r, grammar));
    for (size_t i = 0; i < r.n_users; i++) {
        struct pools pools;
        TRY(mem0_pools(ctx, app, &r.users[i], &r.ids, &pools));
        for (size_t k = 0; k < pools.n; k++)
            TRY(search_pool(&r, &r.users[i], pools.v[k], query,
                            asked->threshold < 0 ? threshold : asked->threshold));
    }
    SORT(r.v, r.n, most_alike);
    r.n = r.n < most ? r.n : most;
    return json_list(ctx, mem0_memory_fields, r.v, r.n, sizeof *r.v, results);
}
