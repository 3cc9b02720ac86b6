/* base.c - the small bricks: text, arenas, ids, times, the pool of threads. */
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/id.h"
#include "base/time_text.h"
#include "base/workers.h"
#include "t.h"

TEST(numbers_are_whole_or_nothing)
{
    int64_t i;
    double d;
    CHECK(str_int(S("-42"), &i) && i == -42);
    CHECK(!str_int(S(""), &i) && !str_int(S("4x"), &i) && !str_int(S("-"), &i) &&
          !str_int(S("99999999999999999999"), &i));
    CHECK(str_num(S("1e3"), &d) && d == 1000);
    CHECK(!str_num(S("nan"), &d) && !str_num(S("0x10"), &d) && !str_num(S("1e999"), &d));
}

TEST(cutting_takes_what_stands_before)
{
    str rest = S("a:b");
    CHECK_STR(str_cut(&rest, ':'), S("a"));
    CHECK_STR(str_cut(&rest, ':'), S("b"));
    CHECK_INT(rest.n, 0);
    CHECK_STR(str_trim(S(" \t x \n")), S("x"));
    CHECK_INT(str_find(S("hello"), S("lo")), 3);
}

TEST(a_full_buffer_says_so_and_keeps_what_it_has)
{
    struct buf b = buf_make(&ctx->arena, 4);
    buf_add(&b, S("abc"));
    buf_add(&b, S("de"));
    buf_add(&b, S("f"));
    CHECK(b.full);
    CHECK_STR(buf_str(&b), S("abc"));
}

/* In pieces of any length: what was cleared meanwhile keeps more, and the second time as little. */
TEST(of_base64_a_buffer_keeps_the_first_bytes)
{
    char image[3000];
    memset(image, 'A', sizeof image);
    str text =
        str_printf(&ctx->arena, "{\"a\":\"\\n%.*s\",\"b\":\"%.*s\"}", 3000, image, 900, image);
    str want = str_printf(&ctx->arena, "{\"a\":\"\\nAAAAAAA\",\"b\":\"%.*s\"}", 900, image);
    for (size_t step = 1; step < 2000; step = step * 3 + 1) {
        struct buf whole = buf_make(&ctx->arena, 9000), piece = whole, sum = whole, again = whole;
        size_t runs[3] = {0};
        for (size_t i = 0; i < text.n; i += step) {
            str bytes = str_sub(text, i, i + step < text.n ? i + step : text.n);
            buf_add_words(&whole, &runs[0], bytes);
            buf_clear(&piece);
            buf_add_words(&piece, &runs[1], bytes);
            buf_add(&sum, buf_str(&piece));
        }
        buf_add_words(&again, &runs[2], buf_str(&sum));
        CHECK_STR(buf_str(&whole), want);
        CHECK_STR(buf_str(&again), want);
    }
}

TEST(arenas_give_zeroed_aligned_memory)
{
    for (size_t n = 1; n < 100000; n = n * 3 + 1) {
        char *p = arena_alloc(&ctx->arena, n);
        CHECK((uintptr_t)p % 16 == 0);
        for (size_t i = 0; i < n; i++)
            CHECK(p[i] == 0);
        memset(p, 0xFF, n);
    }
    arena_reset(&ctx->arena);
    CHECK(*(char *)arena_alloc(&ctx->arena, 64) == 0);
}

TEST(ids_follow_from_content_or_from_nothing)
{
    str parts[] = {S("ab"), S("c")}, other[] = {S("a"), S("bc")};
    CHECK(id_is_uuid(id_random(&ctx->arena)));
    CHECK_STR(id_of(&ctx->arena, parts, 2), id_of(&ctx->arena, parts, 2));
    CHECK(!str_eq(id_of(&ctx->arena, parts, 2), id_of(&ctx->arena, other, 2)));
    CHECK(hash64(parts, 2) != hash64(other, 2));
    CHECK_STR(sha256_hex(&ctx->arena, S("hello")),
              S("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"));
    CHECK(!id_is_uuid(S("2cf24dba-5fb0-a30e-26e8-3b2ac5b9e29")));
}

