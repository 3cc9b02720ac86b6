/* sentences.c - where a text's sentences end. */
#include "engine/text/sentences.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/lexicon.h"
#include "lang/sentences_lists.h"

/* Words that open a sentence, and so do not follow an initial as a name does; and the greatest
 * numbers that are taken for a day or an item's, and for an ordinal. */
enum {
    OPENS = LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_THING | LEX_POINTING | LEX_ARTICLE |
            LEX_DETERMINER | LEX_JOINT | LEX_QUESTION | LEX_PREPOSITION | LEX_DATE | LEX_REPLY |
            LEX_NEGATION,
    LAST_DAY = 31,
    LAST_ORDINAL = 100
};

/*
 * A dot ends no sentence where it belongs to an abbreviation ("Dr. Ito"), to initials ("J. A.
 * Smith"), to a day or an item's number ("on 3. May", "2. Mix"), or to an ordinal ("w 3. klasie").
 * So texts are cut rather too seldom than too often: a fact cut in two loses its subject.
 *
 * The cost is one pass with look-ups at marks only; next_stop skips all other bytes by a table.
 */

/* The bytes of a mark at i; next_stop knows the first byte of each. */
static size_t mark_at(str text, size_t i)
{
    static const char *const wide[] = {"。", "！", "？", "．", "।", "॥", "؟", "۔", NULL};
    unsigned char c = i < text.n ? (unsigned char)text.p[i] : 0;
    if (c < 0x80)
        return c == '.' || c == '!' || c == '?';
    return text_starts_with_any(str_sub(text, i, text.n), wide);
}

/* --- a dot that ends no sentence --- */

/* The word that ends before i. */
static str word_before(str text, size_t i)
{
    size_t from = i;
    while (from > 0 && !char_is_space(text.p[from - 1]) && text.p[from - 1] != '(' &&
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

static bool starts_small(str word)
{
    size_t n;
    return word.n && utf8proc_islower(utf8_at(word, 0, &n));
}

/* "am 24. kommt Anna", "im 3. Stock", "24. toukokuuta". In German the word in front tells, since
 * nouns have capitals and a day may have no month behind it; "am" tells nothing in "I am 24". In
 * other languages small letters follow. Careless English has them behind a full stop, too, so
 * behind "is" or "I'm" a number is an age. */
static bool is_ordinal(str word, str text, str next)
{
    str front = str_trim(str_sub(text, 0, (size_t)(word.p - text.p)));
    str before = word_before(front, front.n),
        rest = str_trim(str_sub(front, 0, front.n - before.n));
    bool opens = lexicon_is(next, OPENS);
    if (next.n && str_is_one_of(before, noun_leads) && !opens)
        return true;
    if (str_is_one_of(before, ordinal_leads))
        return starts_small(next) && !lexicon_is(word_before(rest, rest.n), LEX_SELF);
    bool is_age = lexicon_is(before, LEX_AUXILIARY) || text_holds(before, "'");
    return starts_small(next) && !opens && !is_age;
}

/* Whether the dot behind this word of text is a part of it; the next word begins at `at`. */
static bool is_abbreviation(str word, str text, size_t at, bool cuts_ordinals)
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
    if (!str_int(word, &number))
        return false;
    bool is_day = number <= LAST_DAY; /* or the number of an item */
    return (is_day && (is_first || lexicon_month(next) >= 0)) ||
           (!cuts_ordinals && number <= LAST_ORDINAL && is_ordinal(word, text, next));
}

/* --- ends --- */

/* Reads the run of marks at i and what it closes, up to *end; false when no sentence ends there. */
static bool ends_at(str text, size_t i, bool cuts_ordinals, size_t *end, struct sentence *out)
{
    size_t to = i, marks, n;
    bool is_wide = false;
    out->asks = false;
    for (; (n = mark_at(text, to)) > 0; to += n) {
        is_wide |= n > 1;
        str mark = str_sub(text, to, to + n);
        out->asks |= str_is(mark, "?") || str_is(mark, "？") || str_is(mark, "؟");
    }
    marks = to;
    while (to < text.n && !is_wide && char_is_one_of(text.p[to], "\"')*.!?"))
        to++;
    *end = to;
    if (to < text.n && !is_wide && !char_is_space(text.p[to]))
        return false;
    size_t next = to;
    while (next < text.n && char_is_space(text.p[next]))
        next++;
    bool is_dot = marks == i + 1 && text.p[i] == '.';
    if (is_dot && to < text.n && is_abbreviation(word_before(text, i), text, next, cuts_ordinals))
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
    for (i++; i < text.n && char_is_space(text.p[i]); i++)
        if (text.p[i] == '\n')
            return true;
    return false;
}

/* Where a text says something: behind blanks and marks in front of it. */
static size_t first_said(str text)
{
    size_t i = 0, mark;
    while (i < text.n && ((mark = mark_at(text, i)) > 0 || char_is_space(text.p[i])))
        i += mark ? mark : 1;
    return i;
}

/* From i on the next byte that a mark or an empty line may begin with. */
static size_t next_stop(str text, size_t i)
{
    static const bool stops[256] = {
        ['.'] = true,  ['!'] = true,  ['?'] = true,  ['\n'] = true, [0xD8] = true,
        [0xDB] = true, [0xE0] = true, [0xE3] = true, [0xEF] = true};
    while (i < text.n && !stops[(unsigned char)text.p[i]])
        i++;
    return i;
}

bool sentence_next(str *rest, bool cuts_ordinals, struct sentence *out)
{
    str text = *rest;
    bool is_end = false;
    size_t i = next_stop(text, first_said(text)), next;
    for (; i < text.n && !is_end; i = next_stop(text, next)) {
        *out = (struct sentence){.text = str_sub(text, 0, i), .body = str_sub(text, 0, i)};
        next = i + 1;
        is_end =
            mark_at(text, i) ? ends_at(text, i, cuts_ordinals, &next, out) : is_empty_line(text, i);
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
