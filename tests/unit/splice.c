/* splice.c - a body changes where it should and nowhere else. */
#include "surface/proxy/splice.h"

#include "core/settings.h"
#include "t.h"

static str spliced(struct ctx *ctx, str body, enum placement where, bool no_system, str text)
{
    struct json *root;
    CHECK_OK(json_parse(ctx, body, &root));
    const struct json *messages = json_get(root, "messages"), *at = messages->first;
    while (at->next)
        at = at->next;
    struct splice s = {.arena = &ctx->arena, .body = body};
    struct block block = {text, where, no_system};
    splice_block(&s, root, messages, at, &block);
    str out = splice_done(&s);
    CHECK_OK(json_parse(ctx, out, &root));
    return out;
}

/* The message with a text as a part of its own; "" when it cannot have one. */
static str with_part(struct ctx *ctx, str message, str text)
{
    struct json *m;
    struct splice s = {.arena = &ctx->arena, .body = message};
    CHECK_OK(json_parse(ctx, message, &m));
    if (!splice_part(&s, m, text))
        return S("");
    str out = splice_done(&s);
    CHECK_OK(json_parse(ctx, out, &m));
    return out;
}

TEST(a_part_stands_behind_the_others_and_a_text_becomes_one)
{
    CHECK_STR(with_part(ctx, S("{\"content\" : \"a\\u0041\" ,\"n\":1}"), S("x\"")),
              S("{\"content\" : [{\"type\":\"text\",\"text\":\"a\\u0041\"},"
                "{\"type\":\"text\",\"text\":\"x\\\"\"}] ,\"n\":1}"));
    CHECK_STR(with_part(ctx, S("{\"content\":[ {\"a\":1} ]}"), S("x")),
              S("{\"content\":[ {\"a\":1},{\"type\":\"text\",\"text\":\"x\"} ]}"));
    CHECK_STR(with_part(ctx, S("{\"content\":\"\"}"), S("x")),
              S("{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"));
    CHECK_STR(with_part(ctx, S("{\"content\":[]}"), S("x")),
              S("{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"));
    CHECK_STR(with_part(ctx, S("{\"content\":null}"), S("x")), S(""));
    CHECK_STR(with_part(ctx, S("{}"), S("x")), S(""));
}

TEST(a_suffix_is_escaped_and_stands_before_the_closing_quote)
{
    CHECK_STR(spliced(ctx, S("{\"messages\" : [ {\"content\" :\"a\\u0041\" ,\"role\":\"user\"} ]}"),
                      PLACE_USER_SUFFIX, false, S("x\n\"y\"\\")),
              S("{\"messages\" : [ {\"content\" :\"a\\u0041\\n\\nx\\n\\\"y\\\"\\\\\" "
                ",\"role\":\"user\"} ]}"));
    CHECK_STR(spliced(ctx, S("{\"messages\":[{\"content\":\"\"}]}"), PLACE_USER_SUFFIX, false,
                      S("x")),
              S("{\"messages\":[{\"content\":\"x\"}]}"));
}

TEST(parts_get_one_more_part)
{
    CHECK_STR(spliced(ctx, S("{\"messages\":[{\"content\":[ {\"type\":\"text\"} ]}]}"),
                      PLACE_USER_SUFFIX, false, S("x")),
              S("{\"messages\":[{\"content\":[ {\"type\":\"text\"},"
                "{\"type\":\"text\",\"text\":\"x\"} ]}]}"));
    CHECK_STR(spliced(ctx, S("{\"messages\":[{\"content\":[]}]}"), PLACE_USER_SUFFIX, false,
                      S("x")),
              S("{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}]}"));
}

TEST(a_prefix_stands_behind_the_opening_quote_or_bracket)
{
    CHECK_STR(spliced(ctx, S("{\"messages\":[{\"content\" : \"a\\u0041\"}]}"), PLACE_USER_PREFIX,
                      false, S("x\n\"y\"")),
              S("{\"messages\":[{\"content\" : \"x\\n\\\"y\\\"\\n\\na\\u0041\"}]}"));
    CHECK_STR(spliced(ctx, S("{\"messages\":[{\"content\":[ {\"type\":\"text\"} ]}]}"),
                      PLACE_USER_PREFIX, false, S("x")),
              S("{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"x\"}, "
                "{\"type\":\"text\"} ]}]}"));
    CHECK_STR(spliced(ctx, S("{\"messages\":[{\"content\":[]}]}"), PLACE_USER_PREFIX, true, S("x")),
              S("{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}]}"));
}

