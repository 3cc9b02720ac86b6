/* distil_same.c - whether a line is new, and whether the user said it. */
#include "base/words.h"
#include "engine/distil.h"

enum { TOLD_MAX = 50000, LINE_WORDS = 100 };

/* --- the user's words --- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_words(struct arena *a, struct told_words *told, size_t *cap, const struct words *w)
{
    for (size_t i = 0; i < w->n && told->n < TOLD_MAX; i++) {
        told->v = arena_more(a, told->v, told->n, cap, sizeof *told->v);
        told->v[told->n++] = str_hash(w->v[i].stem);
    }
}

struct told_words told_words_of(struct arena *a, const struct distilling *d)
{
    struct told_words told = {.each = NEW_N(a, struct words, d->n)};
    size_t cap = 0;
    for (size_t i = 0; i < d->n; i++) {
        told.each[i] = words_of(a, d->signals[i].message.text, TOLD_MAX - told.n);
        add_words(a, &told, &cap, &told.each[i]);
    }
    for (size_t i = 0; i < d->n_identity; i++) {
        struct words known = words_of(a, d->identity[i].content, LINE_WORDS);
        add_words(a, &told, &cap, &known);
    }
    if (told.n)
        qsort(told.v, told.n, sizeof *told.v, by_number);
    return told;
}

static bool holds(const struct told_words *told, str stem)
{
    uint64_t hash = str_hash(stem);
    return told->n && bsearch(&hash, told->v, told->n, sizeof hash, by_number);
}

static bool is_one_of(str word, const char *const *list)
{
    while (*list && !str_eq_nocase(word, str_of(*list)))
        list++;
    return *list;
}

/* How models call the user, and words that they make of "tomorrow". */
static bool says_nothing(const struct word *w)
{
    static const char *const words[] = {"user",     "user's",    "users",       "benutzer",
                                        "nutzer",   "usuario",   "utilisateur", "january",
                                        "february", "march",     "april",       "may",
                                        "june",     "july",      "august",      "september",
                                        "october",  "november",  "december",    "monday",
                                        "tuesday",  "wednesday", "thursday",    "friday",
                                        "saturday", "sunday",    NULL};
    return w->is_stop || is_one_of(w->text, words);
}

bool is_told(struct arena *a, const struct told_words *told, str line)
{
    struct words w = words_of(a, line, LINE_WORDS);
    size_t telling = 0, found = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (says_nothing(&w.v[i]))
            continue;
        bool is_there = holds(told, w.v[i].stem);
        if (w.v[i].is_name && !is_there)
            return false;
        telling++;
        found += is_there;
    }
    return found && 2 * found >= telling;
}

static bool says(const struct words *said, str stem)
{
    for (size_t i = 0; i < said->n; i++)
        if (str_eq(said->v[i].stem, stem))
            return true;
    return false;
}

size_t teller_of(struct arena *a, const struct told_words *told, size_t signals, str line)
{
    struct words w = words_of(a, line, LINE_WORDS);
    size_t best = 0, most = 0;
    for (size_t i = 0; i < signals; i++) {
        size_t shared = 0;
        for (size_t k = 0; k < w.n; k++)
            shared += !says_nothing(&w.v[k]) && says(&told->each[i], w.v[k].stem);
        if (shared > most) {
            most = shared;
            best = i;
        }
    }
    return best;
}

/* --- lines beside each other --- */

/* Each once. */
static struct strs plain_words(struct arena *a, str line)
{
    str rest = utf8_lower(a, line);
    struct strs out = {NEW_N(a, str, LINE_WORDS), 0};
    while (rest.n && out.n < LINE_WORDS) {
        str word = str_cut(&rest, ' ');
        while (word.n && strchr(".,;:!?", word.p[word.n - 1]))
            word.n--;
        bool is_there = !word.n;
        for (size_t i = 0; i < out.n; i++)
            is_there |= str_eq(out.v[i], word);
        if (!is_there)
            out.v[out.n++] = word;
    }
    return out;
}

static bool has(struct strs list, str word)
{
    for (size_t i = 0; i < list.n; i++)
        if (str_eq(list.v[i], word))
            return true;
    return false;
}

