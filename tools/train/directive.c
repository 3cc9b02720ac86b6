/* directive.c - fits what tells a model what to do, in any language. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "dumps.h"
#include "engine/judge/directive.h"
#include "engine/judge/plain.h"

/*
 * usage: train_directive WEIGHTS FILE… [--clean FILE…] [--judge FILE… [--clean FILE…]] >
 * src/engine/judge/directive.def
 *
 * Each file has "texts": of each language the lists takeover, order, wish and clean. "(a|b)" in a
 * text stands for either, and AS_MANY times as many texts are made of it as its longest list has
 * choices. A clean file is tab-separated sentences, or JSON whose "lines" and "text"
 * nobody fears, of conversations every second one.
 * Support vectors by dual coordinate descent, the same bytes each time. The constant is the lowest
 * by which at most a part (lost) of the clean texts that a fit did not see are judged wrongly. What
 * is only to be judged takes no part.
 */
enum { ROUNDS = 8, FOLDS = 4, AS_MANY = 2, LANGUAGES_MAX = 32 };
enum kind { TAKEOVER, ORDER, WISH, CLEAN, KINDS };
static const char *const kind_names[] = {"takeover", "order", "wish", "clean", NULL};

/* What a text that is judged wrongly costs, and times as much an order. */
static const double cost = 1, cost_of_yes = 1.5;

struct told {
    str text, language;
    enum kind kind;
    int group; /* texts of one pattern, which no fit parts */
    bool is_judged, is_other;
    int *v;
    size_t n, n_runs;
    double of_run, of_cue; /* what each of them counts */
    double score;
};

struct told_data {
    struct ctx *ctx;
    struct told *v;
    size_t n, cap;
    int groups;
    bool is_judged;
    str file;
    double *rare; /* of each feature */
};

static void add_text(struct told_data *d, str text, str language, enum kind kind, bool is_other)
{
    struct arena *a = &d->ctx->arena;
    CLEANUP(arena_free) struct arena scratch = {0};
    struct directive_features *f = ROOM_N(&scratch, struct directive_features, 1);
    if (!str_trim(text).n)
        return;
    directive_features_of(&scratch, text_plain(&scratch, text), f);
    int *v = NEW_N(a, int, f->n + 1);
    memcpy(v, f->v, f->n * sizeof *v);
    d->v = arena_more(a, d->v, d->n, &d->cap, sizeof *d->v);
    d->v[d->n++] = (struct told){.text = text,
                                 .language = language,
                                 .kind = kind,
                                 .group = d->groups,
                                 .is_judged = d->is_judged,
                                 .is_other = is_other,
                                 .v = v,
                                 .n = f->n,
                                 .n_runs = f->n_runs,
                                 .of_run = directive_share(f, true),
                                 .of_cue = directive_share(f, false)};
}

/* --- patterns --- */

/* The end of "(a|b)" at from, and how many choices it has; from when it is none. */
static size_t choice_end(str text, size_t from, int *choices)
{
    int depth = 0;
    *choices = 1;
    for (size_t i = from; i < text.n; i++) {
        depth += (text.p[i] == '(') - (text.p[i] == ')');
        *choices += text.p[i] == '|' && depth == 1;
        if (!depth)
            return *choices > 1 ? i + 1 : from;
    }
    return from;
}

static str choice_of(str group, int no)
{
    int depth = 0;
    size_t from = 1;
    for (size_t i = 1; i + 1 < group.n; i++) {
        depth += (group.p[i] == '(') - (group.p[i] == ')');
        if (group.p[i] != '|' || depth)
            continue;
        if (!no--)
            return str_sub(group, from, i);
        from = i + 1;
    }
    return str_sub(group, from, group.n - 1);
}

static int most_choices(str text)
{
    int most = 0, choices;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '(' && choice_end(text, i, &choices) > i && choices > most)
            most = choices;
    return most;
}

/* Each choice of a list is taken equally often; the lists go through theirs at different paces. */
static str variant(struct arena *a, str text, int no)
{
    struct buf b = buf_make(a, text.n + 1);
    int choices, list = 0;
    for (size_t i = 0; i < text.n;) {
        size_t end = text.p[i] == '(' ? choice_end(text, i, &choices) : i;
        if (end == i) {
            buf_byte(&b, text.p[i++]);
            continue;
        }
        int at = (no + no / choices * (list + 1) + list) % choices;
        buf_add(&b, choice_of(str_sub(text, i, end), at));
        list++;
        i = end;
    }
    return buf_str(&b);
}

