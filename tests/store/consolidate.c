/* consolidate.c - what a consolidation changes, all or nothing, and the filter by layer. */
#include "lib/store.h"
#include "store/store.h"

static struct memory in_layer(const char *id, enum layer layer, const char *content)
{
    struct memory m = fact(id, "", content);
    m.layer = layer;
    m.salience = 0.5;
    return m;
}

static struct memory get(struct ctx *ctx, struct store *s, const char *id)
{
    struct memory m = {0};
    CHECK_OK(store_memory(ctx, s, mine, str_of(id), &m));
    return m;
}

static void keep_five(struct ctx *ctx, struct store *s)
{
    struct memory v[] = {in_layer("f1", LAYER_FACT, "Ithaca one"),
                         in_layer("f2", LAYER_FACT, "Ithaca two"),
                         in_layer("e1", LAYER_EPISODE, "Ithaca three"),
                         in_layer("e2", LAYER_EPISODE, "Ithaca four"),
                         in_layer("i1", LAYER_IDENTITY, "Ithaca five")};
    v[2].metadata = S("{\"old\":1}");
    struct bundle b = {.pool = mine, .memories = v, .n_memories = 5};
    CHECK_OK(store_write(ctx, s, &b));
}

TEST(a_consolidation_evicts_merges_and_raises)
{
    PLACE(p);
    STORE(s, p);
    int64_t changed;
    keep_five(ctx, s);
    str evict[] = {S("f1")};
    struct merged merges[] = {{S("e1"), S("e2"), S("{\"both\":1}")}};
    struct raised raises[] = {{S("f2"), 0.75}};
    struct consolidation c = {.pool = mine,
                              .evict = evict,
                              .n_evict = 1,
                              .merges = merges,
                              .n_merges = 1,
                              .raises = raises,
                              .n_raises = 1};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 3);
    CHECK(get(ctx, s, "f1").valid_to != 0);
    CHECK_STR(get(ctx, s, "f1").superseded_by, S(""));
    CHECK_STR(get(ctx, s, "e2").superseded_by, S("e1"));
    CHECK_STR(get(ctx, s, "e1").metadata, S("{\"both\":1}"));
    CHECK(get(ctx, s, "f2").salience == 0.75);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 3);
    check_healthy(ctx, s);
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 1);
    check_healthy(ctx, s);
}

TEST(what_is_gone_or_closed_is_left_out)
{
    PLACE(p);
    STORE(s, p);
    int64_t changed;
    keep_five(ctx, s);
    str evict[] = {S("f1"), S("f1"), S("nobody")};
    struct merged merges[] = {{S("f1"), S("f2"), S("{}")},
                              {S("f2"), S("f1"), S("{}")},
                              {S("e1"), S("e1"), S("{}")},
                              {S("e1"), S("nobody"), S("{}")}};
    struct raised raises[] = {{S("f1"), 1}, {S("nobody"), 1}};
    struct consolidation c = {.pool = mine,
                              .evict = evict,
                              .n_evict = 3,
                              .merges = merges,
                              .n_merges = 4,
                              .raises = raises,
                              .n_raises = 2};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 1);
    CHECK_STR(get(ctx, s, "e1").metadata, S("{\"old\":1}"));
    CHECK(get(ctx, s, "f1").salience == 0.5);
    c.pool = other_user;
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 0);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 4);
    check_healthy(ctx, s);
}

TEST(what_has_changed_since_it_was_read_is_left_alone)
{
    PLACE(p);
    STORE(s, p);
    struct memory m;
    int64_t changed, seen = clock_ms() - 1000;
    keep_five(ctx, s);
    struct change change = {.pool = mine,
                            .what = CHANGE_METADATA,
                            .to = {.metadata = S("{\"new\":1}")}};
    const char *const ids[] = {"f1", "e1"};
    for (size_t i = 0; i < 2; i++) {
        change.id = str_of(ids[i]);
        CHECK_OK(store_change(ctx, s, &change, &m));
    }
    m = get(ctx, s, "f2");
    CHECK_OK(store_touch(ctx, s, mine, &m.doc, 1, clock_ms()));
    CHECK_OK(store_flush(ctx, s));
    str evict[] = {S("f1"), S("f2")};
    struct merged merges[] = {{S("e1"), S("e2"), S("{}")}, {S("e2"), S("e1"), S("{}")}};
    struct raised raises[] = {{S("f1"), 1}};
    struct consolidation c = {.pool = mine,
                              .seen = seen,
                              .evict = evict,
                              .n_evict = 2,
                              .merges = merges,
                              .n_merges = 2,
                              .raises = raises,
                              .n_raises = 1};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 0);
    CHECK_STR(get(ctx, s, "e1").metadata, S("{\"new\":1}"));
    CHECK(get(ctx, s, "f1").salience == 0.5 && get(ctx, s, "f2").valid_to == 0);
    /* One that takes over two is its own doing. */
    struct memory e3 = in_layer("e3", LAYER_EPISODE, "Ithaca six");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &e3));
    struct merged both[] = {{S("e2"), S("e3"), S("{\"all\":1}")},
                            {S("i1"), S("e2"), S("{\"all\":2}")}};
    c = (struct consolidation){.pool = mine, .seen = seen, .merges = both, .n_merges = 2};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 2);
    CHECK_STR(get(ctx, s, "i1").metadata, S("{\"all\":2}"));
    check_healthy(ctx, s);
}