static size_t shared_by(struct strs one, struct strs other)
{
    size_t n = 0;
    for (size_t i = 0; i < one.n; i++)
        n += has(other, one.v[i]);
    return n;
}

static double jaccard(struct strs one, struct strs other)
{
    size_t shared = shared_by(one, other), all = one.n + other.n - shared;
    return all ? (double)shared / (double)all : 0;
}

double word_jaccard(struct arena *a, str one, str other)
{
    return jaccard(plain_words(a, one), plain_words(a, other));
}

static bool denies(struct strs words)
{
    static const char *const nots[] = {"not",   "no",   "never",   "longer", "isn't",   "doesn't",
                                       "nicht", "kein", "stopped", "don't",  "without", NULL};
    for (size_t i = 0; i < words.n; i++)
        if (is_one_of(words.v[i], nots))
            return true;
    return false;
}

/* Whether one has a word of its own that tells something. */
static bool adds(struct arena *a, str line, struct strs there)
{
    struct words w = words_of(a, line, LINE_WORDS);
    for (size_t i = 0; i < w.n; i++)
        if (!says_nothing(&w.v[i]) && !has(there, utf8_lower(a, w.v[i].text)))
            return true;
    return false;
}

/*
 * Osaurus drops every line that shares more than 0.6 of its words with one that is there, and so
 * loses a new detail, a denial ("not") and another thing said in the same words. Here what only
 * adds takes the old one's place, what denies it does, too, and what has something else in the
 * place of something stands beside it.
 */
enum likeness likeness_of(struct arena *a, str line, str there)
{
    struct strs new = plain_words(a, line), old = plain_words(a, there);
    size_t shared = shared_by(new, old);
    if (jaccard(new, old) <= 0.6)
        return ANOTHER;
    if (denies(new) != denies(old))
        return NEWER;
    if (shared == new.n || !adds(a, line, old))
        return THE_SAME;
    return shared == old.n ? NEWER : ANOTHER;
}

/* --- what an identity line is about --- */

static bool cut_front(str *line, str with)
{
    if (line->n < with.n || !str_eq_nocase(str_sub(*line, 0, with.n), with))
        return false;
    *line = str_sub(*line, with.n, line->n);
    return true;
}

static str without_subject(str line)
{
    static const char *const subjects[] = {"the user's ", "the user ", "user's ", "user ", "my ",
                                           "his ",        "her ",      "their ",  "he ",   "she ",
                                           "they ",       "i ",        NULL};
    line = str_trim(line);
    for (const char *const *s = subjects; *s; s++)
        if (cut_front(&line, str_of(*s)))
            return str_trim(line);
    return line;
}

str slot_of(str line, str *value)
{
    static const struct {
        const char *begins, *slot;
    } slots[] = {{"name is ", "name"},
                 {"full name is ", "name"},
                 {"name: ", "name"},
                 {"is named ", "name"},
                 {"is called ", "name"},
                 {"works at ", "employer"},
                 {"works for ", "employer"},
                 {"is employed by ", "employer"},
                 {"is employed at ", "employer"},
                 {"employer is ", "employer"},
                 {"employer: ", "employer"},
                 {"now works at ", "employer"},
                 {"now works for ", "employer"},
                 {"works as ", "job"},
                 {"job is ", "job"},
                 {"occupation is ", "job"},
                 {"job title is ", "job"},
                 {"lives in ", "home"},
                 {"now lives in ", "home"},
                 {"is based in ", "home"},
                 {"resides in ", "home"},
                 {"moved to ", "home"},
                 {"home is ", "home"},
                 {"birthday is ", "birthday"},
                 {"was born on ", "birthday"},
                 {"age is ", "age"},
                 {"pronouns are ", "pronouns"},
                 {"timezone is ", "timezone"},
                 {"time zone is ", "timezone"}};
    str rest = without_subject(line);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        *value = rest;
        if (!cut_front(value, str_of(slots[i].begins)))
            continue;
        *value = str_trim(*value);
        while (value->n && strchr(".!,", value->p[value->n - 1]))
            value->n--;
        return value->n ? str_of(slots[i].slot) : S("");
    }
    *value = rest;
    return S("");
}
