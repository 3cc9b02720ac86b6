/* form.c - fits what a wording says: of a question, whether it needs what its person told; of a
 * message, whether it asks to forget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "dumps.h"
#include "embed/encoder.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"
#include "telling.h"
#include "wordings.h"

/*
 * usage: train_form FILE… [--judge FILE…] > data/lang/form.def
 *        train_form --forget FILE… [--clean FILE…] [--judge FILE… [--clean FILE…]] >
 *        data/lang/forget.def
 *        train_form --wish|--known|--reply|--given|--list|--idle|--tells … > data/lang/wish.def,
 *        known.def, reply.def, given.def, list.def, idle.def or tells.def
 *
 * Each file is a list of {"ask", "language", "is", "writer"}. is: "personal" or "general"; of
 * messages "mere" (asks to forget and does nothing else), "more" or "other"; or "back" (takes a
 * standing wish back), "standing", "once" or "other". Or it is of people, as tests/life/README.md
 * describes: then "is" is the kind of a question, and each of them is a writer; without an option
 * each kind but "general" is personal, and what the person says without telling anything is
 * general; --tells takes the sentences of both (telling.h). A clean file is of
 * people, whose words ask for nothing of the kind, but for those which a fit without them takes for
 * a wish. Two logistics: of the words alone and with the encoder's vector, or of who asks at all
 * and who is of the first of these kinds. A feature takes part when `least` of the texts that are
 * not clean have it. Accelerated gradient descent, the same bytes each time. Each is also fitted
 * without a third of the questions, or of the writers, and asked of it, three times: the comment at
 * the head of the table has those figures. What is only to be judged takes no part, and its figures
 * go to the standard error output.
 */
enum { STEPS = 250, FOLDS = 3, LANGUAGES_MAX = 32, POWER_STEPS = 20 };

/* Of each table: its option, the values of "is", which texts have a feature at least, the penalty
 * on the square of each weight, from which weight on a row is written; the part of those who ask
 * for nothing that may be taken for such who ask, and of these for those of the first kind (1: they
 * are not told apart); from which log odds on a clean text is not taken for one. */
static const struct table {
    const char *option, *first, *second, *help;
    int least;
    double penalty, written, lost[FORM_COLUMNS], doubted;
    bool by_sentence; /* clean texts are, as the messages are where it is asked */
    bool by_head;     /* of clean texts their heads alone */
    bool writes_out;  /* short forms of English once more in full */
} tables[] = {
    {"", "personal", "", "", 4, 3, 0.1, {0, 0}, 99},
    {"--forget",
     "mere",
     "more",
     "/* forget.def - what a message's wording says of whether it asks to forget. */\n/*\n"
     " * FORM(feature, weight that it asks, weight that it does nothing else), sorted.",
     3,
     0.5,
     0.2,
     {0.055, 0.1},
     99,
     .writes_out = true},
    {"--wish",
     "back",
     "standing",
     "/* wish.def - what a sentence's wording says of whether it is a standing wish. */\n/*\n"
     " * FORM(feature, weight that it is, weight that it takes one back), sorted.",
     3,
     0.5,
     0.2,
     {0.0125, 0.03},
     1.5,
     true},
    {"--known",
     "all",
     "all",
     "/* known.def - what a question's wording says of whether it asks for all that is known. "
     "*/\n/*\n"
     " * FORM(feature, weight that it does, 0), sorted.",
     3,
     0.5,
     0.2,
     {0.03, 1},
     99},
    {"--reply",
     "reply",
     "reply",
     "/* reply.def - what a question's wording says of whether it asks what was replied before. "
     "*/\n/*\n"
     " * FORM(feature, weight that it does, 0), sorted.",
     3,
     0.5,
     0.2,
     {0.2, 1},
     99},
    {"--list",
     "list",
     "twostep",
     "/* list.def - what a question's wording says of whether it asks for several things. */\n/*\n"
     " * FORM(feature, weight that it does, 0), sorted.",
     3,
     0.5,
     0.2,
     {0.04, 1},
     99},
    {"--given",
     "given",
     "given",
     "/* given.def - what a message's head says of whether a text to be worked on follows. */\n/*\n"
     " * FORM(feature, weight that one does, 0), sorted.",
     3,
     0.5,
     0.2,
     {0.04, 1},
     1.5,
     .by_head = true},
    {"--idle",
     "idle",
     "idle",
     "/* idle.def - what an assistant's sentence's wording says of whether it states nothing. */\n"
     "/*\n * FORM(feature, weight that it does not, 0), sorted.",
     2,
     1,
     0.15,
     {0.05, 1},
     99,
     .writes_out = true},
    {"--topic",
     "topic",
     "topic",
     "/* topic.def - what a standing wish's wording says of whether it is for a topic. */\n/*\n"
     " * FORM(feature, weight that it is, 0), sorted.",
     2,
     1,
     0.1,
     {0.1, 1},
     99},
    {"--tells",
     "asks",
     "tells",
     "/* tells.def - what a sentence's wording says of whether it tells something. */\n/*\n"
     " * FORM(feature, weight that it does though rules say it asks, weight that it asks though\n"
     " * they say it tells), sorted.",
     4,
     1,
     0.2,
     {0.0465, 0.005},
     99},
};
static const struct table *how = tables;
#define IS_OF_MESSAGES (how != tables)

