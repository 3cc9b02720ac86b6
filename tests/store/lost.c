/* lost.c - a file that is deleted or replaced while it is open; and reads that find no reader. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/store.h"
#include "store/sql/state/reader.h"

static enum status add(struct ctx *ctx, struct store *s, const char *id)
{
    struct memory m = fact(id, "", "likes tea");
    return keep(ctx, s, mine, PUT_SUPERSEDE, &m);
}

static enum status ping(struct store *s)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    return store_ping(&own, s);
}

static void check_lost(struct ctx *ctx, struct store *s)
{
    struct memory m;
    struct token token;
    bool any = false;
    CHECK_INT(add(ctx, s, "after"), STORAGE);
    CHECK(holds(str_of(ctx->why), "was deleted or replaced while it was open; restart"));
    ctx_clear_failure(ctx);
    CHECK_INT(ping(s), STORAGE);
    CHECK_INT(store_memory(ctx, s, mine, S("before"), &m), STORAGE);
    ctx_clear_failure(ctx);
    /* Who may ask is decided as before. */
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(any);
    CHECK_OK(store_find_token(ctx, s, S("h"), &token));
}

static void begin(struct ctx *ctx, struct store *s)
{
    struct token token = {.id = S("t"), .hash = S("h"), .pool = mine};
    CHECK_OK(add(ctx, s, "before"));
    CHECK_OK(store_put_token(ctx, s, &token));
    CHECK_OK(store_ping(ctx, s));
}

TEST(a_deleted_file_takes_no_write)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        PLACE(p);
        STORE(s, p);
        begin(ctx, s);
        CHECK_INT(unlink(str_printf(&ctx->arena, "%s%s", p.path, ends[i]).p), 0);
        check_lost(ctx, s);
    }
}

TEST(a_replaced_file_takes_no_write_and_stays_as_it_is)
{
    PLACE(p);
    PLACE(other);
    struct memory m;
    {
        STORE(s, other);
        CHECK_OK(add(ctx, s, "theirs"));
    }
    {
        STORE(s, p);
        begin(ctx, s);
        CHECK_INT(rename(other.path, p.path), 0);
        check_lost(ctx, s);
    }
    STORE(s, p);
    CHECK_OK(store_memory(ctx, s, mine, S("theirs"), &m));
    CHECK_INT(store_memory(ctx, s, mine, S("before"), &m), NOT_FOUND);
    ctx_clear_failure(ctx);
    check_healthy(ctx, s);
}

/* With every reader lent, the next read would open the new file beside the old log, and closing it
 * again would bring that log into it. */
TEST(no_reader_opens_what_took_the_place)
{
    PLACE(p);
    PLACE(other);
    struct memory m;
    bool any;
    {
        STORE(s, other);
        CHECK_OK(add(ctx, s, "theirs"));
    }
    {
        STORE(s, p);
        begin(ctx, s);
        CHECK_INT(rename(other.path, p.path), 0);
        {
            READER_SCOPE(lent);
            CHECK_OK(reader_begin(ctx, s, &lent));
            CHECK_INT(store_has_tokens(ctx, s, &any), STORAGE);
            CHECK(holds(str_of(ctx->why), "was deleted or replaced while it was open; restart"));
            ctx_clear_failure(ctx);
        }
        check_lost(ctx, s);
    }
    STORE(s, p);
    CHECK_OK(store_memory(ctx, s, mine, S("theirs"), &m));
    CHECK_INT(store_memory(ctx, s, mine, S("before"), &m), NOT_FOUND);
    ctx_clear_failure(ctx);
    check_healthy(ctx, s);
}

/* A probe looks at once; without one, and without a write, the writer looks now and then. */
TEST(a_deleted_file_is_noticed_without_a_write_or_a_probe)
{
    PLACE(p);
    STORE(s, p);
    begin(ctx, s);
    struct memory m;
    CHECK_INT(unlink(p.path), 0);
    WAIT_FOR(store_memory(ctx, s, mine, S("before"), &m) == STORAGE);
    ctx_clear_failure(ctx);
}

TEST(a_file_that_comes_back_is_opened_by_a_restart_alone)
{
    PLACE(p);
    const char *aside = str_printf(&ctx->arena, "%s.aside", p.path).p;
    {
        STORE(s, p);
        begin(ctx, s);
        CHECK_INT(rename(p.path, aside), 0);
        check_lost(ctx, s);
        CHECK_INT(rename(aside, p.path), 0);
        check_lost(ctx, s);
    }
    STORE(s, p);
    CHECK_OK(add(ctx, s, "after"));
}

TEST(a_read_waits_for_a_reader_to_its_deadline)
{
    PLACE(p);
    struct store *s;
    bool any;
    struct store_settings settings = {.path = str_of(p.path), .readers = 1};
    CHECK_OK(store_open(ctx, &settings, &s));
    {
        READER_SCOPE(only);
        CHECK_OK(reader_begin(ctx, s, &only));
        int64_t before = clock_mono_us();
        CLEANUP(ctx_free) struct ctx hurried = ctx_child(ctx, 50);
        CHECK_INT(store_has_tokens(&hurried, s, &any), TIMED_OUT);
        int64_t took = clock_mono_us() - before;
        CHECK(took >= 45000 && took < 5000000);
    }
    CLEANUP(ctx_free) struct ctx patient = ctx_child(ctx, 10000);
    CHECK_OK(store_has_tokens(&patient, s, &any));
    store_close(s);
}

/* As many as the setting workers allows, with the threads beside them. */
TEST(there_is_a_reader_for_each_worker)
{
    enum { WORKERS = 256, BESIDE = 64 };
    PLACE(p);
    struct store *s;
    struct store_settings settings = {.path = str_of(p.path), .readers = WORKERS + BESIDE};
    struct reader all[WORKERS + BESIDE] = {0};
    CHECK_OK(store_open(ctx, &settings, &s));
    ctx->deadline_us = clock_mono_us() + 60000000;
    for (size_t i = 0; i < WORKERS + BESIDE; i++)
        CHECK_OK(reader_begin(ctx, s, &all[i]));
    for (size_t i = 0; i < WORKERS + BESIDE; i++)
        reader_end(&all[i]);
    store_close(s);
}
