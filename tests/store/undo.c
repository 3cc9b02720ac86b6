/* undo.c - what a deletion erased comes back whole, for its time and no longer. */
#include "base/clock.h"
#include "lib/store.h"

static struct memory kept(struct ctx *ctx, struct store *s, const char *id, const char *content)
{
    struct memory m = {.id = str_of(id),
                       .content = str_of(content),
                       .importance = 0.3,
                       .salience = 0.2,
                       .uses = 7,
                       .created = 1000,
                       .updated = 2000,
                       .last_used = 3000};
    struct bundle b = {.pool = mine, .memories = &m, .n_memories = 1, .rule = PUT_IMPORT};
    CHECK_OK(store_write(ctx, s, &b));
    return m;
}

static void forget(struct ctx *ctx, struct store *s, const char *id, const struct undo_mark *mark)
{
    int64_t erased;
    const struct forget what = {.pool = mine, .id = str_of(id), .undo = mark};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    CHECK_INT(erased, 1);
}

/* More than goes in one transaction without a mark: what can be undone is never done in pieces. */
TEST(a_long_conversation_comes_back_whole)
{
    enum { MANY = 150 };
    PLACE(p);
    STORE(s, p);
    const struct undo_mark mark = {S("u1"), clock_ms() + 60000};
    struct message *v = NEW_N(&ctx->arena, struct message, MANY), back;
    int64_t erased, restored;
    for (size_t i = 0; i < MANY; i++)
        v[i] = (struct message){.id = str_printf(&ctx->arena, "m%zu", i),
                                .session = S("long"),
                                .role = i % 2 ? S("assistant") : S("user"),
                                .text = str_printf(&ctx->arena, "Word %zu was said.", i),
                                .created = 1000 + (int64_t)i};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("long")},
                       .messages = v,
                       .n_messages = MANY};
    CHECK_OK(store_write(ctx, s, &b));
    const struct forget what = {.pool = mine, .session = S("long"), .undo = &mark};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    CHECK_INT(erased, MANY);
    check_healthy(ctx, s);
    CHECK_OK(store_undo(ctx, s, mine, S("u1"), &restored));
    CHECK_OK(store_message(ctx, s, mine, S("m149"), &back));
    CHECK_STR(back.text, S("Word 149 was said."));
    check_healthy(ctx, s);
}

/* All or nothing holds for an empty session, too: the one that began since is left as it is. */
TEST(an_empty_session_does_not_come_back_where_it_began_again)
{
    PLACE(p);
    STORE(s, p);
    const struct undo_mark mark = {S("u1"), clock_ms() + 60000};
    struct message back = {.id = S("m1"), .role = S("user"), .text = S("Ada sails.")};
    int64_t erased, restored;
    struct bundle b = {.pool = mine, .session = {.id = S("s")}, .messages = &back, .n_messages = 1};
    CHECK_OK(store_write(ctx, s, &b));
    forget(ctx, s, "m1", NULL);
    const struct forget what = {.pool = mine, .session = S("s"), .undo = &mark};
    CHECK_OK(store_forget(ctx, s, &what, &erased));
    CHECK_INT(erased, 0);
    back = (struct message){.id = S("m2"), .role = S("user"), .text = S("Ben rows.")};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_STATUS(store_undo(ctx, s, mine, S("u1"), &restored), CONFLICT);
    CHECK_STR(str_of(ctx->why), S("a message or session with the same id is there by now"));
    ctx_clear_failure(ctx);
    CHECK_OK(store_message(ctx, s, mine, S("m2"), &back));
    check_healthy(ctx, s);
}

