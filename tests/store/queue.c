/* queue.c - the writer's queue: groups, bounds, and a failure that stays one's own. */
#include <pthread.h>

#include "lib/store.h"
#include "store/store.h"

/* Holds the file's write lock as another process would. */
static struct beside *hold(struct ctx *ctx, const struct place *p)
{
    struct beside *b = beside_open(ctx, p);
    beside_do(ctx, b,
              is_on_postgres() ? "BEGIN; LOCK TABLE pool IN EXCLUSIVE MODE" : "BEGIN IMMEDIATE");
    return b;
}

static void let_go(struct ctx *ctx, struct beside *b)
{
    beside_do(ctx, b, "COMMIT");
    beside_close(b);
}

static str spaces(struct ctx *ctx, size_t n)
{
    return (str){memset(arena_alloc(&ctx->arena, n), ' ', n), n};
}

static enum status say_later(struct ctx *ctx, struct store *s, str id, str text)
{
    struct message m = {.id = id, .text = text};
    struct bundle b = {.pool = mine, .session = {.id = S("s1")}, .messages = &m, .n_messages = 1};
    return store_write_later(ctx, s, &b);
}

TEST(what_is_written_later_is_there_after_a_flush)
{
    PLACE(p);
    STORE(s, p);
    char text[] = "Ithaca one";
    str tags[] = {S("t")};
    struct message m = said("m1", "user", text, 1000);
    struct memory f = fact("f1", "k", "Ithaca two");
    struct receipt_line line = {.kind = S("message"), .id = S("m1"), .why = S("because")};
    struct receipt r = {.id = S("r1"), .lines = &line, .n = 1}, back;
    f.tags = (struct strs){tags, 1};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = &m,
                       .n_messages = 1,
                       .memories = &f,
                       .n_memories = 1,
                       .receipt = &r};
    CHECK_OK(store_write_later(ctx, s, &b));
    memset(text, 'x', sizeof text - 1);
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 2);
    CHECK_OK(store_receipt(ctx, s, mine, S("r1"), &back));
    CHECK_STR(back.lines[0].why, S("because"));
    check_healthy(ctx, s);
}

TEST(what_is_queued_is_waited_for_by_its_pool_by_every_space_and_by_everyone)
{
    PLACE(p);
    STORE(s, p);
    struct pool_ref of[] = {mine, {mine.user, S("")}, {S(""), S("")}},
                    elsewhere = {mine.user, S("elsewhere")};
    str ids[] = {S("m1"), S("m2"), S("m3")}, texts[] = {S("Pylos one"), S("Pylos two"), S("Pylos")};
    for (int i = 0; i < 3; i++) {
        struct beside *other = hold(ctx, &p);
        CHECK_OK(say_later(ctx, s, ids[i], texts[i]));
        CHECK_INT(store_settle_pool(ctx, s, of[i], 20), TIMED_OUT);
        CHECK_OK(store_settle_pool(ctx, s, elsewhere, 20));
        let_go(ctx, other);
        CHECK_OK(store_settle_pool(ctx, s, of[i], 10000));
        CHECK_INT(find(ctx, s, mine, "pylos").n, i + 1);
    }
    CHECK_INT(store_settle_pool(ctx, s, (struct pool_ref){S(""), S("s")}, 0), BAD_INPUT);
}

TEST(closing_writes_what_is_queued)
{
    PLACE(p);
    {
        STORE(s, p);
        for (int i = 0; i < 100; i++)
            CHECK_OK(say_later(ctx, s, str_printf(&ctx->arena, "m%d", i), S("Ithaca")));
    }
    STORE(s, p);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 100);
}

TEST(a_full_queue_says_so_and_loses_nothing)
{
    PLACE(p);
    STORE(s, p);
    CHECK_OK(say_later(ctx, s, S("first"), S("Ithaca")));
    CHECK_OK(store_flush(ctx, s));
    struct beside *lock = hold(ctx, &p);
    size_t taken = 0;
    enum status status = OK;
    while (taken < 100000) {
        status = say_later(ctx, s, str_printf(&ctx->arena, "m%zu", taken), S("Ithaca"));
        if (status != OK)
            break;
        taken++;
    }
    CHECK_STATUS(status, TOO_BUSY);
    ctx_clear_failure(ctx);
    CHECK(taken >= 1000);
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.queued, taken);
    let_go(ctx, lock);
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.queued, 0);
    CHECK_INT(stats.messages, taken + 1);
    CHECK(stats.commits < 10);
    check_healthy(ctx, s);
}

