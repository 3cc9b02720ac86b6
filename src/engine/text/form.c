/* form.c - features of a wording, and their weighted sum. */
#include "engine/text/form.h"

#include "base/utf8.h"
#include "words/words.h"

#include "lang/forms.h" /* of each table below its keys and weights */

/* Bytes of a question that are looked at. */
enum { LOOKED_AT = 2000 };

#define TABLE(name)                                                                                \
    {                                                                                              \
        name##_keys, name##_weights, sizeof name##_keys / sizeof *name##_keys                      \
    }
static const struct {
    const uint64_t *keys;
    const float (*weights)[FORM_COLUMNS];
    size_t size;
} tables[FORMS] = {
    [FORM_PERSONAL] = TABLE(form), [FORM_FORGET] = TABLE(forget), [FORM_WISH] = TABLE(wish),
    [FORM_KNOWN] = TABLE(known),   [FORM_REPLY] = TABLE(reply),   [FORM_GIVEN] = TABLE(given),
    [FORM_LIST] = TABLE(list),     [FORM_IDLE] = TABLE(idle),     [FORM_TOPIC] = TABLE(topic),
    [FORM_TELLS] = TABLE(tells),
};

static const float vector_weights[] = {
#define FORM(feature, alone, with_vector)
#define FORM_VECTOR(...) __VA_ARGS__
#include "lang/form.def"
};
enum { DIMENSIONS = sizeof vector_weights / sizeof *vector_weights };

/* A number counts as a number, whichever it is. */
static str word_at(const struct words *w, size_t i)
{
    return str_has_digit(w->v[i].text) ? S("0") : w->v[i].text;
}

static void add_feature(struct form_features *out, str kind, str before, str word)
{
    uint64_t hash = str_hash(kind);
    if (before.n)
        hash = str_hash_on(str_hash_on(hash, before), S(" "));
    if (out->n < FORM_FEATURES)
        out->v[out->n++] = (struct form_feature){kind, before, word, str_hash_on(hash, word)};
}

/* 1, 2, 3, 4 to 5, 6 to 8, 9 to 13 words … */
static int length_class(size_t words)
{
    int class = 0;
    for (size_t bound = 1; bound < words; bound += bound / 2 + 1)
        class ++;
    return class;
}

static void add_marks(struct form_features *out, str question)
{
    static const char *const marks[] = {"", ":", "\"", "line", "(", "!", "code", "+"};
    static const unsigned char mark_of[256] = {
        [':'] = 1,  ['"'] = 2, ['\n'] = 3, ['('] = 4, ['!'] = 5, ['{'] = 6,
        ['}'] = 6,  [';'] = 6, ['<'] = 6,  ['>'] = 6, ['='] = 6, ['`'] = 6,
        ['\\'] = 6, ['+'] = 7, ['*'] = 7,  ['/'] = 7, ['^'] = 7, ['%'] = 7};
    bool has[sizeof marks / sizeof *marks] = {0};
    for (size_t i = 0; i < question.n; i++)
        has[mark_of[(unsigned char)question.p[i]]] = true;
    for (size_t m = 1; m < sizeof marks / sizeof *marks; m++)
        if (has[m])
            add_feature(out, S("m "), S(""), str_of(marks[m]));
    if (str_ends(question, S("?")))
        add_feature(out, S("m "), S(""), S("?"));
}

void form_features_of(struct arena *a, str question, struct form_features *out)
{
    question = str_trim(utf8_cut(question, LOOKED_AT));
    struct words w = words_as_written(a, utf8_lower(a, question), FORM_WORDS);
    out->n = 0;
    for (size_t i = 0; i < w.n; i++) {
        str word = word_at(&w, i), before = i ? word_at(&w, i - 1) : S("");
        add_feature(out, S("w "), S(""), word);
        if (i)
            add_feature(out, S("p "), before, word);
        if (i < 2)
            add_feature(out, S("f "), before, word);
    }
    add_feature(out, S("n "), S(""), str_printf(a, "%d", length_class(w.n)));
    add_marks(out, question);
}

size_t form_slots(const uint64_t *keys, size_t size, const struct form_features *f, int *out)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        size_t at = f->v[i].hash % size, k = n;
        while (keys[at] && keys[at] != f->v[i].hash)
            at = (at + 1) % size;
        while (k && out[k - 1] > (int)at)
            k--;
        if (!keys[at] || (k && out[k - 1] == (int)at))
            continue;
        memmove(out + k + 1, out + k, (n++ - k) * sizeof *out);
        out[k] = (int)at;
    }
    return n;
}

struct form_odds form_odds_of(enum form form, str text)
{
    CLEANUP(arena_free) struct arena a = {0};
    struct form_features *f = ROOM_N(&a, struct form_features, 1);
    struct form_odds odds = {0};
    int slots[FORM_FEATURES];
    form_features_of(&a, text, f);
    add_feature(f, S(""), S(""), S("")); /* the constant */
    for (size_t i = 0, n = form_slots(tables[form].keys, tables[form].size, f, slots); i < n; i++)
        for (int c = 0; c < FORM_COLUMNS; c++)
            odds.by[c] += (double)tables[form].weights[slots[i]][c];
    return odds;
}

double form_of(str question, const float *vector)
{
    double sum = form_odds_of(FORM_PERSONAL, question).by[vector != NULL];
    for (size_t i = 0; vector && i < DIMENSIONS; i++)
        sum += (double)vector_weights[i] * (double)vector[i];
    return sum;
}
