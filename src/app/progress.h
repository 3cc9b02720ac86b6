/* progress.h - a progress bar on the terminal. */
#pragma once

#include <stdint.h>

struct progress {
    int64_t shown_us; /* 0: nothing was shown */
};

/* "potion [=====>     ]  45 %  13.6 of 30.9 MB": done and all divided by each, then unit. Prints
 * nothing when standard error is not a terminal. */
void progress_show(struct progress *b, const char *what, int64_t done, int64_t all, double each,
                   const char *unit);
/* Of a store_copy: copying counts bytes, which people read in MB; the steps after it count to one.
 */
void progress_copy(void *b, const char *what, int64_t done, int64_t all);
/* Erases the bar. */
void progress_end(struct progress *b);