TEST(a_message_without_content_gets_the_block_before_it)
{
    str body = S("{\"messages\":[{\"role\":\"user\"}]}");
    CHECK_STR(spliced(ctx, body, PLACE_USER_SUFFIX, false, S("x")),
              S("{\"messages\":[{\"role\":\"system\",\"content\":\"x\"},{\"role\":\"user\"}]}"));
    CHECK_STR(spliced(ctx, body, PLACE_USER_SUFFIX, true, S("x")),
              S("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"user\"}]}"));
}

TEST(the_front_is_left_alone_when_the_body_marks_a_cached_prefix)
{
    str plain = S("{\"messages\":[{\"a\":1},{\"b\":2}],\"x\":\"cache_control\"}");
    str marked = S("{\"messages\":[{\"a\":1},{\"b\":2}],\"x\":[{\"cache_control\":null}]}");
    CHECK_STR(spliced(ctx, plain, PLACE_SYSTEM, false, S("x")),
              S("{\"messages\":[{\"role\":\"system\",\"content\":\"x\"},{\"a\":1},{\"b\":2}],"
                "\"x\":\"cache_control\"}"));
    CHECK_STR(spliced(ctx, marked, PLACE_SYSTEM, false, S("x")),
              S("{\"messages\":[{\"a\":1},{\"role\":\"system\",\"content\":\"x\"},{\"b\":2}],"
                "\"x\":[{\"cache_control\":null}]}"));
    CHECK_STR(spliced(ctx, plain, PLACE_FIRST_USER, false, S("x")),
              S("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"a\":1},{\"b\":2}],"
                "\"x\":\"cache_control\"}"));
}

TEST(cuts_come_out_in_the_order_of_their_places)
{
    str body = S("0123456789");
    struct splice s = {.arena = &ctx->arena, .body = body};
    CHECK_STR(splice_done(&s), body);
    splice_at(&s, body.p + 8, 1, S("eight"));
    splice_at(&s, body.p, 0, S("<"));
    splice_at(&s, body.p + 4, 2, S(""));
    splice_at(&s, body.p + 10, 0, S(">"));
    CHECK_STR(splice_done(&s), S("<012367eight9>"));
}

TEST(a_model_loses_its_prefix_however_it_is_written)
{
    const struct {
        str body, want;
    } cases[] = {
        {S("{\"model\": \"a/b\" }"), S("{\"model\": \"b\" }")},
        {S("{\"model\":\"a\\/b\"}"), S("{\"model\":\"b\"}")},
        {S("{\"model\":\"a/\\u00e9\\\"\"}"), S("{\"model\":\"\xC3\xA9\\\"\"}")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *root;
        CHECK_OK(json_parse(ctx, cases[i].body, &root));
        const struct json *model = json_get(root, "model");
        struct splice s = {.arena = &ctx->arena, .body = cases[i].body};
        splice_model(&s, model, str_sub(json_string(model), 2, json_string(model).n));
        CHECK_STR(splice_done(&s), cases[i].want);
    }
}

TEST(one_version_stands_between_base_and_path)
{
    static const char *const cases[][2] = {
        {"http://a", "http://a/v1/models"},
        {"http://a/v1", "http://a/v1/models"},
        {"http://v1.example", "http://v1.example/v1/models"},
        {"https://a/api/paas/v4", "https://a/api/paas/v4/models"},
        {"https://a/v1beta/openai", "https://a/v1beta/openai/models"},
        {"http://a/openai", "http://a/openai/v1/models"},
        {"http://a/video", "http://a/video/v1/models"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct upstream up = {.url = str_of(cases[i][0])};
        CHECK_STR(upstream_url(&ctx->arena, &up, S("/v1/models"), S("")), str_of(cases[i][1]));
    }
    struct upstream up = {.url = S("http://a")};
    CHECK_STR(upstream_url(&ctx->arena, &up, S("/v1/files"), S("limit=1")),
              S("http://a/v1/files?limit=1"));
}

TEST(a_path_beside_the_version_takes_no_version)
{
    static const char *const cases[][2] = {
        {"http://a", "http://a/api/chat"},
        {"http://a/v1", "http://a/api/chat"},
        {"http://v1.example", "http://v1.example/api/chat"},
        {"http://a/gpu/v1", "http://a/gpu/api/chat"},
        {"http://a/dev1", "http://a/dev1/api/chat"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct upstream up = {.url = str_of(cases[i][0])};
        CHECK_STR(upstream_url(&ctx->arena, &up, S("/api/chat"), S("")), str_of(cases[i][1]));
    }
}

TEST(providers_without_a_system_role_are_known)
{
    CHECK(rejects_system(&ctx->arena, S(" O1-Mini ")));
    CHECK(rejects_system(&ctx->arena, S("qianfan")));
    CHECK(!rejects_system(&ctx->arena, S("o1-pro")));
    CHECK(!rejects_system(&ctx->arena, S("")));
}
