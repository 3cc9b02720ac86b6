/* reply.c - how many questions for what the assistant said before are recognised, in the words of
 * people who are not in the fit. */
#include "engine/text/form.h"
#include "lib/judged.h"

static int judge(void *own, str text)
{
    (void)own;
    return form_odds_of(FORM_REPLY, text).by[0] >= 0;
}

/* Floors. The others were written to be near: "what did my doctor recommend", "how much is my
 * rent again", "which podcast would you recommend". */
TEST(questions_for_what_was_replied_are_recognised)
{
    const struct json *list = judged_file(ctx, "reply-kept.json");
    struct judged is = judged_count(list, "reply", ANY_WRITER, judge, NULL);
    struct judged not = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(is.of == 200 && is.verdicts[true] >= 155);
    CHECK(not .of == 260 && not .verdicts[true] <= 82);
}
