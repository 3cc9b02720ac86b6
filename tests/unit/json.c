/* json.c - reading and writing JSON. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"

#include "t.h"

static struct json *parse(struct ctx *ctx, const char *text)
{
    struct json *v = NULL;
    CHECK_OK(json_parse(ctx, str_of(text), &v));
    return v;
}

TEST(every_value_knows_its_bytes)
{
    struct json *v =
        parse(ctx, " {\"a\" : [1.10, 1e2 ,{\"b\":null}], \"c\":\"x\\u00e9\\ud83d\\ude00\"} ");
    CHECK_STR(json_get(v, "a")->source, S("[1.10, 1e2 ,{\"b\":null}]"));
    CHECK_STR(json_at(v, "a.0")->source, S("1.10"));
    CHECK_STR(json_at(v, "a.2")->source, S("{\"b\":null}"));
    CHECK_STR(json_string(json_get(v, "c")), S("x\xC3\xA9\xF0\x9F\x98\x80"));
    CHECK_STR(json_get(v, "c")->source, S("\"x\\u00e9\\ud83d\\ude00\""));
    CHECK(json_at(v, "a.2.b")->type == JSON_NULL);
    CHECK(json_at(v, "a.9") == NULL);
    CHECK(json_at(v, "nothing.at.all") == NULL);
}

TEST(the_last_of_two_members_counts)
{
    CHECK_INT(json_int_or(json_get(parse(ctx, "{\"a\":1,\"a\":2}"), "a"), 0), 2);
}

TEST(lone_surrogates_and_nul_are_replaced)
{
    CHECK_STR(json_string(parse(ctx, "\"\\ud800x\\u0000\"")), S("\xEF\xBF\xBDx\xEF\xBF\xBD"));
}

TEST(bad_texts_are_refused_with_their_byte)
{
    static const char *const bad[] = {
        "",         "{",  "[1,]",   "{\"a\":}",   "{a:1}",       "01",
        "1.",       "+1", "\"\t\"", "\"\\x\"",    "nul",         "[1] 2",
        "\"\xC3\"", "-",  ".5",     "{\"a\":1,}", "[\"\\u12\"]", "\xEF\xBB\xBF{}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json *v;
        ctx_clear_failure(ctx);
        CHECK_STATUS(json_parse(ctx, str_of(bad[i]), &v), BAD_INPUT);
        CHECK(str_starts(str_of(ctx->why), S("not valid JSON: ")));
    }
}

TEST(depth_is_limited)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    struct json *v;
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_byte(&b, '[');
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_byte(&b, ']');
    CHECK_OK(json_parse(ctx, buf_str(&b), &v));
    buf_clear(&b);
    for (int i = 0; i < 200000; i++)
        buf_byte(&b, '[');
    CHECK_STATUS(json_parse(ctx, buf_str(&b), &v), BAD_INPUT);
}

/* "[0,0,…]", with so many values beside the array, and spaces behind it. */
static str zeros(struct ctx *ctx, size_t values, size_t spaces)
{
    struct buf b = buf_make(&ctx->arena, 2 * values + spaces + 8);
    buf_add(&b, S("[0"));
    for (size_t i = 1; i < values; i++)
        buf_add(&b, S(",0"));
    buf_byte(&b, ']');
    for (size_t i = 0; i < spaces; i++)
        buf_byte(&b, ' ');
    return buf_str(&b);
}

/* A long text may have more of them, so that its memory is a few times its size. */
TEST(values_are_limited_by_number_and_by_the_size_of_the_text)
{
    enum { MORE = 1000 };
    const size_t max = JSON_VALUES_MAX, long_text = (max + MORE) * JSON_BYTES_A_VALUE;
    struct json *v;
    CHECK_OK(json_parse(ctx, zeros(ctx, max, 0), &v));
    CHECK_INT(v->n, max);
    CHECK_STATUS(json_parse(ctx, zeros(ctx, max + 1, 0), &v), TOO_LARGE);
    CHECK(str_find(str_of(ctx->why), S("more than 1000000 values")) < strlen(ctx->why));
    ctx_clear_failure(ctx);
    str many = zeros(ctx, max + MORE, long_text);
    struct ctx own = {0};
    CHECK_OK(json_parse(&own, many, &v));
    CHECK_INT(v->n, max + MORE);
    CHECK(own.arena.total < 4 * many.n);
    ctx_free(&own);
}

TEST(members_and_elements_have_their_texts_with_and_without_escapes)
{
    struct json *v =
        parse(ctx, "{\"a\\n\":\"b\",\"c\":\"d\\t\",\"\\u0065\":\"\\/\",\"\":[\"f\",\"\\\\\"]}");
    static const char *const names[] = {"a\n", "c", "e", ""}, *const texts[] = {"b", "d\t", "/",
                                                                                ""};
    int i = 0;
    for (const struct json *m = v->first; m; m = m->next, i++) {
        CHECK_STR(json_name(m), str_of(names[i]));
        CHECK_STR(json_string(m), str_of(texts[i]));
    }
    CHECK_INT(i, 4);
    const struct json *list = json_get(v, "");
    CHECK_STR(json_name(list->first), S(""));
    CHECK_STR(json_string(list->first), S("f"));
    CHECK_STR(json_name(list->first->next), S(""));
    CHECK_STR(json_string(list->first->next), S("\\"));
}

