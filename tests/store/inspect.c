/* inspect.c - lists of receipts, what was learnt, what was true once, and counts by the day. */
#include "lib/clock.h"
#include "lib/store.h"

/* A receipt that gave some of its lines to a model: m1 is a message, f1 a memory. */
static void recall(struct ctx *ctx, struct store *s, const char *id, const char *session,
                   int64_t created, const char *decision, bool gives)
{
    struct receipt_line lines[] = {
        {.kind = S("memory"), .id = S("f1"), .injected = gives},
        {.kind = S("message"), .id = S("m1"), .source = S("")},
    };
    struct receipt r = {.id = str_of(id),
                        .session = str_of(session),
                        .created = created,
                        .decision = str_of(decision),
                        .tokens = gives ? 10 : 0,
                        .took_us = 1000,
                        .lines = lines,
                        .n = 2};
    struct bundle b = {.pool = mine, .receipt = &r};
    CHECK_OK(store_write(ctx, s, &b));
}

static void said_and_known(struct ctx *ctx, struct store *s)
{
    struct message m = said("m1", "user", "my dog is Rex", 1);
    struct memory f = fact("f1", "", "has a dog");
    f.source = S("m1");
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
}

/* The ids of a page, each with a blank behind it. */
static str ids(struct ctx *ctx, struct store *s, struct receipt_filter f, int64_t want)
{
    struct receipt *v;
    size_t n;
    int64_t total;
    struct buf b = buf_make(&ctx->arena, 10000);
    f.limit = f.limit ? f.limit : 10;
    if (!f.pool.user.n)
        f.pool = mine;
    CHECK_OK(store_receipts(ctx, s, &f, &v, &n, &total));
    CHECK_INT(total, want);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, S_FMT " ", S_ARG(v[i].id));
    return buf_str(&b);
}

TEST(receipts_are_listed_newest_first_and_by_what_they_are_of)
{
    PLACE(p);
    STORE(s, p);
    doc_id memory, message, none;
    said_and_known(ctx, s);
    recall(ctx, s, "r1", "s1", 100, "memory", true);
    recall(ctx, s, "r2", "s2", 300, "none", false);
    recall(ctx, s, "r3", "s1", 300, "memory", true);
    recall(ctx, s, "r4", "", 200, "off", false);
    CHECK_OK(store_doc_of(ctx, s, mine, S("f1"), &memory));
    CHECK_OK(store_doc_of(ctx, s, mine, S("m1"), &message));
    CHECK_OK(store_doc_of(ctx, s, mine, S("nobody"), &none));
    CHECK(doc_is_memory(memory) && message && !doc_is_memory(message) && !none);
    CHECK_STR(ids(ctx, s, (struct receipt_filter){0}, 4), S("r3 r2 r4 r1 "));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.decision = S("memory")}, 2), S("r3 r1 "));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.session = S("s1")}, 2), S("r3 r1 "));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.session = S("s2"), .doc = memory}, 0), S(""));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.doc = memory}, 2), S("r3 r1 "));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.doc = message}, 0), S(""));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.after = 200, .before = 300}, 1), S("r4 "));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.pool = other_space}, 0), S(""));
    CHECK_STR(ids(ctx, s, (struct receipt_filter){.pool = other_space, .doc = memory}, 0), S(""));
}

TEST(pages_of_receipts_show_each_once_also_where_times_are_equal)
{
    PLACE(p);
    STORE(s, p);
    said_and_known(ctx, s);
    for (int i = 0; i < 7; i++)
        recall(ctx, s, str_printf(&ctx->arena, "r%d", i).p, "s1", 100 + i / 3, "memory", true);
    struct receipt_filter f = {.pool = mine, .limit = 2};
    struct buf all = buf_make(&ctx->arena, 1000);
    for (size_t n = 2; n == 2;) {
        struct receipt *v;
        int64_t total;
        CHECK_OK(store_receipts(ctx, s, &f, &v, &n, &total));
        CHECK_INT(total, 7);
        for (size_t i = 0; i < n; i++)
            buf_printf(&all, S_FMT " ", S_ARG(v[i].id));
        f.at = n ? v[n - 1].created : 0;
        f.no = n ? v[n - 1].no : 0;
    }
    CHECK_STR(buf_str(&all), S("r6 r5 r4 r3 r2 r1 r0 "));
}

