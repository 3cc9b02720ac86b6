/* ranking.c - fits the weights by which recall orders candidates and says how sure it is. */
#include "train.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/inspect.h"
#include "fit.h"

/*
 * Two fits. The ranking: for each question the softmax over its candidates against the evidence
 * (conditional logit), so that what is the same for all candidates cannot count. The probability of
 * a line: a logistic over that score and the few signals that tell a question with an answer from
 * one without, with the rows of foreign pools as misses. Both are convex, so there is one answer.
 * Each conversation is also ranked by weights fitted without it: those are the figures to quote.
 */

#define FIXED_COLUMNS "conversation\tquestion\town\tcategory\tgold\tevidence\tsession\tright"
enum { FIXED = 8, ROWS_MAX = 4096, TOP = 10 };
static const double penalty = 1;
/* What a signal is worth more in a chat is held back more: there are few questions of chats. */
static const double chat_factor = 2;

/* Fitted to whole chats; so small a set needs to be held back much. */
static const double chat_penalty = 10;

/* How a signal is used; the list names one for every signal. TAKEN_BACK: who said it, and that it
 * is a wish, orders candidates and says less of how sure one is, so `sure` takes back a share of
 * what `rank` and `chat` did. */
/* ALIKE: it is worth the same in chats. CHATS: it counts there alone. BALANCE: see balance_of. */
enum use { RANK = 1, SURE = 2, BY_HAND = 4, TAKEN_BACK = 8, BALANCE = 16, ALIKE = 32, CHATS = 64 };
static const double taken_back = 0.7;

struct pair {
    double rank, sure, chat;
};

static const struct signal {
    const char *name, *sets, *fit, *help;
    int in, use;
    struct pair w[WEIGHT_SETS]; /* as it is now */
} table[] = {
#define SIGNAL(name, sets, fit, help, ...) {#name, #sets, #fit, help, sets, fit, {__VA_ARGS__}},
#include "engine/recall/feature_weights.def"
#undef SIGNAL
};
enum { SIGNALS = sizeof table / sizeof *table };

static const char *const names[] = {
#define SIGNAL(name, sets, fit, help, ...) #name,
#include "engine/recall/feature_weights.def"
#undef SIGNAL
    NULL};

struct row {
    const struct dump *of;
    int conversation, question, gold, session;
    bool is_own, is_evidence, is_right; /* is_right: the session is asked for */
    double x[SIGNALS], score;
    double given; /* by weights that stay */
};

struct data {
    struct row *v;
    size_t n;
    int set;
};

/* The place of a signal. */
enum {
#define SIGNAL(name, sets, fit, help, ...) AT_##name,
#include "engine/recall/feature_weights.def"
#undef SIGNAL
    chat = AT_chat
};

static void read_dump(struct data *d, const struct dump *dump)
{
    struct rows r = rows_read(dump->path, FIXED_COLUMNS, names);
    d->v = realloc(d->v, (d->n + r.n) * sizeof *d->v);
    if (!d->v)
        stop("out of memory");
    for (size_t i = 0; i < r.n; i++) {
        const double *v = &r.v[i * r.columns];
        struct row *row = &d->v[d->n++];
        *row = (struct row){.of = dump,
                            .conversation = conversation_no(dump, v[0]),
                            .question = (int)v[1],
                            .is_own = v[2] > 0,
                            .gold = (int)v[4],
                            .is_evidence = v[5] > 0,
                            .session = (int)v[6],
                            .is_right = v[7] > 0};
        memcpy(row->x, v + FIXED, sizeof row->x);
        for (int s = 0; s < SIGNALS && WEIGHTS_CHAT_ALONE(d->set); s++)
            row->given += table[s].w[d->set].rank * row->x[s];
    }
    free(r.v);
}

/* --- columns: the signals of a fit, scaled --- */

struct columns {
    size_t n;
    int of[COLUMNS_MAX]; /* signal, or -1 for the ranking score, -2 for the constant, or SIGNALS
                            plus a signal: what it is worth more in a chat */
    struct scale scale[COLUMNS_MAX];
};

