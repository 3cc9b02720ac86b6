/* list.c - memories by a filter: a page in any order, the total, and how many of each kind. */
#include "surface/rest/list.h"

#include "base/clock.h"
#include "base/time_text.h"
#include "surface/common/auth.h"
#include "surface/common/memory_json.h"

/*
 * A page begins behind the last row of the page before (list_page.h), so nothing is shown twice
 * while others write, and the last page of many costs what the first one does. offset skips rows by
 * reading them; clients from before cursors use it.
 */

/* --- the filter --- */

FIELDS(filter_in, FILTER_IN);

/* A number of days from now, or a time. */
static enum status read_expiring(struct ctx *ctx, str text, int64_t *out)
{
    enum { DAYS_MAX = 36500 };
    int64_t days;
    if (!text.n || time_read(text, out))
        return OK;
    if (!str_int(text, &days) || days < 0 || days > DAYS_MAX)
        return fail_field(ctx, "expiring", "must be a number of days up to %d, or a time",
                          DAYS_MAX);
    *out = clock_ms() + days * DAY_MS;
    return OK;
}

enum status filter_read(struct ctx *ctx, const struct filter_in *in, struct pools pools,
                        struct memory_select *out)
{
    *out = (struct memory_select){.pools = pools.v,
                                  .n_pools = pools.n,
                                  .layer = name_index(layer_names, in->layer, -1),
                                  .type = name_index(type_names, in->type, -1),
                                  .origin = name_index(origin_names, in->origin, -1),
                                  .category = in->category,
                                  .session = in->session,
                                  .key = in->key,
                                  .tag = in->tag,
                                  .contains = in->contains,
                                  .after = in->after,
                                  .before = in->before,
                                  .importance_min = in->importance_min,
                                  .importance_max = in->importance_max,
                                  .closed = in->only_closed ? CLOSED_ONLY
                                            : in->closed    ? CLOSED_TOO
                                                            : CLOSED_OUT};
    return read_expiring(ctx, in->expiring, &out->expires_before);
}

str filter_text(struct ctx *ctx, const struct filter_in *in, struct pools pools)
{
    enum { TEXT_MAX = 16 << 20 };
    struct json_out w = json_in(&ctx->arena, TEXT_MAX);
    fields_write(&w, filter_in_fields, in);
    for (size_t i = 0; i < pools.n; i++) {
        json_str(&w, pools.v[i].user);
        json_str(&w, pools.v[i].space);
    }
    return buf_str(w.b);
}

const char *const order_names[] = {"desc", "asc", NULL};

const struct field list_in_fields[] = {
    FILTER_ROWS FIELD_ROWS(list_in,
                           (ENUM, sort, .otherwise_str = "created", .one_of = sort_names,
                            .help = "the value that the list is sorted by"),
                           (ENUM, order, .otherwise_str = "desc", .one_of = order_names,
                            .help = "greatest (newest) first, or smallest"),
                           LIST_CURSOR, LIST_LIMIT,
                           (INT, offset, .max = 1e9, .help = "results to skip, without a cursor"),
                           (BOOL, facets, .help = "count how many there are of each kind, too")){0},
};

FIELDS_OF(list_page, list_out,
          LIST_ITEMS_AS("memories", memory_fields, "in the order that was asked for"), LIST_TOTAL,
          LIST_NEXT, LIST_FACETS);

enum status surface_memories_json(struct ctx *ctx, const struct memory *v, size_t n, int64_t total,
                                  struct buf *out)
{
    struct list_page shape = {.total = total};
    struct json_out w = json_to(out);
    TRY(json_list(ctx, memory_fields, v, n, sizeof *v, &shape.items));
    fields_write(&w, list_out_fields, &shape);
    return OK;
}

/* --- facets --- */

/* The values of one facet, with their counts. */
struct values {
    struct value {
        str name;
        int64_t n;
    } * v;
    size_t n, cap;
};

static void count_value(struct arena *a, struct values *all, str name, int64_t n)
{
    for (size_t i = 0; i < all->n; i++) {
        if (str_eq(all->v[i].name, name)) {
            all->v[i].n += n;
            return;
        }
    }
    ARENA_ADD(a, all->v, all->n, all->cap) = (struct value){name, n};
}

