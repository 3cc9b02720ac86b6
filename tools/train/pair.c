/* pair.c - fits the judge of pairs: what a later text is to an earlier one of the same person. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "dumps.h"
#include "engine/pairs/pair.h"
#include "wordings.h"

/*
 * usage: train_pair FOLDER FILE… [--judge FILE…]: writes pair.def and pair_words.def to the folder
 *
 * A file has people (tests/life/README.md), of whom each two lines are a pair, or is a list of
 * {"lines", "pairs": [[a, b, label]]}. What nobody labelled is DIFFERENT. Two fits of a softmax,
 * the same bytes each time: without the encoder's vectors and with them. What is only to be judged
 * takes no part; its figures stand at the head of the table. Where the sizes in pair.h change,
 * empty pair.def first, as the old one no longer fits.
 */
enum { EPOCHS = 30, BATCH = 256, LEAST = 10, NET = sizeof(struct pair_net) / sizeof(float) };
#define RATE 0.01
#define LEAST_SPREAD 1e-4

/* On the square of each weight: of signals and wordings, of hidden units. */
static const double penalty = 40, hidden_penalty = 10;

static const char *const labels[] = {"DIFFERENT", "REPLACES", "FULLER", "SAME"};

struct line {
    str text;
    struct pair_text read[2]; /* by words, with vectors */
    struct wordings wording;
    int *words; /* which of the wordings that count it has, ascending */
    size_t n_words;
};

struct pair {
    struct line *older, *newer;
    int label;
    bool is_labelled, is_of_person, is_judged;
    double replaces; /* probability */
    int guess;
};

struct pair_data {
    struct ctx *ctx;
    struct encoder *encoder;
    struct pair *v;
    size_t n, cap;
    struct line **lines;
    size_t n_lines, lines_cap;
    str *words; /* wordings that count, sorted */
    size_t n_words;
};

static int label_of(str name)
{
    for (int i = 0; i < PAIR_LABELS; i++)
        if (str_is(name, labels[i]))
            return i;
    stop("no label: " S_FMT, S_ARG(name));
}

static void read_line(struct pair_data *d, str text, struct line *out)
{
    struct arena *a = &d->ctx->arena;
    struct encoded e;
    str said = str_printf(a, "user: " S_FMT, S_ARG(text));
    out->text = text;
    out->wording = wordings_of(a, text);
    d->lines = arena_more(a, d->lines, d->n_lines, &d->lines_cap, sizeof *d->lines);
    d->lines[d->n_lines++] = out;
    pair_read(a, text, NULL, 0, &out->read[0]);
    if (encoder_texts(d->ctx, d->encoder, S(""), &said, 1, &e) != OK)
        stop("%s", d->ctx->why);
    pair_read(a, text, e.tokens, e.n, &out->read[1]);
}

static struct pair *add_pair(struct pair_data *d, struct pair p)
{
    d->v = arena_more(&d->ctx->arena, d->v, d->n, &d->cap, sizeof *d->v);
    d->v[d->n] = p;
    return &d->v[d->n++];
}

static size_t length_of(const struct json *list)
{
    size_t n = 0;
    for (const struct json *j = list ? list->first : NULL; j; j = j->next)
        n++;
    return n;
}

static int64_t number_of(const struct json *j, const char *name)
{
    int64_t n = json_int_or(json_get(j, name), -1);
    if (n < 0)
        stop("%s is no number", name);
    return n;
}