/* The count of a stat over all days. */
static int64_t sum_of(struct ctx *ctx, struct store *s, struct pool_ref pool, int stat)
{
    struct day_count *v;
    size_t n;
    int64_t sum = 0;
    CHECK_OK(store_days(ctx, s, pool, 0, 1 << 20, true, &v, &n));
    for (size_t i = 0; i < n; i++)
        sum += v[i].stat == stat ? v[i].n : 0;
    return sum;
}

/* Rows of a table, as the file has them. */
static int64_t rows_of(struct ctx *ctx, const struct place *p, const char *table)
{
    return place_int(ctx, p, str_printf(&ctx->arena, "SELECT count(*) FROM %s", table).p);
}

TEST(what_a_receipt_gave_goes_with_it)
{
    PLACE(p);
    STORE(s, p);
    int64_t n;
    said_and_known(ctx, s);
    recall(ctx, s, "r1", "s1", 100, "memory", true);
    recall(ctx, s, "r2", "s1", 200, "memory", true);
    CHECK_INT(rows_of(ctx, &p, "given"), 2);
    recall(ctx, s, "r2", "s1", 200, "memory", false); /* its block was dropped */
    CHECK_INT(rows_of(ctx, &p, "given"), 1);
    CHECK_OK(store_prune(ctx, s, 150, 0, &n));
    CHECK_INT(rows_of(ctx, &p, "given"), 0);
    recall(ctx, s, "r3", "s1", 300, "memory", true);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("f1")}, &n));
    CHECK_INT(rows_of(ctx, &p, "given"), 0);
    CHECK_INT(rows_of(ctx, &p, "receipt"), 0);
}

/* The turn brings its receipt, which was queued before its model was asked. */
TEST(a_receipt_that_was_queued_is_written_with_its_turn_only_where_it_is_not_there)
{
    PLACE(p);
    STORE(s, p);
    struct receipt_line line = {.kind = S("memory"), .id = S("f1"), .injected = true};
    struct receipt r = {.id = S("r1"), .reason = S("first"), .lines = &line, .n = 1}, found;
    struct bundle b = {.pool = mine, .receipt = &r};
    said_and_known(ctx, s);
    CHECK_OK(store_write(ctx, s, &b));
    r.reason = S("again");
    b.has_queued = true;
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_receipt(ctx, s, mine, S("r1"), &found));
    CHECK_STR(found.reason, S("first"));
    r.id = S("r2"); /* its first write has failed */
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_receipt(ctx, s, mine, S("r2"), &found));
    CHECK_STR(found.reason, S("again"));
    struct forget what = {.pool = mine, .id = S("f1")};
    int64_t n;
    CHECK_OK(store_forget(ctx, s, &what, &n)); /* meanwhile */
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_STATUS(store_receipt(ctx, s, mine, S("r2"), &found), NOT_FOUND);
}

