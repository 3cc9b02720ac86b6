/* compare.c - two settings compared question by question, with a paired test. */
#include <math.h>

#include "base/json.h"
#include "ext/eval/eval.h"

/*
 * Both files have the same questions, so each question is a pair, and what is hard about it counts
 * on both sides. The interval is that of the mean difference, by drawing the pairs again and again
 * with a fixed seed (paired bootstrap). The test counts how often each side is better (exact sign
 * test; for figures of 0 and 1 this is McNemar's). A mean may move while the test says nothing, and
 * the other way round: so both are given.
 */
enum { DRAWS = 4000, FIGURES_MAX = 40, SHOWN_MAX = 40 };

struct pair {
    const struct json *a, *b; /* the question in each file */
};

struct figure {
    const char *name;
    int64_t n, wins, losses; /* of the second file */
    double a, b, change;     /* means, and their difference */
    double low, high;        /* of the difference, 95 % */
    double p;
    bool is_share; /* of 0 to 1, shown as percent */
    bool is_cost;  /* less is better */
};
static FIELDS(figure, (INT, n), (AS_NUM, a, "first"), (AS_NUM, b, "second"), (NUM, change),
              (NUM, low), (NUM, high), (AS_INT, wins, "better"), (AS_INT, losses, "worse"),
              (NUM, p));

/* A question whose main figure differs. */
SHAPE(changed, (STR, id), (STR, kind), (NUM, first), (NUM, second));

struct comparison {
    struct ctx *ctx;
    const struct json *a, *b;
    struct pair *pairs;
    struct changed *changed;
    size_t n, n_changed, only_a, only_b;
    struct figure figures[FIGURES_MAX];
    size_t n_figures;
    const char *main; /* the figure by which questions are listed */
};

/* --- reading --- */

static enum status read_file(struct ctx *ctx, str path, const struct json **out)
{
    CLEANUP(unmap_file) struct mapped file = {S("")};
    struct json *j;
    TRY(map_file(ctx, path, &file));
    if (!soft(ctx, json_parse(ctx, str_dup(&ctx->arena, file.text), &j)))
        return fail(ctx, BAD_INPUT, S_FMT ": is not JSON", S_ARG(path));
    const struct json *questions = json_get(j, "questions");
    if (!json_string(json_get(j, "report")).n || !questions || questions->type != JSON_ARRAY)
        return fail(ctx, BAD_INPUT,
                    S_FMT ": has no report and questions; --per-question writes "
                          "such a file",
                    S_ARG(path));
    for (const struct json *q = questions->first; q; q = q->next)
        if (!json_string(json_get(q, "id")).n || !json_get(q, "figures"))
            return fail(ctx, BAD_INPUT, S_FMT ": a question has no id or no figures", S_ARG(path));
    *out = j;
    return OK;
}

static const struct json *question_of(const struct json *file, str id)
{
    for (const struct json *q = json_get(file, "questions")->first; q; q = q->next)
        if (str_eq(json_string(json_get(q, "id")), id))
            return q;
    return NULL;
}

static enum status pair_questions(struct comparison *c)
{
    static const char *const same[] = {"report", "level"};
    for (size_t i = 0; i < 2; i++) {
        str a = json_string(json_get(c->a, same[i])), b = json_string(json_get(c->b, same[i]));
        if (!str_eq(a, b))
            return fail_field(c->ctx, same[i],
                              "must be the same in both files, not " S_FMT " and " S_FMT, S_ARG(a),
                              S_ARG(b));
    }
    const struct json *all = json_get(c->a, "questions");
    c->pairs = NEW_N(&c->ctx->arena, struct pair, all->n + 1);
    for (const struct json *q = all->first; q; q = q->next) {
        const struct json *b = question_of(c->b, json_string(json_get(q, "id")));
        c->only_a += !b;
        if (b)
            c->pairs[c->n++] = (struct pair){q, b};
    }
    c->only_b = json_get(c->b, "questions")->n - c->n;
    return c->n ? OK : fail(c->ctx, BAD_INPUT, "the two files have no question in common");
}

/* --- arithmetic --- */

/* SplitMix64: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

ORDER(compare_doubles, double, (*x > *y) - (*x < *y));

static void interval_of(struct ctx *ctx, const double *differences, struct figure *f)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    double *means = NEW_N(&own.arena, double, DRAWS);
    uint64_t state = 20240229;
    for (size_t d = 0; d < DRAWS; d++) {
        double sum = 0;
        for (int64_t i = 0; i < f->n; i++)
            sum += differences[next_random(&state) % (uint64_t)f->n];
        means[d] = sum / (double)f->n;
    }
    qsort(means, DRAWS, sizeof *means, compare_doubles);
    f->low = means[DRAWS * 25 / 1000];
    f->high = means[DRAWS * 975 / 1000 - 1];
}

/* How likely it is that a fair coin gives sides as unequal as these. */
static double sign_test(int64_t wins, int64_t losses)
{
    double n = (double)(wins + losses), p = 0;
    int64_t fewer = wins < losses ? wins : losses;
    for (int64_t i = 0; i <= fewer; i++)
        p += exp(lgamma(n + 1) - lgamma((double)i + 1) - lgamma(n - (double)i + 1) - n * log(2));
    return fmin(1, 2 * p);
}

