/* personal.c - fits the probability that a question needs what its person told. */
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gate/evidence.h"
#include "fit.h"

/*
 * A logistic over the questions of people on their own pool: those that need something are hits,
 * general ones are misses. Its columns are the wording (form.def, which was fitted to questions of
 * others) and what the gate's table says of an answer. So it is fitted after the gate.
 */

static const double penalty = 1;

/* The share of general questions that may pass. */
static const double spoken = 0.1;

enum { CONSTANT, FORM, ANSWER, COLUMNS };
static const char *const rows[][3] = {{"constant", "PERSONAL_CONSTANT",
                                       "the same for each question"},
                                      {"form", "GATE_form", "its wording (form.def)"},
                                      {"answer", "PERSONAL_ANSWER",
                                       "logarithm of the odds that something answers it"}};

static const double table[][WEIGHT_SETS] = {
#define PERSONAL(name, signal, help, ...) {__VA_ARGS__},
#include "engine/gate/personal_weights.def"
#undef PERSONAL
};

struct question {
    int conversation;
    bool needs;
    double x[COLUMNS], score;
};

struct questions {
    struct question *v;
    size_t n;
};

static bool is_of_people(const struct dump *d, int set)
{
    return d->set == set && strstr("people general others othgen", d->size);
}

static void read_dump(struct questions *q, const struct dump *dump)
{
    struct rows r = gate_rows_read(dump);
    q->v = realloc(q->v, (q->n + r.n) * sizeof *q->v);
    if (!q->v)
        stop("out of memory");
    for (size_t i = 0; i < r.n; i++) {
        const double *v = &r.v[i * r.columns];
        struct gate_evidence e = {0};
        if (v[0] != v[2] || v[4] >= 0) /* of another's pool, or not looked at */
            continue;
        memcpy(e.signals, v + GATE_FIXED, sizeof e.signals);
        double p = gate_probability((enum weights)dump->set, &e);
        q->v[q->n++] = (struct question){
            .conversation = conversation_no(dump, v[0]),
            .needs = !strstr(dump->size, "gen"),
            .x = {[CONSTANT] = 1, [FORM] = e.signals[GATE_form], [ANSWER] = log(p / (1 - p))}};
    }
    free(r.v);
}

/* without: a conversation that takes no part, or -1. */
static struct fit fit_questions(const struct questions *q, int without)
{
    struct fit f = {.n = COLUMNS, .penalty = penalty};
    for (int s = 0; s < FIT_STEPS; s++) {
        fit_begin(&f);
        for (size_t i = 0; i < q->n; i++)
            if (q->v[i].conversation != without)
                fit_add_logistic(&f, q->v[i].x, q->v[i].needs, 1);
        fit_step(&f);
    }
    return f;
}

static int by_score(const void *a, const void *b)
{
    double x = ((const struct question *)a)->score, y = ((const struct question *)b)->score;
    return (x > y) - (x < y);
}

/* How many of those that need something pass where one general question in ten does, and what it
 * takes; each asked of weights without its person. */
static void write_figures(FILE *out, struct questions *q, int set)
{
    for (size_t i = 0; i < q->n; i++) {
        struct fit f = fit_questions(q, q->v[i].conversation);
        q->v[i].score = fit_dot(&f, q->v[i].x);
    }
    qsort(q->v, q->n, sizeof *q->v, by_score);
    double needing = 0, general = 0, passed = 0, passing = 0, least = 0;
    for (size_t i = 0; i < q->n; i++) {
        needing += q->v[i].needs;
        general += !q->v[i].needs;
    }
    for (size_t i = q->n; i-- > 0 && passed <= spoken * general;) {
        passed += !q->v[i].needs;
        passing += q->v[i].needs;
        least = q->v[i].score;
    }
    fprintf(out, " *  %s: %.0f general, %.0f others, of which %.1f %% pass at %.2f\n",
            weight_set_names[set], general, needing, 100 * passing / needing,
            1 / (1 + exp(-least)));
}

void train_personal(const struct dumps *dumps, FILE *out)
{
    double w[COLUMNS][WEIGHT_SETS];
    struct report report;
    report_begin(&report);
    for (int s = 0; s < WEIGHT_SETS; s++) {
        struct questions q = {0};
        for (size_t i = 0; i < dumps->n; i++)
            if (weights_by_encoder((enum weights)s) && is_of_people(&dumps->v[i], s))
                read_dump(&q, &dumps->v[i]);
        struct fit f = {0};
        if (q.n) {
            f = fit_questions(&q, -1);
            write_figures(report.out, &q, s);
        }
        for (int i = 0; i < COLUMNS; i++)
            w[i][s] = q.n ? f.w[i] : table[i][s];
        free(q.v);
    }
    for (int i = 0; i < COLUMNS; i++)
        w[i][WORDS_ALONE] = w[i][WITH_VECTORS] = w[i][WITH_ENCODER];
    report_end(&report);
    fputs("/* personal_weights.def - weights for the probability that a question needs what its "
          "person told. */\n/*\n * PERSONAL(name, signal, help, weights), for each set of weights "
          "(engine/gate/weight_sets.def).\n * Written by tools/train. Those without the encoder "
          "are the encoder's (trial 107).\n * People: those of people.json and people-open.json in "
          "tests/life.\n",
          out);
    fprintf(out,
            " * Leave one person out: how many pass where one general question in ten does, and "
            "at what\n * probability.\n%s */\n",
            report.text);
    for (int i = 0; i < COLUMNS; i++) {
        fprintf(out, "PERSONAL(%s, %s, \"%s\",\n        ", rows[i][0], rows[i][1], rows[i][2]);
        for (int s = 0; s < WEIGHT_SETS; s++)
            fprintf(out, "%s %.4f", s ? "," : "", w[i][s]);
        fputs(")\n", out);
    }
    free(report.text);
}
