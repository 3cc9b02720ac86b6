/* recall_encoder.c - what the encoder in the program adds to recall, and when it takes no part. */
#include <math.h>

#include "base/clock.h"
#include "engine/recall/features.h"
#include "engine/recall/line_selection.h"
#include "engine/state/state.h"
#include "lib/engine.h"
#include "store/store.h"

static void embed_all(struct ctx *ctx, struct engine *e)
{
    for (bool more = true; more;)
        CHECK_OK(engine_embed_some(ctx, e, &more));
}

/* Facts, none of which shares a word with "Who looks after my teeth?". */
static void remember_some(struct ctx *ctx, struct store *s)
{
    static const char *const facts[] = {"The dentist is Doctor Amara Okafor", "The car is red",
                                        "Ada drinks green tea", "The boiler was replaced in March",
                                        "Paul plays chess on Thursdays"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        struct memory m = fact(str_printf(&ctx->arena, "m%zu", i).p, "", facts[i]);
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    }
}

static const struct recall_in anyhow = {.gate = false};
static const char teeth[] = "Who looks after my teeth?";

TEST(what_shares_no_word_is_found_by_meaning)
{
    ENGINE(e, s, p);
    remember_some(ctx, s);
    embed_all(ctx, e);
    struct recall_out r = recall_question(ctx, e, teeth, anyhow);
    CHECK(r.n > 0);
    CHECK_STR(r.v[0].memory.id, S("m0"));
    CHECK(recalled_signal(&r.v[0], "tokens") > 0.3 && recalled_signal(&r.v[0], "share") == 0);
    CHECK_STR(r.vectors, S("encoder:minilm-3:128"));
}

static const struct recall_in as_chat = {.gate = true};

/* Each in a chat of its own; NULL-ended. */
static void tell_all(struct ctx *ctx, struct engine *e, struct store *s, const char *const *facts)
{
    for (size_t i = 0; facts[i]; i++) {
        struct message m = said(str_printf(&ctx->arena, "m%zu", i).p, "user", facts[i], 1000);
        CHECK_OK(say(ctx, s, mine, str_printf(&ctx->arena, "s%zu", i).p, &m));
    }
    embed_all(ctx, e);
}

/* The surer the wording asks for something told, the less an answer must be probable, also among
 * many requests that tell nothing. */
TEST(wording_moves_the_bar_in_a_large_space)
{
    enum { PLAIN = 300 };
    static const char *const things[] = {"rice", "a tent", "grep", "tax law", "a sonnet", "Mars"};
    const char *facts[PLAIN + 3] = {"My dentist is Dr. Okafor, on Harbour Street.",
                                    "I work nights at the bakery."};
    ENGINE(e, s, p);
    for (size_t i = 1; i <= PLAIN; i++)
        facts[i + 1] = str_printf(&ctx->arena, "Give me tip number %zu for %s, please.", i,
                                  things[i % (sizeof things / sizeof *things)])
                           .p;
    tell_all(ctx, e, s, facts);
    struct recall_out r = recall_question(ctx, e, "Who looks after my teeth?", as_chat);
    CHECK(r.probability < 0.05 && r.n && r.v[0].state == LINE_INJECTED);
    CHECK(holds(r.v[0].text, "Okafor"));
    r = recall_question(ctx, e, "How does a compiler work?", as_chat);
    CHECK_STR(r.decision, S("none"));
    CHECK(holds(r.reason, "reads like a question without need of memory"));
}

/* Likes that share no word with the request; the rest of the user's life does not bear on it. */
TEST(a_like_bears_on_a_request_that_it_is_near_to)
{
    static const char *const facts[] = {"I love crime novels set in Iceland.",
                                        "I enjoy cycling along canals.", "I'm allergic to walnuts.",
                                        "We live in Ghent with two toddlers.", NULL};
    ENGINE(e, s, p);
    tell_all(ctx, e, s, facts);
    struct recall_out r = recall_question(ctx, e, "Can you recommend a book?", as_chat);
    size_t given = 0;
    for (size_t i = 0; i < r.n; i++) {
        given += r.v[i].state == LINE_INJECTED;
        CHECK(r.v[i].state != LINE_INJECTED || holds(r.v[i].text, "Iceland"));
    }
    CHECK_INT(given, 1);
}

