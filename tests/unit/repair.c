/* repair.c - what models write for JSON, and the object that is found in it. */
#include "base/json.h"
#include "llm/llm.h"
#include "t.h"

struct row {
    const char *text, *object; /* NULL: there is none */
};

static void check(struct ctx *ctx, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct json *v = NULL;
        enum status s = llm_object(ctx, str_of(rows[i].text), &v);
        if (s != (rows[i].object ? OK : BAD_INPUT))
            fail_msg("%s: %s", rows[i].text, status_name(s));
        if (v && !str_is(v->source, rows[i].object))
            fail_msg("%s:\nis %.*s\nnot %s", rows[i].text, S_ARG(v->source), rows[i].object);
        CHECK(!v || v->type == JSON_OBJECT);
        CHECK((s == OK) == !ctx->why[0]);
        ctx_clear_failure(ctx);
    }
}
#define ROWS(...)                                                                                  \
    static const struct row rows[] = {__VA_ARGS__};                                                \
    check(ctx, rows, sizeof rows / sizeof *rows)

TEST(valid_json_is_taken_as_it_stands)
{
    ROWS({"{}", "{}"}, {" { \"a\" : 1.50 } \n", "{ \"a\" : 1.50 }"},
         {"{\"a\":\"{b}\",\"c\":[{\"d\":\"\\u00e9 \\\"x\\\"\"}]}",
          "{\"a\":\"{b}\",\"c\":[{\"d\":\"\\u00e9 \\\"x\\\"\"}]}"},
         {"{\"a\":\"```\\n{\\\"b\\\":1}\\n```\"}", "{\"a\":\"```\\n{\\\"b\\\":1}\\n```\"}"},
         {"{\"a\": 1, \"a\": 2}", "{\"a\": 1, \"a\": 2}"}, {"[{\"a\":1},{\"b\":2}]", "{\"a\":1}"},
         {"\"{\\\"a\\\":[1]}\"", "{\"a\":[1]}"});
}

TEST(of_a_name_that_stands_twice_the_last_counts)
{
    struct json *v;
    CHECK_OK(llm_object(ctx, S("{'a': 1, 'a': 2,}"), &v));
    CHECK_INT(json_int_or(json_get(v, "a"), 0), 2);
}

TEST(fences_are_opened)
{
    ROWS({"```json\n{\"a\": 1}\n```", "{\"a\": 1}"}, {"```\n{\"a\": 1}\n```", "{\"a\": 1}"},
         {"```JSON {\"a\": 1} ```", "{\"a\": 1}"}, {"```json{\"a\":1}```", "{\"a\":1}"},
         {"Use {this}:\n```json\n{\"a\": 1}\n```\nand {\"b\": 2}", "{\"a\": 1}"},
         {"  ```json\r\n{\"a\": 1}\r\n  ```\r\n", "{\"a\": 1}"},
         {"```json\n{'a': 1,}", "{\"a\":1}"},
         {"```json\n{\"a\": \"x\n```\ny\"}\n```", "{\"a\":\"x\\n```\\ny\"}"},
         {"~~~\n{\"a\": 1}\n~~~", "{\"a\": 1}"}, {"```\nnone\n```\n{\"a\": 1}", "{\"a\": 1}"},
         {"{\"code\": \"```js {x} ```\",}", "{\"code\":\"```js {x} ```\"}"});
}

TEST(text_around_is_left_away)
{
    ROWS({"Sure! Here is it: {\"a\": {\"b\": 1}} Hope it helps :}", "{\"a\": {\"b\": 1}}"},
         {"json\n{\"a\": 1}", "{\"a\": 1}"}, {"json {a: 1}", "{\"a\":1}"},
         {"\xEF\xBB\xBF{\"a\": 1}", "{\"a\": 1}"}, {"x \xEF\xBB\xBF{'a': 1}", "{\"a\":1}"},
         {"Of {those} and {\"a\": 1} the first", "{\"a\": 1}"},
         {"Of {those} and {'a': 1} the first", "{\"a\":1}"}, {"It's {'a': 1}", "{\"a\":1}"},
         {"{{\"a\": {{\"b\": 1}}}}", "{\"a\":{\"b\":1}}"}, {"{\"a\": 1}}}", "{\"a\": 1}"},
         {"{'a': 1} {'b': 2}", "{\"a\":1}"});
}

