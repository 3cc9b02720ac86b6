/* turn.c - a conversation through the engine: what is recalled, what is kept, and what is not. */
#include <pthread.h>

#include "lib/talk.h"

static struct store_stats stats_of(struct ctx *ctx, struct store *s)
{
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    return stats;
}

/* The facts of a pool as "content | content", newest first. */
static str facts(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    struct memory_filter f = {.pool = pool, .limit = 100};
    struct memory *v;
    size_t n;
    int64_t total;
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(n, total);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? " | " : "", S_ARG(v[i].content));
    return buf_str(&b);
}

/* The texts of a session in order. */
static str texts(struct ctx *ctx, struct store *s, str session)
{
    struct message *v;
    size_t n;
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    CHECK_OK(store_session_messages(ctx, s, mine, session, 0, 1000, &v, &n));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%c:" S_FMT, i ? " " : "", v[i].role.p[0], S_ARG(v[i].text));
    return buf_str(&b);
}

/* --- recall --- */

TEST(what_was_told_in_one_conversation_is_known_in_the_next)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    CHECK_STR(talk_ask(&one, "My dog is called Rex.", "Nice name!"), S(""));
    str block = talk_ask(&two, "What is my dog's name?", "Rex.");
    CHECK(holds(block, "Rex") && holds(block, "<remembered>"));
    CHECK_INT(two.turn->out.block_at, 0);
    CHECK(!str_eq(one.turn->record.session, two.turn->record.session));
    CHECK(id_is_uuid(two.turn->record.session));
    struct receipt r;
    CHECK_OK(engine_receipt(ctx, e, mine, two.turn->out.receipt, &r));
    CHECK_STR(r.block, block);
    CHECK_STR(r.question, S("What is my dog's name?"));
    CHECK(r.n > 0 && r.lines[0].injected && r.lines[0].why.n && r.tokens > 0);
    str answer = engine_demo_answer(ctx, S("What is my dog's name?"),
                                    &(struct turn_out){.block = block}, NULL, 0);
    CHECK(holds(answer, "Rex"));
}

TEST(the_first_conversation_of_the_readme)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My dog is called Rex and I live in Lisbon.", "Noted.");
    CHECK_STR(facts(ctx, e, mine), S("lives in Lisbon | my dog is called Rex"));
    str block = talk_ask(&two, "What is my dog called?", "Rex.");
    CHECK(holds(engine_demo_answer(ctx, S("What is my dog called?"),
                                   &(struct turn_out){.block = block}, NULL, 0),
                "Rex"));
}

TEST(nothing_relevant_is_silence)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My dog is called Rex.", "Nice name!");
    CHECK_STR(talk_ask(&two, "How do I reverse a linked list in C?", "Like so."), S(""));
    CHECK(two.turn->out.receipt.n);
    CHECK_STR(two.turn->record.decision, S("none"));
}

TEST(who_asks_what_is_known_is_told_whatever_the_words)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s);
    talk_ask(&one, "My name is Marco. I live in Lisbon. My dog is called Rex.", "Hello Marco!");
    static const char *const questions[] = {"Who am I?", "What do you know about me?",
                                            "Do you remember my pet?", "Tell me about myself."};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct talk t = talk_of(ctx, e, s);
        str block = talk_ask(&t, questions[i], "");
        if (!holds(block, "Marco") || !holds(block, "Rex"))
            fail_msg("%s: '" S_FMT "' (" S_FMT ")", questions[i], S_ARG(block),
                     S_ARG(t.turn->record.reason));
        CHECK(!holds(block, "Hello"));
    }
    static const char *const others[] = {"Fix my code.", "Rename my_var, please.",
                                         "How far did I say the harbour is?",
                                         "Our build fails with error 127."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct talk t = talk_of(ctx, e, s);
        CHECK_STR(talk_ask(&t, others[i], ""), S(""));
    }
}

TEST(what_merely_stood_beside_stays_out)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My daughter Mia is seven years old.", "I see.");
    talk_ask(&one, "The wifi password is tulip42.", "Thanks.");
    str block = talk_ask(&two, "How old is my daughter Mia?", "Seven.");
    CHECK(holds(block, "seven"));
    CHECK(!holds(block, "I see") && !holds(block, "tulip42"));
}