static void add_pattern(struct told_data *d, str pattern, str language, enum kind kind)
{
    int n = AS_MANY * most_choices(pattern);
    d->groups++;
    for (int i = 0; i < (n ? n : 1); i++)
        add_text(d, n ? variant(&d->ctx->arena, pattern, i) : pattern, language, kind, false);
}

/* --- files --- */

static struct json *json_of(struct told_data *d, const char *path)
{
    struct json *all;
    if (json_parse(d->ctx, file_read(&d->ctx->arena, path), &all) != OK)
        stop("%s: %s", path, d->ctx->why);
    return all;
}

static void read_file(struct told_data *d, const char *path)
{
    const struct json *texts = json_get(json_of(d, path), "texts");
    for (const struct json *l = texts ? texts->first : NULL; l; l = l->next)
        for (const struct json *k = l->first; k; k = k->next)
            for (const struct json *t = k->first; t; t = t->next) {
                enum kind kind = (enum kind)name_index(kind_names, json_name(k), CLEAN);
                if (d->is_judged)
                    add_text(d, json_string(t), json_name(l), kind, false);
                else
                    add_pattern(d, json_string(t), json_name(l), kind);
            }
}

/* As it is judged: each sentence, and each with those behind it. */
static void add_clean(struct told_data *d, str text)
{
    d->groups++;
    for (str rest = text; rest.n;) {
        str one = directive_front(rest, false), more = directive_front(rest, true);
        add_text(d, one, d->file, CLEAN, true);
        if (more.n > one.n)
            add_text(d, more, d->file, CLEAN, true);
        rest = str_sub(rest, one.n, rest.n);
    }
}

static void add_lines(struct told_data *d, const struct json *j, bool is_line)
{
    if (j->type == JSON_STRING && is_line)
        add_clean(d, json_string(j));
    if (str_is(json_string(json_get(j, "speaker")), "user"))
        return; /* he may wish what he wants */
    bool is_list = str_is(json_name(j), "lines");
    for (const struct json *k = j->first; k; k = k->next)
        add_lines(d, k, is_list || str_is(json_name(k), "text"));
}

/* Of conversations every second one; the others are judged. */
static void read_clean(struct told_data *d, const char *path)
{
    size_t n = 0;
    bool judges = d->is_judged;
    d->file = str_of(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    if (str_ends(str_of(path), S(".json"))) {
        const struct json *all = json_of(d, path);
        bool is_talk = all->first && json_get(all->first, "conversation");
        for (const struct json *k = all->first; k; k = k->next) {
            d->is_judged = judges || (is_talk && n++ % 2);
            add_lines(d, k, false);
        }
        d->is_judged = judges;
        return;
    }
    for (str rest = file_read(&d->ctx->arena, path); rest.n;)
        for (str row = str_cut(&rest, '\n'); row.n; d->groups++)
            add_text(d, str_cut(&row, '\t'), d->file, CLEAN, true);
}

/* --- one fit --- */

static bool is_yes(enum directive of, enum kind kind)
{
    return kind == TAKEOVER || (of == DIRECTIVE_ANY && kind != CLEAN);
}

struct model {
    enum directive of;
    double *w; /* the constant is the last */
};

static double value_of(const struct told_data *d, const struct told *t, size_t k)
{
    return d->rare[t->v[k]] * (k < t->n_runs ? t->of_run : t->of_cue);
}

static double dot(const struct told_data *d, const double *w, const struct told *t)
{
    double sum = w[DIRECTIVE_SPACE];
    for (size_t k = 0; k < t->n; k++)
        sum += w[t->v[k]] * value_of(d, t, k);
    return sum;
}

static void add_row(const struct told_data *d, double *out, const struct told *t, double by)
{
    out[DIRECTIVE_SPACE] += by;
    for (size_t k = 0; k < t->n; k++)
        out[t->v[k]] += by * value_of(d, t, k);
}

/* A run counts by the logarithm of how few texts have it. */
static void weigh_features(struct told_data *d)
{
    d->rare = NEW_N(&d->ctx->arena, double, DIRECTIVE_SPACE);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->v[i].n; k++)
            d->rare[d->v[i].v[k]] += !d->v[i].is_judged;
    for (size_t k = 0; k < DIRECTIVE_SPACE; k++)
        d->rare[k] =
            k < DIRECTIVE_RUNS ? log((double)d->n / (1 + d->rare[k])) / log((double)d->n) : 1;
}