static bool is_of_tellings(void)
{
    return !strcmp(how->option, "--tells");
}

/* What the vector is multiplied by, so that the penalty is fair. */
static const double vector_scale = 2;

/* General questions that may get something. */
static const double spoken = 0.1;

/* By how much the log odds of a personal question are lowered, alone and with the vector: a fit to
 * both kinds is surer of its own questions than of others'. */
static const double reserve[] = {0.2, 0.4};

struct asked {
    str text, language;
    bool is[FORM_COLUMNS], is_judged, is_clean, is_doubted;
    int only; /* the column that it takes part in, or -1: both */
    int fold;
    int *features; /* numbers of the columns */
    size_t n;
    bool is_read; /* by the encoder */
    float vector[ENCODER_SPACE];
    double score;
};

struct feature {
    str text;
    int asked; /* in how many questions */
};

struct form_data {
    struct ctx *ctx;
    struct asked *v;
    size_t n, cap;
    struct feature *features; /* sorted by text */
    size_t n_features;
    int64_t writers; /* of files of people */
};

/* writer: a third of them is left out at a time; -1: a third of the texts is. */
static struct asked *add_asked(struct form_data *d, str text, int64_t writer, bool is_judged)
{
    d->v = arena_more(&d->ctx->arena, d->v, d->n, &d->cap, sizeof *d->v);
    int64_t fold = (writer >= 0 ? writer : (int64_t)d->n) % FOLDS;
    d->v[d->n] =
        (struct asked){.text = text, .is_judged = is_judged, .fold = (int)fold, .only = -1};
    return &d->v[d->n++];
}

/* "I'm" and "don't" as "I am" and "do not": who writes examples hardly ever writes these. */
static str written_out(struct arena *a, str text)
{
    static const char *const forms[][2] = {{"can't", "cannot"}, {"won't", "will not"},
                                           {"n't", " not"},     {"'m", " am"},
                                           {"'re", " are"},     {"'ve", " have"},
                                           {"'ll", " will"}};
    static const char *const marks[] = {"'", "\u2019"};
    for (size_t i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        str form = str_of(forms[i / 2][0]);
        size_t mark = str_find(form, S("'"));
        form = str_printf(a, S_FMT "%s" S_FMT, S_ARG(str_sub(form, 0, mark)), marks[i % 2],
                          S_ARG(str_sub(form, mark + 1, form.n)));
        for (size_t at; (at = str_find(text, form)) < text.n;)
            text = str_printf(a, S_FMT "%s" S_FMT, S_ARG(str_sub(text, 0, at)), forms[i / 2][1],
                              S_ARG(str_sub(text, at + form.n, text.n)));
    }
    return text;
}

