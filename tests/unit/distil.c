/* distil.c - from turns to an episode and facts: what is kept, what is not, and what fails. */
#include <math.h>

#include "engine/dedup/equivalence.h"
#include "engine/recall/block.h"
#include "engine/text/claims.h"

#include "lib/distillery.h"

/* --- arithmetic --- */

TEST(words_are_shared_as_osaurus_counts_them)
{
    static const struct {
        const char *one, *other;
        double shared;
    } cases[] = {
        {"User prefers dark mode", "User prefers dark mode in editors", 4.0 / 6},
        {"User likes Python", "User likes Rust", 0.5},
        {"User's name is Alice", "User name is Alice", 0.6},
        {"", "", 0},
        {"a", "A", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct saying x = saying_of(&ctx->arena, str_of(cases[i].one));
        struct saying y = saying_of(&ctx->arena, str_of(cases[i].other));
        CHECK(fabs(terms_jaccard(&x.written, &y.written) - cases[i].shared) < 1e-9);
    }
}

TEST(a_line_is_another_the_same_or_newer)
{
    static const struct {
        const char *line, *there;
        enum relation relation;
    } cases[] = {
        {"User prefers dark mode in editors", "User prefers dark mode", FULLER},
        {"User prefers dark mode", "User prefers dark mode in editors", SAME},
        {"User prefers dark mode.", "User prefers dark mode", SAME},
        {"User likes Python", "User likes Rust", DIFFERENT},
        {"User is not a vegetarian", "User is a vegetarian", CHANGED},
        {"User is a vegetarian", "User is not a vegetarian", CHANGED},
        {"User's favourite color is red", "User's favourite color is blue", DIFFERENT},
        {"User didn't finish the marathon in Berlin", "User did finish the marathon in Berlin",
         CHANGED},
        {"User cannot eat nuts since the operation", "User can eat nuts since the operation",
         CHANGED},
        {"User hates the long way to work", "User likes the long way to work", CHANGED},
        {"User don\xE2\x80\x99t eat meat on any day", "User eat meat on any day", CHANGED},
        {"User's name is Alice", "User name is Alice", DIFFERENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct saying x = saying_of(&ctx->arena, str_of(cases[i].line));
        struct saying y = saying_of(&ctx->arena, str_of(cases[i].there));
        CHECK_INT(relation_of(&x, &y, &(struct likeness){BY_LINE}), cases[i].relation);
    }
}

TEST(what_an_identity_line_is_about)
{
    static const struct {
        const char *line, *slot, *value;
    } cases[] = {
        {"User's name is Anna.", "name", "Anna"},
        {"The user works at Acme Corp", "employer", "Acme Corp"},
        {"Works for Acme", "employer", "Acme"},
        {"User lives in Berlin", "home", "Berlin"},
        {"User is a vegetarian", "", "is a vegetarian"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str value;
        CHECK_STR(slot_of(str_of(cases[i].line), &value), str_of(cases[i].slot));
        CHECK_STR(value, str_of(cases[i].value));
    }
}

TEST(a_summary_loses_its_pleasantries)
{
    static const char *const cases[][2] = {
        {"Certainly! Here is a summary of the conversation: The user sails.", "The user sails."},
        {"Sure, here's the summary: We met.", "We met."},
        {"Of course. The user sails.", "The user sails."},
        {"Surely the user sails.", "Surely the user sails."},
        {"Here is where they met. It was: nice.", "Here is where they met. It was: nice."},
        {"Certainly", ""},
        {"  ", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(distil_summary(&ctx->arena, str_of(cases[i][0])), str_of(cases[i][1]));
}

/* --- a session --- */

/* With pleasantries, a number in quotes and one text for a list of texts. */
#define BOATS                                                                                      \
    EPISODE("Sure, here is the summary: The user plans a boat trip to Ithaca.")                    \
    PINNED "{\"content\":\"User sails a small boat\",\"salience\":\"0.8\","                        \
           "\"tags\":\"boats\"}," FACT("User") "]" WHO("User builds ships") "}"

TEST(a_session_becomes_an_episode_and_facts)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = BOATS});
    chat(&b, "s1", "Who builds ships sails a small boat to Ithaca" LONG, "A fine boat!");
    CHECK_INT(status_of(&b).signals.signals, 1);
    distil(&b);
    CHECK_INT(m->app.calls, 0); /* it is not due */
    sync_and_distil(&b);
    CHECK_INT(m->app.calls, 1);
    CHECK_STR(last_work(&b), S("success: pinned=1 identity=1 known=0 unsaid=0 secret=0"));
    CHECK_STR(layer_of(&b, "episode"), S("The user plans a boat trip to Ithaca."));
    CHECK_STR(layer_of(&b, "fact"), S("User sails a small boat"));
    CHECK_STR(layer_of(&b, "identity"), S("User builds ships"));
    CHECK_STR(last_work(&b), S("success: pinned=1 identity=1 known=0 unsaid=0 secret=0"));
    struct distil_status status = status_of(&b);
    CHECK_INT(status.signals.signals, 0);
    CHECK(status.available && !status.reason.n);
    CHECK_INT(status.day.calls, 1);
    CHECK_INT(status.hour_tokens, 15);
    struct memory episode;
    CHECK_OK(engine_get(ctx, e, mine, episode_id(&ctx->arena, S("s1")), &episode));
    CHECK_STR(episode.metadata, S("{\"topics\":[\"boats\"],\"entities\":[\"Ithaca\"],"
                                  "\"decisions\":[],\"action_items\":[]}"));
    CHECK_STR(episode.session, S("s1"));
    CHECK(fabs(episode.importance - 0.7) < 1e-9);
}

TEST(a_session_that_goes_on_keeps_one_episode)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("First.") "}"}, {.text = EPISODE("First and second.") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    chat(&b, "s1", "I sold it again" LONG, "Pity");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S("First and second."));
    CHECK(holds(str_of(m->app.user), "\"First.\""));
    CHECK(!holds(str_of(m->app.user), "bought"));
}

