/* engine.c - memories and tokens through the engine's face. */
#include "lib/engine.h"

TEST(a_memory_is_added_read_listed_and_forgotten)
{
    ENGINE(e, s, p);
    struct memory m = {.content = S("  likes figs \n")}, back, *v;
    size_t n;
    int64_t total, erased;
    CHECK_OK(engine_add(ctx, e, mine, &m));
    CHECK(id_is_uuid(m.id));
    CHECK_STR(m.content, S("likes figs"));
    CHECK(m.importance == 0.7 && m.created > 0);
    CHECK_OK(engine_get(ctx, e, mine, m.id, &back));
    CHECK_STR(back.content, S("likes figs"));
    CHECK_INT(back.origin, ORIGIN_API);
    CHECK_STATUS(engine_get(ctx, e, other_user, m.id, &back), NOT_FOUND);
    ctx_clear_failure(ctx);
    struct memory_filter f = {.pool = mine, .limit = 10};
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK(n == 1 && total == 1);
    struct forget what = {.pool = mine, .id = m.id};
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK_INT(erased, 1);
    CHECK_STATUS(engine_get(ctx, e, mine, m.id, &back), NOT_FOUND);
}

TEST(what_breaks_a_rule_is_not_added)
{
    ENGINE(e, s, p);
    struct memory m = {.content = S(" ")};
    CHECK_STATUS(engine_add(ctx, e, mine, &m), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("content"));
    ctx_clear_failure(ctx);
    m = (struct memory){.content = S("x"), .importance = 1.5};
    CHECK_STATUS(engine_add(ctx, e, mine, &m), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("importance"));
    ctx_clear_failure(ctx);
    int64_t erased;
    struct forget nothing = {.pool = mine};
    CHECK_STATUS(engine_forget(ctx, e, &nothing, &erased), BAD_INPUT);
}

TEST(the_same_key_said_differently_closes_the_older)
{
    ENGINE(e, s, p);
    struct memory a = {.content = S("lives in Rome"), .key = S("home")},
                  b = {.content = S("lives in Oslo"), .key = S("home")}, back;
    CHECK_OK(engine_add(ctx, e, mine, &a));
    CHECK_OK(engine_add(ctx, e, mine, &b));
    CHECK_OK(engine_get(ctx, e, mine, a.id, &back));
    CHECK_STR(back.superseded_by, b.id);
}

TEST(the_same_key_is_changed_in_place_where_that_is_the_rule)
{
    ENGINE(e, s, p);
    struct memory a = {.content = S("lives in Rome"), .key = S("home"), .metadata = S("{\"a\":1}")},
                  b = {.content = S("lives in Oslo"), .key = S("home"), .metadata = S("{\"b\":2}")},
                  back;
    CHECK_OK(engine_add(ctx, e, mine, &a));
    CHECK_OK(engine_replace(ctx, e, mine, &b));
    CHECK_STR(b.id, a.id);
    CHECK_OK(engine_get(ctx, e, mine, a.id, &back));
    CHECK_STR(back.content, S("lives in Oslo"));
    CHECK_STR(back.metadata, S("{\"a\":1,\"b\":2}"));
}

TEST(a_change_keeps_the_rules_of_adding)
{
    ENGINE(e, s, p);
    struct memory m = {.content = S("likes figs")}, out;
    CHECK_OK(engine_add(ctx, e, mine, &m));
    struct change change = {.pool = mine, .id = m.id};
    CHECK_STATUS(engine_change(ctx, e, &change, &out), BAD_INPUT);
    ctx_clear_failure(ctx);
    change.what = CHANGE_CONTENT;
    change.to.content = S("  ");
    CHECK_STATUS(engine_change(ctx, e, &change, &out), BAD_INPUT);
    ctx_clear_failure(ctx);
    change.what = CHANGE_IMPORTANCE;
    change.to.importance = 2;
    CHECK_STATUS(engine_change(ctx, e, &change, &out), BAD_INPUT);
    ctx_clear_failure(ctx);
    change.what = CHANGE_CONTENT;
    change.to.content = S(" likes dates ");
    CHECK_OK(engine_change(ctx, e, &change, &out));
    CHECK_STR(out.content, S("likes dates"));
}

