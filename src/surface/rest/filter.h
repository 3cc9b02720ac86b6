/* filter.h - the one set of names by which a list, a bulk change and an export select memories. */
#pragma once

#include "core/memory_select.h"
#include "surface/surface.h"

/* As it is asked for; the space is the request's. */
struct filter_in {
    str layer, type, category, origin, session, key, tag, contains, expiring;
    bool closed, only_closed;
    int64_t after, before;
    double importance_min, importance_max;
};

/* Its rows, for the table of a struct that begins with it. */
#define FILTER_ROWS                                                                                \
    {STR(struct filter_in, layer), .one_of = layer_names, .help = "only this layer"},              \
        {STR(struct filter_in, type), .one_of = type_names, .help = "only this type"},             \
        {STR(struct filter_in, category), .help = "only this category"},                           \
        {STR(struct filter_in, origin), .one_of = origin_names,                                    \
         .help = "only texts that came from there"},                                               \
        {STR(struct filter_in, session), .help = "only from this session"},                        \
        {STR(struct filter_in, key), .help = "only with this key"},                                \
        {STR(struct filter_in, tag), .help = "only with this tag"},                                \
        {STR(struct filter_in, contains), .help = "only with this text in content or key"},        \
        {TIME(struct filter_in, after), .help = "only created at this time or later"},             \
        {TIME(struct filter_in, before), .help = "only created before this time"},                 \
        {NUM(struct filter_in, importance_min), .max = 1, .help = "only at least this important"}, \
        {NUM(struct filter_in, importance_max), .otherwise = 1, .max = 1,                          \
         .help = "only at most this important"},                                                   \
        {STR(struct filter_in, expiring),                                                          \
         .help = "only those that expire within so many days, or before this time"},               \
        {BOOL(struct filter_in, closed), .help = "include closed and expired memories"},           \
    {                                                                                              \
        BOOL(struct filter_in, only_closed), .help = "only closed and expired memories"            \
    }
extern const struct field filter_in_fields[];

/* The selection in these pools. BAD_INPUT names the field. */
MUST_USE enum status filter_read(struct ctx *ctx, const struct filter_in *in,
                                 const struct pool_ref *pools, size_t n, struct memory_select *out);
/* The filter and its pools as text: what a cursor is of. */
str filter_text(struct ctx *ctx, const struct filter_in *in, const struct pool_ref *pools,
                size_t n);
