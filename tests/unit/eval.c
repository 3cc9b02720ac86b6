/* eval.c - measuring: files of four formats, prompts, comparisons, the junk audit, honest times. */
#include <math.h>

#include "engine/state/state.h"
#include "engine/text/block_strip.h"
#include "ext/eval/eval.h"
#include "ext/eval/measure.h"
#include "ext/eval/readers.h"
#include "lib/clock.h"
#include "lib/engine.h"
#include "lib/server.h"

#define SAMPLES "tests/recall/samples/"

/* A file of the repository, seen from the test. */
static str sample(struct ctx *ctx, const char *name)
{
    return str_printf(&ctx->arena, "%s/" SAMPLES "%s", SOURCE_ROOT, name);
}

static str file_with(struct ctx *ctx, const struct place *p, const char *name, str text)
{
    str path = str_printf(&ctx->arena, "%s/%s", p->folder, name);
    FILE *f = fopen(path.p, "w");
    CHECK(f != NULL);
    CHECK_INT(fwrite(text.p, 1, text.n, f), text.n);
    CHECK_INT(fclose(f), 0);
    return path;
}

static const struct json *parsed(struct ctx *ctx, const struct buf *out)
{
    struct json *j;
    CHECK_OK(json_parse(ctx, buf_str(out), &j));
    return j;
}

static double figure(const struct json *j, const char *path)
{
    const struct json *f = json_at(j, path);
    if (!f)
        fail_msg("no %s", path);
    return json_num_or(f, -1);
}

/* The text was bad input, for this reason. */
static void check_refused(struct ctx *ctx, enum status s, const char *text, const char *why)
{
    if (s != BAD_INPUT || !holds(str_of(ctx->why), why))
        fail_msg("'%s' gives %s: '%s', not '%s'", text, status_name(s), ctx->why, why);
    ctx_clear_failure(ctx);
}

/* --- formats --- */

static void check_beam(struct ctx *ctx, str path)
{
    struct mapped file = {S("")};
    struct exams all;
    CHECK_OK(eval_read(ctx, path, S(""), &file, &all));
    CHECK_INT(all.n, 2);
    const struct exam *c = &all.v[0];
    CHECK_STR(c->id, S("1"));
    CHECK_INT(c->n_sessions, 2);
    CHECK_INT(c->sessions[0].n, 4);
    CHECK_INT(c->sessions[1].n, 4);
    const struct message *first = &c->sessions[0].messages[0], *last = &c->sessions[1].messages[3];
    CHECK(str_ends(first->text, S("it stands the wind.")));
    CHECK_STR(first->role, S("user"));
    CHECK_STR(first->ref, S("B1:0"));
    CHECK_STR(last->role, S("assistant"));
    CHECK_STR(last->ref, S("B2:7"));
    CHECK_INT(first->created, 1710460800000); /* 2024-03-15 */
    CHECK_INT(last->created, 1714608000000);  /* 2024-05-02: the anchor of the batch */
    CHECK_INT(c->until, last->created);
    CHECK_INT(c->n_questions, 3);
    CHECK_INT(c->left_out, 1);
    CHECK_STR(c->questions[1].text, S("How many hornbeams died in the \"frost\"?"));
    CHECK_STR(c->questions[1].kind, S("information_extraction"));
    CHECK_INT(c->questions[1].evidence.n, 1);
    CHECK_STR(c->questions[1].evidence.v[0], S("B2:4"));
    CHECK_STR(c->questions[1].sessions.v[0], c->sessions[1].id);
    const struct exam_question *nested = &c->questions[2]; /* ids under names, one of them twice */
    CHECK_INT(nested->evidence.n, 2);
    CHECK_STR(nested->evidence.v[1], S("B2:7"));
    CHECK_INT(nested->sessions.n, 1);
    CHECK_INT(all.v[1].left_out, 1); /* its id is no message's */
    unmap_file(&file);
}

TEST(beam_is_read_as_rows_and_as_folders)
{
    check_beam(ctx, sample(ctx, "beam.json"));
    check_beam(ctx, sample(ctx, "beam"));
}

