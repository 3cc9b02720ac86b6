/* line.c - fits how probable it is that one more line of a chat is worth its room. */
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/recall/features.h"
#include "fit.h"

/*
 * A logistic over the first lines of each question in the order of recall, by the weights as they
 * are now: what a line's score says, how far it stands behind the first one, and its place. A line
 * that the question needs is a hit; of a question that needs nothing each is a miss. Only of the
 * encoder, and of chats with an assistant: the other weights have no such fit (decisions/054).
 */

#define FIXED_COLUMNS "conversation\tquestion\town\tcategory\tgold\tevidence\tsession\tright"
enum { FIXED = 8, LOOKED_AT = 16, QUESTIONS_MAX = 4096 }; /* questions of a conversation */
static const double penalty = 1;

static const char *const signals[] = {
#define SIGNAL(name, sets, fit, help, ...) #name,
#include "engine/recall/feature_weights.def"
#undef SIGNAL
    NULL};

static const struct line_signal {
    const char *name, *help;
    double w;
} table[] = {
#define LINE_SIGNAL(name, help, w) {#name, help, w},
#include "engine/recall/line_weights.def"
#undef LINE_SIGNAL
};
enum { SIGNALS = sizeof table / sizeof *table };
enum {
#define LINE_SIGNAL(name, help, w) LINE_##name,
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
    bool needs_nothing = !strcmp(dump->size, "general");
    l->v = realloc(l->v, (l->n + r.n) * sizeof *l->v);
    if (!l->v)
        stop("out of memory");
    size_t from = l->n;
    for (size_t i = 0; i < r.n; i++) {
        const double *v = &r.v[i * r.columns];
        if (v[2] <= 0) /* of a foreign pool: nothing is given of it, as the gate is silent */
            continue;
        struct weighed weighed = signals_weigh(WITH_ENCODER, v + FIXED);
        struct line line = {.of = dump,
                            .conversation = conversation_no(dump, v[0]),
                            .question = (int)v[1] + QUESTIONS_MAX * (int)v[0],
                            .gold = needs_nothing ? 0 : (int)v[4],
                            .place = (int)i,
                            .is_evidence = v[5] > 0 && !needs_nothing,
                            .rank = weighed.rank};
        line.x[LINE_constant] = 1;
        line.x[LINE_sure] = log(weighed.sure / (1 - weighed.sure));
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

/* Of the questions that need something: how many get all of it, and how many other lines. */
static void write_figures(FILE *out, const struct lines *l, const struct dump *of)
{
    static const double least[] = {0.05, 0.07, 0.1, 0.15};
    fprintf(out, " *  %-6s %-7s", of->kind, of->size);
    for (size_t t = 0; t < sizeof least / sizeof *least; t++) {
        double asked = 0, found = 0, others = 0;
        for (size_t from = 0, to; from < l->n; from = to) {
            int got = 0;
            for (to = from; to < l->n && l->v[to].question == l->v[from].question &&
                            l->v[to].of == l->v[from].of;
                 to++) {
                bool is_given = l->v[to].of == of && l->v[to].gold && l->v[to].worth >= least[t];
                got += is_given && l->v[to].is_evidence;
                others += is_given && !l->v[to].is_evidence;
            }
            asked += l->v[from].of == of && l->v[from].gold;
            found += l->v[from].of == of && l->v[from].gold && got >= l->v[from].gold;
        }
        fprintf(out, " | %5.1f %4.2f", 100 * found / asked, others / asked);
    }
    fputs("\n", out);
}

static bool is_fitted_to(const struct dump *d)
{
    return d->set == WITH_ENCODER && strcmp(d->kind, "LoCoMo") != 0;
}

void train_line(const struct dumps *dumps, FILE *out)
{
    struct lines l = {0};
    struct fit f = {.n = SIGNALS};
    struct report report;
    report_begin(&report);
    for (int i = 0; i < SIGNALS; i++)
        f.w[i] = table[i].w;
    for (size_t i = 0; i < dumps->n; i++)
        if (is_fitted_to(&dumps->v[i]))
            read_dump(&l, &dumps->v[i]);
    if (report_has_dumps(&report, dumps, WITH_ENCODER)) {
        judge_left_out(&l);
        for (size_t i = 0; i < dumps->n; i++)
            if (is_fitted_to(&dumps->v[i]) && strcmp(dumps->v[i].size, "general") != 0)
                write_figures(report.out, &l, &dumps->v[i]);
        f = fit_lines(&l, -1);
    }
    report_end(&report);
    fputs("/* line_weights.def - how probable it is that one more line is worth its room. */\n"
          "/*\n * LINE_SIGNAL(name, help, weight) of a logistic, for the encoder (decisions/054).\n"
          " * Written by tools/train.\n",
          out);
    notes_write(out, dumps);
    fprintf(out,
            " * Leave one conversation out: of the questions that need something, how many %% get "
            "all of\n * it, and how many other lines, at a least probability of 0.05, 0.07, 0.1 "
            "and 0.15.\n%s */\n",
            report.text);
    for (int i = 0; i < SIGNALS; i++)
        fprintf(out, "LINE_SIGNAL(%s, \"%s\", %.4f)\n", table[i].name, table[i].help, f.w[i]);
    free(l.v);
    free(report.text);
}