static void read_text(struct form_data *d, const struct json *j, str text, const char *kind,
                      int64_t writer, bool is_judged)
{
    struct asked *q = add_asked(d, text, writer, is_judged);
    str is = json_string(json_get(j, kind));
    q->language = json_string(json_get(j, "language"));
    q->is[1] = IS_OF_MESSAGES ? str_is(is, how->first) : !str_is(is, "general");
    q->is[0] = q->is[1] || str_is(is, how->second);
}

static void read_asked(struct form_data *d, const struct json *j, const char *kind, int64_t writer,
                       bool is_judged)
{
    str text = json_string(json_get(j, "ask")), full = text;
    read_text(d, j, text, kind, writer, is_judged);
    if (how->writes_out && !is_judged && str_is(json_string(json_get(j, "language")), "en"))
        full = written_out(&d->ctx->arena, text);
    if (!str_eq(full, text))
        read_text(d, j, full, kind, writer, is_judged);
}

/* Sentences that the rules accept are judged by the second column, others by the first. */
static void add_tellings(struct form_data *d, const struct tellings *t, int64_t writer,
                         bool is_judged)
{
    for (size_t i = 0; i < t->n; i++) {
        struct asked *q = add_asked(d, t->v[i].sentence, writer, is_judged);
        q->language = t->v[i].language;
        q->only = t->v[i].is_accepted;
        q->is[0] = t->v[i].tells || t->v[i].is_accepted;
        q->is[1] = !t->v[i].tells && t->v[i].is_accepted;
    }
}

/* Sentences of a person that tell nothing need nothing that was told. */
static void add_general(struct form_data *d, const struct tellings *t, int64_t writer)
{
    for (size_t i = 0; i < t->n; i++)
        if (!t->v[i].tells)
            add_asked(d, t->v[i].sentence, writer, false)->language = t->v[i].language;
}

/* What of a person it is, by the option. Nobody can tell whether what nobody knows is needed. */
static void read_person(struct form_data *d, const struct json *person, bool is_judged)
{
    struct tellings t = {0};
    bool is_of_questions = !IS_OF_MESSAGES;
    if (is_of_tellings() || (is_of_questions && !is_judged))
        telling_of_lines(&d->ctx->arena, person, &t);
    if (is_of_questions)
        add_general(d, &t, d->writers);
    for (const struct json *j = json_get(person, "questions")->first; j; j = j->next) {
        if (is_of_tellings())
            telling_of_ask(&d->ctx->arena, json_string(json_get(j, "ask")),
                           json_string(json_get(person, "language")), false, &t);
        else if (!is_of_questions || !str_is(json_string(json_get(j, "kind")), "unknown"))
            read_asked(d, j, "kind", d->writers, is_judged);
    }
    if (is_of_tellings())
        add_tellings(d, &t, d->writers, is_judged);
}

static void read_people(struct form_data *d, const struct json *people, bool is_judged)
{
    for (const struct json *p = people->first; p; p = p->next, d->writers++)
        read_person(d, p, is_judged);
}

static void read_ask(struct form_data *d, const struct json *j, bool is_judged)
{
    str language = json_string(json_get(j, "language"));
    str head = json_string(json_get(j, "head"));
    bool tells = str_is(json_string(json_get(j, "is")), "tells");
    struct tellings t = {0};
    if (head.n)
        telling_of_head(&d->ctx->arena, head, language, tells, &t);
    else if (telling_is_in(language))
        telling_of_ask(&d->ctx->arena, json_string(json_get(j, "ask")), language, tells, &t);
    add_tellings(d, &t, json_int_or(json_get(j, "writer"), -1), is_judged);
}

