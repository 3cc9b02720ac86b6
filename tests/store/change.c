/* change.c - memories changed in place, and many put into one: what is named, nothing else. */
#include "lib/store.h"

static struct memory changed(struct ctx *ctx, struct store *s, struct change change)
{
    struct memory out;
    CHECK_OK(store_change(ctx, s, &change, &out));
    return out;
}

TEST(only_what_is_named_changes)
{
    PLACE(p);
    STORE(s, p);
    struct memory m = fact("m1", "tea", "likes green tea"), back;
    str tags[] = {S("drink")};
    m.category = S("preference");
    m.metadata = S("{\"n\":1}");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    struct memory now =
        changed(ctx, s,
                (struct change){.pool = mine,
                                .id = m.id,
                                .what = CHANGE_CONTENT,
                                .to = {.content = S("likes black coffee"), .key = S("other")}});
    CHECK_STR(now.content, S("likes black coffee"));
    CHECK_OK(store_memory(ctx, s, mine, m.id, &back));
    CHECK_STR(back.content, S("likes black coffee"));
    CHECK_STR(back.key, S("tea"));
    CHECK_STR(back.category, S("preference"));
    CHECK_STR(back.metadata, S("{\"n\":1}"));
    CHECK_INT(back.created, m.created);
    CHECK(back.updated > m.created);
    CHECK_INT(find(ctx, s, mine, "green").n, 0);
    CHECK_INT(find(ctx, s, mine, "coffee").n, 1);
    now = changed(ctx, s,
                  (struct change){.pool = mine,
                                  .id = m.id,
                                  .what = CHANGE_KEY | CHANGE_TYPE | CHANGE_CATEGORY |
                                          CHANGE_METADATA | CHANGE_TAGS | CHANGE_IMPORTANCE |
                                          CHANGE_EXPIRES,
                                  .to = {.key = S("drink"),
                                         .type = TYPE_SEMANTIC,
                                         .category = S("habit"),
                                         .metadata = S("{}"),
                                         .tags = {tags, 1},
                                         .importance = 1,
                                         .expires = 4000000000000}});
    CHECK_OK(store_memory(ctx, s, mine, m.id, &back));
    CHECK_STR(back.content, S("likes black coffee"));
    CHECK_STR(back.key, S("drink"));
    CHECK_INT(back.type, TYPE_SEMANTIC);
    CHECK_STR(back.category, S("habit"));
    CHECK_STR(back.metadata, S("{}"));
    CHECK(back.tags.n == 1 && back.importance == 1);
    CHECK_INT(back.expires, 4000000000000);
    check_healthy(ctx, s);
}

/* The words index of SQLite gets a piece for each change of it, of PostgreSQL a generation. */
TEST(the_index_is_changed_for_words_alone)
{
    const char *sql = is_on_postgres() ? "SELECT generation FROM pool WHERE \"user\" = 'anna'"
                                       : "SELECT max(id) FROM words_data";
    PLACE(p);
    STORE(s, p);
    struct memory m = fact("m1", "tea", "likes green tea");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    int64_t before = place_int(ctx, &p, sql);
    changed(ctx, s,
            (struct change){.pool = mine,
                            .id = m.id,
                            .what = CHANGE_IMPORTANCE | CHANGE_CATEGORY,
                            .to = {.category = S("habit"), .importance = 1}});
    CHECK_INT(place_int(ctx, &p, sql), before);
    changed(
        ctx, s,
        (struct change){.pool = mine, .id = m.id, .what = CHANGE_KEY, .to = {.key = S("drink")}});
    CHECK(place_int(ctx, &p, sql) != before);
    CHECK_INT(find(ctx, s, mine, "drink").n, 1);
    check_healthy(ctx, s);
}

TEST(what_is_not_there_or_not_true_any_more_is_not_changed)
{
    PLACE(p);
    STORE(s, p);
    struct memory old = fact("old", "city", "lives in Rome"), out,
                  new = fact("new", "city", "lives in Oslo"), other = fact("x", "pet", "has a dog");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &old));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &new));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &other));
    struct change change = {.pool = other_user,
                            .id = S("new"),
                            .what = CHANGE_CONTENT,
                            .to = {.content = S("lives in Lima"), .key = S("pet")}};
    CHECK_STATUS(store_change(ctx, s, &change, &out), NOT_FOUND);
    ctx_clear_failure(ctx);
    change.pool = mine;
    change.id = S("old");
    CHECK_STATUS(store_change(ctx, s, &change, &out), CONFLICT);
    ctx_clear_failure(ctx);
    change.id = S("new");
    change.what = CHANGE_KEY;
    CHECK_STATUS(store_change(ctx, s, &change, &out), CONFLICT);
    ctx_clear_failure(ctx);
    change.what = CHANGE_CONTENT;
    change.to.content = S("");
    CHECK_STATUS(store_change(ctx, s, &change, &out), BAD_INPUT);
    CHECK_INT(find(ctx, s, mine, "oslo").n, 1);
    CHECK_INT(find(ctx, s, mine, "lima").n, 0);
    check_healthy(ctx, s);
}

