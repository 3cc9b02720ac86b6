/* window.c - what a model is shown of the session it goes on with. */
#include "engine/chat/turn.h"
#include "fault/disk.h"
#include "lib/engine.h"
#include "store/store.h"

static void add(struct ctx *ctx, struct store *s, const char *session, const char *const *said)
{
    struct message v[200] = {0};
    struct bundle b = {.pool = mine, .session = {.id = str_of(session)}, .messages = v};
    for (; *said; said++) {
        const char *text = strchr(*said, ':') + 1;
        struct message *m = &v[b.n_messages++];
        *m = (struct message){.id = id_random(&ctx->arena),
                              .session = b.session.id,
                              .role = **said == 'u'   ? S("user")
                                      : **said == 'a' ? S("assistant")
                                                      : S("tool"),
                              .text = str_of(text),
                              .created = 1};
    }
    CHECK_OK(store_write(ctx, s, &b));
}

/* n exchanges "q1", "a1", … */
static void add_exchanges(struct ctx *ctx, struct store *s, const char *session, int n)
{
    const char *said[200] = {0};
    for (int i = 0; i < n; i++) {
        said[2 * i] = str_printf(&ctx->arena, "u:q%d", i + 1).p;
        said[2 * i + 1] = str_printf(&ctx->arena, "a:a%d", i + 1).p;
    }
    add(ctx, s, session, said);
}

static str shown(struct ctx *ctx, const struct window *w)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    for (size_t i = 0; i < w->n; i++)
        buf_printf(&b, "%s%c:" S_FMT, i ? " " : "", w->v[i].role.p[0], S_ARG(w->v[i].text));
    return buf_str(&b);
}

static str window_of(struct ctx *ctx, struct engine *e, struct window_in in)
{
    struct window w;
    in.pool = in.pool.user.n ? in.pool : mine;
    CHECK_OK(engine_window(ctx, e, &in, &w));
    return shown(ctx, &w);
}

TEST(a_models_size_decides_how_much_is_shown)
{
    static const struct {
        const char *model;
        size_t exchanges;
    } cases[] = {
        {"llama3.2:1b", 3}, {"llama3.1:8b", 6}, {"qwen2.5:14b", 10}, {"gpt-4o", 15}, {"", 10}};
    ENGINE(e, s, p);
    add_exchanges(ctx, s, "mine", 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct window w;
        struct window_in in = {.pool = mine, .session = S("mine"), .model = str_of(cases[i].model)};
        CHECK_OK(engine_window(ctx, e, &in, &w));
        CHECK_INT(w.n, 2 * cases[i].exchanges);
        CHECK_INT(w.exchanges, cases[i].exchanges);
        CHECK_STR(w.v[w.n - 1].text, S("a20"));
        CHECK_STR(w.v[0].text, str_printf(&ctx->arena, "q%zu", 21 - cases[i].exchanges));
        CHECK(w.v[0].id.n);
    }
    settings.dynamic_window = false;
    struct window w;
    struct window_in in = {.pool = mine, .session = S("mine"), .model = S("llama3.2:1b")};
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.n, 20);
}

TEST(a_session_that_is_new_or_anothers_is_empty)
{
    ENGINE(e, s, p);
    add_exchanges(ctx, s, "mine", 2);
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("yours")}), S(""));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("")}), S(""));
    CHECK_STR(window_of(ctx, e, (struct window_in){.pool = other_user, .session = S("mine")}),
              S(""));
    CHECK_STR(window_of(ctx, e, (struct window_in){.pool = other_space, .session = S("mine")}),
              S(""));
}

TEST(tools_are_left_out_and_break_no_exchange)
{
    const char *said[] = {"u:one",        "t:{}", "t:{}",     "a:first", "u:two",
                          "a:let me see", "t:{}", "a:second", NULL};
    ENGINE(e, s, p);
    add(ctx, s, "mine", said);
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:let me see a:second"));
}

/* Many answers of tools between two exchanges hide nothing. */
TEST(what_stands_before_many_tools_is_found)
{
    const char *said[190] = {"u:one", "a:first", "u:two"};
    for (int i = 3; i < 180; i++)
        said[i] = "t:{}";
    said[180] = "a:second";
    ENGINE(e, s, p);
    add(ctx, s, "mine", said);
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:second"));
}

