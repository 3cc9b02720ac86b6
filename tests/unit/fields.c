/* fields.c - structs read, checked, written and described by their tables. */
#include "base/fields.h"

#include <math.h>

#include "t.h"

struct inner {
    int64_t depth;
};
struct sample {
    str name, kind;
    int64_t limit, when;
    double share;
    bool on;
    const struct json *any;
    struct strs tags;
    struct inner inner;
};
static const char *const kinds[] = {"red", "blue", NULL};
static const struct field inner_fields[] = {{INT(struct inner, depth), .otherwise = 3}, {0}};
static const struct field sample_fields[] = {
    {STR(struct sample, name), .required = true, .min = 1, .max = 5, .help = "its name"},
    {STR(struct sample, kind), .one_of = kinds, .otherwise_str = "red"},
    {INT(struct sample, limit), .min = 1, .max = 100, .otherwise = 10},
    {AS_TIME(struct sample, when, "whenAt")},
    {NUM(struct sample, share), .max = 1},
    {BOOL(struct sample, on), .otherwise = 1},
    {JSON(struct sample, any)},
    {STRS(struct sample, tags)},
    {FIELD_(struct sample, inner, struct inner, FIELD_OBJECT, "inner"), .inside = inner_fields},
    {0},
};

/* Two dialects of one struct, and an enum and a switch in it. */
enum colour { RED, BLUE, COLOUR_COUNT };
struct lamp {
    enum colour colour, last;
    bool is_lit;
    int64_t level;
};
static const struct field lamp_fields[] = {
    {ENUM(struct lamp, colour), .one_of = kinds, .otherwise_str = "blue", .help = "its colour"},
    {ENUM(struct lamp, last), .one_of = kinds, .otherwise = COLOUR_COUNT, .empty = EMPTY_NULL},
    {FIELD_(struct lamp, is_lit, bool, FIELD_SWITCH, "is_lit"), .one_of = on_off_names,
     .otherwise_str = "on"},
    {INT(struct lamp, level), .min = 1, .max = 9, .otherwise = 5},
    {0},
};
static const struct field wire_fields[] = {
    {AS_ENUM(struct lamp, colour, "theColour"), .like = &lamp_fields[0]},
    {AS_INT(struct lamp, level, "theLevel"), .like = &lamp_fields[3], .clamps = true},
    {0},
};

static str written(struct ctx *ctx, const struct field *table, const void *in)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    struct json_out w = json_to(&b);
    fields_write(&w, table, in);
    return buf_str(&b);
}

static enum status read_lamp(struct ctx *ctx, const struct field *table, const char *text,
                             struct lamp *out)
{
    struct json *v;
    ctx_clear_failure(ctx);
    CHECK_OK(json_parse(ctx, str_of(text), &v));
    return fields_read(ctx, table, v, true, out);
}

TEST(an_enum_is_a_name_outside_and_a_number_inside)
{
    struct lamp l;
    CHECK_OK(read_lamp(ctx, lamp_fields, "{}", &l));
    CHECK(l.colour == BLUE && l.last == COLOUR_COUNT && l.is_lit);
    CHECK_STR(written(ctx, lamp_fields, &l),
              S("{\"colour\":\"blue\",\"last\":null,\"is_lit\":\"on\",\"level\":5}"));
    CHECK_OK(read_lamp(ctx, lamp_fields,
                       "{\"colour\":\"red\",\"last\":\"blue\",\"is_lit\":\"off\"}", &l));
    CHECK(l.colour == RED && l.last == BLUE && !l.is_lit);
    CHECK_STATUS(read_lamp(ctx, lamp_fields, "{\"colour\":\"green\"}", &l), BAD_INPUT);
    CHECK_STR(str_of(ctx->why), S("must be one of: red, blue"));
    CHECK_STATUS(read_lamp(ctx, lamp_fields, "{\"is_lit\":\"yes\"}", &l), BAD_INPUT);
    CHECK_STR(str_of(ctx->why), S("must be one of: on, off"));
    CHECK_STATUS(read_lamp(ctx, lamp_fields, "{\"colour\":1}", &l), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_OK(fields_set(ctx, lamp_fields, S("is_lit"), S("on"), &l));
    CHECK_OK(fields_set(ctx, lamp_fields, S("last"), S("red"), &l));
    CHECK(l.is_lit && l.last == RED);
    CHECK_STR(field_choice(&lamp_fields[2], &l), S("on"));
}

TEST(an_enum_is_described_by_its_names)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    struct json_out w = json_to(&b);
    field_schema(&w, &lamp_fields[0], SCHEMA_INPUT, NULL);
    field_schema(&w, &lamp_fields[2], SCHEMA_INPUT, NULL);
    CHECK_STR(buf_str(&b),
              S("{\"type\":\"string\",\"enum\":[\"red\",\"blue\"],\"default\":\"blue\","
                "\"description\":\"its colour\"},"
                "{\"type\":\"string\",\"enum\":[\"on\",\"off\"],\"default\":\"on\"}"));
}

