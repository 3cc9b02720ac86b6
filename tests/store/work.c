/* work.c - the log of work, and the marks that use leaves on memories. */
#include <sqlite3.h>

#include "lib/store.h"
#include "store/store.h"

static void log_work(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *status,
                     int64_t created)
{
    struct work w = {.pool = pool,
                     .kind = S("distil"),
                     .status = str_of(status),
                     .details = str_printf(&ctx->arena, "of %s", pool.user.p),
                     .model = S("small"),
                     .tokens_in = 100,
                     .tokens_out = 10,
                     .took_ms = 5,
                     .created = created};
    CHECK_OK(store_log_work(ctx, s, &w));
}

TEST(work_is_told_newest_first)
{
    PLACE(p);
    STORE(s, p);
    struct work *v, other = {.pool = mine, .kind = S("consolidate"), .status = S("success")};
    size_t n;
    int64_t now = clock_ms();
    log_work(ctx, s, mine, "success", now);
    log_work(ctx, s, other_space, "error", now);
    log_work(ctx, s, other_user, "success", now);
    CHECK_OK(store_log_work(ctx, s, &other));
    CHECK_OK(store_work_log(ctx, s, NULL, S(""), 3, &v, &n));
    CHECK_INT(n, 3);
    CHECK_STR(v[0].kind, S("consolidate"));
    CHECK(v[0].created >= now);
    CHECK_STR(v[1].pool.user, other_user.user);
    CHECK_OK(store_work_log(ctx, s, &mine, S("distil"), 10, &v, &n));
    CHECK_INT(n, 1);
    CHECK_STR(v->pool.space, mine.space);
    CHECK_STR(v->kind, S("distil"));
    CHECK_STR(v->status, S("success"));
    CHECK_STR(v->details, S("of anna"));
    CHECK_STR(v->model, S("small"));
    CHECK_INT(v->tokens_in, 100);
    CHECK_INT(v->tokens_out, 10);
    CHECK_INT(v->took_ms, 5);
    CHECK_INT(v->created, now);
    CHECK_OK(store_work_log(ctx, s, &(struct pool_ref){mine.user, S("")}, S("distil"), 10, &v, &n));
    CHECK_INT(n, 2);
}

TEST(work_is_summed_since_a_time)
{
    PLACE(p);
    STORE(s, p);
    struct work_sum sum;
    struct work free_of_charge = {.pool = mine, .kind = S("consolidate"), .took_ms = 1000};
    int64_t now = clock_ms();
    log_work(ctx, s, mine, "success", now - 1000);
    log_work(ctx, s, mine, "error", now);
    log_work(ctx, s, other_user, "skipped", now);
    log_work(ctx, s, other_user, "empty", now);
    CHECK_OK(store_log_work(ctx, s, &free_of_charge));
    CHECK_OK(store_work_sum(ctx, s, now, &sum));
    CHECK_INT(sum.calls, 2);
    CHECK_INT(sum.failures, 1);
    CHECK_INT(sum.tokens_in, 300);
    CHECK_INT(sum.tokens_out, 30);
    CHECK_INT(sum.took_ms, 15);
}