static void read_clean(struct form_data *d, const struct json *j, bool is_judged)
{
    bool is_said = str_is(json_name(j), "text") || str_is(json_name(j), "ask");
    struct sentence s;
    str rest = j->type == JSON_STRING && is_said ? json_string(j) : S("");
    if (how->by_head)
        rest = str_trim(str_sub(rest, 0, text_behind_head(rest)));
    if (rest.n)
        add_asked(d, rest, -1, is_judged)->is_clean = true;
    while (how->by_sentence && sentence_cut(&rest, &s))
        add_asked(d, s.body, -1, is_judged)->is_clean = true;
    for (const struct json *k = j->first; k; k = k->next)
        read_clean(d, k, is_judged);
}

static void read_file(struct form_data *d, const char *path, bool is_clean, bool is_judged)
{
    struct json *all;
    if (json_parse(d->ctx, file_read(&d->ctx->arena, path), &all) != OK)
        stop("%s: %s", path, d->ctx->why);
    if (is_clean)
        read_clean(d, all, is_judged);
    else if (json_get(all, "people"))
        read_people(d, json_get(all, "people"), is_judged);
    else
        for (const struct json *j = all->first; j; j = j->next)
            is_of_tellings()
                ? read_ask(d, j, is_judged)
                : read_asked(d, j, "is", json_int_or(json_get(j, "writer"), -1), is_judged);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct feature *)a)->text, ((const struct feature *)b)->text);
}

/* Of each question its features and its vector; then the features that enough of them have. */
static void read_features(struct form_data *d)
{
    struct arena *a = &d->ctx->arena;
    struct encoder *encoder = encoder_new();
    struct wordings *of = NEW_N(a, struct wordings, d->n);
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct encoded e;
        of[i] = wordings_of(a, d->v[i].text);
        all += of[i].n;
        d->v[i].is_read = !IS_OF_MESSAGES && encoder_reads(d->v[i].text);
        if (d->v[i].is_read && encoder_texts(d->ctx, encoder, S(""), &d->v[i].text, 1, &e) != OK)
            stop("%s", d->ctx->why);
        for (int k = 0; d->v[i].is_read && k < ENCODER_SPACE; k++)
            d->v[i].vector[k] = (float)vector_scale * e.pooled[k];
    }
    encoder_free(encoder);
    struct feature *features = NEW_N(a, struct feature, all);
    all = 0;
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < of[i].n && !d->v[i].is_judged && !d->v[i].is_clean; k++)
            features[all++] = (struct feature){of[i].v[k], 1};
    qsort(features, all, sizeof *features, by_text);
    for (size_t from = 0, to; from < all; from = to) {
        for (to = from; to < all && !by_text(&features[from], &features[to]); to++)
            ;
        if (to - from >= (size_t)how->least)
            features[kept++] = (struct feature){features[from].text, (int)(to - from)};
    }
    d->features = features;
    d->n_features = kept;
    for (size_t i = 0; i < d->n; i++) {
        d->v[i].features = NEW_N(a, int, of[i].n + 1);
        for (size_t k = 0; k < of[i].n; k++) {
            const struct feature key = {of[i].v[k], 0},
                                 *at = bsearch(&key, features, kept, sizeof key, by_text);
            if (at)
                d->v[i].features[d->v[i].n++] = (int)(at - features);
        }
    }
}

/* --- one fit --- */

struct model {
    size_t n;  /* weights: of the features, of the vector, the constant */
    double *w; /* what is known best */
    int column;
    bool has_vector;
};

static double dot(const struct form_data *d, const struct model *m, const double *w,
                  const struct asked *q)
{
    double sum = w[m->n - 1];
    for (size_t k = 0; k < q->n; k++)
        sum += w[q->features[k]];
    for (int k = 0; m->has_vector && k < ENCODER_SPACE; k++)
        sum += w[d->n_features + (size_t)k] * (double)q->vector[k];
    return sum;
}

