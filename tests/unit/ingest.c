/* ingest.c - turns from files: what is kept, what is refused, and that twice is once. */
#include "ext/eval/measure.h"
#include "ext/import/import.h"
#include "lib/engine.h"

#include "ext/import/exam.h"

/* The text as a file in the test's folder. */
static str file_of(struct ctx *ctx, const struct place *p, const char *text)
{
    str path = str_printf(&ctx->arena, "%s/turns", p->folder);
    FILE *f = fopen(path.p, "w");
    CHECK(f != NULL);
    CHECK_INT(fwrite(text, 1, strlen(text), f), strlen(text));
    CHECK_INT(fclose(f), 0);
    return path;
}

static struct import_report ingest(struct ctx *ctx, struct engine *e, str path, bool extract)
{
    struct import_report r;
    CHECK_OK(engine_ingest(ctx, e, mine, path, extract, NULL, &r));
    return r;
}

static struct message *session_of(struct ctx *ctx, struct store *s, const char *id, size_t n)
{
    struct message *v;
    size_t got;
    CHECK_OK(store_session_messages(ctx, s, mine, str_of(id), 0, 1000, &v, &got));
    CHECK_INT(got, n);
    return v;
}

static int64_t messages_in(struct ctx *ctx, struct store *s)
{
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    return stats.messages;
}

static const char two_sessions[] =
    "{\"session\":\"s1\",\"role\":\"user\",\"content\":\"I planted figs\","
    "\"created\":\"2024-05-01T10:00:00Z\",\"speaker\":\"Ann\"}\n"
    "{\"session\":\"s1\",\"role\":\"assistant\",\"content\":\"Lovely\",\"id\":\"m-2\"}\n"
    "\n"
    "{\"session\":\"s1\",\"role\":\"user\",\"content\":\"Ok\"}\r\n"
    "{\"session\":\"s1\",\"role\":\"user\",\"content\":\"Ok\"}\n"
    "{\"session\":\"s2\",\"content\":\"Grüße — 寿司\"}";

/* As in a chat: it would say again what should be gone. */
TEST(a_request_to_forget_and_its_answer_are_kept_and_not_found)
{
    static const char lines[] =
        "{\"session\":\"s1\",\"role\":\"user\",\"content\":\"The peanut butter is on the shelf\"}\n"
        "{\"session\":\"s1\",\"role\":\"assistant\",\"content\":\"Good peanut butter\"}\n"
        "{\"session\":\"s1\",\"role\":\"user\","
        "\"content\":\"Please forget that I'm allergic to peanuts\"}\n"
        "{\"session\":\"s1\",\"role\":\"assistant\","
        "\"content\":\"I forgot your allergy to peanuts\"}\n";
    ENGINE(e, s, p);
    CHECK_INT(ingest(ctx, e, file_of(ctx, &p, lines), false).messages, 4);
    session_of(ctx, s, "s1", 4);
    CHECK_INT(find(ctx, s, mine, "peanut").n, 2);
    CHECK_INT(ingest(ctx, e, file_of(ctx, &p, lines), false).messages, 4);
    CHECK_INT(find(ctx, s, mine, "peanut").n, 2);
    const struct ingest_turn turns[] = {{.user = S("The peanut butter is on the shelf"),
                                         .assistant = S("Good peanut butter")},
                                        {.user = S("Please forget that I'm allergic to peanuts"),
                                         .assistant = S("I forgot your allergy to peanuts")}};
    const struct ingest_turns_in in = {.pool = other_user,
                                       .conversation = S("c"),
                                       .turns = turns,
                                       .n = 2};
    struct ingest_turns_out out;
    CHECK_OK(engine_ingest_turns(ctx, e, &in, &out));
    CHECK_INT(find(ctx, s, other_user, "peanut").n, 2);
}

