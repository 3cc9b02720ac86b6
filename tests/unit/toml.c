/* toml.c - TOML is read as JSON of the same content, or refused with its line. */
#include "core/toml.h"

#include "core/toml_edit.h"

#include "t.h"

/* The value as JSON; names in the test are short. */
static void write_json(struct json_out *w, const struct json *v)
{
    if (v->type == JSON_STRING) {
        json_str(w, json_string(v));
    } else if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        json_open(w, v->type == JSON_OBJECT ? '{' : '[');
        for (const struct json *item = v->first; item; item = item->next) {
            if (v->type == JSON_OBJECT)
                json_key(w, str_c(w->b->arena, json_name(item)));
            write_json(w, item);
        }
        json_close(w, v->type == JSON_OBJECT ? '}' : ']');
    } else {
        json_raw(w, v->source);
    }
}

static const struct {
    const char *toml, *json;
} good[] = {
    {"", "{}"},
    {"# only a comment", "{}"},
    {"\xEF\xBB\xBFport = 1", "{\"port\":1}"},
    {"a = 1\r\nb = 2\r\n", "{\"a\":1,\"b\":2}"},
    {"  a\t=\t1  # one\n\n\n b=2", "{\"a\":1,\"b\":2}"},
    /* keys */
    {"bare_key-1 = 1\n1234 = 2", "{\"bare_key-1\":1,\"1234\":2}"},
    {"\"a b\" = 1\n'c \"d\"' = 2\n\"\" = 3\n\"\\u00e9\" = 4",
     "{\"a b\":1,\"c \\\"d\\\"\":2,\"\":3,\"\xC3\xA9\":4}"},
    {"a.b = 1\na . \"c d\" . e = 2", "{\"a\":{\"b\":1,\"c d\":{\"e\":2}}}"},
    {"3.1 = 4", "{\"3\":{\"1\":4}}"},
    /* strings */
    {"a = \"x # no comment\"", "{\"a\":\"x # no comment\"}"},
    {"a = \"\\b\\t\\n\\f\\r\\\"\\\\ \\u20AC \\U0001F600\"",
     "{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\ \xE2\x82\xAC \xF0\x9F\x98\x80\"}"},
    {"a = 'C:\\x \"y\"'", "{\"a\":\"C:\\\\x \\\"y\\\"\"}"},
    {"a = \"\"\"\nx\ny\"\"\"", "{\"a\":\"x\\ny\"}"},
    {"a = \"\"\"x \\\n\n   y \\\r\n z\"\"\"", "{\"a\":\"x y z\"}"},
    {"a = \"\"\"say \"\"hi\"\"\"\"\"", "{\"a\":\"say \\\"\\\"hi\\\"\\\"\"}"},
    {"a = '''\nI'm \\d'''''", "{\"a\":\"I'm \\\\d''\"}"},
    {"a = \"\"\nb = ''\nc = \"\"\"\"\"\"", "{\"a\":\"\",\"b\":\"\",\"c\":\"\"}"},
    /* numbers and truths */
    {"a = [0, +99, -17, 1_000, -0]", "{\"a\":[0,99,-17,1000,-0]}"},
    {"a = [0xDEAD_beef, 0o755, 0b1101]", "{\"a\":[3735928559,493,13]}"},
    {"a = [9223372036854775807, -9223372036854775808]",
     "{\"a\":[9223372036854775807,-9223372036854775808]}"},
    {"a = [+1.0, 3.1_4, -0.01, 5e+22, 1E06, -2e-2, 6.6e-3, 0e5]",
     "{\"a\":[1.0,3.14,-0.01,5e+22,1e06,-2e-2,6.6e-3,0e5]}"},
    {"a = true\nb = false", "{\"a\":true,\"b\":false}"},
    /* arrays and inline tables */
    {"a = [ [1, 2], [\"x\"], ] # mixed\n", "{\"a\":[[1,2],[\"x\"]]}"},
    {"a = [\n  # first\n  1, # one\n\n  2\n]", "{\"a\":[1,2]}"},
    {"a = []", "{\"a\":[]}"},
    {"a = { b = 1, c.d = \"x\", c.e = { } }", "{\"a\":{\"b\":1,\"c\":{\"d\":\"x\",\"e\":{}}}}"},
    {"a = [{x = 1}, {x = 2}]", "{\"a\":[{\"x\":1},{\"x\":2}]}"},
    /* tables */
    {"[a]\nb = 1\n[c]\nd = 2", "{\"a\":{\"b\":1},\"c\":{\"d\":2}}"},
    {"[ a . 'b c' ] # x\nd = 1", "{\"a\":{\"b c\":{\"d\":1}}}"},
    {"[a.b]\nc = 1\n[a]\nd = 2", "{\"a\":{\"b\":{\"c\":1},\"d\":2}}"},
    {"[f]\na.c = 1\na.t.s = true\n[f.a.x]\ny = 2",
     "{\"f\":{\"a\":{\"c\":1,\"t\":{\"s\":true},\"x\":{\"y\":2}}}}"},
    {"[[u]]\nn = 1\n[[u]]\n[[u]]\nn = 3", "{\"u\":[{\"n\":1},{},{\"n\":3}]}"},
    {"[[f]]\nn=1\n[f.p]\nc=2\n[[f.v]]\nn=3\n[[f.v]]\nn=4\n[[f]]\n[[f.v]]\nn=5",
     "{\"f\":[{\"n\":1,\"p\":{\"c\":2},\"v\":[{\"n\":3},{\"n\":4}]},{\"v\":[{\"n\":5}]}]}"},
    {"a = \"\\u0000\"", "{\"a\":\"\xEF\xBF\xBD\"}"},
};