TEST(a_receipt_is_counted_once_and_stays_counted_when_it_is_pruned)
{
    PLACE(p);
    STORE(s, p);
    int64_t n;
    said_and_known(ctx, s);
    recall(ctx, s, "r1", "s1", 100, "memory", true);
    recall(ctx, s, "r1", "s1", 100, "memory", true);
    recall(ctx, s, "r2", "s1", 100, "off", false);
    recall(ctx, s, "r3", "s1", 100, "a new one", false);
    CHECK_OK(store_prune(ctx, s, 1000, 0, &n));
    CHECK_INT(rows_of(ctx, &p, "receipt"), 0);
    CHECK_INT(sum_of(ctx, s, mine, DAY_TOKENS), 10);
    CHECK_INT(sum_of(ctx, s, mine, DAY_DECISION + day_decision(S("memory"))), 1);
    CHECK_INT(sum_of(ctx, s, mine, DAY_DECISION + day_decision(S("off"))), 1);
    CHECK_INT(sum_of(ctx, s, mine, DAY_DECISION + day_decision(S("other"))), 1);
    CHECK_INT(sum_of(ctx, s, mine, DAY_RECALL_US), 2000);
    CHECK_INT(sum_of(ctx, s, mine, DAY_BUCKET + day_bucket(1000)), 2);
    CHECK_INT(sum_of(ctx, s, other_space, DAY_TOKENS), 0);
    recall(ctx, s, "r4", "s1", 100, "memory", true);
    recall(ctx, s, "r4", "s1", 100, "memory", false); /* its block was dropped */
    CHECK_INT(sum_of(ctx, s, mine, DAY_TOKENS), 10);
}

TEST(a_day_counts_what_came_and_what_was_forgotten)
{
    PLACE(p);
    STORE(s, p);
    FAKE_CLOCK(100 * DAY_MS + 5);
    int64_t n;
    struct day_count *v;
    said_and_known(ctx, s);
    struct memory gone = fact("f2", "", "had a cat"), kept = fact("f3", "", "has a bike");
    gone.type = TYPE_EPISODIC;
    gone.expires = 100 * DAY_MS + 6;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &gone));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &kept));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &kept)); /* said again: nothing came */
    fake_clock_advance(DAY_MS);
    CHECK_OK(store_prune(ctx, s, 0, clock_ms(), &n));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("f3")}, &n));
    size_t days;
    CHECK_OK(store_days(ctx, s, mine, 100, 100, false, &v, &days));
    CHECK_INT(days, 4);
    CHECK(v[0].stat == DAY_ADDED + TYPE_FACTUAL && v[0].n == 2 && v[0].day == 100);
    CHECK(v[1].stat == DAY_ADDED + TYPE_EPISODIC && v[1].n == 1);
    CHECK(v[2].stat == DAY_SESSIONS && v[2].n == 1);
    CHECK(v[3].stat == DAY_MESSAGES && v[3].n == 1);
    CHECK_OK(store_days(ctx, s, mine, 101, 200, false, &v, &days));
    CHECK_INT(days, 2);
    CHECK(v[0].stat == DAY_FORGOTTEN && v[0].n == 1);
    CHECK(v[1].stat == DAY_EXPIRED && v[1].n == 1);
}

TEST(the_core_models_tokens_are_counted_for_the_pool_that_has_work)
{
    PLACE(p);
    STORE(s, p);
    struct work w = {.pool = mine,
                     .kind = S("distil"),
                     .status = S("success"),
                     .model = S("m"),
                     .tokens_in = 70,
                     .tokens_out = 7};
    CHECK_OK(store_log_work(ctx, s, &w)); /* the pool is not there */
    said_and_known(ctx, s);
    CHECK_OK(store_log_work(ctx, s, &w));
    w.model = S("");
    CHECK_OK(store_log_work(ctx, s, &w)); /* no model was asked */
    CHECK_INT(sum_of(ctx, s, mine, DAY_CORE_IN), 70);
    CHECK_INT(sum_of(ctx, s, mine, DAY_CORE_OUT), 7);
}

TEST(counts_are_erased_with_their_space)
{
    PLACE(p);
    STORE(s, p);
    int64_t n;
    struct memory theirs = fact("f1", "", "has a cat");
    said_and_known(ctx, s);
    recall(ctx, s, "r1", "s1", 100, "memory", true);
    CHECK_OK(keep(ctx, s, other_space, PUT_SUPERSEDE, &theirs));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &n));
    CHECK_INT(rows_of(ctx, &p, "day_count"), 1);
    CHECK_INT(rows_of(ctx, &p, "given"), 0);
    CHECK_OK(store_forget(ctx, s,
                          &(struct forget){.pool = mine, .everything = true, .all_spaces = true},
                          &n));
    CHECK_INT(rows_of(ctx, &p, "day_count"), 0);
}