TEST(a_row_a_line_and_plans_are_beams_too)
{
    static const char text[] =
        "{\"conversation_id\":7,\"chat\":[{\"plan-1\":[{\"batch_number\":1,\"time_anchor\":\"May-"
        "01-"
        "2024\",\"turns\":[[{\"role\":\"user\",\"id\":0,\"content\":\"a\"},{\"role\":\"assistant\","
        "\"id\":1,\"content\":\"b\"}]]}]},{\"plan-2\":[{\"batch_number\":1,\"turns\":[[{\"role\":"
        "\"user\",\"id\":0,\"content\":\"c\"},{\"role\":\"assistant\",\"id\":2,\"content\":\"d\"}]]"
        "}"
        "]}],\"probing_questions\":{\"summarization\":[{\"question\":\"q\",\"source_chat_ids\":[0,"
        "2]"
        "}]}}\n";
    struct exams all;
    CHECK_OK(beam_read(ctx, str_of(text), &all));
    CHECK_INT(all.n, 1);
    CHECK_STR(all.v[0].id, S("7"));
    CHECK_INT(all.v[0].n_sessions, 2);
    CHECK_INT(all.v[0].sessions[1].messages[0].created,
              1714521600000); /* no anchor: the last one */
    /* Two messages have the id 0: it names neither. */
    CHECK_INT(all.v[0].questions[0].evidence.n, 1);
    CHECK_STR(all.v[0].questions[0].evidence.v[0], S("B2:2"));
}

TEST(longmemeval_has_evidence_by_turn_and_by_session)
{
    struct mapped file = {S("")};
    struct exams all;
    CHECK_OK(eval_read(ctx, sample(ctx, "longmemeval.json"), S(""), &file, &all));
    CHECK_INT(all.n, 3);
    const struct exam *canoe = &all.v[0], *bread = &all.v[1];
    CHECK_INT(canoe->n_sessions, 3);
    CHECK_STR(canoe->sessions[1].messages[1].role, S("assistant"));
    CHECK_INT(canoe->sessions[1].messages[0].created, 1683234900000); /* 2023-05-04 21:15 */
    const struct exam_question *q = &canoe->questions[0];
    CHECK_INT(q->asked, 1686421200000); /* 2023-06-10 18:20 */
    CHECK_STR(q->kind, S("single-session-user"));
    CHECK_INT(q->evidence.n, 1);
    CHECK_STR(q->evidence.v[0], canoe->sessions[1].messages[0].ref);
    CHECK_INT(q->sessions.n, 1);
    CHECK_STR(q->sessions.v[0], canoe->sessions[1].id);
    CHECK_INT(bread->questions[0].evidence.n, 2);
    CHECK_INT(bread->questions[0].sessions.n, 2);
    CHECK_STR(bread->questions[0].answer, S("5"));
    CHECK_INT(all.v[2].n_questions, 0); /* _abs */
    CHECK_INT(all.v[2].left_out, 1);
    unmap_file(&file);
}

TEST(own_lines_hold_messages_and_questions)
{
    struct mapped file = {S("")};
    struct exams all;
    CHECK_OK(eval_read(ctx, sample(ctx, "own.jsonl"), S(""), &file, &all));
    CHECK_INT(all.n, 2);
    const struct exam *ida = &all.v[0];
    CHECK_STR(ida->id, S("ida"));
    CHECK_STR(ida->speakers[0], S("Ida"));
    CHECK_INT(ida->n_sessions, 2);
    CHECK_INT(ida->sessions[0].n, 3);
    CHECK_INT(ida->n_questions, 2);
    CHECK_INT(ida->left_out, 1);
    CHECK_STR(ida->questions[1].evidence.v[1], S("m3"));
    CHECK_STR(ida->questions[1].kind, S("two messages"));
    CHECK_INT(all.v[1].questions[0].asked, 1743501600000);
    unmap_file(&file);
}

