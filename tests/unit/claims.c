/* claims.c - which slot a clause fills, and with what; and what a program printed. */
#include "engine/text/claims.h"

#include "engine/text/utterance.h"
#include "lib/store.h"

static struct claim read_claim(struct ctx *ctx, const char *clause, str *value)
{
    struct words w = words_of(&ctx->arena, str_of(clause), 40);
    struct claim c = claim_of(&w);
    *value = S("");
    if (c.value < c.end) {
        const struct word *last = &w.v[c.end - 1];
        *value = str_sub(str_of(clause), w.v[c.value].at, last->at + last->text.n);
    }
    return c;
}

TEST(what_has_ended_and_what_is_only_thought_of_are_known)
{
    str value;
    CHECK(read_claim(ctx, "She no longer works at the bank", &value).ends);
    CHECK(read_claim(ctx, "Er arbeitet nicht mehr bei der Bank", &value).ends);
    CHECK(read_claim(ctx, "Dad has retired", &value).ends);
    CHECK(!read_claim(ctx, "She works at the bank", &value).ends);
    static const char *const no_longer[] = {"I used to live in Lille",
                                            "We were going to move to Lille",
                                            "We nearly moved to Lille",
                                            "We are thinking about moving to Lille",
                                            "I plan to move to Lille",
                                            "I'm applying to work for Bupa"};
    for (size_t i = 0; i < sizeof no_longer / sizeof *no_longer; i++)
        CHECK(read_claim(ctx, no_longer[i], &value).ends);
    CHECK_INT(read_claim(ctx, "I lived in Lille until 2010", &value).slot, SLOT_COUNT);
    CHECK_INT(read_claim(ctx, "I've lived in Lille since 2010", &value).slot, SLOT_home);
    CHECK(!read_claim(ctx, "I've lived in Lille since 2010", &value).ends);
    CHECK(read_claim(ctx, "I'm moving to Lille if Ann gets the job", &value).is_supposed);
    CHECK(read_claim(ctx, "I might move to Lille", &value).is_supposed);
    CHECK(!read_claim(ctx, "I moved to Lille", &value).is_supposed);
}

TEST(a_label_names_a_slot)
{
    CHECK_INT(slot_of_label(S("city")), SLOT_home);
    CHECK_INT(slot_of_label(S(" Employer ")), SLOT_employer);
    CHECK_INT(slot_of_label(S("dog name")), SLOT_COUNT);
    CHECK_INT(slot_of_label(S("note")), SLOT_COUNT);
}

TEST(what_a_program_printed_is_left_out)
{
    static const char trace[] = "Traceback (most recent call last):\n"
                                "  File \"main.py\", line 3, in <module>\n"
                                "    print(prices[index])\n"
                                "IndexError: list index out of range\n";
    static const char compiler[] = "main.c:12:5: error: 'n' undeclared\n"
                                   "main.c:14:9: note: each one is reported once\n";
    static const char *const plain[] = {"Meet me at 10:30.\nThe bus at 11:15 is full.",
                                        "My list:\n- eggs\n- milk (two)", "Error: none", NULL};
    CHECK_STR(text_without_material(&ctx->arena, str_of(trace)), S(""));
    CHECK_STR(text_without_material(&ctx->arena, str_of(compiler)), S(""));
    str asked = str_printf(&ctx->arena, "Why does Ida's shop fail?\n\n%s", trace);
    CHECK_STR(text_without_material(&ctx->arena, asked), S("Why does Ida's shop fail?"));
    for (const char *const *p = plain; *p; p++)
        CHECK_STR(text_without_material(&ctx->arena, str_of(*p)), str_of(*p));
}
