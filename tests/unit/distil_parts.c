/* distil_parts.c - long sessions and cut answers: distilled in parts, each turn seen, none lost. */
#include "lib/distillery.h"

enum { TURNS = 300, LATE_MS = 400 };

#define ABOUT(SUMMARY) "{\"episode\":{\"summary\":\"" SUMMARY "\"}"

/* Which turns the model was shown, and how many at once. */
struct seen {
    struct bench *b;
    bool turns[TURNS];
    size_t calls, most, cut_from; /* answers about more turns than cut_from are cut; 0: none */
    size_t late_from;             /* and those about more than late_from come too late */
    int stop_at;                  /* from this call on the server refuses; 0: never */
};

static void look(void *own)
{
    struct seen *seen = own;
    struct app *app = &seen->b->m->app;
    size_t now = 0;
    pthread_mutex_lock(&app->user_lock);
    for (int i = 0; i < TURNS; i++) {
        char name[32];
        snprintf(name, sizeof name, "harbour number %d.", i);
        if (holds(str_of(app->user), name)) {
            seen->turns[i] = true;
            now++;
        }
    }
    seen->calls++;
    seen->most = now > seen->most ? now : seen->most;
    if (seen->cut_from)
        app->mode = now > seen->cut_from ? IS_CUT : ANSWERS;
    pthread_mutex_unlock(&app->user_lock);
    if (seen->late_from && now > seen->late_from)
        nanosleep(&(struct timespec){.tv_nsec = 2 * LATE_MS * 1000000}, NULL);
    if (seen->stop_at && (int)seen->calls >= seen->stop_at)
        seen->b->settings->core_tokens_per_hour = 1;
}

static size_t count_seen(const struct seen *seen)
{
    size_t n = 0;
    for (int i = 0; i < TURNS; i++)
        n += seen->turns[i];
    return n;
}

static struct ingest_turns_out ingest_many(struct bench *b, size_t turns)
{
    struct ctx *ctx = b->ctx;
    struct ingest_turn *v = NEW_N(&ctx->arena, struct ingest_turn, turns);
    struct ingest_turns_out out;
    for (size_t i = 0; i < turns; i++)
        v[i] = (struct ingest_turn){str_printf(&ctx->arena,
                                               "Today I sailed my boat to harbour number %zu.", i),
                                    S("A fine harbour!"), 0};
    struct ingest_turns_in in = {.pool = mine, .conversation = S("c1"), .turns = v, .n = turns};
    CHECK_OK(engine_ingest_turns(ctx, b->e, &in, &out));
    return out;
}

#define SAILED ABOUT("The user sailed the boat from harbour to harbour.")

TEST(every_turn_of_a_long_session_is_seen)
{
    DISTILLERY(b);
    struct seen seen = {.b = &b};
    m->app.answer = S(SAILED PINNED FACT("User sails a boat") "]}");
    m->app.own = &seen;
    m->app.meanwhile = look;
    struct ingest_turns_out out = ingest_many(&b, TURNS);
    CHECK_STR(out.distillation, S("distilled"));
    CHECK(out.episode_id.n > 0);
    CHECK_INT(count_seen(&seen), TURNS);
    CHECK_INT(seen.calls, TURNS / PART_TURNS);
    CHECK_INT(seen.most, PART_TURNS);
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK_STR(layer_of(&b, "fact"), S("User sails a boat"));
    CHECK(holds(str_of(m->app.user), "earlier_summary_of_this_conversation"));
}

/* What the hour has no room for waits, and is told. */
TEST(the_rest_waits_for_the_budget)
{
    DISTILLERY(b);
    struct seen seen = {.b = &b, .stop_at = 2};
    m->app.answer = S(SAILED "}");
    m->app.own = &seen;
    m->app.meanwhile = look;
    struct ingest_turns_out out = ingest_many(&b, TURNS);
    CHECK_STR(out.distillation, S("pending:token_budget"));
    CHECK(out.episode_id.n > 0);
    CHECK_INT(seen.calls, 2);
    CHECK_INT(status_of(&b).signals.signals, TURNS - 2 * PART_TURNS);
    seen.stop_at = 0;
    settings.core_tokens_per_hour = 0;
    sync_and_distil(&b);
    CHECK_INT(seen.calls, TURNS / PART_TURNS);
    CHECK_INT(count_seen(&seen), TURNS);
    CHECK_INT(status_of(&b).signals.signals, 0);
}