/* Each two lines of a person; the labels are of some. */
static void read_person(struct pair_data *d, const struct json *person, bool is_judged)
{
    const struct json *lines = json_get(person, "lines");
    size_t n = length_of(lines), k = 0, first = d->n;
    struct line *v = NEW_N(&d->ctx->arena, struct line, n + 1);
    int64_t *numbers = NEW_N(&d->ctx->arena, int64_t, n + 1);
    for (const struct json *j = lines->first; j; j = j->next) {
        numbers[k] = number_of(j, "n");
        read_line(d, json_string(json_get(j, "text")), &v[k++]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t m = i + 1; m < n; m++)
            add_pair(d, (struct pair){&v[i], &v[m], .is_of_person = true, .is_judged = is_judged});
    const char *const lists[] = {"replaced", "pairs"}, *const names[][2] = {{"old", "by"},
                                                                            {"a", "b"}};
    for (int list = 0; list < 2; list++) {
        const struct json *all = json_get(person, lists[list]);
        for (const struct json *j = all ? all->first : NULL; j; j = j->next)
            for (size_t i = first; i < d->n; i++)
                if (numbers[d->v[i].older - v] == number_of(j, names[list][0]) &&
                    numbers[d->v[i].newer - v] == number_of(j, names[list][1])) {
                    d->v[i].label = list ? label_of(json_string(json_get(j, "is"))) : PAIR_REPLACES;
                    d->v[i].is_labelled = true;
                }
    }
}

static void read_cluster(struct pair_data *d, const struct json *cluster, bool is_judged)
{
    const struct json *lines = json_get(cluster, "lines");
    size_t n = length_of(lines), k = 0;
    struct line *v = NEW_N(&d->ctx->arena, struct line, n + 1);
    for (const struct json *j = lines->first; j; j = j->next)
        read_line(d, json_string(j), &v[k++]);
    for (const struct json *j = json_get(cluster, "pairs")->first; j; j = j->next) {
        int64_t a = json_int_or(j->first, -1), b = json_int_or(j->first->next, -1);
        if (a < 0 || b < 0 || a >= (int64_t)n || b >= (int64_t)n)
            stop("a pair names no lines");
        add_pair(d, (struct pair){&v[a], &v[b], label_of(json_string(j->first->next->next)), true,
                                  .is_judged = is_judged});
    }
}

static void read_file(struct pair_data *d, const char *path, bool is_judged)
{
    struct json *all;
    if (json_parse(d->ctx, file_read(&d->ctx->arena, path), &all) != OK)
        stop("%s: %s", path, d->ctx->why);
    const struct json *people = json_get(all, "people");
    for (const struct json *j = people ? people->first : all->first; j; j = j->next)
        people ? read_person(d, j, is_judged) : read_cluster(d, j, is_judged);
}

/* --- the wordings that count --- */

static bool has_text(const struct wordings *w, str text)
{
    return bsearch(&text, w->v, w->n, sizeof text, wordings_compare) != NULL;
}

/* Those that the later line has and the earlier one lacks, in LEAST labelled pairs or more. */
static void choose_words(struct pair_data *d)
{
    struct arena *a = &d->ctx->arena;
    size_t all = 0, n = 0;
    for (size_t i = 0; i < d->n; i++)
        all += d->v[i].is_labelled ? d->v[i].newer->wording.n : 0;
    str *v = NEW_N(a, str, all + 1);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0;
             d->v[i].is_labelled && !d->v[i].is_judged && k < d->v[i].newer->wording.n; k++)
            if (!has_text(&d->v[i].older->wording, d->v[i].newer->wording.v[k]))
                v[n++] = d->v[i].newer->wording.v[k];
    qsort(v, n, sizeof *v, wordings_compare);
    d->words = v;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && str_eq(v[to], v[from]); to++)
            ;
        if (to - from >= LEAST)
            v[d->n_words++] = v[from];
    }
    for (size_t i = 0; i < d->n_lines; i++) {
        struct line *l = d->lines[i];
        l->words = NEW_N(a, int, l->wording.n + 1);
        for (size_t k = 0; k < l->wording.n; k++) {
            const str *at = bsearch(&l->wording.v[k], v, d->n_words, sizeof *v, wordings_compare);
            if (at)
                l->words[l->n_words++] = (int)(at - v);
        }
    }
}

/* --- one fit --- */

/* The weights of a net, and four for each wording behind them. */
struct model {
    size_t n;
    struct pair_net *net;
    float (*words)[PAIR_LABELS];
    float *all; /* n of them: both of the above */
};

static struct model model_of(const struct pair_data *d)
{
    struct model m = {.n = NET + PAIR_LABELS * d->n_words};
    m.all = calloc(m.n, sizeof *m.all);
    m.net = (void *)m.all;
    m.words = (void *)(m.all + NET);
    return m;
}

/* The signals of a pair, and the wordings that are new. */
struct example {
    float x[PAIR_SIGNALS];
    int words[FORM_FEATURES];
    size_t n_words;
};

static void read_example(const struct pair *p, int set, const struct pair_scale *scale,
                         struct example *e)
{
    size_t k = 0;
    pair_signals(&p->older->read[set], &p->newer->read[set], scale, e->x);
    e->n_words = 0;
    for (size_t i = 0; i < p->newer->n_words; i++) {
        while (k < p->older->n_words && p->older->words[k] < p->newer->words[i])
            k++;
        if (k == p->older->n_words || p->older->words[k] != p->newer->words[i])
            e->words[e->n_words++] = p->newer->words[i];
    }
}