TEST(a_full_queue_counts_bytes_too)
{
    PLACE(p);
    STORE(s, p);
    CHECK_OK(store_flush(ctx, s));
    struct beside *lock = hold(ctx, &p);
    str large = spaces(ctx, 9 << 20);
    size_t taken = 0;
    while (taken < 20 && say_later(ctx, s, str_printf(&ctx->arena, "m%zu", taken), large) == OK)
        taken++;
    CHECK_INT(ctx->failed, TOO_BUSY);
    CHECK(taken >= 4 && taken < 20);
    ctx_clear_failure(ctx);
    let_go(ctx, lock);
    CHECK_OK(store_flush(ctx, s));
}

/* The words of a group stand in memory together, whatever waits. */
TEST(a_long_queue_is_written_in_groups)
{
    enum { BUNDLES = 20 };
    PLACE(p);
    STORE(s, p);
    CHECK_OK(store_flush(ctx, s));
    struct store_stats before, after;
    CHECK_OK(store_stats(ctx, s, &before));
    struct beside *lock = hold(ctx, &p);
    str large = spaces(ctx, 1 << 20);
    for (int i = 0; i < BUNDLES; i++)
        CHECK_OK(say_later(ctx, s, str_printf(&ctx->arena, "m%d", i), large));
    let_go(ctx, lock);
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(store_stats(ctx, s, &after));
    CHECK(after.commits - before.commits >= BUNDLES / 4);
    CHECK_INT(after.messages, BUNDLES);
}

TEST(many_threads_write_and_read)
{
    PLACE(p);
    struct store *s;
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p.path), .readers = 3}, &s));
    check_many_threads(ctx, s);
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.writes, 400);
    CHECK(stats.commits <= stats.writes);
    check_healthy(ctx, s);
    store_close(s);
}

TEST(one_bundle_fails_alone)
{
    PLACE(p);
    STORE(s, p);
    CHECK_OK(store_flush(ctx, s));
    struct beside *lock = hold(ctx, &p);
    struct memory a = fact("f1", "k", "Ithaca"), broken = fact("f2", "k", "Troy");
    struct message m = said("m2", "user", "Troy", 1);
    a.metadata = S("{\"a\":1}");
    broken.metadata = S("{broken");
    struct bundle good = {.pool = mine, .memories = &a, .n_memories = 1},
                  bad = {.pool = mine,
                         .session = {.id = S("s1")},
                         .messages = &m,
                         .n_messages = 1,
                         .memories = &broken,
                         .n_memories = 1,
                         .rule = PUT_REPLACE};
    CHECK_OK(store_write_later(ctx, s, &good));
    CHECK_OK(store_write_later(ctx, s, &bad));
    CHECK_OK(say_later(ctx, s, S("m3"), S("Ithaca")));
    let_go(ctx, lock);
    CHECK_STATUS(store_flush(ctx, s), BAD_INPUT);
    CHECK(ctx->why[0]);
    ctx_clear_failure(ctx);
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 2);
    CHECK_INT(find(ctx, s, mine, "troy").n, 0);
    CHECK_INT(find(ctx, s, mine, "troy").messages, 1);
    check_healthy(ctx, s);
    CHECK_STATUS(store_write(ctx, s, &bad), BAD_INPUT);
}

struct forgetter {
    struct store *s;
    enum status result;
};

static void *forget_what_is_not_there(void *arg)
{
    struct forgetter *f = arg;
    struct ctx ctx = {0};
    int64_t n;
    f->result = store_forget(&ctx, f->s, &(struct forget){.pool = mine, .id = S("none")}, &n);
    ctx_free(&ctx);
    return NULL;
}

/* All three wait for the lock; the first is a group of its own, for it is over a group's size. */
TEST(a_task_that_fails_takes_nobody_elses_words_with_it)
{
    PLACE(p);
    STORE(s, p);
    enum { LONG = 5 << 20 };
    pthread_t thread;
    struct forgetter f = {s, OK};
    struct store_stats stats = {0};
    char *text = arena_alloc(&ctx->arena, LONG);
    memset(text, 'x', LONG);
    struct beside *handle = hold(ctx, &p);
    CHECK_OK(say_later(ctx, s, S("m1"), (str){text, LONG}));
    CHECK_OK(say_later(ctx, s, S("m2"), S("Ithaca")));
    CHECK_INT(pthread_create(&thread, NULL, forget_what_is_not_there, &f), 0);
    while (stats.queued < 3)
        CHECK_OK(store_stats(ctx, s, &stats));
    let_go(ctx, handle);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_STATUS(f.result, NOT_FOUND);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    check_healthy(ctx, s);
}
