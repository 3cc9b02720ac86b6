/* standing_recall.c - Standing instructions go beside what a question finds. */
#include "core/tokens.h"
#include "lib/engine.h"
#include "store/store.h"

static const int64_t day_ms = 86400000, now = 1795154400000; /* 2026-11-20T06:00Z */

static const struct recall_in anyhow = {.asked = now}, as_chat = {.gate = true, .asked = now};

static void tell(struct ctx *ctx, struct store *s, const char *id, const char *text, int days_ago)
{
    struct message m = said(id, "user", text, now - days_ago * day_ms);
    CHECK_OK(say(ctx, s, mine, id, &m));
}

static void forget(struct ctx *ctx, struct engine *e, str id, str session)
{
    const struct forget what = {.pool = mine, .id = id, .session = session};
    int64_t erased;
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK(erased > 0);
}

static void instruct(struct ctx *ctx, struct store *s, const char *id, const char *text, int days)
{
    struct memory m =
        fact(id, str_c(&ctx->arena, str_printf(&ctx->arena, "instruction:%s", id)), text);
    m.category = S("instruction");
    m.type = TYPE_PROCEDURAL;
    m.created = now - days * day_ms;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
}

static size_t count_standing(const struct recall_out *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->v[i].origin == LINE_STANDING && r->v[i].state == LINE_INJECTED;
    return n;
}

TEST(standing_instructions_are_given_to_every_chat)
{
    ENGINE(e, s, p);
    instruct(ctx, s, "emojis", "asks to never use emojis", 9);
    instruct(ctx, s, "versions", "asks to always include versions when I ask about libraries", 8);
    tell(ctx, s, "boat", "The boat is moored at the third pier.", 7);
    struct recall_out r = recall_question(ctx, e, "What is a monad?", as_chat);
    CHECK_INT(count_standing(&r), 1);
    CHECK_STR(r.v[0].memory.id, S("emojis"));
    CHECK(str_find(r.v[0].why, S("standing instruction")) < r.v[0].why.n);
    r = recall_question(ctx, e, "Which libraries are there?", as_chat);
    CHECK_INT(count_standing(&r), 2);
    r = recall_question(ctx, e, "At which pier is the boat moored?", as_chat);
    CHECK_INT(count_standing(&r), 2); /* memory speaks anyway */
    CHECK(r.v[0].origin == LINE_STANDING && r.v[r.n - 1].origin != LINE_STANDING);
    CHECK_INT(count_standing(&(struct recall_out){0}), 0);
    CHECK_INT(recall_question(ctx, e, "What is a monad?", anyhow).n, 0);
}

/* Of those whose text has that word none is one. */
TEST(memories_about_instructions_crowd_out_no_standing_one)
{
    enum { OTHERS = 600 };
    ENGINE(e, s, p);
    struct memory *v = NEW_N(&ctx->arena, struct memory, OTHERS);
    instruct(ctx, s, "emojis", "asks to never use emojis", 9);
    for (int i = 0; i < OTHERS; i++)
        v[i] = (struct memory){.content = str_printf(&ctx->arena, "Sheet %d has an instruction", i),
                               .created = now - day_ms};
    CHECK_OK(
        store_write(ctx, s, &(struct bundle){.pool = mine, .memories = v, .n_memories = OTHERS}));
    struct recall_out r = recall_question(ctx, e, "What is a monad?", as_chat);
    CHECK_INT(count_standing(&r), 1);
}

TEST(standing_instructions_end)
{
    ENGINE(e, s, p);
    instruct(ctx, s, "emojis", "asks to never use emojis", 9);
    instruct(ctx, s, "german", "asks to always answer in German", 8);
    struct recall_out r = recall_question(ctx, e, "What is a monad?", as_chat);
    CHECK_INT(count_standing(&r), 2);
    instruct(ctx, s, "again", "takes an instruction back: may use emojis again", 7);
    instruct(ctx, s, "english", "asks to always answer in English", 6);
    r = recall_question(ctx, e, "What is a monad?", as_chat);
    CHECK_INT(count_standing(&r), 1);
    CHECK_STR(r.v[0].memory.id, S("english"));
    forget(ctx, e, S("english"), S(""));
    r = recall_question(ctx, e, "What is a monad?", as_chat);
    CHECK_STR(r.v[0].memory.id, S("german"));
}

TEST(standing_instructions_have_a_share_of_the_budget)
{
    ENGINE(e, s, p);
    for (int i = 0; i < 20; i++) {
        str id = str_printf(&ctx->arena, "rule-%d", i);
        str text = str_printf(&ctx->arena,
                              "asks to always put the number %d first in what you say to me, "
                              "and the word behind it",
                              i);
        instruct(ctx, s, str_c(&ctx->arena, id), str_c(&ctx->arena, text), 30 - i);
    }
    struct recall_in in = as_chat;
    in.budget_tokens = 800;
    struct recall_out r = recall_question(ctx, e, "What is a monad?", in);
    int64_t tokens = 0;
    for (size_t i = 0; i < r.n; i++)
        tokens += r.v[i].state == LINE_INJECTED ? r.v[i].tokens : 0;
    CHECK(count_standing(&r) > 1 && tokens <= 100);
    CHECK_STR(r.v[0].memory.id, S("rule-19"));
}
