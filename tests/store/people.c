/* people.c - those who registered and their tokens: kept together, one address each, no way in. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

static struct user anna(void)
{
    return (struct user){.id = S("anna"),
                         .email = S("Anna@Example.org"),
                         .first_name = S("Anna"),
                         .last_name = S("Berg"),
                         .attributes = S("{\"plan\":\"pro\"}"),
                         .sealed_key = S("sealed"),
                         .key_preview = S("sk-…1234"),
                         .created = 1000,
                         .updated = 1000};
}

static struct token token_of(const char *id, const char *user)
{
    str name = str_of(id);
    return (struct token){.id = name,
                          .hash = name,
                          .name = S("t"),
                          .prefix = S("ctx_Ab3dEf"),
                          .pool = {str_of(user), S("default")}};
}

static bool has_tokens(struct ctx *ctx, struct store *s)
{
    bool any;
    CHECK_OK(store_has_tokens(ctx, s, &any));
    return any;
}

TEST(a_user_is_kept_with_a_token_and_found)
{
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), found;
    struct token t = token_of("t1", "anna"), seen;
    CHECK_OK(store_put_user(ctx, s, &u, false, &t));
    CHECK_OK(store_user(ctx, s, S("anna"), &found));
    CHECK_STR(found.email, u.email);
    CHECK_STR(found.first_name, u.first_name);
    CHECK_STR(found.last_name, u.last_name);
    CHECK_STR(found.attributes, u.attributes);
    CHECK_STR(found.sealed_key, u.sealed_key);
    CHECK_STR(found.key_preview, u.key_preview);
    CHECK(found.created == 1000 && found.updated == 1000);
    CHECK_OK(store_user_by_email(ctx, s, S("anna@EXAMPLE.org"), &found));
    CHECK_STR(found.id, S("anna"));
    CHECK_OK(store_find_token(ctx, s, S("t1"), &seen));
    CHECK_STR(seen.prefix, S("ctx_Ab3dEf"));
    CHECK_STR(seen.pool.user, S("anna"));
    CHECK_INT(seen.last_used, 0);
    CHECK_STATUS(store_user(ctx, s, S("ben"), &found), NOT_FOUND);
    CHECK_STATUS(store_user_by_email(ctx, s, S("ben@example.org"), &found), NOT_FOUND);
    CHECK_STATUS(store_user_by_email(ctx, s, S(""), &found), NOT_FOUND);
    CHECK(ctx->failed == OK);
}

TEST(an_id_or_address_that_is_there_gives_no_token)
{
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), found;
    struct token t = token_of("t1", "anna"), seen;
    CHECK_OK(store_put_user(ctx, s, &u, false, NULL));
    u.first_name = S("Mallory");
    CHECK_STATUS(store_put_user(ctx, s, &u, false, &t), CONFLICT);
    ctx_clear_failure(ctx);
    struct user other = {.id = S("mallory"), .email = S("ANNA@example.ORG")};
    t.pool.user = other.id;
    CHECK_STATUS(store_put_user(ctx, s, &other, false, &t), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_put_user(ctx, s, &other, true, &t), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_find_token(ctx, s, S("t1"), &seen), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_user(ctx, s, S("mallory"), &found), NOT_FOUND);
    CHECK_OK(store_user(ctx, s, S("anna"), &found));
    CHECK_STR(found.first_name, S("Anna"));
    struct user nobody = {.id = S("a")}, none = {.id = S("b")};
    CHECK_OK(store_put_user(ctx, s, &nobody, false, NULL)); /* no address is nobody's */
    CHECK_OK(store_put_user(ctx, s, &none, false, NULL));
}

/* Memories under a name, or a token of it, belong to someone who never registered. */
TEST(a_name_that_is_someones_already_is_not_free)
{
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), ben = {.id = S("ben")};
    struct memory m = fact("f1", "", "owns a dog");
    struct token t = token_of("t1", "ben");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_OK(store_put_token(ctx, s, &t));
    CHECK_STATUS(store_put_user(ctx, s, &u, false, NULL), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_put_user(ctx, s, &ben, false, NULL), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_OK(store_put_user(ctx, s, &u, true, NULL));
}

TEST(a_user_is_changed_but_for_when_it_was_made)
{
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), found;
    CHECK_OK(store_put_user(ctx, s, &u, false, NULL));
    u.created = u.updated = 5000;
    u.email = S("berg@example.org");
    u.sealed_key = u.key_preview = S("");
    CHECK_OK(store_put_user(ctx, s, &u, true, NULL));
    CHECK_OK(store_user(ctx, s, S("anna"), &found));
    CHECK(found.created == 1000 && found.updated == 5000);
    CHECK_STR(found.email, u.email);
    CHECK_STR(found.sealed_key, S(""));
    CHECK_STATUS(store_user_by_email(ctx, s, S("anna@example.org"), &found), NOT_FOUND);
}

