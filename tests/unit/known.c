/* known.c - how many questions for all that is known are recognised, in the words of people who are
 * not in the fit. */
#include "engine/text/form.h"
#include "lib/judged.h"

static int judge(void *own, str text)
{
    (void)own;
    return form_odds_of(FORM_KNOWN, text).by[0] >= 0;
}

/* Floors. Nobody who made the fit read what these two writers wrote. */
TEST(questions_for_all_that_is_known_are_recognised)
{
    const struct json *list = judged_file(ctx, "known-kept.json");
    struct judged all = judged_count(list, "all", ANY_WRITER, judge, NULL),
                  topic = judged_count(list, "topic", ANY_WRITER, judge, NULL),
                  assistant = judged_count(list, "assistant", ANY_WRITER, judge, NULL),
                  other = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(all.of == 200 && all.verdicts[true] >= 150);
    CHECK(topic.of + assistant.of + other.of == 320);
    CHECK(topic.verdicts[true] + assistant.verdicts[true] + other.verdicts[true] <= 18);
}

/* One more, who wrote when the fit and its bar were done. */
TEST(questions_of_a_later_stranger_are_recognised)
{
    const struct json *list = judged_file(ctx, "known-fresh.json");
    struct judged all = judged_count(list, "all", ANY_WRITER, judge, NULL),
                  topic = judged_count(list, "topic", ANY_WRITER, judge, NULL),
                  assistant = judged_count(list, "assistant", ANY_WRITER, judge, NULL),
                  other = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(all.of == 100 && all.verdicts[true] >= 76);
    CHECK(topic.of + assistant.of + other.of == 160);
    CHECK(topic.verdicts[true] + assistant.verdicts[true] + other.verdicts[true] <= 6);
}
