/* prompt_report.c - the figures of what enters the prompt, as text or JSON. */
#include "base/json.h"
#include "ext/eval/prompt.h"

/* --- text --- */

/* Of a column, and of the one that is headed "answer words". */
enum { WIDE = 8, WORDS_WIDE = 12 };

static void add_percent(struct buf *b, double sum, double n, int width)
{
    if (n)
        buf_printf(b, " %*.1f", width, eval_percent(sum, n));
    else
        buf_printf(b, " %*s", width, "-");
}

static void sum_line(struct buf *b, str name, const struct given_sum *s)
{
    buf_printf(b, "%-26.*s %6lld", S_ARG(name), (long long)s->n);
    add_percent(b, s->kept, s->n, WIDE);
    add_percent(b, s->any, s->n, WIDE);
    add_percent(b, s->frac, s->n, WIDE);
    add_percent(b, s->words, s->worded, WORDS_WIDE);
    buf_printf(b, " %8.0f", s->kept ? s->tokens / s->kept : 0);
    add_percent(b, s->foreign, s->foreign_asked, WIDE);
    add_percent(b, s->renamed, s->renamed_asked, WIDE);
    buf_byte(b, '\n');
}

static void write_curve(struct buf *b, const struct prompt_report *r)
{
    struct arena *a = b->arena;
    buf_printf(b, "\nby threshold\n");
    for (size_t i = 0; i < r->n_levels; i++)
        sum_line(b, str_printf(a, "%.3f", r->levels[i]), &r->curve[i]);
    if (r->threshold_kept > 0)
        sum_line(b, str_printf(a, "%.4f (keeps %.0f %%)", r->threshold_kept, KEPT_AT_LEAST),
                 &r->at_kept);
    else
        buf_printf(b, "no threshold keeps %.0f %%\n", KEPT_AT_LEAST);
}

static void write_text(struct buf *b, const struct prompt_report *r)
{
    buf_printf(b,
               "%lld conversations (%lld run as chats, the others imported), %lld messages, "
               "%lld questions, %lld left out\n",
               (long long)r->conversations, (long long)r->led, (long long)r->messages,
               (long long)r->all.n, (long long)r->left_out);
    if (r->vectors.vectors.n)
        buf_printf(b, "vectors of " S_FMT "\n", S_ARG(r->vectors.vectors));
    else
        buf_printf(b, "no vectors: " S_FMT "\n", S_ARG(r->vectors.without));
    buf_printf(b, "threshold %.3f\n\n%-26s %6s %8s %8s %8s %12s %8s %8s %8s\n", r->threshold, "%",
               "asked", "kept", "any", "frac", "answer words", "tokens", "off-topic", "renamed");
    for (const struct eval_kind *kind = r->kinds.v; kind < r->kinds.v + r->kinds.n; kind++)
        sum_line(b, kind->name, &r->sums[kind->place]);
    sum_line(b, S("all"), &r->all);
    buf_printf(b, "\ntokens of a block: p50 %lld, p95 %lld; %.0f a question\n",
               (long long)r->tokens_p50, (long long)r->tokens_p95,
               r->all.n ? r->all.tokens / r->all.n : 0);
    if (r->n_levels)
        write_curve(b, r);
}

/* --- JSON --- */

static void member_percent(struct json_out *w, const char *name, double sum, double n)
{
    if (n)
        json_member_num(w, name, eval_percent(sum, n));
}

/* The object is open. */
static void put_sum(struct json_out *w, const struct given_sum *s)
{
    json_member_int(w, "n", (int64_t)s->n);
    json_member_num(w, "kept", eval_percent(s->kept, s->n));
    json_member_num(w, "any", eval_percent(s->any, s->n));
    json_member_num(w, "frac", eval_percent(s->frac, s->n));
    json_member_num(w, "tokens", s->kept ? s->tokens / s->kept : 0);
    json_member_num(w, "tokens_a_question", s->n ? s->tokens / s->n : 0);
    member_percent(w, "answer_words", s->words, s->worded);
    member_percent(w, "foreign", s->foreign, s->foreign_asked);
    member_percent(w, "renamed", s->renamed, s->renamed_asked);
}

static void put_level(struct json_out *w, double least, const struct given_sum *s)
{
    json_member_num(w, "threshold", least);
    put_sum(w, s);
    json_close(w, '}');
}

static void write_json(struct buf *b, const struct prompt_report *r)
{
    struct json_out out = json_to(b), *w = &out;
    json_open(w, '{');
    json_member_int(w, "conversations", r->conversations);
    json_member_int(w, "led_as_chats", r->led);
    json_member_int(w, "messages", r->messages);
    json_member_int(w, "left_out", r->left_out);
    json_member_str(w, "vectors", r->vectors.vectors);
    json_member_num(w, "threshold", r->threshold);
    json_member_open(w, "kinds", '{');
    for (const struct eval_kind *kind = r->kinds.v; kind < r->kinds.v + r->kinds.n; kind++) {
        json_member_open(w, str_c(b->arena, kind->name), '{');
        put_sum(w, &r->sums[kind->place]);
        json_close(w, '}');
    }
    json_close(w, '}');
    json_member_open(w, "overall", '{');
    put_sum(w, &r->all);
    json_member_int(w, "tokens_p50", r->tokens_p50);
    json_member_int(w, "tokens_p95", r->tokens_p95);
    json_close(w, '}');
    if (r->n_levels)
        json_member_open(w, "curve", '[');
    for (size_t i = 0; i < r->n_levels; i++) {
        json_open(w, '{');
        put_level(w, r->levels[i], &r->curve[i]);
    }
    if (r->n_levels)
        json_close(w, ']');
    if (r->threshold_kept > 0) {
        json_member_open(w, "at_93_kept", '{');
        put_level(w, r->threshold_kept, &r->at_kept);
    }
    json_close(w, '}');
    buf_byte(b, '\n');
}

void prompt_write(struct buf *out, const struct prompt_report *r, bool as_json)
{
    (as_json ? write_json : write_text)(out, r);
}