TEST(another_session_makes_the_one_before_due)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("First.") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    chat(&b, "s2", "I bought a car" LONG, "Good");
    distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S("First."));
    CHECK(holds(str_of(m->app.user), "boat") && !holds(str_of(m->app.user), "car"));
    CHECK_INT(status_of(&b).signals.sessions, 1);
}

TEST(silence_makes_a_session_due)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("First.") "}"});
    fake_clock_set(clock_ms());
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    fake_clock_advance(59000);
    distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S(""));
    fake_clock_advance(1000);
    distil(&b);
    fake_clock_stop();
    CHECK_STR(layer_of(&b, "episode"), S("First."));
}

TEST(manual_waits_to_be_asked)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("First.") "}"}, {.text = EPISODE("Second.") "}"});
    change_runtime_settings(ctx, e, "{\"extraction_mode\":\"manual\"}");
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    chat(&b, "s2", "I bought a car" LONG, "Good");
    fake_clock_advance(30 * DAY_MS);
    distil(&b);
    CHECK_INT(m->app.calls, 0);
    fake_clock_stop();
    sync_and_distil(&b);
    CHECK_INT(m->app.calls, 2);
}

TEST(too_little_is_done_without_a_model)
{
    DISTILLERY(b);
    chat(&b, "s1", "Hello there", "Hi! What can I do?");
    sync_and_distil(&b);
    CHECK_INT(m->app.calls, 0);
    CHECK_STR(last_work(&b), S("skipped: low_novelty:29chars"));
    CHECK_INT(status_of(&b).signals.signals, 0);
}

TEST(readonly_and_off_leave_no_signal)
{
    DISTILLERY(b);
    static const enum memory_mode modes[] = {MODE_READONLY, MODE_OFF};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct talk t = talk_of(ctx, e, s);
        t.mode = modes[i];
        talk_ask(&t, "I bought a boat" LONG, "Good");
    }
    CHECK_INT(status_of(&b).signals.signals, 0);
}

