/* report.c - the figures of an evaluation as text or JSON. */
#include "ext/eval/eval.h"

#include "base/json.h"

/* Nobody must take a figure on the data that the weights were fitted to for one on new data. */
#define WEIGHTS_NOTE                                                                               \
    "the weights of recall were fitted to six conversations of LoCoMo and ten of BEAM, so "        \
    "figures "                                                                                     \
    "on these are too good; docs/recall.md has figures of conversations that were left out"

const char *const rank_names[RANK_FIGURES] = {"any", "all", "frac"};

/* --- text --- */

static void tally_line(struct buf *b, const struct eval_in *in, str name, const struct tally *t)
{
    if (!t->n)
        return;
    buf_printf(b, "%-24.*s %6lld", S_ARG(name), (long long)t->n);
    for (size_t k = 0; k < in->n_k; k++)
        buf_printf(b, "  %6.1f %6.1f %6.1f", eval_percent(t->at[RANK_ANY][k], t->n),
                   eval_percent(t->at[RANK_ALL][k], t->n), eval_percent(t->at[RANK_FRAC][k], t->n));
    buf_printf(b, "  %6.1f %6.1f\n", eval_percent(t->ndcg, t->n), eval_percent(t->mrr, t->n));
}

static void silence_line(struct buf *b, const struct eval_report *r, const struct silence_level *l,
                         const char *name)
{
    buf_printf(b, "%-8s %6.3f  %8.1f %8.1f", name, l->least,
               eval_percent((double)l->own_silent, r->overall.n),
               eval_percent((double)l->own_missed, r->overall.n));
    if (r->other_asked)
        buf_printf(b, "  %8.1f %8.1f", eval_percent((double)l->other[0], r->other_asked),
                   eval_percent((double)l->other[1], r->other_asked));
    buf_byte(b, '\n');
}

static void write_text(struct buf *b, const struct eval_report *r)
{
    const struct eval_in *in = r->in;
    buf_printf(
        b,
        "%lld conversations, %lld turns (%.0f ingested a second), %lld questions, %lld left out\n",
        (long long)r->conversations, (long long)r->turns,
        r->ingest_seconds > 0 ? (double)r->turns / r->ingest_seconds : 0, (long long)r->overall.n,
        (long long)r->left_out);
    if (r->vectors.n)
        buf_printf(b, "vectors of " S_FMT ", made in %.2f s\n", S_ARG(r->vectors),
                   r->embed_seconds);
    else
        buf_printf(b, "no vectors: " S_FMT "\n", S_ARG(r->without));
    buf_printf(b, "by %s, %s\n\n%-24s %6s", in->by_session ? "session" : "turn",
               in->one_pool ? "all conversations in one space"
                            : "each conversation in its own space",
               "", "asked");
    for (size_t k = 0; k < in->n_k; k++)
        buf_printf(b, "   any@%-2lld all@%-2lld frac@%-2lld", (long long)in->k[k],
                   (long long)in->k[k], (long long)in->k[k]);
    buf_printf(b, "  ndcg10    mrr\n");
    for (const struct eval_kind *kind = r->kinds.v; kind < r->kinds.v + r->kinds.n; kind++)
        tally_line(b, in, kind->name, &r->tallies[kind->place]);
    tally_line(b, in, S("all"), &r->overall);
    buf_printf(b, "\n%15s  %17s  %17s\n%-8s %6s  %8s %8s", "", "own space, %",
               r->other_asked ? "other space, %" : "", "", "needed", "silent", "missed");
    buf_printf(b, "%s\n", r->other_asked ? "     spoke  renamed" : "");
    for (size_t i = 0; i < EVAL_LEVELS; i++)
        silence_line(b, r, &r->silence[i], "score");
    silence_line(b, r, &r->as_set, "chat");
    buf_printf(b, "\nrecall p50 %lld us, p99 %lld us; %.1f tokens an answer (%.1f when it spoke)\n",
               (long long)r->p50_us, (long long)r->p99_us,
               r->overall.n ? (double)r->tokens / r->overall.n : 0,
               r->answers_with_tokens ? (double)r->tokens / (double)r->answers_with_tokens : 0);
    buf_add(b, S(WEIGHTS_NOTE "\n"));
}

/* --- JSON --- */

static void write_tally(struct json_out *w, const struct eval_in *in, const char *name,
                        const struct tally *t)
{
    if (!t->n)
        return;
    json_member_open(w, name, '{');
    json_member_int(w, "n", (int64_t)t->n);
    for (size_t f = 0; f < RANK_FIGURES; f++)
        for (size_t k = 0; k < in->n_k; k++) {
            char key[32];
            snprintf(key, sizeof key, "%s@%lld", rank_names[f], (long long)in->k[k]);
            json_member_num(w, key, eval_percent(t->at[f][k], t->n));
        }
    json_member_num(w, "ndcg@10", eval_percent(t->ndcg, t->n));
    json_member_num(w, "mrr", eval_percent(t->mrr, t->n));
    json_close(w, '}');
}

static void write_level(struct json_out *w, const struct eval_report *r,
                        const struct silence_level *l)
{
    json_open(w, '{');
    json_member_num(w, "least", l->least);
    json_member_num(w, "own_silent", eval_percent((double)l->own_silent, r->overall.n));
    json_member_num(w, "own_missed", eval_percent((double)l->own_missed, r->overall.n));
    if (r->other_asked) {
        json_member_num(w, "other_spoke", eval_percent((double)l->other[0], r->other_asked));
        json_member_num(w, "other_renamed_spoke",
                        eval_percent((double)l->other[1], r->other_asked));
    }
    json_close(w, '}');
}

static void write_json(struct buf *b, const struct eval_report *r)
{
    struct json_out out = json_to(b), *w = &out;
    json_open(w, '{');
    json_member_num(w, "conversations", (double)r->conversations);
    json_member_num(w, "turns", (double)r->turns);
    json_member_num(w, "left_out", (double)r->left_out);
    json_member_num(w, "ingest_turns_per_second",
                    r->ingest_seconds > 0 ? (double)r->turns / r->ingest_seconds : 0);
    json_member_str(w, "vectors", r->vectors);
    json_member_num(w, "embed_seconds", r->embed_seconds);
    json_member_str(w, "level", r->in->by_session ? S("session") : S("turn"));
    json_member_bool(w, "one_pool", r->in->one_pool);
    for (const struct eval_kind *kind = r->kinds.v; kind < r->kinds.v + r->kinds.n; kind++)
        write_tally(w, r->in, str_c(b->arena, kind->name), &r->tallies[kind->place]);
    write_tally(w, r->in, "overall", &r->overall);
    json_member_open(w, "silence", '[');
    for (size_t i = 0; i < EVAL_LEVELS; i++)
        write_level(w, r, &r->silence[i]);
    json_close(w, ']');
    json_key(w, "as_set");
    write_level(w, r, &r->as_set);
    json_member_num(w, "p50_us", (double)r->p50_us);
    json_member_num(w, "p99_us", (double)r->p99_us);
    json_member_num(w, "tokens_per_answer", r->overall.n ? (double)r->tokens / r->overall.n : 0);
    json_member_str(w, "note", S(WEIGHTS_NOTE));
    json_close(w, '}');
    buf_byte(b, '\n');
}

void eval_write(struct buf *out, const struct eval_report *r, bool as_json)
{
    (as_json ? write_json : write_text)(out, r);
}
