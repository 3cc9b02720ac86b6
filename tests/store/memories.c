/* memories.c - what is remembered: put rules, lists, receipts and tokens. */
#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

static struct memory get(struct ctx *ctx, struct store *s, const char *id)
{
    struct memory out;
    CHECK_OK(store_memory(ctx, s, mine, str_of(id), &out));
    return out;
}

TEST(a_memory_comes_back_as_it_was)
{
    PLACE(p);
    STORE(s, p);
    str tags[] = {S("pets"), S("a \"quoted\" one")};
    struct memory m = {.id = S("f1"),
                       .session = S("s1"),
                       .layer = LAYER_EPISODE,
                       .type = TYPE_PROCEDURAL,
                       .category = S("preference"),
                       .key = S("dog"),
                       .content = S("has a dog"),
                       .metadata = S("{\"a\":1}"),
                       .tags = {tags, 2},
                       .importance = 0.25,
                       .salience = 0.75,
                       .uses = 3,
                       .last_used = 11,
                       .origin = ORIGIN_DISTILLED,
                       .source = S("m1"),
                       .created = 12,
                       .updated = 13,
                       .expires = INT64_MAX,
                       .valid_from = 14};
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    struct memory back = get(ctx, s, "f1"), by_doc;
    CHECK_OK(store_memories(ctx, s, mine, &m.doc, 1, &by_doc));
    CHECK_STR(by_doc.id, S("f1"));
    CHECK_INT(back.doc, m.doc);
    CHECK(doc_is_memory(back.doc));
    CHECK_STR(back.session, m.session);
    CHECK_INT(back.layer, m.layer);
    CHECK_INT(back.type, m.type);
    CHECK_STR(back.category, m.category);
    CHECK_STR(back.key, m.key);
    CHECK_STR(back.content, m.content);
    CHECK_STR(back.metadata, m.metadata);
    CHECK_INT(back.tags.n, 2);
    CHECK_STR(back.tags.v[1], tags[1]);
    CHECK(back.importance == 0.25 && back.salience == 0.75);
    CHECK_INT(back.uses, 3);
    CHECK_INT(back.last_used, 11);
    CHECK_INT(back.origin, m.origin);
    CHECK_STR(back.source, m.source);
    CHECK_INT(back.created, 12);
    CHECK_INT(back.updated, 13);
    CHECK(back.expires == INT64_MAX);
    CHECK_INT(back.valid_from, 14);
    CHECK_INT(back.valid_to, 0);
}

/* The words of a later failure are its own. */
TEST(what_a_damaged_row_holds_is_left_out_and_leaves_no_failure)
{
    PLACE(p);
    STORE(s, p);
    str tag = S("pets");
    struct memory m = fact("f1", "dog", "has a dog"), back;
    m.tags = (struct strs){&tag, 1};
    m.metadata = S("{\"a\":1}");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    place_do(ctx, &p, "UPDATE memory SET tags = '[\"pe'");
    CHECK_OK(store_memory(ctx, s, mine, S("f1"), &back));
    CHECK_INT(back.tags.n, 0);
    CHECK_STATUS(store_memory(ctx, s, mine, S("f2"), &back), NOT_FOUND);
    CHECK_STR(str_of(ctx->why), S("no memory 'f2'"));
    ctx_clear_failure(ctx);
    place_do(ctx, &p, "UPDATE memory SET tags = '', metadata = '{\"a'");
    m.id = S("");
    CHECK_OK(keep(ctx, s, mine, PUT_REPLACE, &m));
    CHECK_STATUS(store_memory(ctx, s, mine, S("f3"), &back), NOT_FOUND);
    CHECK_STR(str_of(ctx->why), S("no memory 'f3'"));
    ctx_clear_failure(ctx);
}

