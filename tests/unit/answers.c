/* answers.c - JSON asked of a model: what fits, what is asked for again, and what is waited for. */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/tokens.h"
#include "lib/model.h"
#include "llm/llm.h"

struct episode {
    str summary;
    struct strs topics;
    double salience;
};
static const struct field episode[] = {
    {STR(struct episode, summary), .required = true, .min = 1},
    {STRS(struct episode, topics)},
    {NUM(struct episode, salience), .otherwise = 0.5, .min = 0, .max = 1},
    {0},
};
struct candidate {
    str content;
    double salience;
    struct strs tags;
};
static const struct field candidate[] = {
    {STR(struct candidate, content), .required = true},
    {NUM(struct candidate, salience), .otherwise = 0.6, .min = 0, .max = 1},
    {STRS(struct candidate, tags)},
    {0},
};
static const char *const kinds[] = {"fact", "wish", NULL};
struct told {
    struct episode episode;
    struct strs entities;
    const struct json *pinned;
    str kind;
    int64_t number, date;
    bool is_new;
    const struct json *free;
};
static const struct field told[] = {
    {FIELD_(struct told, episode, struct episode, FIELD_OBJECT, "episode"), .required = true,
     .inside = episode},
    {STRS(struct told, entities)},
    {JSON(struct told, pinned), .inside = candidate},
    {STR(struct told, kind), .otherwise_str = "fact", .one_of = kinds},
    {INT(struct told, number), .otherwise = 7},
    {TIME(struct told, date)},
    {BOOL(struct told, is_new), .otherwise = 1},
    {JSON(struct told, free)},
    {0},
};

static struct llm_ask ask_of(const struct model *m)
{
    return (struct llm_ask){.up = &m->up,
                            .model = S("tiny/chat"),
                            .system = S("Answer in JSON."),
                            .user = S("What was it?"),
                            .max_tokens = 50,
                            .timeout_ms = 5000};
}

/* Asks once a server that says these, one after the other. */
static enum status asked(struct ctx *ctx, struct model *m, const struct scripted *script,
                         struct told *out, struct llm_answer *answer)
{
    struct llm_ask ask = ask_of(m);
    m->app.script = script;
    m->app.said = m->app.calls = 0;
    return llm_json(ctx, &ask, told, out, answer);
}
#define SCRIPT(...)                                                                                \
    (const struct scripted[])                                                                      \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* --- what fits --- */

TEST(an_answer_is_read_by_the_table)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    CHECK_OK(asked(ctx, m,
                   SCRIPT({.text = "Sure:\n```json\n{'episode': {summary: 'Tea.', topics: ['tea', "
                                   "'milk',], salience: 0.8}, unknown: 1}\n```"}),
                   &t, &answer));
    CHECK_STR(t.episode.summary, S("Tea."));
    CHECK(t.episode.topics.n == 2 && t.episode.salience > 0.79 && t.episode.salience < 0.81);
    CHECK(t.number == 7 && t.is_new && !t.pinned && !t.entities.n);
    CHECK_STR(t.kind, S("fact"));
    CHECK(answer.tokens_in == 12 && answer.tokens_out == 3 && holds(answer.text, "Sure"));
    CHECK(m->app.calls == 1 && m->app.as_json[0]);
}

