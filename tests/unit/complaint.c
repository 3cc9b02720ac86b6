/* complaint.c - the words of other servers' refusals, without what they were asked. */
#include "http/http.h"

#include "t.h"

static str words(struct ctx *ctx, const char *body, const char *asked)
{
    const str texts[] = {str_of(asked)};
    return http_complaint(&ctx->arena, str_of(body), 60, texts, asked ? 1 : 0);
}

TEST(a_complaint_is_found_where_servers_put_it)
{
    CHECK_STR(words(ctx, "{\"error\":{\"message\":\"no such model\"}}", ""), S("no such model"));
    CHECK_STR(words(ctx, "{\"status\":{\"error\":\"wrong size\"}}", ""), S("wrong size"));
    CHECK_STR(words(ctx, "{\"error\":\"quota\"}", ""), S("quota"));
    CHECK_STR(words(ctx, "{\"detail\":\"not found\"}", ""), S("not found"));
    CHECK_STR(words(ctx, "not\nready ", ""), S("not ready"));
    CHECK_STR(words(ctx, "<html>502</html>", ""), S(""));
    CHECK_STR(words(ctx, "{}", ""), S(""));
    CHECK_STR(words(ctx, "", ""), S(""));
    CHECK_INT(
        words(ctx, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "").n,
        60);
}

TEST(what_was_asked_is_not_said_again)
{
    CHECK_STR(words(ctx, "{\"error\":\"cannot read: my secret garden is red\"}",
                    "I told you that my secret garden is red."),
              S("(in words that repeat what was asked)"));
    CHECK_STR(words(ctx, "{\"error\":\"bad input: tea\"}", "tea"),
              S("(in words that repeat what was asked)"));
    CHECK_STR(words(ctx, "{\"error\":\"the input is too long\"}", "my secret garden is red"),
              S("the input is too long"));
}
