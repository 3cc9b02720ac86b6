/* messages.c - turns are kept in order, once, found by number and chain, in their own pool. */
#include "lib/store.h"
#include "store/store.h"

TEST(a_message_comes_back_as_it_was)
{
    PLACE(p);
    STORE(s, p);
    struct message m = {.id = S("m1"),
                        .role = S("user"),
                        .speaker = S("Anna"),
                        .text = S("My dog is called \"Biscuit\", \xE2\x82\xAC 5"),
                        .ref = S("D1:3"),
                        .origin = ORIGIN_IMPORT,
                        .created = 1683553000000,
                        .chain = UINT64_MAX,
                        .tail = 7};
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    struct message back;
    CHECK_OK(store_messages(ctx, s, mine, &m.doc, 1, &back));
    CHECK_INT(back.doc, m.doc);
    CHECK_STR(back.id, m.id);
    CHECK_STR(back.session, S("s1"));
    CHECK_STR(back.role, m.role);
    CHECK_STR(back.speaker, m.speaker);
    CHECK_STR(back.text, m.text);
    CHECK_STR(back.ref, m.ref);
    CHECK_INT(back.origin, ORIGIN_IMPORT);
    CHECK_INT(back.created, m.created);
    CHECK(back.chain == UINT64_MAX && back.tail == 7);
    check_healthy(ctx, s);
}

TEST(a_session_grows_at_its_end_and_its_numbers_are_neighbours)
{
    PLACE(p);
    STORE(s, p);
    struct message m[3] = {said("a", "user", "one", 1000), said("b", "assistant", "two", 2000),
                           said("c", "user", "three", 3000)};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1"), .title = S("Numbers")},
                       .messages = m,
                       .n_messages = 2};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(say(ctx, s, mine, "s2", &(struct message){.id = S("x"), .text = S("between")}));
    CHECK_OK(say(ctx, s, mine, "s1", &m[2]));
    CHECK_INT(m[1].doc, m[0].doc + 1);
    CHECK_INT(m[2].doc, m[0].doc + 2);
    CHECK_INT(doc_position(m[2].doc), 2);
    struct message *v;
    size_t n;
    CHECK_OK(store_session_messages(ctx, s, mine, S("s1"), 0, 10, &v, &n));
    CHECK_INT(n, 3);
    CHECK_STR(v[2].text, S("three"));
    CHECK_OK(store_session_messages(ctx, s, mine, S("s1"), 1, 1, &v, &n));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].text, S("two"));
    CHECK_OK(store_session_messages(ctx, s, mine, S("none"), 0, 10, &v, &n));
    CHECK_INT(n, 0);
    check_healthy(ctx, s);
}

TEST(a_retry_adds_nothing)
{
    PLACE(p);
    STORE(s, p);
    struct message m[2] = {said("a", "user", "hello there", 1000),
                           said("b", "user", "again", 2000)};
    struct bundle b = {.pool = mine, .session = {.id = S("s1")}, .messages = m, .n_messages = 1};
    CHECK_OK(store_write(ctx, s, &b));
    doc_id first = m[0].doc;
    m[0].text = S("changed");
    b.n_messages = 2;
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_INT(m[0].doc, first);
    CHECK_INT(m[1].doc, first + 1);
    struct message back;
    CHECK_OK(store_messages(ctx, s, mine, &first, 1, &back));
    CHECK_STR(back.text, S("hello there"));
    CHECK_INT(find(ctx, s, mine, "changed").n, 0);
    CHECK_INT(find(ctx, s, mine, "hello again").messages, 2);
    check_healthy(ctx, s);
}

TEST(the_newest_message_of_a_chain_is_found_else_of_a_tail)
{
    PLACE(p);
    STORE(s, p);
    struct message old = said("a", "user", "x", 1000), new = said("b", "user", "x", 2000), out;
    old.chain = new.chain = 5;
    old.tail = new.tail = 6;
    CHECK_OK(say(ctx, s, mine, "s2", &new));
    CHECK_OK(say(ctx, s, mine, "s1", &old));
    CHECK_OK(store_find_chain(ctx, s, mine, 5, 0, &out));
    CHECK_STR(out.id, S("b"));
    CHECK_STR(out.session, S("s2"));
    CHECK_OK(store_find_chain(ctx, s, mine, 77, 6, &out));
    CHECK_STR(out.id, S("b"));
    CHECK_STATUS(store_find_chain(ctx, s, mine, 77, 0, &out), NOT_FOUND);
    CHECK_STATUS(store_find_chain(ctx, s, mine, 0, 0, &out), NOT_FOUND);
    CHECK_STATUS(store_find_chain(ctx, s, mine, 6, 5, &out), NOT_FOUND);
    CHECK_STATUS(store_find_chain(ctx, s, other_space, 5, 6, &out), NOT_FOUND);
    CHECK_INT(ctx->failed, OK);
}

