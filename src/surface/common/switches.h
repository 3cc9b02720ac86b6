/* switches.h - a request's headers about memory itself: the same at every door to a chat. */
#pragma once

#include "surface/surface.h"

#define MODE_HEADER "X-Memory-Mode"
#define NO_MEMORY_HEADER "X-OmniRoute-No-Memory"

/* The rows of the two headers, as /openapi.json describes them, and a table of them alone. */
#define SWITCH_ROWS                                                                                \
    HEADER_ROW(MODE_HEADER, STR, .one_of = memory_mode_names,                                      \
               .help = "what memory does for this request: recall and learn, only recall, only "   \
                       "learn, or nothing"),                                                       \
        HEADER_ROW(NO_MEMORY_HEADER, BOOL, .help = "true is the same as off, and wins")
extern const struct field switch_fields[];

/* The mode of a request by its headers; MODE_FULL without any. X-OmniRoute-No-Memory wins, as
 * MODE_OFF. BAD_INPUT names the header when it has none of the modes. With a token that may read
 * memories and not write them, nothing is kept. */
MUST_USE enum status switches_mode(struct ctx *ctx, const struct request *in,
                                   enum memory_mode *out);
/* The same for a caller that cannot fail: a header without a sense is MODE_FULL. */
enum memory_mode switches_mode_or_full(const struct request *in);
/* What is left of a mode when nothing may be kept. */
enum memory_mode mode_without_keeping(enum memory_mode mode);
