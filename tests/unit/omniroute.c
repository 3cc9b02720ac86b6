/* omniroute.c - a failure in OmniRoute's words: its code and its shape. */
#include "ext/dialects/omniroute/common.h"

#include "t.h"

static struct json *worded(struct ctx *ctx, enum status s, const struct request *in,
                           struct reply *out)
{
    struct json *v = NULL;
    *out = (struct reply){.body = buf_make(&ctx->arena, 65536)};
    memcpy(ctx->id, "0123456789abcdef", 17);
    word_omniroute_error(ctx, s, in, out);
    CHECK_OK(json_parse(ctx, buf_str(&out->body), &v));
    return v;
}

TEST(a_store_that_fails_before_anyone_was_let_in_is_503)
{
    const struct request nobody = {.method = S("GET")};
    const struct request someone = {.method = S("GET"), .who = {.pool = {S("ada"), S("x")}}};
    struct reply out;
    (void)!fail(ctx, STORAGE, "Service temporarily unavailable");
    struct json *v = worded(ctx, STORAGE, &nobody, &out);
    CHECK_INT(out.code, 503);
    CHECK_STR(json_string(json_at(v, "error.message")), S("Service temporarily unavailable"));
    CHECK_STR(json_string(json_at(v, "error.type")), S("server_error"));
    CHECK_STR(json_string(json_get(v, "requestId")), S("01234567-0000-8000-8000-000089abcdef"));
    worded(ctx, STORAGE, &someone, &out);
    CHECK_INT(out.code, 0); /* as http_code says */
}

TEST(every_status_has_the_documented_shape)
{
    const struct request in = {.method = S("POST"), .body = S("{}")};
    for (int s = BAD_INPUT; s < STATUS_COUNT; s++) {
        struct reply out;
        ctx_clear_failure(ctx);
        (void)!fail(ctx, (enum status)s, "why \"%d\"", s);
        struct json *v = worded(ctx, (enum status)s, &in, &out);
        const struct json *error = json_get(v, "error");
        CHECK(json_string(json_get(error, "message")).n > 5);
        CHECK(str_is(json_string(json_get(error, "type")), "invalid_request") ||
              str_is(json_string(json_get(error, "type")), "server_error"));
        CHECK_INT(json_get(error, "details")->type, JSON_ARRAY);
        CHECK_INT(json_string(json_get(v, "requestId")).n, 36);
        CHECK((json_get(v, "message") != NULL) == (s == BAD_INPUT));
    }
}
