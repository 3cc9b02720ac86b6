/* train.c - fits the weights of recall's signals to the dump of an evaluation. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * usage: train_rank words|vectors DUMP …  (rememberd eval locomo FILE --dump DUMP; --sessions 2
 * makes small pools). Fits one of the two sets of weights and leaves the other as it is; dumps for
 * vectors come from an evaluation in which they took part. A + before a dump's name: it and those
 * behind it are of other conversations than those before.
 *
 * Two fits. The ranking: for each question the softmax over its candidates against the evidence
 * (conditional logit), so that what is the same for all candidates cannot count. The probability:
 * a logistic over that score and the few signals that tell a question with an answer from one
 * without, with the rows of foreign pools as misses. Both by Newton's method with a small penalty;
 * both convex, so there is one answer. Each conversation is also ranked by weights fitted without
 * it: those are the figures to quote. The rows of rank_weights.def go to standard output.
 */

enum { COLUMNS_MAX = 48, FIXED = 6, GROUP = 16, STEPS = 25, TOP = 10 };

static const double penalty = 1;

/* How a signal is used; the list must name every one. */
enum use { RANK = 1, SURE = 2, BY_HAND = 4 };
enum set { WORDS, VECTORS, SETS };
static const struct signal {
    const char *name, *help;
    double rank[SETS], sure[SETS]; /* as it is now */
} signals[] = {
#define SIGNAL(name, rank, sure, dense_rank, dense_sure, encoder_rank, encoder_sure, help)         \
    {#name, help, {rank, dense_rank}, {sure, dense_sure}},
#include "engine/recall/feature_weights.def"
#undef SIGNAL
};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* What vectors say counts only where there are some. */
static int use_of(const char *name, enum set set)
{
    static const struct {
        const char *name;
        int use;
    } uses[] = {{"share", RANK | SURE}, {"share_near", SURE},   {"turn_sum", SURE},
                {"unknown", SURE},      {"is_memory", BY_HAND}, {"importance", BY_HAND},
                {"recent", BY_HAND}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (!strcmp(uses[i].name, name))
            return uses[i].use;
    if (!strncmp(name, "dense", strlen("dense")))
        return set == VECTORS ? RANK | SURE : 0;
    return RANK;
}

struct row {
    int dump, conversation, question, gold;
    int own, evidence;
    double x[SIGNALS], score;
};

struct data {
    struct row *v;
    size_t n, cap;
    int first; /* number of the first conversation of the group that is being read */
    enum set set;
};

static void read_dump(struct data *d, const char *path, int no)
{
    char line[4096];
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, f)) {
        if (d->n == d->cap)
            d->v = realloc(d->v, (d->cap = d->cap ? 2 * d->cap : 4096) * sizeof *d->v);
        struct row *r = &d->v[d->n++];
        double fixed[FIXED];
        char *at = line;
        for (int i = 0; i < FIXED; i++)
            fixed[i] = strtod(at, &at);
        for (int i = 0; i < SIGNALS; i++)
            r->x[i] = strtod(at, &at);
        r->dump = no;
        r->conversation = d->first + (int)fixed[0];
        r->question = (int)fixed[1];
        r->own = (int)fixed[2];
        r->gold = (int)fixed[4];
        r->evidence = (int)fixed[5];
    }
    fclose(f);
}

/* --- linear algebra of one fit --- */

struct fit {
    size_t n;
    double w[COLUMNS_MAX], gradient[COLUMNS_MAX], hessian[COLUMNS_MAX][COLUMNS_MAX], loss;
    double kept[COLUMNS_MAX], least; /* the best so far */
    int steps;
};

static void begin(struct fit *f)
{
    f->loss = 0;
    memset(f->gradient, 0, sizeof f->gradient);
    memset(f->hessian, 0, sizeof f->hessian);
}

/* Solves hessian · step = gradient by Cholesky's method and goes that step; one that went too far
 * is halved. */
