/* known.c - how many questions for all that is known are recognised, in the words of people who are
 * not in the fit. */
#include <stdio.h>

#include "base/json.h"
#include "engine/text/form.h"
#include "lib/store.h"

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

/* Floors. Nobody who made the fit read what these two writers wrote. */
TEST(questions_for_all_that_is_known_are_recognised)
{
    int asked = 0, all = 0, beside = 0, others = 0;
    for (const struct json *j = read_texts(ctx, SOURCE_ROOT "/tests/judge/known-kept.json"); j;
         j = j->next) {
        bool is_all = str_is(json_string(json_get(j, "is")), "all");
        bool is_taken = form_odds_of(FORM_KNOWN, json_string(json_get(j, "ask"))).by[0] >= 0;
        all += is_all, others += !is_all;
        asked += is_all && is_taken, beside += !is_all && is_taken;
    }
    printf("%d of %d for all, %d of %d others\n", asked, all, beside, others);
    CHECK(all == 200 && asked >= 150);
    CHECK(others == 320 && beside <= 18);
}
