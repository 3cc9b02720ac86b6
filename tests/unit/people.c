/* people.c - those who register through the engine's face: who may, what is kept, their tokens. */
#include "base/id.h"
#include "base/seal.h"
#include "lib/clock.h"
#include "lib/engine.h"
#include "store/store.h"

#define ADA "550e8400-e29b-41d4-a716-446655440000"
#define BEN "550e8400-e29b-41d4-a716-446655440001"

static const uint8_t seal_key[SEAL_KEY_BYTES] = "0123456789abcdef0123456789ABCDE";
static const uint8_t other_key[SEAL_KEY_BYTES] = "other";

static struct registration ada(void)
{
    return (struct registration){.user = {.id = S(ADA),
                                          .email = S("ada@example.com"),
                                          .first_name = S("Ada"),
                                          .last_name = S("Lovelace"),
                                          .attributes = S("{\"company\":\"Acme\"}")}};
}

static bool needs_token(struct ctx *ctx, struct engine *e)
{
    bool needed = true;
    CHECK_OK(engine_needs_token(ctx, e, &needed));
    return needed;
}

TEST(a_person_is_a_user_that_no_other_name_makes)
{
    static const char *const names[] = {"a",  "A",  " a",   "a/b",  "a%2Fb", "a%2fb",   "/a",
                                        "a/", "%",  "%25",  "\n",   "\t",    "local",   "any",
                                        ".",  "..", "\x7f", "a\nb", "a%0Ab", "\xc3\xa4"};
    static const char *const owners[] = {"local", "local/a", "a", "a/b"};
    enum { NAMES = sizeof names / sizeof *names, OWNERS = sizeof owners / sizeof *owners };
    str made[NAMES * OWNERS];
    for (size_t i = 0; i < NAMES * OWNERS; i++) {
        str owner = str_of(owners[i / NAMES]), name = str_of(names[i % NAMES]);
        made[i] = person_user(&ctx->arena, owner, name);
        CHECK(person_is_owner(&ctx->arena, made[i], name));
        CHECK_STR(person_name(&ctx->arena, owner, made[i]), name);
        for (size_t j = 0; j < i; j++)
            CHECK(!str_eq(made[i], made[j]));
    }
    CHECK_STR(made[0], S("local/a"));
    CHECK_STR(person_user(&ctx->arena, S("x"), S("a/b%\x01")), S("x/a%2Fb%25%01"));
    CHECK_STR(person_user(&ctx->arena, S("x"), S("..")), S("x/%2E%2E"));
    CHECK_STR(person_user(&ctx->arena, S("x"), S(".a.")), S("x/.a."));
    CHECK_STR(person_name(&ctx->arena, S("x"), S("x/a/b")), S(""));
    CHECK_STR(person_name(&ctx->arena, S("x"), S("x/")), S(""));
    CHECK_STR(person_name(&ctx->arena, S("x"), S("xy/a")), S(""));
    CHECK_STR(person_name(&ctx->arena, S("x"), S("x/a%2fb")), S(""));
    CHECK(person_is_owner(&ctx->arena, S("ann"), S("ann")));
    CHECK(!person_is_owner(&ctx->arena, S("ann"), S("an")));
    CHECK(!person_is_owner(&ctx->arena, S("shop/ann"), S("shop")));
}

TEST(a_list_of_people_has_whom_it_names)
{
    CHECK(acts_for(S(ACTS_FOR_ANY), S("ann")));
    CHECK(acts_for(S("ann, ben"), S("ben")) && acts_for(S("ann"), S("ann")));
    CHECK(!acts_for(S(""), S("ann")) && !acts_for(S("ann"), S("an")) && !acts_for(S("ann"), S("")));
    CHECK(!acts_for(S("ann, ben"), S("any")) && !acts_for(S("ann, ben"), S("ann, ben")));
    CHECK_OK(acts_for_check(ctx, S("")));
    CHECK_OK(acts_for_check(ctx, S("ann, ben")));
    CHECK_STATUS(acts_for_check(ctx, S("ann,,ben")), BAD_INPUT);
    CHECK_STATUS(acts_for_check(ctx, S("any, ben")), BAD_INPUT);
}