TEST(another_pool_knows_nothing)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s);
    talk_ask(&one, "My dog is called Rex.", "Nice name!");
    struct said said = {.role = S("user"), .text = S("What is my dog's name?")};
    struct turn_in in = {.pool = other_user, .said = &said, .n_said = 1};
    CHECK_STR(turn_out_of(engine_begin_turn(ctx, e, &in))->block, S(""));
    in.pool = other_space;
    CHECK_STR(turn_out_of(engine_begin_turn(ctx, e, &in))->block, S(""));
}

/* What the reader has in front of it is not told again. */
TEST(the_conversation_itself_is_not_recalled)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "My dog is called Rex.", "Nice name!");
    CHECK_STR(talk_ask(&t, "What is my dog's name?", "Rex."), S(""));
    struct talk cut = talk_of(ctx, e, s);
    talk_say(&cut, "user", "What is my dog's name?");
    talk_say(&cut, "assistant", "Rex.");
    CHECK(!holds(talk_ask(&cut, "Are you sure that my dog's name is Rex?", "Yes."), "dog's name?"));
}

TEST(a_follow_up_is_asked_with_what_came_before)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My sister Ida lives in Oslo, in the old harbour.", "Nice.");
    talk_ask(&two, "Tell me about the old harbour.", "Which?");
    talk_ask(&two, "why?", "Hm.");
    CHECK_STR(two.turn->record.question, S("why? (old harbour)"));
    CHECK(holds(two.turn->record.reason, "\"why?\" needs what was said before"));
    CHECK(holds(two.turn->out.block, "Oslo"));
}

/* Osaurus's plan, too. */
TEST(a_planned_turn_understands_follow_ups)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_say(&t, "user", "Where does Ida live?");
    talk_say(&t, "assistant", "In Oslo.");
    talk_say(&t, "user", "What does she do on Sunday?");
    const struct turn_in in = {.pool = mine, .said = t.said, .n_said = t.n, .is_planned = true};
    t.turn = engine_begin_turn(ctx, e, &in);
    CHECK_STR(t.turn->record.question, S("What does she do on Sunday? (Ida)"));
    CHECK(holds(t.turn->record.reason, "\"she\" needs what was said before: by rules"));
}

TEST(a_courtesy_asks_nothing)
{
    static const char *const courtesies[] = {"Hello!",
                                             "thanks",
                                             "Ok, thank you",
                                             "Great, thanks!",
                                             "Thanks, that's all for today.",
                                             "Goodbye, see you tomorrow",
                                             "Cheers, have a good evening!"};
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s), three = talk_of(ctx, e, s);
    talk_ask(&one, "Hello! My sister Ida lives in Oslo.", "Nice.");
    CHECK(holds(talk_ask(&two, "Where does my sister Ida live?", "Oslo."), "Oslo"));
    for (size_t i = 0; i < sizeof courtesies / sizeof *courtesies; i++)
        CHECK_STR(talk_ask(&two, courtesies[i], "Hm."), S(""));
    CHECK_STR(two.turn->record.reason, S("a courtesy asks nothing"));
    CHECK(holds(talk_ask(&three, "hi, who am i", "Hm."), "sister"));
    CHECK(holds(talk_ask(&three, "Thanks! And where does my sister live?", "Hm."), "Oslo"));
}

TEST(a_tool_gets_the_block_of_its_question_again)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My dog is called Rex.", "Nice name!");
    str block = talk_ask(&two, "What is my dog's name?", "");
    CHECK(block.n > 0);
    struct talk more = talk_of(ctx, e, s);
    talk_ask(&more, "My dog is called Max and my dog's name is Max.", "Oh!");
    talk_say(&two, "assistant", "");
    talk_say(&two, "tool", "{\"weather\": \"fine\"}");
    talk_begin(&two);
    CHECK_STR(two.turn->out.block, block);
    CHECK_INT(two.turn->out.block_at, 0);
    CHECK_STR(two.turn->record.decision, S("again"));
    talk_end(&two, "It is Rex.");
    CHECK_STR(texts(ctx, s, two.turn->record.session),
              S("u:What is my dog's name? t:{\"weather\": \"fine\"} a:It is Rex."));
}