TEST(another_content_under_the_key_closes_the_old_one)
{
    PLACE(p);
    STORE(s, p);
    struct memory tea = fact("f1", "drink", "likes tea"),
                  coffee = fact("f2", "drink", "likes coffee");
    coffee.created = 1700000005000;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &tea));
    CHECK_INT(find(ctx, s, mine, "tea").n, 1);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &coffee));
    CHECK_INT(find(ctx, s, mine, "tea").n, 0);
    CHECK_INT(find(ctx, s, mine, "coffee").n, 1);
    CHECK_INT(find(ctx, s, mine, "coffee").memories, 1);
    struct memory old = get(ctx, s, "f1");
    CHECK_STR(old.superseded_by, S("f2"));
    CHECK_INT(old.valid_to, coffee.created);
    CHECK_INT(get(ctx, s, "f2").valid_to, 0);
    check_healthy(ctx, s);
}

TEST(a_new_memory_takes_no_key_of_another)
{
    PLACE(p);
    STORE(s, p);
    struct memory tea = fact("f1", "drink", "likes tea"),
                  coffee = fact("", "drink", "likes coffee"), same = fact("", "drink", "likes tea"),
                  other = fact("", "food", "likes bread");
    CHECK_OK(keep(ctx, s, mine, PUT_NEW, &tea));
    CHECK_INT(keep(ctx, s, mine, PUT_NEW, &coffee), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_INT(keep(ctx, s, mine, PUT_NEW, &same), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_OK(keep(ctx, s, mine, PUT_NEW, &other));
    CHECK_INT(find(ctx, s, mine, "coffee").n, 0);
    CHECK_INT(find(ctx, s, mine, "tea").memories, 2);
    CHECK_INT(get(ctx, s, "f1").uses, 0);
    check_healthy(ctx, s);
}

TEST(what_was_said_before_is_said_once_more)
{
    PLACE(p);
    STORE(s, p);
    struct memory a = fact("f1", "drink", "likes tea"), same_id = fact("f1", "", "likes tea"),
                  same_key = fact("f9", "drink", "likes tea");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &a));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &same_id));
    same_key.last_used = 1800000000000;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &same_key));
    CHECK_STR(same_key.id, S("f1"));
    CHECK_INT(same_key.doc, a.doc);
    CHECK_INT(get(ctx, s, "f1").uses, 2);
    CHECK(get(ctx, s, "f1").last_used >= 1800000000000);
    CHECK_INT(find(ctx, s, mine, "tea").n, 1);
    check_healthy(ctx, s);
}

TEST(a_fact_that_becomes_true_again_is_new_but_a_retry_is_not)
{
    PLACE(p);
    STORE(s, p);
    struct memory tea = fact("f1", "drink", "likes tea"),
                  coffee = fact("f2", "drink", "likes coffee"), retry, again;
    tea.source = S("m1");
    retry = again = tea;
    coffee.source = S("m2");
    again.source = S("m3");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &tea));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &coffee));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &retry));
    CHECK_INT(find(ctx, s, mine, "tea").n, 0);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &again));
    CHECK(!str_is(again.id, "f1"));
    CHECK_INT(find(ctx, s, mine, "tea").n, 1);
    CHECK_INT(find(ctx, s, mine, "coffee").n, 0);
    check_healthy(ctx, s);
}

TEST(replacing_keeps_the_id_and_merges_the_metadata)
{
    PLACE(p);
    STORE(s, p);
    struct memory a = fact("f1", "drink", "likes tea"), b = fact("f2", "drink", "likes coffee");
    a.metadata = S("{\"a\":1,\"b\":{\"c\":2}}");
    b.metadata = S("{\"b\":3,\"d\":\"x\"}");
    b.type = TYPE_EPISODIC;
    b.session = S("s7");
    b.expires = clock_ms() + 100000;
    b.created = a.created + 86400000 * 40LL;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &a));
    CHECK_OK(keep(ctx, s, mine, PUT_REPLACE, &b));
    CHECK_STR(b.id, S("f1"));
    struct memory back = get(ctx, s, "f1");
    CHECK_STR(back.content, S("likes coffee"));
    CHECK_STR(back.metadata, S("{\"a\":1,\"b\":3,\"d\":\"x\"}"));
    CHECK_INT(back.type, TYPE_EPISODIC);
    CHECK_STR(back.session, S("s7"));
    CHECK_INT(back.expires, b.expires);
    CHECK_INT(back.created, a.created);
    CHECK_INT(find(ctx, s, mine, "tea").n, 0);
    CHECK_INT(find(ctx, s, mine, "coffee").n, 1);
    CHECK_INT(find(ctx, s, mine, "november").n, 1);
    CHECK_INT(find(ctx, s, mine, "coffee").memories, 1);
    check_healthy(ctx, s);
}

