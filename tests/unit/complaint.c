/* complaint.c - the words of other servers' refusals, without what they were asked. */
#include "http/http.h"
#include "http/wire/mask.h"

#include "t.h"

static str words(struct ctx *ctx, const char *body, const char *asked)
{
    const str texts[] = {str_of(asked)};
    return http_complaint(&ctx->arena, str_of(body), 60, S("sk-the-key-of-the-server"), texts,
                          asked ? 1 : 0);
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

TEST(a_key_is_not_shown)
{
    CHECK_STR(words(ctx, "{\"error\":\"wrong key: sk-the-key-of-the-server.\"}", ""),
              S("wrong key: ************************."));
    CHECK_STR(words(ctx, "no sk-the-key-of-the-server, sk-the-key-of-the-server", ""),
              S("no ************************, ************************"));
}

/* In any two pieces, and byte by byte; the length stays. */
TEST(a_key_is_not_shown_in_pieces)
{
    const str secret = S("aab-aab-aac"), said = S("aab-aab-aab-aac, aab-aab-aa, aab-aab-aac");
    const str clean = S("aab-***********, aab-aab-aa, ***********");
    for (size_t cut = 0; cut <= said.n; cut++) {
        struct mask m = {.secret = secret};
        struct buf b = buf_make(&ctx->arena, 1000);
        buf_add(&b, mask_pass(&ctx->arena, &m, str_sub(said, 0, cut), false));
        buf_add(&b, mask_pass(&ctx->arena, &m, str_sub(said, cut, said.n), false));
        buf_add(&b, mask_pass(&ctx->arena, &m, S(""), true));
        CHECK_STR(buf_str(&b), clean);
    }
    struct mask m = {.secret = secret};
    struct buf b = buf_make(&ctx->arena, 1000);
    for (size_t i = 0; i < said.n; i++)
        buf_add(&b, mask_pass(&ctx->arena, &m, str_sub(said, i, i + 1), i + 1 == said.n));
    CHECK_STR(buf_str(&b), clean);
    m = (struct mask){.secret = S("short")};
    CHECK_STR(mask_pass(&ctx->arena, &m, S("too short"), false), S("too short"));
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
