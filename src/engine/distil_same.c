/* distil_same.c - whether a line is new, and whether the user said it. */
#include "base/words.h"
#include "engine/distil.h"
#include "engine/sentences.h"

enum { TOLD_MAX = 50000, LINE_WORDS = 100 };

/* --- the user's words --- */

static bool speaks_of_self(struct arena *a, str sentence)
{
    static const char *const words[] = {"i",     "me",       "my",     "mine",   "myself", "we",
                                        "us",    "our",      "ich",    "mich",   "mir",    "mein",
                                        "meine", "meinem",   "meinen", "meiner", "wir",    "uns",
                                        "unser", "unsere",   "je",     "moi",    "mon",    "ma",
                                        "mes",   "nous",     "notre",  "yo",     "mi",     "mis",
                                        "me",    "nosotros", "io",     "mio",    "mia",    "noi",
                                        "eu",    "meu",      "minha",  NULL};
    struct words w = words_of(a, sentence, LINE_WORDS);
    for (size_t i = 0; i < w.n; i++)
        if (str_is_one_of(w.v[i].text, words))
            return true;
    return false;
}

/* What is asked of somebody else tells nothing of the user ("Do you like figs?"): the sentences of
 * a text that are such questions, or the others. */
static str sentences_of(struct arena *a, str text, bool are_questions)
{
    struct buf b = buf_make(a, 2 * text.n + 2);
    while (text.n) {
        str first = first_sentences(text, 1);
        size_t took = first.n ? (size_t)(first.p + first.n - text.p) : text.n;
        bool is_question = str_ends(first, S("?")) && !speaks_of_self(a, first);
        if (is_question == are_questions) {
            buf_add(&b, first);
            buf_byte(&b, '\n');
        }
        text = str_trim(str_sub(text, took, text.n));
    }
    return buf_str(&b);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_words(struct arena *a, struct stems *s, const struct words *w)
{
    for (size_t i = 0; i < w->n && s->n < TOLD_MAX; i++) {
        s->v = arena_more(a, s->v, s->n, &s->cap, sizeof *s->v);
        s->v[s->n++] = str_hash(w->v[i].stem);
    }
}

static void sort(struct stems *s)
{
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_number);
}

struct told_words told_words_of(struct arena *a, const struct distilling *d)
{
    struct told_words told = {.each = NEW_N(a, struct words, d->n)};
    for (size_t i = 0; i < d->n; i++) {
        str text = d->signals[i].message.text;
        if (str_find(text, S("?")) < text.n) {
            struct words w = words_of(a, sentences_of(a, text, true), TOLD_MAX);
            add_words(a, &told.asked, &w);
            text = sentences_of(a, text, false);
        }
        told.each[i] = words_of(a, text, TOLD_MAX - told.said.n);
        add_words(a, &told.said, &told.each[i]);
    }
    for (size_t i = 0; i < d->n_identity; i++) {
        struct words known = words_of(a, d->identity[i].content, LINE_WORDS);
        add_words(a, &told.said, &known);
    }
    sort(&told.said);
    sort(&told.asked);
    return told;
}

static bool holds(const struct stems *s, str stem)
{
    uint64_t hash = str_hash(stem);
    return s->n && bsearch(&hash, s->v, s->n, sizeof hash, by_number);
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
    return w->is_stop || str_is_one_of(w->text, words);
}

bool is_told(struct arena *a, const struct told_words *told, str line)
{
    struct words w = words_of(a, line, LINE_WORDS);
    size_t telling = 0, found = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (says_nothing(&w.v[i]))
            continue;
        bool is_there = holds(&told->said, w.v[i].stem);
        if (!is_there && (w.v[i].is_name || holds(&told->asked, w.v[i].stem)))
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

/* --- whether a summary is one of the conversation --- */

/* Of all that was said, by the assistant, too. */
struct heard {
    struct stems words;
    size_t n, stops;
};

static void hear(struct arena *a, struct heard *h, str text)
{
    struct words w = words_of(a, text, TOLD_MAX);
    add_words(a, &h->words, &w);
    h->n += w.n;
    for (size_t i = 0; i < w.n; i++)
        h->stops += w.v[i].is_stop;
}

static struct heard heard_of(struct arena *a, const struct distilling *d)
{
    struct heard h = {0};
    for (size_t i = 0; i < d->n; i++) {
        hear(a, &h, d->signals[i].message.text);
        hear(a, &h, d->signals[i].answer);
    }
    for (size_t i = 0; i < d->n_identity; i++)
        hear(a, &h, d->identity[i].content);
    if (d->before)
        hear(a, &h, d->before->content);
    sort(&h.words);
    return h;
}

/*
 * Three questions and answers of LoCoMo about one session, in other people's words, share at least
 * 0.54 of their telling words with it, and one alone at least a third (98 of 100); with a session
 * of others three share less than a third (93 of 100), as one alone does (80 of 100). So at a third
 * no honest summary is refused, and most of what was made up. A short one tells too little, and one
 * in English of a conversation in another language cannot be told: English has stop words here.
 */
bool is_of_conversation(struct arena *a, const struct distilling *d, str summary)
{
    enum { TELLING_LEAST = 6 };
    struct words w = words_of(a, summary, 10 * LINE_WORDS);
    struct heard said = heard_of(a, d), asked = {0};
    size_t telling = 0, found = 0, repeated = 0, stops = 0;
    hear(a, &asked, distil_instructions());
    sort(&asked.words);
    for (size_t i = 0; i < w.n; i++) {
        stops += w.v[i].is_stop;
        if (says_nothing(&w.v[i]) || w.v[i].is_number)
            continue;
        telling++;
        found += holds(&said.words, w.v[i].stem);
        repeated += holds(&asked.words, w.v[i].stem);
    }
    bool is_foreign = said.stops * w.n * 2 < stops * said.n;
    if (telling < TELLING_LEAST || is_foreign)
        return true;
    bool is_repeated = 5 * repeated >= 4 * telling && repeated > found;
    return 3 * found >= telling && !is_repeated;
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
        if (str_is_one_of(words.v[i], nots))
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