static double value_of(const struct columns *c, const struct row *r, size_t i)
{
    int of = c->of[i];
    double x = of == -2 ? 1 : of == -1 ? r->score : r->x[of % SIGNALS];
    x *= of < SIGNALS ? 1 : r->x[chat];
    return (x - c->scale[i].mean) * c->scale[i].factor;
}

static struct columns columns_of(const struct data *d, enum use use)
{
    struct columns c = {0};
    double *x = calloc(d->n, sizeof *x);
    if (use == SURE) {
        c.of[c.n++] = -2;
        c.of[c.n++] = -1;
    }
    bool is_all = use == SURE || !WEIGHTS_CHAT_ALONE(d->set);
    for (int s = 0; is_all && s < SIGNALS; s++)
        if ((table[s].in >> d->set & 1) && (table[s].use & (int)use) &&
            (use == SURE || !(table[s].use & CHATS)))
            c.of[c.n++] = s;
    for (int s = 0; use == RANK && s < SIGNALS; s++)
        if ((table[s].in >> d->set & 1) && (table[s].use & RANK) && !(table[s].use & ALIKE))
            c.of[c.n++] = SIGNALS + s;
    assert(c.n <= COLUMNS_MAX);
    for (size_t i = 0; i < c.n; i++) {
        c.scale[i] = (struct scale){0, 1};
        for (size_t r = 0; r < d->n; r++)
            x[r] = value_of(&c, &d->v[r], i);
        if (c.of[i] >= SIGNALS)
            c.scale[i].factor = chat_factor;
        else if (c.of[i] != -2)
            c.scale[i] = scale_of(x, NULL, d->n);
    }
    free(x);
    return c;
}

static void row_values(const struct columns *c, const struct row *r, double *x)
{
    for (size_t i = 0; i < c->n; i++)
        x[i] = value_of(c, r, i);
}

static double apply(const struct columns *c, const struct fit *f, const struct row *r)
{
    double x[COLUMNS_MAX];
    row_values(c, r, x);
    return fit_dot(f, x);
}

/* --- ranking --- */

/* Rows of one question stand together, its own pool's first. */
static size_t own_end(const struct data *d, size_t from)
{
    size_t to = from;
    while (to < d->n && d->v[to].is_own && d->v[to].question == d->v[from].question &&
           d->v[to].conversation == d->v[from].conversation && d->v[to].of == d->v[from].of)
        to++;
    return to;
}

static void add_question(struct fit *f, const struct columns *c, const struct row *v, size_t n)
{
    static double x[ROWS_MAX][COLUMNS_MAX], p[ROWS_MAX];
    double sum = 0, best = -1e300, gold = 0, mean[COLUMNS_MAX] = {0};
    for (size_t r = 0; r < n; r++) {
        row_values(c, &v[r], x[r]);
        p[r] = v[r].given + fit_dot(f, x[r]);
        best = fmax(best, p[r]);
        gold += v[r].is_evidence;
    }
    if (!(gold > 0))
        return;
    for (size_t r = 0; r < n; r++)
        sum += p[r] = exp(p[r] - best);
    for (size_t r = 0; r < n; r++) {
        p[r] /= sum;
        double miss = p[r] - v[r].is_evidence / gold;
        f->loss -= v[r].is_evidence ? log(p[r]) / gold : 0;
        for (size_t i = 0; i < c->n; i++) {
            mean[i] += p[r] * x[r][i];
            f->gradient[i] += miss * x[r][i];
            for (size_t k = 0; k <= i; k++)
                f->hessian[i][k] += p[r] * x[r][i] * x[r][k];
        }
    }
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k <= i; k++)
            f->hessian[i][k] -= mean[i] * mean[k];
}

/* without: a conversation that takes no part, or -1. */
static struct fit fit_rank(const struct data *d, const struct columns *c, int without)
{
    struct fit f = {.n = c->n, .penalty = WEIGHTS_CHAT_ALONE(d->set) ? chat_penalty : penalty};
    for (int s = 0; s < FIT_STEPS; s++) {
        fit_begin(&f);
        for (size_t from = 0, to; from < d->n; from = to) {
            to = own_end(d, from);
            if (to - from > ROWS_MAX)
                stop("a question has more than %d candidates", ROWS_MAX);
            if (to > from && d->v[from].conversation != without)
                add_question(&f, c, &d->v[from], to - from);
            to = to > from ? to : from + 1;
        }
        fit_step(&f);
    }
    return f;
}

