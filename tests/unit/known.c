/* known.c - how many questions for all that is known are recognised, in the words of people who are
 * not in the fit. */
#include "engine/text/form.h"
#include "lib/judged.h"

static int judge(void *own, str text)
{
    (void)own;
    return form_odds_of(FORM_KNOWN, text).by[0] >= 0;
}

/* Of `all` questions at least `found` are recognised, of `near` ones at most `taken`. */
static void check_file(struct ctx *ctx, const char *name, int all, int found, int near, int taken)
{
    const struct json *list = judged_file(ctx, name);
    static const char *const kinds[] = {"topic", "assistant", "other"};
    struct judged is = judged_count(list, "all", ANY_WRITER, judge, NULL), not = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct judged one = judged_count(list, kinds[i], ANY_WRITER, judge, NULL);
        not .of += one.of;
        not .verdicts[true] += one.verdicts[true];
    }
    CHECK(is.of == all && is.verdicts[true] >= found);
    CHECK(not .of == near && not .verdicts[true] <= taken);
}

/* Floors. Nobody who made the fit read what the first two writers wrote; the third wrote when the
 * fit and its bar were done. The last one writes in Arabic, Chinese, Hindi, Japanese, Korean and
 * Thai; in these, two others are in the fit. */
TEST(questions_for_all_that_is_known_are_recognised)
{
    check_file(ctx, "known-kept.json", 200, 150, 320, 18);
    check_file(ctx, "known-fresh.json", 100, 76, 160, 6);
    check_file(ctx, "known-far.json", 120, 76, 192, 16);
}
