/* filter.h - mem0's grammar of filters: read into a tree, and asked of one memory at a time. */
#pragma once

#include "ext/dialects/mem0/mem0.h"

struct mem0_filter;

/* A member that the filter does not know is one of the metadata (FILTER_OPEN, the self-hosted
 * server's rule), or BAD_INPUT. */
enum mem0_grammar { FILTER_STRICT, FILTER_OPEN };

/* NULL, and {}, fit everything. BAD_INPUT names the field filters and says what is wrong there. */
MUST_USE enum status mem0_filter_read(struct ctx *ctx, const struct json *filters,
                                      enum mem0_grammar grammar, const struct mem0_filter **out);
bool mem0_filter_fits(struct ctx *ctx, const struct mem0_filter *f, const struct mem0_who *who,
                      const struct memory *m);

/* The users that the filter names and whose memories can fit, "" for the credential itself; 0 when
 * it names none. BAD_INPUT: it asks for whichever user. */
MUST_USE enum status mem0_filter_users(struct ctx *ctx, const struct mem0_filter *f,
                                       struct strs *out);
/* The ids that every memory which fits has, and whether the filter asks for nothing else. */
struct mem0_ids mem0_filter_ids(const struct mem0_filter *f, bool *is_all);