/* --- probability --- */

static struct fit fit_sure(const struct data *d, const struct columns *c)
{
    struct fit f = {.n = c->n, .penalty = penalty};
    for (int s = 0; s < FIT_STEPS; s++) {
        fit_begin(&f);
        for (size_t r = 0; r < d->n; r++) {
            double x[COLUMNS_MAX];
            row_values(c, &d->v[r], x);
            fit_add_logistic(&f, x, d->v[r].is_evidence, 1);
        }
        fit_step(&f);
    }
    return f;
}

/* --- figures --- */

static int best_first(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x > y) - (x < y);
}

struct figures {
    double n, any5, any10, frac10, all10, mrr, sessions5, sessions10;
};

struct session_sum {
    int session, first;
    bool is_right;
    double odds;
};

static int likeliest_first(const void *a, const void *b)
{
    const struct session_sum *x = a, *y = b;
    if (x->odds != y->odds)
        return x->odds < y->odds ? 1 : -1;
    return x->first - y->first;
}

/* The place of the first session that is asked for, as engine/inspect/session_search.c ranks them;
 * 0 for the first one. */
static size_t session_place(const struct row *const *by, size_t n)
{
    struct session_sum v[SESSION_LOOKED_AT];
    size_t have = 0, place = 0;
    for (size_t i = 0; i < n && i < SESSION_LOOKED_AT; i++) {
        size_t at = 0;
        while (at < have && v[at].session != by[i]->session)
            at++;
        if (at == have)
            v[have++] = (struct session_sum){by[i]->session, (int)i, by[i]->is_right, 0};
        v[at].odds += i < SESSION_COUNTED ? exp(by[i]->score - by[0]->score) : 0;
    }
    qsort(v, have, sizeof *v, likeliest_first);
    while (place < have && !v[place].is_right)
        place++;
    return place < have ? place : ROWS_MAX;
}

static void add_figures(struct figures *f, const struct row *v, size_t n)
{
    const struct row *by[ROWS_MAX];
    int got5 = 0, got10 = 0;
    double first = 0;
    for (size_t r = 0; r < n; r++)
        by[r] = &v[r];
    qsort(by, n, sizeof *by, best_first);
    for (size_t i = 0; i < n; i++) {
        got5 += i < 5 && by[i]->is_evidence;
        got10 += i < TOP && by[i]->is_evidence;
        if (by[i]->is_evidence && !(first > 0))
            first = 1 / (double)(i + 1);
    }
    f->n++;
    f->any5 += got5 > 0;
    f->any10 += got10 > 0;
    f->frac10 += (double)got10 / v->gold;
    f->all10 += got10 == v->gold;
    f->mrr += first;
    size_t place = session_place(by, n);
    f->sessions5 += place < 5;
    f->sessions10 += place < TOP;
}

static void write_figures(FILE *out, const char *what, const struct data *d, const struct dump *of)
{
    struct figures f = {0};
    for (size_t from = 0, to; from < d->n; from = to) {
        to = own_end(d, from);
        if (to > from && d->v[from].of == of)
            add_figures(&f, &d->v[from], to - from);
        to += to == from;
    }
    fprintf(out,
            " *  %-6s %-3s %4.0f %s: any@5 %.1f any@10 %.1f frac@10 %.1f all@10 %.1f mrr %.1f\n",
            of->kind, of->size, f.n, what, 100 * f.any5 / f.n, 100 * f.any10 / f.n,
            100 * f.frac10 / f.n, 100 * f.all10 / f.n, 100 * f.mrr / f.n);
    if (!strcmp(of->kind, "LoCoMo") && !strcmp(of->size, "all")) /* chats of BEAM have three */
        fprintf(out, " *  %-6s %-3s %4.0f %s, by session: any@5 %.1f any@10 %.1f\n", of->kind,
                of->size, f.n, what, 100 * f.sessions5 / f.n, 100 * f.sessions10 / f.n);
}