TEST(toml_is_read_as_json_of_the_same_content)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct json *v, *again;
        struct buf b = buf_make(&ctx->arena, 4096);
        struct json_out w = json_to(&b);
        CHECK_OK(toml_parse(ctx, str_of(good[i].toml), &v));
        write_json(&w, v);
        CHECK_STR(buf_str(&b), str_of(good[i].json));
        CHECK_OK(json_parse(ctx, buf_str(&b), &again));
        CHECK_INT(again->n, v->n);
    }
}

static const struct {
    const char *toml;
    int line;
    const char *why;
} bad[] = {
    /* keys and lines */
    {"a", 1, "'='"},
    {"a =", 1, "a value is expected"},
    {"= 1", 1, "a key is expected"},
    {"a = 1 b = 2", 1, "same line"},
    {"\na.b. = 1", 2, "a key is expected"},
    {"a = 1\na = 2", 2, "twice: 'a'"},
    {"\"a\" = 1\n'a' = 2", 2, "twice"},
    {"a b = 1", 1, "'='"},
    {"\"\"\"a\"\"\" = 1", 1, "'='"},
    {"a = 1\na.b = 2", 2, "already"},
    {"a.b = 1\na = 2", 2, "twice"},
    {"# \x01\n", 1, "control character"},
    {"a = 1\r", 1, "same line"},
    /* strings */
    {"a = \"x\n\"", 1, "does not end"},
    {"a = \"x", 1, "does not end"},
    {"a = 'x", 1, "does not end"},
    {"\na = \"\"\"x\n\"\"", 3, "does not end"},
    {"a = '''x''", 1, "does not end"},
    {"a = \"\\q\"", 1, "unknown escape"},
    {"a = \"\\u12\"", 1, "hex digits"},
    {"a = \"\\ud800\"", 1, "not a character"},
    {"a = \"\\U00110000\"", 1, "not a character"},
    {"a = \"\x02\"", 1, "control character"},
    {"a = '\x7F'", 1, "control character"},
    {"a = \"\"\"\x03\"\"\"", 1, "control character"},
    {"a = x", 1, "needs quotes"},
    {"a = yes", 1, "needs quotes"},
    {"a = True", 1, "needs quotes"},
    /* numbers, and what has no place in JSON */
    {"a = 01", 1, "not a number"},
    {"a = 0_1", 1, "not a number"},
    {"a = 1__0", 1, "not a number"},
    {"a = _1", 1, "not a number"},
    {"a = 1_", 1, "not a number"},
    {"a = 1.", 1, "not a number"},
    {"a = .5", 1, "not a number"},
    {"a = 1._5", 1, "not a number"},
    {"a = 1.e5", 1, "not a number"},
    {"a = 1e", 1, "not a number"},
    {"a = ++1", 1, "not a number"},
    {"a = +0x1", 1, "not a number"},
    {"a = 0X1", 1, "not a number"},
    {"a = 0x", 1, "not a number"},
    {"a = 0b2", 1, "not a number"},
    {"a = 9223372036854775808", 1, "not a number"},
    {"a = 0xFFFFFFFFFFFFFFFF", 1, "not a number"},
    {"a = inf", 1, "needs quotes"},
    {"a = nan", 1, "needs quotes"},
    {"a = 1979-05-27", 1, "dates"},
    {"a = 1979-05-27T07:32:00Z", 1, "dates"},
    {"a = 07:32:00", 1, "dates"},
    /* arrays and inline tables */
    {"a = [1 2]", 1, "',' or ']'"},
    {"a = [1,\n2\n", 3, "',' or ']'"},
    {"a = [,]", 1, "a value"},
    {"a = [1,,2]", 1, "a value"},
    {"a = {b = 1,}", 1, "a key"},
    {"a = {b = 1\n}", 1, "',' or '}'"},
    {"a = {b = 1, b = 2}", 1, "twice"},
    {"a = {b = 1}\n[a]", 2, "twice"},
    {"a = {b = 1}\na.c = 2", 2, "already"},
    {"a = {b.c = 1}\n[a.b]", 2, "already"},
    {"a = [{b = 1}]\n[a.b]", 2, "already"},
    /* tables */
    {"[a", 1, "']'"},
    {"[]", 1, "a key"},
    {"[a] b = 1", 1, "same line"},
    {"[a]\n[a]", 2, "twice: 'a'"},
    {"[a]\nb = 1\n[a.b]", 3, "twice"},
    {"a = 1\n[a]", 2, "twice"},
    {"a = 1\n[a.b]", 2, "a value already"},
    {"[f]\na.c = 1\n[f.a]", 3, "twice"},
    {"[a.b.c]\nz = 9\n[a]\nb.d = 1", 4, "already"},
    {"[[a]]\n[a]", 2, "twice"},
    {"[a]\n[[a]]", 2, "list of tables"},
    {"a = []\n[[a]]", 2, "list of tables"},
    {"[[a]", 1, "']]'"},
    {"[ [a]]", 1, "a key"},
};