TEST(who_registers_is_kept_and_has_a_token_that_closes_nothing)
{
    ENGINE(e, s, p);
    struct registration r = ada();
    struct user u;
    struct token t;
    str secret;
    r.user.id = S("550E8400-E29B-41D4-A716-446655440000");
    CHECK_STATUS(engine_user(ctx, e, S(ADA), &u), NOT_FOUND);
    CHECK_OK(engine_register(ctx, e, &r, &secret));
    CHECK(str_starts(secret, S("ctx_")) && secret.n > 40);
    CHECK_OK(engine_user(ctx, e, S(ADA), &u));
    CHECK_STR(u.email, S("ada@example.com"));
    CHECK_STR(u.last_name, S("Lovelace"));
    CHECK_STR(u.attributes, S("{\"company\":\"Acme\"}"));
    CHECK(u.created && !u.sealed_key.n && !u.key_preview.n);
    CHECK_OK(engine_token(ctx, e, secret, S("192.0.2.1"), &t));
    CHECK_STR(t.pool.user, S(ADA));
    CHECK_STR(t.pool.space, S(DEFAULT_SPACE));
    CHECK_STR(t.name, S("Initial Token"));
    CHECK_STR(t.prefix, str_sub(secret, 0, 10));
    CHECK(!t.is_admin && t.is_open);
    CHECK(!needs_token(ctx, e));
}