TEST(what_is_forgotten_goes_from_the_receipts_of_a_block_that_was_given_again)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    struct receipt r;
    talk_ask(&one, "My dog is called Rex.", "Nice name!");
    str session = one.turn->record.session;
    talk_ask(&two, "What is my dog's name?", "");
    talk_say(&two, "assistant", "");
    talk_say(&two, "tool", "{}");
    talk_begin(&two);
    talk_end(&two, "I know it.");
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(engine_receipt(ctx, e, mine, two.turn->out.receipt, &r));
    CHECK_STR(r.decision, S("again"));
    CHECK(holds(r.block, "Rex"));
    struct forget what = {.pool = mine, .session = session};
    int64_t erased;
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK_STATUS(engine_receipt(ctx, e, mine, two.turn->out.receipt, &r), NOT_FOUND);
}

TEST(a_recall_that_is_late_or_fails_is_left_out)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My dog is called Rex.", "Nice name!");
    ctx->deadline_us = 1;
    CHECK_STR(talk_ask(&two, "What is my dog's name?", "No idea."), S(""));
    CHECK_INT(ctx->deadline_us, 1);
    ctx->deadline_us = 0;
    CHECK_STR(two.turn->record.decision, S("failed"));
    CHECK(two.turn->record.reason.n && ctx->failed == OK);
    struct engine_stats stats;
    CHECK_OK(engine_stats(ctx, e, &stats));
    CHECK_INT(stats.timed_out, 1);
    CHECK_INT(stats.turns, 2);
    CHECK_INT(stats_of(ctx, s).messages, 4);
}

/* --- modes --- */

TEST(modes_recall_and_keep_what_they_say)
{
    ENGINE(e, s, p);
    struct talk first = talk_of(ctx, e, s);
    talk_ask(&first, "My dog is called Rex.", "Nice name!");
    int64_t before = stats_of(ctx, s).messages;
    struct talk t = talk_of(ctx, e, s);
    t.mode = MODE_READONLY;
    CHECK(talk_ask(&t, "What is my dog's name? I love tea.", "Rex.").n > 0);
    CHECK_INT(stats_of(ctx, s).messages, before);
    CHECK_STR(facts(ctx, e, mine), S("my dog is called Rex"));
    struct receipt r;
    CHECK_OK(engine_receipt(ctx, e, mine, t.turn->out.receipt, &r));
    t = talk_of(ctx, e, s);
    t.mode = MODE_OFF;
    CHECK_STR(talk_ask(&t, "What is my dog's name? I love tea.", "Rex."), S(""));
    CHECK_STR(t.turn->out.receipt, S(""));
    CHECK_INT(stats_of(ctx, s).messages, before);
    t = talk_of(ctx, e, s);
    t.mode = MODE_AFTER;
    CHECK_STR(talk_ask(&t, "What is my dog's name? I love tea.", "Rex."), S(""));
    CHECK_INT(stats_of(ctx, s).messages, before + 2);
    CHECK_STR(t.turn->record.decision, S("off"));
    CHECK(holds(facts(ctx, e, mine), "loves tea"));
}

TEST(memory_that_is_switched_off_does_nothing)
{
    ENGINE(e, s, p);
    struct settings off = settings;
    CLEANUP(engine_closep) struct engine *silent = NULL;
    off.memory = false;
    CHECK_OK(engine_open(ctx, s, &off, &silent));
    struct talk t = talk_of(ctx, silent, s);
    talk_ask(&t, "My dog is called Rex.", "Nice name!");
    CHECK_INT(stats_of(ctx, s).messages, 0);
    CLEANUP(engine_closep) struct engine *sparse = NULL;
    settings.budget_tokens = 0;
    CHECK_OK(engine_open(ctx, s, &settings, &sparse));
    t = talk_of(ctx, sparse, s);
    talk_ask(&t, "My dog is called Rex.", "Nice name!");
    struct talk two = talk_of(ctx, sparse, s);
    CHECK_STR(talk_ask(&two, "What is my dog's name?", "Rex."), S(""));
}

/* --- sessions --- */

TEST(a_conversation_grows_in_its_session)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_say(&t, "system", "Be kind.");
    talk_ask(&t, "one", "first");
    str session = t.turn->record.session;
    t.said[0].text = S("Be short."); /* a system message may change */
    talk_ask(&t, "two", "second");
    talk_ask(&t, "three", "third");
    CHECK_STR(t.turn->record.session, session);
    CHECK_STR(texts(ctx, s, session), S("u:one a:first u:two a:second u:three a:third"));
    CHECK_INT(stats_of(ctx, s).sessions, 1);
    check_healthy(ctx, s);
}