TEST(what_is_not_toml_is_refused_with_its_line)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json *v;
        char line[40];
        snprintf(line, sizeof line, "not valid TOML: line %d: ", bad[i].line);
        ctx_clear_failure(ctx);
        enum status s = toml_parse(ctx, str_of(bad[i].toml), &v);
        if (s != BAD_INPUT || !str_starts(str_of(ctx->why), str_of(line)) ||
            !holds(str_of(ctx->why), bad[i].why))
            fail_msg("%s: %s", bad[i].toml, ctx->why);
    }
}

TEST(text_that_is_not_utf8_is_refused)
{
    struct json *v;
    CHECK_STATUS(toml_parse(ctx, S("a = \"\xC3\""), &v), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "not UTF-8"));
}

static str repeated(struct ctx *ctx, const char *before, const char *one, int n)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_add(&b, str_of(before));
    for (int i = 0; i < n; i++)
        buf_add(&b, str_of(one));
    return buf_str(&b);
}

TEST(depth_and_number_of_values_are_limited)
{
    struct json *v;
    CHECK_STATUS(toml_parse(ctx, repeated(ctx, "a = ", "[", 100000), &v), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "nested too deep"));
    ctx_clear_failure(ctx);
    CHECK_STATUS(toml_parse(ctx, repeated(ctx, "a", ".a", 100000), &v), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "too many dots"));
    ctx_clear_failure(ctx);
    CHECK_STATUS(toml_parse(ctx, repeated(ctx, "a = [", "1,", TOML_VALUES_MAX), &v), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "too many values"));
}

TEST(a_place_has_a_line)
{
    str text = S("a = 1\n\nb = 2");
    struct json *v;
    CHECK_OK(toml_parse(ctx, text, &v));
    CHECK_INT(text_line(text, json_name(v->first->next).p), 3);
    CHECK_INT(text_line(text, "elsewhere"), 0);
    CHECK_INT(text_line(text, NULL), 0);
}

TEST(a_value_is_changed_and_all_else_stays)
{
    static const struct {
        const char *before, *value, *after;
    } cases[] = {
        {"", "1", "k = 1\n"},
        {"# head\n", "1", "# head\nk = 1\n"},
        {"a = 2", "1", "a = 2\nk = 1\n"},
        {"a = 2 # two\n\n# about t\n[t]\nk = 9\n", "1",
         "a = 2 # two\nk = 1\n\n# about t\n[t]\nk = 9\n"},
        {"# top\n\n# about t\n[t]\nk = 9\n", "1", "# top\n\nk = 1\n# about t\n[t]\nk = 9\n"},
        {"k = 2 # why\n", "1", "k = 1 # why\n"},
        {"k=+1_000# why\n", "\"x\"", "k=\"x\"# why\n"},
        {"k = 0x10", "1", "k = 1"},
        {"'k' = \"old\"\r\nb = 1\r\n", "\"new\"", "'k' = \"new\"\r\nb = 1\r\n"},
        {"k = \"\"\"\na\nb\"\"\" # why\n", "1", "k = 1 # why\n"},
        {"k = [ # list\n 1,\n]\nb = 2\n", "3", "k = 3\nb = 2\n"},
        {"k = true\n[t]\n", "false", "k = false\n[t]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = buf_make(&ctx->arena, 4096);
        CHECK_OK(toml_set(ctx, str_of(cases[i].before), "k", str_of(cases[i].value), &b));
        CHECK_STR(buf_str(&b), str_of(cases[i].after));
    }
}

TEST(a_table_is_not_changed_into_a_value)
{
    static const char *const texts[] = {"[k]\na = 1", "[[k]]\na = 1", "k.a = 1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf b = buf_make(&ctx->arena, 4096);
        ctx_clear_failure(ctx);
        CHECK_STATUS(toml_set(ctx, str_of(texts[i]), "k", S("1"), &b), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), S("k"));
    }
}