TEST(what_was_learnt_from_a_message_is_listed)
{
    PLACE(p);
    STORE(s, p);
    struct memory *v;
    size_t n;
    said_and_known(ctx, s);
    CHECK_OK(store_learnt(ctx, s, mine, S("m1"), &v, &n));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].id, S("f1"));
    CHECK_OK(store_learnt(ctx, s, mine, S(""), &v, &n));
    CHECK_INT(n, 0);
    CHECK_OK(store_learnt(ctx, s, other_space, S("m1"), &v, &n));
    CHECK_INT(n, 0);
}

TEST(what_was_true_once_is_found_by_its_time)
{
    PLACE(p);
    STORE(s, p);
    struct memory *v;
    size_t n;
    struct memory before = fact("f1", "town", "lives in Porto"),
                  now = fact("f2", "town", "lives in Bergen"), ended = fact("f3", "", "has a cold");
    before.created = 1000;
    now.created = 2000;
    ended.created = 1000;
    ended.expires = 1500;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &before));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &now));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &ended));
    CHECK_OK(store_once_true(ctx, s, mine, 1200, 10, &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].id, S("f3"));
    CHECK_STR(v[1].id, S("f1"));
    CHECK_OK(store_once_true(ctx, s, mine, 1600, 10, &v, &n));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].id, S("f1"));
    CHECK_OK(store_once_true(ctx, s, mine, 999, 10, &v, &n));
    CHECK_INT(n, 0);
    CHECK_OK(store_once_true(ctx, s, mine, 2000, 10, &v, &n));
    CHECK_INT(n, 0);
    CHECK_OK(store_once_true(ctx, s, other_space, 1200, 10, &v, &n));
    CHECK_INT(n, 0);
}

TEST(the_numbers_of_a_pool)
{
    PLACE(p);
    STORE(s, p);
    struct pool_totals t;
    struct memory line = fact("f9", "", "is a sailor");
    line.layer = LAYER_IDENTITY;
    said_and_known(ctx, s);
    recall(ctx, s, "r1", "s1", 100, "memory", true);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &line));
    CHECK_OK(store_pool_totals(ctx, s, mine, &t));
    CHECK(t.created && t.sessions == 1 && t.messages == 1 && t.memories == 2 && !t.closed);
    CHECK_INT(t.receipts, 1);
    CHECK_OK(store_pool_totals(ctx, s, other_user, &t));
    CHECK_INT(t.created + t.receipts, 0);
}

TEST(a_bucket_is_near_to_what_it_counts)
{
    for (int64_t us = 1; us < (int64_t)1 << 40; us += us / 3 + 1) {
        int at = day_bucket(us);
        CHECK(day_bucket_least(at) <= us && us < day_bucket_least(at + 1));
    }
    CHECK_INT(day_bucket(-5), 0);
    CHECK(day_bucket(INT64_MAX) < DAY_STAT_COUNT - DAY_BUCKET);
    int64_t *counts = NEW_N(&ctx->arena, int64_t, DAY_STAT_COUNT);
    CHECK_INT(day_percentile(counts, 0.5), 0);
    for (int i = 1; i <= 100; i++)
        counts[DAY_BUCKET + day_bucket(i * 1000)]++;
    CHECK_INT(day_recalls(counts), 100);
    CHECK(day_percentile(counts, 0.5) > 46000 && day_percentile(counts, 0.5) < 54000);
    CHECK(day_percentile(counts, 0.95) > 88000 && day_percentile(counts, 0.95) < 102000);
    CHECK(day_number(0) == 0 && day_number(DAY_MS - 1) == 0 && day_number(-1) == -1);
}
