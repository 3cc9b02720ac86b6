/* form.c - fits what a wording says: of a question, whether it needs what its person told; of a
 * message, whether it asks to forget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "dumps.h"
#include "embed/encoder.h"
#include "engine/text/form.h"

/*
 * usage: train_form FILE… [--judge FILE…] > data/lang/form.def
 *        train_form --forget FILE… [--clean FILE…] [--judge FILE… [--clean FILE…]] >
 *        data/lang/forget.def
 *
 * Each file is a list of {"ask", "language", "is", "writer"}. is: "personal" or "general", and of
 * messages "mere" (asks to forget and does nothing else), "more" or "other". A clean file is of
 * people, all of whose words ask for nothing of the kind. Two logistics: of the words alone and
 * with the encoder's vector, or of who asks at all and who merely asks. A feature takes part when
 * `least` of the texts that are not clean have it. Accelerated gradient descent, the same bytes
 * each time. Each is also fitted without a third of the questions, or of the writers, and asked of
 * it, three times: the comment at the head of the table has those figures. What is only to be
 * judged takes no part, and its figures go to the standard error output.
 */
enum { STEPS = 250, FOLDS = 3, LANGUAGES_MAX = 32, POWER_STEPS = 20 };

/* least, the penalty on the square of each weight, from which weight on a row is written, and what
 * the vector is multiplied by, so that the penalty is fair. */
static struct {
    bool is_forget;
    int least;
    double penalty, written;
} how = {false, 4, 3, 0};
static const double vector_scale = 2;

/* General questions that may get something. */
static const double spoken = 0.1;

/* The part of those who ask for nothing that may be taken for such who ask; and of those who do
 * more than to ask for such who merely do. */
static const double lost[FORM_COLUMNS] = {0.05, 0.1};

struct asked {
    str text, language;
    bool is[FORM_COLUMNS], is_judged, is_clean;
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
};

static struct asked *add_asked(struct form_data *d, str text, bool is_judged)
{
    d->v = arena_more(&d->ctx->arena, d->v, d->n, &d->cap, sizeof *d->v);
    d->v[d->n] = (struct asked){.text = text, .is_judged = is_judged, .fold = (int)d->n % FOLDS};
    return &d->v[d->n++];
}

static void read_asked(struct form_data *d, const struct json *j, bool is_judged)
{
    struct asked *q = add_asked(d, json_string(json_get(j, "ask")), is_judged);
    str is = json_string(json_get(j, "is"));
    q->language = json_string(json_get(j, "language"));
    q->is[1] = str_is(is, how.is_forget ? "mere" : "personal");
    q->is[0] = q->is[1] || str_is(is, "more");
    int64_t writer = json_int_or(json_get(j, "writer"), -1);
    if (writer >= 0)
        q->fold = (int)(writer % FOLDS);
}

static void read_clean(struct form_data *d, const struct json *j, bool is_judged)
{
    bool is_said = str_is(json_name(j), "text") || str_is(json_name(j), "ask");
    if (j->type == JSON_STRING && is_said && json_string(j).n)
        add_asked(d, json_string(j), is_judged)->is_clean = true;
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
    for (const struct json *j = is_clean ? NULL : all->first; j; j = j->next)
        read_asked(d, j, is_judged);
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
    struct form_features *of = NEW_N(a, struct form_features, d->n);
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct encoded e;
        form_features_of(a, d->v[i].text, &of[i]);
        all += of[i].n;
        d->v[i].is_read = !how.is_forget && encoder_reads(d->v[i].text);
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
        if (to - from >= (size_t)how.least)
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
    return !q->is_judged && (column == 0 || (how.is_forget ? q->is[0] : q->is_read));
}

