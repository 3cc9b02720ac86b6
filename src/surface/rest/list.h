/* list.h - the list of memories and its filter: what it takes and gives. */
#pragma once

#include "core/memory_select.h"
#include "surface/common/list_page.h"

/* --- the filter --- */

/* The one set of names by which a list, a bulk change and an export select memories, as it is asked
 * for; the space is the request's. */
#define FILTER_IN                                                                                  \
    (STR, layer, .one_of = layer_names, .help = "only this layer"),                                \
        (STR, type, .one_of = type_names, .help = "only this type"),                               \
        (STR, category, .min = 1, .help = "only this category"),                                   \
        (STR, origin, .one_of = origin_names, .help = "only texts that came from there"),          \
        (STR, session, .min = 1, .help = "only from this session"),                                \
        (STR, key, .min = 1, .help = "only with this key"),                                        \
        (STR, tag, .min = 1, .help = "only with this tag"),                                        \
        (STR, contains, .min = 1, .help = "only with this text in content or key"),                \
        (TIME, after, .help = "only created at this time or later"),                               \
        (TIME, before, .help = "only created before this time"),                                   \
        (NUM, importance_min, .max = 1, .help = "only at least this important"),                   \
        (NUM, importance_max, .otherwise = 1, .max = 1, .help = "only at most this important"),    \
        (STR, expiring, .min = 1,                                                                  \
         .help = "only those that expire within so many days, or before this time"),               \
        (BOOL, closed, .help = "include archived and expired memories"),                           \
        (BOOL, only_closed, .help = "only archived and expired memories")
struct filter_in {
    SHAPE_EACH(SHAPE_MEMBER, filter_in, FILTER_IN)
};
/* Its rows, for the table of a struct that begins with it. */
#define FILTER_ROWS FIELD_ROWS(filter_in, FILTER_IN)
extern const struct field filter_in_fields[];

/* The selection in these pools. BAD_INPUT names the field. */
MUST_USE enum status filter_read(struct ctx *ctx, const struct filter_in *in, struct pools pools,
                                 struct memory_select *out);
/* The filter and its pools as text: what a cursor is of. */
str filter_text(struct ctx *ctx, const struct filter_in *in, struct pools pools);

/* A page of what ask selects, behind the place that a cursor of this list names; the cursor of the
 * next page, or ""; and how many are on the pages that follow. */
MUST_USE enum status memories_behind(struct ctx *ctx, struct app *app, str of, str cursor,
                                     struct memory_page_in *ask, struct memory_page *out, str *next,
                                     int64_t *left);

/* --- the list --- */

enum order { ORDER_DESC, ORDER_ASC };
extern const char *const order_names[];
struct list_in {
    struct filter_in filter;
    enum memory_sort sort;
    enum order order;
    str cursor;
    int64_t limit, offset;
    bool facets;
};
extern const struct field list_in_fields[], list_out_fields[];
handler memory_list;
/* The page of a list in these pools. */
MUST_USE enum status memories_page(struct ctx *ctx, struct app *app, const struct list_in *l,
                                   struct pools pools, struct list_page *out);
