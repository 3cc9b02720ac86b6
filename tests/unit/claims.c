/* claims.c - which slot a clause fills, and with what; and what a program printed. */
#include "engine/text/claims.h"

#include "engine/text/traces.h"
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

TEST(a_clause_fills_a_slot)
{
    static const struct {
        const char *clause;
        enum slot slot;
        const char *value;
    } rows[] = {
        {"My sister works for an airline", SLOT_employer, "an airline"},
        {"I now teach at the deaf school", SLOT_employer, "the deaf school"},
        {"We moved back to Tralee", SLOT_home, "Tralee"},
        {"Haruki is dating Sora", SLOT_partner, "Sora"},
        {"The roofer charges 3,900", SLOT_price, "3,900"},
        {"My name is Carla", SLOT_name, "Carla"},
        {"Meine Tante wohnt jetzt in Graz", SLOT_home, "Graz"},
        {"Mein Bruder ist nach Linz gezogen", SLOT_home, "Linz"},
        {"Mi padre se ha mudado a Valencia", SLOT_home, "Valencia"},
        {"Ma soeur travaille chez Airbus", SLOT_employer, "Airbus"},
        {"O meu irmão mora em Braga", SLOT_home, "Braga"},
        {"Mia sorella lavora in banca", SLOT_employer, "banca"},
    };
    str value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_INT(read_claim(ctx, rows[i].clause, &value).slot, rows[i].slot);
        CHECK_STR(value, str_of(rows[i].value));
    }
}

TEST(others_fill_none)
{
    static const char *const none[] = {"I work at night",
                                       "We live in peace",
                                       "The laptop works well",
                                       "My cat's name is Luna",
                                       "Thanks a lot",
                                       "Its price is fine",
                                       NULL};
    str value;
    for (const char *const *c = none; *c; c++)
        CHECK_INT(read_claim(ctx, *c, &value).slot, SLOT_COUNT);
}

TEST(what_has_ended_and_what_is_only_thought_of_are_known)
{
    str value;
    CHECK(read_claim(ctx, "She no longer works at the bank", &value).ends);
    CHECK(read_claim(ctx, "Er arbeitet nicht mehr bei der Bank", &value).ends);
    CHECK(read_claim(ctx, "Dad has retired", &value).ends);
    CHECK(!read_claim(ctx, "She works at the bank", &value).ends);
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
    CHECK_STR(text_without_traces(&ctx->arena, str_of(trace)), S(""));
    CHECK_STR(text_without_traces(&ctx->arena, str_of(compiler)), S(""));
    str asked = str_printf(&ctx->arena, "Why does Ida's shop fail?\n\n%s", trace);
    CHECK_STR(text_without_traces(&ctx->arena, asked), S("Why does Ida's shop fail?"));
    for (const char *const *p = plain; *p; p++)
        CHECK_STR(text_without_traces(&ctx->arena, str_of(*p)), str_of(*p));
}