TEST(a_retry_and_another_answer_store_nothing_twice)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "one", "first");
    t.n = 0;
    talk_ask(&t, "one", "first");
    CHECK_INT(stats_of(ctx, s).messages, 2);
    t.n = 0;
    talk_ask(&t, "one", "another");
    CHECK_STR(texts(ctx, s, t.turn->record.session), S("u:one a:first a:another"));
    talk_ask(&t, "two", "second");
    CHECK_STR(texts(ctx, s, t.turn->record.session), S("u:one a:first a:another u:two a:second"));
    t.n = 2;
    talk_ask(&t, "two", "second");
    CHECK_INT(stats_of(ctx, s).messages, 5);
    CHECK_INT(stats_of(ctx, s).sessions, 1);
}

TEST(a_history_that_is_unknown_is_kept_once)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_say(&t, "user", "I love figs");
    talk_say(&t, "assistant", "Good.");
    talk_say(&t, "user", "I hate rain");
    talk_say(&t, "assistant", "Sure.");
    talk_say(&t, "user", "And fog");
    talk_say(&t, "assistant", "Right.");
    talk_ask(&t, "So what?", "Hm.");
    CHECK_INT(stats_of(ctx, s).messages, 8);
    CHECK_STR(facts(ctx, e, mine), S("")); /* examples of a prompt look the same */
    talk_ask(&t, "More?", "No.");
    CHECK_INT(stats_of(ctx, s).messages, 10);
    CHECK_INT(stats_of(ctx, s).sessions, 1);
}

/* The known beginning of a long conversation is found though its end is all new. */
TEST(a_long_new_end_follows_a_known_beginning)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "one", "first");
    talk_ask(&t, "two", "second");
    for (int i = 0; i < 6; i++) {
        talk_say(&t, "user", i % 2 ? "more and more" : "again");
        talk_say(&t, "assistant", "yes");
    }
    talk_ask(&t, "three", "third");
    CHECK_INT(stats_of(ctx, s).sessions, 1);
    CHECK_INT(stats_of(ctx, s).messages, 18);
}

TEST(a_client_that_cuts_off_old_turns_stays_in_its_session)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "one", "first");
    talk_ask(&t, "two", "second");
    talk_ask(&t, "three", "third");
    str session = t.turn->record.session;
    struct talk cut = talk_of(ctx, e, s);
    talk_say(&cut, "user", "three");
    talk_say(&cut, "assistant", "third");
    talk_ask(&cut, "four", "fourth");
    CHECK_STR(cut.turn->record.session, session);
    memmove(cut.said, cut.said + 2, 2 * sizeof *cut.said);
    cut.n = 2;
    talk_ask(&cut, "five", "fifth");
    CHECK_STR(texts(ctx, s, session),
              S("u:one a:first u:two a:second u:three a:third u:four a:fourth u:five a:fifth"));
    cut.n--;
    cut.said[cut.n - 1].text = S("five");
    talk_begin(&cut);
    CHECK_INT(cut.turn->n_fresh, 0);
}

/* The place of what was erased stays empty: each of the others is known by its own id. */
TEST(a_message_is_erased_that_a_client_without_the_beginning_still_sends)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    struct message *v;
    size_t n;
    int64_t erased;
    talk_ask(&t, "one", "first");
    talk_ask(&t, "two", "second");
    talk_ask(&t, "three", "third");
    CHECK_OK(store_session_messages(ctx, s, mine, t.turn->record.session, 0, 6, &v, &n));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = v[3].id}, &erased));
    struct talk cut = talk_of(ctx, e, s);
    for (size_t i = 2; i < 6; i++)
        talk_say(&cut, i % 2 ? "assistant" : "user", v[i].text.p);
    talk_say(&cut, "user", "four");
    talk_begin(&cut);
    CHECK_STR(cut.turn->record.session, t.turn->record.session);
    CHECK_STR(cut.turn->out.ids.v[2], v[4].id);
    CHECK_STR(cut.turn->out.ids.v[3], v[5].id);
}