TEST(a_row_that_is_like_another_has_its_rules_under_a_name_of_its_own)
{
    struct lamp l;
    CHECK_OK(read_lamp(ctx, wire_fields, "{\"theLevel\":99}", &l));
    CHECK(l.level == 9 && l.colour == BLUE);
    CHECK_OK(read_lamp(ctx, wire_fields, "{\"theLevel\":-99,\"theColour\":\"red\"}", &l));
    CHECK_STR(written(ctx, wire_fields, &l), S("{\"theColour\":\"red\",\"theLevel\":1}"));
    CHECK_STATUS(read_lamp(ctx, wire_fields, "{\"theColour\":\"green\"}", &l), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("theColour"));
    CHECK_STATUS(read_lamp(ctx, wire_fields, "{\"level\":1}", &l), BAD_INPUT);
}

TEST(an_object_of_one_dialect_is_translated)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    struct json_out w = json_to(&b);
    struct json *v;
    CHECK_OK(json_parse(ctx, S("{\"theLevel\":1e3,\"theColour\":null}"), &v));
    fields_translate(&w, wire_fields, v);
    CHECK_STR(buf_str(&b), S("{\"level\":9,\"colour\":null}"));
}

TEST(a_field_that_is_missing_is_known_as_such)
{
    struct sample s;
    struct json *v;
    CHECK_OK(json_parse(ctx, S("{}"), &v));
    CHECK_STATUS(fields_read(ctx, sample_fields, v, true, &s), BAD_INPUT);
    CHECK(ctx->is_missing);
    ctx_clear_failure(ctx);
    CHECK(!ctx->is_missing);
}

static enum status read(struct ctx *ctx, const char *text, struct sample *out)
{
    struct json *v;
    ctx_clear_failure(ctx);
    CHECK_OK(json_parse(ctx, str_of(text), &v));
    return fields_read(ctx, sample_fields, v, true, out);
}

TEST(defaults_stand_where_nothing_is_said)
{
    struct sample s;
    CHECK_OK(read(ctx, "{\"name\":\"a\",\"limit\":null}", &s));
    CHECK_STR(s.kind, S("red"));
    CHECK_INT(s.limit, 10);
    CHECK(s.on);
    CHECK_INT(s.inner.depth, 0 + 3);
}

TEST(everything_said_is_read)
{
    struct sample s;
    CHECK_OK(read(ctx,
                  "{\"name\":\"abc\",\"kind\":\"blue\",\"limit\":1e2,\"whenAt\":\"2026-11-20T01:00:"
                  "00+01:00\","
                  "\"share\":0.5,\"on\":false,\"any\":{\"x\":[1]},\"tags\":[\"p\",\"q\"],\"inner\":"
                  "{\"depth\":9}}",
                  &s));
    CHECK_STR(s.kind, S("blue"));
    CHECK_INT(s.limit, 100);
    CHECK_INT(s.when, 1795132800000);
    CHECK(s.share == 0.5 && !s.on);
    CHECK_STR(s.any->source, S("{\"x\":[1]}"));
    CHECK_INT(s.tags.n, 2);
    CHECK_INT(s.inner.depth, 9);
}

TEST(a_broken_rule_names_field_and_rule)
{
    static const struct {
        const char *text, *field, *why;
    } bad[] = {
        {"{}", "name", "is required"},
        {"{\"name\":\"\"}", "name", "must not be empty"},
        {"{\"name\":\"abcdef\"}", "name", "must have at most 5 bytes, has 6"},
        {"{\"name\":1}", "name", "must be a string"},
        {"{\"name\":\"a\",\"kind\":\"green\"}", "kind", "must be one of: red, blue"},
        {"{\"name\":\"a\",\"limit\":0}", "limit", "must be from 1 to 100"},
        {"{\"name\":\"a\",\"limit\":1.5}", "limit", "must be a whole number"},
        {"{\"name\":\"a\",\"whenAt\":\"soon\"}", "whenAt", "must be an ISO 8601 date or time"},
        {"{\"name\":\"a\",\"on\":1}", "on", "must be true or false"},
        {"{\"name\":\"a\",\"tags\":[1]}", "tags", "must be an array of strings"},
        {"{\"name\":\"a\",\"what\":1}", "what", "is not a known field"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sample s;
        CHECK_STATUS(read(ctx, bad[i].text, &s), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), str_of(bad[i].field));
        CHECK_STR(str_of(ctx->why), str_of(bad[i].why));
    }
}

TEST(text_sets_a_field_under_the_same_rules)
{
    struct sample s = {0};
    CHECK_OK(fields_set(ctx, sample_fields, S("limit"), S("7"), &s));
    CHECK_OK(fields_set(ctx, sample_fields, S("on"), S("yes"), &s));
    CHECK_OK(fields_set(ctx, sample_fields, S("tags"), S("a, b"), &s));
    CHECK(s.limit == 7 && s.on && s.tags.n == 2);
    CHECK_STATUS(fields_set(ctx, sample_fields, S("limit"), S("many"), &s), BAD_INPUT);
    CHECK_OK(fields_set(ctx, sample_fields, S("on"), S("False"), &s));
    CHECK(!s.on);
    CHECK_OK(fields_set(ctx, sample_fields, S("on"), S("True"), &s)); /* as Python writes it */
    CHECK(s.on);
    CHECK_STATUS(fields_set(ctx, sample_fields, S("on"), S("truer"), &s), BAD_INPUT);
}

