/* sentences.c - where a text's sentences end. */
#include "engine/sentences.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Those with a dot inside ("e.g.", "z.B.") need not stand here; those that are words as well
 * ("no.", "max.") must not. */
static bool is_abbreviation(str word)
{
    static const char *const known[] = {"mr",  "mrs", "ms",   "dr",   "prof", "jr",  "sr", "vs",
                                        "etc", "inc", "ltd",  "nr",   "vol",  "ca",  "cf", "approx",
                                        "bzw", "feb", "sept", "dept", "incl", "usw", NULL};
    if (word.n == 1 || str_find(word, S(".")) < word.n)
        return true;
    for (const char *const *k = known; *k; k++)
        if (str_eq_nocase(word, str_of(*k)))
            return true;
    return false;
}

/* The word that ends before i. */
static str word_before(str text, size_t i)
{
    size_t from = i;
    while (from > 0 && !is_blank(text.p[from - 1]) && text.p[from - 1] != '(' &&
           text.p[from - 1] != '"')
        from--;
    return str_sub(text, from, i);
}

/* The bytes of a closing mark at i: ideographic and full width ones need no blank behind them. */
static size_t wide_mark(str text, size_t i)
{
    static const char *const marks[] = {"。", "！", "？", "．", NULL};
    for (const char *const *m = marks; *m; m++)
        if (text.n - i >= 3 && memcmp(text.p + i, *m, 3) == 0)
            return 3;
    return 0;
}

static bool is_mark(char c)
{
    return c == '.' || c == '!' || c == '?';
}

/* Behind a run of marks that ended at `to`: quotes and brackets belong to the sentence. */
static size_t with_closing(str text, size_t to)
{
    while (to < text.n && (text.p[to] == '"' || text.p[to] == '\'' || text.p[to] == ')'))
        to++;
    return to;
}

static bool goes_on(str text, size_t to)
{
    while (to < text.n && is_blank(text.p[to]))
        to++;
    return to < text.n && text.p[to] >= 'a' && text.p[to] <= 'z';
}

/* Where the sentence that the marks at i may end ends, or 0 when they end none. */
static size_t end_at(str text, size_t i)
{
    size_t marks = i, to;
    while (marks < text.n && is_mark(text.p[marks]))
        marks++;
    to = with_closing(text, marks);
    if (to < text.n && !is_blank(text.p[to]))
        return 0;
    bool is_dot = marks == i + 1 && text.p[i] == '.';
    if (is_dot && to < text.n && is_abbreviation(word_before(text, i)))
        return 0;
    bool may_go_on = to > marks || (marks > i + 1 && text.p[i] == '.');
    return may_go_on && goes_on(text, to) ? 0 : to;
}

static bool is_empty_line(str text, size_t i)
{
    if (text.p[i] != '\n')
        return false;
    for (i++; i < text.n && is_blank(text.p[i]); i++)
        if (text.p[i] == '\n')
            return true;
    return false;
}

str first_sentences(str text, size_t n)
{
    text = str_trim(text);
    bool is_open = false; /* a sentence has begun */
    for (size_t i = 0; i < text.n && n;) {
        size_t wide = wide_mark(text, i);
        size_t end = wide ? i + wide : is_mark(text.p[i]) ? end_at(text, i) : 0;
        if (!end && is_open && is_empty_line(text, i))
            end = i;
        if (end && is_open) {
            is_open = false;
            if (--n == 0)
                return str_trim(str_sub(text, 0, end));
        }
        is_open |= !end && !is_blank(text.p[i]) && !is_mark(text.p[i]);
        i = end > i ? end : i + 1;
    }
    return text;
}