TEST(a_change_stands_after_the_store_was_opened_again)
{
    PLACE(p);
    struct memory m = fact("m1", "", "likes green tea"), back;
    {
        STORE(s, p);
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
        changed(ctx, s,
                (struct change){.pool = mine,
                                .id = m.id,
                                .what = CHANGE_CONTENT,
                                .to = {.content = S("likes coffee")}});
    }
    STORE(s, p);
    CHECK_OK(store_memory(ctx, s, mine, m.id, &back));
    CHECK_STR(back.content, S("likes coffee"));
    check_healthy(ctx, s);
}

static struct memory summary_of(const char *content)
{
    return (struct memory){.key = S("summary_1"), .content = str_of(content), .importance = 0.5};
}

TEST(many_are_closed_in_favour_of_one)
{
    PLACE(p);
    STORE(s, p);
    struct pool_info *pools;
    size_t n;
    struct memory a = fact("f1", "tea", "likes green tea"), b = fact("f2", "", "likes coffee"),
                  c = fact("f3", "", "likes milk"), out, twin = fact("f1", "", "likes water"),
                  sum = summary_of("drinks a lot");
    const str ids[] = {S("f1"), S("f2")};
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &a));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &b));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &c));
    CHECK_OK(keep(ctx, s, other_space, PUT_SUPERSEDE, &twin));
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_OK(condense_to(ctx, s, mine, &sum, ids, 2));
    CHECK_INT(sum.id.n, 36);
    CHECK_STR(sum.space, S("default"));
    CHECK_OK(store_memory(ctx, s, mine, sum.id, &out));
    CHECK_INT(out.layer, LAYER_SUMMARY);
    CHECK_INT(out.type, TYPE_SEMANTIC);
    CHECK_STR(out.content, S("drinks a lot"));
    CHECK_OK(store_memory(ctx, s, mine, S("f1"), &out));
    CHECK_STR(out.superseded_by, sum.id);
    CHECK_INT(out.valid_to, sum.created);
    CHECK_OK(store_memory(ctx, s, other_space, S("f1"), &out));
    CHECK_INT(out.valid_to, 0);
    CHECK_INT(find(ctx, s, mine, "green coffee").n, 0);
    CHECK_INT(find(ctx, s, mine, "milk").n, 1);
    CHECK_INT(find(ctx, s, mine, "drinks").n, 1);
    CHECK_OK(store_pools(ctx, s, S("anna"), &pools, &n));
    CHECK_INT(pools[0].memories, 2);
    struct sync_item *queue;
    int64_t waiting;
    CHECK_OK(store_sync_waiting(ctx, s, 10, &queue, &n, &waiting));
    CHECK_INT(waiting, 5);
    check_healthy(ctx, s);
    /* A summary can be condensed in its turn, also under its own key. */
    struct memory again = summary_of("drinks");
    const str next[] = {sum.id, S("f3")};
    CHECK_OK(condense_to(ctx, s, mine, &again, next, 2));
    CHECK_INT(find(ctx, s, mine, "drinks milk").n, 1);
    check_healthy(ctx, s);
}

TEST(nothing_is_condensed_when_one_is_closed_or_gone)
{
    PLACE(p);
    STORE(s, p);
    struct memory a = fact("f1", "", "likes green tea"), old = fact("f2", "city", "lives in Rome"),
                  new = fact("f3", "city", "lives in Oslo"), out, sum = summary_of("a summary");
    const str closed[] = {S("f1"), S("f2")}, gone[] = {S("f1"), S("f9")}, one[] = {S("f1")};
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &a));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &old));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &new));
    CHECK_STATUS(condense_to(ctx, s, mine, &sum, closed, 2), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(condense_to(ctx, s, mine, &sum, gone, 2), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(condense_to(ctx, s, other_user, &sum, one, 1), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(condense_to(ctx, s, mine, &sum, one, 0), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_OK(store_memory(ctx, s, mine, S("f1"), &out));
    CHECK_INT(out.valid_to, 0);
    CHECK_INT(find(ctx, s, mine, "green").n, 1);
    CHECK_INT(find(ctx, s, mine, "summary").n, 0);
    check_healthy(ctx, s);
}