TEST(who_is_there_is_changed_by_proof_alone_and_nobody_learns_which_it_was)
{
    ENGINE(e, s, p);
    struct registration r = ada();
    str secret = S("none"), why;
    struct user before, u;
    CHECK_OK(engine_register(ctx, e, &r, &secret));
    CHECK_OK(engine_user(ctx, e, S(ADA), &before));
    struct registration same_id = {.user = {.id = S(ADA), .email = S("x@example.com")}};
    struct registration same_email = {.user = {.id = S(BEN), .email = S("ADA@example.COM")}};
    secret = S("none");
    CHECK_STATUS(engine_register(ctx, e, &same_id, &secret), CONFLICT);
    why = str_dup(&ctx->arena, str_of(ctx->why));
    ctx_clear_failure(ctx);
    CHECK_STATUS(engine_register(ctx, e, &same_email, &secret), CONFLICT);
    CHECK_STR(str_of(ctx->why), why);
    ctx_clear_failure(ctx);
    same_email.may_change = true;
    CHECK_STATUS(engine_register(ctx, e, &same_email, &secret), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STR(secret, S("none"));
    CHECK_OK(engine_user(ctx, e, S(ADA), &u));
    CHECK_STR(u.email, before.email);
    CHECK_STATUS(engine_user(ctx, e, S(BEN), &u), NOT_FOUND);
    struct token *v;
    size_t n;
    CHECK_OK(engine_tokens(ctx, e, S(ADA), &v, &n));
    CHECK_INT(n, 1);

    same_id.may_change = true;
    same_id.user.first_name = S("Augusta");
    CHECK_OK(engine_register(ctx, e, &same_id, &secret));
    CHECK_OK(engine_user(ctx, e, S(ADA), &u));
    CHECK_STR(u.email, S("x@example.com"));
    CHECK_STR(u.first_name, S("Augusta"));
    CHECK_STR(u.last_name, S("Lovelace"));
    CHECK_STR(u.attributes, before.attributes);
    CHECK_INT(u.created, before.created);
}

/* Whoever has memories or a token under a name has it, registered or not. */
TEST(a_name_that_is_someones_is_taken)
{
    ENGINE(e, s, p);
    struct registration r = ada();
    struct memory m = {.content = S("likes figs")};
    str secret = S("none");
    CHECK_OK(engine_add(ctx, e, (struct pool_ref){S(ADA), S("work")}, &m));
    CHECK_STATUS(engine_register(ctx, e, &r, &secret), CONFLICT);
    ctx_clear_failure(ctx);
    struct token t = {.pool = {S(BEN), S("default")}};
    str own;
    CHECK_OK(engine_make_token(ctx, e, &t, &own));
    struct registration ben = {.user = {.id = S(BEN), .email = S("ben@example.com")}};
    CHECK_STATUS(engine_register(ctx, e, &ben, &secret), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STR(secret, S("none"));
    ben.may_change = true;
    CHECK_OK(engine_register(ctx, e, &ben, &secret));
    CHECK(needs_token(ctx, e));
}

TEST(what_breaks_a_rule_does_not_register)
{
    ENGINE(e, s, p);
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    str too_long = {long_name, 201};
    const struct {
        const char *field;
        str id, email, first_name, token_name, attributes;
    } wrong[] = {
        {"id", S(""), S("a@b.c")},
        {"id", S("local"), S("a@b.c")},
        {"id", S("550e8400-e29b-41d4-a716-44665544000"), S("a@b.c")},
        {"email", S(BEN), S("")},
        {"email", S(BEN), S("ben")},
        {"email", S(BEN), S("@example.com")},
        {"email", S(BEN), S("ben@")},
        {"email", S(BEN), S("ben@x@y")},
        {"email", S(BEN), S("ben @example.com")},
        {"email", S(BEN), S("ben@example.com\r\nBcc: x")},
        {"first_name", S(BEN), S("a@b.c"), too_long},
        {"token_name", S(BEN), S("a@b.c"), S(""), too_long},
        {"custom_attributes", S(BEN), S("a@b.c"), S(""), S(""), S("[1]")},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct registration r = {.user = {.id = wrong[i].id,
                                          .email = wrong[i].email,
                                          .first_name = wrong[i].first_name,
                                          .attributes = wrong[i].attributes},
                                 .token.name = wrong[i].token_name};
        str secret;
        CHECK_STATUS(engine_register(ctx, e, &r, &secret), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), str_of(wrong[i].field));
        ctx_clear_failure(ctx);
    }
    str local = str_printf(&ctx->arena, S_FMT "@example.com", 243, long_name);
    struct registration r = {.user = {.id = S(BEN), .email = local}};
    str secret;
    CHECK_STATUS(engine_register(ctx, e, &r, &secret), BAD_INPUT);
}

/* --- model keys --- */

TEST(a_model_key_is_sealed_shown_in_part_and_given_back)
{
    ENGINE(e, s, p);
    struct registration r = ada();
    struct user u;
    str secret, back = S("?");
    r.sets_key = true;
    r.key = S("sk-0123456789-abcdef-abc123");
    CHECK_STATUS(engine_register(ctx, e, &r, &secret), UNSUPPORTED);
    ctx_clear_failure(ctx);
    engine_take_seal(e, seal_key);
    CHECK_OK(engine_register(ctx, e, &r, &secret));
    CHECK_OK(store_user(ctx, s, S(ADA), &u));
    CHECK_STR(u.key_preview, S("sk-...abc123"));
    CHECK(str_find(u.sealed_key, S("sk-")) == u.sealed_key.n);
    CHECK_OK(engine_model_key(ctx, e, S(ADA), &back));
    CHECK_STR(back, r.key);
    CHECK_OK(engine_model_key(ctx, e, S(BEN), &back));
    CHECK_STR(back, S(""));

    struct user moved = {.id = S(BEN), .sealed_key = u.sealed_key};
    CHECK_OK(store_put_user(ctx, s, &moved, true, NULL));
    CHECK_STATUS(engine_model_key(ctx, e, S(BEN), &back), STORAGE);
    ctx_clear_failure(ctx);
    engine_take_seal(e, other_key);
    CHECK_STATUS(engine_model_key(ctx, e, S(ADA), &back), STORAGE);
    ctx_clear_failure(ctx);
    CHECK_OK(engine_put_model_key(ctx, e, S(ADA), S(""), &u));
    CHECK(!u.sealed_key.n && !u.key_preview.n);
    CHECK_OK(engine_model_key(ctx, e, S(ADA), &back));
    CHECK_STR(back, S(""));
}

TEST(no_more_than_half_of_a_model_key_is_shown)
{
    ENGINE(e, s, p);
    engine_take_seal(e, seal_key);
    str all = S("abcdefghijklmnopqrstuvwxyz0123456789");
    for (size_t n = 1; n <= all.n; n++) {
        struct user u;
        CHECK_OK(engine_put_model_key(ctx, e, S(LOCAL_USER), str_sub(all, 0, n), &u));
        size_t dots = str_find(u.key_preview, S("..."));
        CHECK(dots <= 3 && u.key_preview.n - dots - 3 <= 6);
        CHECK(2 * (u.key_preview.n - 3) <= n);
        CHECK(n < 18 || u.key_preview.n == 12);
    }
    str wrong[] = {S("sk a"), S("sk\r\nX: y"), S("sk-\xc3\xa9")};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct user u;
        CHECK_STATUS(engine_put_model_key(ctx, e, S(LOCAL_USER), wrong[i], &u), BAD_INPUT);
        ctx_clear_failure(ctx);
    }
}