/* Of four lines of 100 tokens each, the third is worth this much. */
static size_t lines_that_fit(double third, struct line_budget budget)
{
    struct recalled found[] = {{.measured.worth = 0.9},
                               {.measured.worth = 0.01},
                               {.measured.worth = third},
                               {.measured.worth = 0.2}};
    const struct sized_line lines[] = {{100, 0}, {100, 1}, {100, 2}, {100, 3}};
    const struct finder f = {.found = found, .n = 4};
    return lines_within(&f, lines, 4, budget);
}

TEST(behind_the_first_budget_a_line_is_worth_its_tokens)
{
    CHECK_INT(lines_that_fit(0.04, (struct line_budget){200, 400, 0.0005}), 2);
    CHECK_INT(lines_that_fit(0.06, (struct line_budget){200, 400, 0.0005}), 4);
    CHECK_INT(lines_that_fit(0.06, (struct line_budget){200, 350, 0.0005}), 3);
    CHECK_INT(lines_that_fit(0.06, (struct line_budget){200, 200, 0.0005}), 2);
    CHECK_INT(lines_that_fit(0.06, (struct line_budget){50, 50, 0.0005}), 1);
    CHECK_INT(lines_that_fit(0, (struct line_budget){-1, -1, 0.0005}), 4);
}

/* As the setting's help says; 800 tokens are what a chat may get. */
TEST(a_question_has_two_budgets)
{
    ENGINE(e, s, p);
    const struct recall_in in = {.gate = true};
    struct finder f = {.ctx = ctx, .e = e, .in = &in, .how.weighed = WITH_ENCODER};
    CHECK_INT(lines_budget(&f, 800).sure, 170);
    CHECK_INT(lines_budget(&f, 800).most, 540);
    CHECK_INT(lines_budget(&f, 100).sure, 100);
    f.how.weighed = OTHER_LANGUAGE;
    CHECK_INT(lines_budget(&f, 800).sure, 220);
    CHECK_INT(lines_budget(&f, 800).most, 760);
}

/* Two searches find it: by "child", which tells of children, and by "girl", which may. */
/* "What does my sister drive?" finds who she is; what was told of her name says what. */
TEST(what_a_name_leads_to_is_given)
{
    static const char *const told[] = {"My sister Runa teaches the violin.",
                                       "The alternator of Runa's Equinox was 340 euros.",
                                       "The alternator makes electricity.",
                                       "My brother has a red bicycle.",
                                       "Paul plays chess on Thursdays.",
                                       "The boiler was replaced in March.",
                                       "Ada drinks green tea.",
                                       "We painted the fence blue.",
                                       "The car needs new tyres.",
                                       "I cannot stand coriander.",
                                       "The bakery opens at six.",
                                       "My desk is by the window.",
                                       "The choir sings in Latin.",
                                       "Our cat hides from the postman.",
                                       NULL};
    ENGINE(e, s, p);
    tell_all(ctx, e, s, told);
    struct recall_out r = recall_question(ctx, e, "What does my sister drive?", as_chat);
    for (size_t i = 0; i < r.n; i++)
        CHECK_INT(str_is(r.v[i].why, "tells of a name in another line"),
                  str_is(r.v[i].message.id, "m1"));
    CHECK(SOME(i, r.n, str_is(r.v[i].message.id, "m1") && r.v[i].state == LINE_INJECTED));
}