TEST(a_bad_file_is_named_with_its_field_and_rule)
{
    static const struct {
        const char *format, *text, *why;
    } bad[] = {
        {"jsonl", "{\"session\":\"s\"}", "line 1: content is required"},
        {"jsonl", "{\"session\":\"s\",\"content\":\"x\",\"role\":\"boss\"}",
         "line 1: role must be one of: user, assistant"},
        {"jsonl", "\n{\"question\":\"q\",\"evidence\":[\"m\"]}",
         "line 2: evidence: no message of the conversation 1 has the id 'm'"},
        {"jsonl", "{\"question\":\"q\"}", "line 1: evidence is required"},
        {"jsonl", "{\"session\":\"s\",\"content\":\"x\",\"when\":\"now\"}", "line 1: when "},
        {"jsonl",
         "{\"session\":\"s\",\"id\":\"m\",\"content\":\"x\"}\n"
         "{\"session\":\"s\",\"id\":\"m\",\"content\":\"y\"}",
         "line 2: id: line 1 has the same"},
        {"jsonl", "[1]", "line 1: must be a JSON object"},
        {"jsonl", "", "holds no conversation"},
        {"beam", "[{\"chat\":[]}]", "row 1 must have conversation_id, chat"},
        {"beam", "[{\"conversation_id\":\"9\",\"chat\":[],\"probing_questions\":\"{'a': [\"}]",
         "conversation 9: probing_questions is neither JSON nor a Python"},
        {"beam",
         "[{\"conversation_id\":\"9\",\"chat\":[[{\"role\":\"user\",\"content\":\"x\",\"id\":1,"
         "\"time_anchor\":\"soon\"}]],\"probing_questions\":{}}]",
         "conversation 9: time_anchor 'soon' is not a date"},
        {"beam",
         "[{\"conversation_id\":\"9\",\"chat\":[[{\"role\":\"boss\",\"content\":\"x\",\"id\":1}]],"
         "\"probing_questions\":{}}]",
         "role must be user or assistant, not 'boss'"},
        {"longmemeval", "{}", "must be LongMemEval's array"},
        {"longmemeval", "[{\"question_id\":\"a\"}]", "element 1: question_type must be a text"},
        {"longmemeval",
         "[{\"question_id\":\"a\",\"question_type\":\"t\",\"question\":\"q\",\"question_date\":"
         "\"2023/13/01 (Mon) 10:00\"}]",
         "a: question_date is not a date"},
        {"longmemeval",
         "[{\"question_id\":\"a\",\"question_type\":\"t\",\"question\":\"q\",\"question_date\":"
         "\"2023/12/01 (Fri) 10:00\",\"haystack_sessions\":[[]],\"haystack_session_ids\":[],"
         "\"haystack_dates\":[]}]",
         "a: haystack_session_ids must be a list of 1"},
        {"locomo", "[{\"sample_id\":\"c\"}]", "has no conversation or no sample_id"},
    };
    PLACE(p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mapped file = {S("")};
        struct exams all;
        str path = file_with(ctx, &p, "bad", str_of(bad[i].text));
        enum status s = eval_read(ctx, path, str_of(bad[i].format), &file, &all);
        CHECK(str_starts(str_of(ctx->why), path));
        check_refused(ctx, s, bad[i].text, bad[i].why);
        unmap_file(&file);
    }
}

TEST(a_folder_without_chats_is_said_so)
{
    PLACE(p);
    struct mapped file = {S("")};
    struct exams all;
    CHECK_STATUS(eval_read(ctx, str_of(p.folder), S("beam"), &file, &all), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_STATUS(eval_read(ctx, str_of(p.folder), S("locomo"), &file, &all), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "is a folder; locomo is read from a file"));
}