TEST(of_a_very_long_conversation_the_end_is_kept_and_goes_on)
{
    enum { MOST = 10000, LONG = MOST + 7 };
    ENGINE(e, s, p);
    struct said *said = NEW_N(&ctx->arena, struct said, LONG + 2);
    struct turn_in in = {.pool = mine, .said = said};
    for (size_t i = 0; i < LONG; i++)
        said[i] = (struct said){.role = i % 2 ? S("assistant") : S("user"),
                                .text = str_printf(&ctx->arena, "line %zu", i)};
    for (in.n_said = LONG; in.n_said <= LONG + 2; in.n_said += 2) {
        said[LONG] = (struct said){.role = S("assistant"), .text = S("so it is")};
        said[LONG + 1] = (struct said){.role = S("user"), .text = S("and then?")};
        struct turn *t = engine_begin_turn(ctx, e, &in);
        CHECK_INT(turn_out_of(t)->block_at, in.n_said - 1);
        CHECK_OK(engine_end_turn(ctx, e, t, in.n_said == LONG ? S("so it is") : S("nothing")));
        CHECK_OK(store_flush(ctx, s));
    }
    struct store_stats stats = stats_of(ctx, s);
    CHECK_INT(stats.sessions, 1);
    CHECK_INT(stats.messages, MOST + 3);
}

TEST(a_named_session_goes_on_without_history)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    t.session = "mine";
    talk_ask(&t, "one", "first");
    t.n = 0;
    talk_ask(&t, "two", "second");
    t.n = 0;
    talk_ask(&t, "one", "third");
    CHECK_STR(texts(ctx, s, S("mine")), S("u:one a:first u:two a:second u:one a:third"));
    t.n = 0;
    talk_ask(&t, "four", ""); /* no answer: the client asks again */
    t.n = 0;
    talk_ask(&t, "four", "fourth");
    CHECK_STR(texts(ctx, s, S("mine")),
              S("u:one a:first u:two a:second u:one a:third u:four a:fourth"));
    check_healthy(ctx, s);
}

TEST(a_named_session_with_history_is_the_same)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s), other = talk_of(ctx, e, s);
    t.session = "mine";
    other.session = "yours";
    talk_ask(&t, "one", "first");
    talk_ask(&t, "two", "second");
    t.n = 0;
    talk_ask(&t, "three", "third");
    CHECK_STR(texts(ctx, s, S("mine")), S("u:one a:first u:two a:second u:three a:third"));
    talk_ask(&other, "one", "first");
    CHECK_STR(texts(ctx, s, S("yours")), S("u:one a:first"));
    struct talk again = talk_of(ctx, e, s);
    again.session = "yours";
    talk_ask(&again, "one", "a better answer");
    CHECK_STR(texts(ctx, s, S("yours")), S("u:one a:first a:a better answer"));
}

/* Two turns whose writes still wait end up in one session, once each. */
TEST(a_quick_client_is_not_split)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_say(&t, "user", "one");
    talk_begin(&t);
    struct turn *first = t.turn;
    talk_say(&t, "assistant", "first");
    talk_say(&t, "user", "two");
    talk_begin(&t);
    CHECK_OK(engine_end_turn(ctx, e, first, S("first")));
    talk_end(&t, "second");
    CHECK_STR(t.turn->record.session, first->record.session);
    CHECK_STR(texts(ctx, s, first->record.session), S("u:one a:first u:two a:second"));
}

TEST(an_empty_request_is_harmless)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_begin(&t);
    talk_end(&t, "hello");
    talk_say(&t, "system", "only this");
    talk_begin(&t);
    talk_end(&t, "");
    talk_say(&t, "user", " \n ");
    talk_begin(&t);
    CHECK_STR(t.turn->out.block, S(""));
    talk_end(&t, "");
    CHECK_INT(stats_of(ctx, s).messages, 0);
}

/* --- facts --- */

TEST(the_newer_statement_wins_and_keeps_its_polarity)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "I like Python.", "Ok.");
    talk_ask(&t, "I don\xE2\x80\x99t like Python.", "Ok.");
    CHECK_STR(facts(ctx, e, mine), S("doesn't like Python"));
    talk_ask(&t, "I love \xE3\x81\x8A\xE5\xAF\xBF\xE5\x8F\xB8", "Ok.");
    talk_ask(&t, "I love \xE7\x8C\xAB", "Ok.");
    CHECK_INT(stats_of(ctx, s).memories, 4);
}

TEST(names_that_differ_by_a_sign_are_two)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "I like C.", "Ok.");
    talk_ask(&t, "I like C++.", "Ok.");
    talk_ask(&t, "I like C#.", "Ok.");
    talk_ask(&t, "I really like C++.", "Ok.");
    CHECK_STR(facts(ctx, e, mine), S("likes C++ | likes C# | likes C"));
}

