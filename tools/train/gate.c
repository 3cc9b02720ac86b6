/* gate.c - fits the weights of the gate: can a question be answered from this pool at all? */
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"

/*
 * A logistic over one row for each question and pool: its own pool, and pools of others, with the
 * question as it is and with the names of the people there. A question counts as much on its own
 * pool as on all the others together. To be judged, a conversation's questions are asked of weights
 * that were fitted without that conversation, neither its questions nor its pool.
 */

static const double penalty = 50;

/* As it is now. */
static const struct gate_row {
    const char *name, *sets, *help;
    int in;
    double w[WEIGHT_SETS];
} table[] = {
#define GATE_SIGNAL(name, sets, help, ...) {#name, #sets, help, sets, {__VA_ARGS__}},
#include "engine/gate/gate_weights.def"
#undef GATE_SIGNAL
};
enum { SIGNALS = sizeof table / sizeof *table };
enum {
#define GATE_SIGNAL(name, sets, help, ...) SIGNAL_##name,
#include "engine/gate/gate_weights.def"
#undef GATE_SIGNAL
    SMALL = SIGNAL_small,
    SELF = SIGNAL_self
};

struct asked {
    const struct dump *of;
    int conversation, piece, question, pool;
    bool is_renamed, is_own;
    bool is_decided; /* without the gate: nothing was found, or it is not English */
    double weight, x[SIGNALS], probability;
};

struct gate_data {
    struct asked *v;
    size_t n;
    int set;
};

struct columns {
    size_t n;
    int of[COLUMNS_MAX]; /* signal, or -1 for the constant */
    struct scale scale[COLUMNS_MAX];
};

/* Its questions need nothing of their own pool either. */
static bool is_general(const struct dump *d)
{
    return strstr(d->size, "gen");
}

static void read_dump(struct gate_data *d, const struct dump *dump)
{
    struct rows r = gate_rows_read(dump);
    d->v = realloc(d->v, (d->n + r.n) * sizeof *d->v);
    if (!d->v)
        stop("out of memory");
    for (size_t i = 0; i < r.n; i++) {
        const double *v = &r.v[i * r.columns];
        struct asked *a = &d->v[d->n++];
        *a = (struct asked){.of = dump,
                            .conversation = conversation_no(dump, v[0]),
                            .piece = (int)v[0],
                            .question = (int)v[1],
                            .pool = conversation_no(dump, v[2]),
                            .is_renamed = v[3] > 0,
                            .is_own = v[0] == v[2] && !is_general(dump),
                            .is_decided = v[4] >= 0,
                            .probability = fmax(v[4], 0)};
        memcpy(a->x, v + GATE_FIXED, sizeof a->x);
    }
    free(r.v);
}

static bool same_question(const struct asked *a, const struct asked *b)
{
    return a->of == b->of && a->piece == b->piece && a->question == b->question;
}

/* Rows of a question stand together. */
static void weigh_rows(struct gate_data *d)
{
    for (size_t from = 0, to; from < d->n; from = to) {
        double others = 0;
        for (to = from; to < d->n && same_question(&d->v[from], &d->v[to]); to++)
            others += !d->v[to].is_own && !d->v[to].is_decided;
        for (size_t i = from; i < to; i++)
            d->v[i].weight = d->v[i].is_decided ? 0
                             : d->v[i].is_own   ? d->v[i].of->weight
                                                : d->v[i].of->weight / others;
    }
}

static struct columns columns_of(const struct gate_data *d)
{
    struct columns c = {.n = 1, .of = {-1}, .scale = {{0, 1}}};
    double *x = calloc(d->n, sizeof *x), *w = calloc(d->n, sizeof *w);
    for (int s = 0; s < SIGNALS; s++) {
        if (!(table[s].in >> d->set & 1))
            continue;
        for (size_t i = 0; i < d->n; i++) {
            x[i] = d->v[i].x[s];
            w[i] = d->v[i].weight;
        }
        c.scale[c.n] = scale_of(x, w, d->n);
        c.of[c.n++] = s;
    }
    free(x);
    free(w);
    return c;
}