TEST(what_was_erased_comes_back_with_its_number_times_and_uses)
{
    PLACE(p);
    STORE(s, p);
    const struct undo_mark mark = {S("u1"), clock_ms() + 60000};
    struct memory old = kept(ctx, s, "a", "Ada sails."), back;
    int64_t restored;
    forget(ctx, s, "a", &mark);
    CHECK_INT(store_memory(ctx, s, mine, S("a"), &back), NOT_FOUND);
    ctx_clear_failure(ctx);
    check_healthy(ctx, s);
    CHECK_OK(store_undo(ctx, s, mine, S("u1"), &restored));
    CHECK_INT(restored, 1);
    CHECK_OK(store_memory(ctx, s, mine, S("a"), &back));
    CHECK_INT(back.doc, old.doc);
    CHECK_INT(back.uses, 7);
    CHECK_INT(back.created, 1000);
    CHECK_INT(back.updated, 2000);
    CHECK_INT(back.last_used, 3000);
    check_healthy(ctx, s);
    CHECK_INT(store_undo(ctx, s, mine, S("u1"), &restored), NOT_FOUND);
}

TEST(after_its_time_it_cannot_come_back_and_is_erased)
{
    PLACE(p);
    STORE(s, p);
    const struct undo_mark over = {S("u1"), clock_ms() - 1}, later = {S("u2"), clock_ms() + 60000};
    int64_t restored;
    kept(ctx, s, "a", "The word is quokkamarmot.");
    kept(ctx, s, "b", "The word is zebrafinchling.");
    forget(ctx, s, "a", &over);
    forget(ctx, s, "b", &later);
    CHECK(place_holds(ctx, &p, S("quokkamarmot")));
    CHECK_INT(store_undo(ctx, s, mine, S("u1"), &restored), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_undo_prune(ctx, s, clock_ms()));
    CHECK(!place_holds(ctx, &p, S("quokkamarmot")));
    CHECK(place_holds(ctx, &p, S("zebrafinchling")));
    CHECK_OK(store_undo(ctx, s, mine, S("u2"), &restored));
    check_healthy(ctx, s);
}

TEST(another_pool_cannot_undo_it)
{
    PLACE(p);
    STORE(s, p);
    const struct undo_mark mark = {S("u1"), clock_ms() + 60000};
    int64_t restored;
    kept(ctx, s, "a", "Ada sails.");
    forget(ctx, s, "a", &mark);
    CHECK_INT(store_undo(ctx, s, (struct pool_ref){S("eve"), mine.space}, S("u1"), &restored),
              NOT_FOUND);
}

TEST(it_comes_back_after_the_file_was_closed)
{
    PLACE(p);
    const struct undo_mark mark = {S("u1"), clock_ms() + 60000};
    int64_t restored;
    {
        STORE(s, p);
        kept(ctx, s, "a", "Ada sails.");
        forget(ctx, s, "a", &mark);
    }
    STORE(s, p);
    CHECK_OK(store_undo(ctx, s, mine, S("u1"), &restored));
    check_healthy(ctx, s);
}

/* It is found by what it gave, also when another one was written meanwhile. */
TEST(a_receipt_comes_back_with_what_it_gave)
{
    PLACE(p);
    STORE(s, p);
    const struct undo_mark mark = {S("u1"), clock_ms() + 60000};
    struct receipt_line lines[] = {{.kind = S("memory"), .id = S("a"), .injected = true},
                                   {.kind = S("memory"), .id = S("b"), .injected = true}};
    struct receipt r = {.id = S("r1"), .created = 100, .lines = lines, .n = 2}, *v;
    int64_t restored;
    size_t n;
    kept(ctx, s, "a", "Ada sails.");
    const struct receipt_filter of_b = {.pool = mine,
                                        .limit = 10,
                                        .doc = kept(ctx, s, "b", "Ben rows.").doc};
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    forget(ctx, s, "a", &mark);
    r = (struct receipt){.id = S("r2"), .created = 200, .lines = lines + 1, .n = 1};
    CHECK_OK(store_write(ctx, s, &(struct bundle){.pool = mine, .receipt = &r}));
    CHECK_OK(store_undo(ctx, s, mine, S("u1"), &restored));
    CHECK_OK(store_receipts(ctx, s, &of_b, &v, &n, NULL));
    CHECK_INT(n, 2);
    CHECK_STR(v[1].id, S("r1"));
    check_healthy(ctx, s);
}