/* A list of things, as a reply holds it. */
struct listing {
    const struct json *things;
    int64_t when;
};
static const struct field listing_fields[] = {
    {JSON(struct listing, things), .inside = sample_fields},
    {TIME(struct listing, when)},
    {0},
};

TEST(the_schema_of_a_reply_knows_lists_and_missing_times)
{
    struct buf b = buf_make(&ctx->arena, 8192), c = buf_make(&ctx->arena, 8192);
    struct json_out w = json_to(&b), x = json_to(&c);
    struct json *v;
    fields_schema(&w, listing_fields, SCHEMA_INPUT, NULL);
    CHECK_OK(json_parse(ctx, buf_str(&b), &v));
    CHECK_STR(json_string(json_at(v, "properties.things.type")), S("array"));
    CHECK_STR(json_string(json_at(v, "properties.things.items.type")), S("object"));
    CHECK_STR(json_string(json_at(v, "properties.when.type.1")), S("null"));
    fields_schema(&x, listing_fields, SCHEMA_STRICT, NULL);
    CHECK_OK(json_parse(ctx, buf_str(&c), &v));
    CHECK_STR(json_string(json_at(v, "properties.when.type")), S("string"));
}

TEST(the_schema_tells_what_the_reader_checks)
{
    struct buf b = buf_make(&ctx->arena, 8192);
    struct json_out w = json_to(&b);
    struct json *v;
    fields_schema(&w, sample_fields, SCHEMA_STRICT, NULL);
    CHECK_OK(json_parse(ctx, buf_str(&b), &v));
    CHECK_INT(json_int_or(json_at(v, "properties.limit.maximum"), 0), 100);
    CHECK_STR(json_string(json_at(v, "properties.kind.enum.1")), S("blue"));
    CHECK_STR(json_string(json_at(v, "required.0")), S("name"));
    CHECK(json_get(v, "additionalProperties") &&
          !json_is_true(json_get(v, "additionalProperties")));
}

/* What an answer may leave empty, each in its three ways. */
struct sparse {
    str text, text_null, text_out;
    int64_t count_null;
    double number_null, number_out;
    const struct json *any_out;
    struct strs list_out;
};
static const struct field sparse_fields[] = {
    {STR(struct sparse, text)},
    {STR(struct sparse, text_null), .one_of = kinds, .empty = EMPTY_NULL},
    {STR(struct sparse, text_out), .empty = EMPTY_OUT},
    {INT(struct sparse, count_null), .empty = EMPTY_NULL},
    {NUM(struct sparse, number_null), .empty = EMPTY_NULL},
    {NUM(struct sparse, number_out), .empty = EMPTY_OUT},
    {JSON(struct sparse, any_out), .empty = EMPTY_OUT},
    {STRS(struct sparse, list_out), .empty = EMPTY_OUT},
    {0},
};

TEST(an_empty_value_stands_is_null_or_is_left_out)
{
    struct buf b = buf_make(&ctx->arena, 8192);
    struct json_out w = json_to(&b);
    struct sparse none = {.number_null = NAN, .number_out = NAN};
    fields_write(&w, sparse_fields, &none);
    CHECK_STR(buf_str(&b),
              S("{\"text\":\"\",\"text_null\":null,\"count_null\":null,\"number_null\":null}"));

    struct json one = {.type = JSON_BOOL, .source = S("true")};
    struct sparse full = {.text_null = S("red"),
                          .text_out = S("b"),
                          .count_null = 1,
                          .any_out = &one,
                          .list_out = {(str[]){S("x")}, 1}};
    buf_clear(&b);
    w = json_to(&b);
    fields_write(&w, sparse_fields, &full);
    CHECK_STR(buf_str(&b),
              S("{\"text\":\"\",\"text_null\":\"red\",\"text_out\":\"b\",\"count_null\":1,"
                "\"number_null\":0,\"number_out\":0,\"any_out\":true,\"list_out\":[\"x\"]}"));
}

TEST(the_schema_says_what_may_be_null)
{
    struct buf b = buf_make(&ctx->arena, 8192);
    struct json_out w = json_to(&b);
    struct json *v;
    fields_schema(&w, sparse_fields, SCHEMA_STRICT, NULL);
    CHECK_OK(json_parse(ctx, buf_str(&b), &v));
    CHECK_STR(json_string(json_at(v, "properties.text.type")), S("string"));
    CHECK_STR(json_string(json_at(v, "properties.text_null.type.1")), S("null"));
    CHECK(json_at(v, "properties.text_null.enum.2")->type == JSON_NULL);
    CHECK_STR(json_string(json_at(v, "properties.count_null.type.0")), S("integer"));
    CHECK_STR(json_string(json_at(v, "properties.text_out.type")), S("string"));
}