TEST(lines_become_turns_in_order)
{
    ENGINE(e, s, p);
    struct import_report r = ingest(ctx, e, file_of(ctx, &p, two_sessions), false);
    CHECK_INT(r.sessions, 2);
    CHECK_INT(r.messages, 5);
    CHECK_INT(r.facts, 0);
    struct message *v = session_of(ctx, s, "s1", 4);
    CHECK_STR(v[0].text, S("I planted figs"));
    CHECK_STR(v[0].speaker, S("Ann"));
    CHECK_INT(v[0].created, 1714557600000);
    CHECK_INT(v[0].origin, ORIGIN_IMPORT);
    CHECK_STR(v[1].ref, S("m-2"));
    CHECK_STR(v[1].role, S("assistant"));
    CHECK(v[1].created > 0);
    CHECK_STR(v[3].text, S("Ok"));
    CHECK_STR(session_of(ctx, s, "s2", 1)[0].text, S("Grüße — 寿司"));
}

TEST(the_same_file_twice_is_once)
{
    ENGINE(e, s, p);
    str path = file_of(ctx, &p, two_sessions);
    ingest(ctx, e, path, false);
    CHECK_INT(messages_in(ctx, s), 5);
    ingest(ctx, e, path, false);
    CHECK_INT(messages_in(ctx, s), 5);
    ingest(ctx, e, file_of(ctx, &p, "{\"session\":\"s2\",\"content\":\"More\"}"), false);
    CHECK_INT(messages_in(ctx, s), 6);
}

TEST(sessions_that_take_turns_keep_equal_messages)
{
    static const char file[] = "{\"session\":\"a\",\"content\":\"Yes\"}\n"
                               "{\"session\":\"b\",\"content\":\"No\"}\n"
                               "{\"session\":\"a\",\"content\":\"Yes\"}\n";
    ENGINE(e, s, p);
    ingest(ctx, e, file_of(ctx, &p, file), false);
    CHECK_INT(messages_in(ctx, s), 3);
    ingest(ctx, e, file_of(ctx, &p, file), false);
    CHECK_INT(messages_in(ctx, s), 3);
}

