/* setup.c - the common part of all measures: conversations, vectors, names, percents. */
#include "base/clock.h"
#include "ext/eval/eval.h"

enum status eval_begin(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                       struct mapped *file, struct exams *out)
{
    struct store_stats before;
    TRY(store_stats(ctx, e->store, &before));
    if (!in->is_loaded && (before.messages || before.memories))
        return fail(ctx, CONFLICT, "the database must be empty");
    TRY(eval_read(ctx, in->file, in->format, file, out));
    for (size_t c = 0; in->sessions > 0 && c < out->n; c++)
        exam_cut(&out->v[c], (size_t)in->sessions);
    return OK;
}

enum status eval_embed(struct ctx *ctx, struct engine *e, struct eval_report *r)
{
    int64_t began = clock_mono_us();
    struct embed_status source;
    embed_status(ctx, e->embed, &source);
    r->without = source.reason;
    if (source.source == EMBED_NONE)
        return OK;
    for (bool more = true; more;)
        TRY(engine_embed_some(ctx, e, &more));
    r->vectors = embed_signature(ctx, e->embed);
    r->embed_seconds = (double)(clock_mono_us() - began) / 1e6;
    return OK;
}

str eval_renamed(struct arena *a, str text, const struct exam *from, const struct exam *to)
{
    struct buf b = buf_make(a, 1 << 16);
    for (size_t i = 0; i < text.n;) {
        str rest = str_sub(text, i, text.n);
        size_t who = 0;
        while (who < 2 && !(from->speakers[who].n && str_starts(rest, from->speakers[who])))
            who++;
        if (who < 2) {
            buf_add(&b, to->speakers[who]);
            i += from->speakers[who].n;
        } else {
            buf_byte(&b, text.p[i++]);
        }
    }
    return buf_str(&b);
}

size_t eval_kind_place(struct eval_kinds *kinds, const struct exam_question *q)
{
    size_t at = 0;
    for (size_t i = 0; i < kinds->n; i++)
        if (str_eq(kinds->v[i].name, q->kind))
            return kinds->v[i].place;
    if (kinds->n == EVAL_KINDS_MAX)
        return kinds->v[EVAL_KINDS_MAX - 1].place;
    while (at < kinds->n && kinds->v[at].category <= q->category)
        at++;
    memmove(&kinds->v[at + 1], &kinds->v[at], (kinds->n - at) * sizeof kinds->v[at]);
    kinds->v[at] = (struct eval_kind){q->kind, q->category, kinds->n};
    return kinds->n++;
}

double eval_percent(double sum, double n)
{
    return n ? 100 * sum / n : 0;
}

void eval_add(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        ((double *)to)[i] += ((const double *)from)[i];
}

ORDER(compare_values, int64_t, (*x > *y) - (*x < *y));

int64_t eval_percentile(int64_t *v, size_t n, int percent)
{
    if (!n)
        return 0;
    qsort(v, n, sizeof *v, compare_values);
    return v[n * (size_t)percent / 100];
}
