/* disk_returns.c - a disk that failed and is well again is noticed without a write, also at start.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "disk.h"
#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

static enum status ping(struct store *s)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    return store_ping(&own, s);
}

static enum status add(struct ctx *ctx, struct store *s, const char *id)
{
    struct memory m = fact(id, "", "likes tea");
    return keep(ctx, s, mine, PUT_SUPERSEDE, &m);
}

static const enum disk_fault faults[] = {DISK_WRITE_FAILS, DISK_IS_FULL, DISK_SYNC_FAILS};

TEST(a_disk_that_is_well_again_is_noticed_without_a_write)
{
    disk_install();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        PLACE(p);
        STORE(s, p);
        CHECK_OK(add(ctx, s, "before"));
        disk_fail(faults[i], 0, true);
        CHECK_INT(add(ctx, s, "during"), STORAGE);
        ctx_clear_failure(ctx);
        CHECK_INT(store_ping(ctx, s), STORAGE);
        CHECK(holds(str_of(ctx->why), "the last write failed: "));
        ctx_clear_failure(ctx);
        CHECK(disk_mend());
        WAIT_FOR(ping(s) == OK);
        CHECK_OK(add(ctx, s, "after"));
        check_healthy(ctx, s);
    }
}

TEST(probes_of_a_failed_disk_are_few_and_no_writes)
{
    disk_install();
    PLACE(p);
    STORE(s, p);
    struct store_stats before, after;
    disk_fail(DISK_SYNC_FAILS, 0, true);
    CHECK_INT(add(ctx, s, "during"), STORAGE);
    ctx_clear_failure(ctx);
    CHECK_OK(store_stats(ctx, s, &before));
    int tries = disk_tries();
    sleep(5);
    CHECK(disk_tries() > tries && disk_tries() <= tries + 6);
    CHECK_OK(store_stats(ctx, s, &after));
    CHECK(before.failures == after.failures && before.writes == after.writes);
    disk_mend();
    WAIT_FOR(ping(s) == OK);
    tries = disk_tries();
    sleep(5);
    CHECK_INT(disk_tries(), tries); /* nothing is written when all is well */
    CHECK_OK(store_stats(ctx, s, &after));
    CHECK_INT(after.writes, before.writes);
}

TEST(a_store_that_may_wait_opens_when_the_disk_is_well)
{
    disk_install();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        PLACE(p);
        struct store *s;
        struct memory m;
        bool any = true;
        disk_fail(faults[i], 0, true);
        struct store_settings settings = {.path = str_of(p.path)};
        CHECK_INT(store_open(ctx, &settings, &s), STORAGE);
        CHECK(store_disk_failed(ctx, STORAGE));
        ctx_clear_failure(ctx);
        settings.may_wait = true;
        CHECK_OK(store_open(ctx, &settings, &s));
        CHECK_INT(store_ping(ctx, s), STORAGE);
        CHECK(holds(str_of(ctx->why), "the database is not open: "));
        ctx_clear_failure(ctx);
        CHECK_INT(add(ctx, s, "during"), STORAGE);
        ctx_clear_failure(ctx);
        CHECK_INT(store_memory(ctx, s, mine, S("during"), &m), STORAGE);
        ctx_clear_failure(ctx);
        disk_mend();
        WAIT_FOR(ping(s) == OK);
        CHECK_OK(store_has_tokens(ctx, s, &any));
        CHECK(!any);
        CHECK_OK(add(ctx, s, "after"));
        CHECK_OK(store_memory(ctx, s, mine, S("after"), &m));
        check_healthy(ctx, s);
        store_close(s);
    }
}

/* What is there is read while nothing can be written, so that tokens go on being asked for. */
TEST(a_store_that_waits_is_read)
{
    disk_install();
    PLACE(p);
    struct store *s;
    struct memory m;
    bool any = false;
    struct token token = {.id = S("t"), .hash = S("h"), .pool = mine};
    {
        STORE(first, p);
        CHECK_OK(add(ctx, first, "before"));
        CHECK_OK(store_put_token(ctx, first, &token));
    }
    struct store_settings settings = {.path = str_of(p.path), .may_wait = true};
    disk_fail(DISK_LOCKED_OPEN, 0, true);
    CHECK_OK(store_open(ctx, &settings, &s));
    CHECK_INT(store_ping(ctx, s), STORAGE);
    ctx_clear_failure(ctx);
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(any);
    CHECK_OK(store_find_token(ctx, s, S("h"), &token));
    CHECK_OK(store_memory(ctx, s, mine, S("before"), &m));
    CHECK_INT(find(ctx, s, mine, "tea").n, 1);
    disk_mend();
    WAIT_FOR(ping(s) == OK);
    CHECK_OK(store_memory(ctx, s, mine, S("before"), &m));
    CHECK_OK(add(ctx, s, "after"));
    store_close(s);
}

/* Another program's file is not waited for. */
TEST(a_foreign_file_is_no_failing_disk)
{
    PLACE(p);
    struct store *s;
    FILE *f = fopen(p.path, "w");
    fputs("this is a text and no database at all", f);
    fclose(f);
    struct store_settings settings = {.path = str_of(p.path), .may_wait = true};
    CHECK_INT(store_open(ctx, &settings, &s), STORAGE);
    CHECK(holds(str_of(ctx->why), "is not a rememberd database"));
}

