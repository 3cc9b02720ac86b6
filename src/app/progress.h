/* progress.h - a progress bar on the terminal. */
#pragma once

#include "base/ctx.h"

struct store_copy;

struct progress {
    int64_t shown_us; /* 0: nothing was shown */
};

/* "potion [=====>     ]  45 %  13.6 of 30.9 MB": done and all divided by each, then unit. Prints
 * nothing when standard error is not a terminal. */
void progress_show(struct progress *b, const char *what, int64_t done, int64_t all, double each,
                   const char *unit);
/* Erases the bar. */
void progress_end(struct progress *b);
/* A store_copy that shows how far it is. */
MUST_USE enum status progress_copy(struct ctx *ctx, struct store_copy *copy);