/* Parts of a chat have few questions each, and are no better for being fitted to. */
static bool is_fitted_to(const struct dump *d)
{
    return !WEIGHTS_CHAT_ALONE(d->set) || (!strcmp(d->kind, "BEAM") && !strcmp(d->size, "all"));
}

static void write_all_figures(FILE *out, const char *what, const struct data *d,
                              const struct dumps *dumps)
{
    for (size_t i = 0; i < dumps->n; i++)
        if (dumps->v[i].set == d->set && is_fitted_to(&dumps->v[i]))
            write_figures(out, what, d, &dumps->v[i]);
}

/* --- the table --- */

/* Weights of unscaled signals; what scaling took away goes to the constant. */
static double unscaled_weight(const struct columns *c, const struct fit *f, int signal)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i] == signal)
            return f->w[i] * c->scale[i].factor;
    return 0;
}

static double unscaled_constant(const struct columns *c, const struct fit *f)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += c->of[i] == -2 ? f->w[i] : -f->w[i] * c->scale[i].factor * c->scale[i].mean;
    return sum;
}

/* What is said in chats would get less than the rest for no other reason than that; this is what it
 * lacks on average, and a pool may hold both. */
static double balance_of(const struct data *d, const struct columns *c, const struct fit *f)
{
    double sum = 0, n = 0;
    for (size_t r = 0; r < d->n; r++) {
        n += d->v[r].x[chat];
        for (size_t i = 0; i < c->n; i++)
            if (c->of[i] >= SIGNALS)
                sum +=
                    f->w[i] * c->scale[i].factor * d->v[r].x[chat] * d->v[r].x[c->of[i] - SIGNALS];
    }
    return n > 0 ? -sum / n : 0;
}

/* only: a conversation, or -1 for all. The score is that of unscaled signals. */
static void score_rows(const struct data *d, const struct columns *c, const struct fit *f, int only)
{
    double shift = unscaled_constant(c, f), balance = balance_of(d, c, f);
    for (size_t r = 0; r < d->n; r++)
        if (only < 0 || d->v[r].conversation == only)
            d->v[r].score =
                d->v[r].given + apply(c, f, &d->v[r]) - shift + balance * d->v[r].x[chat];
}

static void rank_left_out(const struct data *d, const struct columns *c)
{
    bool is_done[DUMPS_MAX * KIND_SHIFT] = {0};
    for (size_t r = 0; r < d->n; r++) {
        int conversation = d->v[r].conversation;
        if (is_done[conversation])
            continue;
        struct fit f = fit_rank(d, c, conversation);
        score_rows(d, c, &f, conversation);
        is_done[conversation] = true;
    }
}

struct set_fit {
    double constant, slope;
    struct pair w[SIGNALS];
};

static void take_weights(const struct columns *ranked, const struct fit *rank,
                         const struct columns *sure, const struct fit *p, struct set_fit *out)
{
    out->slope = unscaled_weight(sure, p, -1);
    for (int s = 0; s < SIGNALS; s++) {
        if (table[s].use & BY_HAND)
            continue;
        out->w[s].rank = unscaled_weight(ranked, rank, s);
        out->w[s].chat = unscaled_weight(ranked, rank, SIGNALS + s);
        double both = out->w[s].rank + out->w[s].chat;
        out->w[s].sure = table[s].use & TAKEN_BACK ? -taken_back * out->slope * both
                                                   : unscaled_weight(sure, p, s);
    }
}

static void take_chat(const struct columns *ranked, const struct fit *rank, struct set_fit *out)
{
    for (int s = 0; s < SIGNALS; s++)
        out->w[s].chat = unscaled_weight(ranked, rank, SIGNALS + s);
}