TEST(a_recalled_block_is_not_distilled)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("First.") "}"});
    struct recalled r = {.is_memory = true,
                         .state = LINE_INJECTED,
                         .text = S("Penelope weaves a shroud")};
    r.memory.content = r.text;
    r.memory.created = 1700000000000;
    str block = block_render(&ctx->arena, &r, 1, 800, clock_ms());
    CHECK(holds(block, "Penelope"));
    str text = str_printf(&ctx->arena, "I bought a boat" LONG "\n\n" S_FMT, S_ARG(block));
    CHECK_STR(ingest(&b, "c1", text.p, "Good", 0).distillation, S("distilled"));
    CHECK(holds(str_of(m->app.user), "boat") && !holds(str_of(m->app.user), "Penelope"));
}

/* --- what is true of the user --- */

TEST(facts_come_from_the_users_words_alone)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("The user asked for an address.")
                   PINNED FACT("User lives in Paris with Marie") "," FACT(
                       "User asked where the boat is moored") "]" WHO("User works at Globex") "}"});
    chat(&b, "s1", "Where do I live, and where is my boat moored? I asked that before" LONG,
         "You live in Paris with Marie, you work at Globex, and the boat lies in Rouen.");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "fact"), S("User asked where the boat is moored"));
    CHECK_STR(layer_of(&b, "identity"), S(""));
    CHECK_STR(last_work(&b), S("success: pinned=1 identity=0 known=0 unsaid=2 secret=0"));
}

TEST(secrets_are_no_memories)
{
    DISTILLERY(b);
    SCRIPT(
        b,
        {.text = EPISODE(
             "The user moved. The password is hunter2-Ithaca. All is well.") ",\"pinned_"
                                                                             "candidates\":[{"
                                                                             "\"content\":\"User's "
                                                                             "password is "
                                                                             "hunter2-Ithaca\"}]"
                                                                             "}"});
    chat(&b, "s1", "I moved, and my password is hunter2-Ithaca" LONG, "Noted");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S("The user moved. All is well."));
    CHECK_STR(layer_of(&b, "fact"), S(""));
}

TEST(a_fact_said_again_is_one_and_a_detail_takes_its_place)
{
    DISTILLERY(b);
    SCRIPT(b,
           {.text = EPISODE("1.")
                PINNED FACT("User prefers dark mode") "," FACT("User prefers dark mode.") "]}"},
           {.text = EPISODE("2.") PINNED FACT("User prefers dark mode in editors") "]}"},
           {.text = EPISODE("3.") PINNED FACT("User prefers dark mode") "]}"});
    chat(&b, "s1", "User prefers dark mode, say it" LONG, "Yes");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "fact"), S("User prefers dark mode"));
    chat(&b, "s2", "I prefer dark mode in editors" LONG, "Yes");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "fact"), S("User prefers dark mode in editors"));
    chat(&b, "s3", "I prefer dark mode" LONG, "Yes");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "fact"), S("User prefers dark mode in editors"));
}

TEST(an_identity_line_follows_what_is_true_now)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("1.") WHO("User works at Acme") "}"},
           {.text = EPISODE("2.") WHO("The user works for Globex.") "}"},
           {.text = EPISODE("3.") WHO("User works at globex") "}"},
           {.text = EPISODE("4.") WHO("User works at Initech") "}"});
    chat(&b, "s1", "I work at Acme" LONG, "Yes");
    sync_and_distil(&b);
    chat(&b, "s2", "I work for Globex now" LONG, "Yes");
    sync_and_distil(&b);
    chat(&b, "s3", "I work at Globex as you know" LONG, "Yes");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "identity"), S("The user works for Globex."));
    /* A conversation of long ago says what was true then. */
    CHECK_STR(ingest(&b, "c1", "I work at Initech" LONG, "Yes", 1000000000000).distillation,
              S("distilled"));
    CHECK_STR(layer_of(&b, "identity"), S("The user works for Globex."));
}

/* --- failures --- */

