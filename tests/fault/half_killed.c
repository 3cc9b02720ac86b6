/* half_killed.c - who consolidates or replaces a conversation is killed; it is done or not begun.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/store.h"
#include "store/store.h"

enum { ROUNDS = 40, PAIRS = 100, TURNS = 300 };

/* What is done over and over: to a space that is made ready for it. */
struct deed {
    void (*prepare)(struct ctx *ctx, struct store *s, struct pool_ref pool);
    enum status (*run)(struct ctx *ctx, struct store *s, struct pool_ref pool);
    /* Whether it was done; fails when it was half done. */
    bool (*is_done)(struct ctx *ctx, struct store *s, struct pool_ref pool);
};

/* --- a consolidation: each pair of episodes becomes one --- */

static void prepare_pairs(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    struct memory *v = NEW_N(&ctx->arena, struct memory, 2 * PAIRS);
    for (int i = 0; i < 2 * PAIRS; i++) {
        unsigned long long n = (unsigned)(i / 2) * 0x9E3779B97F4A7C15u;
        str text = str_printf(&ctx->arena, "boat %llx sailed from %llu to %llo", n, n, n);
        v[i] = fact(str_printf(&ctx->arena, "e%d", i).p, "", text.p);
        v[i].layer = LAYER_EPISODE;
        v[i].type = TYPE_EPISODIC;
        v[i].salience = 0.9;
        v[i].created = v[i].last_used = clock_ms() - 1000 + i;
    }
    struct bundle b = {.pool = pool, .memories = v, .n_memories = 2 * PAIRS};
    CHECK_OK(store_write(ctx, s, &b));
}

static enum status consolidate(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    struct settings settings = {0};
    struct engine *e;
    struct consolidate_report report;
    fields_defaults(settings_table, &settings);
    TRY(engine_open(ctx, s, &settings, &e));
    enum status status = engine_consolidate(ctx, e, pool, false, &report);
    engine_close(e);
    return status;
}

static int64_t episodes(struct ctx *ctx, struct store *s, struct pool_ref pool, bool with_closed)
{
    struct memory_filter f = {.pool = pool,
                              .layer = S("episode"),
                              .with_closed = with_closed,
                              .limit = 1};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    return total;
}

static bool is_consolidated(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    int64_t open = episodes(ctx, s, pool, false);
    CHECK_INT(episodes(ctx, s, pool, true), 2 * PAIRS);
    if (open != PAIRS)
        CHECK_INT(open, 2 * PAIRS);
    return open == PAIRS;
}

/* --- a conversation in place of another --- */

static enum status say_all(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *word)
{
    struct message *v = NEW_N(&ctx->arena, struct message, TURNS);
    for (int i = 0; i < TURNS; i++)
        v[i] = said(str_printf(&ctx->arena, "%s%d", word, i).p, "user",
                    str_printf(&ctx->arena, "%s was turn %d", word, i).p, 1000);
    struct bundle b = {.pool = pool,
                       .session = {.id = S("s1")},
                       .messages = v,
                       .n_messages = TURNS,
                       .replaces = true,
                       .distil_at = 1};
    return store_write(ctx, s, &b);
}

static void prepare_turns(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    CHECK_OK(say_all(ctx, s, pool, "former"));
}

static enum status replace_turns(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    return say_all(ctx, s, pool, "present");
}

static bool is_replaced(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    struct message *v;
    struct pending_signal *signals;
    size_t n, waiting;
    bool is_new = find(ctx, s, pool, "present").n > 0;
    CHECK_INT(find(ctx, s, pool, "present").n, is_new ? TURNS : 0);
    CHECK_INT(find(ctx, s, pool, "former").n, is_new ? 0 : TURNS);
    CHECK_OK(store_session_messages(ctx, s, pool, S("s1"), 0, 2 * TURNS, &v, &n));
    CHECK_INT(n, TURNS);
    CHECK_OK(store_signals(ctx, s, pool, S("s1"), 2 * TURNS, &signals, &waiting));
    CHECK_INT(waiting, TURNS);
    return is_new;
}

/* --- killing --- */

static void child(const struct place *p, const struct deed *deed, struct pool_ref pool, int pipe)
{
    struct ctx ctx = {0};
    struct store *s;
    if (store_open(&ctx, &(struct store_settings){.path = str_of(p->path)}, &s) != OK)
        _exit(2);
    if (write(pipe, "b", 1) != 1 || deed->run(&ctx, s, pool) != OK)
        _exit(3);
    store_close(s);
    _exit(0);
}

/* Kills it so many microseconds after it has begun, or lets it end (below 0); how long it took. */
static int64_t run_child(const struct place *p, const struct deed *deed, struct pool_ref pool,
                         int64_t kill_after_us)
{
    int ends[2], status;
    char begun;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child(p, deed, pool, ends[1]);
    close(ends[1]);
    CHECK(read(ends[0], &begun, 1) == 1);
    close(ends[0]);
    int64_t began = clock_mono_us();
    if (kill_after_us >= 0) {
        nanosleep(&(struct timespec){kill_after_us / 1000000, kill_after_us % 1000000 * 1000},
                  NULL);
        CHECK(kill(pid, SIGKILL) == 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) ? kill_after_us >= 0 : WEXITSTATUS(status) == 0);
    return clock_mono_us() - began;
}

static void kill_often(struct ctx *ctx, const struct deed *deed)
{
    PLACE(p);
    unsigned random = (unsigned)clock_mono_us();
    int64_t takes = 0;
    int done = 0;
    for (int round = 0; round <= ROUNDS; round++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct pool_ref pool = {mine.user, str_printf(&own.arena, "round%d", round)};
        ctx = &own;
        {
            STORE(s, p);
            deed->prepare(ctx, s, pool);
        }
        int64_t at = round ? takes * (rand_r(&random) % 1200) / 1000 : -1;
        int64_t took = run_child(&p, deed, pool, at);
        takes = round ? takes : took;
        STORE(s, p);
        bool is_done = deed->is_done(ctx, s, pool);
        CHECK(round || is_done);
        done += is_done;
        check_healthy(ctx, s);
    }
    printf("%d kills within %lld us: %d times it was done, else not begun\n", ROUNDS,
           (long long)takes, done - 1);
}

TEST(a_consolidation_that_is_killed_is_done_or_not_begun)
{
    kill_often(ctx, &(struct deed){prepare_pairs, consolidate, is_consolidated});
}

TEST(a_conversation_is_replaced_or_stands_when_who_replaces_it_is_killed)
{
    kill_often(ctx, &(struct deed){prepare_turns, replace_turns, is_replaced});
}
