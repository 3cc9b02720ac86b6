/* same.c - whether two texts say the same, as far as their words tell. */
#include "engine/same.h"

#include "base/words.h"
#include "engine/distil.h"

/*
 * A cosine says how alike two texts sound, and "User's dog likes long walks" sounds like "User's
 * cat likes long walks". So what sounds alike is held against each other word by word: where one
 * has a telling word in the place of another one, or other numbers or names, it is not the same
 * without a model's word, nor where the newer one has more than one telling word that the older one
 * lacks. Only what is put in another way ("name is", "is referred to as") is left to the cosine.
 */
enum { WORDS_MAX = 4000, FRAME_MAX = 64, OTHER_WORDS = 1 };

/* --- reading --- */

/* Words that mean the same here, by their stems. */
static uint64_t term_of(str stem)
{
    static const struct {
        const char *word, *means;
    } folded[] = {{"love", "like"},   {"enjoy", "like"},       {"ador", "like"},
                  {"dislik", "hate"}, {"detest", "hate"},      {"call", "name"},
                  {"resid", "live"},  {"favourit", "favorit"}, {"colour", "color"}};
    for (size_t i = 0; i < sizeof folded / sizeof *folded; i++)
        if (str_is(stem, folded[i].word))
            return str_hash(str_of(folded[i].means));
    return str_hash(stem);
}

/* "don't" comes as two words. */
static bool turns_round(const struct words *w, size_t i)
{
    static const char *const nots[] = {"not",      "no",      "never", "cannot", "without",
                                       "stopped",  "quit",    "hate",  "hates",  "dislike",
                                       "dislikes", "detests", "avoid", "avoids", "nicht",
                                       "kein",     "keine",   "nie",   NULL};
    static const char *const before_t[] = {"don",    "doesn",   "didn",   "isn",    "aren", "wasn",
                                           "weren",  "won",     "can",    "couldn", "hasn", "haven",
                                           "should", "shouldn", "wouldn", "mustn",  NULL};
    bool is_short = str_is(w->v[i].text, "t") && i && str_is_one_of(w->v[i - 1].text, before_t);
    return is_short || str_is_one_of(w->v[i].text, nots);
}

static bool is_number(const struct word *w)
{
    static const char *const numbers[] = {"two",   "three", "four",  "five",   "six",    "seven",
                                          "eight", "nine",  "ten",   "eleven", "twelve", "dozen",
                                          "once",  "twice", "first", "second", "third",  NULL};
    return w->is_number || str_is_one_of(w->text, numbers);
}

/* What models call the user says nothing, nor does what only stresses. */
static bool tells(const struct word *w)
{
    static const char *const empty[] = {"user",  "really", "actually",   "definitely", "absolutely",
                                        "quite", "truly",  "personally", NULL};
    return !w->is_stop && !str_is_one_of(w->text, empty);
}

static void add(struct terms *t, uint64_t term)
{
    t->v[t->n++] = term;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort(struct terms *t)
{
    size_t kept = 0;
    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, by_value);
    for (size_t i = 0; i < t->n; i++)
        if (!kept || t->v[kept - 1] != t->v[i])
            t->v[kept++] = t->v[i];
    t->n = kept;
}

static bool has(const struct terms *t, uint64_t term)
{
    return t->n && bsearch(&term, t->v, t->n, sizeof term, by_value);
}

/* "User's favorite color is blue": there is one favorite color. */
static void find_slot(struct arena *a, str text, struct saying *out)
{
    static const char *const begins[] = {"favorite ", "favourite ", "preferred "};
    str value;
    out->slot = slot_of(text, &value);
    out->value = value;
    str lower = utf8_lower(a, text);
    for (size_t i = 0; !out->slot.n && i < sizeof begins / sizeof *begins; i++) {
        size_t from = str_find(lower, str_of(begins[i]));
        if (from == lower.n)
            continue;
        str rest = str_sub(lower, from + strlen(begins[i]), lower.n);
        size_t is = str_find(rest, S(" is "));
        if (is == rest.n)
            continue;
        out->slot = str_trim(str_sub(rest, 0, is));
        out->value = str_trim(str_sub(rest, is + 4, rest.n));
        while (out->value.n && strchr(".!,", out->value.p[out->value.n - 1]))
            out->value.n--;
    }
}

struct saying saying_of(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    uint64_t *room = NEW_N(a, uint64_t, 4 * w.n + 4);
    struct saying s = {.plain = {room, 0},
                       .telling = {room + w.n, 0},
                       .numbers = {room + 2 * w.n, 0},
                       .names = {room + 3 * w.n, 0}};
    for (size_t i = 0; i < w.n; i++) {
        uint64_t term = term_of(w.v[i].stem);
        add(&s.plain, term);
        s.all = s.all * 0x9E3779B97F4A7C15u + term;
        s.denies ^= turns_round(&w, i);
        if (tells(&w.v[i]))
            add(&s.telling, term);
        if (is_number(&w.v[i]))
            add(&s.numbers, term);
        if (w.v[i].is_name && tells(&w.v[i]))
            add(&s.names, term);
    }
    if (w.n == WORDS_MAX)
        s.all ^= str_hash(text);
    sort(&s.telling);
    sort(&s.numbers);
    sort(&s.names);
    find_slot(a, text, &s);
    return s;
}

