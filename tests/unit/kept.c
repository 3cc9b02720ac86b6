/* kept.c - what a turn keeps: no prompts of programs, no facts from examples, and no secrets. */
#include "engine/chat/turn.h"
#include "lib/engine.h"

static const struct said few_shot[] = {
    {.role = {"user", 4}, .text = {"I love figs.", 12}},
    {.role = {"assistant", 9}, .text = {"positive", 8}},
    {.role = {"user", 4}, .text = {"My boat is called Petrel.", 25}},
};

static str facts_in(struct ctx *ctx, struct engine *e)
{
    struct memory_filter f = {.pool = mine, .limit = 100};
    struct memory *v;
    size_t n;
    int64_t total;
    struct buf b = buf_make(&ctx->arena, 1 << 12);
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? " | " : "", S_ARG(v[i].content));
    return buf_str(&b);
}

/* Begins and ends a turn; gives the receipt. */
static struct receipt play(struct ctx *ctx, struct engine *e, struct store *s,
                           const struct turn_in *in, str answer)
{
    struct receipt r = {0};
    struct turn *t = engine_begin_turn(ctx, e, in);
    str id = turn_out_of(t)->receipt;
    CHECK_OK(engine_end_turn(ctx, e, t, answer));
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(engine_receipt(ctx, e, mine, id, &r));
    return r;
}

static struct receipt chat(struct ctx *ctx, struct engine *e, struct store *s, const char *session,
                           const char *text, const char *answer)
{
    const struct said said = {.role = S("user"), .text = str_of(text)};
    const struct turn_in in = {
        .pool = mine, .session = str_of(session), .said = &said, .n_said = 1, .has_helpers = true};
    return play(ctx, e, s, &in, str_of(answer));
}

static struct message *messages_of(struct ctx *ctx, struct store *s, str session, size_t *n)
{
    struct message *v;
    CHECK_OK(store_session_messages(ctx, s, mine, session, 0, 100, &v, n));
    return v;
}

TEST(a_prompt_of_the_chat_program_is_neither_answered_from_memory_nor_kept)
{
    ENGINE(e, s, p);
    struct store_stats stats;
    chat(ctx, e, s, "", "My boat is called Petrel and lies in Sneek.", "Ahoy!");
    struct receipt r = chat(ctx, e, s, "",
                            "Find a heading for this exchange, nothing else.\n\nUser: My boat is "
                            "called Petrel.\nAssistant: Ahoy!",
                            "Boat Petrel");
    CHECK_STR(r.decision, S("off"));
    CHECK(str_find(r.reason, S("helper")) < r.reason.n);
    CHECK_STR(r.block, S(""));
    CHECK_STR(r.question, S(""));
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.messages, 2);
    struct engine_stats counted;
    CHECK_OK(engine_stats(ctx, e, &counted));
    CHECK_INT(counted.helpers, 1);
    r = chat(ctx, e, s, "", "What is a good name for a story about my boat?", "The Petrel");
    CHECK(!str_is(r.decision, "off"));
}

TEST(examples_in_a_request_teach_nothing)
{
    ENGINE(e, s, p);
    const struct turn_in in = {.pool = mine, .said = few_shot, .n_said = 3};
    struct store_stats stats;
    play(ctx, e, s, &in, S("neutral"));
    CHECK_STR(facts_in(ctx, e), S("my boat is called Petrel"));
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.messages, 4);
    CHECK_STR(chat(ctx, e, s, "", "Which fruit do I love?", "?").block, S(""));
    CHECK(chat(ctx, e, s, "", "What is my boat called?", "?").block.n);
}

TEST(a_setting_learns_from_the_history_of_a_request)
{
    ENGINE(e, s, p);
    const struct turn_in in = {.pool = mine, .said = few_shot, .n_said = 3};
    settings.learn_history = true;
    play(ctx, e, s, &in, S("neutral"));
    CHECK_STR(facts_in(ctx, e), S("my boat is called Petrel | loves figs"));
}

TEST(secrets_are_masked_in_all_that_is_kept)
{
    ENGINE(e, s, p);
    size_t n;
    struct receipt r = chat(ctx, e, s, "vault", "My password is Gr4ntchester-Vole, what now?",
                            "Type Gr4ntchester-Vole into the box.");
    CHECK(str_find(r.question, S("Gr4nt")) == r.question.n);
    const struct message *v = messages_of(ctx, s, r.session, &n);
    CHECK_INT(n, 2);
    CHECK_STR(v[0].text, S("My password is [secret], what now?"));
    CHECK_STR(v[1].text, S("Type [secret] into the box."));
    struct session found;
    CHECK_OK(store_session(ctx, s, mine, r.session, &found));
    CHECK_STR(found.title, S("My password is [secret], what now?"));
    settings.keep_secrets = true;
    r = chat(ctx, e, s, "open", "My password is Gr4ntchester-Vole, what now?", "Type it.");
    CHECK_STR(messages_of(ctx, s, r.session, &n)[0].text,
              S("My password is Gr4ntchester-Vole, what now?"));
}

/* A named session finds what it has masked: an unanswered message that comes again is one. */
TEST(a_masked_message_that_comes_again_is_the_same)
{
    ENGINE(e, s, p);
    size_t n;
    chat(ctx, e, s, "vault", "Hello there, keeper.", "Hi.");
    chat(ctx, e, s, "vault", "My password is Gr4ntchester-Vole, what now?", "");
    struct receipt r =
        chat(ctx, e, s, "vault", "My password is Gr4ntchester-Vole, what now?", "Wait.");
    messages_of(ctx, s, r.session, &n);
    CHECK_INT(n, 4);
}
