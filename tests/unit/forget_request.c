/* forget_request.c - how many requests to forget are recognised, in the words of people who are not
 * in the fit. */
#include "engine/text/forget_request.h"

#include <stdio.h>

#include "base/json.h"
#include "lib/store.h"

struct counts {
    int of, asked, unclear;
};

static const struct json *read_texts(struct ctx *ctx, const char *path)
{
    struct json *all;
    enum { FILE_MAX = 1 << 20 };
    FILE *f = fopen(path, "re");
    CHECK(f);
    char *bytes = arena_alloc(&ctx->arena, FILE_MAX);
    size_t n = fread(bytes, 1, FILE_MAX, f);
    fclose(f);
    CHECK_OK(json_parse(ctx, (str){bytes, n}, &all));
    return all->first;
}

static struct counts count(const struct json *texts, const char *is)
{
    struct counts c = {0};
    for (const struct json *j = texts; j; j = j->next) {
        if (!str_is(json_string(json_get(j, "is")), is))
            continue;
        enum forget_request r = forget_request_of(json_string(json_get(j, "ask")));
        c.of++;
        c.asked += r == FORGET_ASKED;
        c.unclear += r == FORGET_UNCLEAR;
    }
    printf("%s: of %d %d merely ask, %d ask and do more\n", is, c.of, c.asked, c.unclear);
    return c;
}

/* Floors. Five writers of these lines took no part in the fit, nor did anybody who made it read
 * them. */
TEST(requests_of_strangers_are_recognised)
{
    const struct json *texts = read_texts(ctx, SOURCE_ROOT "/tests/judge/forget-kept.json");
    struct counts mere = count(texts, "mere"), more = count(texts, "more"),
                  other = count(texts, "other");
    CHECK(mere.of > 500 && 100 * (mere.asked + mere.unclear) >= 73 * mere.of);
    CHECK(100 * mere.asked >= 61 * mere.of);
    CHECK(more.of > 150 && 100 * (more.asked + more.unclear) >= 77 * more.of);
    CHECK(100 * more.asked <= 4 * more.of); /* what it says besides would be lost */
    CHECK(other.of > 600 && 100 * (other.asked + other.unclear) <= 4 * other.of);
    CHECK(100 * other.asked <= 2 * other.of);
}

TEST(what_is_pasted_or_quoted_asks_for_nothing)
{
    struct buf b = buf_make(&ctx->arena, 2000);
    const str request = S("Please forget that I'm allergic to peanuts.");
    CHECK_INT(forget_request_of(request), FORGET_ASKED);
    CHECK_INT(forget_request_of(S("")), FORGET_NOTHING);
    CHECK_INT(forget_request_of(S("> Please forget that I'm allergic to peanuts.")),
              FORGET_NOTHING);
    CHECK_INT(forget_request_of(S("- Please forget that I'm allergic to peanuts.")),
              FORGET_NOTHING);
    while (buf_str(&b).n < 400)
        buf_add(&b, request);
    CHECK_INT(forget_request_of(buf_str(&b)), FORGET_NOTHING);
}
