/* suggest.c - which known name a mistyped one is closest to. */
#include "core/suggest.h"

#include "t.h"

static const char *nearest(const char *typed)
{
    static const char *const names[] = {"serve", "search", "list", "budget_tokens", "k", NULL};
    struct suggestion s = {.typed = str_of(typed)};
    for (const char *const *name = names; *name; name++)
        suggest_name(&s, *name);
    return s.best ? s.best : "";
}

TEST(one_edit_of_any_kind_is_forgiven)
{
    static const char *const cases[][2] = {
        {"serv", "serve"},   {"sserve", "serve"}, {"sorve", "serve"},
        {"esrve", "serve"},  {"lits", "list"},    {"budget_token", "budget_tokens"},
        {"serve", "serve"},  {"lst", "list"},     {"bugdet_tokans", "budget_tokens"},
        {"serach", "search"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(str_of(nearest(cases[i][0])), str_of(cases[i][1]));
}

TEST(what_is_far_from_every_name_suggests_nothing)
{
    static const char *const cases[] = {"", "x", "xy", "frobnicate", "nonsense", "budget"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(str_of(nearest(cases[i])), S(""));
}

TEST(a_long_word_is_not_compared)
{
    char word[200];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = 0;
    CHECK_STR(str_of(nearest(word)), S(""));
}