TEST(pythons_literals_become_json)
{
    static const struct {
        const char *python, *json; /* NULL: refused */
    } cases[] = {
        {"{'a': [1, 2.5, -3], 'b': None, 'c': (True, False)}",
         "{\"a\":[1,2.5,-3],\"b\":null,\"c\":[true,false]}"},
        {"['it\\'s', \"say \\\"so\\\"\", \"it's\"]", "[\"it's\",\"say \\\"so\\\"\",\"it's\"]"},
        {"['a\\nb\\x41\\u00e9\\U0001F600']", "[\"a\\nb\\u0041\\u00e9\\ud83d\\ude00\"]"},
        {"[1, 2,]", "[1,2]"},
        {"(1,)", "[1]"},
        {"['None', {}]", "[\"None\",{}]"},
        {"['open", NULL},
        {"['\\q']", NULL},
        {"['\\u12']", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str out;
        enum status s = python_as_json(ctx, str_of(cases[i].python), &out);
        CHECK_INT(s, cases[i].json ? OK : BAD_INPUT);
        ctx_clear_failure(ctx);
        if (cases[i].json)
            CHECK_STR(out, str_of(cases[i].json));
    }
}

/* --- ranking --- */

TEST(a_session_counts_where_no_turn_is_marked)
{
    static const char text[] =
        "[{\"question_id\":\"a\",\"question_type\":\"t\",\"question\":\"Where is the canoe?\","
        "\"question_date\":\"2023/12/01 (Fri) 10:00\",\"haystack_session_ids\":[\"x\"],"
        "\"haystack_dates\":[\"2023/11/01 (Wed) 10:00\"],\"answer_session_ids\":[\"x\"],"
        "\"haystack_sessions\":[[{\"role\":\"user\",\"content\":\"The canoe is here\"}]]}]";
    static const int64_t k[] = {1};
    for (int by_session = 0; by_session < 2; by_session++) {
        ENGINE(e, s, p);
        struct buf out = buf_make(&ctx->arena, 1 << 20);
        struct eval_in in = {.file = file_with(ctx, &p, "one", str_of(text)),
                             .by_session = by_session,
                             .k = k,
                             .n_k = 1};
        CHECK_OK(engine_eval(ctx, e, &in, true, &out));
        const struct json *j = parsed(ctx, &out);
        CHECK_INT(json_int_or(json_at(j, "overall.n"), 0), by_session);
        CHECK_INT(figure(j, "left_out"), !by_session);
        if (by_session)
            CHECK_INT(figure(j, "t.any@1"), 100);
    }
}

/* A server of embeddings that takes its time, once a call. */
enum { SLOW_MS = 40 };
struct app {
    atomic_int calls;
};

static enum status answer_slowly(__attribute__((unused)) struct ctx *ctx, struct app *app,
                                 const struct request *in, struct reply *out)
{
    const struct json *input = json_get(in->json, "input");
    size_t n = input && input->type == JSON_ARRAY ? input->n : 1;
    atomic_fetch_add(&app->calls, 1);
    pause_ms(SLOW_MS);
    buf_add(&out->body, S("{\"data\":["));
    for (size_t i = 0; i < n; i++)
        buf_printf(&out->body, "%s{\"index\":%zu,\"embedding\":[0.1,0.2,0.3]}", i ? "," : "", i);
    buf_add(&out->body, S("]}"));
    return OK;
}

TEST(a_recall_is_timed_before_its_caches_are_warm)
{
    static const struct route routes[] = {
        {.method = "POST", .path = "/v1/embeddings", .run = answer_slowly, .wants_json = true},
        {0}};
    struct app app = {0};
    struct server *server = fake_server_open(ctx, routes, &app);
    struct settings s_remote = settings_for_test();
    s_remote.upstreams[0] = fake_server_upstream(ctx, server);
    s_remote.n_upstreams = 1;
    s_remote.embedding_source = EMBED_REMOTE;
    s_remote.embedding_model = S("fake/tiny/model");
    {
        ENGINE_WITH(e, s, p, s_remote);
        struct buf out = buf_make(&ctx->arena, 1 << 20);
        struct eval_in in = {.file = sample(ctx, "own.jsonl")};
        CHECK_OK(engine_eval(ctx, e, &in, true, &out));
        const struct json *j = parsed(ctx, &out);
        CHECK(app.calls >= 4); /* the messages, and three questions */
        CHECK(json_string(json_get(j, "vectors")).n > 0);
        CHECK(figure(j, "p50_us") >= SLOW_MS * 1000);
    }
    fake_server_close(server);
}

/* --- figures of every question --- */

static str ranked(struct ctx *ctx, struct engine *e, const struct place *p, struct eval_in in,
                  const char *name)
{
    struct buf out = buf_make(&ctx->arena, 1 << 20);
    in.per_question = str_printf(&ctx->arena, "%s/%s", p->folder, name);
    CHECK_OK(engine_eval(ctx, e, &in, true, &out));
    /* Whoever reads figures on data that the weights were fitted to is sent to honest ones. */
    CHECK(holds(json_string(json_get(parsed(ctx, &out), "note")), "docs/recall.md"));
    return in.per_question;
}

static str text_of(struct ctx *ctx, str path)
{
    struct mapped file = {S("")};
    CHECK_OK(map_file(ctx, path, &file));
    str text = str_dup(&ctx->arena, file.text);
    unmap_file(&file);
    return text;
}

TEST(figures_of_a_question_hold_no_text_unless_asked)
{
    for (int has_texts = 0; has_texts < 2; has_texts++) {
        ENGINE(e, s, p);
        struct eval_in in = {.file = sample(ctx, "own.jsonl"), .has_texts = has_texts};
        str text = text_of(ctx, ranked(ctx, e, &p, in, "each"));
        struct json *j;
        CHECK_OK(json_parse(ctx, text, &j));
        CHECK_STR(json_string(json_at(j, "report")), S("ranking"));
        CHECK_STR(json_string(json_at(j, "questions.0.id")), S("ida/1"));
        CHECK_STR(json_string(json_at(j, "questions.0.kind")), S("fact"));
        CHECK_INT(json_num_or(json_get(json_at(j, "questions.1.figures"), "frac@10"), 0), 1);
        CHECK_INT(holds(text, "piano"), has_texts);
    }
}

static const struct json *compared(struct ctx *ctx, str a, str b)
{
    struct buf out = buf_make(&ctx->arena, 1 << 20);
    CHECK_OK(eval_compare(ctx, a, b, true, &out));
    return parsed(ctx, &out);
}

/* n questions whose figure is 1 where the pattern has '+'. */
static str report_of(struct ctx *ctx, const struct place *p, const char *name, const char *hits)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_add(&b, S("{\"report\":\"ranking\",\"level\":\"turn\",\"questions\":["));
    for (size_t i = 0; hits[i]; i++)
        buf_printf(&b,
                   "%s{\"id\":\"c/%zu\",\"kind\":\"k\",\"figures\":{\"frac@10\":%d,\"tokens\":%d}}",
                   i ? "," : "", i, hits[i] == '+', hits[i] == '+' ? 10 : 30);
    buf_add(&b, S("]}"));
    return file_with(ctx, p, name, buf_str(&b));
}

