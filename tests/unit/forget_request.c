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
    CHECK(mere.of > 500 && 100 * noticed(mere) >= 82 * mere.of);
    CHECK(100 * mere.verdicts[FORGET_ASKED] >= 55 * mere.of);
    CHECK(more.of > 150 && 100 * noticed(more) >= 85 * more.of);
    CHECK(100 * more.verdicts[FORGET_ASKED] <=
          1 * more.of); /* what it says besides would be lost */
    CHECK(other.of > 600 && 100 * noticed(other) <= 4 * other.of);
    CHECK(100 * other.verdicts[FORGET_ASKED] <= 1 * other.of); /* all of it would be lost */
}

/* Of each kind how many there are, how many are noticed (of others at most), and how many are taken
 * for mere requests (of mere ones at least, else at most). */
static void check_counts(struct ctx *ctx, const char *file, const int mere[3], const int more[3],
                         const int other[3])
{
    const struct json *list = judged_file(ctx, file);
    struct judged is = judged_count(list, "mere", ANY_WRITER, judge, NULL),
                  says_more = judged_count(list, "more", ANY_WRITER, judge, NULL),
                  is_not = judged_count(list, "other", ANY_WRITER, judge, NULL);
    CHECK(is.of == mere[0] && noticed(is) >= mere[1] && is.verdicts[FORGET_ASKED] >= mere[2]);
    CHECK(says_more.of == more[0] && noticed(says_more) >= more[1] &&
          says_more.verdicts[FORGET_ASKED] <= more[2]);
    CHECK(is_not.of == other[0] && noticed(is_not) <= other[1] &&
          is_not.verdicts[FORGET_ASKED] <= other[2]);
}

/* The first wrote when the fit was first done. The second writes in Arabic, Chinese, Hindi,
 * Japanese, Korean and Thai. Of the third's other messages a third and more are twins of requests:
 * nearly the same words, and only the whole sentence decides. */
TEST(requests_of_later_strangers_are_recognised)
{
    check_counts(ctx, "forget-fresh.json", (int[]){130, 105, 74}, (int[]){40, 35, 0},
                 (int[]){160, 2, 0});
    check_counts(ctx, "forget-far.json", (int[]){144, 118, 74}, (int[]){54, 41, 0},
                 (int[]){282, 10, 1});
    check_counts(ctx, "forget-twins.json", (int[]){180, 134, 86}, (int[]){60, 43, 3},
                 (int[]){210, 20, 9});
    /* of the message itself or the one before: "Don't remember this: ..." */
    check_counts(ctx, "forget-this.json", (int[]){52, 43, 31}, (int[]){0, 0, 0}, (int[]){30, 0, 0});
    /* the same and what shall be kept: "Please save this: ..." */
    check_counts(ctx, "forget-keep.json", (int[]){67, 48, 30}, (int[]){0, 0, 0},
                 (int[]){120, 10, 0});
}

/* The sentences that the rules of before were tested with, one by one. They are in the fit. */
TEST(what_rules_knew_is_mostly_known)
{
    const struct json *list = judged_file(ctx, "forget.json");
    struct judged mere = judged_count(list, "mere", 0, judge, NULL),
                  more = judged_count(list, "more", 0, judge, NULL),
                  other = judged_count(list, "other", 0, judge, NULL);
    CHECK(mere.of == 35 && noticed(mere) >= 34);
    CHECK(more.of == 7 && noticed(more) >= 5);
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