TEST(a_line_is_given_once)
{
    static const char *const facts[] = {
        "I have three daughters: Orla in Toronto, Sinead in Cork and Deirdre just down the road.",
        "Orla is expecting her second child in April, a girl they say.",
        "I'm flying to Toronto on 28 April for three weeks to see the new grandchild.",
        "I keep bees, four hives at the bottom of the orchard.", NULL};
    ENGINE(e, s, p);
    tell_all(ctx, e, s, facts);
    struct recall_out r = recall_question(ctx, e, "how many children do I have?", as_chat);
    for (size_t i = 0; i < r.n; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(r.v[i].is_memory || !str_eq(r.v[i].message.id, r.v[k].message.id));
    CHECK(r.n > 1);
}

TEST(switched_off_it_is_words_alone)
{
    ENGINE(e, s, p);
    settings.encoder = false;
    remember_some(ctx, s);
    embed_all(ctx, e);
    CHECK_INT(recall_question(ctx, e, teeth, anyhow).n, 0);
    struct vector_set set;
    CHECK_OK(store_vector_set(ctx, s, &set));
    CHECK_INT(set.dimensions, 0);
}

TEST(another_script_is_searched_by_words)
{
    ENGINE(e, s, p);
    remember_some(ctx, s);
    embed_all(ctx, e);
    struct recall_out r = recall_question(ctx, e, "Wer kümmert sich um meine Zähne?", anyhow);
    CHECK(r.vectors.n);
    r = recall_question(ctx, e, "谁给我看牙？", anyhow);
    CHECK(!r.vectors.n && holds(r.without, "reads Latin letters"));
}

/* Loading takes less than a chat's question may. Words alone would give what was replaced. */
TEST(the_first_question_after_a_start_loads_the_encoder)
{
    ENGINE(e, s, p);
    remember_some(ctx, s);
    embed_all(ctx, e);
    e->vectors.warm = 0; /* as after a start */
    embed_free(e->embed);
    e->embed = embed_new(e->settings, model_folder(ctx, e->settings, e->settings->data));
    CLEANUP(ctx_free) struct ctx first = ctx_child(ctx, 30000);
    struct recall_out r = recall_question(&first, e, teeth, anyhow);
    CHECK_STR(r.vectors, S("encoder:minilm-3:128"));
}

TEST(a_pool_without_vectors_does_not_load_the_encoder)
{
    ENGINE(e, s, p);
    embed_all(ctx, e);
    CLEANUP(ctx_free) struct ctx first = ctx_child(ctx, 30000);
    struct recall_out r = recall_question(&first, e, teeth, as_chat);
    CHECK(!r.vectors.n && e->vectors.warm == 0);
}

/* The answer may be in any of its sentences, and shares no word with the question. */
TEST(what_was_said_in_few_words_is_given_whole)
{
    static const char *const facts[] = {
        "The boiler made a noise all night. Landlord came round with a man from Kestrel Heating. "
        "It was the pump, 180 in all. He says it should last us until spring.",
        "The roof leaks. The man who came first wanted to put slates on the whole of it, and he "
        "talked for an hour about the chimney, the gutters and the house next door. Another one "
        "said that a day is enough. So I asked Harrow Brothers, and they begin on the ninth.",
        NULL};
    static const char *const questions[] = {"Who looked at the boiler?", "Who mends the roof?"};
    ENGINE(e, s, p);
    tell_all(ctx, e, s, facts);
    for (size_t i = 0; i < 2; i++) {
        struct recall_out r = recall_question(ctx, e, questions[i], as_chat);
        CHECK(r.n > 0);
        bool is_whole = str_is(r.v[0].text, facts[i]);
        CHECK(r.v[0].state == LINE_INJECTED && is_whole == (i == 0));
        CHECK(is_whole || holds(r.v[0].text, "…"));
    }
}

/* What a message asks for may be the answer. Of the lines behind the first only what they state. */
TEST(the_first_line_has_what_its_message_asks_for)
{
    static const char *const facts[] = {
        "The hotel owes me for eleven weeks of rolls. Write to Brendan Moloney, the manager.",
        "The hotel takes 240 rolls a week. Can you draw me a table of the weeks?", NULL};
    ENGINE(e, s, p);
    tell_all(ctx, e, s, facts);
    struct recall_out r =
        recall_question(ctx, e, "What do I know of the hotel's manager?", as_chat);
    CHECK(r.n > 1 && r.v[0].state == LINE_INJECTED && r.v[1].state == LINE_INJECTED);
    CHECK_STR(r.v[0].text, str_of(facts[0]));
    CHECK_STR(r.v[1].text, S("The hotel takes 240 rolls a week."));
}

static void say_unread(struct ctx *ctx, struct store *s, const char *id, const char *text)
{
    struct message m = said(id, "user", text, 2000);
    CHECK_OK(say(ctx, s, mine, id, &m));
}

/* The turn before a question has no vectors yet: in a young pool that is a large share. */
TEST(what_has_no_vector_yet_takes_those_of_the_rest_not_away)
{
    static const char *const facts[] = {"I work at Contoso.",
                                        "I left Contoso, I'm at Fabrikam now.", NULL};
    static const char question[] = "Where do I work?";
    ENGINE(e, s, p);
    tell_all(ctx, e, s, facts);
    say_unread(ctx, s, "m2", "Please tell me a joke about penguins.");
    say_unread(ctx, s, "m3", "I need to work late today.");
    struct recall_out r = recall_question(ctx, e, question, as_chat);
    CHECK_STR(r.vectors, S("encoder:minilm-3:128"));
    bool is_given = false;
    for (size_t i = 0; i < r.n; i++)
        is_given |= r.v[i].state == LINE_INJECTED && holds(r.v[i].text, "Fabrikam");
    CHECK(is_given);
    say_unread(ctx, s, "m4", "Translate this into Latin, please.");
    CHECK(!recall_question(ctx, e, question, as_chat).vectors.n);
}

static size_t waiting(struct ctx *ctx, struct store *s)
{
    enum { MANY = 100 };
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, NULL, MANY, &v, &n));
    return n;
}