static double figure_at(const struct json *question, const char *name)
{
    return json_num_or(json_get(json_get(question, "figures"), name), NAN);
}

static void compare_figure(struct comparison *c, struct figure *f)
{
    double *differences = NEW_N(&c->ctx->arena, double, c->n);
    for (size_t i = 0; i < c->n; i++) {
        double a = figure_at(c->pairs[i].a, f->name), b = figure_at(c->pairs[i].b, f->name);
        if (isnan(a) || isnan(b))
            continue;
        f->a += a;
        f->b += b;
        f->wins += f->is_cost ? b < a : b > a;
        f->losses += f->is_cost ? b > a : b < a;
        differences[f->n++] = b - a;
    }
    if (!f->n)
        return;
    f->a /= (double)f->n;
    f->b /= (double)f->n;
    f->change = f->b - f->a;
    f->p = sign_test(f->wins, f->losses);
    interval_of(c->ctx, differences, f);
}

static void compare_figures(struct comparison *c)
{
    static const char *const costs[] = {"tokens", "took_us", "foreign", "renamed", NULL},
                             *const sizes[] = {"tokens", "took_us", NULL};
    const struct json *first = json_get(c->pairs[0].a, "figures");
    for (const struct json *j = first->first; j && c->n_figures < FIGURES_MAX; j = j->next) {
        struct figure *f = &c->figures[c->n_figures];
        *f = (struct figure){.name = str_c(&c->ctx->arena, json_name(j)),
                             .is_share = !str_is_one_of(json_name(j), sizes),
                             .is_cost = str_is_one_of(json_name(j), costs)};
        compare_figure(c, f);
        c->n_figures += f->n > 0;
    }
    c->main = c->n_figures ? c->figures[0].name : "";
    for (size_t i = c->n_figures; i-- > 0;)
        if (str_starts(str_of(c->figures[i].name), S("frac")))
            c->main = c->figures[i].name;
    for (size_t i = 0; i < c->n_figures; i++)
        if (!strcmp(c->figures[i].name, "frac@10"))
            c->main = c->figures[i].name;
}

static void find_changed(struct comparison *c)
{
    c->changed = NEW_N(&c->ctx->arena, struct changed, c->n);
    for (const struct pair *p = c->pairs; p < c->pairs + c->n; p++) {
        double a = figure_at(p->a, c->main), b = figure_at(p->b, c->main);
        if (a < b || a > b)
            c->changed[c->n_changed++] =
                (struct changed){json_string(json_get(p->a, "id")),
                                 json_string(json_get(p->a, "kind")), a, b};
    }
}

/* --- the report --- */

static void write_text(struct buf *b, const struct comparison *c)
{
    buf_printf(b, "%zu questions in both files, %zu only in the first, %zu only in the second\n\n",
               c->n, c->only_a, c->only_b);
    buf_printf(b, "%-10s %9s %9s %9s   %-19s %6s %6s %8s\n", "", "first", "second", "change",
               "95 % interval", "better", "worse", "p");
    for (size_t i = 0; i < c->n_figures; i++) {
        const struct figure *f = &c->figures[i];
        double by = f->is_share ? 100 : 1;
        buf_printf(b, "%-10s %9.1f %9.1f %+9.2f   %+8.2f … %+8.2f %6lld %6lld %8.4f\n", f->name,
                   by * f->a, by * f->b, by * f->change, by * f->low, by * f->high,
                   (long long)f->wins, (long long)f->losses, f->p);
    }
    buf_printf(b, "\n%s differs in %zu questions%s\n", c->main, c->n_changed,
               c->n_changed > SHOWN_MAX ? "; the first of them, --json lists all" : "");
    for (size_t i = 0; i < c->n_changed && i < SHOWN_MAX; i++) {
        const struct changed *q = &c->changed[i];
        buf_printf(b, "  " S_FMT " (" S_FMT ") %.2f → %.2f\n", S_ARG(q->id), S_ARG(q->kind),
                   q->first, q->second);
    }
}

static void write_json(struct buf *b, const struct comparison *c)
{
    struct json_out out = json_to(b), *w = &out;
    json_open(w, '{');
    json_member_int(w, "questions", (int64_t)c->n);
    json_member_int(w, "only_first", (int64_t)c->only_a);
    json_member_int(w, "only_second", (int64_t)c->only_b);
    json_member_open(w, "figures", '{');
    for (size_t i = 0; i < c->n_figures; i++) {
        json_key(w, c->figures[i].name);
        fields_write(w, figure_fields, &c->figures[i]);
    }
    json_close(w, '}');
    json_member_str(w, "listed_by", str_of(c->main));
    json_member_open(w, "changed", '[');
    for (size_t i = 0; i < c->n_changed; i++)
        fields_write(w, changed_fields, &c->changed[i]);
    json_close(w, ']');
    json_close(w, '}');
    buf_byte(b, '\n');
}

enum status eval_compare(struct ctx *ctx, str before, str after, bool as_json, struct buf *out)
{
    struct comparison c = {.ctx = ctx};
    TRY(read_file(ctx, before, &c.a));
    TRY(read_file(ctx, after, &c.b));
    TRY(pair_questions(&c));
    compare_figures(&c);
    find_changed(&c);
    (as_json ? write_json : write_text)(out, &c);
    return OK;
}
