/* consolidate.c - decay, merging, promotion, eviction and retention, and that a second pass rests.
 */
#include "engine/distil/consolidate.h"
#include "store/store.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include "lib/engine.h"

/* --- decay --- */

static bool near(double a, double b)
{
    return fabs(a - b) < 0.0001;
}

/* Osaurus's e^(-days / 30). */
TEST(worth_fades_as_osaurus_has_it)
{
    static const struct {
        int64_t days;
        double worth;
    } cases[] = {{-5, 1},      {0, 1},       {1, 0.9672},  {7, 0.7919},
                 {30, 0.3679}, {48, 0.2019}, {49, 0.1953}, {60, 0.1353}};
    struct memory m = {.salience = 1, .last_used = 1700000000000};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(near(salience_now(&m, m.last_used + cases[i].days * DAY_MS), cases[i].worth));
    m.salience = 3;
    CHECK(near(salience_now(&m, m.last_used), 1));
    m.salience = -1;
    CHECK(near(salience_now(&m, m.last_used), 0));
}

/* --- a pass at a time --- */

static const int64_t start = 1760000000000;

static struct memory put(struct ctx *ctx, struct store *s, struct pool_ref pool, struct memory m)
{
    m.updated = m.updated ? m.updated : m.created;
    m.last_used = m.last_used ? m.last_used : m.created;
    struct bundle b = {.pool = pool, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
    return m;
}

static struct memory distilled(const char *text, double salience)
{
    return (struct memory){.content = str_of(text),
                           .origin = ORIGIN_DISTILLED,
                           .importance = salience,
                           .salience = salience,
                           .created = start};
}

static struct memory episode(const char *text, const char *metadata, int64_t days)
{
    struct memory m = distilled(text, 0.5);
    m.layer = LAYER_EPISODE;
    m.type = TYPE_EPISODIC;
    m.metadata = str_of(metadata);
    m.created = start + days * DAY_MS;
    return m;
}

static struct consolidate_report pass(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                      bool dry_run, int64_t days)
{
    struct consolidate_report r;
    CHECK_OK(consolidate_at(ctx, e, pool, dry_run, start + days * DAY_MS, &r));
    CHECK(r.dry_run == dry_run);
    return r;
}

static int64_t changes(const struct consolidate_report *r)
{
    return r->merged + r->promoted + r->evicted + r->pruned;
}

static void rests(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t days)
{
    struct consolidate_report again = pass(ctx, e, pool, false, days);
    CHECK_INT(changes(&again), 0);
    CHECK_INT(again.n, 0);
}

static struct memory get(struct ctx *ctx, struct engine *e, str id)
{
    struct memory m = {0};
    CHECK_OK(engine_get(ctx, e, mine, id, &m));
    return m;
}

/* A pass each day, and the fact that weighs 1 is there until the forty-ninth. */
TEST(daily_passes_do_not_compound)
{
    ENGINE(e, s, p);
    str id = put(ctx, s, mine, distilled("Anna sails", 1)).id;
    for (int64_t day = 1; day < 49; day++)
        CHECK_INT(pass(ctx, e, mine, false, day).evicted, 0);
    CHECK(near(get(ctx, e, id).salience, 1));
    struct consolidate_report r = pass(ctx, e, mine, false, 49);
    CHECK_INT(r.evicted, 1);
    CHECK_INT(r.n, 1);
    CHECK_STR(r.lines[0].what, S("evict"));
    CHECK_STR(r.lines[0].id, id);
    CHECK_STR(r.lines[0].text, S("Anna sails"));
    CHECK_STR(r.lines[0].why, S("worth 0.195, and not used for 49 days"));
    CHECK(get(ctx, e, id).valid_to != 0);
    CHECK_STR(get(ctx, e, id).superseded_by, S(""));
    rests(ctx, e, mine, 49);
    check_healthy(ctx, s);
}

TEST(what_is_light_stays_thirty_days_and_use_begins_anew)
{
    ENGINE(e, s, p);
    struct memory m = put(ctx, s, mine, distilled("Anna sails", 0.1));
    CHECK_INT(pass(ctx, e, mine, true, 29).evicted, 0);
    CHECK_INT(pass(ctx, e, mine, true, 30).evicted, 1);
    CHECK_OK(store_touch(ctx, s, mine, &m.doc, 1, start + 29 * DAY_MS));
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(pass(ctx, e, mine, true, 58).evicted, 0);
    CHECK_INT(pass(ctx, e, mine, true, 59).evicted, 1);
    CHECK(get(ctx, e, m.id).valid_to == 0);
}

TEST(only_what_was_distilled_is_evicted)
{
    ENGINE(e, s, p);
    for (int origin = 0; origin < ORIGIN_COUNT; origin++) {
        struct memory m = distilled(origin_names[origin], 0.1);
        m.origin = (enum origin)origin;
        put(ctx, s, mine, m);
    }
    struct memory other = distilled("identity", 0.1);
    other.layer = LAYER_IDENTITY;
    put(ctx, s, mine, other);
    other.layer = LAYER_SUMMARY;
    put(ctx, s, mine, other);
    put(ctx, s, mine, episode("an episode", "", 0));
    struct consolidate_report r = pass(ctx, e, mine, false, 300);
    CHECK_INT(r.evicted, 1);
    CHECK_STR(r.lines[0].text, S("distilled"));
}

/* A fact as the pattern of a chat finds it. */
static struct memory by_pattern(const char *text, double importance)
{
    struct memory m = distilled(text, importance);
    m.origin = ORIGIN_USER;
    m.metadata = S("{\"category\":\"habit\",\"source\":\"user_message\"}");
    return m;
}

TEST(what_a_pattern_found_fades_and_what_one_asked_to_keep_stays)
{
    ENGINE(e, s, p);
    str tea = put(ctx, s, mine, by_pattern("User usually has tea at four", 0.5)).id;
    str key = put(ctx, s, mine, by_pattern("The key is under the mat", 0.8)).id;
    struct memory table = by_pattern("prefers tea", 0.5);
    table.metadata = S("{\"source\":\"llm_response\"}");
    table = put(ctx, s, mine, table);
    str nuts = put(ctx, s, mine, distilled("User is allergic to nuts", 0.9)).id;
    struct memory standing = by_pattern("asks to never use emojis", 0.7);
    standing.category = S("instruction"); /* until it is taken back */
    put(ctx, s, mine, standing);
    CHECK_INT(pass(ctx, e, mine, true, 27).evicted, 0);
    CHECK_INT(pass(ctx, e, mine, false, 300).evicted, 1);
    CHECK(get(ctx, e, tea).valid_to && !get(ctx, e, key).valid_to);
    CHECK(!get(ctx, e, nuts).valid_to && !get(ctx, e, table.id).valid_to);
}

/* --- merging --- */

#define TALK                                                                                       \
    "Anna and Ben planned the boat trip from Oslo to Bergen, chose three harbours and agreed on "  \
    "provisions for five people during one week in June"

TEST(near_duplicates_become_the_earlier_one)
{
    ENGINE(e, s, p);
    struct memory late = put(ctx, s, mine,
                             episode(TALK,
                                     "{\"topics\":[\"Sailing\",\"food\"],\"entities\":[\"Ben\"],"
                                     "\"decisions\":[\"leave on Friday\"],"
                                     "\"action_items\":[\"buy bread\"]}",
                                     5));
    struct memory early = put(ctx, s, mine,
                              episode(TALK,
                                      "{\"note\":{\"a\":1},\"topics\":[\"sailing\"],"
                                      "\"decisions\":[\"leave on Monday\"]}",
                                      1));
    struct memory apart = put(ctx, s, mine, episode("Anna learns to bake bread at home", "", 3));
    struct consolidate_report dry = pass(ctx, e, mine, true, 6);
    CHECK_INT(dry.merged, 1);
    CHECK(get(ctx, e, late.id).valid_to == 0);
    struct consolidate_report r = pass(ctx, e, mine, false, 6);
    CHECK_INT(r.merged, 1);
    CHECK_INT(r.looked_at, 3);
    CHECK_STR(r.lines[0].id, late.id);
    CHECK_STR(get(ctx, e, late.id).superseded_by, early.id);
    CHECK(get(ctx, e, apart.id).valid_to == 0);
    CHECK_STR(get(ctx, e, early.id).metadata,
              S("{\"note\":{\"a\":1},\"topics\":[\"sailing\",\"food\"],\"entities\":[\"Ben\"],"
                "\"decisions\":[\"leave on Monday\",\"leave on Friday\"],"
                "\"action_items\":[\"buy bread\"],\"latest\":\"2025-10-14T08:53:20.000Z\"}"));
    rests(ctx, e, mine, 6);
    check_healthy(ctx, s);
}

TEST(what_differs_by_more_than_a_tenth_stays_apart)
{
    ENGINE(e, s, p);
    /* 18 of 20 shared is nine tenths, 17 of 20 is less. */
    put(ctx, s, mine, episode("a b c d e f g h i j k l m n o p q r s", "", 0));
    put(ctx, s, mine, episode("a b c d e f g h i j k l m n o p q r t", "", 1));
    CHECK_INT(pass(ctx, e, mine, true, 2).merged, 1);
    put(ctx, s, other_space, episode("a b c d e f g h i j k l m n o p q r s", "", 0));
    put(ctx, s, other_space, episode("a b c d e f g h i j k l m n o p q 2 3", "", 1));
    CHECK_INT(pass(ctx, e, other_space, true, 2).merged, 0);
}

TEST(another_number_name_or_denial_is_another_episode)
{
    ENGINE(e, s, p);
    static const char *const v[] = {"Ben", "300", "was", "Ida", "300", "was",
                                    "Ben", "340", "was", "Ben", "300", "was not"};
    for (size_t i = 0; i < sizeof v / sizeof *v; i += 3)
        put(ctx, s, mine,
            episode(str_c(&ctx->arena,
                          str_printf(&ctx->arena,
                                     "The user met %s at the flat, the rent of %s euros %s paid in "
                                     "cash, and all of the old furniture stays there until spring",
                                     v[i], v[i + 1], v[i + 2])),
                    "", (int64_t)i));
    CHECK_INT(pass(ctx, e, mine, false, 20).merged, 0);
}

/* Topics that are taken over make it like another one: it goes on until it rests. */
TEST(merging_goes_on_until_it_rests)
{
    ENGINE(e, s, p);
    put(ctx, s, mine,
        episode("a b c d e f g h i j k l m n o p q r s", "{\"topics\":[\"t\",\"u\"]}", 0));
    put(ctx, s, mine,
        episode("a b c d e f g h i j k l m n o p q r s v", "{\"topics\":[\"t\",\"w\"]}", 1));
    put(ctx, s, mine,
        episode("a b c d e f g h i j k l m n o p q r s v w", "{\"topics\":[\"x\"]}", 2));
    struct consolidate_report r = pass(ctx, e, mine, false, 3);
    CHECK(r.merged > 0);
    rests(ctx, e, mine, 3);
    check_healthy(ctx, s);
}

TEST(metadata_that_is_no_object_does_no_harm)
{
    ENGINE(e, s, p);
    static const char *const odd[] = {"", "{}", "[1]", "{\"topics\":7}",
                                      "{\"topics\":[1,null,\"\"]}"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        put(ctx, s, mine, episode(TALK, odd[i], (int64_t)i));
    CHECK_INT(pass(ctx, e, mine, false, 9).merged, 4);
    rests(ctx, e, mine, 9);
    check_healthy(ctx, s);
}

/* --- promotion --- */

static const char *const about_tea[] = {"The user asked where to buy green tea in Oslo",
                                        "Green tea and how long to brew it",
                                        "User compared black coffee with green tea",
                                        "A green tea house in the park is where the user went",
                                        "The price of green tea went up this month",
                                        "Which cups suit green tea, and which suit soup"};

TEST(what_three_episodes_mention_weighs_more_once)
{
    ENGINE(e, s, p);
    struct memory tea = distilled("User likes green tea", 0.6),
                  milk = distilled("The user likes milk", 0.6);
    tea.origin = milk.origin = ORIGIN_API;
    tea = put(ctx, s, mine, tea);
    milk = put(ctx, s, mine, milk);
    for (int64_t i = 0; i < 2; i++)
        put(ctx, s, mine, episode(about_tea[i], "", i));
    rests(ctx, e, mine, 3);
    put(ctx, s, mine,
        episode("An evening at home", "{\"topics\":[\"green\"],\"entities\":[\"Tea\"]}", 2));
    put(ctx, s, other_space, episode(about_tea[4], "", 2));
    struct consolidate_report r = pass(ctx, e, mine, false, 3);
    CHECK_INT(r.promoted, 1);
    CHECK_STR(r.lines[0].why, S("3 episodes of the last 60 days mention it"));
    CHECK(near(get(ctx, e, tea.id).salience, 0.65));
    CHECK(near(get(ctx, e, milk.id).salience, 0.6));
    for (int64_t day = 3; day < 10; day++)
        rests(ctx, e, mine, day);
    /* Three more are another reason; what is past sixty days is none, and takes nothing away. */
    for (int64_t i = 2; i < 5; i++)
        put(ctx, s, mine, episode(about_tea[i], "", 10 + i));
    CHECK_INT(pass(ctx, e, mine, false, 20).promoted, 1);
    CHECK(near(get(ctx, e, tea.id).salience, 0.7));
    rests(ctx, e, mine, 64);
    CHECK(near(get(ctx, e, tea.id).salience, 0.7));
}

TEST(nothing_weighs_more_than_one)
{
    ENGINE(e, s, p);
    str id = put(ctx, s, mine, distilled("green tea", 0.98)).id;
    for (int64_t i = 0; i < 6; i++)
        put(ctx, s, mine, episode(about_tea[i], "", i));
    CHECK_INT(pass(ctx, e, mine, false, 9).promoted, 1);
    CHECK(near(get(ctx, e, id).salience, 1));
    rests(ctx, e, mine, 9);
}

/* --- retention --- */

static int64_t erased_from(struct ctx *ctx, struct engine *e)
{
    struct memory_filter f = {.pool = mine, .limit = 1, .with_closed = true, .with_expired = true};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    return total;
}

TEST(old_episodes_are_erased_and_their_messages_stay)
{
    ENGINE(e, s, p);
    struct message m = said("m1", "user", "I sail to Ithaca", start);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    put(ctx, s, mine, distilled("a fact", 1));
    struct memory old = episode("Ithaca was reached", "", 0),
                  young = episode("Circe was met", "", 10);
    old.session = S("s1");
    old = put(ctx, s, mine, old);
    young = put(ctx, s, mine, young);
    CHECK_INT(pass(ctx, e, mine, true, 366).pruned, 1);
    CHECK_INT(erased_from(ctx, e), 3);
    struct consolidate_report r = pass(ctx, e, mine, false, 366);
    CHECK_INT(r.pruned, 1);
    CHECK_STR(r.lines[0].text, S("Ithaca was reached"));
    CHECK_STR(r.lines[0].why, S("older than 365 days"));
    CHECK_STATUS(engine_get(ctx, e, mine, old.id, &old), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK_INT(find(ctx, s, mine, "circe").n, 1);
    rests(ctx, e, mine, 366);
    check_healthy(ctx, s);
}

static size_t turns_of(struct ctx *ctx, struct store *s, const char *session)
{
    struct message *v;
    size_t n = 0;
    enum status how = store_session_messages(ctx, s, mine, str_of(session), 0, 10, &v, &n);
    CHECK(how == OK || how == NOT_FOUND);
    ctx_clear_failure(ctx);
    return n;
}

/* Osaurus's episodeRetentionDays, once someone has set it. What was learnt stays. */
TEST(old_conversations_lose_their_turns_when_someone_set_the_days)
{
    ENGINE(e, s, p);
    struct message old = said("m1", "user", "I sail to Ithaca", start),
                   young = said("m2", "user", "Circe has pigs", start + 20 * DAY_MS);
    struct memory fact = distilled("User sails to Ithaca", 1);
    CHECK_OK(say(ctx, s, mine, "s1", &old));
    CHECK_OK(say(ctx, s, mine, "s2", &young));
    fact.session = S("s1");
    fact.source = S("m1");
    fact = put(ctx, s, mine, fact);
    CHECK_INT(pass(ctx, e, mine, false, 366).pruned, 0); /* the default erases no conversation */
    CHECK_INT(turns_of(ctx, s, "s1"), 1);
    change_runtime_settings(ctx, e, "{\"episode_days\":30}");
    CHECK_INT(pass(ctx, e, mine, true, 31).pruned, 1);
    CHECK_INT(turns_of(ctx, s, "s1"), 1);
    struct consolidate_report r = pass(ctx, e, mine, false, 31);
    CHECK_INT(r.pruned, 1);
    CHECK_STR(r.lines[r.n - 1].id, S("s1"));
    CHECK_STR(r.lines[r.n - 1].why, S("1 turns, the last older than 30 days"));
    CHECK(turns_of(ctx, s, "s1") == 0 && turns_of(ctx, s, "s2") == 1);
    CHECK_INT(find(ctx, s, mine, "circe").n, 1);
    CHECK(get(ctx, e, fact.id).id.n > 0);
    rests(ctx, e, mine, 31);
    change_runtime_settings(ctx, e, "{\"episode_days\":0}");
    CHECK_INT(pass(ctx, e, mine, false, 3000).pruned, 0);
    CHECK_INT(turns_of(ctx, s, "s2"), 1);
    check_healthy(ctx, s);
}

/* What stands for a later conversation, too, is as old as that one. */
TEST(an_episode_is_as_old_as_the_last_that_was_merged_into_it)
{
    ENGINE(e, s, p);
    str first = put(ctx, s, mine, episode(TALK, "", 0)).id;
    put(ctx, s, mine, episode(TALK, "", 100));
    CHECK_INT(pass(ctx, e, mine, false, 101).merged, 1);
    CHECK_INT(pass(ctx, e, mine, false, 400).pruned, 0);
    CHECK(get(ctx, e, first).valid_to == 0);
    CHECK_INT(pass(ctx, e, mine, false, 466).pruned, 2);
    CHECK_INT(erased_from(ctx, e), 0);
    check_healthy(ctx, s);
}

TEST(more_than_a_page_of_old_episodes_goes_at_once)
{
    ENGINE(e, s, p);
    enum { MANY = 1100 };
    struct memory *v = NEW_N(&ctx->arena, struct memory, MANY);
    for (int i = 0; i < MANY; i++) {
        v[i] = episode(TALK, "", 0);
        v[i].content = str_printf(&ctx->arena, "episode %d", i);
        v[i].created += i;
    }
    struct bundle b = {.pool = mine, .memories = v, .n_memories = MANY};
    CHECK_OK(store_write(ctx, s, &b));
    struct consolidate_report r = pass(ctx, e, mine, false, 400);
    CHECK_INT(r.pruned, MANY);
    CHECK_INT(r.n, 200);
    CHECK_INT(erased_from(ctx, e), 0);
    check_healthy(ctx, s);
}

/* --- when, and for whom --- */

TEST(each_space_by_itself_and_no_user_anothers)
{
    ENGINE(e, s, p);
    put(ctx, s, mine, episode(TALK, "", 0));
    put(ctx, s, other_space, episode(TALK, "", 1));
    put(ctx, s, other_user, episode(TALK, "", 2));
    put(ctx, s, other_user, episode(TALK, "", 3));
    put(ctx, s, other_space, distilled("Light", 0.1));
    struct pool_ref all = {.user = mine.user};
    struct consolidate_report r = pass(ctx, e, all, false, 40);
    CHECK_INT(r.merged, 0);
    CHECK_INT(r.evicted, 1);
    CHECK_INT(r.looked_at, 3);
    CHECK_INT(pass(ctx, e, other_user, false, 40).merged, 1);
    struct pool_ref nobody = {S("nobody"), S("nowhere")};
    CHECK_INT(pass(ctx, e, nobody, false, 40).looked_at, 0);
}

TEST(it_runs_when_its_time_has_come)
{
    ENGINE(e, s, p);
    bool more = true;
    struct consolidate_report r;
    CHECK_STATUS(engine_consolidated(ctx, e, mine.user, &r), NOT_FOUND);
    put(ctx, s, mine, distilled("Light", 0.1));
    put(ctx, s, other_user, distilled("Light", 0.1));
    int64_t now = start + 40 * DAY_MS;
    CHECK_OK(consolidate_some_at(ctx, e, now, &more));
    CHECK(!more);
    CHECK_OK(engine_consolidated(ctx, e, mine.user, &r));
    CHECK_INT(r.evicted, 1);
    CHECK_INT(r.looked_at, 1);
    CHECK_INT(r.began, now);
    CHECK_OK(engine_consolidated(ctx, e, other_user.user, &r));
    CHECK_INT(r.evicted, 1);
    /* Not again within the day, also by an engine that has just begun. */
    put(ctx, s, mine, distilled("Lighter", 0.1));
    CLEANUP(engine_closep) struct engine *other = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &other));
    CHECK_OK(consolidate_some_at(ctx, other, now + DAY_MS - 1, &more));
    CHECK_OK(engine_consolidated(ctx, e, mine.user, &r));
    CHECK_INT(r.began, now);
    CHECK_OK(consolidate_some_at(ctx, other, now + DAY_MS, &more));
    CHECK_OK(engine_consolidated(ctx, e, mine.user, &r));
    CHECK_INT(r.began, now + DAY_MS);
    CHECK_INT(r.evicted, 1);
    /* A clock that was wrong does not stop it for ever. */
    CHECK_OK(consolidate_some_at(ctx, other, now, &more));
    CHECK_OK(engine_consolidated(ctx, e, mine.user, &r));
    CHECK_INT(r.evicted, 0);
}

TEST(the_settings_that_act_decide)
{
    ENGINE(e, s, p);
    bool more;
    struct consolidate_report r;
    put(ctx, s, mine, distilled("Heavy", 0.9));
    put(ctx, s, mine, episode("Old", "", 0));
    CHECK_INT(pass(ctx, e, mine, true, 31).evicted, 0);
    change_runtime_settings(ctx, e, "{\"salience_floor\":0.5,\"episode_days\":0}");
    CHECK_INT(pass(ctx, e, mine, true, 31).evicted, 1);
    CHECK_INT(pass(ctx, e, mine, true, 3000).pruned, 0);
    change_runtime_settings(ctx, e, "{\"salience_floor\":0,\"episode_days\":30}");
    CHECK_INT(pass(ctx, e, mine, true, 3000).evicted, 0);
    CHECK_INT(pass(ctx, e, mine, true, 31).pruned, 1);
    change_runtime_settings(ctx, e, "{\"consolidation_hours\":1,\"memory\":false}");
    CHECK_OK(consolidate_some_at(ctx, e, start, &more));
    CHECK_STATUS(engine_consolidated(ctx, e, mine.user, &r), NOT_FOUND);
    change_runtime_settings(ctx, e, "{\"memory\":true}");
    for (int64_t i = 0; i < 3; i++)
        CHECK_OK(consolidate_some_at(ctx, e, start + i * 1800000, &more));
    CHECK_OK(engine_consolidated(ctx, e, mine.user, &r));
    CHECK_INT(r.began, start + 3600000);
}

TEST(a_report_has_counts_and_no_texts)
{
    ENGINE(e, s, p);
    struct work *v;
    size_t n;
    put(ctx, s, mine, distilled("the secret", 0.1));
    pass(ctx, e, mine, true, 40);
    CHECK_OK(store_work_log(ctx, s, NULL, S("consolidate"), 9, &v, &n));
    CHECK_INT(n, 0);
    pass(ctx, e, mine, false, 40);
    pass(ctx, e, mine, false, 40);
    CHECK_OK(store_work_log(ctx, s, NULL, S("consolidate"), 9, &v, &n));
    CHECK_INT(n, 2);
    CHECK_STR(v[0].status, S("empty"));
    CHECK_STR(v[1].status, S("success"));
    CHECK_STR(v[1].details,
              S("{\"looked_at\":1,\"merged\":0,\"promoted\":0,\"evicted\":1,\"pruned\":0}"));
}

TEST(one_at_a_time)
{
    ENGINE(e, s, p);
    struct consolidate_report r;
    e->work.is_consolidating = true;
    ctx->deadline_us = clock_mono_us() + 20000;
    CHECK_STATUS(engine_consolidate(ctx, e, mine, true, &r), TOO_BUSY);
    e->work.is_consolidating = false;
    ctx->deadline_us = 0;
    ctx_clear_failure(ctx);
    CHECK_OK(engine_consolidate(ctx, e, mine, true, &r));
}

struct side {
    struct engine *e;
    int64_t merged;
    enum status how;
};

static void *side(void *own)
{
    struct side *it = own;
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct consolidate_report r;
    for (int i = 0; i < 10 && it->how == OK; i++) {
        it->how = consolidate_at(&ctx, it->e, mine, false, start + 9 * DAY_MS, &r);
        it->merged += it->how == OK ? r.merged : 0;
    }
    return NULL;
}

/* By two engines, as two processes have them, and two threads of each. */
TEST(many_at_once_do_what_one_does)
{
    ENGINE(e, s, p);
    CLEANUP(engine_closep) struct engine *other = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &other));
    struct memory first = put(ctx, s, mine, episode(TALK, "{\"topics\":[\"t0\"]}", 0));
    for (int64_t i = 1; i < 20; i++)
        put(ctx, s, mine, episode(TALK, "{\"decisions\":[\"go\"]}", i % 9));
    struct side sides[] = {{e}, {other}, {e}, {other}};
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, side, &sides[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(sides[i].how, OK);
    }
    CHECK(sides[0].merged + sides[1].merged + sides[2].merged + sides[3].merged >= 19);
    rests(ctx, e, mine, 9);
    str kept = get(ctx, e, first.id).metadata;
    CHECK(str_find(kept, S("\"t0\"")) < kept.n && str_find(kept, S("[\"go\"]")) < kept.n);
    struct pool_sum agent;
    CHECK_OK(engine_agent(ctx, e, mine, &agent));
    CHECK_INT(agent.episodes, 1);
    check_healthy(ctx, s);
}