TEST(the_assistants_words_are_no_facts)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "Look at this plan.", "I love your idea. I always recommend tea. I prefer tabs.");
    talk_say(&t, "tool", "I hate rain");
    talk_ask(&t, "Fine.", "I never sleep.");
    CHECK_STR(facts(ctx, e, mine), S(""));
}

TEST(the_seeds_rules_read_both_and_overwrite)
{
    ENGINE(e, s, p);
    settings.extraction = EXTRACT_TABLE;
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "I like Python.", "I prefer tabs.");
    talk_ask(&t, "I don't like Python.", "Ok.");
    CHECK_STR(facts(ctx, e, mine), S("tabs | Python"));
    settings.extraction = EXTRACT_OFF;
    talk_ask(&t, "I love figs.", "Ok.");
    CHECK_STR(facts(ctx, e, mine), S("tabs | Python"));
}

TEST(a_fact_knows_where_it_came_from)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "I love figs.", "Ok.");
    struct memory_filter f = {.pool = mine, .limit = 10};
    struct memory *v;
    struct message *said;
    size_t n, n_said;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK_OK(store_session_messages(ctx, s, mine, v[0].session, 0, 1, &said, &n_said));
    CHECK_STR(v[0].source, said[0].id);
    CHECK_STR(said[0].text, S("I love figs."));
    CHECK_INT(v[0].origin, ORIGIN_USER);
}

/* What chats use does not fade (engine/distil/consolidate.c); what each one is given tells nothing.
 */
TEST(a_fact_that_a_chat_is_given_counts_as_used)
{
    ENGINE(e, s, p);
    struct talk told = talk_of(ctx, e, s), asks = talk_of(ctx, e, s);
    talk_ask(&told, "My dog is called Rex.", "Nice name!");
    talk_ask(&told, "From now on answer in British English.", "Certainly.");
    for (int given = 1; given <= 2; given++) {
        CHECK(holds(talk_ask(&asks, "What is my dog's name?", "Rex."), "Rex"));
        asks = talk_of(ctx, e, s);
        CHECK_OK(store_flush(ctx, s));
        struct memory_filter f = {.pool = mine, .limit = 100};
        struct memory *v;
        size_t n;
        CHECK_OK(engine_list(ctx, e, &f, &v, &n, NULL));
        CHECK_INT(n, 2);
        for (size_t i = 0; i < n; i++)
            CHECK_INT(v[i].uses, holds(v[i].content, "Rex") ? given : 0);
    }
}

/* A block that a client sends back is neither kept nor read, however often it goes round. */
TEST(recalled_text_never_comes_back_as_memory)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    talk_ask(&t, "I love figs.", "Ok.");
    for (int i = 0; i < 20; i++) {
        struct talk next = talk_of(ctx, e, s);
        char text[64];
        snprintf(text, sizeof text, "Round %d: do you remember what I love?", i);
        talk_say(&next, "user", text);
        talk_begin(&next);
        CHECK(next.turn->out.block.n > 0);
        str echo = str_printf(&ctx->arena, "%s\n\n" S_FMT, text, S_ARG(next.turn->out.block));
        talk_end(&next, echo.p);
        next.said[0].text = echo;
        talk_say(&next, "assistant", echo.p);
        talk_ask(&next, echo.p, echo.p);
    }
    CHECK_STR(facts(ctx, e, mine), S("loves figs"));
    struct memory_filter f = {.pool = mine, .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(v[0].uses, 40); /* once for each chat that was given it */
    struct word_hits hits = find(ctx, s, mine, "rememberd notes instructions");
    CHECK_INT(hits.n, 0);
}

/* --- threads --- */

struct guest {
    pthread_t thread;
    struct engine *e;
    int number, told;
};

static void *visit(void *arg)
{
    struct guest *g = arg;
    char user[20], text[64];
    snprintf(user, sizeof user, "guest%d", g->number);
    for (int i = 0; i < 20; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        snprintf(text, sizeof text, "I love fruit%d%d. What fruit do I love?", g->number, i);
        struct said said = {.role = S("user"), .text = str_of(text)};
        const struct turn_in in = {.pool = {str_of(user), S("default")},
                                   .said = &said,
                                   .n_said = 1};
        struct turn *t = engine_begin_turn(&ctx, g->e, &in);
        g->told += turn_out_of(t)->block.n > 0;
        if (engine_end_turn(&ctx, g->e, t, S("Noted.")) != OK || ctx.failed != OK)
            g->told = -1000;
    }
    return NULL;
}