/* What the first signals are measured by. */
static struct pair_scale scale_of_pairs(const struct pair_data *d, int set)
{
    struct pair_scale raw, out;
    double sum[PAIR_BASE] = {0}, square[PAIR_BASE] = {0}, n = 0;
    float x[PAIR_SIGNALS];
    for (int k = 0; k < PAIR_BASE; k++)
        raw.mean[k] = 0, raw.spread[k] = 1;
    for (size_t i = 0; i < d->n; i++) {
        if (d->v[i].is_judged)
            continue;
        pair_signals(&d->v[i].older->read[set], &d->v[i].newer->read[set], &raw, x);
        n++;
        for (int k = 0; k < PAIR_BASE; k++) {
            sum[k] += (double)x[k];
            square[k] += (double)(x[k] * x[k]);
        }
    }
    for (int k = 0; k < PAIR_BASE; k++) {
        double mean = sum[k] / n, spread = sqrt(fmax(square[k] / n - mean * mean, 0));
        out.mean[k] = (float)mean;
        out.spread[k] = spread > LEAST_SPREAD ? (float)spread : 1;
    }
    return out;
}

static void probabilities(const struct model *m, const struct example *e, float *hidden, float *out)
{
    float most = -INFINITY, all = 0;
    pair_sums(m->net, e->x, hidden, out);
    for (size_t k = 0; k < e->n_words; k++)
        for (int c = 0; c < PAIR_LABELS; c++)
            out[c] += m->words[e->words[k]][c];
    for (int c = 0; c < PAIR_LABELS; c++)
        most = fmaxf(most, out[c]);
    for (int c = 0; c < PAIR_LABELS; c++)
        all += out[c] = expf(out[c] - most);
    for (int c = 0; c < PAIR_LABELS; c++)
        out[c] /= all;
}

/* Adds what one example asks of each weight. */
static void add_slopes(const struct model *m, const struct example *e, int label, struct model *out)
{
    float hidden[PAIR_HIDDEN], p[PAIR_LABELS];
    probabilities(m, e, hidden, p);
    p[label] -= 1;
    for (int k = 0; k < PAIR_SIGNALS; k++)
        for (int c = 0; c < PAIR_LABELS; c++)
            out->net->of[k][c] += p[c] * e->x[k];
    for (size_t k = 0; k < e->n_words; k++)
        for (int c = 0; c < PAIR_LABELS; c++)
            out->words[e->words[k]][c] += p[c];
    for (int h = 0; h < PAIR_HIDDEN; h++) {
        float asked = 0;
        for (int c = 0; c < PAIR_LABELS; c++) {
            out->net->out[h][c] += p[c] * hidden[h];
            asked += p[c] * m->net->out[h][c];
        }
        for (int k = 0; hidden[h] > 0 && k < PAIR_BASE; k++)
            out->net->in[k][h] += asked * e->x[k];
    }
}

/* The same order each time. */
static size_t random_below(uint64_t *seed, size_t n)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(*seed >> 33) % n;
}

/* Adam: each weight goes by the mean of its slopes, measured by their spread. */
struct adam {
    struct model slope, mean, square;
    int64_t steps;
};

static void descend(struct adam *s, struct model *m, size_t rows, double all, double rate)
{
    static const float old = 0.9F, older = 0.999F;
    static const size_t first = offsetof(struct pair_net, in) / sizeof(float);
    s->steps++;
    double fair =
        sqrt(1 - pow((double)older, (double)s->steps)) / (1 - pow((double)old, (double)s->steps));
    for (size_t k = 0; k < m->n; k++) {
        bool is_hidden = k >= first && k < NET;
        double held = k < PAIR_LABELS ? 0 : (is_hidden ? hidden_penalty : penalty) / all;
        float g = s->slope.all[k] / (float)rows + (float)held * m->all[k];
        s->mean.all[k] = old * s->mean.all[k] + (1 - old) * g;
        s->square.all[k] = older * s->square.all[k] + (1 - older) * g * g;
        m->all[k] -= (float)(rate * fair) * s->mean.all[k] / (sqrtf(s->square.all[k]) + 1e-8F);
        s->slope.all[k] = 0;
    }
}

