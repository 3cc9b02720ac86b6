/* status.c - the names of the statuses. */
#include "base/status.h"

/* In the order of the enum. */
static const char *const names[STATUS_COUNT] = {"ok",        "bad_input", "no_auth",
                                                "forbidden", "not_found", "conflict",
                                                "too_large", "too_busy",  "timed_out",
                                                "upstream",  "storage",   "unsupported"};

const char *status_name(enum status s)
{
    return s < STATUS_COUNT ? names[s] : "unknown";
}
