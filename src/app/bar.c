/* bar.c - drawn on standard error, ten times a second at most. */
#include "app/bar.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

void bar_show(struct bar *b, const char *what, int64_t done, int64_t all, double each,
              const char *unit)
{
    enum { WIDTH = 30, EVERY_US = 100000 };
    int64_t now = clock_mono_us();
    int digits = each == 1 ? 0 : 1, filled = (int)(all ? done * WIDTH / all : 0);
    if (!isatty(STDERR_FILENO) || (now - b->shown_us < EVERY_US && done < all))
        return;
    b->shown_us = now;
    fprintf(stderr, "\r%-18s [%.*s%*s] %3d %%  %.*f of %.*f %s", what, filled,
            "==============================", WIDTH - filled, "", (int)(all ? done * 100 / all : 0),
            digits, (double)done / each, digits, (double)all / each, unit);
    fflush(stderr);
}

void bar_end(struct bar *b)
{
    if (b->shown_us)
        fputs("\r\033[K", stderr);
}