TEST(members_of_another_type_are_taken_where_they_can_be)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    CHECK_OK(asked(ctx, m,
                   SCRIPT({.text = "{\"episode\": [{\"summary\": [\"Tea.\"], \"topics\": \"tea\","
                                   "\"salience\": \" 0.25 \"}],"
                                   "\"entities\": [\"Ann\", 7, null, {\"a\": 1}, \"Bob\"],"
                                   "\"pinned\": {\"content\": \"Likes tea\", \"salience\": \"9\","
                                   "\"tags\": \"food\"},"
                                   "\"kind\": \" WISH\", \"number\": \"12.6\", \"is_new\": \"No\","
                                   "\"date\": \"unknown\", \"free\": [1, \"\"]}"}),
                   &t, &answer));
    CHECK_STR(t.episode.summary, S("Tea."));
    CHECK_INT(t.episode.topics.n, 1);
    CHECK_STR(t.episode.topics.v[0], S("tea"));
    CHECK(t.episode.salience > 0.24 && t.episode.salience < 0.26);
    CHECK_INT(t.entities.n, 2);
    CHECK_STR(t.entities.v[1], S("Bob"));
    CHECK_STR(t.kind, S("wish"));
    CHECK(t.number == 13 && !t.is_new && !t.date);
    CHECK_STR(t.free->source, S("[1, \"\"]"));
    struct candidate c;
    CHECK_INT(t.pinned->n, 1);
    CHECK_OK(fields_read(ctx, candidate, t.pinned->first, false, &c));
    CHECK_STR(c.content, S("Likes tea"));
    CHECK(c.salience > 0.89 && c.salience < 0.91 && c.tags.n == 1);
    CHECK_INT(m->app.calls, 1);
}

TEST(lists_of_objects_are_brought_into_form)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    CHECK_OK(
        asked(ctx, m,
              SCRIPT({.text = "{\"episode\": \"Tea.\", \"entities\": null, \"number\": \"n/a\","
                              "\"is_new\": \"\", \"pinned\": [\"Likes tea\", 7, null, \"\", [1],"
                              "{\"content\": \"Has a dog\", \"tags\": null}]}"}),
              &t, &answer));
    CHECK_STR(t.episode.summary, S("Tea."));
    CHECK(t.number == 7 && t.is_new && !t.entities.n);
    CHECK_INT(t.pinned->n, 2);
    struct candidate c;
    CHECK_OK(fields_read(ctx, candidate, t.pinned->first, false, &c));
    CHECK_STR(c.content, S("Likes tea"));
    CHECK_OK(fields_read(ctx, candidate, t.pinned->first->next, false, &c));
    CHECK_STR(c.content, S("Has a dog"));
    CHECK(!c.tags.n && c.salience > 0.59 && c.salience < 0.61);
}

TEST(a_share_is_read_however_it_is_said)
{
    static const struct {
        const char *said;
        double share;
    } cases[] = {{"0.8", 0.8},       {"\"0.8\"", 0.8},   {"\"0,8\"", 0.8},    {"80", 0.8},
                 {"\"80%\"", 0.8},   {"\"80 %\"", 0.8},  {"\"8/10\"", 0.8},   {"8", 0.8},
                 {"\"high\"", 0.8},  {"\"High\"", 0.8},  {"\"medium\"", 0.5}, {"\"low\"", 0.2},
                 {"\"hoch\"", 0.8},  {"\"alta\"", 0.8},  {"[0.8]", 0.8},      {"1", 1},
                 {"1.2", 1},         {"-3", 0},          {"1000", 1},         {"0", 0},
                 {"\"a lot\"", 0.6}, {"{\"a\":1}", 0.6}, {"true", 0.6},       {"\"8/0\"", 0},
                 {"\"\"", 0.6}};
    MODEL(m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told t;
        struct candidate c;
        struct llm_answer answer;
        m->app.calls = 0;
        str text = str_printf(&ctx->arena,
                              "{\"episode\": \"Tea.\", \"pinned\": [{\"content\": \"Likes tea\", "
                              "\"salience\": %s}]}",
                              cases[i].said);
        CHECK_OK(asked(ctx, m, SCRIPT({.text = text.p}), &t, &answer));
        CHECK_INT(m->app.calls, 1);
        CHECK_OK(llm_read(ctx, candidate, t.pinned->first, true, &c));
        if (fabs(c.salience - cases[i].share) > 1e-9)
            fail_msg("%s: %f", cases[i].said, c.salience);
    }
}

