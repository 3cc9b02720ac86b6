/* attributes.c - attributes of a person or thing that a question asks for and a statement tells. */
#include "engine/text/attributes.h"

#include "base/buf.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "lang/attributes_lists.h"
#include "words/stem_table.h"

/*
 * A question and its answer often share no word: "Who is my manager?" and "My boss is called Ana".
 * lang/attributes.def lists for each attribute of a person (home, job, diet …) the phrases that ask
 * for it (ASKS), the words by which statements tell of it (TELLS), and the labels of profile lines
 * (LABELS). Recall uses them for a second search (recall/attribute_lookup.c). An attribute is one
 * bit, so a set of them is a number.
 */

/* Requests are looked at as far as this (bytes): a long one is a task. */
enum { REQUEST_MAX = 400 };
/* Bits behind those of the attributes. */
enum { WANTED = ATTRIBUTE_COUNT, WANTED_FOOD, WANTED_ASKED, TASTE, FOOD, NO_FOOD };

const char *const attribute_names[] = {
#define ATTRIBUTE(name) #name,
#include "engine/text/attributes.def"
    NULL};

/* --- words --- */

static const struct stem_row rows[] = {
#define TELLS(name, words) {1u << ATTRIBUTE_##name, words},
#define WANTS(words) {1u << WANTED, words},
#define WANTS_FOOD(words) {1u << WANTED_FOOD, words},
#define OF_FOOD(words) {1u << FOOD, words},
#define NOT_FOOD(words) {1u << NO_FOOD, words},
#define WANTS_ASKED(words) {1u << WANTED_ASKED, words},
#define TASTES(words) {1u << TASTE, words},
#include "lang/attributes.def"
};

static const struct stem_row sought_rows[] = {
#define SOUGHT(name, words) {1u << ATTRIBUTE_##name, words},
#include "lang/attributes.def"
};

static const struct stem_row label_rows[] = {
#define LABELS(name, words) {1u << ATTRIBUTE_##name, words},
#include "lang/attributes.def"
};

/* "lessons with a teacher", "married to a nurse": the work of somebody else. */
static bool is_with_someone(const struct words *w, size_t at)
{
    return at >= 2 && lexicon_is(w->v[at - 1].text, LEX_ARTICLE | LEX_DETERMINER) &&
           str_is_one_of(w->v[at - 2].text, of_somebody_else);
}

/* One look-up for each word; the bits behind the attributes are not a statement's. */
uint32_t attributes_told(const struct words *w)
{
    const struct stem_table *t = STEM_TABLE(rows);
    uint32_t told = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint32_t bits = stem_bits(t, w->v[i].stem);
        bool is_anothers = bits & ATTRIBUTE_BIT(job) && is_with_someone(w, i);
        told |= is_anothers ? bits & ~ATTRIBUTE_BIT(job) : bits;
    }
    return told & ((1u << WANTED) - 1);
}

static struct strs stems_in(struct arena *a, const struct stem_table *t, uint32_t attributes,
                            struct strs before)
{
    struct strs out = {DUP_N(a, before.v, before.n, before.n + t->n + 1), before.n};
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].bits & attributes)
            out.v[out.n++] = t->v[i].text;
    return out;
}

struct strs attributes_stems(struct arena *a, uint32_t attributes)
{
    struct strs told = stems_in(a, STEM_TABLE(rows), attributes, (struct strs){0});
    return stems_in(a, STEM_TABLE(label_rows), attributes, told);
}

struct strs attributes_sought(struct arena *a, uint32_t attributes)
{
    return stems_in(a, STEM_TABLE(sought_rows), attributes, (struct strs){0});
}

/* "diet: vegan": the label decides, whatever the value. At most FEW words before the colon. */
uint32_t attributes_labelled(struct arena *a, str line)
{
    enum { FEW = 3 };
    uint32_t found = 0;
    str rest = line, label = str_cut(&rest, ':');
    struct words w = words_of(a, rest.n ? label : S(""), FEW + 1);
    for (size_t i = 0; i < w.n && w.n <= FEW; i++)
        found |= stem_bits(STEM_TABLE(label_rows), w.v[i].stem) |
                 stem_bits(STEM_TABLE(rows), w.v[i].stem);
    return found & ((1u << WANTED) - 1);
}

/* --- phrases --- */

/* "My boss's name" asks for the boss. */
static str without_possessives(struct arena *a, str folded)
{
    struct buf b = buf_make(a, folded.n + 1);
    for (size_t i = 0; i < folded.n; i++) {
        bool is_one = folded.p[i] == '\'' && i + 1 < folded.n && folded.p[i + 1] == 's' &&
                      (i + 2 == folded.n || !phrase_has_byte(folded.p[i + 2]));
        i += is_one;
        if (!is_one)
            buf_byte(&b, folded.p[i]);
    }
    return buf_str(&b);
}