static void add_row(const struct form_data *d, const struct model *m, double *out,
                    const struct asked *q, double by)
{
    out[m->n - 1] += by;
    for (size_t k = 0; k < q->n; k++)
        out[q->features[k]] += by;
    for (int k = 0; m->has_vector && k < ENCODER_SPACE; k++)
        out[d->n_features + (size_t)k] += by * (double)q->vector[k];
}

/* The greatest eigenvalue of the rows' products bounds how far a step may go. */
static double steepest(const struct form_data *d, const struct model *m)
{
    double *v = calloc(m->n, sizeof *v), *u = calloc(m->n, sizeof *u), length = 1;
    for (size_t i = 0; i < m->n; i++)
        v[i] = 1 / sqrt((double)m->n);
    for (int s = 0; s < POWER_STEPS; s++) {
        memset(u, 0, m->n * sizeof *u);
        for (size_t i = 0; i < d->n; i++)
            add_row(d, m, u, &d->v[i], dot(d, m, v, &d->v[i]));
        length = 0;
        for (size_t i = 0; i < m->n; i++)
            length += u[i] * u[i];
        length = sqrt(length);
        for (size_t i = 0; i < m->n; i++)
            v[i] = u[i] / length;
    }
    free(v);
    free(u);
    return length;
}

/* Who merely asks is told from who asks and does more. */
static bool takes_part(const struct asked *q, int column)
{
    if (q->only >= 0)
        return !q->is_judged && q->only == column;
    return !q->is_judged && !q->is_doubted &&
           (column == 0 || (IS_OF_MESSAGES ? q->is[0] && how->lost[column] < 1 : q->is_read));
}

/* without: a fold that takes no part, or -1. */
static struct model fit_model(const struct form_data *d, int column, int without)
{
    bool has_vector = column && !IS_OF_MESSAGES;
    struct model m = {d->n_features + (has_vector ? ENCODER_SPACE : 0) + 1, NULL, column,
                      has_vector};
    double *at = calloc(m.n, sizeof *at), *slope = calloc(m.n, sizeof *slope), pace = 1;
    m.w = calloc(m.n, sizeof *m.w);
    double length = 0.3 * steepest(d, &m) + how->penalty;
    for (int s = 0; s < STEPS; s++) {
        memset(slope, 0, m.n * sizeof *slope);
        for (size_t i = 0; i < d->n; i++) {
            const struct asked *q = &d->v[i];
            if (q->fold != without && takes_part(q, column))
                add_row(d, &m, slope, q, 1 / (1 + exp(-dot(d, &m, at, q))) - q->is[column]);
        }
        double next = (1 + sqrt(1 + 4 * pace * pace)) / 2;
        for (size_t i = 0; i < m.n; i++) {
            double w = at[i] - (slope[i] + (i + 1 < m.n ? how->penalty * at[i] : 0)) / length;
            at[i] = w + (pace - 1) / next * (w - m.w[i]);
            m.w[i] = w;
        }
        pace = next;
    }
    free(at);
    free(slope);
    return m;
}

/* --- figures --- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a figure is of. */
struct group {
    str language; /* "": all */
    bool is_judged, has_vector;
};

static bool is_of(const struct asked *q, const struct group *g)
{
    return q->is_judged == g->is_judged && (q->is_read || !g->has_vector) &&
           (!g->language.n || str_eq(g->language, q->language));
}

/* Of the personal questions in %, how many stand above all but a tenth of the general ones. */
static double passing(const struct form_data *d, const struct group *of)
{
    double *general = calloc(d->n + 1, sizeof *general);
    size_t n = 0, asked = 0, above = 0;
    for (size_t i = 0; i < d->n; i++)
        if (!d->v[i].is[1] && is_of(&d->v[i], of))
            general[n++] = d->v[i].score;
    qsort(general, n, sizeof *general, compare_numbers);
    double least = n ? general[(size_t)((1 - spoken) * (double)(n - 1))] : 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].is[1] && is_of(&d->v[i], of)) {
            asked++;
            above += d->v[i].score > least;
        }
    free(general);
    return asked ? 100 * (double)above / (double)asked : 0;
}

