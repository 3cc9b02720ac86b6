/* breaker.h - leaves alone for a while what has just failed, so that it costs others no time. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BREAKER_FIRST_MS = 1000, BREAKER_MOST_MS = 60000 };

/* All zero: nothing has failed. Any number of threads may share it. */
struct breaker {
    atomic_int_least64_t until_us; /* clock_mono_us before which nobody tries; 0: nothing fails */
    atomic_int_least64_t wait_ms;  /* of the last failure; each one doubles it */
};

/* Whether to try now; of those that ask when a wait is over, one may. *ticket goes to
 * breaker_end. */
bool breaker_begin(struct breaker *b, int64_t *ticket);
/* How the try ended. Of several that failed together one counts. */
void breaker_end(struct breaker *b, int64_t ticket, bool is_well);
void breaker_reset(struct breaker *b);
/* Whole seconds until the next try, at least 1; 0: nothing fails. */
int64_t breaker_seconds(struct breaker *b);
