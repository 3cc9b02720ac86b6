/* line.c - fits how probable it is that a line is needed, for what a chat is given. */
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/recall/features.h"
#include "fit.h"

/*
 * A logistic over the first lines of each question in the order of recall, by the weights as they
 * are now: what a line's score and its cosine say, how far it stands behind the first one, and its
 * place. A line that the question needs is a hit. Only of the encoder, and of chats with an
 * assistant: by words alone a line is held against its score.
 */

#define FIXED_COLUMNS "conversation\tquestion\town\tcategory\tgold\tevidence\tsession\tright"
enum { FIXED = 8, LOOKED_AT = 24, QUESTIONS_MAX = 4096 }; /* questions of a conversation */
static const double penalty = 1;

static const char *const signals[] = {
#define SIGNAL(name, sets, fit, help, ...) #name,
#include "engine/recall/feature_weights.def"
#undef SIGNAL
    NULL};

static const struct line_signal {
    const char *name, *help;
    double w[WEIGHT_SETS];
} table[] = {
#define LINE_SIGNAL(name, help, ...) {#name, help, {__VA_ARGS__}},
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
};
enum { SIGNALS = sizeof table / sizeof *table };
enum {
#define LINE_SIGNAL(name, help, ...) LINE_##name,
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
};

struct line {
    const struct dump *of;
    int conversation, question, gold, place;
    bool is_evidence;
    double rank, x[SIGNALS], worth;
};

struct lines {
    struct line *v;
    size_t n;
    int set;
};

static int best_first(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return x->place - y->place;
}

/* Orders the lines of one question, and leaves the first of them; gives their number. */
static size_t put_in_order(struct line *v, size_t n)
{
    qsort(v, n, sizeof *v, best_first);
    n = n < LOOKED_AT ? n : LOOKED_AT;
    for (size_t i = 0; i < n; i++) {
        v[i].place = (int)i;
        v[i].x[LINE_behind] = v[i].rank - v[0].rank;
        v[i].x[LINE_place] = log1p((double)i);
    }
    return n;
}

static void read_dump(struct lines *l, const struct dump *dump)
{
    struct rows r = rows_read(dump->path, FIXED_COLUMNS, signals);
    l->v = realloc(l->v, (l->n + r.n) * sizeof *l->v);
    if (!l->v)
        stop("out of memory");
    size_t from = l->n;
    for (size_t i = 0; i < r.n; i++) {
        const double *v = &r.v[i * r.columns];
        if (v[2] <= 0) /* of a foreign pool: nothing is given of it, as the gate is silent */
            continue;
        struct weighed weighed = signals_weigh((enum weights)l->set, v + FIXED);
        struct line line = {.of = dump,
                            .conversation = conversation_no(dump, v[0]),
                            .question = (int)v[1] + QUESTIONS_MAX * (int)v[0],
                            .gold = (int)v[4],
                            .place = (int)i,
                            .is_evidence = v[5] > 0,
                            .rank = weighed.rank};
        line.x[LINE_constant] = 1;
        line.x[LINE_sure] = log(weighed.sure / (1 - weighed.sure));
        line.x[LINE_cosine] = v[FIXED + SIGNAL_dense];
        line.x[LINE_assistant] = v[FIXED + SIGNAL_assistant];
        if (l->n > from && l->v[from].question != line.question)
            from = l->n = from + put_in_order(&l->v[from], l->n - from);
        l->v[l->n++] = line;
    }
    l->n = from + put_in_order(&l->v[from], l->n - from);
    free(r.v);
}

/* without: a conversation that takes no part, or -1. */
static struct fit fit_lines(const struct lines *l, int without)
{
    struct fit f = {.n = SIGNALS, .penalty = penalty};
    for (int s = 0; s < FIT_STEPS; s++) {
        fit_begin(&f);
        for (size_t i = 0; i < l->n; i++)
            if (l->v[i].conversation != without)
                fit_add_logistic(&f, l->v[i].x, l->v[i].is_evidence, 1);
        fit_step(&f);
    }
    return f;
}

static void judge_left_out(struct lines *l)
{
    bool is_done[DUMPS_MAX * KIND_SHIFT] = {0};
    for (size_t i = 0; i < l->n; i++) {
        int conversation = l->v[i].conversation;
        if (is_done[conversation])
            continue;
        is_done[conversation] = true;
        struct fit f = fit_lines(l, conversation);
        for (size_t k = 0; k < l->n; k++)
            if (l->v[k].conversation == conversation)
                l->v[k].worth = 1 / (1 + exp(-fit_dot(&f, l->v[k].x)));
    }
}

