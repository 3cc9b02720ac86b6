/* imports.c - cutting files into records without reading them, and our own export as Markdown. */
#include "ext/import/copy/lines.h"
#include "ext/import/import.h"
#include "ext/import/items.h"
#include "ext/import/seen.h"
#include "lib/engine.h"

static str cut(struct ctx *ctx, const char *text)
{
    struct items it;
    struct item item;
    str out = S("");
    CHECK(items_open(str_of(text), &it));
    for (;;) {
        if (items_next(ctx, &it, &item) != OK)
            return str_printf(&ctx->arena, S_FMT "!", S_ARG(out));
        if (!item.value.n)
            return out;
        out = str_printf(&ctx->arena, S_FMT S_FMT "=" S_FMT ";", S_ARG(out), S_ARG(item.key),
                         S_ARG(item.value));
    }
}

TEST(records_are_cut_by_brackets_and_quotes)
{
    CHECK_STR(cut(ctx, " [ {\"a\":[1,{}]} , 2,\"x,]\" ]"), S("={\"a\":[1,{}]};=2;=\"x,]\";"));
    CHECK_STR(cut(ctx, "{\"a\":\"}\\\"\",\"b\": {\"c\":\"[\"}}"),
              S("a=\"}\\\"\";b={\"c\":\"[\"};"));
    CHECK_STR(cut(ctx, "[]"), S(""));
    CHECK_STR(cut(ctx, "[{\"not json\"}, tru]"), S("={\"not json\"};=tru;"));
    CHECK_INT(items_open(S("\"text\""), &(struct items){0}), false);
    CHECK_INT(items_open(S("  "), &(struct items){0}), false);
}

TEST(a_text_that_ends_too_soon_says_where)
{
    static const char *const texts[] = {"[1,2",  "[{\"a\":1},{\"b\"", "[\"abc",
                                        "[1 2]", "{\"a\" 1}",         "{\"a\":",
                                        "{a:1}", "[1] [2]",           "[\"\\"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ctx_clear_failure(ctx);
        CHECK(str_ends(cut(ctx, texts[i]), S("!")));
        CHECK(str_find(str_of(ctx->why), S("not valid JSON")) == 0);
        CHECK(str_find(str_of(ctx->why), S(" at byte ")) < strlen(ctx->why));
    }
}

TEST(a_member_is_found_at_the_top_only)
{
    str text = S("{\"x\":{\"want\":1},\"want\":[2]}");
    CHECK_STR(items_member(text, S("want")), S("[2]"));
    CHECK_STR(items_member(text, S("none")), S(""));
    CHECK_STR(items_member(S("[1]"), S("want")), S(""));
    CHECK_STR(items_member(S("{\"x\":[1"), S("want")), S(""));
}

TEST(hashes_are_met_once)
{
    struct seen s = {0};
    for (uint64_t i = 1; i <= 5000; i++)
        CHECK(!seen_before(&s, i * 1024));
    for (uint64_t i = 1; i <= 5000; i++)
        CHECK(seen_before(&s, i * 1024));
    CHECK(!seen_before(&s, 7));
    seen_free(&s);
}

/* Whatever a text holds, it comes back byte for byte. */
TEST(a_text_survives_markdown)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "\n\n\n",
                                        "a",
                                        "a\n",
                                        "\r\n\t",
                                        "<!-- rememberd {",
                                        "\\<!-- rememberd x\n\\\\<!-- rememberd y\n<!-- r",
                                        "a\n\n<!-- rememberd {\"kind\":\"memory\"} -->\n"};
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    size_t n = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < n; i++) {
        struct message_line line = {.message = {.id = S("m --> x"), .text = str_of(texts[i])}};
        copy_write_markdown(&b, ctx, LINE_MESSAGE, &line);
    }
    str rest = buf_str(&b);
    int64_t line = 0, before = 0;
    struct copy_record r;
    for (size_t i = 0; i < n; i++) {
        struct json *v;
        CHECK(copy_next_markdown(&ctx->arena, &rest, &line, &r));
        CHECK_STR(r.text, str_of(texts[i]));
        CHECK(r.line > before);
        before = r.line;
        CHECK_OK(json_parse(ctx, r.json, &v));
        CHECK_STR(json_string(json_get(v, "id")), S("m --> x"));
    }
    CHECK(!copy_next_markdown(&ctx->arena, &rest, &line, &r));
}

TEST(a_comment_that_ends_behind_its_mark_is_an_empty_record)
{
    struct copy_record r;
    int64_t line = 0;
    str rest = S(COPY_MARK "\n");
    CHECK(copy_next_markdown(&ctx->arena, &rest, &line, &r));
    CHECK_STR(r.json, S(""));
}

/* Of a reader that is given records over its limit or of another type. */
TEST(records_of_another_kind_are_broken_and_others_go_on)
{
    ENGINE(e, s, p);
    struct import_report r;
    const struct import_in in = {.pool = mine, .extract = true};
    str text =
        S("[1, {\"memory\":\"Ada sails\"}, null, {\"memory\":7}, {\"memory\":\"Ada rows\"}]");
    CHECK_OK(engine_import_text(ctx, e, &in, S("x.json"), text, &r));
    CHECK_STR(r.format, S("mem0"));
    CHECK_INT(r.records, 5);
    CHECK_INT(r.new_memories, 2);
    CHECK_INT(r.broken, 3);
    CHECK_INT(r.problems.n, 3);
    CHECK_STR(r.problems.v[0], S("x.json, record 1: must be a JSON object"));
    CHECK_STR(r.problems.v[2], S("x.json, record 4: memory: must be a string"));
}

TEST(many_broken_records_are_counted_and_some_named)
{
    ENGINE(e, s, p);
    struct import_report r;
    const struct import_in in = {.pool = mine};
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_add(&b, S("[{\"memory\":\"Ada sails\"}"));
    for (int i = 0; i < 250; i++)
        buf_add(&b, S(",{}"));
    buf_add(&b, S("]"));
    CHECK_OK(engine_import_text(ctx, e, &in, S("x.json"), buf_str(&b), &r));
    CHECK_INT(r.broken, 250);
    CHECK_INT(r.problems.n, IMPORT_PROBLEMS_MAX);
    CHECK_INT(r.new_memories, 1);
}

TEST(too_long_a_memory_is_broken_and_none_before_it_is_lost)
{
    ENGINE(e, s, p);
    struct import_report r;
    const struct import_in in = {.pool = mine};
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_add(&b, S("{\"id\":\"1\",\"memory\":\"Ada sails\"}\n{\"id\":\"2\",\"memory\":\""));
    for (int i = 0; i < 65537; i++)
        buf_byte(&b, 'x');
    buf_add(&b, S("\"}\n{\"id\":\"3\",\"memory\":\"Ada rows\"}"));
    CHECK_OK(engine_import_text(ctx, e, &in, S("x"), buf_str(&b), &r));
    CHECK_INT(r.new_memories, 2);
    CHECK_STR(r.problems.v[0], S("x, line 2: content: must have at most 65536 bytes, has 65537"));
}
