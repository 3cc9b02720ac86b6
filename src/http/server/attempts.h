/* attempts.h - wrong credentials: slowed by address and by account, and logged. */
#pragma once

#include "http/http.h"

struct attempts;

/* per_minute wrong ones of one address or account; 0 is no limit. */
struct attempts *attempts_new(int64_t per_minute);
/* Logs what is not in the log yet. */
void attempts_free(struct attempts *a);

/* Before a handler that checks a secret: TOO_BUSY when too many of the address were wrong. */
MUST_USE enum status attempts_may(struct ctx *ctx, struct attempts *a, const struct request *in);
/* Of a request that ended with NO_AUTH: one whose credential was wrong counts, and gives TOO_BUSY
 * instead when it is one too many. A right credential is never refused. */
MUST_USE enum status attempts_judge(struct ctx *ctx, struct attempts *a, const struct request *in);
/* A line for each address that a minute ago had one and was wrong again since. From the sweep. */
void attempts_log(struct attempts *a, int64_t now_us);