TEST(the_background_makes_few_vectors_at_a_time_while_there_are_chats)
{
    ENGINE(e, s, p);
    bool more;
    remember_some(ctx, s);
    e->work.chat_at = clock_mono_us() + 1000000;
    CHECK_OK(engine_embed_some(ctx, e, &more));
    CHECK_INT(waiting(ctx, s), 1);
    CHECK(more);
    e->work.chat_at = 0;
    embed_all(ctx, e);
    CHECK_INT(waiting(ctx, s), 0);
}

/* Four fit: a question, a turn, and a question whose answer is the fifth. */
TEST(a_turn_is_read_whole_however_few_texts_fit)
{
    static const char *const told[][2] = {
        {"s0", "q0"}, {"s1", "q1"}, {"s1", "a1"}, {"s2", "q2"}, {"s2", "a2"}};
    ENGINE(e, s, p);
    bool more;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        bool is_answer = *told[i][1] == 'a';
        struct message m = said(told[i][1], is_answer ? "assistant" : "user", "Is it tea?", 2000);
        CHECK_OK(say(ctx, s, mine, told[i][0], &m));
    }
    e->work.chat_at = clock_mono_us() + 1000000;
    CHECK_OK(engine_embed_some(ctx, e, &more));
    CHECK_INT(waiting(ctx, s), 2);
    CHECK(more);
}

/* And not for ever. */
TEST(the_background_makes_no_vectors_while_a_question_is_searched_for)
{
    ENGINE(e, s, p);
    struct memory late = fact("late", "", "The cat is called Pallas");
    remember_some(ctx, s);
    embed_all(ctx, e); /* the encoder is loaded */
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &late));
    CHECK_INT(waiting(ctx, s), 1);
    e->work.asking = 1;
    int64_t began = clock_mono_us();
    embed_all(ctx, e);
    CHECK(clock_mono_us() - began >= 50000);
    CHECK_INT(waiting(ctx, s), 0);
}

