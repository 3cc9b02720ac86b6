/* form.c - features of a wording, and their weighted sum. */
#include "engine/text/form.h"

#include "base/utf8.h"
#include "words/words.h"

/* Bytes of a question that are looked at; what a feature begins with says what it is. */
enum { LOOKED_AT = 2000 };
#define OF_WORD "w "
#define OF_PAIR "p "
#define OF_FIRST "f "
#define OF_LENGTH "n "
#define OF_MARK "m "

/* Rows are sorted by their feature; the first is the constant. */
struct form_weight {
    const char *feature;
    float by[FORM_COLUMNS];
};
#define FORM(feature, alone, with_vector) {feature, {alone, with_vector}},
#define FORM_VECTOR(...)
static const struct form_weight personal_rows[] = {
#include "lang/form.def"
};
#undef FORM_VECTOR
static const struct form_weight forget_rows[] = {
#include "lang/forget.def"
};
static const struct form_weight wish_rows[] = {
#include "lang/wish.def"
};
static const struct form_weight known_rows[] = {
#include "lang/known.def"
};
static const struct form_weight reply_rows[] = {
#include "lang/reply.def"
};
static const struct form_weight given_rows[] = {
#include "lang/given.def"
};
static const struct form_weight list_rows[] = {
#include "lang/list.def"
};
static const struct form_weight idle_rows[] = {
#include "lang/idle.def"
};
static const struct form_weight topic_rows[] = {
#include "lang/topic.def"
};
static const struct form_weight tells_rows[] = {
#include "lang/tells.def"
};
#undef FORM

static const struct {
    const struct form_weight *rows;
    size_t n;
} tables[FORMS] = {
    [FORM_PERSONAL] = {personal_rows, sizeof personal_rows / sizeof *personal_rows},
    [FORM_FORGET] = {forget_rows, sizeof forget_rows / sizeof *forget_rows},
    [FORM_WISH] = {wish_rows, sizeof wish_rows / sizeof *wish_rows},
    [FORM_KNOWN] = {known_rows, sizeof known_rows / sizeof *known_rows},
    [FORM_REPLY] = {reply_rows, sizeof reply_rows / sizeof *reply_rows},
    [FORM_GIVEN] = {given_rows, sizeof given_rows / sizeof *given_rows},
    [FORM_LIST] = {list_rows, sizeof list_rows / sizeof *list_rows},
    [FORM_IDLE] = {idle_rows, sizeof idle_rows / sizeof *idle_rows},
    [FORM_TOPIC] = {topic_rows, sizeof topic_rows / sizeof *topic_rows},
    [FORM_TELLS] = {tells_rows, sizeof tells_rows / sizeof *tells_rows},
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

static void add_feature(struct form_features *out, str feature)
{
    if (out->n < FORM_FEATURES)
        out->v[out->n++] = feature;
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
    static const struct {
        const char *bytes, *feature;
    } marks[] = {{":", OF_MARK ":"},    {"\"", OF_MARK "\""}, {"\n", OF_MARK "line"},
                 {"(", OF_MARK "("},    {"!", OF_MARK "!"},   {"{};<>=`\\", OF_MARK "code"},
                 {"+*/^%", OF_MARK "+"}};
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
        if (SOME(i, question.n, char_is_one_of(question.p[i], marks[m].bytes)))
            add_feature(out, str_of(marks[m].feature));
    if (str_ends(question, S("?")))
        add_feature(out, S(OF_MARK "?"));
}

ORDER(by_text, str, str_cmp(*x, *y));

void form_features_of(struct arena *a, str question, struct form_features *out)
{
    question = str_trim(utf8_cut(question, LOOKED_AT));
    struct words w = words_as_written(a, utf8_lower(a, question), FORM_WORDS);
    out->n = 0;
    for (size_t i = 0; i < w.n; i++) {
        str word = word_at(&w, i), pair = word;
        add_feature(out, str_printf(a, OF_WORD S_FMT, S_ARG(word)));
        if (i) {
            pair = str_printf(a, S_FMT " " S_FMT, S_ARG(word_at(&w, i - 1)), S_ARG(word));
            add_feature(out, str_printf(a, OF_PAIR S_FMT, S_ARG(pair)));
        }
        if (i < 2)
            add_feature(out, str_printf(a, OF_FIRST S_FMT, S_ARG(pair)));
    }
    add_feature(out, str_printf(a, OF_LENGTH "%d", length_class(w.n)));
    add_marks(out, question);
    qsort(out->v, out->n, sizeof *out->v, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (!kept || str_cmp(out->v[kept - 1], out->v[i]) != 0)
            out->v[kept++] = out->v[i];
    out->n = kept;
}

int form_compare(const void *feature, const void *row)
{
    return str_cmp(*(const str *)feature, str_of(*(const char *const *)row));
}

struct form_odds form_odds_of(enum form form, str text)
{
    CLEANUP(arena_free) struct arena a = {0};
    struct form_features *f = ROOM_N(&a, struct form_features, 1);
    const struct form_weight *rows = tables[form].rows;
    struct form_odds odds = {{(double)rows->by[0], (double)rows->by[1]}};
    form_features_of(&a, text, f);
    for (size_t i = 0; i < f->n; i++) {
        const struct form_weight *w =
            bsearch(&f->v[i], rows, tables[form].n, sizeof *rows, form_compare);
        for (int c = 0; w && c < FORM_COLUMNS; c++)
            odds.by[c] += (double)w->by[c];
    }
    return odds;
}

double form_of(str question, const float *vector)
{
    double sum = form_odds_of(FORM_PERSONAL, question).by[vector != NULL];
    for (size_t i = 0; vector && i < DIMENSIONS; i++)
        sum += (double)vector_weights[i] * (double)vector[i];
    return sum;
}
