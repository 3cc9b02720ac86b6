/* list_page.h - a page of a list as every list of rememberd's own API shows it, and its cursor. */
#pragma once

#include "surface/common/memory_json.h"

/*
 * A list is sorted by one value and, where that is equal, by the number of the row; or by a name. A
 * cursor is the place of the last row of a page, as text that only this server makes and reads. A
 * page begins behind it, so no row is shown twice while others write.
 */
struct list_place {
    double value; /* of the row: a time in unix ms, an importance, a count */
    int64_t row;  /* of the store: rows of one value are in this order */
    str name;     /* of a list that is sorted by a name; "" otherwise */
};

/* of names the list: its path, order and filters. A cursor of one list is refused by others. */
str cursor_write(struct ctx *ctx, str of, const struct list_place *last);
/* *out stays as it is where the cursor is "". BAD_INPUT naming the field `cursor` when it was not
 * made here, or for another list. */
MUST_USE enum status cursor_read(struct ctx *ctx, str of, str cursor, struct list_place *out);

/* {"items": [...], "total", "next", "facets"}; a list names its items by a row of its own. */
struct list_page {
    const struct json *items; /* made by json_list */
    int64_t total;            /* of all pages */
    str next;                 /* the cursor of the next page, or "" at the end */
    const struct json *facets;
};
#define LIST_ITEMS(TABLE, HELP) LIST_ITEMS_AS("items", TABLE, HELP)
#define LIST_ITEMS_AS(NAME, TABLE, HELP) (AS_JSON, items, NAME, .inside = TABLE, .help = HELP)
#define LIST_TOTAL (INT, total, .help = "how many there are, on all pages")
#define LIST_NEXT                                                                                  \
    (STR, next, .empty = EMPTY_NULL, .help = "cursor of the next page; null: this is the last one")
#define LIST_FACETS                                                                                \
    (JSON, facets, .empty = EMPTY_OUT,                                                             \
     .help =                                                                                       \
         "how many of each layer, type, category, origin and space, and how many are archived")

/* The table of a list without facets. */
#define LIST_PAGE(NAME, TABLE, HELP)                                                               \
    static FIELDS_OF(list_page, NAME, LIST_ITEMS(TABLE, HELP), LIST_TOTAL, LIST_NEXT)

/* Puts the items where table has its first list, and answers with the page: a struct list_page, or
 * another that table describes. */
MUST_USE enum status list_reply(struct ctx *ctx, const struct field *table, void *page,
                                const void *items, size_t n, size_t size, struct reply *out);

/* The fields of a query that ask for a page. */
#define LIST_CURSOR (STR, cursor, .max = CURSOR_MAX, .help = "next of the page before")
#define LIST_LIMIT (INT, limit, .otherwise = 50, .min = 1, .max = 500, .help = "most results")
enum { CURSOR_MAX = 2048 };
