/* profile.c - a user's profile: what is read, mended and left out; merged, kept and forgotten. */
#include "ext/profile/reading.h"

#include "lib/model.h"
#include "lib/talk.h"

struct bench {
    struct ctx *ctx;
    struct engine *e;
    struct store *s;
    struct model *m;
};

/* An engine whose core model follows a script. */
#define READER_(b)                                                                                 \
    ENGINE(e, s, p);                                                                               \
    MODEL(m);                                                                                      \
    model_be_core(m, &settings);                                                                   \
    settings.core_timeout_ms = 2000;                                                               \
    settings.core_tokens_per_hour = 0;                                                             \
    struct bench b = {ctx, e, s, m}

static const struct json *parsed(struct ctx *ctx, const char *text)
{
    struct json *v;
    CHECK_OK(json_parse(ctx, str_of(text), &v));
    return v;
}

/* What a source says, as JSON. */
static str read_by(struct ctx *ctx, struct engine *e, struct profile_source in, str *how)
{
    struct json *facts;
    CHECK_OK(engine_read_profile(ctx, e, mine, &in, &facts, how));
    return facts->source;
}

static void check_rules(struct ctx *ctx, struct engine *e, struct profile_source in,
                        const char *want)
{
    str how;
    CHECK_STR(read_by(ctx, e, in, &how), str_of(want));
    CHECK_STR(how, S("rules"));
}

/* A profile as "a=1 b=[2]". */
static str profile_of(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    struct profile p;
    CHECK_OK(engine_profile(ctx, e, pool, &p));
    for (size_t i = 0; i < p.n; i++)
        buf_printf(&b, "%s" S_FMT "=" S_FMT, i ? " " : "", S_ARG(p.v[i].name),
                   S_ARG(p.v[i].value->source));
    CHECK((p.n == 0) == (p.updated == 0));
    return buf_str(&b);
}

static enum status change(struct ctx *ctx, struct engine *e, const char *facts)
{
    struct profile p;
    return engine_change_profile(ctx, e, mine, parsed(ctx, facts), &p);
}

/* The profile's memories, closed ones too. */
static size_t memories_of(struct ctx *ctx, struct engine *e, struct memory **v)
{
    struct memory_filter f = {.pool = mine, .with_closed = true, .limit = 2000};
    size_t n;
    CHECK_OK(engine_list(ctx, e, &f, v, &n, NULL));
    return n;
}

/* --- names and values --- */