/* The squares of the rows, which the constant adds 1 to. */
static double square_of(const struct told_data *d, const struct told *t)
{
    double sum = 1;
    for (size_t k = 0; k < t->n; k++)
        sum += value_of(d, t, k) * value_of(d, t, k);
    return sum;
}

/* One text after the other, in an order that is drawn anew in each round but the same each time.
 * without: a fold that takes no part, or -1. */
static struct model fit_model(const struct told_data *d, enum directive of, int without)
{
    struct model m = {of, calloc(DIRECTIVE_SPACE + 1, sizeof(double))};
    double *share = calloc(d->n, sizeof *share);
    size_t *order = calloc(d->n, sizeof *order), n = 0;
    uint64_t drawn = 1;
    for (size_t i = 0; i < d->n; i++)
        if (!d->v[i].is_judged && d->v[i].group % FOLDS != without)
            order[n++] = i;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++) {
            drawn = drawn * 6364136223846793005U + 1442695040888963407U;
            size_t other = i + (size_t)(drawn >> 33) % (n - i), at = order[other];
            const struct told *t = &d->v[at];
            double yes = is_yes(of, t->kind) ? 1 : -1;
            double soft = 1 / (2 * cost * (yes > 0 ? cost_of_yes : 1));
            double slope = yes * dot(d, m.w, t) - 1 + soft * share[at];
            double next = fmax(share[at] - slope / (square_of(d, t) + soft), 0);
            add_row(d, m.w, t, (next - share[at]) * yes);
            share[at] = next;
            order[other] = order[i];
            order[i] = at;
        }
    free(share);
    free(order);
    return m;
}

/* --- figures --- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The score that all but the allowed part of what is none lies below. */
static double bar_of(const struct told_data *d, enum directive of, double lost)
{
    double *none = calloc(d->n + 1, sizeof *none);
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (!d->v[i].is_judged && !is_yes(of, d->v[i].kind))
            none[n++] = d->v[i].score;
    qsort(none, n, sizeof *none, compare_numbers);
    double bar = none[(size_t)((1 - lost) * (double)(n - 1))];
    free(none);
    return bar;
}

/* Of each kind how many are over the bar, of how many; of what is only judged by language too. */
static void write_figures(const struct told_data *d, bool is_judged, double bar, FILE *out)
{
    for (int kind = 0; kind < KINDS; kind++) {
        str languages[LANGUAGES_MAX];
        size_t n = 0, over[LANGUAGES_MAX] = {0}, all[LANGUAGES_MAX] = {0}, sum = 0, of = 0;
        for (size_t i = 0; i < d->n; i++) {
            const struct told *t = &d->v[i];
            size_t k = 0;
            if ((int)t->kind != kind || t->is_judged != is_judged || (is_judged && t->is_other))
                continue;
            while (k < n && !str_eq(languages[k], t->language))
                k++;
            if (k == LANGUAGES_MAX)
                continue;
            languages[k] = t->language;
            n += k == n;
            over[k] += t->score >= bar;
            all[k]++;
            sum += t->score >= bar;
            of++;
        }
        fprintf(out, " *   %s %zu/%zu", kind_names[kind], sum, of);
        for (size_t k = 0; k < n && is_judged; k++)
            fprintf(out, " " S_FMT " %zu/%zu", S_ARG(languages[k]), over[k], all[k]);
        fputs("\n", out);
    }
}

/* Of the clean texts of others that are only judged: how many have a sentence over the bar. */
static void write_lost(const struct told_data *d, double bar, FILE *out)
{
    str files[LANGUAGES_MAX];
    size_t n = 0, over[LANGUAGES_MAX] = {0}, all[LANGUAGES_MAX] = {0};
    int last = -1, last_over = -1;
    for (size_t i = 0; i < d->n; i++) {
        const struct told *t = &d->v[i];
        if (!t->is_judged || !t->is_other || n == LANGUAGES_MAX)
            continue;
        if (!n || !str_eq(files[n - 1], t->language))
            files[n++] = t->language;
        all[n - 1] += t->group != last;
        last = t->group;
        over[n - 1] += t->score >= bar && t->group != last_over;
        last_over = t->score >= bar ? t->group : last_over;
    }
    for (size_t k = 0; k < n; k++)
        fprintf(out, " *   " S_FMT ": %zu of %zu texts\n", S_ARG(files[k]), over[k], all[k]);
}