TEST(a_broken_answer_is_asked_for_once_more)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = "{\"episode\": [nothing"}, {.text = EPISODE("Good.") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S("Good."));
    CHECK_INT(m->app.calls, 2);
}

TEST(an_empty_summary_is_done)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("") WHO("User bought a boat") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK_STR(last_work(&b), S("empty: empty_summary"));
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK_STR(layer_of(&b, "identity"), S(""));
}

TEST(an_empty_answer_that_was_cut_off_is_none)
{
    DISTILLERY(b);
    m->app.answer = S(EPISODE("") "}");
    m->app.mode = IS_CUT;
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK_STR(last_work(&b), S("error: answer: no summary, and cut off"));
    CHECK_INT(status_of(&b).signals.signals, 1);
}

#define NOTHING "{\"episode\":{\"summary\":\"\",\"topics\":[],\"salience\":0.5}"

TEST(an_empty_answer_to_much_is_none)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = NOTHING ",\"entities\":[],\"pinned_candidates\":[{\"content\":\"\"}]}"},
           {.text = NOTHING ",\"entities\":[\"Ithaca\"]}"}, {.text = NOTHING "}"});
    const char *much = "I bought a boat" LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG;
    chat(&b, "s1", much, "Good");
    sync_and_distil(&b);
    CHECK_STR(last_work(&b),
              S("error: answer: nothing of it is worth a word, though much was said"));
    CHECK_INT(status_of(&b).signals.signals, 1);
    sync_and_distil(&b);
    CHECK_STR(last_work(&b), S("empty: empty_summary")); /* it has been looked at */
    CHECK_INT(status_of(&b).signals.signals, 0);
    chat(&b, "s2", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK_STR(last_work(&b), S("empty: empty_summary"));
}

TEST(a_summary_is_of_its_conversation)
{
    static const struct {
        const char *said, *answer, *summary;
        bool is_of_it;
    } cases[] = {
        {"I bought an old boat and want to sail it home from Ithaca before autumn.",
         "Look after the hull and the mast first.",
         "The user plans to sail a newly purchased boat home from Ithaca before autumn and was "
         "told "
         "to check the hull and mast.",
         true},
        {"I bought an old boat and want to sail it home from Ithaca before autumn.",
         "Look after the hull and the mast first.",
         "The user asked for a recipe with tomatoes and basil, and the assistant suggested a quick "
         "pasta dinner for the family.",
         false},
        {"I bought an old boat and want to sail it home from Ithaca before autumn.",
         "Look after the hull and the mast first.",
         "One to three plain sentences on what was talked about and what came of it, with names, "
         "numbers and language kept.",
         false},
        {"I bought an old boat.", "Good.", "A happy customer.", true},
        {"Ich habe ein altes Boot gekauft und will es vor dem Herbst nach Hause segeln, was muss "
         "ich vorher noch machen lassen?",
         "Zuerst den Rumpf und den Mast ansehen lassen.",
         "The user has bought an old vessel and will sail it home before the autumn, after a look "
         "at its hull and its mast.",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pending_signal signal = {.message = {.text = str_of(cases[i].said)},
                                        .answer = str_of(cases[i].answer)};
        struct distilling d = {.session = S("s"), .signals = &signal, .n = 1};
        if ((summary_fit(&ctx->arena, &d, str_of(cases[i].summary)) == SUMMARY_FITS) !=
            cases[i].is_of_it)
            fail_msg("%s", cases[i].summary);
    }
}

TEST(a_summary_that_is_made_up_is_not_trusted)
{
    DISTILLERY(b);
    SCRIPT(b,
           {.text = EPISODE("The user asked for a recipe with tomatoes and basil, and a quick "
                            "pasta dinner was suggested for the family.") "}"},
           {.text = EPISODE("The user bought a boat and then sold the boat again, after some talk "
                            "at length.") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK(holds(last_work(&b), "success: ") && holds(last_work(&b), " unconfirmed=1"));
    CHECK_INT(status_of(&b).signals.signals, 0);
    struct memory episode;
    CHECK_OK(engine_get(ctx, e, mine, episode_id(&ctx->arena, S("s1")), &episode));
    CHECK(memory_is_unconfirmed(&episode) && episode.importance <= UNCONFIRMED_MOST);
    /* What goes on and fits is trusted. */
    chat(&b, "s1", "I sold the boat again" LONG, "Pity");
    sync_and_distil(&b);
    CHECK_OK(engine_get(ctx, e, mine, episode_id(&ctx->arena, S("s1")), &episode));
    CHECK(!memory_is_unconfirmed(&episode) && holds(episode.content, "sold"));
}

TEST(what_the_user_asks_is_no_fact)
{
    DISTILLERY(b);
    SCRIPT(b,
           {.text = EPISODE("Fruit.") PINNED FACT("User likes figs") "," FACT(
                "Does the user have a boat?") "]" WHO("User keeps bees") "}"},
           {.text = EPISODE("A boat.") PINNED FACT("User has a boat in Ithaca") "]}"});
    chat(&b, "s1", "Do you like figs? I have a boat" LONG, "No");
    chat(&b, "s2", "I have a boat in Ithaca, what should I look at" LONG " May I ask that?", "Yes");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "fact"), S("User has a boat in Ithaca | User keeps bees"));
    CHECK_STR(layer_of(&b, "identity"), S("")); /* the bees are made up, so not trusted */
}

/* A failure that is followed by a success is no news, though what failed still waits. */
TEST(an_old_error_is_not_told_once_all_is_well)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = "no"}, {.text = "no"}, {.text = EPISODE("A car.") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    struct distil_status status = status_of(&b);
    CHECK(holds(status.reason, "answer: ") && holds(status.reason, "within the hour"));
    chat(&b, "s2", "I bought a car" LONG, "Good");
    chat(&b, "s3", "Hello", "Hi"); /* so that the one before is due */
    distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S("A car."));
    status = status_of(&b);
    CHECK(status.signals.sessions >= 1);
    CHECK_STR(status.reason, S(""));
    CHECK_STR(status.signals.error, S(""));
}