static void step(struct fit *f)
{
    double(*h)[COLUMNS_MAX] = f->hessian, y[COLUMNS_MAX];
    for (size_t i = 0; i < f->n; i++)
        f->loss += penalty / 2 * f->w[i] * f->w[i];
    if (f->steps++ && f->loss > f->least) {
        for (size_t i = 0; i < f->n; i++)
            f->w[i] = (f->w[i] + f->kept[i]) / 2;
        return;
    }
    f->least = f->loss;
    memcpy(f->kept, f->w, sizeof f->kept);
    for (size_t i = 0; i < f->n; i++) {
        f->gradient[i] += penalty * f->w[i];
        h[i][i] += penalty;
    }
    for (size_t j = 0; j < f->n; j++)
        for (size_t i = j; i < f->n; i++) {
            double sum = h[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= h[i][k] * h[j][k];
            h[i][j] = i == j ? sqrt(sum) : sum / h[j][j];
        }
    for (size_t i = 0; i < f->n; i++) {
        y[i] = f->gradient[i];
        for (size_t k = 0; k < i; k++)
            y[i] -= h[i][k] * y[k];
        y[i] /= h[i][i];
    }
    for (size_t i = f->n; i-- > 0;) {
        for (size_t k = i + 1; k < f->n; k++)
            y[i] -= h[k][i] * y[k];
        y[i] /= h[i][i];
        f->w[i] -= y[i];
    }
}

/* --- columns: the signals of a fit, scaled --- */

struct columns {
    int use;
    size_t n;
    int of[COLUMNS_MAX]; /* signal, or -1 for the ranking score, -2 for the constant */
    double mean[COLUMNS_MAX], scale[COLUMNS_MAX];
};

static double value(const struct columns *c, const struct row *r, size_t i)
{
    double x = c->of[i] == -2 ? 1 : c->of[i] == -1 ? r->score : r->x[c->of[i]];
    return (x - c->mean[i]) * c->scale[i];
}

static struct columns columns_of(const struct data *d, int use)
{
    struct columns c = {.use = use};
    if (use == SURE) {
        c.of[c.n++] = -2;
        c.of[c.n++] = -1;
    }
    for (int s = 0; s < SIGNALS; s++)
        if (use_of(signals[s].name, d->set) & use)
            c.of[c.n++] = s;
    for (size_t i = 0; i < c.n; i++) {
        double sum = 0, squares = 0;
        c.mean[i] = 0;
        c.scale[i] = 1;
        if (c.of[i] == -2)
            continue;
        for (size_t r = 0; r < d->n; r++) {
            double x = value(&c, &d->v[r], i);
            sum += x;
            squares += x * x;
        }
        double mean = sum / (double)d->n, variance = squares / (double)d->n - mean * mean;
        c.mean[i] = mean;
        c.scale[i] = variance > 1e-12 ? 1 / sqrt(variance) : 0;
    }
    return c;
}

static double dot(const struct fit *f, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++)
        sum += f->w[i] * x[i];
    return sum;
}

static double apply(const struct columns *c, const struct fit *f, const struct row *r)
{
    double x[COLUMNS_MAX];
    for (size_t i = 0; i < c->n; i++)
        x[i] = value(c, r, i);
    return dot(f, x);
}

/* --- ranking --- */

/* Rows of one question stand together, its own pool's first. */
static size_t own_end(const struct data *d, size_t from)
{
    size_t to = from;
    while (to < d->n && d->v[to].own && d->v[to].question == d->v[from].question &&
           d->v[to].conversation == d->v[from].conversation)
        to++;
    return to;
}