TEST(a_child_has_its_parents_id_cancellation_and_the_earlier_deadline)
{
    atomic_bool is_cut = false;
    struct ctx parent = {.id = "job-7", .is_cut = &is_cut};
    struct ctx child = ctx_child(&parent, 0);
    CHECK_STR(str_of(child.id), S("job-7"));
    CHECK(!child.deadline_us && child.is_cut == &is_cut);
    int64_t now = clock_mono_us();
    child = ctx_child(&parent, 1000);
    CHECK(child.deadline_us >= now + 1000000 && child.deadline_us < now + 2000000);
    parent.deadline_us = now + 500000;
    CHECK_INT(ctx_child(&parent, 1000).deadline_us, now + 500000);
    CHECK_INT(ctx_child(&parent, 0).deadline_us, now + 500000);
    CHECK(ctx_child(&parent, 100).deadline_us < now + 500000);
    int64_t half = ctx_half_ms(&parent);
    CHECK(half > 1 && half <= 250);
    parent.deadline_us = now - 1000000;
    CHECK_INT(ctx_half_ms(&parent), 1);
    child = ctx_child(&parent, ctx_half_ms(&parent));
    CHECK(!ctx_has_time(&child));
    child = ctx_detached(&parent);
    is_cut = true;
    CHECK_STR(str_of(child.id), S("job-7"));
    CHECK(ctx_has_time(&child) && !ctx_is_cut(&child) && ctx_is_cut(&parent));
    CHECK_INT(ctx_half_ms(&child), 0);
}

TEST(work_gives_way_for_a_time_or_until_it_is_cut)
{
    atomic_int first = 0;
    atomic_bool is_cut = false;
    int64_t began = clock_mono_us();
    struct ctx work = {.first = &first, .yields_until_us = began + 3600000000, .is_cut = &is_cut};
    ctx_give_way(&work); /* nobody goes first */
    first = 2;
    is_cut = true;
    ctx_give_way(&work);
    is_cut = false;
    work.yields_until_us = clock_mono_us() + 20000;
    ctx_give_way(&work);
    CHECK(clock_mono_us() >= work.yields_until_us);
    CHECK(clock_mono_us() - began < 3600000000);
    CHECK(!ctx_child(&work, 0).first); /* what is done for it may be waited for by others */
}

TEST(a_soft_failure_is_cleared_and_only_the_expected_one)
{
    CHECK(soft(ctx, OK));
    CHECK(!soft(ctx, fail(ctx, NOT_FOUND, "gone")));
    CHECK(ctx->failed == OK && !ctx->why[0]);
    CHECK(!soft_if(ctx, fail(ctx, STORAGE, "the disk is full"), NOT_FOUND));
    CHECK(ctx->failed == STORAGE);
    CHECK_STR(ctx_take_why(ctx), S("the disk is full"));
    CHECK(ctx->failed == OK);
    CHECK(soft_if(ctx, fail(ctx, NOT_FOUND, "gone"), NOT_FOUND));
    CHECK_STR(ctx_take_why(ctx), S(""));
}

TEST(times_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"1970-01-02", 86400000},
        {"2023-05-08T13:56:00Z", 1683554160000},
        {"2026-11-20 05:39:00.5+01:30", 1795147740500},
        {"1970-01-01T02:00:00+02:00", 1}, /* 0 means no time */
        {"0000-01-01", -62167219200000},
        {"9999-12-31T23:59:59.999Z", 253402300799999},
    };
    int64_t ms;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(time_read(str_of(good[i].text), &ms));
        CHECK_INT(ms, good[i].ms);
    }
    static const char *const bad[] = {"",
                                      "2023-02-30",
                                      "2023-13-01",
                                      "tomorrow",
                                      "2023-05-08T25:00",
                                      "1:56 pm on 8 May, 2023",
                                      "0000-01-01T00:00:00+00:01",
                                      "9999-12-31T23:59:59-14:00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!time_read(str_of(bad[i]), &ms));
    CHECK(!time_read(S("2023-05-08T13:56:00\0"), &ms));
}

