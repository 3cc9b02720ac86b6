/* sentences.c - where a text's sentences end. */
#include "engine/text/sentences.h"

#include "engine/text/bytes.h"
#include "engine/text/lexicon.h"

/* Words that open a sentence, and so do not follow an initial as a name does. */
enum {
    OPENS = LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_THING | LEX_POINTING | LEX_ARTICLE |
            LEX_DETERMINER | LEX_JOINT | LEX_QUESTION | LEX_PREPOSITION | LEX_DATE | LEX_REPLY |
            LEX_NEGATION,
    LAST_DAY = 31
};

/*
 * A mark (. ! ? and the wide ones) ends a sentence when a blank or the end follows; an empty line
 * always does. A dot does not where it belongs to an abbreviation ("Dr. Ito"), to initials ("J. A.
 * Smith", "the U.S. economy"), or to a day or an item's number ("on 3. May", "2. Mix"). So texts
 * are cut rather too seldom than too often: a fact cut in two loses its subject.
 *
 * The cost is one pass with look-ups at marks only; next_stop skips all other bytes by a table.
 */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t after_blanks(str text, size_t i)
{
    while (i < text.n && is_blank(text.p[i]))
        i++;
    return i;
}

/* The bytes of a mark at i: full width ones (0xE3 and 0xEF begin theirs) have three. */
static size_t mark_at(str text, size_t i)
{
    static const char *const wide[] = {"。", "！", "？", "．", NULL};
    unsigned char c = i < text.n ? (unsigned char)text.p[i] : 0;
    if (c < 0x80)
        return c == '.' || c == '!' || c == '?';
    for (const char *const *m = wide; *m && (c == 0xE3 || c == 0xEF); m++)
        if (str_starts(str_sub(text, i, text.n), str_of(*m)))
            return 3;
    return 0;
}

/* --- a dot that ends no sentence --- */

/* The word that ends before i. */
static str word_before(str text, size_t i)
{
    size_t from = i;
    while (from > 0 && !is_blank(text.p[from - 1]) && text.p[from - 1] != '(' &&
           text.p[from - 1] != '"')
        from--;
    return str_sub(text, from, i);
}

/* Letters from i on; "" where none stands there. */
static str word_from(str text, size_t i)
{
    size_t to = i;
    while (to < text.n && is_letter(text.p[to]))
        to++;
    return str_sub(text, i, to);
}

static bool starts_capital(str word)
{
    return word.n && is_upper(word.p[0]);
}

/* "J", "U.S": letters with dots between them. */
static bool is_initials(str word)
{
    return word.n % 2 && !str_is(word, "I") &&
           EVERY(i, word.n, i % 2 ? word.p[i] == '.' : is_letter(word.p[i]));
}

/* "J. A. Smith" and "the U.S. economy" go on; "plan B. We …" and "plan b. i …" do not. */
static bool is_named_on(str next, str text)
{
    const char *behind = next.p + next.n;
    bool is_initial = next.n == 1 && behind < text.p + text.n && *behind == '.';
    return is_initial || !lexicon_is(next, starts_capital(next) ? OPENS : LEX_SELF);
}

/* Whether the dot behind this word of text is a part of it; the next word begins at `at`. */
static bool is_abbreviation(str word, str text, size_t at)
{
    str next = word_from(text, at);
    unsigned classes = lexicon_classes(word);
    int64_t number;
    if (classes & LEX_ABBREVIATION)
        return true;
    if (classes & LEX_ABBREVIATION_LAST)
        return !starts_capital(next);
    if (is_initials(word))
        return is_named_on(next, text);
    bool is_first = !str_trim((str){text.p, (size_t)(word.p - text.p)}).n;
    bool is_day = str_int(word, &number) && number <= LAST_DAY; /* or the number of an item */
    return is_day && (is_first || lexicon_month(next) >= 0);
}

/* --- ends --- */

/* Reads the run of marks at i and what it closes, up to *end; false when no sentence ends there. */
static bool ends_at(str text, size_t i, size_t *end, struct sentence *out)
{
    size_t to = i, marks, n;
    bool is_wide = false;
    out->asks = false;
    for (; (n = mark_at(text, to)) > 0; to += n) {
        is_wide |= n > 1;
        out->asks |= text.p[to] == '?' || str_starts(str_sub(text, to, text.n), S("？"));
    }
    marks = to;
    while (to < text.n && !is_wide && char_is_one_of(text.p[to], "\"')*.!?"))
        to++;
    *end = to;
    if (to < text.n && !is_wide && !is_blank(text.p[to]))
        return false;
    size_t next = after_blanks(text, to);
    bool is_dot = marks == i + 1 && text.p[i] == '.';
    if (is_dot && to < text.n && is_abbreviation(word_before(text, i), text, next))
        return false;
    bool is_soft = to > marks || (marks > i + 1 && text.p[i] == '.');
    out->text = str_sub(text, 0, to);
    out->body = str_sub(text, 0, i);
    out->goes_on = is_soft && next < text.n && is_lower(text.p[next]);
    return true;
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

/* Where a text says something: behind blanks and marks in front of it. */
static size_t first_said(str text)
{
    size_t i = 0, mark;
    while (i < text.n && ((mark = mark_at(text, i)) > 0 || is_blank(text.p[i])))
        i += mark ? mark : 1;
    return i;
}

/* From i on the next byte that a mark or an empty line may begin with. */
static size_t next_stop(str text, size_t i)
{
    static const bool stops[256] = {
        ['.'] = true, ['!'] = true, ['?'] = true, ['\n'] = true, [0xE3] = true, [0xEF] = true};
    while (i < text.n && !stops[(unsigned char)text.p[i]])
        i++;
    return i;
}

bool sentence_cut(str *rest, struct sentence *out)
{
    str text = *rest;
    bool is_end = false;
    size_t i = next_stop(text, first_said(text)), next;
    for (; i < text.n && !is_end; i = next_stop(text, next)) {
        *out = (struct sentence){.text = str_sub(text, 0, i), .body = str_sub(text, 0, i)};
        next = i + 1;
        is_end = mark_at(text, i) ? ends_at(text, i, &next, out) : is_empty_line(text, i);
    }
    if (!is_end)
        *out = (struct sentence){.text = text, .body = text};
    assert(out->text.n || !text.n); /* or who cuts sentence by sentence would never end */
    *rest = str_sub(text, out->text.n, text.n);
    return text.n > 0;
}

str first_sentences(str text, size_t n)
{
    struct sentence s;
    text = str_trim(text);
    str rest = text;
    while (n && sentence_cut(&rest, &s))
        n -= !s.goes_on;
    return str_trim(str_sub(text, 0, text.n - rest.n));
}