/* The row that a model key makes is no registration: it opens no closed door. */
TEST(the_local_users_model_key_leaves_its_tokens_as_they_are)
{
    ENGINE(e, s, p);
    struct token t = {.pool = {S(LOCAL_USER), S("default")}};
    struct user u;
    str secret;
    bool any = false;
    engine_take_seal(e, seal_key);
    CHECK_OK(engine_make_token(ctx, e, &t, &secret));
    CHECK_OK(engine_put_model_key(ctx, e, S(LOCAL_USER), S("sk-1234567890"), &u));
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(any && needs_token(ctx, e));
    CHECK_OK(engine_user(ctx, e, S(LOCAL_USER), &u));
    CHECK_STR(u.email, S(""));
}

/* --- tokens --- */

TEST(a_token_tells_when_it_was_last_used_to_a_minute)
{
    ENGINE(e, s, p);
    struct token t = {.pool = {S(ADA), S("default")}, .prefix = S("ctx_")}, found;
    str secret;
    int64_t now = clock_ms();
    CHECK_OK(engine_make_token(ctx, e, &t, &secret));
    CHECK(engine_is_token(secret) && engine_is_token(S("rk_x")) && !engine_is_token(S("sk-x")));
    const struct {
        int64_t after, shown;
    } steps[] = {{0, 0}, {30000, 0}, {61000, 61000}, {100000, 61000}, {200000, 200000}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fake_clock_set(now + steps[i].after);
        CHECK_OK(engine_token(ctx, e, secret, S("192.0.2.1"), &found));
        CHECK_OK(store_flush(ctx, s));
        CHECK_OK(engine_token_named(ctx, e, S(ADA), t.id, &found));
        CHECK_INT(found.last_used, now + steps[i].shown);
    }
}

TEST(a_revoked_token_is_gone_at_once_and_only_its_user_can_revoke_it)
{
    ENGINE(e, s, p);
    struct token t = {.pool = {S(ADA), S("default")}, .prefix = S("ctx_")}, found;
    str secret;
    CHECK_OK(engine_make_token(ctx, e, &t, &secret));
    CHECK_STATUS(engine_revoke_token(ctx, e, S(BEN), t.id), NOT_FOUND);
    CHECK_INT(ctx->failed, OK);
    CHECK_OK(engine_token(ctx, e, secret, S("192.0.2.1"), &found));
    CHECK_OK(engine_revoke_token(ctx, e, S(ADA), t.id));
    CHECK_STATUS(engine_token(ctx, e, secret, S("192.0.2.1"), &found), NO_AUTH);
    ctx_clear_failure(ctx);
    CHECK_STATUS(engine_revoke_token(ctx, e, S(ADA), t.id), NOT_FOUND);
}