/* --- comparing --- */

static size_t shared_by(const struct terms *one, const struct terms *other)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < one->n && k < other->n;) {
        n += one->v[i] == other->v[k];
        bool first = one->v[i] <= other->v[k], second = other->v[k] <= one->v[i];
        i += first;
        k += second;
    }
    return n;
}

double sayings_share(const struct saying *one, const struct saying *other)
{
    size_t shared = shared_by(&one->telling, &other->telling);
    size_t all = one->telling.n + other->telling.n - shared;
    return all ? (double)shared / (double)all : 0;
}

static bool holds_names(const struct saying *one, const struct saying *other)
{
    for (size_t i = 0; i < one->names.n; i++)
        if (!has(&other->telling, one->names.v[i]))
            return false;
    return true;
}

/* How long the longest common part of the rests from i and k on is: rest[i][k]. */
struct frame {
    uint8_t rest[FRAME_MAX + 1][FRAME_MAX + 1];
};

static void measure(const struct terms *one, const struct terms *other, struct frame *f)
{
    memset(f, 0, sizeof *f);
    for (size_t i = one->n; i-- > 0;)
        for (size_t k = other->n; k-- > 0;) {
            uint8_t skip =
                f->rest[i + 1][k] > f->rest[i][k + 1] ? f->rest[i + 1][k] : f->rest[i][k + 1];
            f->rest[i][k] = one->v[i] == other->v[k] ? (uint8_t)(f->rest[i + 1][k + 1] + 1) : skip;
        }
}

/* What is too long to be held against each other word by word is not, unless it is equal. */
static bool is_long(const struct saying *one, const struct saying *other)
{
    return one->plain.n > FRAME_MAX || other->plain.n > FRAME_MAX;
}

/* Whether in a common frame a telling word stands where the other has another one. */
static bool is_replaced(const struct saying *one, const struct saying *other)
{
    struct frame f;
    const struct terms *x = &one->plain, *y = &other->plain;
    size_t i = 0, k = 0;
    bool mine = false, theirs = false;
    measure(x, y, &f);
    size_t shorter = x->n < y->n ? x->n : y->n;
    if (2 * (size_t)f.rest[0][0] < shorter)
        return false;
    while (i < x->n || k < y->n) {
        if (i < x->n && k < y->n && x->v[i] == y->v[k]) {
            if (mine && theirs)
                return true;
            mine = theirs = false;
            i++, k++;
        } else if (k == y->n || (i < x->n && f.rest[i + 1][k] >= f.rest[i][k + 1])) {
            mine |= has(&one->telling, x->v[i++]);
        } else {
            theirs |= has(&other->telling, y->v[k++]);
        }
    }
    return mine && theirs;
}

/* Whether the words that both tell come in the same order. */
static bool is_in_order(const struct saying *one, const struct saying *other)
{
    uint64_t v[2][FRAME_MAX];
    size_t n[2] = {0, 0};
    const struct saying *of[2] = {one, other};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < of[s]->plain.n; i++)
            if (has(&one->telling, of[s]->plain.v[i]) && has(&other->telling, of[s]->plain.v[i]))
                v[s][n[s]++] = of[s]->plain.v[i];
    return n[0] != n[1] || !n[0] || !memcmp(v[0], v[1], n[0] * sizeof *v[0]);
}

enum relation sayings_relate(const struct saying *newer, const struct saying *older)
{
    size_t shared = shared_by(&newer->telling, &older->telling);
    if (newer->slot.n && str_eq(newer->slot, older->slot) &&
        !str_eq_nocase(newer->value, older->value))
        return CHANGED;
    if (newer->denies != older->denies)
        return CHANGED;
    if (newer->numbers.n != older->numbers.n ||
        shared_by(&newer->numbers, &older->numbers) != older->numbers.n)
        return DIFFERENT;
    if (!holds_names(newer, older) || !holds_names(older, newer))
        return shared == older->telling.n && newer->telling.n > shared ? FULLER : DIFFERENT;
    if (newer->all == older->all)
        return ALIKE;
    if (is_long(newer, older) || is_replaced(newer, older) || !is_in_order(newer, older))
        return UNSURE;
    if (shared == older->telling.n && newer->telling.n > shared)
        return FULLER;
    return newer->telling.n > shared + OTHER_WORDS ? UNSURE : ALIKE;
}

/* --- the band --- */

double same_least(const struct settings *s)
{
    bool asks = str_is(s->dedup_llm, "on") && s->dedup_llm_low < s->dedup_similarity;
    return asks ? s->dedup_llm_low : s->dedup_similarity;
}

enum sameness same_by_cosine(const struct settings *s, enum relation relation, double cosine,
                             bool with_model)
{
    if (relation != ALIKE && relation != UNSURE)
        return NOT_SAME;
    if (!with_model)
        return relation == ALIKE && cosine >= s->dedup_similarity ? IS_SAME : NOT_SAME;
    if (relation == ALIKE && cosine >= s->dedup_llm_high)
        return IS_SAME;
    return cosine >= s->dedup_llm_low ? ASK_MODEL : NOT_SAME;
}
