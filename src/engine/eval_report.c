/* eval_report.c - the figures of an evaluation as text or JSON. */
#include "engine/eval.h"

#include "base/json.h"

#define SIGNAL(name, rank, sure, dense_rank, dense_sure, help)
#include "engine/rank_weights.def"
#undef SIGNAL

static const char *const categories[EVAL_CATEGORIES] = {"other",       "multi-hop",  "temporal",
                                                        "open-domain", "single-hop", "adversarial"};

static double percent(double sum, int64_t n)
{
    return n ? 100 * sum / (double)n : 0;
}

/* --- text --- */

static void tally_line(struct buf *b, const struct eval_in *in, const char *name,
                       const struct tally *t)
{
    if (!t->n)
        return;
    buf_printf(b, "%-12s %6lld", name, (long long)t->n);
    for (size_t k = 0; k < in->n_k; k++)
        buf_printf(b, "  %6.1f %6.1f %6.1f", percent(t->any[k], t->n), percent(t->all[k], t->n),
                   percent(t->frac[k], t->n));
    buf_printf(b, "  %6.1f %6.1f\n", percent(t->ndcg, t->n), percent(t->mrr, t->n));
}

static void silence_line(struct buf *b, const struct eval_report *r, const struct silence_level *l,
                         const char *name)
{
    buf_printf(b, "%-8s %6.3f  %8.1f %8.1f", name, l->least,
               percent((double)l->own_silent, r->overall.n),
               percent((double)l->own_missed, r->overall.n));
    if (r->other_asked)
        buf_printf(b, "  %8.1f %8.1f", percent((double)l->other_spoken, r->other_asked),
                   percent((double)l->other_renamed, r->other_asked));
    buf_byte(b, '\n');
}

static void write_text(struct buf *b, const struct eval_report *r)
{
    const struct eval_in *in = r->in;
    buf_printf(b, "%lld conversations, %lld turns (%.0f a second), %lld questions, %lld left out\n",
               (long long)r->conversations, (long long)r->turns,
               r->ingest_seconds > 0 ? (double)r->turns / r->ingest_seconds : 0,
               (long long)r->overall.n, (long long)r->left_out);
    if (r->vectors.n)
        buf_printf(b, "vectors of " S_FMT ", made in %.2f s\n", S_ARG(r->vectors),
                   r->embed_seconds);
    else
        buf_printf(b, "no vectors: " S_FMT "\n", S_ARG(r->without));
    buf_printf(b, "by %s, %s\n\n%-12s %6s", in->by_session ? "session" : "turn",
               in->one_pool ? "one pool" : "a pool each", "", "asked");
    for (size_t k = 0; k < in->n_k; k++)
        buf_printf(b, "   any@%-2lld all@%-2lld frac@%-2lld", (long long)in->k[k],
                   (long long)in->k[k], (long long)in->k[k]);
    buf_printf(b, "  ndcg10    mrr\n");
    for (size_t c = 1; c <= EVAL_CATEGORIES; c++)
        tally_line(b, in, categories[c % EVAL_CATEGORIES], &r->by_category[c % EVAL_CATEGORIES]);
    tally_line(b, in, "all", &r->overall);
    buf_printf(b, "\n%15s  %17s  %17s\n%-8s %6s  %8s %8s", "", "own pool, % of",
               r->other_asked ? "other pool, % of" : "", "", "least", "silent", "missed");
    buf_printf(b, "%s\n", r->other_asked ? "     spoke  renamed" : "");
    for (size_t i = 0; i < EVAL_LEVELS; i++)
        silence_line(b, r, &r->silence[i], "score");
    silence_line(b, r, &r->as_set, "as set");
    buf_printf(b, "\nrecall p50 %lld us, p99 %lld us; %.1f tokens an answer (%.1f when it spoke)\n",
               (long long)r->p50_us, (long long)r->p99_us,
               r->overall.n ? (double)r->tokens / (double)r->overall.n : 0,
               r->answers_with_tokens ? (double)r->tokens / (double)r->answers_with_tokens : 0);
    buf_add(b, S(RANK_NOTE "\n"));
}

/* --- JSON --- */

static void put(struct json_out *w, const char *name, double v)
{
    json_key(w, name);
    json_num(w, v);
}

static void write_tally(struct json_out *w, const struct eval_in *in, const char *name,
                        const struct tally *t)
{
    static const char *const what[] = {"any", "all", "frac"};
    if (!t->n)
        return;
    json_key(w, name);
    json_open(w, '{');
    json_key(w, "n");
    json_int(w, t->n);
    for (size_t m = 0; m < 3; m++)
        for (size_t k = 0; k < in->n_k; k++) {
            char key[32];
            const double *sums = m == 0 ? t->any : m == 1 ? t->all : t->frac;
            snprintf(key, sizeof key, "%s@%lld", what[m], (long long)in->k[k]);
            put(w, key, percent(sums[k], t->n));
        }
    put(w, "ndcg@10", percent(t->ndcg, t->n));
    put(w, "mrr", percent(t->mrr, t->n));
    json_close(w, '}');
}

static void write_level(struct json_out *w, const struct eval_report *r,
                        const struct silence_level *l)
{
    json_open(w, '{');
    put(w, "least", l->least);
    put(w, "own_silent", percent((double)l->own_silent, r->overall.n));
    put(w, "own_missed", percent((double)l->own_missed, r->overall.n));
    if (r->other_asked) {
        put(w, "other_spoke", percent((double)l->other_spoken, r->other_asked));
        put(w, "other_renamed_spoke", percent((double)l->other_renamed, r->other_asked));
    }
    json_close(w, '}');
}

static void write_json(struct buf *b, const struct eval_report *r)
{
    struct json_out out = json_to(b), *w = &out;
    json_open(w, '{');
    put(w, "conversations", (double)r->conversations);
    put(w, "turns", (double)r->turns);
    put(w, "left_out", (double)r->left_out);
    put(w, "ingest_turns_per_second",
        r->ingest_seconds > 0 ? (double)r->turns / r->ingest_seconds : 0);
    json_key(w, "vectors");
    json_str(w, r->vectors);
    put(w, "embed_seconds", r->embed_seconds);
    json_key(w, "level");
    json_str(w, r->in->by_session ? S("session") : S("turn"));
    json_key(w, "one_pool");
    json_bool(w, r->in->one_pool);
    for (size_t c = 0; c < EVAL_CATEGORIES; c++)
        write_tally(w, r->in, categories[c], &r->by_category[c]);
    write_tally(w, r->in, "overall", &r->overall);
    json_key(w, "silence");
    json_open(w, '[');
    for (size_t i = 0; i < EVAL_LEVELS; i++)
        write_level(w, r, &r->silence[i]);
    json_close(w, ']');
    json_key(w, "as_set");
    write_level(w, r, &r->as_set);
    put(w, "p50_us", (double)r->p50_us);
    put(w, "p99_us", (double)r->p99_us);
    put(w, "tokens_per_answer", r->overall.n ? (double)r->tokens / (double)r->overall.n : 0);
    json_key(w, "note");
    json_str(w, S(RANK_NOTE));
    json_close(w, '}');
    buf_byte(b, '\n');
}

void eval_write(struct buf *out, const struct eval_report *r, bool as_json)
{
    if (as_json)
        write_json(out, r);
    else
        write_text(out, r);
}