/* In the order of the facets. */
static str value_of(const struct memory_tally *t, const struct memory_select *f, size_t facet)
{
    assert(t->pool < f->n_pools && t->type < TYPE_COUNT && t->layer < LAYER_COUNT);
    const str values[] = {str_of(layer_names[t->layer]),
                          str_of(type_names[t->type]),
                          t->category,
                          str_of(origin_names[t->origin]),
                          f->pools[t->pool].space,
                          t->is_closed ? S("true") : S("false")};
    return values[facet];
}

ORDER(by_count, struct value, DOWN(n) ?: BY_TEXT(name));

/* {"layer": {"fact": 12, …}, …}: the most frequent value first. */
static enum status facets_of(struct ctx *ctx, const struct memory_page *page,
                             const struct memory_select *f, const struct json **out)
{
    static const char *const facets[] = {"layer", "type", "category", "origin", "space", "closed"};
    enum { FACETS_MAX = 8 << 20 };
    struct json_out w = json_in(&ctx->arena, FACETS_MAX);
    json_open(&w, '{');
    for (size_t i = 0; i < sizeof facets / sizeof *facets; i++) {
        struct values all = {0};
        for (size_t k = 0; k < page->n_tallies; k++)
            if (page->tallies[k].n)
                count_value(&ctx->arena, &all, value_of(&page->tallies[k], f, i),
                            page->tallies[k].n);
        SORT(all.v, all.n, by_count);
        json_member_open(&w, facets[i], '{');
        for (size_t k = 0; k < all.n; k++)
            json_member_int(&w, str_c(&ctx->arena, all.v[k].name), all.v[k].n);
        json_close(&w, '}');
    }
    json_close(&w, '}');
    if (w.b->full)
        return fail(ctx, TOO_LARGE, "the facets exceed %d bytes", FACETS_MAX);
    *out = json_of(ctx, buf_str(w.b));
    return OK;
}

/* --- the list --- */

/* A cursor has the count as its name: what a call changed may no longer be of the filter. */
enum status memories_behind(struct ctx *ctx, struct app *app, str of, str cursor,
                            struct memory_page_in *ask, struct memory_page *out, str *next,
                            int64_t *left)
{
    struct list_place place = {0};
    TRY(cursor_read(ctx, of, cursor, &place));
    ask->counts = true;
    ask->has_place = cursor.n > 0;
    ask->place_value = place.value;
    ask->place_row = place.row;
    TRY(engine_page(ctx, app->engine, ask, out));
    assert(out->n <= ask->limit && (out->n || !out->has_more));
    *next = S("");
    if (!str_int(place.name, left))
        *left = out->total;
    *left = out->has_more && *left > (int64_t)out->n ? *left - (int64_t)out->n : 0;
    if (out->has_more) {
        const struct memory *last = &out->v[out->n - 1];
        place = (struct list_place){.value = memory_sort_value(last, ask->sort),
                                    .row = memory_row(last),
                                    .name = str_printf(&ctx->arena, "%lld", (long long)*left)};
        *next = cursor_write(ctx, of, &place);
    }
    return OK;
}

enum status memories_page(struct ctx *ctx, struct app *app, const struct list_in *l,
                          struct pools pools, struct list_page *out)
{
    struct memory_page_in ask = {.sort = l->sort,
                                 .is_ascending = l->order == ORDER_ASC,
                                 .limit = (size_t)l->limit,
                                 .offset = (size_t)l->offset};
    struct memory_page page;
    int64_t left;
    TRY(filter_read(ctx, &l->filter, pools, &ask.select));
    if (l->cursor.n && l->offset)
        return fail_field(ctx, "offset", "is not possible with a cursor");
    str of = str_printf(&ctx->arena, "memories %s %s " S_FMT, sort_names[l->sort],
                        order_names[l->order], S_ARG(filter_text(ctx, &l->filter, pools)));
    *out = (struct list_page){0};
    TRY(memories_behind(ctx, app, of, l->cursor, &ask, &page, &out->next, &left));
    TRY(json_list(ctx, memory_fields, page.v, page.n, sizeof *page.v, &out->items));
    out->total = page.total;
    return l->facets ? facets_of(ctx, &page, &ask.select, &out->facets) : OK;
}

HANDLER(memory_list)
{
    struct list_page page;
    struct pools pools;
    TRY(auth_listed(ctx, app, &in->who, &pools));
    TRY(memories_page(ctx, app, in->in, pools, &page));
    return reply_fields(out, list_out_fields, &page);
}
