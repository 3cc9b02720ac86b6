/* jobs.c - jobs that end while others begin. */
#include "engine/jobs/registry.h"

#include <semaphore.h>
#include <time.h>

#include "lib/engine.h"

static sem_t may_end, ended;

static enum status wait_to_end(struct job_run *run)
{
    (void)run;
    sem_wait(&may_end);
    return OK;
}

static enum status end_at_once(struct job_run *run)
{
    (void)run;
    sem_post(&ended);
    return OK;
}

/* A user has one job of a kind at one time. A dry run writes no log. */
static void begin_job(struct ctx *ctx, struct engine *e, str user, job_work *work)
{
    struct job_info job;
    struct job_ask ask = {.kind = JOB_COMPACT, .pool = {user, S("default")}, .dry_run = true};
    CHECK_OK(registry_begin(ctx, e->jobs, &ask, work, &job));
}

/* The list is full of newer jobs when an old one ends, so the next job that begins drops it. Its
 * user's name is so long that telling of the end takes a while. */
TEST(a_job_that_ends_is_told_of_though_the_list_drops_it)
{
    enum { ROUNDS = 3, NAME = 32 << 20, LATER = 30 };
    ENGINE(e, s, p);
    char *name = arena_alloc(&ctx->arena, NAME);
    memset(name, 'u', NAME);
    sem_init(&may_end, 0, 0);
    sem_init(&ended, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        begin_job(ctx, e, (str){name, (size_t)(NAME - round)}, wait_to_end);
        for (int i = 0; i < JOBS_KEPT + LATER; i++) {
            if (i == JOBS_KEPT + 1)
                sem_post(&may_end);
            if (i > JOBS_KEPT)
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            begin_job(ctx, e, str_printf(&ctx->arena, "%d-%d", round, i), end_at_once);
            sem_wait(&ended);
        }
    }
}
