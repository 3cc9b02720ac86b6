/* sync.c - settings that stay, and the queue of changed memories that a second place follows. */
#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

TEST(a_setting_stays_until_it_is_emptied)
{
    PLACE(p);
    str value;
    {
        STORE(s, p);
        CHECK_OK(store_setting(ctx, s, S("words"), &value));
        CHECK_STR(value, S(""));
        CHECK_OK(store_put_setting(ctx, s, S("words"), S("{\"a\":1}")));
        CHECK_OK(store_put_setting(ctx, s, S("other"), S("one")));
        CHECK_OK(store_put_setting(ctx, s, S("other"), S("two")));
        CHECK_STATUS(store_put_setting(ctx, s, S(""), S("x")), BAD_INPUT);
    }
    STORE(s, p);
    CHECK_OK(store_setting(ctx, s, S("words"), &value));
    CHECK_STR(value, S("{\"a\":1}"));
    CHECK_OK(store_setting(ctx, s, S("other"), &value));
    CHECK_STR(value, S("two"));
    CHECK_OK(store_put_setting(ctx, s, S("other"), S("")));
    CHECK_OK(store_setting(ctx, s, S("other"), &value));
    CHECK_STR(value, S(""));
    check_healthy(ctx, s);
}

/* What waits, as "user/space/id" with a minus before what is gone, sorted by its number. */
static str waiting(struct ctx *ctx, struct store *s, struct sync_item **out, size_t *n)
{
    int64_t all;
    struct buf b = buf_make(&ctx->arena, 10000);
    CHECK_OK(store_sync_waiting(ctx, s, 100, out, n, &all));
    CHECK_INT(all, *n);
    for (size_t i = 0; i < *n; i++) {
        const struct sync_item *m = &(*out)[i];
        buf_printf(&b, "%s%s" S_FMT "/" S_FMT "/" S_FMT, i ? " " : "", m->exists ? "" : "-",
                   S_ARG(m->pool.user), S_ARG(m->pool.space), S_ARG(m->id));
        if (m->exists)
            CHECK_STR(m->memory.id, m->id);
    }
    return buf_str(&b);
}

static str now_waiting(struct ctx *ctx, struct store *s)
{
    struct sync_item *v;
    size_t n;
    return waiting(ctx, s, &v, &n);
}

static void follow_all(struct ctx *ctx, struct store *s)
{
    struct sync_item *v;
    size_t n;
    (void)waiting(ctx, s, &v, &n);
    for (size_t i = 0; i < n; i++)
        CHECK_OK(store_sync_done(ctx, s, &(const struct sync_item *){&v[i]}, 1, 0));
    CHECK_STR(now_waiting(ctx, s), S(""));
}

static void add(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *id,
                const char *key, const char *content)
{
    struct memory m = fact(id, key, content);
    CHECK_OK(keep(ctx, s, pool, PUT_SUPERSEDE, &m));
}

TEST(nothing_waits_while_sync_is_off)
{
    PLACE(p);
    STORE(s, p);
    add(ctx, s, mine, "f1", "", "likes tea");
    CHECK_STR(now_waiting(ctx, s), S(""));
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f1"));
    CHECK_OK(store_sync(ctx, s, false));
    CHECK_STR(now_waiting(ctx, s), S(""));
    add(ctx, s, mine, "f2", "", "likes coffee");
    CHECK_STR(now_waiting(ctx, s), S(""));
}

TEST(turning_it_on_queues_what_is_true_once)
{
    PLACE(p);
    {
        STORE(s, p);
        add(ctx, s, mine, "f1", "drink", "likes tea");
        add(ctx, s, mine, "f2", "drink", "likes coffee");
        add(ctx, s, other_user, "f1", "", "likes water");
        CHECK_OK(store_sync(ctx, s, true));
        CHECK_STR(now_waiting(ctx, s), S("anna/default/f2 ben/default/f1"));
        follow_all(ctx, s);
        CHECK_OK(store_sync(ctx, s, true));
        CHECK_STR(now_waiting(ctx, s), S(""));
    }
    /* Also by another run of the program. */
    STORE(s, p);
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_STR(now_waiting(ctx, s), S(""));
    add(ctx, s, other_space, "f9", "", "likes milk");
    CHECK_STR(now_waiting(ctx, s), S("anna/work/f9"));
}

TEST(everything_can_wait_again)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    struct sync_item *v;
    size_t n;
    CHECK_OK(store_sync_all(ctx, s));
    add(ctx, s, mine, "f1", "", "likes tea");
    CHECK_OK(store_sync_all(ctx, s));
    CHECK_STR(now_waiting(ctx, s), S(""));
    CHECK_OK(store_sync(ctx, s, true));
    add(ctx, s, mine, "f2", "", "likes milk");
    add(ctx, s, mine, "f3", "", "likes water");
    follow_all(ctx, s);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("f2")}, &erased));
    (void)waiting(ctx, s, &v, &n);
    CHECK_INT(n, 1);
    CHECK_OK(store_sync_all(ctx, s));
    CHECK_STR(now_waiting(ctx, s), S("-anna/default/f2 anna/default/f1 anna/default/f3"));
    follow_all(ctx, s);
}

