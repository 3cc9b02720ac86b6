/* importance.c - the weight of a memory: by rule, from 0.5 to 0.9, and as time passes. */
#include <math.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/text.h"
#include "engine/text/claims.h"
#include "engine/text/lexicon.h"
#include "words/words.h"

/*
 * What may hurt someone when it is forgotten comes first, so a word that names an illness, a drug
 * or an allergy decides alone, also where it is meant in jest ("allergic to meetings"): one memory
 * too many that weighs much is the lesser harm. Words that everyday language has borrowed count
 * only beside the words that make them medical, or without those that do not.
 */
#define SAFETY 0.9
#define IDENTITY 0.85
#define SUMMARY 0.75
#define PREFERENCE 0.7
#define DECISION 0.65
#define OTHER 0.5

/*
 * Example: "I am allergic to peanuts" is 0.9, "My name is Ana" 0.85, a preference 0.7, "It rained"
 * 0.5. The greatest level whose phrase stands in the text counts, also over the category that a
 * model gave; so a model that takes an allergy for small talk does not lower it (decisions/014).
 * Clients see four priorities, which begin at 0.9, 0.7, 0.4 and 0.
 */

enum { WORDS_MAX = 400, EARLY = 4 };

struct phrase {
    double level;
    const char *words;  /* one behind the other; "*" stands for the rest of a word */
    const char *unless; /* none of these stands anywhere beside them; or NULL */
    bool is_early;      /* only among the first words, where the verb of a short sentence is */
};

static const struct phrase phrases[] = {
#define SAYS(LEVEL, WORDS) {LEVEL, WORDS, NULL, false},
#define UNLESS(LEVEL, WORDS, OTHERS) {LEVEL, WORDS, OTHERS, false},
#define EARLY_SAYS(LEVEL, WORDS) {LEVEL, WORDS, NULL, true},
#include "lang/importance.def"
};

/* By category. People and things of one's own are asked for as often as preferences are. */
static const struct {
    const char *category;
    double level;
} categories[] = {{"health", SAFETY},           {"identity", IDENTITY},
                  {"preference", PREFERENCE},   {"instruction", PREFERENCE},
                  {"relationship", PREFERENCE}, {"entity", PREFERENCE},
                  {"decision", DECISION}};

static bool word_fits(str word, str pattern)
{
    bool is_front = str_ends(pattern, S("*"));
    return is_front ? str_starts(word, str_sub(pattern, 0, pattern.n - 1)) : str_eq(word, pattern);
}

/* Word by word, without marks; "*" at the end of a word of the phrase matches any ending. */
static bool stands_at(struct strs text, size_t at, str phrase)
{
    while (phrase.n) {
        str word = str_cut(&phrase, ' ');
        if (at == text.n || !word_fits(text.v[at++], word))
            return false;
    }
    return true;
}

static bool has_any(struct strs text, str others)
{
    while (others.n) {
        str word = str_cut(&others, ' ');
        if (SOME(i, text.n, word_fits(text.v[i], word)))
            return true;
    }
    return false;
}

static bool says(struct strs text, const struct phrase *p)
{
    size_t end = p->is_early && text.n > EARLY ? EARLY : text.n;
    for (size_t i = 0; i < end; i++)
        if (stands_at(text, i, str_of(p->words)))
            return !p->unless || !has_any(text, str_of(p->unless));
    return false;
}

static struct strs lower_words(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    struct strs out = {NEW_N(a, str, w.n + 1), 0};
    for (size_t i = 0; i < w.n; i++)
        out.v[out.n++] = utf8_lower(a, w.v[i].text);
    return out;
}

/* A level that the category alone gives; phrases may raise it. */
static double of_category(const struct memory *m)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (str_is(m->category, categories[i].category))
            return categories[i].level;
    return OTHER;
}

/* 0.5 to 0.9. Pure and cheap enough to run for each memory that is written. */
double importance_by_rule(struct arena *a, const struct memory *m)
{
    str value;
    double level = of_category(m);
    if (m->layer == LAYER_SUMMARY || m->layer == LAYER_EPISODE)
        return SUMMARY;
    struct strs text = lower_words(a, m->content);
    /* Habits of eating and the hand that writes are sorted under health, too. */
    if (level == SAFETY && has_any(text, S("vegetarian vegan pescatarian flexitarian handed")))
        level = PREFERENCE;
    /* "Her name is Shadow" says who someone else is. */
    bool is_of_others = text.n && lexicon_is(text.v[0], LEX_PERSON | LEX_THING);
    bool has_slot = slot_of(m->content, &value).n && !is_of_others;
    if (level < IDENTITY && (m->layer == LAYER_IDENTITY || has_slot))
        level = IDENTITY;
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (phrases[i].level > level && says(text, &phrases[i]))
            level = phrases[i].level;
    return level;
}

static bool says_of_level(struct strs text, double level)
{
    return SOME(i, sizeof phrases / sizeof *phrases,
                phrases[i].level == level && says(text, &phrases[i]));
}

/* For facts without a kind of their own: preference before context, else a plain fact. */
enum memory_kind kind_by_rule(struct arena *a, const struct memory *m)
{
    struct strs text = lower_words(a, m->content);
    return says_of_level(text, PREFERENCE) ? KIND_PREFERENCE
           : says_of_level(text, DECISION) ? KIND_CONTEXT
                                           : KIND_FACT;
}

/* --- as time passes --- */

enum { FADING_DAYS = 30 };

double age_decay(int64_t age_ms, double half_life_days)
{
    assert(half_life_days > 0);
    return age_ms > 0 ? exp2(-(double)age_ms / (half_life_days * DAY_MS)) : 1;
}

/* Computed when it is read, so nothing has to be updated daily. */
double salience_now(const struct memory *m, int64_t now)
{
    double days = (double)(now - m->last_used) / DAY_MS;
    double worth = m->salience * (days > 0 ? exp(-days / FADING_DAYS) : 1);
    return worth > 1 ? 1 : worth > 0 ? worth : 0;
}

double importance_after(double importance, double per_day, int64_t days)
{
    return importance * exp(-per_day * (double)(days > 0 ? days : 0));
}

double relevance_of(double similarity, enum priority priority, int64_t days, int64_t uses)
{
    static const double by_priority[PRIORITY_COUNT] = {0.3, 0.2, 0.1, 0};
    assert(priority < PRIORITY_COUNT);
    double used = uses > 0 ? 1 + 0.1 * log((double)uses + 1) : 1;
    double all = (similarity + by_priority[priority]) * age_decay(days * DAY_MS, 30) * used;
    return all < 1 ? all : 1;
}