static void scaled_row(const struct columns *c, const struct asked *a, double *x)
{
    for (size_t i = 0; i < c->n; i++)
        x[i] = c->of[i] < 0 ? 1 : (a->x[c->of[i]] - c->scale[i].mean) * c->scale[i].factor;
}

/* without: a conversation that takes no part, or -1. */
static struct fit fit_gate(const struct gate_data *d, const struct columns *c, int without)
{
    struct fit f = {.n = c->n, .penalty = penalty};
    for (int s = 0; s < FIT_STEPS; s++) {
        fit_begin(&f);
        for (size_t r = 0; r < d->n; r++) {
            const struct asked *a = &d->v[r];
            double x[COLUMNS_MAX];
            if (a->is_decided || a->conversation == without || a->pool == without)
                continue;
            scaled_row(c, a, x);
            fit_add_logistic(&f, x, a->is_own, a->weight);
        }
        fit_step(&f);
    }
    return f;
}

static void judge_left_out(struct gate_data *d, const struct columns *c)
{
    for (size_t from = 0; from < d->n; from++) {
        int conversation = d->v[from].conversation;
        if (d->v[from].is_decided || d->v[from].probability > 0)
            continue;
        struct fit f = fit_gate(d, c, conversation);
        for (size_t r = from; r < d->n; r++) {
            double x[COLUMNS_MAX];
            if (d->v[r].is_decided || d->v[r].conversation != conversation)
                continue;
            scaled_row(c, &d->v[r], x);
            double others = GATE_OTHERS(d->v[r].x[SMALL], d->v[r].x[SELF]);
            d->v[r].probability = 1 / (1 + others * exp(-fit_dot(&f, x)));
        }
    }
}

/* --- curves --- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum asked_where { ON_OWN, ON_OTHER, ON_RENAMED };

/* The probabilities of one dump's questions, least first. */
static double *sorted_of(const struct gate_data *d, const struct dump *of, enum asked_where where,
                         size_t *n)
{
    double *v = calloc(d->n + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct asked *a = &d->v[i];
        enum asked_where is = a->is_own ? ON_OWN : a->is_renamed ? ON_RENAMED : ON_OTHER;
        if (a->of == of && is == where)
            v[(*n)++] = a->probability;
    }
    qsort(v, *n, sizeof *v, compare_numbers);
    return v;
}

/* The share, in %, that reaches a level. */
static double reaches(const double *v, size_t n, double level)
{
    size_t below = 0;
    while (below < n && v[below] < level)
        below++;
    return n ? 100 * (double)(n - below) / (double)n : 0;
}

static void write_curve(FILE *out, const struct gate_data *d, const struct dump *of)
{
    static const double kept[] = {0.97, 0.95, 0.93, 0.9}, usual = 0.05;
    size_t n, n_other, n_renamed;
    double *own = sorted_of(d, of, ON_OWN, &n), *other = sorted_of(d, of, ON_OTHER, &n_other);
    double *renamed = sorted_of(d, of, ON_RENAMED, &n_renamed);
    fprintf(out, " *  %-6s %-4s %4zu", of->kind, of->size, n);
    if (is_general(of))
        fprintf(out, " of %zu others |", n_other);
    for (size_t i = 0; n && i < sizeof kept / sizeof *kept; i++) {
        double level = own[(size_t)((1 - kept[i]) * (double)n)];
        fprintf(out, " | %4.1f %4.1f", reaches(other, n_other, level),
                reaches(renamed, n_renamed, level));
    }
    fprintf(out, " | %5.1f: %4.1f %4.1f\n", reaches(own, n, usual), reaches(other, n_other, usual),
            reaches(renamed, n_renamed, usual));
    free(own);
    free(other);
    free(renamed);
}