/* The place of what was erased stays empty: what stands behind it does not come twice. */
TEST(a_message_before_many_tools_is_erased)
{
    const char *said[190] = {"u:one", "a:first", "u:two"};
    struct message *v;
    size_t n;
    int64_t erased;
    for (int i = 3; i < 187; i++)
        said[i] = i == 124 ? "a:let me see" : "t:{}";
    said[187] = "a:second";
    ENGINE(e, s, p);
    add(ctx, s, "mine", said);
    CHECK_OK(store_session_messages(ctx, s, mine, S("mine"), 99, 1, &v, &n));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = v[0].id}, &erased));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:let me see a:second"));
}

/* What came after the answer that is gone on from belongs to another branch. */
TEST(nor_does_another_branch_come_when_one_before_it_is_erased)
{
    ENGINE(e, s, p);
    struct message v[4] = {0};
    struct bundle b = {.pool = mine, .session = {.id = S("mine")}, .messages = v, .n_messages = 4};
    const struct forget first = {.pool = mine, .id = S("m0")};
    struct turn_in in = {.pool = mine};
    int64_t erased;
    for (size_t i = 0; i < 4; i++)
        v[i] = (struct message){.id = str_printf(&ctx->arena, "m%zu", i),
                                .session = b.session.id,
                                .role = i % 2 ? S("assistant") : S("user"),
                                .text = str_printf(&ctx->arena, "said %zu", i),
                                .created = 1};
    v[1].id = ID_OF(&ctx->arena, S("answer"), mine.user, mine.space, S("resp_1"));
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(store_forget(ctx, s, &first, &erased));
    engine_goes_on(ctx, e, &in, S("resp_1"));
    CHECK_STR(in.session, S("mine"));
    CHECK_INT(in.n_window, 1);
    CHECK_STR(in.window[0].text, S("said 1"));
}

TEST(a_question_without_an_answer_stays_unless_it_is_asked_again)
{
    const char *said[] = {"u:one", "a:first", "u:two", NULL};
    ENGINE(e, s, p);
    add(ctx, s, "mine", said);
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two"));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine"), .asked = S("three")}),
              S("u:one a:first u:two"));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine"), .asked = S(" two\n")}),
              S("u:one a:first"));
    add_exchanges(ctx, s, "long", 4);
    add(ctx, s, "long", (const char *[]){"u:again", NULL});
    const struct window_in tiny = {.session = S("long"),
                                   .model = S("llama3.2:1b"),
                                   .asked = S("again")};
    CHECK_STR(window_of(ctx, e, tiny), S("u:q2 a:a2 u:q3 a:a3 u:q4 a:a4"));
    CHECK_STR(window_of(ctx, e,
                        (struct window_in){.session = S("long"), .model = S("llama3.2:1b")}),
              S("u:q3 a:a3 u:q4 a:a4 u:again"));
}

TEST(history_keeps_to_its_share_but_two_stay)
{
    ENGINE(e, s, p);
    char text[4096];
    memset(text, 'x', sizeof text);
    text[0] = 'u', text[1] = ':', text[4000] = 0;
    str u = str_dup(&ctx->arena, str_of(text));
    text[0] = 'a';
    str a = str_dup(&ctx->arena, str_of(text));
    const char *said[] = {u.p, a.p, u.p, a.p, u.p, a.p, NULL};
    add(ctx, s, "mine", said);
    struct window w;
    struct window_in in = {.pool = mine, .session = S("mine"), .model = S("gpt-4o")};
    settings.context_tokens = 16384; /* 2,457 tokens of history; a message has 1,000 */
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.shares.history, 2457);
    CHECK_INT(w.n, 2);
    CHECK(w.tokens <= 2457 && w.tokens > 1990);
    settings.context_tokens = 1024;
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.n, 2);
    settings.session_budget = false;
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.n, 6);
    settings.session_budget = true;
    settings.context_tokens = 128000;
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.n, 6);
    in.system_tokens = 120000; /* leaves 100 tokens of history */
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.n, 2);
    CHECK_INT(w.shares.history, 100);
}

/* --- a conversation over it, as /v1/chat leads it --- */

static struct turn *turn_of(struct ctx *ctx, struct engine *e, const char *session,
                            const char *text, bool is_durable)
{
    struct said *said = NEW(&ctx->arena, struct said);
    struct window w;
    const struct window_in in = {.pool = mine, .session = str_of(session), .asked = str_of(text)};
    CHECK_OK(engine_window(ctx, e, &in, &w));
    *said = (struct said){.role = S("user"), .text = str_of(text)};
    const struct turn_in turn = {.pool = mine,
                                 .session = str_of(session),
                                 .said = said,
                                 .n_said = 1,
                                 .window = w.v,
                                 .n_window = w.n,
                                 .is_durable = is_durable};
    return engine_begin_turn(ctx, e, &turn);
}

