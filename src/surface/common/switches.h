/* switches.h - what a request says about memory itself: the same at every door to a chat. */
#pragma once

#include "surface/surface.h"

#define MODE_HEADER "X-Memory-Mode"

/* The mode of a request by its headers; MODE_FULL without any. X-OmniRoute-No-Memory wins, as
 * MODE_OFF. BAD_INPUT names the header when it has none of the modes. */
MUST_USE enum status switches_mode(struct ctx *ctx, const struct request *in,
                                   enum memory_mode *out);
/* The same for a caller that cannot fail: a header without a sense is MODE_FULL. */
enum memory_mode switches_mode_or_full(const struct request *in);