static void add_question(struct fit *f, const struct columns *c, const struct row *v, size_t n)
{
    static double x[4096][COLUMNS_MAX], p[4096];
    double sum = 0, best = -1e300, gold = 0, mean[COLUMNS_MAX] = {0};
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < c->n; i++)
            x[r][i] = value(c, &v[r], i);
        p[r] = dot(f, x[r]);
        best = fmax(best, p[r]);
        gold += v[r].evidence;
    }
    if (!(gold > 0))
        return;
    for (size_t r = 0; r < n; r++)
        sum += p[r] = exp(p[r] - best);
    for (size_t r = 0; r < n; r++) {
        p[r] /= sum;
        double miss = p[r] - v[r].evidence / gold;
        f->loss -= v[r].evidence ? log(p[r]) / gold : 0;
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

static struct fit fit_rank(const struct data *d, const struct columns *c, int without)
{
    struct fit f = {.n = c->n};
    for (int s = 0; s < STEPS; s++) {
        begin(&f);
        for (size_t from = 0, to; from < d->n; from = to) {
            to = own_end(d, from);
            if (to > from && d->v[from].conversation != without)
                add_question(&f, c, &d->v[from], to - from);
            to = to > from ? to : from + 1;
        }
        step(&f);
    }
    return f;
}

/* --- probability --- */

static struct fit fit_sure(const struct data *d, const struct columns *c, int without)
{
    struct fit f = {.n = c->n};
    for (int s = 0; s < STEPS; s++) {
        begin(&f);
        for (size_t r = 0; r < d->n; r++) {
            double x[COLUMNS_MAX];
            if (d->v[r].conversation == without)
                continue;
            for (size_t i = 0; i < c->n; i++)
                x[i] = value(c, &d->v[r], i);
            double p = 1 / (1 + exp(-dot(&f, x)));
            f.loss -= log(d->v[r].evidence ? p : 1 - p);
            for (size_t i = 0; i < c->n; i++) {
                f.gradient[i] += (p - d->v[r].evidence) * x[i];
                for (size_t k = 0; k <= i; k++)
                    f.hessian[i][k] += p * (1 - p) * x[i] * x[k];
            }
        }
        step(&f);
    }
    return f;
}

/* --- figures --- */

static int best_first(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
    return (x->score < y->score) - (x->score > y->score);
}

/* A dump of its own: the figures of small pools are told apart. */
static void report(const char *what, const struct data *d, int dump)
{
    double any5 = 0, any10 = 0, frac10 = 0, all10 = 0, mrr = 0;
    size_t n = 0;
    for (size_t from = 0, to; from < d->n; from = to) {
        const struct row *by[4096];
        to = own_end(d, from);
        if (to == from || d->v[from].dump != dump) {
            to += to == from;
            continue;
        }
        for (size_t r = from; r < to; r++)
            by[r - from] = &d->v[r];
        qsort(by, to - from, sizeof *by, best_first);
        int got5 = 0, got10 = 0;
        double first = 0;
        for (size_t i = 0; i < to - from; i++) {
            got5 += i < 5 && by[i]->evidence;
            got10 += i < TOP && by[i]->evidence;
            if (by[i]->evidence && !(first > 0))
                first = 1 / (double)(i + 1);
        }
        n++;
        any5 += got5 > 0;
        any10 += got10 > 0;
        frac10 += (double)got10 / d->v[from].gold;
        all10 += got10 == d->v[from].gold;
        mrr += first;
    }
    fprintf(stderr,
            "dump %d %-16s any@5 %.1f any@10 %.1f frac@10 %.1f all@10 %.1f mrr %.1f (%zu)\n", dump,
            what, 100 * any5 / n, 100 * any10 / n, 100 * frac10 / n, 100 * all10 / n, 100 * mrr / n,
            n);
}

/* How often the best score of a question reaches a level: in its own pool, and in a foreign one
 * (with the names as they are, or replaced). */
static void report_silence(const struct data *d, int dump)
{
    static const double levels[] = {0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5};
    enum { LEVELS = sizeof levels / sizeof *levels };
    double own[LEVELS] = {0}, other[LEVELS] = {0};
    size_t n_own = 0, n_other = 0;
    for (size_t from = 0, to; from < d->n; from = to) {
        double best = 0;
        for (to = from; to < d->n && d->v[to].question == d->v[from].question &&
                        d->v[to].own == d->v[from].own;
             to++)
            best = fmax(best, d->v[to].score);
        if (d->v[from].dump != dump)
            continue;
        n_own += d->v[from].own != 0;
        n_other += d->v[from].own == 0;
        for (size_t i = 0; i < LEVELS; i++)
            *(d->v[from].own ? &own[i] : &other[i]) += best >= levels[i];
    }
    for (size_t i = 0; i < LEVELS; i++)
        fprintf(stderr, "least %.3f: silent on its own %.1f %%, speaks on another's %.1f %%\n",
                levels[i], 100 - 100 * own[i] / n_own, 100 * other[i] / n_other);
}

/* --- the table --- */

/* Weights of unscaled signals; what scaling took away goes to the constant. */
static double unscaled(const struct columns *c, const struct fit *f, int signal)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i] == signal)
            return f->w[i] * c->scale[i];
    return 0;
}