TEST(an_answer_that_breaks_off_is_cut)
{
    static const struct {
        const char *text;
        bool is_cut;
    } cases[] = {{"{\"episode\": \"Tea.\", \"entities\": [\"Ann\", \"Bo", true},
                 {"{\"episode\": \"Tea.\", \"entities\": [\"Ann\"], \"pinned\": [", true},
                 {"{\"episode\": \"Tea.\", \"entities\":", true},
                 {"{\"episode\": \"Tea.\"}", false},
                 {"Sure: {\"episode\": \"Tea.\"} I hope that helps", false},
                 {"{\"episode\": \"Tea.\", \"entities\": [\"Ann\"]", false},
                 {"```json\n{\"episode\": \"Tea.\"}\n```", false}};
    MODEL(m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told t;
        struct llm_answer answer;
        CHECK_OK(asked(ctx, m, SCRIPT({.text = cases[i].text}), &t, &answer));
        if (answer.is_cut != cases[i].is_cut)
            fail_msg("%s", cases[i].text);
    }
}

/* --- what does not --- */

TEST(what_does_not_fit_is_asked_for_once_more)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"I cannot.", "no JSON object"},
        {"", "no JSON object"},
        {"{}", "'episode' is required"},
        {"{\"episode\": {\"topics\": []}}", "'summary' is required"},
        {"{\"episode\": {\"summary\": \"\"}}", "'summary' must not be empty"},
        {"{\"episode\": 7}", "'episode' must be an object"},
        {"{\"episode\": \"x\", \"kind\": \"guess\"}", "'kind' must be one of: fact, wish"},
        {"{\"episode\": \"x\", \"number\": \"many\"}", "'number' must be a whole number"},
        {"{\"episode\": \"x\", \"entities\": {\"a\": 1}}", "'entities' must be an array"},
    };
    MODEL(m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told t;
        struct llm_answer answer;
        CHECK_OK(asked(ctx, m, SCRIPT({.text = cases[i].text}, {.text = "{episode: 'Tea.'}"}), &t,
                       &answer));
        CHECK_STR(t.episode.summary, S("Tea."));
        CHECK(m->app.calls == 2 && answer.tokens_in == 24 && answer.tokens_out == 6);
        CHECK_STR(str_of(ctx->why), S(""));
        str user = str_of(m->app.user);
        CHECK(str_starts(user, S("What was it?")));
        if (!holds(user, cases[i].says))
            fail_msg("%s: %s", cases[i].text, m->app.user);
    }
}

TEST(twice_is_enough)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    CHECK_STATUS(asked(ctx, m,
                       SCRIPT({.text = "{}", .counts_nothing = true}, {.text = "{\"episode\": 1}"}),
                       &t, &answer),
                 BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "two unusable answers") &&
          holds(str_of(ctx->why), "must be an object"));
    CHECK_STR(answer.text, S("{\"episode\": 1}"));
    CHECK_INT(answer.tokens_in,
              12 + tokens_of(S("Answer in JSON.")) + tokens_of(S("What was it?")));
    CHECK_INT(answer.tokens_out, 3 + 1);
    CHECK_INT(m->app.calls, 2);
}

TEST(of_the_second_answer_what_need_not_be_there_may_be_wrong)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    const char *odd = "{\"episode\": {\"summary\": \"Tea.\", \"salience\": \"high\", \"topics\": "
                      "[\"tea\"]}, \"entities\": {\"a\": 1}, \"number\": true, \"kind\": \"x\"}";
    CHECK_OK(asked(ctx, m, SCRIPT({.text = odd}, {.text = odd}), &t, &answer));
    CHECK(m->app.calls == 2 && holds(str_of(m->app.user), "'entities' must be an array"));
    CHECK_STR(t.episode.summary, S("Tea."));
    CHECK(t.episode.topics.n == 1 && t.episode.salience > 0.79 && t.episode.salience < 0.81);
    CHECK(!t.entities.n && t.number == 7);
    CHECK_STR(t.kind, S("fact"));
    CHECK_STR(str_of(ctx->why), S(""));
}