/* Hidden units begin with small weights, the same each time. */
static void begin_hidden(struct model *m, uint64_t *seed)
{
    enum { STEPS = 2001 };
    float *v = &m->net->in[0][0];
    for (size_t i = 0; i < sizeof m->net->in / sizeof *v; i++)
        v[i] = ((float)random_below(seed, STEPS) / (STEPS / 2) - 1) / sqrtf(PAIR_BASE);
    v = &m->net->out[0][0];
    for (size_t i = 0; i < sizeof m->net->out / sizeof *v; i++)
        v[i] = ((float)random_below(seed, STEPS) / (STEPS / 2) - 1) / sqrtf(PAIR_HIDDEN);
}

static struct model fit_model(const struct pair_data *d, int set, const struct pair_scale *scale)
{
    struct model m = model_of(d);
    struct adam s = {model_of(d), model_of(d), model_of(d), 0};
    size_t *order = malloc((d->n + 1) * sizeof *order), n = 0;
    uint64_t seed = 1;
    begin_hidden(&m, &seed);
    for (size_t i = 0; i < d->n; i++)
        if (!d->v[i].is_judged)
            order[n++] = i;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (size_t i = n; i-- > 1;) {
            size_t k = random_below(&seed, i + 1), was = order[i];
            order[i] = order[k];
            order[k] = was;
        }
        double rate = RATE * (1 - (double)epoch / EPOCHS);
        for (size_t i = 0, in = 1; i < n; i++, in++) {
            struct example e;
            read_example(&d->v[order[i]], set, scale, &e);
            add_slopes(&m, &e, d->v[order[i]].label, &s.slope);
            if (in == BATCH || i + 1 == n) {
                descend(&s, &m, in, (double)n, rate);
                in = 0;
            }
        }
    }
    free(order);
    free(s.slope.all);
    free(s.mean.all);
    free(s.square.all);
    return m;
}

/* --- figures --- */

static int surest_first(const void *a, const void *b)
{
    double x = (*(struct pair *const *)a)->replaces, y = (*(struct pair *const *)b)->replaces;
    return (x < y) - (x > y);
}

/* Which pairs a figure is of. */
enum kind { LABELLED_CLUSTERS, LABELLED_PEOPLE, ALL_OF_PEOPLE, KINDS };

static bool is_of(const struct pair *p, enum kind kind)
{
    return p->is_judged && (kind == LABELLED_CLUSTERS ? !p->is_of_person
                            : kind == LABELLED_PEOPLE ? p->is_of_person && p->is_labelled
                                                      : p->is_of_person);
}

/* Of the pairs that are judged: how many replacements are found at a precision, and from which
 * probability on. */
static void write_figures(struct pair_data *d, const struct model *m,
                          const struct pair_scale *scale, int set, FILE *out)
{
    static const char *const kinds[] = {"labelled in clusters", "labelled of people",
                                        "each two lines of people"};
    struct example e;
    float p[PAIR_LABELS], hidden[PAIR_HIDDEN];
    struct pair **v = malloc(d->n * sizeof *v);
    for (size_t i = 0; i < d->n; i++) {
        if (!d->v[i].is_judged)
            continue;
        read_example(&d->v[i], set, scale, &e);
        probabilities(m, &e, hidden, p);
        d->v[i].replaces = (double)p[PAIR_REPLACES];
        for (int c = 0; c < PAIR_LABELS; c++)
            d->v[i].guess = p[c] > p[d->v[i].guess] ? c : d->v[i].guess;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        size_t n = 0, all = 0, right = 0, hits = 0;
        double found[3] = {0}, from[3] = {1, 1, 1};
        static const double precisions[3] = {0.5, 0.7, 0.9};
        for (size_t i = 0; i < d->n; i++)
            if (is_of(&d->v[i], (enum kind)kind)) {
                v[n++] = &d->v[i];
                all += d->v[i].label == PAIR_REPLACES;
                right += d->v[i].guess == d->v[i].label;
            }
        qsort(v, n, sizeof *v, surest_first);
        for (size_t i = 0; i < n; i++) {
            hits += v[i]->label == PAIR_REPLACES;
            for (int k = 0; k < 3; k++)
                if (i >= 5 && (double)hits >= precisions[k] * (double)(i + 1)) {
                    found[k] = 100 * (double)hits / (double)all;
                    from[k] = v[i]->replaces;
                }
        }
        fprintf(
            out,
            " *  %s, %s: %zu pairs, %zu replace; %.0f %% labels right; found at a precision of\n"
            " *   50 %%: %.0f %% (from %.2f on), 70 %%: %.0f %% (%.2f), 90 %%: %.0f %% (%.2f)\n",
            set ? "with vectors" : "words alone", kinds[kind], n, all,
            n ? 100 * (double)right / (double)n : 0, found[0], from[0], found[1], from[1], found[2],
            from[2]);
    }
    free(v);
}