TEST(sessions_are_listed_newest_first)
{
    PLACE(p);
    STORE(s, p);
    CHECK_OK(say(ctx, s, mine, "s1", &(struct message){.id = S("a"), .created = 3000}));
    CHECK_OK(say(ctx, s, mine, "s2", &(struct message){.id = S("b"), .created = 1000}));
    CHECK_OK(say(ctx, s, mine, "s3", &(struct message){.id = S("c"), .created = 2000}));
    CHECK_OK(say(ctx, s, mine, "s2", &(struct message){.id = S("d"), .created = 9000}));
    struct session *v;
    size_t n;
    int64_t total;
    CHECK_OK(store_sessions(ctx, s, &(struct session_filter){.pool = mine, .offset = 0, .limit = 2},
                            &v, &n, &total));
    CHECK_INT(total, 3);
    CHECK_INT(n, 2);
    CHECK_STR(v[0].id, S("s2"));
    CHECK_INT(v[0].messages, 2);
    CHECK_INT(v[0].created, 1000);
    CHECK_INT(v[0].updated, 9000);
    CHECK_STR(v[1].id, S("s1"));
    CHECK_OK(store_sessions(ctx, s, &(struct session_filter){.pool = mine, .offset = 2, .limit = 2},
                            &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].id, S("s3"));
    CHECK_OK(store_sessions(ctx, s, &(struct session_filter){.pool = mine, .offset = 9, .limit = 2},
                            &v, &n, &total));
    CHECK_INT(n, 0);
}

TEST(no_read_sees_another_pool)
{
    PLACE(p);
    STORE(s, p);
    struct pool_ref others[] = {other_space, other_user, {S("nobody"), S("default")}};
    struct message m = said("m1", "user", "My dog is called Biscuit", 1000);
    struct memory f = fact("f1", "dog", "has a dog Biscuit");
    struct receipt r = {.id = S("r1"), .block = S("block"), .chain = 9};
    m.chain = 5;
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = &m,
                       .n_messages = 1,
                       .memories = &f,
                       .n_memories = 1,
                       .receipt = &r};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(say(ctx, s, other_user, "s9", &(struct message){.id = S("z"), .text = S("cat")}));
    for (size_t i = 0; i < 3; i++) {
        struct pool_ref o = others[i];
        struct message message, *messages;
        struct memory memory, *memories;
        struct session *sessions;
        struct receipt receipt;
        size_t n;
        int64_t total;
        CHECK_OK(store_messages(ctx, s, o, &m.doc, 1, &message));
        CHECK_INT(message.id.n, 0);
        CHECK_OK(store_memories(ctx, s, o, &f.doc, 1, &memory));
        CHECK_INT(memory.id.n, 0);
        CHECK_STATUS(store_memory(ctx, s, o, S("f1"), &memory), NOT_FOUND);
        ctx_clear_failure(ctx);
        CHECK_OK(store_session_messages(ctx, s, o, S("s1"), 0, 10, &messages, &n));
        CHECK_INT(n, 0);
        CHECK_OK(store_sessions(ctx, s,
                                &(struct session_filter){.pool = o, .offset = 0, .limit = 10},
                                &sessions, &n, &total));
        CHECK_INT(total, i == 1);
        CHECK_OK(store_list_memories(ctx, s, &(struct memory_filter){.pool = o, .limit = 10},
                                     &memories, &n, &total));
        CHECK_INT(total, 0);
        CHECK_INT(find(ctx, s, o, "dog biscuit").n, 0);
        CHECK_STATUS(store_receipt(ctx, s, o, S("r1"), &receipt), NOT_FOUND);
        ctx_clear_failure(ctx);
        CHECK_OK(store_receipt_of(ctx, s, o, 9, &receipt));
        CHECK_INT(receipt.block.n, 0);
    }
}

TEST(the_same_ids_live_in_several_pools)
{
    PLACE(p);
    STORE(s, p);
    struct message a = said("m1", "user", "red", 1000), b = said("m1", "user", "blue", 1000), out;
    CHECK_OK(say(ctx, s, mine, "s1", &a));
    CHECK_OK(say(ctx, s, other_user, "s1", &b));
    CHECK(a.doc != b.doc);
    CHECK_OK(store_messages(ctx, s, other_user, &b.doc, 1, &out));
    CHECK_STR(out.text, S("blue"));
    check_healthy(ctx, s);
}

TEST(a_bundle_that_breaks_a_rule_is_refused)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "x", 1);
    struct memory f = fact("f1", "", "");
    CHECK_STATUS(say(ctx, s, mine, "", &m), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(say(ctx, s, (struct pool_ref){S(""), S("x")}, "s1", &m), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(keep(ctx, s, mine, PUT_SUPERSEDE, &f), BAD_INPUT);
}

TEST(an_empty_id_becomes_one)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("", "user", "x", 1);
    struct memory f = fact("", "", "likes tea");
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    CHECK(id_is_uuid(m.id) && id_is_uuid(f.id));
}

/* A turn that was kept while the database was away comes behind a client that has gone on. */
TEST(an_echo_that_is_heard_is_found_by_its_words_and_its_day)
{
    enum { DAY = 86400000 };
    PLACE(p);
    STORE(s, p);
    struct message echo = said("m1", "user", "a boat to Ithaca", 1700000000000);
    struct message heard = echo, found;
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = &heard,
                       .n_messages = 1,
                       .hears = true};
    echo.is_echo = true;
    CHECK_OK(say(ctx, s, mine, "s1", &echo));
    CHECK_OK(store_messages(ctx, s, mine, &echo.doc, 1, &found));
    CHECK(found.is_echo);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 0);
    heard.created -= 40LL * DAY;
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK_INT(find(ctx, s, mine, "october").n, 1);
    CHECK_INT(find(ctx, s, mine, "november").n, 0);
    CHECK_OK(store_messages(ctx, s, mine, &echo.doc, 1, &found));
    CHECK(!found.is_echo && found.created == heard.created);
    check_healthy(ctx, s);
}
