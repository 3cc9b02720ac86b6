/* agents.c - the spaces of a user as agents: their counts, and nobody else's. */
#include "lib/engine.h"
#include "store/store.h"

static void put(struct ctx *ctx, struct store *s, struct pool_ref pool, enum layer layer,
                const char *text, int64_t created)
{
    struct memory m = {.layer = layer, .content = str_of(text), .created = created};
    struct bundle b = {.pool = pool, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
}

TEST(agents_are_counted_by_layer)
{
    ENGINE(e, s, p);
    struct pool_sum *v, one;
    size_t n;
    int64_t later = clock_ms() + 1000000;
    CHECK_OK(engine_agents(ctx, e, mine.user, &v, &n));
    CHECK_INT(n, 0);
    put(ctx, s, mine, LAYER_FACT, "one", 1000);
    put(ctx, s, mine, LAYER_FACT, "two", later);
    put(ctx, s, mine, LAYER_EPISODE, "three", 1000);
    put(ctx, s, mine, LAYER_IDENTITY, "four", 1000);
    put(ctx, s, mine, LAYER_SUMMARY, "five", 1000);
    put(ctx, s, other_space, LAYER_EPISODE, "six", 1000);
    put(ctx, s, other_user, LAYER_FACT, "seven", 1000);
    struct message m = said("m1", "user", "I sail to Ithaca tomorrow", 1000);
    struct bundle b = {.pool = other_space,
                       .session = {.id = S("s1")},
                       .messages = &m,
                       .n_messages = 1,
                       .distil_at = 1};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(engine_agents(ctx, e, mine.user, &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].pool.pool.space, S("default"));
    CHECK_STR(v[0].pool.pool.user, mine.user);
    CHECK_INT(v[0].facts, 2);
    CHECK_INT(v[0].episodes, 1);
    CHECK_INT(v[0].signals, 0);
    CHECK_INT(v[0].updated, later);
    CHECK_STR(v[1].pool.pool.space, S("work"));
    CHECK_INT(v[1].facts, 0);
    CHECK_INT(v[1].episodes, 1);
    CHECK_INT(v[1].signals, 1);
    CHECK_INT(v[1].pool.messages, 1);
    CHECK(v[1].updated >= v[1].pool.created);
    CHECK_OK(engine_agent(ctx, e, mine, &one));
    CHECK_INT(one.facts, 2);
    CHECK_STR(one.pool.pool.space, S("default"));
}

TEST(what_is_closed_does_not_count)
{
    ENGINE(e, s, p);
    struct pool_sum one;
    struct memory_filter f = {.pool = mine, .limit = 9};
    struct memory *v;
    size_t n;
    int64_t changed;
    put(ctx, s, mine, LAYER_FACT, "one", 1000);
    put(ctx, s, mine, LAYER_EPISODE, "two", 2000);
    put(ctx, s, mine, LAYER_EPISODE, "three", 3000);
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &changed));
    str evict[] = {v[0].id, v[2].id};
    struct consolidation c = {.pool = mine, .evict = evict, .n_evict = 2};
    CHECK_OK(store_consolidate(ctx, s, &c, &changed));
    CHECK_OK(engine_agent(ctx, e, mine, &one));
    CHECK_INT(one.facts, 0);
    CHECK_INT(one.episodes, 1);
}

TEST(an_agent_that_nobody_has_is_not_found)
{
    ENGINE(e, s, p);
    struct pool_sum one;
    put(ctx, s, mine, LAYER_FACT, "one", 1000);
    CHECK_STATUS(engine_agent(ctx, e, other_user, &one), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(engine_agent(ctx, e, other_space, &one), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(engine_agent(ctx, e, (struct pool_ref){.user = mine.user}, &one), NOT_FOUND);
}
