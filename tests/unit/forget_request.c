/* forget_request.c - how many requests to forget are recognised, in the words of people who are not
 * in the fit. */
#include "engine/text/forget_request.h"

#include "lib/judged.h"
#include "lib/store.h"

static int judge(void *own, str text)
{
    (void)own;
    return forget_request_of(text);
}

static int noticed(struct judged j)
{
    return j.verdicts[FORGET_ASKED] + j.verdicts[FORGET_UNCLEAR];
}

/* Floors. Five writers of these lines took no part in the fit, nor did anybody who made it read
 * them. */
TEST(requests_of_strangers_are_recognised)
{
    const struct json *list = judged_file(ctx, "forget-kept.json");
    struct judged mere = judged_count(list, "mere", ANY_WRITER, judge, NULL),
                  more = judged_count(list, "more", ANY_WRITER, judge, NULL),
                  other = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(mere.of > 500 && 100 * noticed(mere) >= 73 * mere.of);
    CHECK(100 * mere.verdicts[FORGET_ASKED] >= 47 * mere.of);
    CHECK(more.of > 150 && 100 * noticed(more) >= 77 * more.of);
    CHECK(100 * more.verdicts[FORGET_ASKED] <=
          4 * more.of); /* what it says besides would be lost */
    CHECK(other.of > 600 && 100 * noticed(other) <= 4 * other.of);
    CHECK(100 * other.verdicts[FORGET_ASKED] <= 1 * other.of); /* all of it would be lost */
}

/* One more, who wrote when the fit and its bars were done. */
TEST(requests_of_a_later_stranger_are_recognised)
{
    const struct json *list = judged_file(ctx, "forget-fresh.json");
    struct judged mere = judged_count(list, "mere", ANY_WRITER, judge, NULL),
                  more = judged_count(list, "more", ANY_WRITER, judge, NULL),
                  other = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(mere.of == 130 && noticed(mere) >= 98 && mere.verdicts[FORGET_ASKED] >= 66);
    CHECK(more.of == 40 && noticed(more) >= 32 && more.verdicts[FORGET_ASKED] <= 2);
    CHECK(other.of == 160 && noticed(other) <= 3 && other.verdicts[FORGET_ASKED] <= 1);
}

/* One more, in Arabic, Chinese, Hindi, Japanese, Korean and Thai, of which three are in the fit. */
TEST(requests_in_other_scripts_are_recognised)
{
    const struct json *list = judged_file(ctx, "forget-far.json");
    struct judged mere = judged_count(list, "mere", ANY_WRITER, judge, NULL),
                  more = judged_count(list, "more", ANY_WRITER, judge, NULL),
                  other = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(mere.of == 144 && noticed(mere) >= 106 && mere.verdicts[FORGET_ASKED] >= 60);
    CHECK(more.of == 54 && noticed(more) >= 36 && more.verdicts[FORGET_ASKED] <= 2);
    CHECK(other.of == 282 && noticed(other) <= 8 && other.verdicts[FORGET_ASKED] <= 3);
}

/* The sentences that the rules of before were tested with, one by one. They are in the fit. */
TEST(what_rules_knew_is_mostly_known)
{
    const struct json *list = judged_file(ctx, "forget.json");
    struct judged mere = judged_count(list, "mere", 0, judge, NULL),
                  more = judged_count(list, "more", 0, judge, NULL),
                  other = judged_count(list, "other", 0, judge, NULL);
    CHECK(mere.of == 35 && noticed(mere) >= 34);
    CHECK(more.of == 7 && noticed(more) >= 6);
    CHECK(other.of == 43 && noticed(other) <= 9 && other.verdicts[FORGET_ASKED] <= 3);
}

/* Who writes examples hardly ever writes short forms in full. */
TEST(a_short_form_and_its_full_one_ask_the_same)
{
    static const char *const pairs[][2] = {
        {"Please forget that I'm allergic to peanuts.",
         "Please forget that I am allergic to peanuts."},
        {"Please forget that I'm a nurse.", "Please forget that I am a nurse."},
        {"Please forget that I don't eat fish.", "Please forget that I do not eat fish."},
        {"Forget that I'm pregnant.", "Forget that I am pregnant."}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK_INT(forget_request_of(str_of(pairs[i][0])), FORGET_ASKED);
        CHECK_INT(forget_request_of(str_of(pairs[i][1])), FORGET_ASKED);
    }
    CHECK_INT(forget_request_of(S("Forget that we are moving to Oslo.")), FORGET_UNCLEAR);
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

TEST(what_people_ask_of_each_other_is_none)
{
    const str request = S("Please forget that I'm allergic to peanuts.");
    struct message v[] = {{.role = S("user"), .text = request, .says = request},
                          {.role = S("assistant"), .text = S("Done."), .says = S("Done.")},
                          {.role = S("user"), .speaker = S("Mel"), .text = request},
                          {.role = S("assistant"), .speaker = S("Ana"), .text = S("Done.")}};
    forget_requests_leave(S(""), v, 4);
    CHECK(v[0].is_echo && v[1].is_echo && !v[2].is_echo && !v[3].is_echo);
}
