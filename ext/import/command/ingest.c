/* ingest.c - imports conversations from a file, with progress on a terminal. */
#include <unistd.h>

#include "base/clock.h"
#include "ext/import/command/command.h"
#include "ext/import/import.h"

#include "app/instance.h"

/* One ingest runs in a process, so its progress may be static. */
static int64_t began_us, shown_us;

/* Nothing in the first second, so that a short run stays silent, then five times a second at
 * most. */
static void show_progress(int64_t done, int64_t all)
{
    int64_t now = clock_mono_us();
    if (!isatty(STDERR_FILENO) || now - began_us < 1000000 || now - shown_us < 200000)
        return;
    shown_us = now;
    fprintf(stderr, "\r%3.0f %% of %.1f MB", all ? 100.0 * (double)done / (double)all : 0.0,
            (double)all / 1e6);
    fflush(stderr);
}

enum status command_ingest(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct ingest_report r = {0};
    TRY(instance_open(ctx, o, &instance));
    began_us = clock_mono_us();
    enum status s = engine_ingest(ctx, instance.engine, pool_of(o), o->words.v[1], !o->no_extract,
                                  show_progress, &r);
    if (shown_us)
        fputs("\r\033[K", stderr);
    TRY(s);
    printf(o->json ? "{\"sessions\":%lld,\"messages\":%lld,\"memories\":%lld,\"skipped\":%lld,"
                     "\"erased\":%lld}\n"
                   : "read %lld conversations, %lld messages, %lld memories; skipped %lld without "
                     "text\nWhat was stored before is not stored again.\n",
           (long long)r.sessions, (long long)r.messages, (long long)r.memories,
           (long long)r.skipped, (long long)r.erased);
    if (!o->json && r.erased)
        printf("%lld were erased here and are left out.\n", (long long)r.erased);
    return OK;
}