TEST(times_before_1970_are_written_as_the_second_they_are_in)
{
    static const char format[] = "%Y-%m-%dT%H:%M:%SZ";
    char text[TIME_ISO_ROOM];
    CHECK_STR(time_utc(&ctx->arena, -1, format), S("1969-12-31T23:59:59Z"));
    CHECK_STR(time_utc(&ctx->arena, -1000, format), S("1969-12-31T23:59:59Z"));
    CHECK_STR(time_utc(&ctx->arena, 951825600000, format), S("2000-02-29T12:00:00Z"));
    time_iso(-1, text);
    CHECK_STR(str_of(text), S("1969-12-31T23:59:59.999Z"));
    time_iso(-62135596800000, text);
    CHECK_STR(str_of(text), S("0001-01-01T00:00:00.000Z"));
    time_iso(253402300800000, text);
    CHECK_STR(str_of(text), S(""));
    time_iso(INT64_MIN, text);
    CHECK_STR(str_of(text), S(""));
}

/* New York's rules of 2026, written out: the clocks change on 8 March and on 1 November. */
TEST(days_are_those_of_the_time_zone)
{
    static const struct {
        const char *day, *start, *last;
    } days[] = {
        {"2026-01-15", "2026-01-15T05:00:00Z", "2026-01-16T04:59:59Z"},
        {"2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z"},
        {"2026-07-01", "2026-07-01T04:00:00Z", "2026-07-02T03:59:59Z"},
        {"2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59Z"},
        {"1969-12-31", "1969-12-31T05:00:00Z", "1970-01-01T04:59:59Z"},
    };
    int64_t start, at, last;
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    tzset();
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        CHECK(time_read(str_of(days[i].start), &start) && time_read(str_of(days[i].last), &last));
        CHECK(time_read(str_of(days[i].day), &at));
        CHECK_INT(at, start);
        CHECK_STR(time_write(&ctx->arena, start, "%Y-%m-%d"), str_of(days[i].day));
        CHECK_STR(time_write(&ctx->arena, last, "%Y-%m-%d"), str_of(days[i].day));
        CHECK_INT(time_of_local(time_local(last)), last);
    }
    CHECK_STR(time_write(&ctx->arena, 0, "%Y-%m-%d"), S(""));
    setenv("TZ", "UTC", 1);
    tzset();
}

static void count(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

TEST(a_pool_runs_everything_it_took)
{
    atomic_int ran = 0;
    int taken = 0;
    struct pool *p = pool_new(3, 8);
    for (int i = 0; i < 1000; i++)
        taken += pool_run(p, count, &ran) == OK;
    pool_free(p);
    CHECK(taken >= 8);
    CHECK_INT(ran, taken);
}

TEST(folders_above_a_file_are_made_for_the_owner_only)
{
    char folder[] = "/tmp/base.XXXXXX";
    struct stat st;
    CHECK(mkdtemp(folder) != NULL);
    mode_t was = umask(0);
    str file = str_printf(&ctx->arena, "%s/a/b//c", folder);
    CHECK(!folders_make(&ctx->arena, file) && !folders_make(&ctx->arena, file));
    umask(was);
    CHECK(stat(file.p, &st) != 0);
    for (int i = 0; i < 2; i++) {
        str made = str_sub(file, 0, file.n - (i ? strlen("/b//c") : strlen("//c")));
        CHECK(stat(str_c(&ctx->arena, made), &st) == 0 && (st.st_mode & 0777) == 0700);
    }
    const char *missing = folders_make(&ctx->arena, S("/proc/self/x/y"));
    CHECK_STR(str_of(missing), S("/proc/self/x"));
}