TEST(a_failure_on_the_second_ask_counts_the_first)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    CHECK_STATUS(asked(ctx, m, SCRIPT({.text = "{}"}, {400, .body = "{\"error\":\"no\"}"}), &t,
                       &answer),
                 UPSTREAM);
    CHECK(answer.tokens_in == 12 && answer.tokens_out == 3 && m->app.calls == 2);
}

TEST(an_answer_that_was_cut_is_to_be_shorter)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    static const char cut[] = "{\"choices\":[{\"finish_reason\":\"length\",\"message\":{"
                              "\"content\":\"{\\\"episode\\\": \\\"Tea and m\"}}]}";
    CHECK_OK(asked(ctx, m, SCRIPT({.body = cut}, {.text = "{episode: 'Tea.'}"}), &t, &answer));
    CHECK_STR(t.episode.summary, S("Tea."));
    CHECK(holds(str_of(m->app.user), "it must be shorter"));
}

TEST(a_server_that_knows_no_json_mode_is_asked_without)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    CHECK_OK(asked(ctx, m,
                   SCRIPT({400, .body = "{\"error\":\"'response_format.type' must be 'text'\"}"},
                          {.text = "{}"}, {.text = "{episode: 'Tea.'}"}),
                   &t, &answer));
    CHECK(m->app.calls == 3 && m->app.as_json[0] && !m->app.as_json[1] && !m->app.as_json[2]);
    m->up.dialect = S("anthropic");
    CHECK_OK(asked(ctx, m, SCRIPT({.text = "{episode: 'Tea.'}"}), &t, &answer));
}

/* --- what is waited for --- */

TEST(what_may_pass_is_tried_again)
{
    static const int codes[] = {408, 429, 500, 503, 529};
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        int64_t began = clock_mono_us();
        CHECK_OK(asked(ctx, m, SCRIPT({codes[i]}, {.text = "{episode: 'Tea.'}"}), &t, &answer));
        CHECK(m->app.calls == 2 && answer.tokens_in == 12);
        CHECK(clock_mono_us() - began >= 250000);
        CHECK_STR(str_of(ctx->why), S(""));
    }
    int64_t began = clock_mono_us();
    CHECK_STATUS(asked(ctx, m, SCRIPT({503}, {429}, {500, .body = "{\"message\":\"worn\"}"}), &t,
                       &answer),
                 UPSTREAM);
    CHECK(m->app.calls == 3 && holds(str_of(ctx->why), "500: worn") && !answer.tokens_in);
    CHECK(clock_mono_us() - began >= 1250000);
}

TEST(what_will_not_pass_is_not_tried_again)
{
    static const int codes[] = {400, 401, 403, 404, 422};
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        bool is_key = codes[i] == 401 || codes[i] == 403;
        CHECK_STATUS(asked(ctx, m, SCRIPT({codes[i]}, {.text = "{}"}), &t, &answer),
                     is_key ? NO_AUTH : UPSTREAM);
        CHECK_INT(m->app.calls, 1);
        ctx_clear_failure(ctx);
    }
}

TEST(a_server_says_when_to_come_back)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    int64_t began = clock_mono_us();
    CHECK_OK(asked(ctx, m, SCRIPT({429, .retry_after = "1"}, {.text = "{episode: 'Tea.'}"}), &t,
                   &answer));
    CHECK(m->app.calls == 2 && clock_mono_us() - began >= 1000000);
    /* Beyond the time that is left nobody waits. */
    static const struct scripted later[] = {{429, .retry_after = "30"}, {0}};
    for (int with_deadline = 0; with_deadline < 2; with_deadline++) {
        ctx->deadline_us = with_deadline ? clock_mono_us() + 20000000 : 0;
        began = clock_mono_us();
        CHECK_STATUS(asked(ctx, m, later, &t, &answer), UPSTREAM);
        CHECK(m->app.calls == 1 && clock_mono_us() - began < 10000000);
        CHECK(holds(str_of(ctx->why), "429"));
        ctx_clear_failure(ctx);
    }
}