TEST(a_user_and_its_token_are_written_together_or_not_at_all)
{
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), found;
    struct token t = token_of("t1", "anna"), bens = token_of("t1", "ben");
    CHECK_OK(store_put_token(ctx, s, &bens));
    CHECK_STATUS(store_put_user(ctx, s, &u, false, &t), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_user(ctx, s, S("anna"), &found), NOT_FOUND);
    t = token_of("t2", "ben");
    CHECK_STATUS(store_put_user(ctx, s, &u, false, &t), BAD_INPUT);
}

TEST(a_token_that_is_not_open_closes_the_door_for_good)
{
    int64_t made = 0;
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), ben = {.id = S("ben")};
    struct token a = token_of("t1", "anna"), more = token_of("t2", "anna"),
                 b = token_of("t3", "ben"), c = token_of("t4", "ben"), found;
    a.is_open = more.is_open = c.is_open = true;
    CHECK(!has_tokens(ctx, s));
    CHECK_OK(store_put_user(ctx, s, &u, false, &a));
    CHECK_OK(store_put_token(ctx, s, &more));
    CHECK(!has_tokens(ctx, s));
    CHECK_OK(store_put_token(ctx, s, &b));
    CHECK(has_tokens(ctx, s));
    CHECK_OK(store_put_user(ctx, s, &ben, true, &c));
    CHECK(has_tokens(ctx, s));
    CHECK_OK(store_revoke_token(ctx, s, S("ben"), S("t3"), &made));
    CHECK(has_tokens(ctx, s));
    CHECK_OK(store_find_token(ctx, s, S("t2"), &found));
    CHECK(found.is_open);
    CHECK_OK(store_ping(ctx, s));
}

TEST(tokens_are_each_users_own)
{
    int64_t made = 0;
    PLACE(p);
    STORE(s, p);
    struct user u = anna();
    struct token a = token_of("t1", "anna"), b = token_of("t2", "ben"), *v, seen;
    size_t n;
    a.created = 1, b.created = 2;
    CHECK_OK(store_put_user(ctx, s, &u, false, &a));
    CHECK_OK(store_put_token(ctx, s, &b));
    CHECK_STATUS(store_revoke_token(ctx, s, S("ben"), S("t1"), &made), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_revoke_token(ctx, s, S("anna"), S("t1"), &made));
    CHECK_STATUS(store_find_token(ctx, s, S("t1"), &seen), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_tokens(ctx, s, S("anna"), &v, &n));
    CHECK_INT(n, 1);
    CHECK(v[0].revoked > 0);
    CHECK_STR(v[0].prefix, S("ctx_Ab3dEf"));
    CHECK_OK(store_tokens(ctx, s, S(""), &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].id, S("t2"));
}

TEST(the_last_use_of_a_token_is_known_to_a_minute)
{
    PLACE(p);
    STORE(s, p);
    struct token t = token_of("t1", "anna"), seen;
    CHECK_OK(store_put_token(ctx, s, &t));
    static const int64_t used[] = {1000000, 1030000, 1059999, 900000};
    for (size_t i = 0; i < 4; i++)
        CHECK_OK(store_token_used(ctx, s, S("t1"), used[i], S("192.0.2.1")));
    CHECK_OK(store_token_used(ctx, s, S("nobody's"), 5, S("")));
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(store_find_token(ctx, s, S("t1"), &seen));
    CHECK_INT(seen.last_used, 1000000);
    CHECK_OK(store_token_used(ctx, s, S("t1"), 1060000, S("192.0.2.1")));
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(store_find_token(ctx, s, S("t1"), &seen));
    CHECK_INT(seen.last_used, 1060000);
}

/* All that a user wrote goes; that they registered stays, until the row is changed. */
TEST(forgetting_everything_leaves_the_user)
{
    PLACE(p);
    STORE(s, p);
    struct user u = anna(), found;
    struct token t = token_of("t1", "anna"), seen;
    struct memory m = fact("f1", "", "owns a dog");
    int64_t erased;
    CHECK_OK(store_put_user(ctx, s, &u, false, &t));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_OK(store_forget(
        ctx, s,
        &(struct forget){.pool = {S("anna"), S("")}, .everything = true, .all_spaces = true},
        &erased));
    CHECK_OK(store_user(ctx, s, S("anna"), &found));
    CHECK_OK(store_find_token(ctx, s, S("t1"), &seen));
}

static void check_owner(struct ctx *ctx, struct store *s, const char *name, const char *owner)
{
    str found;
    CHECK_OK(store_settle(ctx, s));
    CHECK_OK(store_owner(ctx, s, str_of(name), &found));
    CHECK_STR(found, str_of(owner));
}