TEST(an_expired_memory_is_not_found_and_is_pruned)
{
    PLACE(p);
    STORE(s, p);
    struct memory a = fact("f1", "", "parking spot nine"), b = fact("f2", "", "parking spot ten");
    struct receipt_line line = {.kind = S("memory"), .id = S("f1"), .injected = true};
    struct receipt r = {.id = S("r1"), .block = a.content, .lines = &line, .n = 1};
    int64_t now = clock_ms(), removed;
    r.created = now;
    a.expires = now + 1000;
    b.expires = now + 9000000;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &a));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &b));
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    CHECK_INT(find(ctx, s, mine, "parking").n, 2);
    fake_clock_set(now + 2000);
    CHECK_INT(find(ctx, s, mine, "parking").n, 1);
    CHECK_INT(find(ctx, s, mine, "parking").v[0].doc, b.doc);
    CHECK_OK(store_prune(ctx, s, 0, now, &removed));
    CHECK_INT(removed, 0);
    CHECK_OK(store_prune(ctx, s, 0, now + 2000, &removed));
    fake_clock_stop();
    CHECK_INT(removed, 1);
    struct memory out;
    CHECK_STATUS(store_memory(ctx, s, mine, S("f1"), &out), NOT_FOUND);
    CHECK_STATUS(store_receipt(ctx, s, mine, S("r1"), &r), NOT_FOUND); /* it holds the text */
    CHECK(!place_holds(ctx, &p, S("spot nine")));
    CHECK_INT(find(ctx, s, mine, "parking").memories, 1);
    check_healthy(ctx, s);
}

static size_t list(struct ctx *ctx, struct store *s, struct memory_filter f, int64_t *total,
                   struct memory **v)
{
    size_t n;
    f.pool = mine;
    f.limit = f.limit ? f.limit : 100;
    CHECK_OK(store_list_memories(ctx, s, &f, v, &n, total));
    return n;
}

TEST(a_list_needs_no_count)
{
    PLACE(p);
    STORE(s, p);
    struct memory a = fact("f1", "", "likes tea"), *v;
    const struct memory_filter f = {.pool = mine, .limit = 10};
    size_t n;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &a));
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, NULL));
    CHECK_INT(n, 1);
}