/* --- the table --- */

struct gate_fit {
    double constant, w[SIGNALS];
};

static struct gate_fit unscaled_fit(const struct columns *c, const struct fit *f)
{
    struct gate_fit out = {.constant = f->w[0]};
    for (size_t i = 1; i < c->n; i++) {
        out.w[c->of[i]] = f->w[i] * c->scale[i].factor;
        out.constant -= f->w[i] * c->scale[i].factor * c->scale[i].mean;
    }
    return out;
}

/* The people of people-open.json are for the fits that come after. */
static bool is_fitted_to(const struct dump *d, int set)
{
    return d->set == set && strcmp(d->kind, "open") != 0 && strcmp(d->kind, "other") != 0;
}

static void fit_set(const struct dumps *dumps, int set, struct gate_fit *out, FILE *curves)
{
    struct gate_data d = {.set = set};
    for (size_t i = 0; i < dumps->n; i++)
        if (is_fitted_to(&dumps->v[i], set))
            read_dump(&d, &dumps->v[i]);
    weigh_rows(&d);
    struct columns c = columns_of(&d);
    judge_left_out(&d, &c);
    fprintf(curves, " *  %s, %zu rows:\n", weight_set_names[set], d.n);
    for (size_t i = 0; i < dumps->n; i++)
        if (is_fitted_to(&dumps->v[i], set))
            write_curve(curves, &d, &dumps->v[i]);
    struct fit f = fit_gate(&d, &c, -1);
    *out = unscaled_fit(&c, &f);
    free(d.v);
}

static void write_table(FILE *out, const struct dumps *dumps, const struct gate_fit *fits,
                        const char *curves)
{
    fputs("/* gate_weights.def - features of a question that can be answered, with the weight of "
          "each. "
          "*/\n/*\n * Written by tools/train, but for GATE_ODDS, which is set by hand.\n",
          out);
    notes_write(out, dumps);
    fputs(" * Leave one conversation out: how many questions, and where 97, 95, 93 and 90 % of "
          "them are "
          "kept\n * on their own pool, to how many % a foreign pool speaks (as they are, with the "
          "names "
          "of the\n * people there); then what is kept at the threshold 0.05, and spoken there.\n",
          out);
    fprintf(out, "%s */\n#ifndef GATE_ODDS\n#define GATE_ODDS %d\n#define GATE_CONSTANT {", curves,
            GATE_ODDS);
    for (int s = 0; s < WEIGHT_SETS; s++)
        fprintf(out, "%s%.4f", s ? ", " : "", fits[s].constant);
    fputs("}\n#endif\n", out);
    for (int i = 0; i < SIGNALS; i++) {
        fprintf(out, "GATE_SIGNAL(%s, %s,\n            \"%s\",\n           ", table[i].name,
                table[i].sets, table[i].help);
        for (int s = 0; s < WEIGHT_SETS; s++)
            fprintf(out, "%s %.4f", s ? "," : "", fits[s].w[i]);
        fputs(")\n", out);
    }
}

void train_gate(const struct dumps *dumps, FILE *out)
{
    static const double constants[WEIGHT_SETS] = GATE_CONSTANT;
    struct gate_fit fits[WEIGHT_SETS];
    struct report report;
    report_begin(&report);
    for (int s = 0; s < WEIGHT_SETS; s++) {
        fits[s].constant = constants[s];
        for (int i = 0; i < SIGNALS; i++)
            fits[s].w[i] = table[i].w[s];
        if (s != OTHER_LANGUAGE && report_has_dumps(&report, dumps, s))
            fit_set(dumps, s, &fits[s], report.out);
    }
    /* The pools of people are all of one size, so they say nothing of others. */
    fits[OTHER_LANGUAGE] = fits[WITH_ENCODER];
    report_end(&report);
    write_table(out, dumps, fits, report.text);
    free(report.text);
}