TEST(an_answer_that_does_not_come_in_time_is_not_waited_for_twice)
{
    MODEL(m);
    struct llm_ask ask = ask_of(m);
    struct told t;
    struct llm_answer answer;
    m->app.mode = STALLS;
    ask.timeout_ms = 50;
    CHECK_STATUS(llm_json(ctx, &ask, told, &t, &answer), TIMED_OUT);
    CHECK_INT(m->app.calls, 1);
    ask.timeout_ms = 60000;
    ctx_clear_failure(ctx);
    ctx->deadline_us = clock_mono_us() + 50000;
    CHECK_STATUS(llm_json(ctx, &ask, told, &t, &answer), TIMED_OUT);
}

struct cutter {
    struct model *m;
    atomic_bool is_cut;
};

/* Once the call has failed its pause begins. */
static void *cut(void *arg)
{
    struct cutter *c = arg;
    while (!c->m->app.said)
        sched_yield();
    c->is_cut = true;
    return NULL;
}

TEST(a_pause_ends_when_nobody_waits_any_more)
{
    struct cutter c = {.m = model_open(ctx)};
    struct told t;
    struct llm_answer answer;
    pthread_t thread;
    int64_t began = clock_mono_us();
    ctx->is_cut = &c.is_cut;
    CHECK(pthread_create(&thread, NULL, cut, &c) == 0);
    CHECK(asked(ctx, c.m, SCRIPT({503, .retry_after = "9"}, {.text = "{}"}), &t, &answer) != OK);
    pthread_join(thread, NULL);
    CHECK(c.m->app.calls == 1 && clock_mono_us() - began < 8000000);
    model_close(c.m);
}

/* --- no connection --- */

struct resetter {
    int listener;
    int calls;
};

/* Hangs up on two, and answers the third. */
static void *hang_up(void *arg)
{
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        "{\"choices\":[{\"message\":{\"content\":\"{episode: 'Tea.'}\"}}]}";
    struct resetter *r = arg;
    while (r->calls < 3) {
        struct pollfd ready = {.fd = r->listener, .events = POLLIN};
        char piece[4096];
        if (poll(&ready, 1, 10000) != 1)
            break;
        int fd = accept(r->listener, NULL, NULL);
        r->calls++;
        if (recv(fd, piece, sizeof piece, 0) > 0 && r->calls == 3)
            (void)!send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
        close(fd);
    }
    return NULL;
}

TEST(a_server_that_hangs_up_is_called_again)
{
    struct resetter r = {.listener = -1};
    str url = S("");
    r.listener = listener_open(ctx, &url);
    struct upstream up = {.url = url};
    struct llm_ask ask = {
        .up = &up, .model = S("m"), .user = S("u"), .max_tokens = 9, .timeout_ms = 9000};
    struct told t;
    struct llm_answer answer;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, hang_up, &r) == 0);
    CHECK_OK(llm_json(ctx, &ask, told, &t, &answer));
    pthread_join(thread, NULL);
    CHECK_INT(r.calls, 3);
    CHECK_STR(t.episode.summary, S("Tea."));
    close(r.listener);
    /* Now there is nobody, and no time to see whether someone comes. */
    ctx->deadline_us = clock_mono_us() + 200000;
    CHECK_STATUS(llm_json(ctx, &ask, told, &t, &answer), UPSTREAM);
}

/* A failure stands in the log and in the status, where nobody's text has a place. */
TEST(a_refusal_that_repeats_the_question_is_not_quoted)
{
    MODEL(m);
    struct told t;
    struct llm_answer answer;
    const char *body = "{\"error\":{\"message\":\"cannot say: What was it?\"}}";
    CHECK_STATUS(asked(ctx, m, SCRIPT({.code = 400, .body = body}), &t, &answer), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "400: (in words that repeat what was asked)"));
}