TEST(commas_are_put_right)
{
    ROWS({"{\"a\": [1, 2,], \"b\": 3,}", "{\"a\":[1,2],\"b\":3}"},
         {"{\"a\": 1,, \"b\": [,2,,3]}", "{\"a\":1,\"b\":[2,3]}"},
         {"{\"a\": \"x\"\n \"b\": \"y\"}", "{\"a\":\"x\",\"b\":\"y\"}"},
         {"{\"a\": 1 \"b\": 2}", "{\"a\":1,\"b\":2}"},
         {"{\"a\": \"x\" \"b c\": \"y\" 'd': 1}", "{\"a\":\"x\",\"b c\":\"y\",\"d\":1}"},
         {"{\"a\": [{\"b\": 1} {\"c\": 2}]}", "{\"a\":[{\"b\":1},{\"c\":2}]}"},
         {"{\"a\":, \"b\": 1}", "{\"a\":null,\"b\":1}"},
         {"{\"a\" = 1, \"b\" => 2}", "{\"a\":1,\"b\":2}"});
}

TEST(quotes_of_all_kinds_are_quotes)
{
    ROWS({"{'a': 'It''s', 'b': 'It\\'s'}", "{\"a\":\"It''s\",\"b\":\"It's\"}"},
         {"{'a': 'the dogs' bowl', 'b': ['Ann's', 'x']}",
          "{\"a\":\"the dogs' bowl\",\"b\":[\"Ann's\",\"x\"]}"},
         {"{'a': 'say \"hi\"'}", "{\"a\":\"say \\\"hi\\\"\"}"},
         {"{\xE2\x80\x9C"
          "a\xE2\x80\x9D: \xE2\x80\x9Cx \xE2\x80\x99 y\xE2\x80\x9D}",
          "{\"a\":\"x \xE2\x80\x99 y\"}"},
         {"{\xE2\x80\x98"
          "a\xE2\x80\x99: \xE2\x80\x98It\xE2\x80\x99s\xE2\x80\x99, b: 1}",
          "{\"a\":\"It\xE2\x80\x99s\",\"b\":1}"},
         {"{\"a\": \"\xE2\x80\x9Cx\xE2\x80\x9D\",}", "{\"a\":\"\xE2\x80\x9Cx\xE2\x80\x9D\"}"},
         {"{\xC2\xAB"
          "a\xC2\xBB: `b`}",
          "{\"a\":\"b\"}"});
}

TEST(quotes_inside_that_are_not_escaped_stay_inside)
{
    ROWS({"{\"a\": \"He said \"hi\" to me\", \"b\": 1}",
          "{\"a\":\"He said \\\"hi\\\" to me\",\"b\":1}"},
         {"{\"a\": \"He said \"hi\", and left\", \"b\": 1}",
          "{\"a\":\"He said \\\"hi\\\", and left\",\"b\":1}"},
         {"{\"a\": [\"the \"x\" one\", \"y\"]}", "{\"a\":[\"the \\\"x\\\" one\",\"y\"]}"});
}

TEST(what_is_right_in_it_stays_as_it_was)
{
    ROWS({"{\"a\": [\"b\", 1e+5, \"c\", -0.5, \"d\" , true, \"e\", null, \"f\", {}, \"g\", []],}",
          "{\"a\":[\"b\",1e+5,\"c\",-0.5,\"d\",true,\"e\",null,\"f\",{},\"g\",[]]}"},
         {"{\"a\" : \"b\" , \"c\" : { \"d\" : \"\\\\\" } , }",
          "{\"a\":\"b\",\"c\":{\"d\":\"\\\\\"}}"},
         {"{\"a\": \"\\ud83d\\ude00\\/\\b\", \"a\": \"\",}",
          "{\"a\":\"\\ud83d\\ude00\\/\\b\",\"a\":\"\"}"});
}

