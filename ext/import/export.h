/* export.h - spaces as a text that an import takes. */
#pragma once

#include "base/buf.h"
#include "core/memory_select.h"

struct engine;
struct exporting;

enum export_format { EXPORT_JSONL, EXPORT_MARKDOWN };
extern const char *const export_formats[]; /* jsonl, markdown */

struct export_order {
    struct memory_select select; /* its pools, and which memories */
    enum export_format format;
    bool all; /* sessions, messages and bars, too */
};

/* In ctx's arena, which outlives the export. */
struct exporting *engine_export_begin(struct ctx *ctx, const struct export_order *order);
/* Adds the next part, at least `bytes` unless it is the last. ctx is of this part. What is written
 * meanwhile may be in it or not, and nothing is in it twice. */
MUST_USE enum status engine_export_part(struct ctx *ctx, struct engine *e, struct exporting *x,
                                        size_t bytes, struct buf *out, bool *is_last);
