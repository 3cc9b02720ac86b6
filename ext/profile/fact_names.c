/* fact_names.c - names under which facts of a user may be kept. */
#include "ext/profile/reading.h"

#include <utf8proc.h>

#include "base/time_text.h"
#include "base/utf8.h"
#include "engine/extract/secrets.h"
#include "engine/text/bytes.h"
#include "engine/text/lexicon.h"
#include "lang/fact_names_lists.h"
#include "lang/time_point_lists.h"

/*
 * A fact has a name in camelCase ("favoriteColor"), whatever the source called it
 * ("favourite_colour"), so that the same thing said twice is one fact. The name follows from the
 * path: a plain last name alone ("city"); with the being it belongs to, if that is not the user
 * ("dogName" of {"dog": {"name": …}}); with its parent where it is too vague alone. Placeholders
 * ("n/a"), secrets and what exceeds the profile's limits are dropped.
 */

enum { LEAVES_MAX = 10000, LOOKED_AT = 8192 };

/* --- names --- */

/* The kinds of characters that a name is made of. */
enum kind { MARK, LOWER, UPPER };

/* Reads one character of UTF-8 at *at and moves behind it; damaged bytes are marks. */
static enum kind kind_at(str s, size_t *at, int32_t *c)
{
    size_t took;
    *c = utf8_at(s, *at, &took);
    *at += took;
    if (*c < 0 || !(utf8_is_letter(*c) || utf8_is_digit(*c)))
        return MARK;
    utf8proc_category_t category = utf8proc_category(*c);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT ? UPPER : LOWER;
}

/* Letters and digits only, and no capital in front. */
static bool is_camel(str name)
{
    int32_t c;
    for (size_t at = 0; at < name.n;) {
        bool is_first = at == 0;
        enum kind kind = kind_at(name, &at, &c);
        if (kind == MARK || (is_first && kind == UPPER))
            return false;
    }
    return name.n > 0;
}

static str first_characters(str s, size_t most)
{
    size_t at = 0;
    while (at < s.n && most-- > 0)
        do
            at++;
        while (at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80);
    return (str){s.p, at};
}

/* "First name", "first_name" and "FirstName" become "firstName"; capitals in a row end before a
 * small letter ("URLName"). At most PROFILE_NAME_MAX characters. */
str profile_camel(struct arena *a, str name)
{
    struct buf b = buf_make(a, name.n * 2 + 16);
    enum kind before = MARK, kind;
    int32_t c, after;
    if (is_camel(name))
        return str_dup(a, first_characters(name, PROFILE_NAME_MAX));
    for (size_t at = 0; at < name.n; before = kind) {
        kind = kind_at(name, &at, &c);
        size_t ahead = at;
        bool ends_capitals = before == UPPER && kind == UPPER && at < name.n &&
                             kind_at(name, &ahead, &after) == LOWER && utf8proc_islower(after);
        bool begins = before == MARK || (before == LOWER && kind == UPPER) || ends_capitals;
        if (kind != MARK)
            utf8_add(&b, begins && b.n ? utf8proc_toupper(c) : utf8proc_tolower(c));
    }
    return first_characters(buf_str(&b), PROFILE_NAME_MAX);
}

str profile_words(struct arena *a, str name)
{
    struct buf b = buf_make(a, name.n * 2 + 1);
    enum kind before = MARK, kind;
    int32_t c;
    if (!is_camel(name))
        return name;
    for (size_t at = 0; at < name.n; before = kind) {
        kind = kind_at(name, &at, &c);
        if (kind == UPPER && before == LOWER)
            buf_byte(&b, ' ');
        utf8_add(&b, kind == UPPER ? utf8proc_tolower(c) : c);
    }
    return buf_str(&b);
}

static str join_names(struct arena *a, str first, str second)
{
    return profile_camel(a, str_printf(a, S_FMT " " S_FMT, S_ARG(first), S_ARG(second)));
}

/* Those whose name, city or age is not the user's; the singular of a list of them, else "". */
static str other_person(str name)
{
    if (str_is_one_of(name, other_beings))
        return str_eq_nocase(name, S("children")) ? S("child") : name;
    if (name.n > 1 && (name.p[name.n - 1] == 's' || name.p[name.n - 1] == 'S') &&
        str_is_one_of(str_sub(name, 0, name.n - 1), other_beings))
        return str_sub(name, 0, name.n - 1);
    return S("");
}