TEST(a_comparison_pairs_questions_and_tests_the_difference)
{
    PLACE(p);
    /* Nine better, one worse: an exact sign test gives 2 · (1 + 10) / 1024. */
    str a = report_of(ctx, &p, "a", "----------+++++++++-");
    str b = report_of(ctx, &p, "b", "+++++++++-++++++++--");
    const struct json *j = compared(ctx, a, b), *f = json_get(json_get(j, "figures"), "frac@10");
    CHECK_INT(figure(j, "questions"), 20);
    CHECK_INT(figure(f, "better"), 9);
    CHECK_INT(figure(f, "worse"), 1);
    CHECK(fabs(figure(f, "change") - 0.4) < 1e-9);
    CHECK(fabs(figure(f, "p") - 22.0 / 1024) < 1e-9);
    CHECK(figure(f, "low") > 0.05 && figure(f, "low") < 0.3);
    CHECK(figure(f, "high") > 0.5 && figure(f, "high") < 0.75);
    CHECK_INT(json_get(j, "changed")->n, 10);
    CHECK_STR(json_string(json_at(j, "changed.0.id")), S("c/0"));
    /* Fewer tokens are better, too. */
    CHECK_INT(figure(j, "figures.tokens.better"), 9);
    /* The same file again: the same figures, to the last digit. */
    CHECK(figure(json_get(json_get(compared(ctx, a, b), "figures"), "frac@10"), "low") <=
              figure(f, "low") &&
          figure(json_get(json_get(compared(ctx, a, b), "figures"), "frac@10"), "low") >=
              figure(f, "low"));
    const struct json *same = compared(ctx, a, a);
    CHECK_INT(figure(json_get(json_get(same, "figures"), "frac@10"), "p"), 1);
    CHECK_INT(json_get(same, "changed")->n, 0);
}

