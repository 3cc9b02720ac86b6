/* shapes.h - memories, findings and receipts as JSON, for every surface that shows them plainly. */
#pragma once

#include "surface/surface.h"

struct memory_out {
    str id, session, layer, type, category, key, content, origin, source, superseded_by;
    const struct json *metadata;
    struct strs tags;
    double importance;
    int64_t uses, created, updated, last_used, expires, valid_from, valid_to;
};
extern const struct field memory_out_fields[];
struct memory_out memory_shape(struct ctx *ctx, const struct memory *m);

struct found_out {
    str kind, id, session, role, text, source, why;
    double score;
    int64_t tokens, created;
    const struct json *signals;
};
extern const struct field found_out_fields[];
/* signals are filled when they shall be explained. */
struct found_out found_shape(struct ctx *ctx, const struct recalled *r, bool explain);

struct receipt_out {
    str id, session, question, decision, reason, block;
    int64_t created, tokens, took_us;
    const struct json *lines;
};
extern const struct field receipt_out_fields[];
MUST_USE enum status receipt_shape(struct ctx *ctx, const struct receipt *r,
                                   struct receipt_out *out);

/* An array of n structs of that size, each written by its table. TOO_LARGE over 16 MiB. */
MUST_USE enum status json_list(struct ctx *ctx, const struct field *table, const void *v, size_t n,
                               size_t size, const struct json **out);