TEST(a_pool_that_is_forgotten_leaves_figures_only)
{
    PLACE(p);
    STORE(s, p);
    struct work *v;
    struct work_sum sum;
    size_t n;
    int64_t erased;
    struct memory f = fact("f1", "", "Ithaca");
    struct forget all = {.pool = mine, .everything = true};
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    log_work(ctx, s, mine, "success", 1000);
    log_work(ctx, s, other_user, "success", 1000);
    CHECK_OK(store_forget(ctx, s, &all, &erased));
    CHECK_OK(store_work_log(ctx, s, NULL, S(""), 10, &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[1].pool.user, S(""));
    CHECK_STR(v[1].details, S(""));
    CHECK_STR(v[0].details, S("of ben"));
    CHECK_OK(store_work_sum(ctx, s, 0, &sum));
    CHECK_INT(sum.calls, 2);
}

TEST(old_work_is_pruned)
{
    PLACE(p);
    STORE(s, p);
    struct work *v;
    size_t n;
    int64_t removed, now = clock_ms(), day = 86400000;
    log_work(ctx, s, mine, "success", now - 31 * day);
    log_work(ctx, s, mine, "success", now - 29 * day);
    CHECK_OK(store_prune(ctx, s, 0, 0, &removed));
    CHECK_INT(removed, 1);
    CHECK_OK(store_work_log(ctx, s, &mine, S(""), 10, &v, &n));
    CHECK_INT(n, 1);
}

/* --- touches --- */

TEST(what_was_shown_is_used_once_more)
{
    PLACE(p);
    STORE(s, p);
    struct memory v[2] = {fact("f1", "", "Ithaca"), fact("f2", "", "Troy")}, back;
    struct message m = said("m1", "user", "Ithaca", 1000);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &v[0]));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &v[1]));
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    doc_id docs[] = {v[0].doc, m.doc, v[1].doc, 12345};
    CHECK_OK(store_touch(ctx, s, mine, docs, 4, 2000000000000));
    CHECK_OK(store_touch(ctx, s, mine, docs, 1, 1000));
    CHECK_OK(store_touch(ctx, s, other_user, docs, 4, 2000000000001));
    docs[0] = 0;
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(store_memory(ctx, s, mine, S("f1"), &back));
    CHECK_INT(back.uses, 2);
    CHECK_INT(back.last_used, 2000000000000);
    CHECK_OK(store_memory(ctx, s, mine, S("f2"), &back));
    CHECK_INT(back.uses, 1);
    check_healthy(ctx, s);
}

/* Nobody asks for it: it is written all the same, and nothing follows it. */
TEST(a_touch_is_written_by_itself_and_wakes_nobody)
{
    PLACE(p);
    STORE(s, p);
    struct memory f = fact("f1", "", "Ithaca"), back = {0};
    struct sync_item *item;
    struct vector_stats vectors;
    size_t n;
    int64_t all;
    CHECK_OK(store_begin_vectors(ctx, s, &(struct vector_set){S("a:b:4"), 4, false, 0}, false));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    struct unembedded *waits;
    CHECK_OK(store_unembedded(ctx, s, NULL, 10, &waits, &n));
    struct vector_put put = {waits->no, f.doc, (const float[]){1, 0, 0, 0}, 0};
    CHECK_OK(store_put_vectors(ctx, s, S("a:b:4"), &put, 1));
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_OK(store_sync_waiting(ctx, s, 10, &item, &n, &all));
    CHECK_OK(store_sync_done(ctx, s, &(const struct sync_item *){item}, 1, 0));
    uint64_t seen = store_wait(s, 0, 0);
    CHECK_OK(store_touch(ctx, s, mine, &f.doc, 1, 2000000000000));
    while (!back.uses)
        CHECK_OK(store_memory(ctx, s, mine, S("f1"), &back));
    CHECK_INT(store_wait(s, seen, 0), seen);
    CHECK_OK(store_sync_waiting(ctx, s, 10, &item, &n, &all));
    CHECK_INT(all, 0);
    CHECK_OK(store_vector_stats(ctx, s, NULL, &vectors));
    CHECK_INT(vectors.rows, 1);
    CHECK_INT(vectors.waiting, 0);
    check_healthy(ctx, s);
}

TEST(closing_writes_the_touches)
{
    PLACE(p);
    struct memory f = fact("f1", "", "Ithaca"), back;
    {
        STORE(s, p);
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
        for (int i = 0; i < 3000; i++)
            CHECK_OK(store_touch(ctx, s, mine, &f.doc, 1, 1));
    }
    STORE(s, p);
    CHECK_OK(store_memory(ctx, s, mine, S("f1"), &back));
    CHECK_INT(back.uses, 3000);
}
