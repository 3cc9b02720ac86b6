/* progress.c - draws the bar on standard error, at most ten times a second. */
#include "app/progress.h"

#include <unistd.h>

#include "base/clock.h"
#include "store/store.h"

/* Drawing more often is invisible and slows the work. The last state is always drawn. */
void progress_show(struct progress *b, const char *what, int64_t done, int64_t all, double each,
                   const char *unit)
{
    enum { WIDTH = 30, EVERY_US = 100000 };
    int64_t now = clock_mono_us();
    assert(each > 0);
    int digits = each == 1 ? 0 : 1, filled = (int)(all ? done * WIDTH / all : 0);
    if (!isatty(STDERR_FILENO) || (now - b->shown_us < EVERY_US && done < all))
        return;
    b->shown_us = now;
    fprintf(stderr, "\r%-18s [%.*s%*s] %3d %%  %.*f of %.*f %s", what, filled,
            "==============================", WIDTH - filled, "", (int)(all ? done * 100 / all : 0),
            digits, (double)done / each, digits, (double)all / each, unit);
    fflush(stderr);
}

void progress_end(struct progress *b)
{
    if (b->shown_us)
        fputs("\r\033[K", stderr);
}

/* Copying counts bytes, which people read in MB; the steps after it count to one. */
static void show_copy(void *b, const char *what, int64_t done, int64_t all)
{
    bool is_bytes = !strcmp(what, "copying");
    progress_show(b, what, done, all, is_bytes ? 1e6 : 1, is_bytes ? "MB" : "");
}

enum status progress_copy(struct ctx *ctx, struct store_copy *copy)
{
    struct progress progress = {0};
    copy->progress = show_copy;
    copy->own = &progress;
    enum status status = store_copy(ctx, copy);
    progress_end(&progress);
    return status;
}