struct attribute_phrase {
    const char *text;
    uint32_t attribute;
};

/* The attributes of the phrases that stand in a folded text. */
static uint32_t attributes_by_phrase(struct arena *a, str folded,
                                     const struct attribute_phrase *list)
{
    uint32_t found = 0;
    struct phrase_words w = phrase_words_of(a, folded);
    for (int i = 0; (i = phrase_next(&w, &list->text, sizeof *list, i, NULL)) >= 0; i++)
        found |= list[i].attribute;
    return found;
}

/* Parts (ASKS_PART) are for scripts that do not part words; all others are whole words. */
uint32_t attributes_asked(struct arena *a, str question)
{
    static const struct attribute_phrase asks[] = {
#define ASKS(name, phrase) {phrase, ATTRIBUTE_BIT(name)},
#include "lang/attributes.def"
        {0}};
    static const struct attribute_phrase parts[] = {
#define ASKS_PART(name, text) {text, ATTRIBUTE_BIT(name)},
#include "lang/attributes.def"
    };
    uint32_t asked = 0;
    if (question.n > REQUEST_MAX)
        return 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_find(question, str_of(parts[i].text)) < question.n)
            asked |= parts[i].attribute;
    str folded = phrase_fold(a, question), plain = without_possessives(a, folded);
    asked |= attributes_by_phrase(a, folded, asks);
    if (plain.n < folded.n)
        asked |= attributes_by_phrase(a, plain, asks);
    return asked;
}

uint32_t attributes_told_so(struct arena *a, str line)
{
    static const struct attribute_phrase tells[] = {
#define TELLS_SO(name, phrase) {phrase, ATTRIBUTE_BIT(name)},
#include "lang/attributes.def"
        {0}};
    return attributes_by_phrase(a, phrase_fold(a, line), tells);
}

/* "What desserts has Maria made?" asks how it was, so nothing bears on it. "What would you suggest
 * for someone who was ill?" is a request. */
static bool asks_back(const struct words *w)
{
    enum { FRONT = 2 };
    bool asks = false;
    for (size_t i = 0; i < w->n; i++) {
        str text = w->v[i].text;
        asks |= i < FRONT && lexicon_is(text, LEX_QUESTION);
        if (!asks && i >= FRONT)
            return false;
        if (str_eq_nocase(text, S("has")) || str_eq_nocase(text, S("have")))
            return asks && i + 1 < w->n &&
                   (w->v[i + 1].is_name ||
                    lexicon_is(w->v[i + 1].text, LEX_SELF | LEX_PERSON | LEX_THING));
        if (lexicon_is(text, LEX_AUXILIARY))
            return asks && lexicon_is(text, LEX_PAST);
    }
    return false;
}

/* "When is the dinner?", "How much have I saved for the trip?" are no requests. */
static bool asks_for_fact(const struct words *w)
{
    return SOME(i, w->n,
                str_is_one_of(w->v[i].text, fact_questions) ||
                    (i + 1 < w->n && str_is_one_of(w->v[i].text, figure_questions) &&
                     str_is_one_of(w->v[i + 1].text, asked_figures)));
}

static uint32_t bits_of(const struct words *w)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < w->n; i++)
        bits |= stem_bits(STEM_TABLE(rows), w->v[i].stem);
    return bits;
}

/* Whether a request is one on which health or advice bears. Plain tasks on code, sums and texts
 * are not, unless the user is in them ("my"). */
struct bearing bearing_of(struct arena *a, str request)
{
    struct bearing b = {0};
    if (request.n > REQUEST_MAX)
        return b;
    struct words w = words_of(a, request, REQUEST_MAX);
    struct phrase_words p = phrase_words_of(a, phrase_fold(a, request));
    bool is_own = lexicon_in(&w, LEX_SELF | LEX_SELF_TOO);
    if (asks_back(&w) || (!is_own && phrase_find_any(&p, plain_tasks)))
        return b;
    b.on_advice = phrase_find_any(&p, advising_phrases);
    uint32_t bits = bits_of(&w);
    bool is_wanted = bits >> WANTED & 1, is_food = bits >> WANTED_FOOD & 1;
    bool is_request = b.on_advice || words_have(&w, advice_modals);
    bool is_asked = (bits >> WANTED_ASKED & 1) && (is_request || words_have(&w, advice_words));
    b.on_food = is_food && !is_wanted;
    b.on_health = (is_wanted || is_food || is_asked) && (is_request || !asks_for_fact(&w));
    b.on_taste = (bits >> TASTE & 1) && b.on_advice && !b.on_health;
    return b;
}

bool attributes_of_food(const struct words *w)
{
    uint32_t bits = bits_of(w);
    return (bits >> FOOD & 1) && !(bits >> NO_FOOD & 1);
}