TEST(what_a_consolidation_erases_is_gone_everywhere)
{
    PLACE(p);
    STORE(s, p);
    struct memory m;
    struct receipt back;
    int64_t changed;
    keep_five(ctx, s);
    struct receipt_line line = {.kind = S("memory"), .id = S("e1"), .injected = true};
    struct receipt shows = {.id = S("r1"), .question = S("who sailed?"), .lines = &line, .n = 1};
    struct bundle b = {.pool = mine, .receipt = &shows};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_receipt(ctx, s, mine, S("r1"), &back));
    str evict[] = {S("f1")}, erase[] = {S("e1"), S("f1"), S("nobody")};
    struct consolidation c = {
        .pool = mine, .evict = evict, .n_evict = 1, .erase = erase, .n_erase = 3};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 3);
    CHECK_STATUS(store_memory(ctx, s, mine, S("e1"), &m), NOT_FOUND);
    CHECK_STATUS(store_memory(ctx, s, mine, S("f1"), &m), NOT_FOUND);
    CHECK_STATUS(store_receipt(ctx, s, mine, S("r1"), &back), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK(!place_holds(ctx, &p, S("who sailed?")));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 3);
    check_healthy(ctx, s);
    c.pool = other_user;
    c.erase = (str[]){S("e2")};
    c.n_erase = 1;
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_INT(changed, 0);
    CHECK_OK(store_memory(ctx, s, mine, S("e2"), &m));
}

TEST(everyone_with_a_pool_is_listed_once)
{
    PLACE(p);
    STORE(s, p);
    struct strs users;
    CHECK_OK(store_users(ctx, s, S(""), &users));
    CHECK_INT(users.n, 0);
    struct pool_ref pools[] = {other_user, mine, other_space};
    for (size_t i = 0; i < 3; i++) {
        struct memory m = fact("", "", "one");
        CHECK_OK(keep(ctx, s, pools[i], PUT_SUPERSEDE, &m));
    }
    CHECK_OK(store_users(ctx, s, S(""), &users));
    CHECK_INT(users.n, 2);
    CHECK_STR(users.v[0], mine.user);
    CHECK_STR(users.v[1], other_user.user);
}

/* Sync queues closed memories and new metadata, not a new weight. */
TEST(sync_follows_a_consolidation)
{
    PLACE(p);
    STORE(s, p);
    struct sync_item *v;
    size_t n;
    int64_t changed, all;
    keep_five(ctx, s);
    CHECK_OK(store_sync(ctx, s, true));
    CHECK_OK(store_sync_waiting(ctx, s, 10, &v, &n, &all));
    for (size_t i = 0; i < n; i++)
        CHECK_OK(store_sync_done(ctx, s, &(const struct sync_item *){&v[i]}, 1, 0));
    struct merged merges[] = {{S("e1"), S("e2"), S("{\"both\":1}")}};
    struct raised raises[] = {{S("f2"), 0.75}};
    struct consolidation c = {
        .pool = mine, .merges = merges, .n_merges = 1, .raises = raises, .n_raises = 1};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_OK(store_sync_waiting(ctx, s, 10, &v, &n, &all));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].id, S("e1"));
    CHECK(v[0].exists && !v[1].exists);
}

TEST(memories_are_listed_by_layer)
{
    PLACE(p);
    STORE(s, p);
    struct memory *v;
    struct memory_totals totals;
    size_t n;
    int64_t total;
    keep_five(ctx, s);
    struct memory_filter f = {.pool = mine, .layer = S("episode"), .limit = 10};
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    CHECK_INT(n, 2);
    CHECK_INT(total, 2);
    CHECK_INT(v[0].layer, LAYER_EPISODE);
    f.pool.space = S("");
    f.oldest_first = true;
    f.offset = 1;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK_STR(v->id, S("e2"));
    CHECK_OK(store_memory_totals(ctx, s, &f, &totals));
    CHECK_INT(totals.total, 2);
    f.pool.space = mine.space;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    CHECK_STR(v->id, S("e2"));
    CHECK_INT(total, 2);
    f.layer = S("fact");
    f.offset = 0;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    CHECK_INT(n, 2);
    CHECK_STR(v->id, S("f1"));
    f.layer = S("dream");
    CHECK_STATUS(store_memory_totals(ctx, s, &f, &totals), BAD_INPUT);
    ctx_clear_failure(ctx);
}

TEST(what_is_distilled_again_weighs_anew)
{
    PLACE(p);
    STORE(s, p);
    struct memory m = in_layer("e1", LAYER_EPISODE, "first"), back;
    m.key = S("episode:s1");
    m.origin = ORIGIN_DISTILLED;
    m.last_used = 1000;
    CHECK_OK(keep(ctx, s, mine, PUT_REPLACE, &m));
    m.content = S("second");
    m.salience = 0.25;
    m.last_used = 2000;
    CHECK_OK(keep(ctx, s, mine, PUT_REPLACE, &m));
    back = get(ctx, s, "e1");
    CHECK_STR(back.content, S("second"));
    CHECK(back.salience == 0.25);
    CHECK_INT(back.last_used, 2000);
    CHECK_INT(find(ctx, s, mine, "first").n, 0);
    check_healthy(ctx, s);
}