static void tell(struct ctx *ctx, struct engine *e, const char *session, const char *text,
                 const char *answer, bool is_durable)
{
    struct turn *t = turn_of(ctx, e, session, text, is_durable);
    CHECK_OK(engine_end_turn(ctx, e, t, str_of(answer)));
}

/* Nothing waits for the disk, so that the next turn begins while this one is still queued. */
TEST(what_was_just_said_is_there_although_it_is_queued)
{
    ENGINE(e, s, p);
    for (int i = 0; i < 50; i++) {
        str session = str_printf(&ctx->arena, "s%d", i);
        tell(ctx, e, session.p, "one", "first", false);
        CHECK_STR(window_of(ctx, e, (struct window_in){.session = session}), S("u:one a:first"));
        tell(ctx, e, session.p, "two", "second", false);
        CHECK_STR(window_of(ctx, e, (struct window_in){.session = session}),
                  S("u:one a:first u:two a:second"));
    }
}

TEST(the_same_words_twice_are_two_messages_and_a_retry_is_one)
{
    ENGINE(e, s, p);
    for (int durable = 0; durable < 2; durable++) {
        const char *name = durable ? "d" : "q";
        const struct window_in in = {.session = str_of(name)};
        tell(ctx, e, name, "yes", "which?", durable);
        tell(ctx, e, name, "yes", "which?", durable);
        CHECK_STR(window_of(ctx, e, in), S("u:yes a:which? u:yes a:which?"));
        tell(ctx, e, name, "well", "", durable); /* the model failed: asked again */
        tell(ctx, e, name, "well", "so", durable);
        tell(ctx, e, name, "yes", "good", durable);
        CHECK_STR(window_of(ctx, e, in),
                  S("u:yes a:which? u:yes a:which? u:well a:so u:yes a:good"));
    }
    check_healthy(ctx, s);
}

/* A client that gave up waiting asks again while the first request still runs. */
TEST(a_retry_beside_its_first_try_is_one_message)
{
    ENGINE(e, s, p);
    tell(ctx, e, "mine", "one", "first", false);
    struct turn *a = turn_of(ctx, e, "mine", "two", false);
    struct turn *b = turn_of(ctx, e, "mine", "two", false);
    CHECK_OK(engine_end_turn(ctx, e, a, S("second")));
    CHECK_OK(engine_end_turn(ctx, e, b, S("second")));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:second"));
}

TEST(a_tools_answer_follows_its_question_in_a_session)
{
    ENGINE(e, s, p);
    tell(ctx, e, "mine", "one", "first", false);
    tell(ctx, e, "mine", "how is the weather?", "", false);
    struct window w;
    const struct window_in in = {.pool = mine,
                                 .session = S("mine"),
                                 .asked = S("how is the weather?")};
    const struct said said[] = {{.role = S("user"), .text = S("how is the weather?")},
                                {.role = S("assistant"), .text = S("")},
                                {.role = S("tool"), .text = S("fine")}};
    CHECK_OK(engine_window(ctx, e, &in, &w));
    CHECK_INT(w.n, 2);
    const struct turn_in turn = {.pool = mine,
                                 .session = S("mine"),
                                 .said = said,
                                 .n_said = 3,
                                 .window = w.v,
                                 .n_window = w.n};
    struct turn *t = engine_begin_turn(ctx, e, &turn);
    CHECK_INT(t->n_fresh, 1);
    CHECK_OK(engine_end_turn(ctx, e, t, S("Fine.")));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:how is the weather? a:Fine."));
}

TEST(what_is_shown_is_not_recalled)
{
    ENGINE(e, s, p);
    tell(ctx, e, "other", "My dog Rex likes long walks.", "Nice.", true);
    tell(ctx, e, "mine", "My dog Rex has a red collar.", "Nice.", true);
    struct turn *t = turn_of(ctx, e, "mine", "What does my dog Rex like?", true);
    CHECK(str_find(t->out.block, S("long walks")) < t->out.block.n);
    CHECK(str_find(t->out.block, S("collar")) == t->out.block.n);
    for (size_t i = 0; i < t->record.n; i++)
        for (size_t k = 0; k < t->in.n_window; k++)
            CHECK(!str_eq(t->record.lines[i].id, t->in.window[k].id));
}