static void write_numbers(FILE *out, const float *v, int n)
{
    fputc('{', out);
    for (int k = 0; k < n; k++)
        fprintf(out, "%s%.4fF", k % 8 ? ", " : k ? ",\n  " : "", (double)v[k]);
    fputc('}', out);
}

static void write_row(FILE *out, const float *w, int n)
{
    for (int c = 0; c < n; c++)
        fprintf(out, "%s%.3fF", c % PAIR_HIDDEN ? ", " : c ? ",\n  " : "", (double)w[c]);
}

static void write_rows(FILE *out, const float *w, int rows, int n)
{
    for (int k = 0; k < rows; k++) {
        fprintf(out, "%s{", !k ? " {" : k % (PAIR_HIDDEN / n) ? " " : "\n  ");
        write_row(out, w + k * n, n);
        fputs(k + 1 < rows ? "}," : "}}", out);
    }
}

static void write_model(FILE *out, const struct model *m, const struct pair_scale *scale)
{
    fputs("{{", out);
    write_numbers(out, scale->mean, PAIR_BASE);
    fputs(",\n ", out);
    write_numbers(out, scale->spread, PAIR_BASE);
    fputs("},\n{", out);
    write_rows(out, m->net->of[0], PAIR_SIGNALS, PAIR_LABELS);
    fputs(",\n", out);
    write_rows(out, m->net->in[0], PAIR_BASE, PAIR_HIDDEN);
    fputs(",\n", out);
    write_rows(out, m->net->out[0], PAIR_HIDDEN, PAIR_LABELS);
    fputs("}},\n", out);
}

static void write_words(FILE *out, const struct pair_data *d, const struct model *m)
{
    fputs("/* pair_words.def - what a wording that only the later text has says of a pair. */\n"
          "/* PAIR_WORD(wording as in form.def, DIFFERENT, REPLACES, FULLER, SAME: alone, with\n"
          " * vectors), sorted. Written by tools/train/pair.c. Again: ./dev train pair */\n",
          out);
    for (size_t i = 0; i < d->n_words; i++) {
        fputs("PAIR_WORD(", out);
        write_text(out, d->words[i]);
        for (int set = 0; set < 2; set++) {
            fputs(", ", out);
            write_row(out, m[set].words[i], PAIR_LABELS);
        }
        fputs(")\n", out);
    }
}

static FILE *file_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f)
        stop("%s: cannot be written", path);
    return f;
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct pair_data d = {.ctx = &ctx, .encoder = encoder_new()};
    struct model m[2];
    struct pair_scale scale[2];
    bool is_judged = false;
    if (argc < 3)
        stop("usage: train_pair FOLDER FILE… [--judge FILE…]");
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], "--judge"))
            is_judged = true;
        else
            read_file(&d, argv[i], is_judged);
    choose_words(&d);
    FILE *out = file_in(argv[1], "pair.def");
    fputs("/* pair.def - weights of what a later text is to an earlier one of the same person. */\n"
          "/*\n"
          " * Mean and spread of the first signals, then for each signal {DIFFERENT, REPLACES, "
          "FULLER,\n"
          " * SAME}, then what hidden units are given and give; without and with the encoder's\n"
          " * vectors. Written by tools/train/pair.c. Again: ./dev train pair\n"
          " * Pairs that took no part:\n",
          out);
    for (int set = 0; set < 2; set++) {
        scale[set] = scale_of_pairs(&d, set);
        m[set] = fit_model(&d, set, &scale[set]);
        write_figures(&d, &m[set], &scale[set], set, out);
    }
    fputs(" */\n", out);
    for (int set = 0; set < 2; set++)
        write_model(out, &m[set], &scale[set]);
    fclose(out);
    out = file_in(argv[1], "pair_words.def");
    write_words(out, &d, m);
    fclose(out);
    for (int set = 0; set < 2; set++)
        free(m[set].all);
    encoder_free(d.encoder);
    return 0;
}