/* --- at size --- */

static str words_like(struct ctx *ctx, uint64_t *seed, int n)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    for (int i = 0; i < n; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        buf_printf(&b, "word%d ", (int)(*seed >> 40) % 3000);
    }
    return buf_str(&b);
}

/* Processor time, as the machine may be busy; under sanitizers, else it is a tenth of a second. */
static void check_quick(clock_t began)
{
    CHECK((clock() - began) / CLOCKS_PER_SEC < 30);
}

TEST(a_full_pool_is_done_in_a_moment)
{
    ENGINE(e, s, p);
    enum { FACTS = 10000, EPISODES = 1000 };
    uint64_t seed = 7;
    struct memory *v = NEW_N(&ctx->arena, struct memory, FACTS + EPISODES);
    for (int i = 0; i < FACTS + EPISODES; i++) {
        bool is_fact = i < FACTS;
        v[i] = is_fact ? distilled("", 0.7) : episode("", "{\"topics\":[\"one\",\"two\"]}", i % 50);
        v[i].content = words_like(ctx, &seed, is_fact ? 8 : 40);
        v[i].updated = v[i].last_used = v[i].created;
    }
    struct bundle b = {.pool = mine, .memories = v, .n_memories = FACTS + EPISODES};
    CHECK_OK(store_write(ctx, s, &b));
    clock_t at = clock();
    struct consolidate_report r = pass(ctx, e, mine, false, 37);
    printf("a pass: %lld ms\n", (long long)r.took_ms);
    check_quick(at);
    CHECK_INT(r.looked_at, FACTS + EPISODES);
    CHECK_INT(changes(&r), 0);
    CLEANUP(ctx_free) struct ctx own = {0};
    struct settings by = {.episode_days = 365};
    struct pass alone = {.ctx = &own, .e = e, .by = &by, .now = start + 50 * DAY_MS};
    alone.change.pool = mine;
    alone.change.seen = clock_ms();
    CHECK_OK(episodes_read(&alone));
    int64_t began = clock_mono_us();
    episodes_merge(&alone);
    printf("merging among %zu: %lld us\n", alone.n_episodes, (long long)(clock_mono_us() - began));
    /* When all of it goes. */
    at = clock();
    r = pass(ctx, e, mine, false, 500);
    check_quick(at);
    printf("evicting and pruning all: %lld ms\n", (long long)r.took_ms);
    CHECK_INT(r.evicted, FACTS);
    CHECK_INT(r.pruned, EPISODES);
    check_healthy(ctx, s);
}
