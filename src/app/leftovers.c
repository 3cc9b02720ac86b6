/* leftovers.c - files of a command that are removed when a signal ends it. */
#include "app/leftovers.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/str.h"

enum { LEFTOVERS_MAX = 8, TRIES = 100, AGAIN_MS = 10 };

/* A handler reads them, so a path is whole before it counts. */
static char paths[LEFTOVERS_MAX][PATH_MAX];
static volatile sig_atomic_t added;

/* A thread that goes on may make a file again, until the folder is gone. */
void leftovers_remove(void)
{
    bool is_left = added > 0;
    for (int tries = 0; is_left && tries < TRIES; tries++) {
        is_left = false;
        for (int i = 0; i < added; i++)
            is_left |= unlink(paths[i]) != 0 && rmdir(paths[i]) != 0 && errno == ENOTEMPTY;
        if (is_left)
            poll(NULL, 0, AGAIN_MS);
    }
    added = 0;
}

/* Nothing but calls that signal-safety(7) allows. A second signal, which another thread may take,
 * ends the process no earlier. */
static void end_by_signal(int number)
{
    leftovers_remove();
    signal(number, SIG_DFL);
    raise(number);
}

void leftover_add(const char *path)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction remove = {.sa_handler = end_by_signal};
    struct sigaction now;
    assert(added < LEFTOVERS_MAX);
    snprintf(paths[added], PATH_MAX, "%s", path);
    added++;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(ends[i], &remove, NULL);
}