TEST(many_threads_share_an_engine)
{
    ENGINE(e, s, p);
    struct guest guests[4];
    for (int i = 0; i < 4; i++) {
        guests[i] = (struct guest){.e = e, .number = i};
        CHECK_INT(pthread_create(&guests[i].thread, NULL, visit, &guests[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(guests[i].thread, NULL);
        CHECK(guests[i].told >= 0);
    }
    CHECK_OK(store_flush(ctx, s));
    struct store_stats stats = stats_of(ctx, s);
    CHECK_INT(stats.messages, 4 * 20 * 2);
    CHECK_INT(stats.memories, 4 * 20);
    CHECK_INT(stats.sessions, 4 * 20);
    check_healthy(ctx, s);
}

/* --- the session's own episode --- */

static void keep_episode(struct talk *t)
{
    struct ctx *ctx = t->ctx;
    struct memory m = {.id = S("e1"),
                       .layer = LAYER_EPISODE,
                       .content = S("The user painted a green boat in Lisbon."),
                       .session = t->turn->record.session,
                       .importance = 0.5,
                       .created = clock_ms()};
    CHECK_OK(keep(ctx, t->s, mine, PUT_SUPERSEDE, &m));
}

static void ask_of_it(struct ctx *ctx, bool is_planned)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    t.session = is_planned ? "one" : NULL;
    talk_ask(&t, "I bought some paint.", "Fine.");
    talk_ask(&t, "Which brushes are good?", "Flat ones.");
    keep_episode(&t);
    talk_say(&t, "user", "Where did we paint the green boat last time?");
    for (size_t cut = 0; cut <= 2; cut += 2) {
        const struct turn_in in = {.pool = mine,
                                   .session = str_of(t.session ? t.session : ""),
                                   .said = t.said + cut,
                                   .n_said = t.n - cut,
                                   .mode = MODE_READONLY,
                                   .is_planned = is_planned};
        t.turn = engine_begin_turn(ctx, e, &in);
        CHECK_STR(t.turn->out.whole, cut ? S("") : t.turn->record.session);
        CHECK(holds(t.turn->out.block, "green boat in Lisbon") == (cut > 0));
    }
}

TEST(an_episode_is_no_news_where_its_whole_conversation_stands)
{
    ask_of_it(ctx, false);
}

TEST(nor_is_it_in_a_chat_of_osauruss_kind)
{
    ask_of_it(ctx, true);
}

TEST(a_client_that_sends_new_messages_only_is_told_of_the_earlier_ones)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    t.session = "one";
    talk_ask(&t, "I bought some paint.", "Fine.");
    CHECK_STR(t.turn->out.whole, S("one"));
    keep_episode(&t);
    t.n = 0;
    talk_say(&t, "user", "Where did we paint the green boat last time?");
    talk_begin(&t);
    CHECK_STR(t.turn->record.session, S("one"));
    CHECK_STR(t.turn->out.whole, S(""));
    CHECK(holds(t.turn->out.block, "green boat in Lisbon"));
}

/* As after a client has replaced the conversation by a summary, which nobody has said. */
TEST(a_conversation_may_begin_anew_in_its_session_and_is_then_not_all_of_it)
{
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    t.session = "one";
    talk_ask(&t, "I bought some paint.", "Fine.");
    talk_ask(&t, "Which brushes are good?", "Flat ones.");
    keep_episode(&t);
    t.n = 0;
    talk_say(&t, "user", "Where did we paint the green boat last time?");
    struct turn_in in = {.pool = mine,
                         .session = S("one"),
                         .said = t.said,
                         .n_said = t.n,
                         .mode = MODE_FULL,
                         .brings_all = true};
    t.turn = engine_begin_turn(ctx, e, &in);
    uint64_t chain = t.turn->spoken[0].chain;
    CHECK_STR(t.turn->out.whole, S(""));
    CHECK(holds(t.turn->out.block, "green boat in Lisbon"));
    talk_end(&t, "In Lisbon.");
    talk_say(&t, "assistant", "In Lisbon.");
    talk_say(&t, "user", "Thanks!");
    in.n_said = t.n;
    t.turn = engine_begin_turn(ctx, e, &in);
    CHECK_STR(t.turn->record.session, S("one"));
    CHECK_STR(t.turn->out.whole, S("")); /* also when its place is found by its messages */
    CHECK(t.turn->spoken[0].chain == chain);
}

/* --- verbs between question and answer --- */

TEST(a_block_that_is_dropped_is_nowhere_in_the_receipt)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_ask(&one, "My dog is called Rex.", "Nice name!");
    talk_say(&two, "user", "What is my dog's name?");
    talk_begin(&two);
    CHECK(turn_out_of(two.turn)->block.n > 0);
    turn_drop_block(two.turn, S("no room"));
    CHECK_STR(turn_out_of(two.turn)->block, S(""));
    talk_end(&two, "I do not know.");
    struct receipt r;
    CHECK_OK(engine_receipt(ctx, e, mine, turn_out_of(two.turn)->receipt, &r));
    CHECK_STR(r.block, S(""));
    CHECK_STR(r.reason, S("no room"));
    CHECK_INT(r.tokens, 0);
    CHECK(r.n > 0);
    for (size_t i = 0; i < r.n; i++)
        CHECK(!r.lines[i].injected);
}

