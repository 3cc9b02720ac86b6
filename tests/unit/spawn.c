/* spawn.c - another program: what it says, what it is given, and how long it may take. */
#include "app/spawn.h"

#include <signal.h>

#include "base/clock.h"
#include "t.h"

static enum status ask(struct ctx *ctx, const char *script, str input, int64_t ms, str *out)
{
    static char said[64];
    const char *argv[] = {"sh", "-c", script, NULL};
    size_t n = 0;
    enum status s = spawn_ask(ctx, argv, input, ms, said, sizeof said, &n);
    *out = (str){said, n};
    return s;
}

TEST(what_it_says_is_given_back)
{
    str out;
    CHECK_OK(ask(ctx, "printf hello", S(""), 10000, &out));
    CHECK_STR(out, S("hello"));
    CHECK_OK(ask(ctx, "exec cat", S("passed through"), 10000, &out));
    CHECK_STR(out, S("passed through"));
    CHECK_OK(ask(ctx, "printf %064d 7", S(""), 10000, &out));
    CHECK_INT(out.n, 64);
}

TEST(what_fails_is_a_failure)
{
    static const char *const scripts[] = {"exit 1", "kill -9 $$", "printf %065d 7",
                                          "printf ok; exit 3"};
    const char *nobody[] = {"no-such-program-anywhere", NULL};
    char said[8];
    size_t n;
    str out;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        CHECK_STATUS(ask(ctx, scripts[i], S(""), 10000, &out), UPSTREAM);
        ctx_clear_failure(ctx);
    }
    CHECK_STATUS(spawn_ask(ctx, nobody, S(""), 10000, said, sizeof said, &n), UPSTREAM);
    CHECK(strstr(ctx->why, "no-such-program-anywhere cannot be started"));
}

/* Who does not read its input does not end us. */
TEST(input_that_nobody_takes_is_no_harm)
{
    str out;
    char *much = arena_alloc(&ctx->arena, 1 << 16);
    memset(much, 'x', 1 << 16);
    CHECK_OK(ask(ctx, "exec <&-; printf ok", (str){much, 1 << 16}, 10000, &out));
    CHECK_STR(out, S("ok"));
}

TEST(what_takes_too_long_is_killed)
{
    static const char *const scripts[] = {"exec sleep 60", "exec >&-; exec sleep 60"};
    for (size_t i = 0; i < 2; i++) {
        str out;
        int64_t began = clock_mono_us();
        CHECK_STATUS(ask(ctx, scripts[i], S(""), 100, &out), UPSTREAM);
        ctx_clear_failure(ctx);
        CHECK(clock_mono_us() - began < 20000000);
    }
}

/* A server blocks signals; a program that it starts can be interrupted all the same. */
TEST(its_signals_are_those_of_a_fresh_process)
{
    sigset_t set, before;
    str out;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &before);
    enum status s = ask(ctx, "kill $$; printf survived", S(""), 10000, &out);
    sigprocmask(SIG_SETMASK, &before, NULL);
    CHECK_INT(s, UPSTREAM);
}
