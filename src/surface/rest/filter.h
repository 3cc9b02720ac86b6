/* filter.h - the one set of names by which a list, a bulk change and an export select memories. */
#pragma once

#include "core/memory_select.h"
#include "surface/surface.h"

/* As it is asked for; the space is the request's. */
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
MUST_USE enum status filter_read(struct ctx *ctx, const struct filter_in *in,
                                 const struct pool_ref *pools, size_t n, struct memory_select *out);
/* The filter and its pools as text: what a cursor is of. */
str filter_text(struct ctx *ctx, const struct filter_in *in, const struct pool_ref *pools,
                size_t n);