TEST(searches_of_the_model_are_lines_of_the_receipt_up_to_a_limit)
{
    enum { LINES = 150, MOST = 200 };
    ENGINE(e, s, p);
    struct talk t = talk_of(ctx, e, s);
    struct recalled *v = NEW_N(&ctx->arena, struct recalled, LINES);
    for (int i = 0; i < LINES; i++) {
        v[i] = (struct recalled){.is_memory = true, .why = S("words"), .tokens = 7};
        v[i].memory.id = str_printf(&ctx->arena, "m%d", i);
    }
    talk_say(&t, "user", "What is my dog's name?");
    talk_begin(&t);
    turn_note_search(t.turn, PLAN_PINNED, v, LINES);
    turn_note_search(t.turn, PLAN_TRANSCRIPT, v, LINES);
    struct receipt r = t.turn->record;
    CHECK_INT(r.n, MOST);
    CHECK_STR(r.lines[0].id, S("m0"));
    CHECK_STR(r.lines[0].why, S("the model searched pinned: words"));
    CHECK_STR(r.lines[MOST - 1].why, S("the model searched transcript: words"));
    CHECK(r.lines[MOST - 1].injected && r.lines[MOST - 1].tokens == 7);
}

/* --- a question right behind the answer --- */

static str text_said(struct ctx *ctx, void *arg)
{
    (void)ctx;
    return str_of(arg);
}

/* The client has its answer, and no worker has kept the turn yet. */
TEST(a_question_right_behind_the_answer_finds_the_turn)
{
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s), two = talk_of(ctx, e, s);
    talk_say(&one, "user", "The spare key of the boathouse is under the third flowerpot.");
    talk_begin(&one);
    char answer[] = "I will remember the flowerpot.";
    engine_turn_answered(e, one.turn, text_said, answer);
    talk_say(&two, "user", "Where is the spare key of the boathouse?");
    talk_begin(&two);
    CHECK(holds(two.turn->out.block, "third flowerpot"));
    CHECK(engine_finish_turn(ctx, e, one.turn));
    CHECK(!engine_finish_turn(ctx, e, two.turn));
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(stats_of(ctx, s).messages, 2);
}

struct asker {
    struct engine *e;
    struct store *s;
    bool has_found;
};

static void *ask_beside(void *arg)
{
    struct asker *a = arg;
    CLEANUP(ctx_free) struct ctx own = {0};
    struct talk t = talk_of(&own, a->e, a->s);
    talk_say(&t, "user", "Where is the spare key of the boathouse?");
    talk_begin(&t);
    a->has_found = holds(t.turn->out.block, "third flowerpot");
    return NULL;
}

TEST(many_questions_at_once_keep_an_answered_turn_once)
{
    enum { N = 6 };
    ENGINE(e, s, p);
    struct talk one = talk_of(ctx, e, s);
    struct asker askers[N];
    pthread_t threads[N];
    talk_say(&one, "user", "The spare key of the boathouse is under the third flowerpot.");
    talk_begin(&one);
    char answer[] = "Noted.";
    engine_turn_answered(e, one.turn, text_said, answer);
    for (int i = 0; i < N; i++) {
        askers[i] = (struct asker){e, s, false};
        CHECK_INT(pthread_create(&threads[i], NULL, ask_beside, &askers[i]), 0);
    }
    CHECK(engine_finish_turn(ctx, e, one.turn));
    for (int i = 0; i < N; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < N; i++)
        CHECK(askers[i].has_found);
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(stats_of(ctx, s).messages, 2);
    CHECK_INT(e->counters.turns, 1);
}
