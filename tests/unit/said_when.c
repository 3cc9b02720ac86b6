/* said_when.c - "tomorrow" in what is kept and shown, and what is said again on another day. */
#include "engine/text/relative_day.h"

#include "lib/distillery.h"

#define DAY "2026-03-05"
static const int64_t on_day = 1772668800000;

TEST(a_text_with_a_relative_day_gets_the_day_on_which_it_was_said)
{
    static const struct {
        const char *text;
        bool is_dated;
    } cases[] = {
        {"User flies to Oslo tomorrow", true},
        {"User has a dentist's appointment next Monday", true},
        {"User met Ben last week.", true},
        {"User moved two weeks ago", true},
        {"User starts the new job in three weeks", true},
        {"Nutzer hat heute Geburtstag", true},
        {"Nutzerin war letzte Woche krank", true},
        {"Nutzer zieht nächsten Monat um", true},
        {"Die Nutzerin kommt am Montag zurück", true},
        {"El usuario llegó ayer", true},
        {"La usuaria empieza la semana que viene", true},
        {"El usuario viaja el lunes", true},
        {"L'utilisateur part demain", true},
        {"User likes green tea", false},
        {"User was born in 1984, and met Ben last year", false},
        {"User flies on 2026-03-06, tomorrow", false},
        {"User plays the yesterdays of jazz", false},
        {"Nutzer trinkt gern Tee", false},
        {"User runs 5000 metres", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = text_with_day(&ctx->arena, str_of(cases[i].text), on_day);
        if (str_ends(text, S(" (said " DAY ")")) != cases[i].is_dated)
            fail_msg("%s", text.p);
        CHECK(str_starts(text, str_of(cases[i].text)));
        CHECK_STR(text_with_day(&ctx->arena, text, on_day + DAY_MS), text);
    }
    CHECK_STR(text_with_day(&ctx->arena, S("tomorrow"), 0), S("tomorrow"));
}

/* Old conversations are distilled today: their "tomorrow" was another day. */
TEST(a_distilled_fact_holds_the_day_of_its_talk)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = EPISODE("The user leaves for Ithaca tomorrow.")
                   PINNED FACT("User flies to Ithaca tomorrow") "]}"});
    ingest(&b, "c1", "I fly to Ithaca tomorrow" LONG, "Good", on_day);
    CHECK_STR(layer_of(&b, "fact"), S("User flies to Ithaca tomorrow (said " DAY ")"));
    CHECK_STR(layer_of(&b, "episode"), S("The user leaves for Ithaca tomorrow. (said " DAY ")"));
    CHECK(holds(str_of(m->app.user), "{\"date\":\"" DAY "\"}\n{\"user\":\"I fly"));
}

/* An agent's chat has facts without dates beside them. */
TEST(a_fact_in_an_agents_chat_shows_the_day_of_its_tomorrow)
{
    ENGINE(e, s, p);
    struct plan_out out;
    struct memory m = {.content = S("User flies to Ithaca tomorrow"),
                       .layer = LAYER_IDENTITY,
                       .origin = ORIGIN_API,
                       .created = on_day,
                       .updated = on_day,
                       .last_used = on_day,
                       .importance = 0.9,
                       .salience = 0.9};
    struct bundle b = {.pool = mine, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
    const struct plan_in in = {.pool = mine,
                               .question = S("Where am I going?"),
                               .budget_tokens = 800};
    CHECK_OK(engine_plan(ctx, e, &in, &out));
    CHECK(holds(out.block, "- User flies to Ithaca tomorrow (said " DAY ")"));
}

/* --- said again --- */

static struct memory only_fact(struct bench *b)
{
    struct ctx *ctx = b->ctx;
    struct memory_filter f = {.pool = mine, .layer = S("fact"), .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, b->e, &f, &v, &n, &total));
    CHECK_INT(n, 1);
    return v[0];
}

TEST(a_distilled_fact_said_again_is_as_old_as_today)
{
    DISTILLERY(b);
    m->app.answer = S(EPISODE("Tea.") PINNED FACT("User drinks green tea") "]}");
    ingest(&b, "c1", "I drink green tea" LONG, "Good", on_day);
    CHECK_INT(only_fact(&b).created, on_day);
    ingest(&b, "c2", "I drink green tea" LONG, "Good", on_day + 40 * DAY_MS);
    CHECK_INT(only_fact(&b).created, on_day + 40 * DAY_MS);
    CHECK_INT(only_fact(&b).valid_from, on_day);
    /* An older conversation that is brought in later makes it no older. */
    ingest(&b, "c3", "I drink green tea" LONG, "Good", on_day - 40 * DAY_MS);
    CHECK_INT(only_fact(&b).created, on_day + 40 * DAY_MS);
    struct recall_in in = {.pool = mine, .only.after = on_day + 39 * DAY_MS};
    struct recall_out found = recall_question(ctx, e, "Do I drink green tea?", in);
    bool is_there = false;
    for (size_t i = 0; i < found.n; i++)
        is_there |= found.v[i].is_memory && found.v[i].memory.layer == LAYER_FACT;
    CHECK(is_there);
}

/* The episode of a session that goes on is as old as its last turn. */
TEST(an_episode_is_as_old_as_the_last_turn_that_it_covers)
{
    DISTILLERY(b);
    struct memory episode;
    m->app.answer = S(EPISODE("Boats and more boats.") "}");
    fake_clock_set(on_day);
    chat(&b, "s1", "I bought a boat" LONG, "Good");
    sync_and_distil(&b);
    fake_clock_advance(100 * DAY_MS);
    m->app.answer = S(EPISODE("Boats, and the sale of one.") "}");
    chat(&b, "s1", "I sold the boat again" LONG, "Pity");
    sync_and_distil(&b);
    fake_clock_stop();
    CHECK_OK(engine_get(ctx, e, mine, episode_id(&ctx->arena, S("s1")), &episode));
    CHECK_STR(episode.content, S("Boats, and the sale of one."));
    CHECK_INT(episode.created / DAY_MS, on_day / DAY_MS + 100);
    CHECK_INT(episode.valid_from, episode.created);
    check_healthy(ctx, s);
}

TEST(a_statement_said_again_in_a_chat_is_as_old_as_today)
{
    DISTILLERY(b);
    settings.core_model = S("");
    fake_clock_set(on_day);
    chat(&b, "s1", "My favourite tea is sencha.", "Good");
    CHECK_INT(only_fact(&b).created / DAY_MS, on_day / DAY_MS);
    fake_clock_advance(31 * DAY_MS);
    chat(&b, "s2", "My favourite tea is sencha.", "You said so.");
    struct memory fact = only_fact(&b);
    CHECK_INT(fact.created / DAY_MS, on_day / DAY_MS + 31);
    CHECK_INT(fact.valid_from / DAY_MS, on_day / DAY_MS);
    fake_clock_stop();
    check_healthy(ctx, s);
}