TEST(names_and_values_need_no_quotes)
{
    ROWS({"{a: 1, b_c: 'x', d-e: true, $f: null, 7: 8}",
          "{\"a\":1,\"b_c\":\"x\",\"d-e\":true,\"$f\":null,\"7\":8}"},
         {"{name: Alice Smith, city: Bern}", "{\"name\":\"Alice Smith\",\"city\":\"Bern\"}"},
         {"{url: http://x.y/z, b: [tea, milk]}",
          "{\"url\":\"http://x.y/z\",\"b\":[\"tea\",\"milk\"]}"},
         {"{\xC3\xBC: \xC3\xA4}", "{\"\xC3\xBC\":\"\xC3\xA4\"}"});
}

TEST(a_value_with_a_comma_is_not_halved)
{
    ROWS({"{\"a\": 0,8, \"b\": 1}", "{\"a\":\"0,8\",\"b\":1}"},
         {"{\"a\": 1,000,000}", "{\"a\":\"1,000,000\"}"},
         {"{a: cats, dogs and birds, b: 1}", "{\"a\":\"cats, dogs and birds\",\"b\":1}"},
         {"{a: 1, {b: 2}}", "{\"a\":1,\"b\":2}"}, {"{a:1,b:2,7:8}", "{\"a\":1,\"b\":2,\"7\":8}"});
}

TEST(literals_of_other_languages_are_known)
{
    ROWS({"{\"a\": True, \"b\": False, \"c\": None, \"d\": undefined, \"e\": TRUE}",
          "{\"a\":true,\"b\":false,\"c\":null,\"d\":null,\"e\":true}"},
         {"{\"a\": NaN, \"b\": Infinity, \"c\": -Infinity, \"d\": [+inf, nan]}",
          "{\"a\":null,\"b\":null,\"c\":null,\"d\":[null,null]}"},
         {"{a: +1, b: .5, c: 5., d: -.5e3, e: 007, f: 1.50, g: 1e, h: 1E+2}",
          "{\"a\":1,\"b\":0.5,\"c\":5,\"d\":-0.5e3,\"e\":\"007\",\"f\":1.50,\"g\":\"1e\",\"h\":1E+"
          "2}"},
         {"{\"a\": \"True\",}", "{\"a\":\"True\"}"});
}

TEST(comments_are_left_away)
{
    ROWS({"{ // of a\n\"a\": 1, /* of, \"b\" */ \"b\": 2 # end\n}", "{\"a\":1,\"b\":2}"},
         {"{\"a\": \"x // no, # no\", b: 1 // yes\n}", "{\"a\":\"x // no, # no\",\"b\":1}"},
         {"{a: [1, # one\n 2 /* two */, 3]}", "{\"a\":[1,2,3]}"}, {"{\"a\": 1, ...}", "{\"a\":1}"},
         {"{\"a\": [\"x\", ..., \xE2\x80\xA6]}", "{\"a\":[\"x\"]}"},
         {"{a: 1, /* no end", "{\"a\":1}"});
}

TEST(an_end_that_is_cut_off_is_closed)
{
    ROWS({"{\"a\": 1", "{\"a\":1}"}, {"{\"a\": {\"b\": [1, 2", "{\"a\":{\"b\":[1,2]}}"},
         {"{\"a\": \"x\", \"b\": \"half a sen", "{\"a\":\"x\"}"},
         {"{\"a\": [\"x\", \"hal", "{\"a\":[\"x\"]}"}, {"{\"a\": \"x\", \"b\":", "{\"a\":\"x\"}"},
         {"{\"a\": \"x\", \"b", "{\"a\":\"x\"}"}, {"{\"a\": \"x\", \"b\": tr", "{\"a\":\"x\"}"},
         {"{\"a\": \"x\", \"b\": \"y\\", "{\"a\":\"x\"}"},
         {"{\"a\": \"x\", \"b\": \"y\\u12", "{\"a\":\"x\"}"},
         {"{\"a\": [{\"b\": 1}, {\"c\": \"d", "{\"a\":[{\"b\":1},{}]}"},
         {"{\"a\": [{\"b\": 1}, {\"c\": 2}", "{\"a\":[{\"b\":1},{\"c\":2}]}"},
         {"{\"a\": \"no quote}", "{\"a\":\"no quote\"}"},
         {"{\"a\": [\"x\", \"no quote]}", "{\"a\":[\"x\",\"no quote\"]}"},
         {"{\"a\": [1, 2}", "{\"a\":[1,2]}"}, {"[{\"a\": 1], 2", "{\"a\":1}"},
         {"{\"a\": {\"b\": 1, \"c\": [2}]}", "{\"a\":{\"b\":1,\"c\":[2]}}"});
}