static void write_figures(const struct form_data *d, struct group of, FILE *out)
{
    str languages[LANGUAGES_MAX];
    size_t n = 0;
    fprintf(out, " * %s: all %.0f", of.has_vector ? "with the vector" : "words alone",
            passing(d, &of));
    for (size_t i = 0; i < d->n; i++) {
        size_t k = 0;
        of.language = d->v[i].language;
        while (k < n && !str_eq(languages[k], of.language))
            k++;
        if (k < n || n == LANGUAGES_MAX || !is_of(&d->v[i], &of))
            continue;
        languages[n++] = of.language;
        fprintf(out, ", " S_FMT " %.0f", S_ARG(of.language), passing(d, &of));
    }
    fputs("\n", out);
}

/* The score above which at most a part of these stand. */
static double bar_of(const struct form_data *d, bool asks, double part)
{
    double *v = calloc(d->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (!d->v[i].is_judged && !d->v[i].is_clean && !d->v[i].is[1] && d->v[i].is[0] == asks &&
            (d->v[i].only < 0 || d->v[i].only == asks))
            v[n++] = d->v[i].score;
    qsort(v, n, sizeof *v, compare_numbers);
    double bar = n ? v[(size_t)((1 - part) * (double)(n - 1))] : 0;
    free(v);
    return bar;
}

/* Of who merely asks, does more, does not ask, and of clean texts: how many stand above the bar. */
static void write_above(const struct form_data *d, const struct model *m, bool is_judged,
                        double bar, FILE *out)
{
    const char *kinds[] = {how->first, how->second, "other", "clean"};
    size_t above[4] = {0}, all[4] = {0};
    for (size_t i = 0; i < d->n; i++) {
        const struct asked *q = &d->v[i];
        if (q->only >= 0 && q->only != m->column)
            continue;
        int kind = q->is_clean ? 3 : q->is[1] ? 0 : q->is[0] ? 1 : 2;
        all[kind] += q->is_judged == is_judged;
        above[kind] += q->is_judged == is_judged && q->score >= bar;
    }
    fprintf(out, " * %s:", m->column ? how->first : "asks");
    int kinds_of = m->column ? 2 : 4;
    for (int kind = 0; kind < kinds_of; kind++)
        fprintf(out, " %s %zu of %zu%s", kinds[kind], above[kind], all[kind],
                kind + 1 < kinds_of ? "," : "\n");
}

/* Of questions that took no part; returns the bar. */
static double judge_left_out(struct form_data *d, int column)
{
    struct model m = {0};
    for (int fold = 0; fold < FOLDS; fold++) {
        m = fit_model(d, column, fold);
        for (size_t i = 0; i < d->n; i++)
            if (d->v[i].fold == fold)
                d->v[i].score = dot(d, &m, m.w, &d->v[i]);
        free(m.w);
    }
    if (!IS_OF_MESSAGES) {
        write_figures(d, (struct group){.has_vector = m.has_vector}, stdout);
        return 0;
    }
    double bar = bar_of(d, column == 1, how->lost[column]);
    write_above(d, &m, false, bar, stdout);
    return bar;
}

/* Those that are only to be judged, by the weights that are written. */
static void judge_others(struct form_data *d, const struct model *m, double bar)
{
    for (size_t i = 0; i < d->n; i++)
        d->v[i].score = dot(d, m, m->w, &d->v[i]);
    if (IS_OF_MESSAGES)
        write_above(d, m, true, bar, stderr);
    else
        write_figures(d, (struct group){.has_vector = m->has_vector, .is_judged = true}, stderr);
}

/* Log odds that one of those that take part is personal. Taken from the constant, as the weights
 * are to say what the words say, whatever was written more of here. */
static double prior(const struct form_data *d)
{
    double n[2] = {0};
    for (size_t i = 0; i < d->n; i++)
        n[d->v[i].is[1]] += !d->v[i].is_judged;
    return log(n[1] / n[0]);
}

static void write_table(const struct form_data *d, const struct model *alone,
                        const struct model *with)
{
    printf("FORM(\"\", %.4f, %.4f)\n", alone->w[alone->n - 1], with->w[with->n - 1]);
    for (size_t i = 0; i < d->n_features; i++) {
        if (fmax(fabs(alone->w[i]), fabs(with->w[i])) < how->written)
            continue;
        fputs("FORM(", stdout);
        write_text(stdout, d->features[i].text);
        printf(", %.2f, %.2f)\n", alone->w[i], with->w[i]);
    }
    if (IS_OF_MESSAGES)
        return;
    fputs("FORM_VECTOR(", stdout);
    for (size_t k = 0; k < ENCODER_SPACE; k++)
        printf("%s%.3f",
               k % 8 ? ", "
               : k   ? ",\n            "
                     : "",
               vector_scale * with->w[d->n_features + k]);
    puts(")");
}

/* Clean texts that a fit without them takes for such that ask. */
static void doubt_clean(struct form_data *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->v[i].is_doubted = d->v[i].is_clean;
    struct model m = fit_model(d, 0, -1);
    for (size_t i = 0; i < d->n; i++)
        d->v[i].is_doubted = d->v[i].is_clean && dot(d, &m, m.w, &d->v[i]) >= how->doubted;
    free(m.w);
}

static void write_head(const struct form_data *d)
{
    puts(IS_OF_MESSAGES
             ? how->help
             : "/* form.def - what a question's wording says of whether it needs what its person "
               "told. */\n/*\n * FORM(feature, weight alone, weight with the vector), sorted; "
               "FORM_VECTOR(of each\n * dimension).");
    puts(" * Features: w word, p pair, f first words, n class of length, m mark.");
    printf(" * Written by tools/train/form.c. Again: ./dev train form\n * %zu features.\n",
           d->n_features);
    puts(IS_OF_MESSAGES
             ? " * Fitted without a third of the writers: how many of theirs are judged "
               "to be one."
             : " * Fitted to two thirds: how many % of the personal questions of the rest "
               "pass where 90 % of\n * the general ones are silent, by language.");
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct form_data d = {.ctx = &ctx};
    bool is_judged = false, is_clean = false;
    for (int i = 1; i < argc; i++) {
        for (size_t k = 1; k < sizeof tables / sizeof *tables; k++)
            how = !strcmp(argv[i], tables[k].option) ? &tables[k] : how;
        is_judged |= !strcmp(argv[i], "--judge");
        is_clean = argv[i][0] == '-' ? !strcmp(argv[i], "--clean") : is_clean;
        if (argv[i][0] != '-')
            read_file(&d, argv[i], is_clean, is_judged);
    }
    if (!d.n)
        stop("usage: train_form [--forget|--wish] FILE… [--clean FILE…] [--judge FILE… [--clean "
             "FILE…]]");
    read_features(&d);
    if (IS_OF_MESSAGES)
        doubt_clean(&d);
    write_head(&d);
    double bars[] = {judge_left_out(&d, 0), judge_left_out(&d, 1)};
    puts(" */");
    struct model alone = fit_model(&d, 0, -1), with = fit_model(&d, 1, -1);
    judge_others(&d, &alone, bars[0]);
    judge_others(&d, &with, bars[1]);
    alone.w[alone.n - 1] -= bars[0];
    with.w[with.n - 1] -= bars[1];
    if (!IS_OF_MESSAGES) {
        alone.w[alone.n - 1] -= prior(&d) + reserve[0];
        with.w[with.n - 1] -= prior(&d) + reserve[1];
    }
    write_table(&d, &alone, &with);
    free(alone.w);
    free(with.w);
    return 0;
}