static void fit_set(const struct dumps *dumps, int set, struct set_fit *out, FILE *figures)
{
    static const double shift[WEIGHT_SETS] = SURE_SHIFT;
    struct data d = {.set = set};
    for (size_t i = 0; i < dumps->n; i++)
        if (dumps->v[i].set == set && is_fitted_to(&dumps->v[i]))
            read_dump(&d, &dumps->v[i]);
    struct columns ranked = columns_of(&d, RANK);
    rank_left_out(&d, &ranked);
    fprintf(figures, " *  %s, %zu rows%s:\n", weight_set_names[set], d.n,
            WEIGHTS_CHAT_ALONE(set) ? ", `chat` alone" : "");
    write_all_figures(figures, "left out", &d, dumps);
    struct fit rank = fit_rank(&d, &ranked, -1);
    score_rows(&d, &ranked, &rank, -1);
    write_all_figures(figures, "fitted", &d, dumps);
    if (WEIGHTS_CHAT_ALONE(set))
        take_chat(&ranked, &rank, out);
    else {
        struct columns sure = columns_of(&d, SURE);
        struct fit p = fit_sure(&d, &sure);
        take_weights(&ranked, &rank, &sure, &p, out);
        out->constant = unscaled_constant(&sure, &p) + shift[set];
    }
    out->w[chat] = (struct pair){.rank = balance_of(&d, &ranked, &rank)};
    free(d.v);
}

static void write_list(FILE *out, const char *name, const struct set_fit *fits, size_t at)
{
    fprintf(out, "#define %s {", name);
    for (int s = 0; s < WEIGHT_SETS; s++) {
        double value;
        memcpy(&value, (const char *)&fits[s] + at, sizeof value);
        fprintf(out, "%s%.4f", s ? ", " : "", value);
    }
    fputs("}\n", out);
}

static void write_table(FILE *out, const struct dumps *dumps, const struct set_fit *fits,
                        const char *figures)
{
    static const double shift[WEIGHT_SETS] = SURE_SHIFT;
    fputs(
        "/* feature_weights.def - the signals of recall and what each is worth. */\n/*\n"
        " * SIGNAL(name, sets, fit, help, {rank, sure, chat}, ...), three for each set of weights\n"
        " * (engine/gate/weight_sets.def): `rank` orders the candidates of one question; `sure` "
        "turns "
        "the\n * result into a probability, together with SURE_SLOPE of the ranking score and "
        "SURE_CONSTANT. What\n * is said in a chat with an assistant is ranked by `rank` and "
        "`chat` together.\n"
        " * Written by tools/train, but for SURE_SHIFT and the rows BY_HAND, which are set by "
        "hand.\n",
        out);
    notes_write(out, dumps);
    fprintf(out,
            " * Leave one conversation out, and the same with all of them (fitted):\n%s */\n"
            "#ifndef SURE_SLOPE\n",
            figures);
    write_list(out, "SURE_SLOPE", fits, offsetof(struct set_fit, slope));
    write_list(out, "SURE_CONSTANT", fits, offsetof(struct set_fit, constant));
    fputs("#define SURE_SHIFT {", out);
    for (int s = 0; s < WEIGHT_SETS; s++)
        fprintf(out, "%s%.2f", s ? ", " : "", shift[s]);
    fputs("} /* by hand; SURE_CONSTANT has it */\n#endif\n", out);
    for (int i = 0; i < SIGNALS; i++) {
        fprintf(out, "SIGNAL(%s, %s, %s,\n       \"%s\",\n      ", table[i].name, table[i].sets,
                table[i].fit, table[i].help);
        for (int s = 0; s < WEIGHT_SETS; s++)
            fprintf(out, "%s {%.4f, %.4f, %.4f}",
                    s == 3 ? ",\n      "
                    : s    ? ","
                           : "",
                    fits[s].w[i].rank, fits[s].w[i].sure, fits[s].w[i].chat);
        fputs(")\n", out);
    }
}

void train_ranking(const struct dumps *dumps, FILE *out)
{
    static const double constants[WEIGHT_SETS] = SURE_CONSTANT, slopes[WEIGHT_SETS] = SURE_SLOPE;
    struct set_fit fits[WEIGHT_SETS];
    struct report report;
    report_begin(&report);
    for (int s = 0; s < WEIGHT_SETS; s++) {
        fits[s] = (struct set_fit){constants[s], slopes[s], {{0}}};
        for (int i = 0; i < SIGNALS; i++)
            fits[s].w[i] = table[i].w[s];
        if (report_has_dumps(&report, dumps, s))
            fit_set(dumps, s, &fits[s], report.out);
    }
    report_end(&report);
    write_table(out, dumps, fits, report.text);
    free(report.text);
}