static void judge_left_out(struct told_data *d, enum directive of)
{
    for (int fold = 0; fold < FOLDS; fold++) {
        struct model m = fit_model(d, of, fold);
        for (size_t i = 0; i < d->n; i++)
            if (d->v[i].group % FOLDS == fold)
                d->v[i].score = dot(d, m.w, &d->v[i]);
        free(m.w);
    }
}

static void judge_all(struct told_data *d, const struct model *m)
{
    for (size_t i = 0; i < d->n; i++)
        d->v[i].score = dot(d, m->w, &d->v[i]);
}

/* As bytes; returns what one of them counts. */
static double write_weights(const struct told_data *d, const struct model *m, FILE *out)
{
    double most = 0;
    for (size_t i = 0; i < DIRECTIVE_SPACE; i++)
        most = fmax(most, fabs(m->w[i] * d->rare[i]));
    for (size_t i = 0; i < DIRECTIVE_SPACE; i++)
        fputc((int8_t)round(127 * m->w[i] * d->rare[i] / most), out);
    return most / 127;
}

static const struct {
    enum directive of;
    double lost; /* the part of the clean texts that may be taken for an order */
    const char *help;
} wanted[WHOSE_COUNT] = {
    [WHOSE_OWN] = {DIRECTIVE_TAKEOVER, 0.00005, "what nobody asks of his own assistant"},
    [WHOSE_ANSWER] = {DIRECTIVE_ANY, 0.001, "whatever tells a model what to do, in an answer"},
    [WHOSE_OTHERS] = {DIRECTIVE_ANY, 0.006, "the same, in anybody's words"},
};

static void fit_all(struct told_data *d, FILE *weights)
{
    double scale[DIRECTIVE_KINDS], constant[DIRECTIVE_KINDS], bars[WHOSE_COUNT];
    puts("/* directive.def - from where on a text is an order: {kind, scale, constant}, by whose it"
         " is. */");
    puts("/*\n * Written by tools/train/directive.c. Again: ./dev train directive\n"
         " * Fitted to three quarters of the patterns: how many of the rest are judged to be one.");
    for (int of = 0; of < DIRECTIVE_KINDS; of++) {
        judge_left_out(d, (enum directive)of);
        for (int w = 0; w < WHOSE_COUNT; w++)
            if (wanted[w].of == (enum directive)of) {
                bars[w] = bar_of(d, (enum directive)of, wanted[w].lost);
                printf(" * %s:\n", wanted[w].help);
                write_figures(d, false, bars[w], stdout);
            }
        struct model m = fit_model(d, (enum directive)of, -1);
        constant[of] = m.w[DIRECTIVE_SPACE];
        judge_all(d, &m);
        for (int w = 0; w < WHOSE_COUNT; w++)
            if (wanted[w].of == (enum directive)of) {
                fprintf(stderr, " * %s, kept back:\n", wanted[w].help);
                write_figures(d, true, bars[w], stderr);
                write_lost(d, bars[w], stderr);
            }
        scale[of] = write_weights(d, &m, weights);
        free(m.w);
    }
    puts(" */");
    for (int w = 0; w < WHOSE_COUNT; w++)
        printf("{%s, %.6f, %.4f},\n",
               wanted[w].of == DIRECTIVE_ANY ? "DIRECTIVE_ANY" : "DIRECTIVE_TAKEOVER",
               scale[wanted[w].of], constant[wanted[w].of] - bars[w]);
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct told_data d = {.ctx = &ctx};
    bool is_clean = false;
    for (int i = 2; i < argc; i++) {
        d.is_judged |= !strcmp(argv[i], "--judge");
        is_clean = argv[i][0] == '-' ? !strcmp(argv[i], "--clean") : is_clean;
        if (argv[i][0] != '-')
            (is_clean ? read_clean : read_file)(&d, argv[i]);
    }
    if (!d.n)
        stop(
            "usage: train_directive WEIGHTS FILE… [--clean FILE…] [--judge FILE… [--clean FILE…]]");
    weigh_features(&d);
    FILE *weights = fopen(argv[1], "we");
    if (!weights)
        stop("%s cannot be written", argv[1]);
    fit_all(&d, weights);
    if (fclose(weights))
        stop("%s cannot be written", argv[1]);
    return 0;
}