TEST(characters_that_json_forbids_are_escaped)
{
    ROWS({"{\"a\": \"one\ntwo\tthree\r\"}", "{\"a\":\"one\\ntwo\\tthree\\r\"}"},
         {"{\"a\": \"\x01\x1F\"}", "{\"a\":\"\\u0001\\u001f\"}"},
         {"{\"a\x02\": \x03 1}", "{\"a\\u0002\":1}"},
         {"{\"a\\_b\": \"C:\\Users \\d \\[x\\] \\x41\\u0041\\n\"}",
          "{\"a_b\":\"C:\\\\Users \\\\d [x] \\u0041\\u0041\\n\"}"},
         {"{\"a\": \"b\xFF\xC3\"}", "{\"a\":\"b\xEF\xBF\xBD\xEF\xBF\xBD\"}"},
         {"{\xC2\xA0\"a\":\xE2\x80\x8B 1,}", "{\"a\":1}"});
}

TEST(where_there_is_no_object_none_is_found)
{
    ROWS({"", NULL}, {" ", NULL}, {"null", NULL}, {"[1, 2]", NULL}, {"\"a\"", NULL},
         {"I cannot do that.", NULL}, {"{", NULL}, {"{ {", NULL}, {"}", NULL},
         {"{curly} {braces}", NULL}, {"```json\n```", NULL}, {"a: 1, b: 2", NULL},
         {"{\"a\"}", NULL}, {"{\"half", NULL});
}

/* --- size --- */

static str many(struct ctx *ctx, const char *piece, size_t n)
{
    struct buf b = buf_make(&ctx->arena, (n + 1) * strlen(piece));
    for (size_t i = 0; i < n; i++)
        buf_add(&b, str_of(piece));
    CHECK(!b.full);
    return buf_str(&b);
}

TEST(depth_has_an_end)
{
    struct json *v;
    for (size_t depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX; depth++) {
        str text = str_printf(&ctx->arena, S_FMT "1", S_ARG(many(ctx, "{a:", depth)));
        CHECK_STATUS(llm_object(ctx, text, &v), OK);
    }
    str deep = many(ctx, "{a:[", 100000);
    CHECK_STATUS(llm_object(ctx, deep, &v), BAD_INPUT);
}

/* A reader that goes back would not come to an end with these. */
TEST(a_long_answer_is_read_once)
{
    static const char *const pieces[] = {
        "{",       "[",         "\"",     "'",          "{\"a\":",
        "{x} ",    "{[}",       "{\"} ",  "{'\"",       "{a:[",
        "\\",      "\n```",     "```\n{", "/*",         "{/",
        "#",       "}",         "]",      ", ",         "\",",
        "\" , a ", "{\"a\":\"", "a:",     "{a:\"b\", ", "\xE2\x80\x9C",
        "{'a"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        for (int with = 0; with < 3; with++) {
            static const char *const fronts[] = {"", "{a: \"", "{\"a\": [\""};
            CLEANUP(ctx_free) struct ctx own = {0};
            str body = many(&own, pieces[i], (1 << 18) / strlen(pieces[i]));
            struct json *v;
            enum status s =
                llm_object(&own, str_printf(&own.arena, "%s" S_FMT, fronts[with], S_ARG(body)), &v);
            CHECK(s == OK || s == BAD_INPUT);
        }
    }
}