static void see_row(void *what, size_t i, str row)
{
    size_t *bytes = what;
    CHECK(i == 0 && row.n % 64 == 0);
    *bytes += row.n;
}

/* Twice: as they are read, and as they are kept. */
static size_t token_bytes(struct ctx *ctx, struct store *s, struct pool_ref pool, doc_id doc)
{
    size_t read = 0, kept = 0;
    CHECK_OK(store_token_vectors(ctx, s, pool, &doc, 1, see_row, &read));
    CHECK_OK(store_token_vectors(ctx, s, pool, &doc, 1, see_row, &kept));
    CHECK_INT(kept, read);
    return read;
}

/* Vectors of one document are no other's: neither another space's, nor left when it is erased. */
TEST(vectors_of_tokens_are_erased_with_their_text)
{
    ENGINE(e, s, p);
    remember_some(ctx, s);
    embed_all(ctx, e);
    doc_id doc;
    CHECK_OK(store_doc_of(ctx, s, mine, S("m0"), &doc));
    CHECK(token_bytes(ctx, s, mine, doc) > 0);
    CHECK_INT(token_bytes(ctx, s, other_user, doc), 0);
    struct forget what = {.pool = mine, .id = S("m0")};
    int64_t n;
    CHECK_OK(engine_forget(ctx, e, &what, &n));
    CHECK_INT(token_bytes(ctx, s, mine, doc), 0);
    CHECK(!recall_question(ctx, e, teeth, anyhow).n ||
          !str_is(recall_question(ctx, e, teeth, anyhow).v[0].memory.id, "m0"));
}

/* The last fact has no vectors yet, and fits best. */
TEST(what_was_told_a_moment_ago_is_not_behind)
{
    ENGINE(e, s, p);
    for (int i = 0; i < 30; i++) {
        struct memory m =
            fact(str_printf(&ctx->arena, "b%d", i).p, "",
                 str_printf(&ctx->arena, "My boat number %d is called Wave %d", i, i).p);
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    }
    embed_all(ctx, e);
    struct memory m = fact("new", "", "My kiosk is called Noriko");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    struct recall_in chat = {.gate = true};
    struct recall_out r = recall_question(ctx, e, "What is my kiosk called?", chat);
    CHECK(r.n > 0);
    CHECK_STR(r.v[0].memory.id, S("new"));
}

static const struct recall_in in_chat = {.gate = true};

static bool is_marked(const struct finder *f, const char *expected)
{
    for (size_t i = 0; i < f->n; i++)
        if ((f->found[i].state == LINE_CHOSEN) != (expected[i] == '+'))
            return false;
    return true;
}

/* A sure line, one near to it, and one far behind it, until enough of what is probably needed is
 * there; what is in the list without having been found is held against the least score. */
TEST(lines_go_in_until_enough_of_what_is_needed_is_there)
{
    ENGINE(e, s, p);
    struct recalled v[4] = {{.message.role = S("user"), .score = 0.5, .measured.rank = 12},
                            {.message.role = S("user"), .score = 0.1, .measured.rank = 11},
                            {.message.role = S("user"), .score = 0.01, .measured.rank = 2},
                            {.is_memory = true, .score = 0.05}};
    struct candidate found = {.dense = 0.5f};
    const struct recall_in in = {.gate = true};
    struct finder f = {
        .ctx = ctx, .e = e, .in = &in, .found = v, .n = 4, .how.weighed = WITH_ENCODER};
    v[0].by = v[1].by = v[2].by = &found;
    struct verdict verdict = {.least = 0.01, .by_worth = true};
    lines_select(&f, &verdict);
    CHECK(is_marked(&f, "++-+"));
    CHECK(v[0].measured.worth > v[1].measured.worth && v[1].measured.worth > v[2].measured.worth);
    f.asked.aggregation = true; /* all that was said of something */
    v[2].measured.rank = 6;
    lines_select(&f, &verdict);
    CHECK(is_marked(&f, "++++"));
    verdict.least = 2;
    lines_select(&f, &verdict);
    CHECK(is_marked(&f, "----"));
    verdict = (struct verdict){.least = 0.04};
    lines_select(&f, &verdict); /* by the score */
    CHECK(is_marked(&f, "++-+"));
}