TEST(a_bad_line_is_named_and_what_stood_before_is_kept)
{
    static const struct {
        const char *line, *why;
    } bad[] = {
        {"{\"session\":\"s1\"}", "line 2: content"},
        {"{\"content\":\"x\"}", "line 2: session"},
        {"{\"session\":\"s1\",\"content\":\"x\",\"role\":\"boss\"}", "line 2: role"},
        {"{\"session\":\"s1\",\"content\":\"x\",\"created\":\"soon\"}", "line 2: created"},
        {"{\"session\":", "line 2: "},
        {"[1]", "line 2: must be a JSON object"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ctx own = {0};
        struct import_report r;
        ENGINE(e, s, p);
        str text = str_printf(&ctx->arena,
                              "{\"session\":\"s1\",\"content\":\"first\"}\n%s\n"
                              "{\"session\":\"s1\",\"content\":\"last\"}\n",
                              bad[i].line);
        str path = file_of(ctx, &p, str_c(&ctx->arena, text));
        CHECK_INT(engine_ingest(&own, e, mine, path, false, NULL, &r), BAD_INPUT);
        CHECK(str_starts(str_of(own.why), str_of(bad[i].why)));
        CHECK_STR(session_of(ctx, s, "s1", 1)[0].text, S("first"));
        ctx_free(&own);
    }
}

TEST(a_file_that_is_none_is_said_so)
{
    ENGINE(e, s, p);
    struct import_report r;
    str missing = str_printf(&ctx->arena, "%s/missing", p.folder);
    CHECK_STATUS(engine_ingest(ctx, e, mine, missing, false, NULL, &r), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(engine_ingest(ctx, e, mine, str_of(p.folder), false, NULL, &r), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_INT(ingest(ctx, e, file_of(ctx, &p, ""), false).messages, 0);
}

TEST(empty_texts_are_skipped)
{
    ENGINE(e, s, p);
    struct import_report r = ingest(ctx, e,
                                    file_of(ctx, &p,
                                            "{\"session\":\"a\",\"content\":\" \"}\n"
                                            "{\"session\":\"a\",\"content\":\"x\"}\n"),
                                    false);
    CHECK_INT(r.skipped, 1);
    CHECK_INT(r.messages, 1);
}

TEST(facts_are_read_from_the_users_words_only)
{
    ENGINE(e, s, p);
    static const char text[] = "{\"session\":\"a\",\"content\":\"I love figs.\"}\n"
                               "{\"session\":\"a\",\"role\":\"assistant\",\"content\":"
                               "\"I love plums.\"}\n";
    CHECK_INT(ingest(ctx, e, file_of(ctx, &p, text), true).facts, 1);
    struct memory_filter f = {.pool = mine, .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK(str_find(v[0].content, S("figs")) < v[0].content.n);
    CHECK_STR(v[0].source, session_of(ctx, s, "a", 2)[0].id);
}

TEST(a_long_session_is_written_in_parts_and_stays_whole)
{
    enum { LINES = 4500 };
    ENGINE(e, s, p);
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    for (int i = 0; i < LINES; i++)
        buf_printf(&b, "%s{\"session\":\"long\",\"content\":\"turn number %d\"}\n",
                   i ? "" : "\xEF\xBB\xBF", i == LINES - 1 ? 7 : i);
    CHECK(!b.full);
    struct import_report r =
        ingest(ctx, e, file_of(ctx, &p, str_c(&ctx->arena, buf_str(&b))), false);
    CHECK_INT(r.sessions, 1);
    CHECK_INT(r.messages, LINES);
    CHECK_INT(messages_in(ctx, s), LINES);
    CHECK_STR(session_of(ctx, s, "long", 1000)[999].text, S("turn number 999"));
    str findings;
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
}

TEST(locomo_is_told_by_its_bracket)
{
    static const char text[] =
        "[{\"sample_id\":\"c1\",\"qa\":[{\"question\":\"q\",\"evidence\":[\"D1:2; D2:1\",\"D9:9\"],"
        "\"category\":1},{\"question\":\"r\",\"evidence\":[]}],\"conversation\":{"
        "\"speaker_a\":\"Ann\",\"speaker_b\":\"Bo\","
        "\"session_1_date_time\":\"1:56 pm on 8 May, 2023\",\"session_1\":["
        "{\"speaker\":\"Ann\",\"dia_id\":\"D1:1\",\"text\":\"Look\",\"blip_caption\":\"a red "
        "kite\"},"
        "{\"speaker\":\"Bo\",\"dia_id\":\"D1:2\",\"text\":\"Nice\"}],"
        "\"session_2_date_time\":\"1:00 pm on 9 May, 2023\",\"session_2\":["
        "{\"speaker\":\"Bo\",\"dia_id\":\"D2:1\",\"text\":\"Bye\"}],"
        "\"session_3_date_time\":\"1:00 pm on 9 May, 2023\"}}]";
    ENGINE(e, s, p);
    struct import_report r = ingest(ctx, e, file_of(ctx, &p, text), false);
    CHECK_INT(r.sessions, 2);
    CHECK_INT(r.messages, 3);
    struct message *v = session_of(ctx, s, "c1/session_1", 2);
    CHECK_STR(v[0].text, S("Look [image: a red kite]"));
    CHECK_STR(v[0].role, S("user"));
    CHECK_STR(v[1].speaker, S("Bo"));
    CHECK_STR(v[1].role, S("assistant"));
    CHECK_STR(v[1].ref, S("D1:2"));
    CHECK_INT(v[1].created, 1683554160000);
}

TEST(locomo_dates_are_read_or_refused)
{
    static const struct {
        const char *date;
        int64_t ms; /* 0: refused */
    } cases[] = {{"1:56 pm on 8 May, 2023", 1683554160000},
                 {"12:05 am on 1 January, 1970", 300000},
                 {"13:00 pm on 1 May, 2023", 0},
                 {"1:70 pm on 1 May, 2023", 0},
                 {"1:00 pm on 31 June, 2023", 0},
                 {"1:00 pm on 1 Mai, 2023", 0},
                 {"2023-05-08T13:56:00Z", 1683554160000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = str_printf(&ctx->arena,
                              "[{\"sample_id\":\"c\",\"conversation\":{\"speaker_a\":\"A\","
                              "\"session_1_date_time\":\"%s\",\"session_1\":[{\"speaker\":\"A\","
                              "\"dia_id\":\"D1:1\",\"text\":\"Hi\"}]}}]",
                              cases[i].date);
        struct exams all;
        enum status s = locomo_read(ctx, text, &all);
        CHECK_INT(s, cases[i].ms ? OK : BAD_INPUT);
        if (s == OK)
            CHECK_INT(all.v->sessions[0].messages[0].created, cases[i].ms);
        ctx_clear_failure(ctx);
    }
}

/* --- measuring --- */

TEST(an_evaluation_counts_what_it_says)
{
    static const char text[] =
        "[{\"sample_id\":\"c1\",\"qa\":[{\"question\":\"What did Ann "
        "fly?\",\"evidence\":[\"D1:1\"],"
        "\"category\":4},{\"question\":\"Who swam in the lake?\",\"evidence\":[\"D1:2\",\"D2:1\"],"
        "\"category\":1},{\"question\":\"r\",\"evidence\":[\"D7:1\"],\"category\":2}],"
        "\"conversation\":{\"speaker_a\":\"Ann\",\"speaker_b\":\"Bo\","
        "\"session_1_date_time\":\"1:56 pm on 8 May, 2023\",\"session_1\":["
        "{\"speaker\":\"Ann\",\"dia_id\":\"D1:1\",\"text\":\"I fly a red kite\"},"
        "{\"speaker\":\"Bo\",\"dia_id\":\"D1:2\",\"text\":\"I swam in the cold lake\"}],"
        "\"session_2_date_time\":\"1:00 pm on 9 May, 2023\",\"session_2\":["
        "{\"speaker\":\"Bo\",\"dia_id\":\"D2:1\",\"text\":\"Nothing in common\"}]}}]";
    static const int64_t k[] = {1, 2};
    ENGINE(e, s, p);
    struct eval_in in = {.file = file_of(ctx, &p, text), .k = k, .n_k = 2};
    struct buf out = buf_make(&ctx->arena, 1 << 16);
    CHECK_OK(engine_eval(ctx, e, &in, true, &out));
    struct json *j;
    CHECK_OK(json_parse(ctx, buf_str(&out), &j));
    CHECK_INT(json_int_or(json_at(j, "overall.n"), 0), 2);
    CHECK_INT(json_int_or(json_at(j, "left_out"), 0), 1);
    CHECK_INT(json_int_or(json_at(j, "turns"), 0), 3);
    CHECK_INT((int)json_num_or(json_get(json_get(j, "overall"), "any@1"), 0), 100);
    CHECK_INT((int)json_num_or(json_get(json_get(j, "overall"), "all@2"), 0), 50);
    CHECK_INT((int)json_num_or(json_get(json_get(j, "overall"), "frac@2"), 0), 75);
    CHECK_INT((int)json_num_or(json_get(json_get(j, "multi-hop"), "mrr"), 0), 100);
    /* One of two gold turns, at the top, against an ideal of two. */
    CHECK_INT((int)(json_num_or(json_get(json_get(j, "multi-hop"), "ndcg@10"), 0)), 61);
    out = buf_make(&ctx->arena, 1 << 16);
    CHECK_STATUS(engine_eval(ctx, e, &in, true, &out), CONFLICT);
}
