/* instance.c - the process of an open instance keeps its memory to itself, and leaves no files. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/instance.h"
#include "app/leftovers.h"
#include "lib/engine.h"
#include "lib/store.h"

/* In a process of its own: neither can be taken back. */
static int dumps_of(struct ctx *ctx, const struct options *o)
{
    pid_t child = fork();
    int status = -1;
    if (!child) {
        struct instance instance;
        struct rlimit core;
        bool is_open =
            instance_open(ctx, o, TO_ADD, &instance) == OK && !getrlimit(RLIMIT_CORE, &core);
        _exit(is_open ? 2 * prctl(PR_GET_DUMPABLE) + (core.rlim_max > 0) : 99);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

TEST(nobody_reads_the_memory_of_the_process_unless_a_setting_lets_them)
{
    PLACE(p);
    struct rlimit core;
    struct options o = {.settings = settings_for_test()};
    o.settings.data = str_of(p.folder);
    CHECK_INT(getrlimit(RLIMIT_CORE, &core), 0);
#ifdef SANITIZED
    CHECK_INT(dumps_of(ctx, &o), 2);
#else
    CHECK_INT(dumps_of(ctx, &o), 0);
#endif
    o.settings.core_dumps = true;
    CHECK_INT(dumps_of(ctx, &o), 2 + (core.rlim_max > 0));
}

TEST(a_signal_that_ends_a_command_removes_its_leftovers)
{
    char folder[] = "/tmp/leftovers.XXXXXX";
    int status;
    CHECK(mkdtemp(folder) != NULL);
    str file = str_printf(&ctx->arena, "%s/file", folder);
    fclose(fopen(file.p, "we"));
    pid_t child = fork();
    if (!child) {
        signal(SIGINT, SIG_DFL);
        leftover_add(file.p);
        leftover_add(folder);
        raise(SIGINT);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    CHECK(access(folder, F_OK) != 0);
}
