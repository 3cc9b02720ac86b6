/* status.c - the names of the statuses. */
#include "base/status.h"

static const char *const names[STATUS_COUNT] = {
    [OK] = "ok",
    [BAD_INPUT] = "bad_input",
    [NO_AUTH] = "no_auth",
    [FORBIDDEN] = "forbidden",
    [NOT_FOUND] = "not_found",
    [CONFLICT] = "conflict",
    [TOO_LARGE] = "too_large",
    [TOO_BUSY] = "too_busy",
    [TIMED_OUT] = "timed_out",
    [UPSTREAM] = "upstream",
    [STORAGE] = "storage",
    [UNSUPPORTED] = "unsupported",
};

const char *status_name(enum status s)
{
    return s < STATUS_COUNT ? names[s] : "unknown";
}