TEST(a_text_that_was_never_set_is_written_as_an_empty_one)
{
    struct buf b = buf_make(&ctx->arena, 64);
    struct json_out w = json_to(&b);
    json_str(&w, (str){0});
    CHECK_STR(buf_str(&b), S("\"\""));
}

TEST(what_is_written_reads_back)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "s");
    json_str(&w, S("a\"b\\c\n\x01\xC3\xA9\xFF"));
    json_key(&w, "l");
    json_open(&w, '[');
    json_int(&w, -5);
    json_num(&w, 0.1);
    json_bool(&w, true);
    json_null(&w);
    json_time(&w, 1500);
    json_time(&w, -62167219200000);
    json_time(&w, -62167219200001);
    json_close(&w, ']');
    json_close(&w, '}');
    CHECK_STR(buf_str(&b),
              S("{\"s\":\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\xEF\xBF\xBD\",\"l\":[-5,0.1,true,null,"
                "\"1970-01-01T00:00:01.500Z\",\"0000-01-01T00:00:00.000Z\",null]}"));
    struct json *v;
    CHECK_OK(json_parse(ctx, buf_str(&b), &v));
    CHECK_STR(json_string(json_get(v, "s")), S("a\"b\\c\n\x01\xC3\xA9\xEF\xBF\xBD"));
}

/* With as few digits as read back as the same number, and an exponent where those are fewer than
 * its places before the point. */
TEST(a_number_is_written_as_short_as_it_can_be)
{
    static const double some[] = {0,    -0.5,  100000, 999999, 1e6,     1234567,   123456000, 1e22,
                                  1e-4, 1e-05, 0.1,    2.5e-7, 1.0 / 3, 1e300 * 3, 5e-324};
    enum { SOME = sizeof some / sizeof *some, RANDOM = 2000 };
    uint64_t random = 7;
    for (int i = 0; i < SOME + RANDOM; i++) {
        struct buf b = buf_make(&ctx->arena, 64);
        struct json_out w = json_to(&b);
        char shortest[40];
        random = random * 6364136223846793005U + 1442695040888963407U;
        double v = (double)(int64_t)random / (double)(1ULL << (random >> 58));
        v = i < SOME ? some[i] : i % 3 ? v : floor(v * 1e-12) * 1e-3;
        for (int digits = 6; digits <= 17; digits++) {
            snprintf(shortest, sizeof shortest, "%.*g", digits, v);
            if (strtod(shortest, NULL) == v)
                break;
        }
        json_num(&w, v);
        CHECK_STR(buf_str(&b), str_of(shortest));
    }
}

TEST(no_text_at_all_is_no_json)
{
    struct json *root;
    CHECK_STATUS(json_parse(ctx, (str){0}, &root), BAD_INPUT);
}

/* What log_event writes of one value. */
static str logged_as(struct ctx *ctx, bool as_json, const char *value)
{
    char line[8000];
    int ends[2], own = dup(STDERR_FILENO);
    CHECK(own >= 0 && pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    log_setup(LOG_INFO, as_json);
    log_event(LOG_INFO, "test", "value=\"%s\" more=1", value);
    log_setup(LOG_INFO, false);
    dup2(own, STDERR_FILENO);
    ssize_t n = read(ends[0], line, sizeof line);
    CHECK(n > 0);
    close(own);
    close(ends[0]);
    close(ends[1]);
    return str_dup(&ctx->arena, (str){line, (size_t)n});
}

static str logged(struct ctx *ctx, const char *value)
{
    return logged_as(ctx, true, value);
}

TEST(a_value_of_the_log_forges_neither_a_member_nor_a_line)
{
    static const char value[] = "x\" more=2 at=\"\\\n\x01 more=3 \xC2\x9B\xC3\x9B";
    struct json *v;
    str line = logged_as(ctx, false, value);
    CHECK(
        str_ends(line,
                 S(" info test value=\"x\\\" more=2 at=\\\"\\\\   more=3   \xC3\x9B\" more=1\n")));
    CHECK_OK(json_parse(ctx, logged(ctx, value), &v));
    CHECK_STR(json_string(json_get(v, "value")), S("x\" more=2 at=\"\\   more=3   \xC3\x9B"));
    CHECK_INT(json_int_or(json_get(v, "more"), 0), 1);
    CHECK_INT(v->n, 5);
}

TEST(log_lines_are_whole_whatever_is_in_them)
{
    static const char pairs[] = "\" = = = = = = ";
    char value[2000] = "";
    struct json *v;
    memset(value, 0xFF, sizeof value - 1);
    CHECK_OK(json_parse(ctx, logged(ctx, value), &v));
    for (size_t i = 0; i < sizeof value - 1; i++)
        value[i] = pairs[i % (sizeof pairs - 1)];
    CHECK_OK(json_parse(ctx, logged(ctx, value), &v));
    CHECK_OK(json_parse(ctx, logged(ctx, "a \"b\" \\ c"), &v));
}