TEST(a_list_is_filtered_newest_first_and_counted)
{
    PLACE(p);
    STORE(s, p);
    struct memory a = fact("f1", "Drink", "likes TEA"), b = fact("f2", "Drink", "likes coffee"),
                  c = fact("f3", "", "100% sure_of it"), d = fact("f4", "", "gone soon");
    struct memory *v;
    int64_t total;
    a.created = 1;
    b.created = 2;
    c.created = 3;
    c.type = TYPE_SEMANTIC;
    c.category = S("decision");
    c.session = S("s1");
    d.created = 4;
    d.expires = 5;
    struct memory *all[] = {&a, &b, &c, &d};
    for (size_t i = 0; i < 4; i++)
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, all[i]));
    CHECK_INT(list(ctx, s, (struct memory_filter){0}, &total, &v), 2);
    CHECK_INT(total, 2);
    CHECK_STR(v[0].id, S("f3"));
    CHECK_STR(v[1].id, S("f2"));
    CHECK_INT(list(ctx, s, (struct memory_filter){.with_closed = true}, &total, &v), 4);
    CHECK_STR(v[3].id, S("f1"));
    CHECK_INT(list(ctx, s, (struct memory_filter){.with_closed = true, .offset = 1, .limit = 2},
                   &total, &v),
              2);
    CHECK_INT(total, 4);
    CHECK_STR(v[0].id, S("f3"));
    CHECK_INT(list(ctx, s, (struct memory_filter){.type = S("semantic")}, &total, &v), 1);
    CHECK_INT(list(ctx, s, (struct memory_filter){.category = S("decision")}, &total, &v), 1);
    CHECK_INT(list(ctx, s, (struct memory_filter){.session = S("s1")}, &total, &v), 1);
    CHECK_INT(list(ctx, s, (struct memory_filter){.contains = S("dRINk")}, &total, &v), 1);
    CHECK_INT(list(ctx, s, (struct memory_filter){.contains = S("0% S")}, &total, &v), 1);
    CHECK_INT(list(ctx, s, (struct memory_filter){.contains = S("%")}, &total, &v), 1);
    CHECK_INT(list(ctx, s, (struct memory_filter){.contains = S("tea"), .with_closed = true},
                   &total, &v),
              1);
    size_t n;
    CHECK_STATUS(store_list_memories(ctx, s, &(struct memory_filter){.pool = mine, .type = S("x")},
                                     &v, &n, &total),
                 BAD_INPUT);
}

/* Two spaces of anna and one of ben, two memories in each, all with the word "tea". */
static void fill_spaces(struct ctx *ctx, struct store *s)
{
    static const struct pool_ref *const pools[] = {&mine, &other_space, &other_user};
    static const char *const ids[][2] = {{"a1", "a2"}, {"w1", "w2"}, {"b1", "b2"}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            struct memory m = fact(ids[i][k], "", "tea and more");
            m.created = 1000 * (1 + i + 3 * k);
            m.type = k ? TYPE_SEMANTIC : TYPE_FACTUAL;
            CHECK_OK(keep(ctx, s, *pools[i], PUT_SUPERSEDE, &m));
            CHECK_STR(m.space, pools[i]->space);
        }
}

/* The ids that a filter finds, in order. */
static str ids_of(struct ctx *ctx, struct store *s, struct memory_filter f)
{
    struct memory *v;
    size_t n;
    int64_t total;
    struct buf b = buf_make(&ctx->arena, 1000);
    f.limit = f.limit ? f.limit : 10;
    CHECK_OK(store_list_memories(ctx, s, &f, &v, &n, &total));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? " " : "", S_ARG(v[i].id));
    return buf_str(&b);
}

TEST(all_spaces_of_one_user_are_listed_and_nobody_elses)
{
    PLACE(p);
    STORE(s, p);
    struct pool_ref anna = {S("anna"), S("")};
    fill_spaces(ctx, s);
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = anna}), S("w2 a2 w1 a1"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = anna, .oldest_first = true}),
              S("a1 w1 a2 w2"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = anna, .offset = 1, .limit = 2}),
              S("a2 w1"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = mine, .oldest_first = true}),
              S("a1 a2"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = anna, .contains = S("TEA")}),
              S("w2 a2 w1 a1"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = anna, .after = 2000}), S("w2 a2 w1"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = anna, .after = 2000, .before = 5000}),
              S("a2 w1"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = mine, .before = 4000}), S("a1"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = {S("eve"), S("")}}), S(""));
}