/* The process that distils ends behind two parts: another engine goes on with the third. */
TEST(a_crash_loses_no_part_and_repeats_none)
{
    DISTILLERY(b);
    struct seen seen = {.b = &b}, later = {.b = &b};
    struct distil_outcome outcome;
    struct waiting_session w = {.pool = mine, .session = S("c1")};
    settings.core_model = S("");
    CHECK(holds(ingest_many(&b, TURNS).distillation, "core_model_unset"));
    settings.core_model = S("fake/tiny/chat");
    m->app.answer = S(SAILED "}");
    m->app.own = &seen;
    m->app.meanwhile = look;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(distil_session(ctx, e, &w, true, &outcome));
        CHECK(outcome.result == DISTIL_DONE && outcome.has_more);
    }
    m->app.own = &later;
    CLEANUP(engine_closep) struct engine *other = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &other));
    fake_clock_set(clock_ms());
    fake_clock_advance(distil_lease_ms(e) + 1000);
    struct bench next = b;
    next.e = other;
    sync_and_distil(&next);
    fake_clock_stop();
    CHECK_INT(count_seen(&seen), 2 * PART_TURNS);
    CHECK_INT(count_seen(&later), TURNS - 2 * PART_TURNS);
    CHECK_INT(status_of(&next).signals.signals, 0);
}

TEST(the_rest_of_a_cut_answer_is_asked_for_in_smaller_parts)
{
    DISTILLERY(b);
    struct seen seen = {.b = &b, .cut_from = 8};
    m->app.answer = S(SAILED PINNED FACT("User sails a boat") "]}");
    m->app.own = &seen;
    m->app.meanwhile = look;
    CHECK_STR(ingest_many(&b, 30).distillation, S("distilled"));
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK(seen.calls >= 5 && seen.calls <= 12);
    CHECK_STR(layer_of(&b, "fact"), S("User sails a boat"));
    CHECK(holds(layer_of(&b, "episode"), "harbour to harbour"));
}

/* Else a slow model gets the same long question every hour, and never answers it in time. */
TEST(what_is_late_is_asked_for_in_smaller_parts)
{
    DISTILLERY(b);
    struct seen seen = {.b = &b, .late_from = 8};
    settings.core_timeout_ms = LATE_MS;
    m->app.answer = S(SAILED PINNED FACT("User sails a boat") "]}");
    m->app.own = &seen;
    m->app.meanwhile = look;
    CHECK_STR(ingest_many(&b, 30).distillation, S("error:the model server: no answer in time"));
    for (int i = 0; i < 8 && status_of(&b).signals.signals; i++)
        sync_and_distil(&b);
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK_STR(layer_of(&b, "fact"), S("User sails a boat"));
}

/* A server that does not say so: the JSON breaks off. What is whole is kept at once. */
TEST(what_is_whole_of_a_broken_answer_is_kept)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = SAILED PINNED FACT("User sails a boat") ",{\"content\":\"User likes harb"},
           {.text = SAILED PINNED FACT("User likes harbours") "]}"}, {.text = SAILED "}"});
    settings.core_model = S("");
    ingest_many(&b, 2);
    settings.core_model = S("fake/tiny/chat");
    struct distil_outcome outcome;
    struct waiting_session w = {.pool = mine, .session = S("c1")};
    CHECK_OK(distil_session(ctx, e, &w, true, &outcome));
    CHECK(outcome.result == DISTIL_DONE && outcome.has_more);
    CHECK_STR(layer_of(&b, "fact"), S("User sails a boat"));
    CHECK_INT(status_of(&b).signals.signals, 2);
    CHECK(holds(last_work(&b), "cut_off; asked again in steps of 1 turns"));
    while (outcome.has_more)
        CHECK_OK(distil_session(ctx, e, &w, true, &outcome));
    CHECK(outcome.result == DISTIL_DONE);
    CHECK_INT(m->app.calls, 3);
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK(holds(layer_of(&b, "fact"), "User sails a boat"));
}

TEST(a_part_holds_what_a_question_has_room_for)
{
    enum { MANY = 200 };
    struct pending_signal *v = NEW_N(&ctx->arena, struct pending_signal, MANY);
    struct distilling d = {.session = S("s"), .signals = v};
    str lots = str_printf(&ctx->arena, "%010000d", 7);
    for (size_t i = 0; i < MANY; i++) {
        v[i].message.text = str_printf(&ctx->arena, "turn-%zu " S_FMT, i, S_ARG(lots));
        v[i].message.created = 1683503760000 + (int64_t)(i / 3) * DAY_MS;
        v[i].answer = S("yes");
    }
    CHECK_INT(distil_part(v, 1, 60), 1);
    CHECK_INT(distil_part(v, 61, 60), PART_CHARS / MESSAGE_MAX - 1);
    d.n = distil_part(v, MANY, 60);
    str prompt = distil_prompt(&ctx->arena, &d);
    CHECK(prompt.n < 100000);
    CHECK(str_starts(prompt, S("{\"date\":\"2023-05-07\"}\n{\"user\":\"turn-0 ")));
    CHECK(holds(prompt, "turn-2 ") &&
          holds(prompt, "{\"date\":\"2023-05-08\"}\n{\"user\":\"turn-3 "));
    CHECK(holds(prompt, "cut_off_bytes"));
    for (size_t i = 0; i < MANY; i++)
        v[i].message.text = S("short");
    CHECK_INT(distil_part(v, 61, 60), 31); /* even, so that no part is a single turn */
    CHECK_INT(distil_part(v, 60, 60), 60);
    CHECK_INT(distil_part(v, 5, 0), 1);
}
