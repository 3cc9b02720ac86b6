/* bar.h - a bar on the terminal that shows how far something is. */
#pragma once

#include <stdint.h>

struct bar {
    int64_t shown_us; /* 0: nothing was shown */
};

/* "potion [=====>     ]  45 %  13.6 of 30.9 MB"; unit is what done and all count, each counts so
 * many. Nothing where nobody looks. */
void bar_show(struct bar *b, const char *what, int64_t done, int64_t all, double each,
              const char *unit);
/* Clears it away. */
void bar_end(struct bar *b);
