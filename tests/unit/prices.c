/* prices.c - the table of prices: what it takes, and which row is a model's. */
#include "core/prices.h"
#include "t.h"

#define PRICES                                                                                     \
    "gpt-4o=2.5/10, openai/gpt-4o-mini=0.15/0.6,anthropic/claude-3-5-sonnet = 3 / 15 ,free=0/0"

static bool costs(const char *model, double dollars)
{
    double is = price_of(S(PRICES), str_of(model), 1000000, 2000000);
    return is > dollars - 1e-9 && is < dollars + 1e-9;
}

TEST(a_model_has_the_price_of_the_longest_name_that_is_its_own)
{
    CHECK(costs("gpt-4o", 22.5));
    CHECK(costs("openai/gpt-4o", 22.5));
    CHECK(costs("gpt-4o-2024-08-06", 22.5));
    CHECK(costs("gpt-4o-latest", 22.5));
    CHECK(costs("gpt-4o-mini", 1.35));
    CHECK(costs("openai/gpt-4o-mini-2024-07-18", 1.35));
    CHECK(costs("claude-3-5-sonnet@20241022", 33));
    (void)ctx;
}

TEST(what_is_not_named_costs_nothing)
{
    CHECK(costs("gpt-4", 0) && costs("gpt-4o-audio", 0) && costs("free", 0) && costs("", 0));
    CHECK(costs("other/gpt-4o-mini", 0));
    CHECK(price_of(S(""), S("gpt-4o"), 1000, 1000) == 0);
    CHECK(price_of(S(PRICES), S("gpt-4o"), 20, 10) == 0.00015);
    (void)ctx;
}

TEST(what_is_no_price_is_named)
{
    static const char *const bad[] = {"gpt-4o",      "gpt-4o=1", "=1/2",    "gpt-4o=a/2",
                                      "gpt-4o=-1/2", "x=1/2,y",  "x=1/2/3", "x=1/nan",
                                      "x=1/2;y=3/4", "x=1/1e300"};
    CHECK_OK(prices_check(ctx, S(PRICES)));
    CHECK_OK(prices_check(ctx, S(" , ")));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(prices_check(ctx, str_of(bad[i])), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), S("prices"));
        ctx_clear_failure(ctx);
    }
    CHECK_STATUS(prices_check(ctx, S("x=1/2, why=1 ,z=1/2")), BAD_INPUT);
    CHECK(str_find(str_of(ctx->why), S("'why=1'")) < strlen(ctx->why));
}
