/* list.h - the list of memories: what it takes and gives. */
#pragma once

#include "surface/common/list_page.h"
#include "surface/rest/filter.h"

enum order { ORDER_DESC, ORDER_ASC };
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
                                   const struct pool_ref *pools, size_t n, struct list_page *out);