TEST(a_memory_is_found_in_any_space_of_its_user)
{
    PLACE(p);
    STORE(s, p);
    struct memory out, by_doc, twin = fact("a1", "", "the same id elsewhere");
    struct pool_ref anna = {S("anna"), S("")};
    fill_spaces(ctx, s);
    CHECK_OK(store_memory(ctx, s, anna, S("w1"), &out));
    CHECK_STR(out.space, S("work"));
    CHECK_OK(store_memory(ctx, s, anna, S("a1"), &out));
    CHECK_STR(out.space, S("default"));
    CHECK_OK(store_memories(ctx, s, mine, &out.doc, 1, &by_doc));
    CHECK_STR(by_doc.space, S("default"));
    CHECK_STATUS(store_memory(ctx, s, anna, S("b1"), &out), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_memory(ctx, s, mine, S("w1"), &out), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(keep(ctx, s, other_space, PUT_SUPERSEDE, &twin));
    CHECK_OK(store_memory(ctx, s, anna, S("a1"), &out));
    CHECK_STR(out.space, S("work"));
}

TEST(expired_ones_are_listed_when_asked_for_and_closed_ones_stay_out)
{
    PLACE(p);
    STORE(s, p);
    struct memory old = fact("old", "k", "one"), now = fact("now", "k", "two"),
                  gone = fact("gone", "", "three");
    now.created++;
    gone.created += 2;
    gone.expires = 1700000001000;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &old));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &now));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &gone));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = mine}), S("now"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = mine, .with_expired = true}),
              S("gone now"));
    CHECK_STR(ids_of(ctx, s, (struct memory_filter){.pool = mine, .with_closed = true}),
              S("gone now old"));
}

TEST(totals_count_types_and_tokens)
{
    PLACE(p);
    STORE(s, p);
    struct memory_totals t;
    struct memory wide = fact("x", "", "\U0001F600\U0001F600\u00E9");
    struct pool_ref anna = {S("anna"), S("")};
    fill_spaces(ctx, s);
    CHECK_OK(store_memory_totals(ctx, s,
                                 &(struct memory_filter){.pool = anna, .limit = 1, .offset = 3},
                                 &t));
    CHECK_INT(t.total, 4);
    CHECK_INT(t.by_type[TYPE_FACTUAL], 2);
    CHECK_INT(t.by_type[TYPE_SEMANTIC], 2);
    CHECK_INT(t.by_type[TYPE_EPISODIC], 0);
    CHECK_INT(t.tokens, 4 * 3);
    CHECK_OK(store_memory_totals(ctx, s,
                                 &(struct memory_filter){.pool = mine, .type = S("semantic")}, &t));
    CHECK_INT(t.total, 1);
    CHECK_INT(t.by_type[TYPE_FACTUAL], 0);
    CHECK_INT(t.tokens, 3);
    /* Five UTF-16 units. */
    CHECK_OK(keep(ctx, s, (struct pool_ref){S("eve"), S("default")}, PUT_SUPERSEDE, &wide));
    CHECK_OK(store_memory_totals(ctx, s, &(struct memory_filter){.pool = {S("eve"), S("")}}, &t));
    CHECK_INT(t.tokens, 2);
    CHECK_OK(store_memory_totals(ctx, s, &(struct memory_filter){.pool = {S("nil"), S("")}}, &t));
    CHECK(t.total == 0 && t.tokens == 0);
}

TEST(pools_are_listed_by_name_with_their_counts)
{
    PLACE(p);
    STORE(s, p);
    struct pool_info *v;
    size_t n;
    struct message m = said("m1", "user", "tea", 1000);
    fill_spaces(ctx, s);
    CHECK_OK(say(ctx, s, other_space, "s1", &m));
    CHECK_OK(store_pools(ctx, s, S("anna"), &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].pool.space, S("default"));
    CHECK_STR(v[1].pool.space, S("work"));
    CHECK_STR(v[1].pool.user, S("anna"));
    CHECK(v[0].memories == 2 && v[0].messages == 0 && v[0].sessions == 0);
    CHECK(v[1].memories == 2 && v[1].messages == 1 && v[1].sessions == 1);
    CHECK(v[0].created > 0);
    CHECK_OK(store_pools(ctx, s, S("eve"), &v, &n));
    CHECK_INT(n, 0);
}

