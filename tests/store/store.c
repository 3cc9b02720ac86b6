/* store.c - messages, memories and words are written, found again, and stay apart by pool. */
#include "fixture.h"

TEST(a_message_is_found_by_its_words)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "My dog is called Biscuit", 1683553000000);
    m.speaker = S("Anna");
    m.chain = UINT64_MAX;
    m.tail = 7;
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    struct word_hits hits = find(ctx, s, mine, "biscuit dog may");
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].doc, m.doc);
    CHECK_INT(hits.v[0].counts[0], 1);
    CHECK_INT(hits.v[0].counts[1], 1);
    CHECK_INT(hits.v[0].counts[2], 1 << 4);
    CHECK_INT(hits.messages, 1);
    CHECK_INT(hits.found[0], 1);
    struct message back;
    CHECK_OK(store_messages(ctx, s, mine, &hits.v[0].doc, 1, &back));
    CHECK_STR(back.id, S("m1"));
    CHECK_STR(back.text, S("My dog is called Biscuit"));
    CHECK_STR(back.session, S("s1"));
    CHECK_STR(back.speaker, S("Anna"));
    CHECK(back.chain == UINT64_MAX && back.tail == 7);
    check_healthy(ctx, s);
}

TEST(a_memory_is_found_until_it_is_superseded)
{
    PLACE(p);
    STORE(s, p);
    struct memory tea = fact("f1", "drink", "likes tea"),
                  coffee = fact("f2", "drink", "likes coffee");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &tea));
    CHECK_INT(find(ctx, s, mine, "tea").n, 1);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &coffee));
    CHECK_INT(find(ctx, s, mine, "tea").n, 0);
    CHECK_INT(find(ctx, s, mine, "coffee").n, 1);
    struct memory old;
    CHECK_OK(store_memory(ctx, s, mine, S("f1"), &old));
    CHECK_STR(old.superseded_by, S("f2"));
    CHECK(old.valid_to != 0);
    check_healthy(ctx, s);
}

TEST(a_token_is_known_until_it_is_revoked)
{
    PLACE(p);
    STORE(s, p);
    struct token t = {.id = S("t1"), .hash = S("abc"), .name = S("laptop"), .pool = mine}, back;
    bool any = true;
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(!any);
    CHECK_OK(store_put_token(ctx, s, &t));
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(any);
    CHECK_OK(store_find_token(ctx, s, S("abc"), &back));
    CHECK_STR(back.pool.user, S("anna"));
    CHECK_OK(store_revoke_token(ctx, s, S("anna"), S("t1")));
    CHECK_STATUS(store_find_token(ctx, s, S("abc"), &back), NOT_FOUND);
}

TEST(forgetting_reaches_words_receipts_and_what_came_from_it)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "I love Lisbon", 1683553000000);
    m.chain = 99;
    struct memory f = fact("f1", "city", "loves Lisbon");
    f.source = S("m1");
    struct receipt_line line = {.kind = S("message"), .id = S("m1"), .why = S("words")};
    struct receipt r = {.id = S("r1"), .session = S("s2"), .block = S("block"), .chain = 5};
    r.lines = &line;
    r.n = 1;
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = &m,
                       .n_messages = 1,
                       .memories = &f,
                       .n_memories = 1,
                       .receipt = &r};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_INT(find(ctx, s, mine, "lisbon").n, 2);
    str block;
    CHECK_OK(store_block_of(ctx, s, mine, 5, &block));
    CHECK_STR(block, S("block"));
    struct receipt back;
    CHECK_OK(store_receipt(ctx, s, mine, S("r1"), &back));
    CHECK_INT(back.n, 1);
    CHECK_STR(back.lines[0].why, S("words"));
    int64_t erased = 0;
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
    CHECK_INT(erased, 2);
    CHECK_INT(find(ctx, s, mine, "lisbon").n, 0);
    CHECK_STATUS(store_receipt(ctx, s, mine, S("r1"), &back), NOT_FOUND);
    check_healthy(ctx, s);
}