/* A server that refuses is asked again every hour, and what waits for it is not given up. */
TEST(what_a_server_refuses_is_tried_every_hour)
{
    DISTILLERY(b);
    m->app.mode = REFUSES_KEY;
    fake_clock_set(clock_ms());
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    for (int i = 0; i < 12; i++) {
        fake_clock_advance(3600000);
        dependency_reset(&e->core_model.background);
        distil(&b);
        CHECK_INT(m->app.calls, i + 1);
    }
    dependency_reset(&e->core_model.background);
    struct distil_status status = status_of(&b);
    CHECK(status.available && holds(status.reason, "retried within the hour"));
    CHECK_INT(status.signals.dead, 0);
    m->app.mode = ANSWERS;
    SCRIPT(b, {.text = EPISODE("At last.") "}"});
    fake_clock_advance(3600000);
    distil(&b);
    fake_clock_stop();
    CHECK_STR(layer_of(&b, "episode"), S("At last."));
}

TEST(a_call_that_timed_out_has_cost_its_question)
{
    DISTILLERY(b);
    settings.core_timeout_ms = 200;
    m->app.mode = STALLS;
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK(m->app.calls >= 1);
    CHECK(status_of(&b).hour_tokens > 300); /* the instructions alone are more */
    CHECK(status_of(&b).day.tokens_in > 300);
}

TEST(while_there_are_chats_distillation_pauses_and_goes_on)
{
    enum { SESSIONS = 20, PAUSE_MS = 5 };
    DISTILLERY(b);
    m->app.answer = S(EPISODE("A boat.") "}");
    for (int i = 0; i < SESSIONS; i++)
        chat(&b, str_printf(&ctx->arena, "s%d", i).p, "I bought a boat" LONG, "Good");
    e->work.chat_at = clock_mono_us() + 60000000;
    int64_t began = clock_mono_us();
    sync_and_distil(&b);
    CHECK(clock_mono_us() - began >= SESSIONS * PAUSE_MS * 1000);
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK_INT(m->app.calls, SESSIONS);
}