/* Lines of one question, from one on; the first of the next. */
static size_t question_end(const struct lines *l, size_t from)
{
    size_t to = from;
    while (to < l->n && l->v[to].question == l->v[from].question && l->v[to].of == l->v[from].of)
        to++;
    return to;
}

/* Of the questions of a dump: how many get all that they need when their lines are given until so
 * much of the sum of probabilities is reached, and how many lines that is. */
static void write_coverage(FILE *out, const struct lines *l, const struct dump *of, double coverage)
{
    double asked = 0, found = 0, given = 0;
    for (size_t from = 0, to; from < l->n; from = to) {
        double all = 0, sum = 0;
        int got = 0;
        to = question_end(l, from);
        if (l->v[from].of != of)
            continue;
        for (size_t i = from; i < to; i++)
            all += l->v[i].worth;
        for (size_t i = from; i < to && sum < coverage * all; i++) {
            sum += l->v[i].worth;
            got += l->v[i].is_evidence;
            given++;
        }
        asked++;
        found += got >= l->v[from].gold;
    }
    fprintf(out, " | %5.1f %4.1f", 100 * found / asked, given / asked);
}

/* How far the probabilities are from what was needed, on average over 20 bins. */
static double calibration_error(const struct lines *l, const struct dump *of)
{
    enum { BINS = 20 };
    double sum[BINS] = {0}, hits[BINS] = {0}, n = 0, error = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].of != of)
            continue;
        int bin = (int)fmin(l->v[i].worth * BINS, BINS - 1);
        sum[bin] += l->v[i].worth;
        hits[bin] += l->v[i].is_evidence;
        n++;
    }
    for (int b = 0; b < BINS; b++)
        error += fabs(sum[b] - hits[b]);
    return n > 0 ? error / n : 0;
}

static void write_figures(FILE *out, const struct lines *l, const struct dump *of)
{
    static const double coverages[] = {0.75, 0.9, 0.97};
    fprintf(out, " *  %-6s %-7s", of->kind, of->size);
    for (size_t c = 0; c < sizeof coverages / sizeof *coverages; c++)
        write_coverage(out, l, of, coverages[c]);
    fprintf(out, " | %.3f\n", calibration_error(l, of));
}

/* Of questions that need something, in chats with an assistant. */
static bool is_fitted_to(const struct dump *d, int set)
{
    return d->set == set && strcmp(d->kind, "LoCoMo") != 0 && !strstr(d->size, "gen");
}

static struct fit fit_set(const struct dumps *dumps, int set, FILE *figures)
{
    struct lines l = {.set = set};
    for (size_t i = 0; i < dumps->n; i++)
        if (is_fitted_to(&dumps->v[i], set))
            read_dump(&l, &dumps->v[i]);
    judge_left_out(&l);
    fprintf(figures, " *  %s, %zu lines:\n", weight_set_names[set], l.n);
    for (size_t i = 0; i < dumps->n; i++)
        if (is_fitted_to(&dumps->v[i], set))
            write_figures(figures, &l, &dumps->v[i]);
    struct fit f = fit_lines(&l, -1);
    free(l.v);
    return f;
}

void train_line(const struct dumps *dumps, FILE *out)
{
    double w[SIGNALS][WEIGHT_SETS];
    struct report report;
    report_begin(&report);
    for (int s = 0; s < WEIGHT_SETS; s++) {
        bool is_fitted = report_has_dumps(&report, dumps, s);
        struct fit f = is_fitted ? fit_set(dumps, s, report.out) : (struct fit){0};
        for (int i = 0; i < SIGNALS; i++)
            w[i][s] = is_fitted ? f.w[i] : table[i].w[s];
    }
    report_end(&report);
    fputs("/* line_weights.def - weights for the probability that a line is needed. */\n"
          "/*\n * LINE_SIGNAL(name, help, weights) of a logistic for each set of weights\n"
          " * (engine/gate/weight_sets.def). Written by tools/train.\n",
          out);
    notes_write(out, dumps);
    fprintf(out,
            " * Leave one conversation out: of the questions that need something, how many %% get "
            "all of\n * it, and lines each, where lines are given until 0.75, 0.9 and 0.97 of the "
            "sum of their\n * probabilities is reached; then how far probabilities are from what "
            "was needed.\n%s */\n",
            report.text);
    for (int i = 0; i < SIGNALS; i++) {
        fprintf(out, "LINE_SIGNAL(%s, \"%s\",\n           ", table[i].name, table[i].help);
        for (int s = 0; s < WEIGHT_SETS; s++)
            fprintf(out, "%s %.4f", s ? "," : "", w[i][s]);
        fputs(")\n", out);
    }
    free(report.text);
}
