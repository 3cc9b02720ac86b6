/* memory_json.h - memories, search results and receipts as JSON, for several surfaces. */
#pragma once

#include "surface/surface.h"

/* What is said of a memory that is added, into a struct memory. */
extern const struct field memory_add_fields[];
/* A memory with all that its owner may see. */
extern const struct field memory_fields[];

/* The members of a memory that the JSON of a change names, as CHANGE_…; with_null: also those that
 * it sets to null. */
unsigned change_members(const struct json *change, bool with_null);

/* What was found as a list, longer texts than `most` bytes as passages; explain: with reasons and
 * the ranking features. As json_list. */
extern const struct field found_out_fields[];
MUST_USE enum status found_list(struct ctx *ctx, const struct recalled *v, size_t n, size_t most,
                                bool explain, const struct json **out);

struct receipt_out {
    struct receipt r;
    const struct json *lines;
};
extern const struct field receipt_out_fields[];
MUST_USE enum status receipt_shape(struct ctx *ctx, const struct receipt *r,
                                   struct receipt_out *out);

/* An array of n structs of that size, each written by its table. TOO_LARGE over 16 MiB. */
MUST_USE enum status json_list(struct ctx *ctx, const struct field *table, const void *v, size_t n,
                               size_t size, const struct json **out);
/* A value that is written already, as a member of an answer. */
const struct json *json_of(struct ctx *ctx, str source);
/* One struct that always fits; and numbers by name, with_zero: also those that are 0. */
const struct json *json_object_of(struct ctx *ctx, const struct field *table, const void *in);
const struct json *json_counts(struct ctx *ctx, const char *const *names, const int64_t *n,
                               bool with_zero);