TEST(the_summary_of_another_conversation_is_no_answer)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("Ann moved to Lisbon.") "}"},
           {.text = EPISODE("Ann moved to Lisbon.") "}"});
    chat(&b, "s1", "I am Ann and I moved to Lisbon" LONG, "Good");
    sync_and_distil(&b);
    chat(&b, "s2", "Which database suits my shop" LONG, "A small one");
    sync_and_distil(&b);
    CHECK_STR(layer_of(&b, "episode"), S("Ann moved to Lisbon."));
    CHECK_STR(last_work(&b), S("error: answer: the summary describes another conversation"));
    CHECK_INT(status_of(&b).signals.signals, 1);
}

TEST(a_session_that_gets_no_answer_five_times_waits_to_be_asked_for)
{
    DISTILLERY(b);
    static const struct scripted refusal[] = {{.text = "I cannot help with that."},
                                              {.text = "I cannot help with that."},
                                              {0}};
    fake_clock_set(clock_ms());
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    for (int i = 0; i < 5; i++) {
        CHECK_INT(status_of(&b).signals.dead, 0);
        fake_clock_advance(2 * 3600000);
        follow(&b, refusal);
        distil(&b);
        CHECK_INT(m->app.calls, 2 * (i + 1));
        distil(&b); /* the circuit is open for a while */
        CHECK_INT(m->app.calls, 2 * (i + 1));
        CHECK(holds(last_work(&b), i < 4 ? "error: answer: " : "dead: answer: "));
    }
    struct distil_status status = status_of(&b);
    CHECK_INT(status.signals.dead, 1);
    CHECK_INT(status.signals.signals, 1);
    CHECK(status.available && holds(status.reason, "answer: "));
    fake_clock_advance(365 * DAY_MS);
    distil(&b);
    CHECK_INT(m->app.calls, 10);
    SCRIPT(b, {.text = EPISODE("At last.") "}"});
    sync_and_distil(&b);
    fake_clock_stop();
    CHECK_STR(layer_of(&b, "episode"), S("At last."));
    CHECK_INT(status_of(&b).signals.dead, 0);
}

TEST(a_server_that_is_down_opens_the_circuit_and_nothing_is_lost)
{
    DISTILLERY(b);
    static const enum model_mode modes[] = {REFUSES_KEY, STALLS};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        settings.core_timeout_ms = 200;
        m->app.calls = 0;
        m->app.mode = modes[i];
        chat(&b, i ? "s1" : "s2", "I bought a boat" LONG, "Good");
        chat(&b, i ? "s3" : "s4", "I bought a car" LONG, "Good");
        sync_and_distil(&b);
        int calls = m->app.calls;
        CHECK(calls >= 1);
        distil(&b); /* the other one is due, and nobody is asked */
        CHECK_INT(m->app.calls, calls);
        struct distil_status status = status_of(&b);
        CHECK_INT(status.signals.signals, 2 * ((int64_t)i + 1));
        CHECK(!status.available && holds(status.reason, "circuit open"));
        CHECK(status.signals.error.n);
    }
    settings.core_timeout_ms = 2000;
    SCRIPT(b, {.text = EPISODE("1.") "}"}, {.text = EPISODE("2.") "}"}, {.text = EPISODE("3.") "}"},
           {.text = EPISODE("4.") "}"}, {.text = EPISODE("5.") "}"},
           {.text = EPISODE("6.") "}"}); /* calls that had stalled take some */
    m->app.mode = ANSWERS;
    sync_and_distil(&b);
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK_STR(status_of(&b).reason, S(""));
}

TEST(without_a_core_model_signals_wait)
{
    DISTILLERY(b);
    settings.core_model = S("");
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    struct distil_status status = status_of(&b);
    CHECK(!status.available && !status.core_model.n);
    CHECK_STR(status.reason, S("core_model_unset"));
    CHECK_INT(status.signals.signals, 1);
    CHECK_STR(ingest(&b, "c1", "I bought a boat" LONG, "Good", 0).distillation,
              S("skipped:core_model_unset"));
    settings.core_model = S("fake/tiny/chat");
    SCRIPT(b, {.text = EPISODE("1.") "}"}, {.text = EPISODE("2.") "}"});
    sync_and_distil(&b);
    CHECK_INT(status_of(&b).signals.signals, 0);
}