/* The row that says what is to be erased. */
static bool is_under_way(const struct place *p)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    static const char text[] = "SELECT 1 FROM fact WHERE name LIKE 'forget:%'";
    CHECK_INT(sqlite3_open(p->path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    bool is_there = sqlite3_step(stmt) == SQLITE_ROW;
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return is_there;
}

/* Half of the texts wait for a vector, the others have one. */
static void embed_half(struct ctx *ctx, struct store *s)
{
    static const struct vector_set set = {S("m"), 4, false, 0};
    static const float v[4] = {1};
    struct unembedded *u;
    size_t n;
    CHECK_OK(store_begin_vectors(ctx, s, &set, false));
    CHECK_OK(store_unembedded(ctx, s, NULL, 200, &u, &n));
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++)
        put[i] = (struct vector_put){.no = u[i].no, .doc = u[i].doc, .v = v};
    CHECK_OK(store_put_vectors(ctx, s, set.signature, put, n));
}

/* Much of one user with vectors, of which the disk lets a part be erased. */
static void erase_half(struct ctx *ctx, struct store *s, const struct place *p)
{
    enum { N = 800 };
    int64_t n;
    str findings;
    for (int i = 0; i < N / 20; i++) {
        struct message m[20];
        for (int j = 0; j < 20; j++)
            m[j] = said(str_printf(&ctx->arena, "%d-%d", i, j).p, "user",
                        str_printf(&ctx->arena, "turn %d of many, %d", j, i).p, 1000);
        CHECK_OK(store_write(ctx, s,
                             &(struct bundle){.pool = mine,
                                              .session = {.id = id_random(&ctx->arena)},
                                              .messages = m,
                                              .n_messages = 20,
                                              .distil_at = 1}));
    }
    embed_half(ctx, s);
    disk_fail(DISK_IS_FULL, 300, true);
    CHECK_INT(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &n),
              STORAGE);
    CHECK(holds(str_of(ctx->why), "partly done; ask again"));
    ctx_clear_failure(ctx);
    CHECK(disk_mend());
    CHECK(is_under_way(p));
    WAIT_FOR(ping(s) == OK);
    size_t left = find(ctx, s, mine, "many").n;
    CHECK(left > 0 && left < N);
    CHECK_STATUS(store_check(ctx, s, &findings), TOO_BUSY);
    CHECK(holds(str_of(ctx->why), "an erasure is not complete"));
    CHECK(!findings.n);
    ctx_clear_failure(ctx);
}

/* A large erasure that meets a full disk fails and leaves a sound store. It is not taken up again
 * when something came since, which must stay. */
TEST(an_erasure_that_is_broken_off_says_so_and_takes_nothing_that_came_since)
{
    disk_install();
    PLACE(p);
    int64_t n, removed;
    struct memory m;
    {
        STORE(s, p);
        erase_half(ctx, s, &p);
        CHECK_OK(add(ctx, s, "after"));
        CHECK_OK(store_prune(ctx, s, 0, 0, &removed));
        CHECK(!is_under_way(&p));
        check_healthy(ctx, s);
    }
    STORE(s, p);
    CHECK_OK(store_memory(ctx, s, mine, S("after"), &m));
    CHECK(find(ctx, s, mine, "many").n > 0);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &n));
    CHECK_INT(find(ctx, s, mine, "many").n, 0);
    check_healthy(ctx, s);
}

/* By the same process or by the next one; asking again leaves nothing to do. */
TEST(an_erasure_that_is_broken_off_is_finished_when_nothing_came_since)
{
    for (int i = 0; i < 3; i++) {
        disk_install();
        PLACE(p);
        int64_t removed = 0;
        {
            STORE(s, p);
            erase_half(ctx, s, &p);
            if (i == 0)
                CHECK_OK(store_prune(ctx, s, 0, 0, &removed));
            if (i == 1)
                CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true},
                                      &removed));
        }
        if (i == 2) { /* there is no room yet, and it is opened none the less */
            disk_fail(DISK_IS_FULL, 30, true);
            STORE(s, p);
            CHECK(find(ctx, s, mine, "many").n > 0);
            CHECK(disk_mend());
        }
        STORE(s, p);
        if (i == 1)
            CHECK_OK(add(ctx, s, "after"));
        CHECK_OK(store_prune(ctx, s, 0, 0, &removed));
        CHECK(!is_under_way(&p));
        CHECK_INT(find(ctx, s, mine, "many").n, 0);
        CHECK_INT(find(ctx, s, mine, "tea").n, i == 1);
        check_healthy(ctx, s);
    }
}

/* A flush that came later, when the disk had room again. */
TEST(a_flush_says_that_what_nobody_waited_for_met_a_full_disk)
{
    disk_install();
    PLACE(p);
    STORE(s, p);
    struct store_stats stats = {0};
    struct memory m = fact("during", "", "likes tea");
    struct bundle b = {.pool = mine, .memories = &m, .n_memories = 1};
    CHECK_OK(add(ctx, s, "before"));
    disk_fail(DISK_IS_FULL, 0, true);
    CHECK_OK(store_write_later(ctx, s, &b));
    WAIT_FOR(store_stats(ctx, s, &stats) == OK && stats.failures);
    CHECK(disk_mend());
    WAIT_FOR(ping(s) == OK);
    CHECK_STATUS(store_flush(ctx, s), STORAGE);
    CHECK_INT(ctx->detail, STORAGE_FULL);
    ctx_clear_failure(ctx);
    CHECK_OK(store_flush(ctx, s));
    check_healthy(ctx, s);
}