/* Queued from a ctx that ends before the write. */
static void queue_block(struct ctx *ctx, struct store *s, const char *id, const char *session,
                        uint64_t chain, const char *block, const char *told)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct arena *a = &own.arena;
    str *list = NEW_N(a, str, 1);
    list[0] = str_dup(a, str_of(told));
    struct receipt r = {.id = str_dup(a, str_of(id)),
                        .session = str_dup(a, str_of(session)),
                        .created = 1000,
                        .block = str_dup(a, str_of(block)),
                        .chain = chain,
                        .told = {list, 1}};
    struct bundle b = {.pool = mine, .receipt = &r};
    CHECK_OK(store_write_later(&own, s, &b));
}

TEST(blocks_of_a_conversation_are_found_until_what_they_tell_is_gone)
{
    PLACE(p);
    STORE(s, p);
    struct replay v[] = {{.chain = 7}, {.chain = 8}, {.chain = 9}, {.chain = 0}};
    struct memory kept = fact("m1", "", "has a dog"), late = fact("m2", "", "has a cat");
    int64_t erased;
    late.expires = 1;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &kept));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &late));
    queue_block(ctx, s, "r1", "talk", 7, "<dog>", "m1");
    queue_block(ctx, s, "r2", "talk", 8, "<cat>", "m2");
    queue_block(ctx, s, "r3", "another", 9, "<dog>", "m1");
    CHECK_OK(store_settle(ctx, s));
    CHECK_OK(store_replays(ctx, s, mine, S("talk"), v, 4));
    CHECK_STR(v[0].block, S("<dog>"));
    CHECK_INT(v[0].told.n, 1);
    CHECK_STR(v[0].told.v[0], S("m1"));
    CHECK_INT(v[1].block.n, 0); /* expired */
    CHECK_INT(v[2].block.n, 0); /* of another session */
    CHECK_INT(v[3].block.n, 0);
    queue_block(ctx, s, "r1", "talk", 7, "", "m1"); /* taken back */
    queue_block(ctx, s, "r4", "talk", 9, "<both>", "m1");
    CHECK_OK(store_settle(ctx, s));
    CHECK_OK(store_replays(ctx, s, mine, S("talk"), v, 3));
    CHECK_INT(v[0].block.n, 0);
    CHECK_STR(v[2].block, S("<both>"));
    CHECK_OK(store_prune(ctx, s, 2000, 0, &erased));
    CHECK_OK(store_replays(ctx, s, mine, S("talk"), v, 3));
    CHECK_INT(v[2].block.n, 0);
}

TEST(a_receipt_comes_back_and_ends_after_its_time)
{
    PLACE(p);
    STORE(s, p);
    struct receipt_line lines[] = {{S("message"), S("m1"), S(""), 0.75, 12, true,
                                    S("words: \"dog\"")},
                                   {S("memory"), S("f1"), S("m0"), 0.1, 3, false,
                                    S("below the threshold")}};
    struct receipt r = {S("r1"),         S("s1"), 1000, S("a dog?"), S("memory"), S("asks"),
                        S("<memory>\n"), 42,      17,   350,         lines,       2},
                   back;
    struct bundle b = {.pool = mine, .receipt = &r};
    int64_t removed;
    struct message m = said("m1", "user", "my dog", 1);
    struct memory f = fact("f1", "", "has a dog");
    CHECK_OK(say(ctx, s, mine, "s0", &m));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_receipt(ctx, s, mine, S("r1"), &back));
    CHECK_STR(back.session, r.session);
    CHECK_INT(back.created, 1000);
    CHECK_STR(back.question, r.question);
    CHECK_STR(back.decision, r.decision);
    CHECK_STR(back.reason, r.reason);
    CHECK_STR(back.block, r.block);
    CHECK_INT(back.chain, 42);
    CHECK_INT(back.tokens, 17);
    CHECK_INT(back.took_us, 350);
    CHECK_INT(back.n, 2);
    CHECK_STR(back.lines[0].why, lines[0].why);
    CHECK(back.lines[0].injected && !back.lines[1].injected);
    CHECK(back.lines[0].score == 0.75);
    CHECK_STR(back.lines[1].source, S("m0"));
    CHECK_OK(store_receipt_of(ctx, s, mine, 42, &back));
    CHECK_STR(back.block, r.block);
    CHECK_INT(back.n, 2);
    CHECK_OK(store_receipt_of(ctx, s, mine, 0, &back));
    CHECK_INT(back.id.n + back.block.n, 0);
    CHECK_OK(store_prune(ctx, s, 1000, 0, &removed));
    CHECK_INT(removed, 0);
    CHECK_OK(store_prune(ctx, s, 1001, 0, &removed));
    CHECK_INT(removed, 1);
    CHECK_STATUS(store_receipt(ctx, s, mine, S("r1"), &back), NOT_FOUND);
}