TEST(names_are_written_in_camel_case)
{
    static const char *const cases[][2] = {
        {"first_name", "firstName"},
        {"First Name", "firstName"},
        {"FIRST_NAME", "firstName"},
        {"firstName", "firstName"},
        {"FirstName", "firstName"},
        {"URLName", "urlName"},
        {"userID", "userID"},
        {"user-id", "userId"},
        {"dog's name!", "dogSName"},
        {"Straßen Name", "straßenName"},
        {"ÄRZTE_liste", "ärzteListe"},
        {"  ", ""},
        {"...", ""},
        {"名前", "名前"},
        {"a\xFF"
         "b",
         "aB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(profile_camel(&ctx->arena, str_of(cases[i][0])), str_of(cases[i][1]));
    char many[300];
    memset(many, 'x', sizeof many);
    CHECK_INT(profile_camel(&ctx->arena, (str){many, sizeof many}).n, PROFILE_NAME_MAX);
    CHECK_STR(profile_words(&ctx->arena, S("dogName")), S("dog name"));
    CHECK_STR(profile_words(&ctx->arena, S("Dog Name")), S("Dog Name"));
}

TEST(days_are_written_as_iso_has_them_where_they_can_be_only_one)
{
    static const char *const cases[][2] = {
        {"5 May 1990", "1990-05-05"},
        {"May 5, 1990", "1990-05-05"},
        {"5th of Sept. 1990", "1990-09-05"},
        {"1990/5/7", "1990-05-07"},
        {"25/12/1990", "1990-12-25"},
        {"12/25/1990", "1990-12-25"},
        {"7.8.1990", "1990-08-07"},
        {"1990-05-05", "1990-05-05"},
        {"05/06/1990", "05/06/1990"},
        {"31 February 1990", "31 February 1990"},
        {"1.2.3", "1.2.3"},
        {"May", "May"},
        {"192.168.1.1", "192.168.1.1"},
        {"5 May", "5 May"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(profile_day(&ctx->arena, str_of(cases[i][0])), str_of(cases[i][1]));
}

TEST(texts_are_visible_and_cut_between_characters)
{
    struct buf b = buf_make(&ctx->arena, 8000);
    for (int i = 0; i < 1200; i++)
        buf_add(&b, S("ä"));
    CHECK_INT(profile_text(&ctx->arena, buf_str(&b)).n, 2 * PROFILE_VALUE_MAX);
    CHECK_STR(profile_text(&ctx->arena, S(" a\n\tb\x01 \xEF\xBF\xBD"
                                          "c\xFF ")),
              S("a b c"));
}

/* --- rules --- */

TEST(data_is_flattened)
{
    ENGINE(e, s, p);
    static const char *const cases[][2] = {
        {"{\"firstName\":\"John\",\"lastName\":\"Doe\",\"email\":\"john@example.com\",\"address\":{"
         "\"city\":\"Berlin\",\"country\":\"Germany\"}}",
         "{\"firstName\":\"John\",\"lastName\":\"Doe\",\"email\":\"john@example.com\",\"city\":"
         "\"Berlin\",\"country\":\"Germany\"}"},
        {"{\"address\":{\"city\":\"Berlin\"},\"work\":{\"city\":\"Bonn\"}}",
         "{\"city\":\"Berlin\",\"workCity\":\"Bonn\"}"},
        {"{\"old\":{\"city\":\"Bonn\"},\"city\":\"Berlin\"}",
         "{\"city\":\"Berlin\",\"oldCity\":\"Bonn\"}"},
        {"{\"dogs\":[{\"name\":\"Rex\"},{\"name\":\"Fido\"}],\"user\":{\"name\":\"Ann\"}}",
         "{\"dogName\":\"Rex, Fido\",\"name\":\"Ann\"}"},
        {"{\"spouse\":{\"address\":{\"city\":\"Paris\"}}}", "{\"spouseCity\":\"Paris\"}"},
        {"{\"hobbies\":[\"chess\",\"go\",\"chess\"],\"age\":34,\"vegan\":true,\"x\":null}",
         "{\"hobbies\":\"chess, go\",\"age\":\"34\",\"vegan\":\"true\"}"},
        {"{\"first_name\":\"John\",\"name\":\"john\"}", "{\"firstName\":\"John\"}"},
        {"{\"zip_code\":10115,\"date_of_birth\":\"5 May 1990\",\"Favourite Colour\":\"blue\"}",
         "{\"postalCode\":\"10115\",\"birthDate\":\"1990-05-05\",\"favoriteColor\":\"blue\"}"},
        {"{\"a\":\"unknown\",\"b\":\" N/A \",\"c\":\"None\",\"d\":\"\",\"e\":\"  \",\"f\":{},\"g\":"
         "[],\"h\":\"<unknown>\",\"i\":\"not specified.\",\"j\":\"known\"}",
         "{\"j\":\"known\"}"},
        {"{\"user_password\":\"x\",\"auth\":{\"password\":{\"hash\":\"abc\"}},\"apiKey\":\"1\","
         "\"card\":\"4111 1111 1111 1111\",\"note\":\"sk-abcdefghijklmnop1234\",\"city\":\"Ulm\"}",
         "{\"city\":\"Ulm\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_rules(ctx, e, (struct profile_source){.data = parsed(ctx, cases[i][0])}, cases[i][1]);
}

TEST(pairs_are_read_from_raw)
{
    ENGINE(e, s, p);
    static const char *const cases[][2] = {
        {"User profile: name=Sebastian, location=Spain, job=developer",
         "{\"name\":\"Sebastian\",\"location\":\"Spain\",\"job\":\"developer\"}"},
        {"favorite_color=blue", "{\"favoriteColor\":\"blue\"}"},
        {"name: John\ncity = Berlin", "{\"name\":\"John\",\"city\":\"Berlin\"}"},
        {"name=John Doe city=Berlin&age=5", "{\"name\":\"John Doe\",\"city\":\"Berlin\",\"age\":"
                                            "\"5\"}"},
        {"- **Name**: \"John\"\n* City: Paris, France; Age: 30\n1. note: nothing",
         "{\"name\":\"John\",\"city\":\"Paris, France\",\"age\":\"30\"}"},
        {"address.city=Ulm\ndog.name=Rex", "{\"city\":\"Ulm\",\"dogName\":\"Rex\"}"},
        {"{\"name\":\"Ann\",\"address\":{\"city\":\"Ulm\"}}",
         "{\"name\":\"Ann\",\"city\":\"Ulm\"}"},
        {"See https://a.b/c?d, at 10:30. Password: hunter2", "{}"},
        {"Hello there, how are you?", "{}"},
        {"My name is Ann.", "{\"name\":\"Ann\"}"},
        {"=,=:;;= :: =a b= ,", "{}"},
        {"", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_rules(ctx, e, (struct profile_source){.raw = str_of(cases[i][0])}, cases[i][1]);
}

TEST(statements_are_read_from_a_text)
{
    ENGINE(e, s, p);
    static const char *const cases[][2] = {
        {"My name is Sebastian, I live in Berlin",
         "{\"name\":\"Sebastian\",\"location\":\"Berlin\"}"},
        {"I'm a software developer living in Madrid, Spain. I have a dog named Olivia.",
         "{\"job\":\"software developer\",\"city\":\"Madrid\",\"country\":\"Spain\",\"dogName\":"
         "\"Olivia\"}"},
        {"I am called Ann. I work as a nurse at the Charité. My favourite colour is blue.",
         "{\"name\":\"Ann\",\"job\":\"nurse\",\"employer\":\"Charité\",\"favoriteColor\":"
         "\"blue\"}"},
        {"I work at Google as an engineer and my wife is called Eva.",
         "{\"employer\":\"Google\",\"job\":\"engineer\",\"wifeName\":\"Eva\"}"},
        {"I'm 34 years old, I was born on 5 May 1990 and I live in Spain.",
         "{\"age\":\"34\",\"birthDate\":\"1990-05-05\",\"country\":\"Spain\"}"},
        {"I love hiking. I love chess. I hate olives. I'm vegetarian.",
         "{\"likes\":\"hiking, chess\",\"dislikes\":\"olives\",\"diet\":\"vegetarian\"}"},
        {"My email is ann@b.de and my phone number is +49 30 1234. Is my city nice?",
         "{\"email\":\"ann@b.de\",\"phone\":\"+49 30 1234\"}"},
        {"My e-mail address is ann@b.de.", "{\"email\":\"ann@b.de\"}"},
        {"My password is hunter2. My brother is a cook living in Rome.", "{}"},
        {"What is my name?", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_rules(ctx, e, (struct profile_source){.text = str_of(cases[i][0])}, cases[i][1]);
    check_rules(ctx, e,
                (struct profile_source){S("I love hiking and photography"),
                                        S("favorite_color=blue"),
                                        parsed(ctx, "{\"hobby\":\"travel\"}"), false},
                "{\"hobby\":\"travel\",\"favoriteColor\":\"blue\",\"likes\":\"hiking and "
                "photography\"}");
}

/* --- the model's answer --- */

/* Everything that the seed says a model may write, and more. */
TEST(what_a_model_answers_is_mended)
{
    READER_(b);
    static const struct {
        const char *answer, *want, *how;
    } cases[] = {
        {"{\"name\": \"John\", \"city\": \"Berlin\"}", NULL, "model"},
        {"```json\n{\"name\": \"John\", \"city\": \"Berlin\"}\n```", NULL, "model"},
        {"```\n{\"name\": \"John\", \"city\": \"Berlin\"}\n```", NULL, "model"},
        {"Sure! Here it is: {\"name\": \"John\", \"city\": \"Berlin\"} Anything else?", NULL,
         "model"},
        {"{\"name\": \"John\", \"city\": \"Berlin\",}", NULL, "model"},
        {"{'name': 'John', 'city': 'Berlin'}", NULL, "model"},
        {"{name: \"John\", city: \"Berlin\"}", NULL, "model"},
        {"{\"name\": \"John\", \"city\": \"Berlin\", \"job\": None, \"x\": null}", NULL, "model"},
        {"{\"active\": True, \"retired\": False, \"job\": None}",
         "{\"active\":\"true\",\"retired\":\"false\"}", "model"},
        {"{\"name\": \"John\", \"city\": \"Berlin\"", NULL, "model"},
        {"{\"name\": \"John\", \"city\": \"Berlin\", \"job\": \"devel", NULL, "model"},
        {"   \n ", "{}", "model"},
        {"name: John\ncity = Berlin", NULL, "pairs"},
        {"The facts are:\n- **Name**: John\n- City: Berlin", NULL, "pairs"},
        {"{\"facts\": {\"name\": \"John\", \"address\": {\"city\": \"Berlin\"}}}", NULL, "model"},
        {"[{\"name\": \"John\", \"city\": \"Berlin\"}]", NULL, "model"},
        {"{\"First Name\": \" John \", \"hobbies\": [\"chess\", {\"kind\": \"go\"}], \"city\": "
         "\"N/A\"}",
         "{\"firstName\":\"John\",\"hobbies\":\"chess\",\"hobbiesKind\":\"go\"}", "model"},
        {"{\"password\": \"hunter2\", \"name\": \"John\", \"city\": \"Berlin\"}", NULL, "model"},
        {"{}", "{}", "model"},
        {"{\"n\\u0000ame\": \"Jo\\u0000hn\"}", "{\"nAme\":\"John\"}", "model"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted script[] = {{.text = cases[i].answer}, {.text = cases[i].answer}, {0}};
        const char *want =
            cases[i].want ? cases[i].want : "{\"name\":\"John\",\"city\":\"Berlin\"}";
        str how;
        m->app.script = script;
        m->app.said = 0;
        str got = read_by(b.ctx, b.e, (struct profile_source){.text = S("My name is Zoe.")}, &how);
        if (!str_is(got, want) || !str_is(how, cases[i].how))
            fail_msg("%s: " S_FMT " by " S_FMT, cases[i].answer, S_ARG(got), S_ARG(how));
    }
    m->app.script = NULL;
}

/* Then rules say what they can. */
TEST(a_model_that_does_not_do_its_part_fails_nothing)
{
    READER_(b);
    static const struct {
        struct scripted first, again;
        const char *how;
    } cases[] = {
        {{.text = "I cannot do that."}, {.text = "Really not."}, "rules:bad_input"},
        {{.text = "[1, 2, 3]"}, {.text = "42"}, "rules:bad_input"},
        {{.code = 400}, {0}, "rules:upstream"},
        {{.code = 401}, {0}, "rules:no_auth"},
        {{.body = "<html>"}, {.body = "{}"}, "rules:upstream"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted script[] = {cases[i].first, cases[i].again, {0}};
        str how;
        m->app.script = script;
        m->app.said = 0;
        dependency_reset(&b.e->core_model.background);
        CHECK_STR(read_by(b.ctx, b.e, (struct profile_source){.text = S("My name is Zoe.")}, &how),
                  S("{\"name\":\"Zoe\"}"));
        CHECK_STR(how, str_of(cases[i].how));
    }
    str how;
    CHECK(b.e->core_model.background.until_us);
    read_by(ctx, e, (struct profile_source){.text = S("My name is Zoe.")}, &how);
    CHECK_STR(how, S("rules:breaker_open"));
    dependency_reset(&e->core_model.background);
    m->app.script = NULL;
    m->app.mode = STALLS;
    settings.core_timeout_ms = 100;
    read_by(ctx, e, (struct profile_source){.text = S("My name is Zoe.")}, &how);
    CHECK_STR(how, S("rules:timed_out"));
    settings.core_model = S("nobody/knows");
    settings.n_upstreams = 0;
    read_by(ctx, e, (struct profile_source){.text = S("My name is Zoe.")}, &how);
    CHECK_STR(how, S("rules:unavailable"));
}

TEST(what_is_asked_is_counted_and_logged_without_texts)
{
    READER_(b);
    static const struct scripted script[] = {{.text = "{\"name\": \"Zoe\"}"},
                                             {.text = "{\"city\": \"Ulm\"}"},
                                             {0}};
    struct work *v;
    size_t n;
    str how;
    m->app.script = script;
    read_by(ctx, e, (struct profile_source){.text = S("I am Zoe \"} ignore this")}, &how);
    CHECK_INT(llm_meter_spent(&e->core_model.meter), 15);
    CHECK(strstr(m->app.user, "I am Zoe \\\"} ignore this"));
    read_by(ctx, e,
            (struct profile_source){.data = parsed(ctx, "{\"a\":[1]}"),
                                    .raw = S("r"),
                                    .keeps = true},
            &how);
    CHECK(strstr(m->app.user, "{\"data\":{\"a\":[1]},\"raw\":\"r\"}"));
    CHECK_OK(store_work_log(ctx, s, &mine, S("profile"), 10, &v, &n));
    CHECK_INT(n, 2);
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(v[i].status, S("success"));
        CHECK_STR(v[i].details, S("facts=1 by=model"));
        CHECK_STR(v[i].model, S("tiny/chat"));
        CHECK(v[i].tokens_in == 12 && v[i].tokens_out == 3 && v[i].took_ms > 0);
    }
    CHECK_STR(profile_of(b.ctx, e, mine), S("city=\"Ulm\""));
    settings.core_tokens_per_hour = 30;
    read_by(ctx, e, (struct profile_source){.text = S("My name is Zoe.")}, &how);
    CHECK_STR(how, S("rules:token_budget"));
}

/* --- keeping --- */

TEST(a_profile_is_merged_name_by_name)
{
    ENGINE(e, s, p);
    struct memory *v;
    CHECK_STR(profile_of(ctx, e, mine), S(""));
    CHECK_OK(change(ctx, e, "{\"name\":\"John\",\"age\":5,\"list\":[\"a\", 1],\"x\":true}"));
    CHECK_STR(profile_of(ctx, e, mine), S("age=5 list=[\"a\", 1] name=\"John\" x=true"));
    CHECK_OK(change(ctx, e, "{\"name\":\"Ann\",\"x\":null,\"nothing\":null,\"dogName\":\"Rex\"}"));
    CHECK_STR(profile_of(ctx, e, mine), S("age=5 dogName=\"Rex\" list=[\"a\", 1] name=\"Ann\""));
    CHECK_INT(memories_of(ctx, e, &v), 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK(v[i].layer == LAYER_IDENTITY && v[i].origin == ORIGIN_API);
        CHECK_STR(v[i].category, S("profile"));
        CHECK(v[i].importance == 0.85 && v[i].tags.n == 1);
        if (str_is(v[i].content, "name: John"))
            CHECK(v[i].valid_to && v[i].superseded_by.n);
        if (str_is(v[i].key, "profile.dogName"))
            CHECK_STR(v[i].content, S("dog name: Rex"));
    }
    /* The same again changes nothing; the same words as another kind of value do. */
    CHECK_OK(change(ctx, e, "{\"name\":\"Ann\",\"age\":\"5\"}"));
    CHECK_INT(memories_of(ctx, e, &v), 5);
    CHECK_STR(profile_of(ctx, e, mine),
              S("age=\"5\" dogName=\"Rex\" list=[\"a\", 1] name=\"Ann\""));
    CHECK_OK(change(ctx, e, "{\"age\":null,\"age\":6,\"name\":\"Eva\",\"name\":null}"));
    CHECK_STR(profile_of(ctx, e, mine), S("age=6 dogName=\"Rex\" list=[\"a\", 1]"));
    for (size_t i = memories_of(ctx, e, &v); i-- > 0;)
        CHECK(str_find(v[i].content, S("John")) == v[i].content.n);
}

TEST(what_breaks_a_limit_is_named_and_changes_nothing)
{
    ENGINE(e, s, p);
    char name[PROFILE_NAME_MAX * 2 + 3] = {0}, value[3 * PROFILE_VALUE_MAX] = {0};
    for (int i = 0; i < PROFILE_NAME_MAX; i++)
        memcpy(name + 2 * i, "ä", 2);
    memset(value, 'v', PROFILE_VALUE_MAX);
    CHECK_OK(change(ctx, e, str_printf(&ctx->arena, "{\"%s\":\"%s\"}", name, value).p));
    CHECK_OK(change(ctx, e, str_printf(&ctx->arena, "{\"%s\":null}", name).p));
    struct {
        str facts;
        const char *field;
    } cases[] = {
        {S("{\"a\":1,\"\":2}"), "facts."},
        {str_printf(&ctx->arena, "{\"a\":1,\"%sx\":2}", name), NULL},
        {str_printf(&ctx->arena, "{\"a\":1,\"v\":\"%sv\"}", value), "facts.v"},
        {str_printf(&ctx->arena, "{\"a\":1,\"v\":[\"%s\"]}", value), "facts.v"},
        {S("{\"a\":1,\"b\\nc\":1}"), "facts.b\nc"},
        {S("{\"a\":1,\" b\":1}"), "facts. b"},
        {S("[]"), "facts"},
        {S("null"), "facts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(change(ctx, e, cases[i].facts.p), BAD_INPUT);
        if (cases[i].field)
            CHECK_STR(str_of(ctx->field), str_of(cases[i].field));
        ctx_clear_failure(ctx);
    }
    CHECK_STR(profile_of(ctx, e, mine), S(""));
}

static str numbered(struct ctx *ctx, int from, int to)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_byte(&b, '{');
    for (int i = from; i < to; i++)
        buf_printf(&b, "%s\"n%d\":%d", i > from ? "," : "", i, i);
    buf_byte(&b, '}');
    return str_dup(&ctx->arena, buf_str(&b));
}

TEST(a_profile_has_room_for_so_many_names)
{
    ENGINE(e, s, p);
    struct profile got;
    str how;
    CHECK_OK(change(ctx, e, numbered(ctx, 0, PROFILE_MAX - 1).p));
    CHECK_STATUS(change(ctx, e, "{\"x\":1,\"y\":2}"), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("facts"));
    ctx_clear_failure(ctx);
    CHECK_OK(change(ctx, e, "{\"x\":1,\"y\":2,\"n0\":null,\"n1\":\"other\"}"));
    /* What was read comes in as far as there is room, and what is known is renewed. */
    read_by(ctx, e, (struct profile_source){.raw = S("n1=new, city=Ulm"), .keeps = true}, &how);
    CHECK_OK(engine_profile(ctx, e, mine, &got));
    CHECK_INT(got.n, PROFILE_MAX);
    CHECK_STATUS(change(ctx, e, "{\"z\":1}"), BAD_INPUT);
    ctx_clear_failure(ctx);
    str all = profile_of(ctx, e, mine);
    CHECK(str_find(all, S("n1=\"new\"")) < all.n && str_find(all, S("city")) == all.n);
}

TEST(what_is_read_is_kept_only_where_it_shall_be)
{
    ENGINE(e, s, p);
    struct memory *v;
    str how;
    CHECK_OK(change(ctx, e, "{\"name\":\"John\",\"age\":5}"));
    read_by(ctx, e, (struct profile_source){.raw = S("name=Ann, city=Ulm")}, &how);
    CHECK_STR(profile_of(ctx, e, mine), S("age=5 name=\"John\""));
    read_by(ctx, e, (struct profile_source){.raw = S("name=Ann, city=Ulm"), .keeps = true}, &how);
    CHECK_STR(profile_of(ctx, e, mine), S("age=5 city=\"Ulm\" name=\"Ann\""));
    for (size_t i = memories_of(ctx, e, &v); i-- > 0;)
        if (str_is(v[i].content, "city: Ulm"))
            CHECK(v[i].origin == ORIGIN_DISTILLED && !v[i].valid_to);
}

TEST(a_profile_is_forgotten_with_its_history_and_nothing_else)
{
    ENGINE(e, s, p);
    struct pool_ref other = {mine.user, S("other")}, theirs = {S("them"), mine.space};
    struct memory fact = {.content = S("likes tea")}, *v;
    struct profile got;
    CHECK_OK(engine_add(ctx, e, mine, &fact));
    CHECK_OK(engine_change_profile(ctx, e, other, parsed(ctx, "{\"name\":\"O\"}"), &got));
    CHECK_OK(engine_change_profile(ctx, e, theirs, parsed(ctx, "{\"name\":\"T\"}"), &got));
    CHECK_OK(change(ctx, e, "{\"name\":\"John\"}"));
    CHECK_OK(change(ctx, e, "{\"name\":\"Ann\"}"));
    CHECK_OK(engine_forget_profile(ctx, e, mine));
    CHECK_OK(engine_forget_profile(ctx, e, mine));
    CHECK_STR(profile_of(ctx, e, mine), S(""));
    CHECK_INT(memories_of(ctx, e, &v), 1);
    CHECK_STR(profile_of(ctx, e, other), S("name=\"O\""));
    CHECK_STR(profile_of(ctx, e, theirs), S("name=\"T\""));
    str findings;
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
}

/* The content counts, whoever changed it. */
TEST(a_fact_that_was_changed_as_a_memory_says_what_it_says)
{
    ENGINE(e, s, p);
    struct memory *v, out;
    CHECK_OK(change(ctx, e, "{\"dogName\":\"Rex\"}"));
    memories_of(ctx, e, &v);
    struct change to = {.pool = mine,
                        .id = v->id,
                        .what = CHANGE_CONTENT,
                        .to = {.content = S("dog name: Fido \"the\" dog")}};
    CHECK_OK(engine_change(ctx, e, &to, &out));
    CHECK_STR(profile_of(ctx, e, mine), S("dogName=\"Fido \\\"the\\\" dog\""));
    struct memory free = {.layer = LAYER_IDENTITY,
                          .category = S("profile"),
                          .key = S("profile.city"),
                          .content = S("lives in Ulm")};
    CHECK_OK(engine_add(ctx, e, mine, &free));
    CHECK_STR(profile_of(ctx, e, mine),
              S("city=\"lives in Ulm\" dogName=\"Fido \\\"the\\\" dog\""));
}

TEST(a_chat_recalls_a_fact_of_the_profile)
{
    ENGINE(e, s, p);
    CHECK_OK(change(ctx, e, "{\"dogName\":\"Olivia\",\"city\":\"Berlin\",\"job\":\"nurse\"}"));
    const char *question = "What is the name of my dog?";
    struct talk one = talk_of(ctx, e, s), two = one;
    one.session = "one";
    two.session = "two";
    CHECK(holds(talk_ask(&one, question, "Olivia."), "Olivia"));
    CHECK_OK(change(ctx, e, "{\"dogName\":null}"));
    CHECK(!holds(talk_ask(&two, question, ""), "dog name: Olivia"));
}