TEST(what_cannot_be_compared_is_said_so)
{
    PLACE(p);
    struct buf out = buf_make(&ctx->arena, 1 << 16);
    str a = report_of(ctx, &p, "a", "+-");
    const struct {
        const char *text, *why;
    } bad[] = {
        {"x", "is not JSON"},
        {"{}", "--per-question writes such a file"},
        {"{\"report\":\"ranking\",\"level\":\"turn\",\"questions\":[{\"id\":\"x\"}]}",
         "a question has no id or no figures"},
        {"{\"report\":\"prompt\",\"level\":\"turn\",\"questions\":[]}",
         "must be the same in both files, not ranking and prompt"},
        {"{\"report\":\"ranking\",\"level\":\"session\",\"questions\":[]}",
         "must be the same in both files, not turn and session"},
        {"{\"report\":\"ranking\",\"level\":\"turn\",\"questions\":[{\"id\":\"z\",\"figures\":{}}]"
         "}",
         "no question in common"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        str b = file_with(ctx, &p, "b", str_of(bad[i].text));
        check_refused(ctx, eval_compare(ctx, a, b, true, &out), bad[i].text, bad[i].why);
    }
    CHECK_STATUS(eval_compare(ctx, a, S("/nowhere"), true, &out), NOT_FOUND);
}

/* --- prompts --- */

TEST(the_words_of_an_answer_are_looked_for_in_the_lines)
{
    struct message said = {.ref = S("m1"), .text = S("My piano went to Ana in Oulu.")};
    struct exam_session session = {.id = S("c/s"), .messages = &said, .n = 1};
    struct exam c = {.id = S("c"), .sessions = &session, .n_sessions = 1};
    struct exam_question q = {.text = S("Where is my old piano?"),
                              .answer = S("in Oulu, with Ana")};
    str ref = S("m1"), opening = S(BLOCK_OPENING);
    q.evidence = (struct strs){&ref, 1};
    struct arena *a = &ctx->arena;
    CHECK(fabs(answer_words_share(a, &c, &q, S("- user said [1]: it went to Oulu")) - 0.5) < 1e-9);
    CHECK(fabs(answer_words_share(a, &c, &q, S(""))) < 1e-9);
    q.answer = S("their application");
    CHECK(fabs(answer_words_share(a, &c, &q, opening)) < 1e-9);
    q.answer = S(""); /* "piano" is what the question and the evidence share */
    CHECK(fabs(answer_words_share(a, &c, &q, S("- user said [1]: Pianos!")) - 1) < 1e-9);
    q.text = S("Where is it?");
    CHECK(answer_words_share(a, &c, &q, opening) < 0);
}

static const struct json *prompted(struct ctx *ctx, struct engine *e, struct eval_in in)
{
    struct buf out = buf_make(&ctx->arena, 1 << 20);
    CHECK_OK(engine_eval_prompt(ctx, e, &in, true, &out));
    return parsed(ctx, &out);
}

TEST(a_prompt_is_measured_on_chats_that_were_led)
{
    ENGINE(e, s, p);
    struct eval_in in = {.file = sample(ctx, "beam.json"),
                         .per_question = str_printf(&ctx->arena, "%s/each", p.folder)};
    const struct json *j = prompted(ctx, e, in);
    CHECK_INT(figure(j, "led_as_chats"), 2);
    CHECK_INT(figure(j, "overall.n"), 5);
    CHECK_INT(figure(j, "overall.kept"), 100);
    CHECK_INT(figure(j, "overall.any"), 100);
    CHECK_INT(figure(j, "kinds.information_extraction.frac"), 100);
    CHECK(figure(j, "overall.tokens") > 20 && figure(j, "overall.tokens_p95") < 400);
    CHECK(figure(j, "overall.foreign") <= 60);
    CHECK(!json_at(j, "overall.renamed"));
    CHECK(!json_get(j, "curve"));
    /* Every message is stored once, in two sessions and one, at the time of its session. */
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.messages, 12);
    struct memory_filter f = {.pool = {S("eval"), S("1")}, .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    for (size_t i = 0; i < n; i++)
        CHECK(v[i].created < 1714608000000 + 3600000);
    struct json *each;
    CHECK_OK(json_parse(ctx, text_of(ctx, in.per_question), &each));
    CHECK_STR(json_string(json_get(each, "report")), S("prompt"));
    CHECK_INT(json_get(each, "questions")->n, 5);
    CHECK_INT(figure(each, "questions.0.figures.any"), 1);
    /* The clock and the settings are what they were. */
    CHECK(clock_ms() > 1750000000000);
    CHECK(e->settings == &settings);
}

TEST(people_with_names_are_imported_and_renamed_and_the_curve_falls)
{
    ENGINE(e, s, p);
    struct eval_in in = {.file = sample(ctx, "../corpus.json"), .curve = true};
    const struct json *j = prompted(ctx, e, in), *curve = json_get(j, "curve");
    CHECK_INT(figure(j, "led_as_chats"), 0);
    CHECK(figure(j, "overall.any") > 80);
    CHECK(figure(j, "overall.renamed") >= figure(j, "overall.foreign"));
    CHECK_INT(curve->n, 16);
    double kept = 101, foreign = 101;
    for (const struct json *l = curve->first; l; l = l->next) {
        CHECK(figure(l, "kept") <= kept && figure(l, "foreign") <= foreign);
        kept = figure(l, "kept");
        foreign = figure(l, "foreign");
    }
    CHECK(kept < 60);
    CHECK(figure(j, "at_93_kept.kept") >= 93);
    /* Nearer than the curve's own levels. */
    double at = figure(j, "at_93_kept.threshold");
    size_t same = 0, below = 0;
    for (const struct json *l = curve->first; l; l = l->next) {
        same += fabs(figure(l, "threshold") - at) < 1e-9;
        below += figure(l, "kept") >= 93;
    }
    CHECK(same == 0 && below > 0);
}

/* --- the junk audit --- */

static const char talk[] =
    "{\"session\":\"s\",\"content\":\"I love figs.\"}\n"
    "{\"session\":\"s\",\"content\":\"Well. I prefer tea over coffee in the morning.\"}\n"
    "{\"session\":\"s\",\"role\":\"assistant\",\"content\":\"I love plums.\"}\n"
    "{\"session\":\"t\",\"content\":\"I love figs.\"}\n";

static const struct json *audited(struct ctx *ctx, struct engine *e, struct eval_in in)
{
    struct buf out = buf_make(&ctx->arena, 1 << 20);
    CHECK_OK(engine_eval_junk(ctx, e, &in, true, &out));
    return parsed(ctx, &out);
}

TEST(a_sample_of_facts_is_judged_and_counted)
{
    ENGINE(e, s, p);
    str file = file_with(ctx, &p, "talk", str_of(talk)),
        path = str_printf(&ctx->arena, "%s/sample", p.folder);
    struct eval_in in = {.files = &file, .n_files = 1, .sample = path};
    const struct json *j = audited(ctx, e, in);
    CHECK_INT(figure(j, "messages"), 3);
    CHECK_INT(figure(j, "facts"), 2); /* one was said twice, and the assistant's is none */
    CHECK_INT(figure(j, "sample.judged"), 0);
    str sample_text = text_of(ctx, path), rest = sample_text;
    CHECK(holds(sample_text, "loves figs") && !holds(sample_text, "plums"));
    CHECK(holds(sample_text, "\"sentence\":\"I prefer tea over coffee in the morning.\""));
    struct json *first, *second;
    CHECK_OK(json_parse(ctx, str_cut(&rest, '\n'), &first));
    CHECK_OK(json_parse(ctx, str_cut(&rest, '\n'), &second));
    str a = json_string(json_get(first, "hash")), b = json_string(json_get(second, "hash"));
    CHECK(str_cmp(a, b) < 0); /* by hash */
    str judged = str_printf(&ctx->arena,
                            "# by hand\n" S_FMT "\tjunk\tpreference\n" S_FMT "\tgood\n"
                            "0123456789abcdef\tjunk\n",
                            S_ARG(a), S_ARG(b));
    in.judgements = file_with(ctx, &p, "judged", judged);
    j = audited(ctx, e, in);
    CHECK_INT(figure(j, "sample.judged"), 2);
    CHECK_INT(figure(j, "sample.junk"), 1);
    CHECK_INT(figure(j, "sample.share"), 50);
    CHECK_INT(figure(j, "kinds.preference.junk"), 1);
    /* The sample that was written holds the judgements, and is read in the same way. */
    in.judgements = file_with(ctx, &p, "again", text_of(ctx, path));
    in.sample = S("");
    CHECK_INT(figure(audited(ctx, e, in), "sample.junk"), 1);
}

TEST(a_bad_judgement_is_named)
{
    static const struct {
        const char *line, *why;
    } bad[] = {{"0123456789abcdef\tmaybe", "line 2: judgement must be good or junk, not 'maybe'"},
               {"0123\tgood", "line 2: hash must be 16 hex digits, not '0123'"},
               {"{\"hash\":\"x\",\"judgement\":\"good\"}", "line 2: hash must be 16 hex digits"},
               {"{", "line 2: "}};
    ENGINE(e, s, p);
    str file = file_with(ctx, &p, "talk", str_of(talk));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf out = buf_make(&ctx->arena, 1 << 16);
        struct eval_in in = {.files = &file,
                             .n_files = 1,
                             .judgements =
                                 file_with(ctx, &p, "j",
                                           str_printf(&ctx->arena, "#\n%s\n", bad[i].line))};
        check_refused(ctx, engine_eval_junk(ctx, e, &in, true, &out), bad[i].line, bad[i].why);
    }
}