/* Names that many have for one thing. */
static str usual_name(str name)
{
    static const struct {
        const char *said, *usual;
    } names[] = {
#define USUAL(said, usual) {said, usual},
#include "lang/fact_names.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i].said))
            return str_of(names[i].usual);
    return name;
}

/* "favouriteColour" as Americans write it. */
static str american_name(struct arena *a, str name)
{
    static const struct {
        const char *british, *american;
    } spellings[] = {
#define SPELLING(british, american) {british, american},
#include "lang/fact_names.def"
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        str british = str_of(spellings[i].british);
        size_t at = str_find(name, british);
        if (at < name.n)
            name = str_printf(a, S_FMT "%s" S_FMT, S_ARG(str_sub(name, 0, at)),
                              spellings[i].american, S_ARG(str_sub(name, at + british.n, name.n)));
    }
    return name;
}

/* --- values --- */

str profile_text(struct arena *a, str text)
{
    struct buf b = buf_make(a, LOOKED_AT + 8);
    size_t n = 0, took;
    for (size_t at = 0; at < text.n && n < PROFILE_VALUE_MAX; at += took) {
        int32_t c = utf8_at(text, at, &took);
        bool is_blank = c <= ' ' || (c >= 0x7F && c <= 0xA0) || c == 0x2028 || c == 0x2029;
        if (c < 0 || c == 0xFFFD || c == 0xFEFF || (is_blank && (!n || b.p[b.n - 1] == ' ')))
            continue;
        utf8_add(&b, is_blank ? ' ' : c);
        n++;
    }
    return str_trim(buf_str(&b));
}

str strip_marks(str s, const char *marks)
{
    while (s.n && char_is_one_of(s.p[0], marks))
        s = str_sub(s, 1, s.n);
    return str_trim_end(s, marks);
}

/* --- secrets --- */

/* As it would be kept. */
static bool says_secret(const struct reading *r, str words, str value)
{
    return secrets_are_in(str_printf(&r->ctx->arena, S_FMT ": " S_FMT, S_ARG(words), S_ARG(value)));
}

/* By name ("password", "pin") or by value; the whole path is looked at, as in {"bank": {"pin":
 * 1234}}. */
static bool is_secret(const struct reading *r, const str *path, size_t depth, str value)
{
    struct arena *a = &r->ctx->arena;
    struct buf b = buf_make(a, LOOKED_AT);
    for (size_t i = 0; i < depth; i++) {
        buf_byte(&b, ' ');
        buf_add(&b, profile_words(a, profile_camel(a, path[i])));
    }
    buf_byte(&b, ' ');
    str words = str_lower(a, buf_str(&b));
    if (b.full || text_holds_any(words, secret_names))
        return true;
    return says_secret(r, str_trim(buf_str(&b)), utf8_cut(value, LOOKED_AT));
}

/* --- days --- */

/* 1 to 12, or 0. */
static int month_of(str word)
{
    if (str_ends(word, S(".")))
        word.n--;
    return lexicon_month(word) + 1;
}

/* The number of "5", "5th" or "05,"; -1 for other words. */
static int64_t number_of(str word)
{
    int64_t v;
    word = str_trim_end(word, ",.");
    if (word.n > 2 && str_is_one_of(str_sub(word, word.n - 2, word.n), ordinal_endings))
        word.n -= 2;
    return word.n <= 4 && str_int(word, &v) && v >= 0 ? v : -1;
}

/* Dates of an impossible day are kept as the user wrote them. */
static str iso_date(struct arena *a, int64_t year, int64_t month, int64_t day, str otherwise)
{
    int64_t ms;
    if (year < 1000 || month < 1 || month > 12 || day < 1 || day > 31)
        return otherwise;
    str text = str_printf(a, "%04d-%02d-%02d", (int)year, (int)month, (int)day);
    return time_read(text, &ms) ? text : otherwise;
}

/* "5 May 1990", "May 5th, 1990", "5th of May 1990". */
static str day_in_words(struct arena *a, str text)
{
    str rest = text, words[5] = {{0}};
    size_t n = 0;
    while (rest.n && n < 5) {
        str word = str_trim(str_cut(&rest, ' '));
        if (word.n && !str_eq_nocase(word, S("of")))
            words[n++] = word;
    }
    if (n != 3)
        return text;
    int64_t year = number_of(words[2]);
    if (month_of(words[0]))
        return iso_date(a, year, month_of(words[0]), number_of(words[1]), text);
    return iso_date(a, year, month_of(words[1]), number_of(words[0]), text);
}

/* ISO where the day is certain: "5 May 1990", "31.12.1999", "1999/12/31". "03/04/2020" may be two
 * days and stays as written. */
str profile_day(struct arena *a, str text)
{
    str rest = text, first, second;
    size_t at = 0;
    while (at < text.n && text.p[at] >= '0' && text.p[at] <= '9')
        at++;
    char mark = at && at < text.n ? text.p[at] : 0;
    if (!mark || !strchr("/.-", mark))
        return text.n <= 40 ? day_in_words(a, text) : text;
    first = str_cut(&rest, mark);
    second = str_cut(&rest, mark);
    if (first.n > 4 || second.n < 1 || second.n > 2 || rest.n < 1 || rest.n > 4)
        return text;
    int64_t x = number_of(first), y = number_of(second), z = number_of(rest);
    if (first.n == 4 && rest.n <= 2)
        return iso_date(a, x, y, z, text);
    if (rest.n != 4 || first.n > 2)
        return text;
    if (mark == '.' || x > 12 || x == y)
        return iso_date(a, z, y, x, text);
    return y > 12 ? iso_date(a, z, x, y, text) : text;
}

/* --- facts --- */

static struct read_fact *fact_named(const struct reading *r, str name)
{
    for (size_t i = 0; i < r->n; i++)
        if (str_eq(r->v[i].name, name))
            return &r->v[i];
    return NULL;
}

static str path_of(const struct reading *r, const str *path, size_t depth)
{
    struct buf b = buf_make(&r->ctx->arena, LOOKED_AT);
    buf_printf(&b, "%d", r->source);
    for (size_t i = 0; i < depth; i++) {
        buf_byte(&b, '\n');
        buf_add(&b, path[i]);
    }
    return buf_str(&b);
}

/* The name that it would have, and the longer one that it has where that is taken. */
static str name_of(const struct reading *r, const str *path, size_t depth)
{
    struct arena *a = &r->ctx->arena;
    str last = american_name(a, profile_camel(a, path[depth - 1]));
    str parent = depth > 1 ? profile_camel(a, path[depth - 2]) : S("");
    str name = usual_name(last);
    if (!last.n)
        return S("");
    for (size_t i = depth - 1; i-- > 0;) {
        str being = other_person(profile_camel(a, path[i]));
        if (being.n)
            return join_names(a, being, last);
    }
    if (parent.n && str_is_one_of(last, vague_names) && !str_is_one_of(parent, wrapping_names))
        return join_names(a, parent, last);
    if (!fact_named(r, name))
        return name;
    if (!fact_named(r, last))
        return last;
    return parent.n ? join_names(a, parent, last) : S("");
}

/* "name" and "firstName" are often given both, and say the same. */
static bool is_said(const struct reading *r, str name, str value)
{
    bool is_name = str_is(name, "name");
    const struct read_fact *f = is_name || str_is(name, "firstName")
                                    ? fact_named(r, is_name ? S("firstName") : S("name"))
                                    : NULL;
    return f && str_eq_nocase(f->value, value);
}

/* A list's items become one value, "climbing, chess", each once. */
static void extend_fact(struct reading *r, struct read_fact *f, str value)
{
    struct arena *a = &r->ctx->arena;
    str there = str_printf(a, ", " S_FMT ",", S_ARG(f->value));
    if (f->value.n >= PROFILE_VALUE_MAX ||
        str_find(there, str_printf(a, ", " S_FMT ",", S_ARG(value))) < there.n)
        return;
    str longer = profile_text(a, str_printf(a, S_FMT ", " S_FMT, S_ARG(f->value), S_ARG(value)));
    if (!says_secret(r, profile_words(a, f->name), longer))
        f->value = longer;
}

/* The one door of all readers. A text holds much else; what may not be a fact is left out. */
void reading_add(struct reading *r, const str *path, size_t depth, str value)
{
    struct arena *a = &r->ctx->arena;
    if (!depth || ++r->leaves > LEAVES_MAX)
        return;
    str text = profile_day(a, profile_text(a, value));
    /* Words by which forms and models say that there is nothing. */
    bool is_placeholder = str_is_one_of(strip_marks(text, " .,;:<>[](){}-_\"'`*?"), no_facts);
    if (is_placeholder || is_secret(r, path, depth, value))
        return;
    str place = path_of(r, path, depth);
    for (size_t i = r->n; i-- > 0;)
        if (str_eq(r->v[i].path, place)) {
            extend_fact(r, &r->v[i], text);
            return;
        }
    str name = name_of(r, path, depth);
    if (!name.n || fact_named(r, name) || is_said(r, name, text) ||
        says_secret(r, profile_words(a, name), text) || r->n == PROFILE_MAX)
        return;
    ARENA_ADD(a, r->v, r->n, r->cap) = (struct read_fact){name, text, place};
}