TEST(a_revoked_token_takes_all_that_came_from_it)
{
    int64_t made = 0;
    PLACE(p);
    STORE(s, p);
    /* a made b, b made c for another user; d came from nobody. */
    const struct token v[] = {
        {.id = S("a"), .hash = S("1"), .pool = mine},
        {.id = S("b"), .hash = S("2"), .pool = mine, .parent = S("a")},
        {.id = S("c"), .hash = S("3"), .pool = {S("ben"), S("x")}, .parent = S("b")},
        {.id = S("d"), .hash = S("4"), .pool = mine},
    };
    const struct token late = {.id = S("e"), .hash = S("5"), .pool = mine, .parent = S("b")};
    struct token back;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        CHECK_OK(store_put_token(ctx, s, &v[i]));
    CHECK_OK(store_find_token(ctx, s, S("3"), &back));
    CHECK_STR(back.parent, S("b"));
    CHECK_OK(store_revoke_token(ctx, s, S("anna"), S("a"), &made));
    for (size_t i = 0; i < 3; i++) {
        CHECK_STATUS(store_find_token(ctx, s, v[i].hash, &back), NOT_FOUND);
        ctx_clear_failure(ctx);
    }
    CHECK_OK(store_find_token(ctx, s, S("4"), &back));
    CHECK_STATUS(store_put_token(ctx, s, &late), NO_AUTH);
}

TEST(a_token_is_known_until_it_is_revoked_or_expires)
{
    int64_t made = 0;
    PLACE(p);
    STORE(s, p);
    struct token a = {.id = S("t1"),
                      .hash = S("abc"),
                      .name = S("laptop"),
                      .pool = mine,
                      .is_admin = true,
                      .created = 1},
                 b = {.id = S("t2"), .hash = S("def"), .pool = mine, .created = 2}, back, *v;
    bool any = true;
    size_t n;
    b.expires = clock_ms() + 1000;
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(!any);
    CHECK_OK(store_put_token(ctx, s, &a));
    CHECK_OK(store_put_token(ctx, s, &b));
    CHECK_STATUS(store_put_token(ctx, s, &a), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(any);
    CHECK_OK(store_find_token(ctx, s, S("abc"), &back));
    CHECK_STR(back.pool.user, S("anna"));
    CHECK_STR(back.name, S("laptop"));
    CHECK(back.is_admin);
    CHECK_OK(store_find_token(ctx, s, S("def"), &back));
    fake_clock_set(b.expires);
    CHECK_STATUS(store_find_token(ctx, s, S("def"), &back), NOT_FOUND);
    fake_clock_stop();
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_revoke_token(ctx, s, S("ben"), S("t1"), &made), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_revoke_token(ctx, s, S("anna"), S("t1"), &made));
    CHECK_STATUS(store_find_token(ctx, s, S("abc"), &back), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(store_revoke_token(ctx, s, S("anna"), S("t1"), &made), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_tokens(ctx, s, S("anna"), &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[1].id, S("t1"));
    CHECK(v[1].revoked != 0);
    CHECK_OK(store_tokens(ctx, s, S(""), &v, &n));
    CHECK_INT(n, 2);
    CHECK_OK(store_tokens(ctx, s, S("ben"), &v, &n));
    CHECK_INT(n, 0);
    CHECK_OK(store_has_tokens(ctx, s, &any));
    CHECK(any);
}
