/* read.h - reading many memories over mem0's API: lists and searches by filters. */
#pragma once

#include "ext/dialects/mem0/filter.h"

/* What a list and a search have in common: every condition must fit. */
#define MEM0_ASKED                                                                                 \
    (JSON, filters, .help = "an object: docs/from-mem0.md"),                                       \
        (JSON, metadata, .help = "an object: these pairs"),                                        \
        (JSON, categories, .help = "names: any of these"),                                         \
        (JSON, start_date, .help = "created then or later"),                                       \
        (JSON, end_date, .help = "created then or earlier"),                                       \
        (JSON, keywords, .help = "a text in it, letters of any case"),                             \
        (BOOL, show_expired, .help = "of a list: also those that have expired")
struct mem0_asked {
    struct mem0_ids ids;
    SHAPE_EACH(SHAPE_MEMBER, mem0_asked, MEM0_ASKED)
};
#define MEM0_ASKED_ROWS MEM0_ID_ROWS FIELD_ROWS(mem0_asked, MEM0_ASKED)

/* limit also names top_k. */
struct mem0_search_in {
    struct mem0_asked asked;
    str query;
    int64_t top_k, limit;
    double threshold;
};
extern const struct field mem0_search_in_fields[];

/* page 0: none was asked for. */
struct mem0_page_in {
    int64_t page, page_size;
};
extern const struct field mem0_page_in_fields[];
/* {count, next, previous, results}: next and previous are whole addresses, or null. */
#define MEM0_PAGE(FIELDS)                                                                          \
    (INT, count, .help = "on all pages"),                                                          \
        (STR, next, .empty = EMPTY_NULL, .help = "address of the next page"),                      \
        (STR, previous, .empty = EMPTY_NULL), (JSON, results, .inside = FIELDS)
struct mem0_page {
    SHAPE_EACH(SHAPE_MEMBER, mem0_page, MEM0_PAGE(NULL))
};
void mem0_page_links(struct ctx *ctx, const struct request *in, const struct mem0_page_in *page,
                     struct mem0_page *io);

/* Memories, newest first; of several users one after the other. */
MUST_USE enum status mem0_list(struct ctx *ctx, struct app *app, const struct request *in,
                               const struct mem0_asked *asked, enum mem0_grammar grammar,
                               size_t offset, size_t limit, const struct json **results,
                               int64_t *total);
/* The most alike first. */
MUST_USE enum status mem0_search(struct ctx *ctx, struct app *app, const struct request *in,
                                 const struct mem0_search_in *asked, enum mem0_grammar grammar,
                                 double threshold, const struct json **results);