static double constant(const struct columns *c, const struct fit *f)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += c->of[i] == -2 ? f->w[i] : -f->w[i] * c->scale[i] * c->mean[i];
    return sum;
}

static void score_all(const struct data *d, const struct columns *c, const struct fit *f, int only)
{
    double shift = constant(c, f);
    for (size_t r = 0; r < d->n; r++)
        if (only < 0 || d->v[r].conversation == only)
            d->v[r].score = apply(c, f, &d->v[r]) - (c->use == RANK ? shift : 0);
}

static void fit_all(struct data *d, int conversations, int dumps)
{
    struct columns ranked = columns_of(d, RANK);
    for (int c = 0; c < conversations; c++) {
        struct fit f = fit_rank(d, &ranked, c);
        score_all(d, &ranked, &f, c);
    }
    for (int i = 0; i < dumps; i++)
        report("leave one out", d, i);
    struct data sure_of = {calloc(d->n, sizeof *d->v), d->n, d->n, d->set};
    memcpy(sure_of.v, d->v, d->n * sizeof *d->v);
    struct columns sure = columns_of(d, SURE);
    for (int c = 0; c < conversations; c++) {
        struct fit f = fit_sure(d, &sure, c);
        for (size_t r = 0; r < d->n; r++)
            if (d->v[r].conversation == c)
                sure_of.v[r].score = 1 / (1 + exp(-apply(&sure, &f, &d->v[r])));
    }
    for (int i = 0; i < dumps; i++)
        report_silence(&sure_of, i);
    free(sure_of.v);
}

static void print_table(struct data *d, int dumps)
{
    struct columns ranked = columns_of(d, RANK);
    struct fit rank = fit_rank(d, &ranked, -1);
    score_all(d, &ranked, &rank, -1);
    for (int i = 0; i < dumps; i++)
        report("on itself", d, i);
    struct columns sure = columns_of(d, SURE);
    struct fit p = fit_sure(d, &sure, -1);
    double bias[] = {RANK_BIAS, DENSE_BIAS, ENCODER_BIAS},
           slope[] = {RANK_SLOPE, DENSE_SLOPE, ENCODER_SLOPE};
    bias[d->set] = constant(&sure, &p);
    slope[d->set] = unscaled(&sure, &p, -1);
    printf("#define RANK_BIAS %.4f\n#define RANK_SLOPE %.4f\n", bias[WORDS], slope[WORDS]);
    printf("#define DENSE_BIAS %.4f\n#define DENSE_SLOPE %.4f\n", bias[VECTORS], slope[VECTORS]);
    for (int s = 0; s < SIGNALS; s++) {
        struct signal as = signals[s];
        if (use_of(as.name, d->set) != BY_HAND) {
            as.rank[d->set] = unscaled(&ranked, &rank, s);
            as.sure[d->set] = unscaled(&sure, &p, s);
        }
        printf("SIGNAL(%s, %.4f, %.4f, %.4f, %.4f,\n       \"%s\")\n", as.name, as.rank[WORDS],
               as.sure[WORDS], as.rank[VECTORS], as.sure[VECTORS], as.help);
    }
}

int main(int argc, char **argv)
{
    struct data d = {0};
    int conversations = 0;
    if (argc < 3 || (strcmp(argv[1], "words") && strcmp(argv[1], "vectors"))) {
        fprintf(stderr, "usage: train_rank words|vectors DUMP ...\n");
        return 2;
    }
    d.set = strcmp(argv[1], "words") ? VECTORS : WORDS;
    for (int i = 2; i < argc; i++) {
        bool is_other = argv[i][0] == '+';
        d.first += is_other ? GROUP : 0;
        read_dump(&d, argv[i] + is_other, i - 2);
    }
    for (size_t r = 0; r < d.n; r++)
        if (d.v[r].conversation >= conversations)
            conversations = d.v[r].conversation + 1;
    fit_all(&d, conversations, argc - 2);
    print_table(&d, argc - 2);
    free(d.v);
    return 0;
}