TEST(a_question_is_understood_by_what_is_shown)
{
    ENGINE(e, s, p);
    tell(ctx, e, "other", "My sister Ida sails on Sunday mornings.", "Nice.", true);
    tell(ctx, e, "mine", "Where does Ida live?", "In Oslo.", true);
    struct turn *t = turn_of(ctx, e, "mine", "What does she do on Sunday?", true);
    CHECK_STR(t->record.question, S("What does she do on Sunday? (Ida)"));
    CHECK(str_find(t->out.block, S("sails")) < t->out.block.n);
    CHECK_STR(t->out.whole, S("mine"));
    settings.query_rewriting = REWRITE_OFF;
    t = turn_of(ctx, e, "mine", "What does she do on Sunday?", true);
    CHECK_STR(t->record.question, S("What does she do on Sunday?"));
}

TEST(a_durable_turn_is_kept_when_it_ends)
{
    ENGINE(e, s, p);
    struct message *v;
    size_t n;
    tell(ctx, e, "mine", "one", "first", true);
    CHECK_OK(store_session_messages(ctx, s, mine, S("mine"), 0, 10, &v, &n));
    CHECK_INT(n, 2);
}

/* The client of a durable turn is told; that of another one never waited. */
TEST(a_durable_turn_that_the_disk_does_not_take_fails)
{
    disk_install();
    ENGINE(e, s, p);
    tell(ctx, e, "mine", "one", "first", true);
    struct turn *t = turn_of(ctx, e, "mine", "two", true);
    disk_fail(DISK_SYNC_FAILS, 0, true);
    CHECK_STATUS(engine_end_turn(ctx, e, t, S("second")), STORAGE);
    CHECK(ctx->why[0]);
    ctx_clear_failure(ctx);
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}), S("u:one a:first"));
    t->in.is_durable = false;
    disk_fail(DISK_WRITE_FAILS, 0, true);
    CHECK_OK(engine_end_turn(ctx, e, t, S("second")));
    CHECK_STATUS(store_flush(ctx, s), STORAGE);
    ctx_clear_failure(ctx);
    CHECK(disk_mend());
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}), S("u:one a:first"));
    t->in.is_durable = true;
    CHECK_OK(engine_end_turn(ctx, e, t, S("second")));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:second"));
}

TEST(what_is_forgotten_while_the_model_answers_stays_forgotten)
{
    ENGINE(e, s, p);
    const struct forget all[] = {{.pool = mine, .session = S("mine")},
                                 {.pool = mine, .everything = true}};
    int64_t erased;
    for (size_t i = 0; i < 2; i++) {
        struct memory_totals totals;
        tell(ctx, e, "mine", "I like green tea.", "first", true);
        struct turn *t = turn_of(ctx, e, "mine", "I like dried figs.", true);
        t->in.goes_on = true;
        CHECK_OK(store_forget(ctx, s, &all[i], &erased));
        CHECK_OK(engine_end_turn(ctx, e, t, S("second")));
        CHECK(ctx->failed == OK);
        CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}), S(""));
        CHECK_OK(engine_totals(ctx, e, &(struct memory_filter){.pool = mine}, &totals));
        CHECK_INT(totals.total, 0);
    }
    tell(ctx, e, "mine", "one", "first", true);
    struct turn *t = turn_of(ctx, e, "mine", "two", true);
    t->in.goes_on = true;
    CHECK_OK(engine_end_turn(ctx, e, t, S("second")));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:second"));
}

/* What a turn that nobody waited for lost is told by a flush, however often windows were read. */
TEST(a_window_hides_no_loss)
{
    disk_install();
    ENGINE(e, s, p);
    tell(ctx, e, "mine", "one", "first", true);
    struct turn *t = turn_of(ctx, e, "mine", "two", false);
    disk_fail(DISK_WRITE_FAILS, 0, true);
    CHECK_OK(engine_end_turn(ctx, e, t, S("second")));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}), S("u:one a:first"));
    CHECK(disk_mend());
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}), S("u:one a:first"));
    CHECK_STATUS(store_flush(ctx, s), STORAGE);
}

/* Written, but not synced: it can be read, and is safe with the next write. */
TEST(nor_one_that_can_be_read)
{
    disk_install();
    ENGINE(e, s, p);
    tell(ctx, e, "mine", "one", "first", true);
    struct turn *t = turn_of(ctx, e, "mine", "two", false);
    disk_fail(DISK_SYNC_FAILS, 0, true);
    CHECK_OK(engine_end_turn(ctx, e, t, S("second")));
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:second"));
    CHECK_STATUS(store_flush(ctx, s), STORAGE);
    ctx_clear_failure(ctx);
    CHECK(disk_mend());
    tell(ctx, e, "mine", "three", "third", true);
    CHECK_STR(window_of(ctx, e, (struct window_in){.session = S("mine")}),
              S("u:one a:first u:two a:second u:three a:third"));
}