TEST(each_change_is_queued)
{
    PLACE(p);
    STORE(s, p);
    struct memory out, m = fact("f1", "drink", "likes tea");
    struct change change = {.pool = mine, .id = S("f2"), .what = CHANGE_IMPORTANCE};
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f1"));
    follow_all(ctx, s);
    /* Said once more changes nothing that a second place holds, a longer life does. */
    add(ctx, s, mine, "f1", "drink", "likes tea");
    CHECK_STR(now_waiting(ctx, s), S(""));
    add(ctx, s, mine, "f2", "drink", "likes coffee");
    CHECK_STR(now_waiting(ctx, s), S("-anna/default/f1 anna/default/f2"));
    follow_all(ctx, s);
    change.to.importance = 0.75;
    CHECK_OK(store_change(ctx, s, &change, &out));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f2"));
    follow_all(ctx, s);
    change.what = CHANGE_METADATA;
    change.to.metadata = S("{\"a\":1}");
    CHECK_OK(store_change(ctx, s, &change, &out));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f2"));
    follow_all(ctx, s);
    change.what = CHANGE_EXPIRES;
    change.to.expires = 4000000000000;
    CHECK_OK(store_change(ctx, s, &change, &out));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f2"));
    follow_all(ctx, s);
    m = fact("", "drink", "likes milk");
    CHECK_OK(keep(ctx, s, mine, PUT_REPLACE, &m));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f2"));
    follow_all(ctx, s);
    int64_t n;
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("f2")}, &n));
    CHECK_STR(now_waiting(ctx, s), S("-anna/default/f2"));
    check_healthy(ctx, s);
}

TEST(what_was_undone_is_not_queued)
{
    PLACE(p);
    STORE(s, p);
    struct memory nine = fact("f9", "k", "nine"), v[] = {fact("f1", "", "one"), nine};
    struct bundle b = {.pool = mine, .memories = v, .n_memories = 2, .rule = PUT_REPLACE};
    nine.metadata = S("{}");
    v[1].id = S("f2");
    v[1].metadata = S("{no JSON");
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &nine));
    follow_all(ctx, s);
    CHECK_STATUS(store_write(ctx, s, &b), BAD_INPUT);
    CHECK_STR(now_waiting(ctx, s), S(""));
}

TEST(forgetting_a_whole_user_queues_each_memory)
{
    PLACE(p);
    STORE(s, p);
    int64_t n;
    struct forget all = {.pool = {S("anna"), S("")}, .everything = true, .all_spaces = true};
    add(ctx, s, mine, "f1", "", "likes tea");
    add(ctx, s, other_space, "f2", "", "likes coffee");
    add(ctx, s, other_user, "f3", "", "likes water");
    CHECK_OK(store_sync(ctx, s, true));
    follow_all(ctx, s);
    CHECK_OK(store_forget(ctx, s, &all, &n));
    CHECK_STR(now_waiting(ctx, s), S("-anna/default/f1 -anna/work/f2"));
    /* The pool comes back, and the memory with it. */
    add(ctx, s, mine, "f1", "", "likes tea again");
    CHECK_STR(now_waiting(ctx, s), S("-anna/work/f2 anna/default/f1"));
}

TEST(what_changes_again_meanwhile_waits_on)
{
    PLACE(p);
    STORE(s, p);
    struct sync_item *v;
    size_t n;
    struct memory out;
    struct change change = {.pool = mine,
                            .id = S("f1"),
                            .what = CHANGE_CONTENT,
                            .to = {.content = S("likes coffee")}};
    CHECK_OK(store_sync(ctx, s, true));
    add(ctx, s, mine, "f1", "", "likes tea");
    CHECK_STR(waiting(ctx, s, &v, &n), S("anna/default/f1"));
    CHECK_STR(v[0].memory.content, S("likes tea"));
    CHECK_STR(v[0].memory.space, S("default"));
    const struct sync_item *was = v;
    CHECK_OK(store_change(ctx, s, &change, &out));
    CHECK_OK(store_sync_done(ctx, s, &was, 1, 0));
    CHECK_STR(waiting(ctx, s, &v, &n), S("anna/default/f1"));
    CHECK_STR(v[0].memory.content, S("likes coffee"));
    CHECK(v[0].no > was->no);
    follow_all(ctx, s);

    /* And if another process has followed the change before this one ends what was before. */
    CHECK_OK(store_sync_done(ctx, s, &was, 1, 0));
    CHECK_STR(waiting(ctx, s, &v, &n), S("anna/default/f1"));
    follow_all(ctx, s);
    was = v;
    CHECK_OK(store_sync_done(ctx, s, &was, 1, 0)); /* the same twice is the same */
    CHECK_STR(now_waiting(ctx, s), S(""));
    CHECK_OK(store_sync(ctx, s, false));
    v[0].exists = false;
    CHECK_OK(store_sync_done(ctx, s, &was, 1, 0));
    CHECK_STR(now_waiting(ctx, s), S(""));
}

TEST(what_failed_is_tried_again_when_it_is_due)
{
    PLACE(p);
    STORE(s, p);
    struct sync_item *v;
    size_t n;
    int64_t all;
    CHECK_OK(store_sync(ctx, s, true));
    add(ctx, s, mine, "f1", "", "likes tea");
    add(ctx, s, mine, "f2", "", "likes coffee");
    (void)waiting(ctx, s, &v, &n);
    CHECK_INT(v[0].tries, 0);
    CHECK_OK(store_sync_done(ctx, s, &(const struct sync_item *){&v[0]}, 1, clock_ms() + 3600000));
    CHECK_OK(store_sync_done(ctx, s, &(const struct sync_item *){&v[1]}, 1, 1));
    CHECK_OK(store_sync_waiting(ctx, s, 10, &v, &n, &all));
    CHECK_INT(n, 1);
    CHECK_INT(all, 2);
    CHECK_STR(v[0].id, S("f2"));
    CHECK_INT(v[0].tries, 1);
    fake_clock_advance(3600001);
    CHECK_OK(store_sync_waiting(ctx, s, 1, &v, &n, &all));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].id, S("f2"));
    CHECK_STR(now_waiting(ctx, s), S("anna/default/f2 anna/default/f1"));
}