/* without: a fold that takes no part, or -1. */
static struct model fit_model(const struct form_data *d, int column, int without)
{
    bool has_vector = column && !how.is_forget;
    struct model m = {d->n_features + (has_vector ? ENCODER_SPACE : 0) + 1, NULL, column,
                      has_vector};
    double *at = calloc(m.n, sizeof *at), *slope = calloc(m.n, sizeof *slope), pace = 1;
    m.w = calloc(m.n, sizeof *m.w);
    double length = 0.3 * steepest(d, &m) + how.penalty;
    for (int s = 0; s < STEPS; s++) {
        memset(slope, 0, m.n * sizeof *slope);
        for (size_t i = 0; i < d->n; i++) {
            const struct asked *q = &d->v[i];
            if (q->fold != without && takes_part(q, column))
                add_row(d, &m, slope, q, 1 / (1 + exp(-dot(d, &m, at, q))) - q->is[column]);
        }
        double next = (1 + sqrt(1 + 4 * pace * pace)) / 2;
        for (size_t i = 0; i < m.n; i++) {
            double w = at[i] - (slope[i] + (i + 1 < m.n ? how.penalty * at[i] : 0)) / length;
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
        if (!d->v[i].is_judged && !d->v[i].is_clean && !d->v[i].is[1] && d->v[i].is[0] == asks)
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
    static const char *const kinds[] = {"mere", "more", "other", "clean"};
    size_t above[4] = {0}, all[4] = {0};
    for (size_t i = 0; i < d->n; i++) {
        const struct asked *q = &d->v[i];
        int kind = q->is_clean ? 3 : q->is[1] ? 0 : q->is[0] ? 1 : 2;
        all[kind] += q->is_judged == is_judged;
        above[kind] += q->is_judged == is_judged && q->score >= bar;
    }
    fprintf(out, " * %s:", m->column ? "merely asks" : "asks");
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
    if (!how.is_forget) {
        write_figures(d, (struct group){.has_vector = m.has_vector}, stdout);
        return 0;
    }
    double bar = bar_of(d, column == 1, lost[column]);
    write_above(d, &m, false, bar, stdout);
    return bar;
}

/* Those that are only to be judged, by the weights that are written. */
static void judge_others(struct form_data *d, const struct model *m, double bar)
{
    for (size_t i = 0; i < d->n; i++)
        d->v[i].score = dot(d, m, m->w, &d->v[i]);
    if (how.is_forget)
        write_above(d, m, true, bar, stderr);
    else
        write_figures(d, (struct group){.has_vector = m->has_vector, .is_judged = true}, stderr);
}

static void write_table(const struct form_data *d, const struct model *alone,
                        const struct model *with)
{
    printf("FORM(\"\", %.4f, %.4f)\n", alone->w[alone->n - 1], with->w[with->n - 1]);
    for (size_t i = 0; i < d->n_features; i++) {
        if (fmax(fabs(alone->w[i]), fabs(with->w[i])) < how.written)
            continue;
        fputs("FORM(", stdout);
        write_text(stdout, d->features[i].text);
        printf(", %.2f, %.2f)\n", alone->w[i], with->w[i]);
    }
    if (how.is_forget)
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

static void write_head(const struct form_data *d)
{
    puts(
        how.is_forget
            ? "/* forget.def - what a message's wording says of whether it asks to forget. */\n/*\n"
              " * FORM(feature, weight that it asks, weight that it does nothing else), sorted."
            : "/* form.def - what a question's wording says of whether it needs what its person "
              "told. */\n/*\n * FORM(feature, weight alone, weight with the vector), sorted; "
              "FORM_VECTOR(of each\n * dimension).");
    puts(" * Features: w word, p pair, f first words, n class of length, m mark.");
    printf(" * Written by tools/train/form.c. Again: ./dev train form\n * %zu features.\n",
           d->n_features);
    puts(how.is_forget
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
        if (!strcmp(argv[i], "--forget")) {
            how.is_forget = true;
            how.least = 3;
            how.penalty = 0.5;
            how.written = 0.2;
            continue;
        }
        is_judged |= !strcmp(argv[i], "--judge");
        is_clean = argv[i][0] == '-' ? !strcmp(argv[i], "--clean") : is_clean;
        if (argv[i][0] != '-')
            read_file(&d, argv[i], is_clean, is_judged);
    }
    if (!d.n)
        stop("usage: train_form [--forget] FILE… [--clean FILE…] [--judge FILE… [--clean FILE…]]");
    read_features(&d);
    write_head(&d);
    double bars[] = {judge_left_out(&d, 0), judge_left_out(&d, 1)};
    puts(" */");
    struct model alone = fit_model(&d, 0, -1), with = fit_model(&d, 1, -1);
    judge_others(&d, &alone, bars[0]);
    judge_others(&d, &with, bars[1]);
    alone.w[alone.n - 1] -= bars[0];
    with.w[with.n - 1] -= bars[1];
    write_table(&d, &alone, &with);
    free(alone.w);
    free(with.w);
    return 0;
}