TEST(a_token_is_found_by_its_id_among_those_of_its_user)
{
    ENGINE(e, s, p);
    struct token t = {.name = S("laptop")}, back;
    str secret;
    CHECK_OK(engine_make_token(ctx, e, &t, &secret));
    CHECK_OK(engine_token_named(ctx, e, S("local"), t.id, &back));
    CHECK_STR(back.pool.space, t.pool.space);
    CHECK_STATUS(engine_token_named(ctx, e, S("anna"), t.id, &back), NOT_FOUND);
    CHECK_STATUS(engine_token_named(ctx, e, S("local"), S("x"), &back), NOT_FOUND);
}

TEST(a_token_opens_its_pool_until_it_is_revoked)
{
    int64_t made = 0;
    ENGINE(e, s, p);
    struct token t = {.name = S("laptop")}, two = {.name = S("phone")}, back;
    str secret, other;
    bool needed = true;
    CHECK_OK(engine_needs_token(ctx, e, &needed));
    CHECK(!needed);
    CHECK_OK(engine_make_token(ctx, e, &t, &secret));
    CHECK_OK(engine_make_token(ctx, e, &two, &other));
    CHECK(str_starts(secret, S("rk_")) && secret.n == 46);
    CHECK(!str_eq(secret, other) && !str_eq(t.pool.space, two.pool.space));
    CHECK_STR(t.pool.user, S("local"));
    CHECK_OK(engine_needs_token(ctx, e, &needed));
    CHECK(needed);
    CHECK_OK(engine_token(ctx, e, secret, S("192.0.2.1"), &back));
    CHECK_STR(back.name, S("laptop"));
    CHECK_STR(back.pool.space, t.pool.space);
    CHECK(str_find(back.hash, secret) == back.hash.n);
    CHECK_OK(store_revoke_token(ctx, s, S("local"), t.id, &made));
    CHECK_STATUS(engine_token(ctx, e, secret, S("192.0.2.1"), &back), NO_AUTH);
    CHECK_STATUS(engine_token(ctx, e, S("rk_no"), S("192.0.2.1"), &back), NO_AUTH);
    CHECK_STATUS(engine_token(ctx, e, S(""), S("192.0.2.1"), &back), NO_AUTH);
}

TEST(an_engine_can_be_asked_how_it_is)
{
    ENGINE(e, s, p);
    struct engine_stats stats;
    CHECK_OK(engine_ping(ctx, e));
    CHECK_OK(engine_stats(ctx, e, &stats));
    CHECK_INT(stats.recalls, 0);
    CHECK(stats.store.schema > 0);
    engine_close(NULL);
}

/* Anyone may send a long history; what it costs grows with it and not with its square. */
TEST(many_facts_at_once_take_memory_in_proportion)
{
    enum { MANY = 2000, BYTES_EACH = 8192 };
    ENGINE(e, s, p);
    struct said *said = NEW_N(&ctx->arena, struct said, MANY);
    for (int i = 0; i < MANY; i++)
        said[i] = (struct said){S("user"), str_printf(&ctx->arena, "I like thing%d.", i), S("")};
    const struct turn_in in = {.pool = mine, .said = said, .n_said = MANY, .mode = MODE_AFTER};
    CHECK_OK(engine_end_turn(ctx, e, engine_begin_turn(ctx, e, &in), S("")));
    CHECK(ctx->arena.total < (size_t)MANY * BYTES_EACH);
    CHECK_OK(store_flush(ctx, s));
    struct memory_filter f = {.pool = mine, .limit = 1};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(total, MANY);
}
