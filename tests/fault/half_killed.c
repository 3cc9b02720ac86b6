/* half_killed.c - who consolidates or replaces a conversation is killed; it is done or not begun.
 */
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/store.h"
#include "store/store.h"
#include "words/words.h"

enum { ROUNDS = 40 / FAULT_STEP, ROUNDS_IN_PIECES = 15, PAIRS = 100, TURNS = 300 };

/* What is done over and over: to a space that is made ready for it. */
struct deed {
    void (*prepare)(struct ctx *ctx, struct store *s, struct pool_ref pool);
    enum status (*run)(struct ctx *ctx, struct store *s, struct pool_ref pool);
    /* Whether it was done; fails when it was half done. */
    bool (*is_done)(struct ctx *ctx, struct store *s, struct pool_ref pool);
    bool in_pieces; /* what was begun is finished by the next start */
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
    settings_defaults(&settings);
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

/* --- much is erased, in several transactions --- */

enum { MUCH = 1200 }; /* so that the words index is rewritten as well */

/* In turn messages of one session, of many, and memories; "ferry" is in each. */
static void prepare_much(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    for (int i = 0; i < MUCH / 100; i++) {
        struct message *m = NEW_N(&ctx->arena, struct message, 100);
        struct memory *f = NEW_N(&ctx->arena, struct memory, 100);
        for (int j = 0; j < 100; j++) {
            str id = str_printf(&ctx->arena, "%d-%d", i, j);
            str text = str_printf(&ctx->arena, "The ferry %d leaves at %d.", i, j);
            m[j] = said(id.p, "user", text.p, 1000);
            f[j] = fact(str_printf(&ctx->arena, "f" S_FMT, S_ARG(id)).p, "", text.p);
        }
        struct bundle b = {.pool = pool,
                           .session = {.id = i % 2 ? S("long") : id_random(&ctx->arena)},
                           .messages = m,
                           .n_messages = 100,
                           .memories = f,
                           .n_memories = 100};
        CHECK_OK(store_write(ctx, s, &b));
    }
}

static size_t ferries(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    struct word_hits hits;
    str stem = words_of(&ctx->arena, S("ferry"), 1).v[0].stem;
    CHECK_OK(store_search_words(ctx, s, pool, &stem, 1, false, 4 * MUCH, &hits));
    return hits.n;
}

static int64_t messages_of(struct ctx *ctx, struct store *s, struct pool_ref pool, str session)
{
    struct message *v;
    size_t n;
    CHECK_OK(store_session_messages(ctx, s, pool, session, 0, 4 * MUCH, &v, &n));
    return (int64_t)n;
}

/* The pool of the same user that must stay. */
static struct pool_ref beside(struct pool_ref pool)
{
    return (struct pool_ref){pool.user, S("beside")};
}

static void prepare_beside(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    if (!ferries(ctx, s, beside(pool)))
        prepare_much(ctx, s, beside(pool));
    prepare_much(ctx, s, pool);
}

static bool is_erased(struct ctx *ctx, struct store *s, struct pool_ref pool, size_t left)
{
    size_t n = ferries(ctx, s, pool);
    CHECK_INT(ferries(ctx, s, beside(pool)), 2 * MUCH);
    if (n != left)
        CHECK_INT(n, 2 * MUCH);
    return n == left;
}

static enum status forget_pool(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    int64_t erased;
    return store_forget(ctx, s, &(struct forget){.pool = pool, .everything = true}, &erased);
}

static bool is_pool_erased(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    bool is_done = is_erased(ctx, s, pool, 0);
    CHECK_INT(messages_of(ctx, s, pool, S("long")), is_done ? 0 : MUCH / 2);
    return is_done;
}

static enum status forget_long_session(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    int64_t erased;
    return store_forget(ctx, s, &(struct forget){.pool = pool, .id = S("long")}, &erased);
}

/* With the memories of the session. */
static bool is_long_erased(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    bool is_done = is_erased(ctx, s, pool, 3 * MUCH / 2);
    CHECK_INT(messages_of(ctx, s, pool, S("long")), is_done ? 0 : MUCH / 2);
    return is_done;
}

static enum status forget_all_memories(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    int64_t erased;
    return store_forget(ctx, s, &(struct forget){.pool = pool, .memories = true}, &erased);
}

static bool are_memories_erased(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    return is_erased(ctx, s, pool, MUCH);
}

/* Whether it was in the middle: the row that says what is to be erased is there. The log stays:
 * only the store may say that a checkpoint which was cut short has been finished. */
static bool is_under_way(const struct place *p)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    static const char text[] = "SELECT 1 FROM fact WHERE name LIKE 'forget:%'";
    CHECK_INT(sqlite3_open(p->path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 1000);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    CHECK_INT(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    bool is_there = sqlite3_step(stmt) == SQLITE_ROW;
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return is_there;
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

/* Waits until the child has begun to erase, or has ended. */
static void wait_under_way(const struct place *p, pid_t pid)
{
    siginfo_t end = {0};
    while (!is_under_way(p) && end.si_pid == 0) {
        CHECK(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
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
    if (deed->in_pieces)
        wait_under_way(p, pid);
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
    int done = 0, under_way = 0, rounds = deed->in_pieces ? ROUNDS_IN_PIECES : ROUNDS;
    for (int round = 0; round <= rounds; round++) {
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
        bool was_under_way = is_under_way(&p);
        under_way += was_under_way;
        if (round && deed->in_pieces && !was_under_way)
            takes -= takes / 4; /* it was killed too late: the first one was slower */
        STORE(s, p);
        bool is_done = deed->is_done(ctx, s, pool);
        CHECK((round && !was_under_way) || is_done);
        done += is_done;
        check_healthy(ctx, s);
    }
    printf("%d kills within %lld us: %d times it was done (%d by the next start), else not begun\n",
           rounds, (long long)takes, done - 1, under_way);
    CHECK(!deed->in_pieces || under_way > rounds / 5);
}

TEST(a_consolidation_that_is_killed_is_done_or_not_begun)
{
    kill_often(ctx, &(struct deed){prepare_pairs, consolidate, is_consolidated});
}

TEST(a_conversation_is_replaced_or_stands_when_who_replaces_it_is_killed)
{
    kill_often(ctx, &(struct deed){prepare_turns, replace_turns, is_replaced});
}

TEST(what_is_erased_of_a_space_is_finished_by_the_next_start)
{
    kill_often(ctx, &(struct deed){prepare_beside, forget_pool, is_pool_erased, true});
}

TEST(what_is_erased_of_a_long_session_is_finished_by_the_next_start)
{
    kill_often(ctx, &(struct deed){prepare_beside, forget_long_session, is_long_erased, true});
}

TEST(what_is_erased_of_many_memories_is_finished_by_the_next_start)
{
    kill_often(ctx, &(struct deed){prepare_beside, forget_all_memories, are_memories_erased, true});
}