TEST(what_is_over_the_budget_waits)
{
    DISTILLERY(b);
    settings.core_tokens_per_hour = 1000;
    llm_meter_add(&e->core_model.meter, 900);
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    CHECK_INT(m->app.calls, 0);
    struct distil_status status = status_of(&b);
    CHECK(!status.available && holds(status.reason, "hourly token budget"));
    CHECK_INT(status.signals.signals, 1);
    CHECK_STR(ingest(&b, "c1", "I bought a boat" LONG, "Good", 0).distillation,
              S("pending:token_budget"));
    CHECK(e->core_model.wants > 100);
    int64_t leases;
    struct pool_ref all = {mine.user, S("")};
    CHECK_OK(engine_sync(ctx, e, all, &leases));
    struct store_stats before, after;
    CHECK_OK(store_stats(ctx, s, &before));
    distil(&b); /* while the hour has no room for it, nothing is claimed in vain */
    CHECK_OK(store_stats(ctx, s, &after));
    CHECK(before.commits == after.commits);
    settings.core_tokens_per_hour = 100000;
    SCRIPT(b, {.text = EPISODE("1.") "}"}, {.text = EPISODE("2.") "}"});
    distil(&b);
    CHECK_INT(m->app.calls, 2);
    struct engine_stats stats;
    CHECK_OK(engine_stats(ctx, e, &stats));
    CHECK(stats.distilled == 2 && stats.distil_failed == 0 && stats.core_tokens == 930);
}

/* --- conversations that are brought in --- */

TEST(the_same_conversation_again_leaves_one_episode_dated_as_given)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("Once.") PINNED FACT("User has a boat") "]}"},
           {.text = EPISODE("Twice.") "}"});
    int64_t date = 1683503760000;
    for (int i = 0; i < 2; i++) {
        struct ingest_turns_out out = ingest(&b, "c1", "I have a boat" LONG, "Good", date);
        CHECK_STR(out.distillation, S("distilled"));
        CHECK_INT(out.turns, 1);
        struct memory episode;
        CHECK_OK(engine_get(ctx, e, mine, out.episode_id, &episode));
        CHECK(episode.created == date && episode.valid_from == date);
        CHECK_STR(episode.content, i ? S("Twice.") : S("Once."));
    }
    CHECK_STR(layer_of(&b, "episode"), S("Twice."));
    CHECK_STR(layer_of(&b, "fact"), S("")); /* it came from what was replaced */
    struct message *v;
    size_t n;
    CHECK_OK(store_session_messages(ctx, s, mine, S("c1"), 0, 10, &v, &n));
    CHECK_INT(n, 2);
    CHECK_INT(v[1].created, date);
}

TEST(what_comes_of_a_conversation_is_told)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("") "}"}, {.text = "no"}, {.text = "no"});
    struct ingest_turns_in none = {.pool = mine, .conversation = S("c0")};
    struct ingest_turns_out out;
    CHECK_OK(engine_ingest_turns(ctx, e, &none, &out));
    CHECK_STR(out.distillation, S("no_signals"));
    CHECK_STR(ingest(&b, "c1", "Hello", "Hi", 0).distillation, S("skipped:low_novelty:7chars"));
    CHECK_STR(ingest(&b, "c2", "I have a boat" LONG, "Good", 0).distillation,
              S("empty:empty_summary"));
    CHECK(holds(ingest(&b, "c3", "I have a boat" LONG, "Good", 0).distillation, "error:answer: "));
    CHECK_INT(status_of(&b).signals.sessions, 1);
    struct ingest_turn turn = {S("I have a boat" LONG), S("Good"), 0};
    struct ingest_turns_in kept = {
        .pool = mine, .conversation = S("c4"), .turns = &turn, .n = 1, .skip_extraction = true};
    CHECK_OK(engine_ingest_turns(ctx, e, &kept, &out));
    CHECK_STR(out.distillation, S(""));
    CHECK_INT(status_of(&b).signals.sessions, 1);
    none.conversation = S("");
    CHECK_STATUS(engine_ingest_turns(ctx, e, &none, &out), BAD_INPUT);
}

