/* change.c - one memory changed in place: what is named changes, its words with it, nothing else.
 */
#include "fixture.h"

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
