/* distil_killed.c - who distils is killed around the model's answer; nothing is lost or doubled. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/model.h"
#include "lib/store.h"
#include "store/store.h"

enum { ROUNDS = 40, LATEST_US = 2500 };

/* What the model's process says of itself. */
struct heard {
    char url[64];
};

static void answered(void *own)
{
    if (write(*(int *)own, "a", 1) != 1)
        _exit(4);
}

/* A model in a process of its own, so that the others may be forked. */
static pid_t model_begin(struct ctx *ctx, struct heard *out, int *answers)
{
    int says[2], tells[2];
    CHECK(pipe(says) == 0 && pipe(tells) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct model *m = model_open(ctx);
        struct heard h = {{0}};
        m->app.answer = S("{\"episode\":{\"summary\":\"The user bought a boat.\"},"
                          "\"pinned_candidates\":[{\"content\":\"User bought a boat\"}]}");
        m->app.own = &tells[1];
        m->app.meanwhile = answered;
        m->app.mode = ANSWERS; /* whoever reads it sees what stands above: another process asks */
        snprintf(h.url, sizeof h.url, S_FMT, S_ARG(m->up.url));
        if (write(says[1], &h, sizeof h) != sizeof h)
            _exit(3);
        for (;;)
            pause();
    }
    close(says[1]);
    close(tells[1]);
    CHECK(read(says[0], out, sizeof *out) == sizeof *out);
    close(says[0]);
    *answers = tells[0];
    return pid;
}

static struct settings settings_of(const struct heard *model)
{
    struct settings settings = {0};
    settings_defaults(&settings);
    settings.upstreams[0] =
        (struct upstream){.name = S("fake"), .url = str_of(model->url), .key = S("secret")};
    settings.n_upstreams = 1;
    settings.core_model = S("fake/tiny/chat");
    settings.core_tokens_per_hour = 0;
    return settings;
}

static enum status distil_all(struct ctx *ctx, const struct place *p, const struct heard *model)
{
    struct settings settings = settings_of(model);
    struct store *s;
    struct engine *e;
    bool more = true;
    TRY(store_open(ctx, &(struct store_settings){.path = str_of(p->path)}, &s));
    TRY(engine_open(ctx, s, &settings, &e));
    while (more)
        TRY(engine_distil_some(ctx, e, &more));
    engine_close(e);
    store_close(s);
    return OK;
}

/* Kills who distils a moment after the model has answered; it may be done by then. */
static void kill_one(struct ctx *ctx, const struct place *p, const struct heard *model, int answers,
                     unsigned *random)
{
    char answer;
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(distil_all(ctx, p, model) == OK ? 0 : 5);
    CHECK(poll(&(struct pollfd){.fd = answers, .events = POLLIN}, 1, 30000) == 1);
    CHECK(read(answers, &answer, 1) == 1);
    nanosleep(&(struct timespec){.tv_nsec = 1000 * (long)((unsigned)rand_r(random) % LATEST_US)},
              NULL);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

static void put(struct ctx *ctx, const struct place *p, int round)
{
    STORE(s, *p);
    struct message m = said(str_printf(&ctx->arena, "m%d", round).p, "user",
                            "I bought a boat and will sail it home, which will take a week or two, "
                            "as I was told in Ithaca",
                            1000);
    m.id = str_printf(&ctx->arena, "m%d", round);
    struct bundle b = {.pool = mine,
                       .session = {.id = str_printf(&ctx->arena, "s%d", round)},
                       .messages = &m,
                       .n_messages = 1,
                       .distil_at = 1};
    CHECK_OK(store_write(ctx, s, &b));
}

/* Sessions without an episode are those that wait; gives how many have one. */
static int64_t check(struct ctx *ctx, const struct place *p, int64_t sessions)
{
    STORE(s, *p);
    struct memory_filter f = {.pool = mine, .layer = S("episode"), .with_closed = true, .limit = 1};
    struct memory *v;
    struct signal_stats stats;
    size_t n;
    int64_t episodes;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &episodes));
    CHECK_OK(store_signal_stats(ctx, s, &mine, &stats));
    CHECK_INT(stats.signals + episodes, sessions);
    CHECK_INT(stats.signals, stats.sessions);
    check_healthy(ctx, s);
    return episodes;
}

TEST(nothing_is_lost_or_doubled_when_who_distils_is_killed)
{
    PLACE(p);
    struct heard model;
    int answers;
    unsigned random = (unsigned)clock_mono_us();
    pid_t pid = model_begin(ctx, &model, &answers);
    for (int round = 0; round < ROUNDS; round++) {
        put(ctx, &p, round);
        kill_one(ctx, &p, &model, answers, &random);
        check(ctx, &p, round + 1);
    }
    int64_t before = check(ctx, &p, ROUNDS);
    CHECK_OK(distil_all(ctx, &p, &model)); /* every claim has ended with its process */
    CHECK_INT(check(ctx, &p, ROUNDS), ROUNDS);
    printf("%d kills: %lld were done by then, none lost or doubled\n", ROUNDS, (long long)before);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, NULL, 0) == pid);
}