/* A message and the memory that was noted from it say one thing. */
TEST(a_memory_and_its_message_take_one_place)
{
    ENGINE(e, s, p);
    struct recalled v[3] = {
        {.message = {.id = S("t1"), .role = S("user")}, .score = 0.3, .measured.rank = 8},
        {.is_memory = true, .memory.source = S("t1"), .score = 0.3, .measured.rank = 8},
        {.message = {.id = S("t2"), .role = S("user")}, .score = 0.1, .measured.rank = 6}};
    struct candidate found = {.dense = 0.5f};
    const struct recall_in in = {.gate = true};
    struct finder f = {
        .ctx = ctx, .e = e, .in = &in, .found = v, .n = 3, .how.weighed = WITH_ENCODER};
    v[0].by = v[1].by = v[2].by = &found;
    struct verdict verdict = {.least = 0.01, .by_worth = true};
    lines_select(&f, &verdict);
    double second = v[2].measured.worth;
    v[1].memory.source = S("t9");
    lines_select(&f, &verdict);
    CHECK(v[2].measured.worth < second);
}

/* A condition that the question does not meet in words may be met in others, which the search by
 * meaning finds. */
TEST(an_instruction_for_something_else_is_not_given)
{
    ENGINE(e, s, p);
    struct memory other =
        fact("i1", "instruction:price", "asks to name prices when I ask about shoes");
    other.category = S("instruction");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &other));
    remember_some(ctx, s);
    embed_all(ctx, e);
    struct recall_out r = recall_question(ctx, e, "Which car do I drive, the red one?", in_chat);
    bool is_given = false, gives_car = false;
    for (size_t i = 0; i < r.n; i++) {
        is_given |= r.v[i].state == LINE_INJECTED && str_is(r.v[i].memory.id, "i1");
        gives_car |= r.v[i].state == LINE_INJECTED && str_is(r.v[i].memory.id, "m1");
    }
    CHECK(gives_car && !is_given);
    settings.encoder = false;
    r = recall_question(ctx, e, "Which car do I drive, the red one?", in_chat);
    is_given = false;
    for (size_t i = 0; i < r.n; i++)
        is_given |= r.v[i].state == LINE_INJECTED && str_is(r.v[i].memory.id, "i1");
    CHECK(is_given);
}

/* Where memory is silent, an instruction for every chat goes in alone. */
TEST(an_instruction_opens_the_door_for_nothing_else)
{
    static const char *const told[] = {"I went to the sea with Paul, the sky was grey.",
                                       "My sister Ada has a red kite.", "I work at a bakery.",
                                       "We had fish at sunset.", NULL};
    ENGINE(e, s, p);
    struct memory instruction = fact("i1", "instruction:brief", "asks to always be brief");
    instruction.category = S("instruction");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &instruction));
    tell_all(ctx, e, s, told);
    struct recall_out r =
        recall_question(ctx, e, "Explain the causes of a red sky at sunset.", in_chat);
    size_t given = 0;
    for (size_t i = 0; i < r.n; i++)
        given += r.v[i].state == LINE_INJECTED;
    CHECK_INT(given, 1);
    CHECK(str_starts(r.reason, S(ONLY_STANDING "; ")));
    CHECK(str_find(r.reason, S("probability of an answer")) < r.reason.n);
}