TEST(who_made_something_at_a_model_server_is_noted_until_its_time)
{
    PLACE(p);
    STORE(s, p);
    int64_t now = clock_ms(), removed;
    const str made[] = {S("r1"), S("i1")}, kept = S("c1");
    check_owner(ctx, s, "r1", "");
    CHECK_OK(store_note_owners(ctx, s, made, 2, S("anna"), now + 1000));
    CHECK_OK(store_note_owners(ctx, s, &kept, 1, S("anna"), 0));
    check_owner(ctx, s, "r1", "anna");
    check_owner(ctx, s, "i1", "anna");
    CHECK_OK(store_note_owners(ctx, s, made, 1, S("b o b"), now + 9000000));
    check_owner(ctx, s, "r1", "b o b");
    CHECK_OK(store_prune(ctx, s, 0, 0, &removed));
    check_owner(ctx, s, "i1", "anna");
    fake_clock_set(now + 2000);
    CHECK_OK(store_prune(ctx, s, 0, 0, &removed));
    fake_clock_stop();
    CHECK_INT(removed, 1);
    check_owner(ctx, s, "i1", "");
    check_owner(ctx, s, "r1", "b o b");
    check_owner(ctx, s, "c1", "anna");
    check_healthy(ctx, s);
}

/* A backup has the owners of its time: erasing again who was erased since may take the last one. */
TEST(a_store_always_has_an_owner)
{
    PLACE(p);
    STORE(s, p);
    int64_t revoked;
    struct memory m = fact("f1", "", "has a boat");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_INT(store_set_role(ctx, s, S("nobody"), ROLE_OWNER, &revoked), NOT_FOUND);
    CHECK_INT(store_set_role(ctx, s, S(""), ROLE_OWNER, &revoked), NOT_FOUND);
    CHECK_INT(store_set_role(ctx, s, S(LOCAL_USER), ROLE_MEMBER, &revoked), FORBIDDEN);
    CHECK_OK(store_set_role(ctx, s, mine.user, ROLE_OWNER, &revoked));
    CHECK_OK(store_set_role(ctx, s, S(LOCAL_USER), ROLE_MEMBER, &revoked));
    CHECK_INT(store_set_role(ctx, s, mine.user, ROLE_OPERATOR, &revoked), FORBIDDEN);
    CHECK_OK(store_erase_account(ctx, s, mine.user));
    CHECK_INT(store_set_role(ctx, s, S(LOCAL_USER), ROLE_MEMBER, &revoked), FORBIDDEN);
}

TEST(a_user_was_active_last_in_any_of_its_spaces)
{
    PLACE(p);
    STORE(s, p);
    struct account *v;
    size_t n;
    int64_t total;
    struct memory early = fact("f1", "", "has a boat"), late = fact("f2", "", "has two");
    const struct pool_ref other = {mine.user, S("other")};
    late.created += 5000;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &early));
    CHECK_OK(keep(ctx, s, other, PUT_SUPERSEDE, &late));
    const struct account_filter one = {.id = mine.user};
    CHECK_OK(store_accounts(ctx, s, &one, &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK_INT(v->active, late.created);
}

struct demotion {
    struct store *s;
    enum status result;
    atomic_bool is_over;
};

static void *demote_local(void *arg)
{
    struct demotion *d = arg;
    CLEANUP(ctx_free) struct ctx ctx = {0};
    int64_t revoked;
    d->result = store_set_role(&ctx, d->s, S(LOCAL_USER), ROLE_MEMBER, &revoked);
    d->is_over = true;
    return NULL;
}

static const char *one_server_only(void)
{
    return is_on_postgres() ? NULL : "a file has one server";
}

/* The other server has demoted its owner and not committed yet; this one has to wait for it. */
TEST_NEEDS(of_two_owners_that_two_servers_demote_one_stays, one_server_only)
{
    static const char waits[] = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    PLACE(p);
    STORE(s, p);
    int64_t revoked;
    struct memory m = fact("f1", "", "has a boat");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_OK(store_set_role(ctx, s, mine.user, ROLE_OWNER, &revoked));
    struct beside *other = beside_open(ctx, &p);
    beside_do(ctx, other, "BEGIN");
    beside_do(ctx, other, "DELETE FROM role WHERE \"user\" <> 'local'");
    struct demotion d = {.s = s};
    pthread_t thread;
    pthread_create(&thread, NULL, demote_local, &d);
    while (!d.is_over && !place_int(ctx, &p, waits))
        usleep(1000);
    beside_do(ctx, other, "COMMIT");
    beside_close(other);
    pthread_join(thread, NULL);
    CHECK_INT(d.result, FORBIDDEN);
}
