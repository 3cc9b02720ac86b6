/* form.c - fits what a question's wording says of whether it needs what its person told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "dumps.h"
#include "embed/encoder.h"
#include "engine/gate/form.h"

/*
 * usage: train_form FILE… [--judge FILE…] > data/lang/form.def
 *
 * Each file is a list of {"ask", "language", "is": "personal" or "general"}. Two logistics: of the
 * words alone, and of the words with the encoder's vector. A feature takes part when LEAST
 * questions have it. Accelerated gradient descent, the same bytes each time. Each is also fitted to
 * two thirds of the questions and asked of the rest, three times: the comment at the head of the
 * table has those figures by language. What is only to be judged takes no part, and its figures go
 * to the standard error output.
 */
enum { LEAST = 4, STEPS = 250, FOLDS = 3, LANGUAGES_MAX = 32, POWER_STEPS = 20 };

/* On the square of each weight; what the vector is multiplied by, so that the penalty is fair. */
static const double penalty = 3, vector_scale = 2;

/* General questions that may get something. */
static const double spoken = 0.1;

struct asked {
    str text, language;
    bool is_personal, is_judged;
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

static void read_file(struct form_data *d, const char *path, bool is_judged)
{
    struct json *all;
    if (json_parse(d->ctx, file_read(&d->ctx->arena, path), &all) != OK)
        stop("%s: %s", path, d->ctx->why);
    for (const struct json *j = all->first; j; j = j->next) {
        d->v = arena_more(&d->ctx->arena, d->v, d->n, &d->cap, sizeof *d->v);
        d->v[d->n++] =
            (struct asked){.text = json_string(json_get(j, "ask")),
                           .language = json_string(json_get(j, "language")),
                           .is_judged = is_judged,
                           .is_personal = str_is(json_string(json_get(j, "is")), "personal")};
    }
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
        d->v[i].is_read = encoder_reads(d->v[i].text);
        if (d->v[i].is_read && encoder_texts(d->ctx, encoder, S(""), &d->v[i].text, 1, &e) != OK)
            stop("%s", d->ctx->why);
        for (int k = 0; d->v[i].is_read && k < ENCODER_SPACE; k++)
            d->v[i].vector[k] = (float)vector_scale * e.pooled[k];
    }
    encoder_free(encoder);
    struct feature *features = NEW_N(a, struct feature, all);
    all = 0;
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < of[i].n && !d->v[i].is_judged; k++)
            features[all++] = (struct feature){of[i].v[k], 1};
    qsort(features, all, sizeof *features, by_text);
    for (size_t from = 0, to; from < all; from = to) {
        for (to = from; to < all && !by_text(&features[from], &features[to]); to++)
            ;
        if (to - from >= LEAST)
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

/* without: a fold that takes no part, or -1. */
static struct model fit_model(const struct form_data *d, bool has_vector, int without)
{
    struct model m = {d->n_features + (has_vector ? ENCODER_SPACE : 0) + 1, NULL, has_vector};
    double *at = calloc(m.n, sizeof *at), *slope = calloc(m.n, sizeof *slope), pace = 1;
    m.w = calloc(m.n, sizeof *m.w);
    double length = 0.3 * steepest(d, &m) + penalty;
    for (int s = 0; s < STEPS; s++) {
        memset(slope, 0, m.n * sizeof *slope);
        for (size_t i = 0; i < d->n; i++) {
            const struct asked *q = &d->v[i];
            if ((int)(i % FOLDS) != without && !q->is_judged && (q->is_read || !has_vector))
                add_row(d, &m, slope, q, 1 / (1 + exp(-dot(d, &m, at, q))) - q->is_personal);
        }
        double next = (1 + sqrt(1 + 4 * pace * pace)) / 2;
        for (size_t i = 0; i < m.n; i++) {
            double w = at[i] - (slope[i] + (i + 1 < m.n ? penalty * at[i] : 0)) / length;
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
        if (!d->v[i].is_personal && is_of(&d->v[i], of))
            general[n++] = d->v[i].score;
    qsort(general, n, sizeof *general, compare_numbers);
    double least = n ? general[(size_t)((1 - spoken) * (double)(n - 1))] : 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].is_personal && is_of(&d->v[i], of)) {
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

static void judge_left_out(struct form_data *d, bool has_vector)
{
    for (int fold = 0; fold < FOLDS; fold++) {
        struct model m = fit_model(d, has_vector, fold);
        for (size_t i = (size_t)fold; i < d->n; i += FOLDS)
            d->v[i].score = dot(d, &m, m.w, &d->v[i]);
        free(m.w);
    }
    write_figures(d, (struct group){.has_vector = has_vector}, stdout);
}

/* Questions that took no part, by the weights that are written. */
static void judge_others(struct form_data *d, const struct model *m)
{
    for (size_t i = 0; i < d->n; i++)
        d->v[i].score = dot(d, m, m->w, &d->v[i]);
    write_figures(d, (struct group){.has_vector = m->has_vector, .is_judged = true}, stderr);
}

static void write_table(const struct form_data *d, const struct model *alone,
                        const struct model *with)
{
    printf("FORM(\"\", %.4f, %.4f)\n", alone->w[alone->n - 1], with->w[with->n - 1]);
    for (size_t i = 0; i < d->n_features; i++) {
        fputs("FORM(", stdout);
        write_text(stdout, d->features[i].text);
        printf(", %.2f, %.2f)\n", alone->w[i], with->w[i]);
    }
    fputs("FORM_VECTOR(", stdout);
    for (size_t k = 0; k < ENCODER_SPACE; k++)
        printf("%s%.3f",
               k % 8 ? ", "
               : k   ? ",\n            "
                     : "",
               vector_scale * with->w[d->n_features + k]);
    puts(")");
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct form_data d = {.ctx = &ctx};
    if (argc < 2)
        stop("usage: train_form FILE… > data/lang/form.def");
    bool is_judged = false;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--judge"))
            is_judged = true;
        else
            read_file(&d, argv[i], is_judged);
    read_features(&d);
    puts("/* form.def - what a question's wording says of whether it needs what its person told. "
         "*/");
    puts("/*\n * FORM(feature, weight alone, weight with the vector), sorted; FORM_VECTOR(of each\n"
         " * dimension). Features: w word, p pair, f first words, n class of length, m mark.\n"
         " * Written by tools/train/form.c. Again: ./dev train form");
    printf(" * %zu features.\n", d.n_features);
    puts(" * Fitted to two thirds: how many % of the personal questions of the rest pass where 90 %"
         " of\n * the general ones are silent, by language.");
    judge_left_out(&d, false);
    judge_left_out(&d, true);
    puts(" */");
    struct model alone = fit_model(&d, false, -1), with = fit_model(&d, true, -1);
    write_table(&d, &alone, &with);
    judge_others(&d, &alone);
    judge_others(&d, &with);
    free(alone.w);
    free(with.w);
    return 0;
}