/* Brings a conversation in while the model answers of another; the model asks once. */
struct second {
    struct bench *b;
    const char *conversation, *text;
    str told;
};

static void ingest_second(void *own)
{
    struct second *s = own;
    struct bench b = *s->b;
    struct ctx mine_too = {0};
    b.ctx = &mine_too;
    b.m->app.meanwhile = NULL;
    s->told =
        str_dup(&s->b->ctx->arena, ingest(&b, s->conversation, s->text, "Good", 0).distillation);
    ctx_free(&mine_too);
}

TEST(a_conversation_that_is_in_work_is_not_distilled_twice)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("Boats.") "}"}, {.text = EPISODE("Boats again.") "}"},
           {.text = EPISODE("Boats at last.") "}"});
    struct second second = {&b, "c1", "I have a boat" LONG, S("")};
    m->app.own = &second;
    m->app.meanwhile = ingest_second;
    CHECK_STR(ingest(&b, "c1", second.text, "Good", 0).distillation, S("distilled"));
    CHECK_STR(second.told, S("pending:in_work"));
    distil(&b);
    CHECK_INT(m->app.calls, 1);
    CHECK_STR(layer_of(&b, "episode"), S("Boats."));
    /* Other turns take the place of those that are in work, and are distilled behind them. */
    second.text = "I have two boats" LONG;
    m->app.meanwhile = ingest_second;
    CHECK_STR(ingest(&b, "c1", "I have a boat" LONG, "Good", 0).distillation,
              S("pending:changed_meanwhile"));
    CHECK_STR(second.told, S("pending:in_work"));
    distil(&b);
    CHECK_INT(m->app.calls, 3);
    CHECK_STR(layer_of(&b, "episode"), S("Boats at last."));
}

TEST(not_every_worker_waits_for_the_core_model)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("Boats.") "}"}, {.text = EPISODE("Two boats.") "}"});
    settings.workers = 2;
    struct second second = {&b, "c2", "I have two boats" LONG, S("")};
    m->app.own = &second;
    m->app.meanwhile = ingest_second;
    CHECK_STR(ingest(&b, "c1", "I have a boat" LONG, "Good", 0).distillation, S("distilled"));
    CHECK_STR(second.told, S("pending:busy"));
    distil(&b);
    CHECK_INT(m->app.calls, 2);
    CHECK(holds(layer_of(&b, "episode"), "Two boats."));
}

TEST(a_conversation_has_so_many_turns_at_most)
{
    ENGINE(e, s, p);
    struct ingest_turn *turns = NEW_N(&ctx->arena, struct ingest_turn, 10001);
    struct ingest_turns_in in = {.pool = mine, .conversation = S("c1"), .turns = turns, .n = 10001};
    struct ingest_turns_out out;
    CHECK_STATUS(engine_ingest_turns(ctx, e, &in, &out), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "10001") && holds(str_of(ctx->why), "at most 10000"));
}

/* What is forgotten while the model answers is not kept. */
static void forget_it(void *own)
{
    struct bench *b = own;
    struct ctx mine_too = {0};
    struct forget what = {.pool = mine, .session = S("s1")};
    int64_t n;
    if (store_forget(&mine_too, b->s, &what, &n) != OK)
        abort();
    ctx_free(&mine_too);
}

TEST(what_is_forgotten_while_the_model_answers_stays_forgotten)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("First.") "}"});
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    m->app.own = &b;
    m->app.meanwhile = forget_it;
    sync_and_distil(&b);
    CHECK_INT(m->app.calls, 1);
    CHECK_STR(layer_of(&b, "episode"), S(""));
    CHECK_INT(status_of(&b).signals.signals, 0);
}
