/* eval.c - measures recall by questions about conversations: ranking, silence, speed. */
#include "ext/eval/eval.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "engine/gate/evidence.h"
#include "engine/recall/features.h"
#include "ext/eval/each.h"
#include "ext/eval/followups.h"
#include "ext/import/ingest.h"

/*
 * Two questions are asked of the same data. Ranking: is the evidence among the first k (without a
 * gate)? Speaking: would a chat have been given it, and would a chat of somebody else, in whose
 * memories the answer cannot be, have been given nothing? Silence is easy to reach for one that
 * never speaks, so both are always reported.
 */
enum { DUMP_RESULTS = 200, NDCG_AT = 10, DUMP_OTHER = 20, DUMP_POOLS = 3 };

/*
 * For each question: any@k (some evidence among the first k), all@k (all of it), frac@k (the
 * share), nDCG@10 and the mean reciprocal rank; then what a chat would do with it on its own pool,
 * on another conversation's, and on that with the names of the people there, which is the hardest
 * test of silence. --dump writes each candidate's signals for fitting the weights
 * (tools/train).
 */

static const double levels[EVAL_LEVELS] = {0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5};

struct eval {
    struct ctx *ctx;
    struct engine *e;
    struct eval_report report;
    struct exams all;
    FILE *dump, *gate_dump;
    struct each each;
    int64_t *took; /* µs of each question as a chat asks it */
    size_t n_took;
};

static struct pool_ref pool_of(const struct eval *v, size_t conversation)
{
    str space = v->report.in->one_pool ? S("eval") : v->all.v[conversation].id;
    return (struct pool_ref){S("eval"), space};
}

/* --- one answer against the evidence --- */

/* Refs are unique in a conversation; in a shared pool its name begins the session's. */
static bool is_evidence(const struct exam *c, const struct exam_question *q,
                        const struct recalled *r)
{
    return str_starts(r->message.session, c->id) && r->message.session.n > c->id.n &&
           r->message.session.p[c->id.n] == '/' && strs_have(&q->evidence, r->message.ref);
}

static size_t gold_of(const struct exam_question *q, bool by_session)
{
    return by_session ? q->sessions.n : q->evidence.n;
}

/* The ranks of the answer as hits and misses. Sessions are ranked as a search for conversations
 * ranks them. */
static size_t hits_of(struct arena *a, bool by_session, const struct exam *c,
                      const struct exam_question *q, const struct recall_out *found, bool *hit)
{
    size_t n = found->n;
    const struct session_found *s = by_session ? engine_by_session(a, found->v, n, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        hit[i] = s ? strs_have(&q->sessions, s[i].session.id) : is_evidence(c, q, &found->v[i]);
    return n;
}

/* One question's ranking, as a tally of one: nDCG with gains of 0 and 1, whose ideal is the order
 * with all evidence in front. */
static struct tally tally_of(const struct eval_in *in, const bool *hit, size_t n, size_t gold)
{
    struct tally t = {.n = 1};
    double ideal = 0;
    assert(gold > 0); /* questions without evidence were left out */
    for (size_t k = 0; k < in->n_k; k++) {
        size_t got = 0;
        for (size_t i = 0; i < n && i < (size_t)in->k[k]; i++)
            got += hit[i];
        t.at[RANK_ANY][k] = got > 0;
        t.at[RANK_ALL][k] = got == gold;
        t.at[RANK_FRAC][k] = (double)got / (double)gold;
    }
    for (size_t i = 0; i < n; i++) {
        t.ndcg += hit[i] && i < NDCG_AT ? 1 / log2((double)i + 2) : 0;
        t.mrr = !(t.mrr > 0) && hit[i] ? 1 / ((double)i + 1) : t.mrr;
    }
    for (size_t i = 0; i < gold && i < NDCG_AT; i++)
        ideal += 1 / log2((double)i + 2);
    t.ndcg /= ideal;
    return t;
}

static void note_tally(struct eval *v, const struct exam_question *q, const struct tally *t)
{
    const struct eval_in *in = v->report.in;
    char name[32];
    eval_add(&v->report.overall, t, sizeof *t);
    eval_add(&v->report.tallies[eval_kind_place(&v->report.kinds, q)], t, sizeof *t);
    for (size_t k = 0; k < in->n_k; k++)
        for (size_t f = 0; f < RANK_FIGURES; f++) {
            snprintf(name, sizeof name, "%s@%lld", rank_names[f], (long long)in->k[k]);
            each_num(&v->each, name, t->at[f][k]);
        }
    each_num(&v->each, "ndcg@10", t->ndcg);
    each_num(&v->each, "mrr", t->mrr);
}

/* --- asking --- */

/* A question as a chat asks it, and where. */
struct chat_question {
    size_t asker, question, pool;
    bool is_renamed; /* with the names of the people there */
    str text;
};

static int64_t asked_at(const struct exam *c, const struct exam_question *q)
{
    return q->asked ? q->asked : c->until;
}

static void dump_rows(struct eval *v, size_t conversation, size_t question, bool own,
                      const struct exam_question *q, const struct recall_out *found)
{
    const struct exam *c = &v->all.v[conversation];
    for (size_t i = 0; v->dump && i < found->n && (own || i < DUMP_OTHER); i++) {
        fprintf(v->dump, "%zu\t%zu\t%d\t%lld\t%zu\t%d\t%lld\t%d", conversation, question, own,
                (long long)q->category, q->evidence.n, own && is_evidence(c, q, &found->v[i]),
                (long long)doc_session(found->v[i].message.doc),
                own && strs_have(&q->sessions, found->v[i].message.session));
        for (size_t s = 0; signal_names[s]; s++)
            fprintf(v->dump, "\t%.6g", found->v[i].measured.signals[s]);
        fputc('\n', v->dump);
    }
}

/* One row for each question and pool, for fitting the gate. `decided`: the probability where it did
 * not look at the question, else -1. */
static void dump_gate(struct eval *v, const struct chat_question *q, const struct recall_out *found)
{
    if (!v->gate_dump)
        return;
    fprintf(v->gate_dump, "%zu\t%zu\t%zu\t%d\t%.6g", q->asker, q->question, q->pool, q->is_renamed,
            found->evidence ? -1 : found->probability);
    for (size_t s = 0; gate_signal_names[s]; s++)
        fprintf(v->gate_dump, "\t%.6g", found->evidence ? found->evidence[s] : 0);
    fputc('\n', v->gate_dump);
}

static size_t most_results(const struct eval *v)
{
    size_t most = v->dump ? DUMP_RESULTS : v->report.in->by_session ? EVAL_RANK_MAX : 0;
    for (size_t k = 0; k < v->report.in->n_k; k++)
        most = most < (size_t)v->report.in->k[k] ? (size_t)v->report.in->k[k] : most;
    return most;
}

static enum status rank_question(struct eval *v, size_t conversation, size_t question)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(v->ctx, 0);
    const struct exam *c = &v->all.v[conversation];
    const struct exam_question *q = &c->questions[question];
    const struct recall_in in = {.pool = pool_of(v, conversation),
                                 .question = q->text,
                                 .asked = asked_at(c, q),
                                 .limit = most_results(v),
                                 .budget_tokens = -1,
                                 .only.turns = true};
    struct recall_out found;
    TRY(ctx_pass(v->ctx, &ctx, engine_recall(&ctx, v->e, &in, &found)));
    dump_rows(v, conversation, question, true, q, &found);
    bool hit[DUMP_RESULTS + 1];
    assert(found.n <= DUMP_RESULTS);
    bool by_session = v->report.in->by_session;
    size_t n = hits_of(&ctx.arena, by_session, c, q, &found, hit), gold = gold_of(q, by_session);
    struct tally t = tally_of(v->report.in, hit, n, gold);
    note_tally(v, q, &t);
    return OK;
}

/* What a chat would do: how probable it says an answer is, and whether it spoke. */
struct spoken {
    double probability, best, best_evidence;
    bool spoke, helped;
    int64_t tokens, took_us;
};

static enum status speak_question(struct eval *v, const struct chat_question *q, struct spoken *out)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(v->ctx, 0);
    const struct exam *c = &v->all.v[q->asker];
    const struct recall_in in = {.pool = pool_of(v, q->pool),
                                 .question = q->text,
                                 .asked = q->pool == q->asker
                                              ? asked_at(c, &c->questions[q->question])
                                              : v->all.v[q->pool].until,
                                 .gate = true,
                                 .limit = v->dump ? DUMP_OTHER : 0,
                                 .only.turns = true};
    struct recall_out found;
    TRY(ctx_pass(v->ctx, &ctx, engine_recall(&ctx, v->e, &in, &found)));
    if (q->pool == (q->asker + 1) % v->all.n && q->pool != q->asker) /* one is enough */
        dump_rows(v, q->asker, q->question, false, &c->questions[q->question], &found);
    dump_gate(v, q, &found);
    *out = (struct spoken){.probability = found.probability,
                           .tokens = found.tokens,
                           .took_us = found.took_us};
    for (size_t i = 0; i < found.n; i++) {
        const struct recalled *r = &found.v[i];
        bool evidence = is_evidence(c, &c->questions[q->question], r);
        out->best = fmax(out->best, r->score);
        out->best_evidence = evidence ? fmax(out->best_evidence, r->score) : out->best_evidence;
        out->spoke |= r->state == LINE_INJECTED;
        out->helped |= r->state == LINE_INJECTED && evidence;
    }
    return OK;
}

static void count_own(struct eval_report *r, const struct spoken *s)
{
    for (size_t i = 0; i < EVAL_LEVELS; i++) {
        bool is_silent = s->probability < levels[i];
        r->silence[i].own_silent += is_silent;
        r->silence[i].own_missed +=
            is_silent || s->best_evidence < GATE_BESIDE * fmin(levels[i], s->best);
    }
    r->as_set.own_silent += !s->spoke;
    r->as_set.own_missed += !s->helped;
    r->tokens += s->tokens;
    r->answers_with_tokens += s->spoke;
}

/* Its own pool must speak. The first recall of a question is the one that is timed, before any
 * cache has seen it. */
static enum status ask_own(struct eval *v, size_t c, size_t question)
{
    struct spoken s;
    const struct chat_question q = {c, question, c, false, v->all.v[c].questions[question].text};
    TRY(speak_question(v, &q, &s));
    count_own(&v->report, &s);
    v->took[v->n_took++] = s.took_us;
    each_num(&v->each, "kept", s.spoke);
    each_num(&v->each, "helped", s.helped);
    each_num(&v->each, "tokens", (double)s.tokens);
    each_num(&v->each, "took_us", (double)s.took_us);
    return OK;
}

/* Another conversation's pool, where nothing belongs to the question, must stay silent. Only the
 * next one is counted. */
static enum status ask_elsewhere(struct eval *v, size_t c, size_t question, size_t pool,
                                 bool is_counted)
{
    struct eval_report *r = &v->report;
    const struct exam *from = &v->all.v[c], *to = &v->all.v[pool];
    for (int renamed = 0; renamed < 2; renamed++) {
        struct spoken s;
        str text = from->questions[question].text;
        text = renamed ? eval_renamed(&v->ctx->arena, text, from, to) : text;
        const struct chat_question q = {c, question, pool, renamed, text};
        TRY(speak_question(v, &q, &s));
        for (size_t i = 0; is_counted && i < EVAL_LEVELS; i++)
            r->silence[i].other[renamed] += s.probability >= levels[i];
        r->as_set.other[renamed] += is_counted && s.spoke;
        if (is_counted)
            each_num(&v->each, renamed ? "renamed" : "foreign", s.spoke);
    }
    r->other_asked += is_counted;
    return OK;
}

/* --- the whole --- */

static enum status load_turns(struct eval *v)
{
    struct import_report in = {0};
    int64_t began = clock_mono_us();
    for (size_t i = 0; i < v->all.n && !v->report.in->is_loaded; i++)
        TRY(ingest_conversation(v->ctx, v->e, pool_of(v, i), &v->all.v[i], false, &in));
    TRY(store_flush(v->ctx, v->e->store));
    v->report.ingest_seconds = (double)(clock_mono_us() - began) / 1e6;
    v->report.turns = in.messages;
    v->report.conversations = (int64_t)v->all.n;
    return OK;
}

/* Asked as a chat first, which is timed, and then ranked. A dump has the rows of a question's own
 * pool in front of the others, and more of others. */
static enum status ask_all(struct eval *v)
{
    size_t questions = 0, others = v->report.in->one_pool ? 0 : v->dump ? DUMP_POOLS : 1;
    for (size_t c = 0; c < v->all.n; c++)
        questions += v->all.v[c].n_questions;
    v->took = NEW_N(&v->ctx->arena, int64_t, questions + 1);
    for (size_t c = 0; c < v->all.n; c++) {
        v->report.left_out += (int64_t)v->all.v[c].left_out;
        for (size_t q = 0; q < v->all.v[c].n_questions; q++) {
            const struct exam_question *asked = &v->all.v[c].questions[q];
            if (!gold_of(asked, v->report.in->by_session)) {
                v->report.left_out++;
                continue;
            }
            each_begin(&v->each, &v->all.v[c], asked);
            TRY(ask_own(v, c, q));
            TRY(rank_question(v, c, q));
            for (size_t i = 1; i < v->all.n && i <= others; i++)
                TRY(ask_elsewhere(v, c, q, (c + i) % v->all.n, i == 1));
            each_end(&v->each);
        }
    }
    v->report.p50_us = eval_percentile(v->took, v->n_took, 50);
    v->report.p99_us = eval_percentile(v->took, v->n_took, 99);
    return OK;
}

static void close_files(struct eval *v)
{
    each_close(&v->each);
    if (v->dump)
        fclose(v->dump);
    if (v->gate_dump)
        fclose(v->gate_dump);
}

static enum status open_one_dump(struct eval *v, str path, const char *columns,
                                 const char *const *signals, FILE **out)
{
    *out = fopen(str_c(&v->ctx->arena, path), "we");
    if (!*out)
        return fail(v->ctx, STORAGE, S_FMT ": %s", S_ARG(path), strerror(errno));
    fputs(columns, *out);
    for (size_t s = 0; signals[s]; s++)
        fprintf(*out, "\t%s", signals[s]);
    fputc('\n', *out);
    return OK;
}

/* The signals of each candidate, and beside it in FILE.gate what the gate saw. */
static enum status open_dump(struct eval *v, str path)
{
    if (!path.n)
        return OK;
    TRY(open_one_dump(v, path,
                      "conversation\tquestion\town\tcategory\tgold\tevidence\tsession\tright",
                      signal_names, &v->dump));
    return open_one_dump(v, str_printf(&v->ctx->arena, S_FMT ".gate", S_ARG(path)),
                         "conversation\tquestion\tpool\trenamed\tdecided", gate_signal_names,
                         &v->gate_dump);
}

static enum status measure_all(struct eval *v, bool as_json, struct buf *out)
{
    const struct eval_in *in = v->report.in;
    TRY(load_turns(v));
    TRY(eval_embed(v->ctx, v->e, &v->report));
    if (in->follow_ups)
        return eval_follow_ups(v->ctx, v->e, v->all.v, v->all.n, as_json, out);
    for (size_t i = 0; i < EVAL_LEVELS; i++)
        v->report.silence[i].least = levels[i];
    v->report.as_set.least = v->e->settings->gate_threshold;
    TRY(ask_all(v));
    TRY(each_finish(v->ctx, &v->each));
    eval_write(out, &v->report, as_json);
    return OK;
}

/* Without any k the usual ranks, so that reports are comparable. */
enum status engine_eval(struct ctx *ctx, struct engine *e, const struct eval_in *in, bool as_json,
                        struct buf *out)
{
    static const int64_t usual_k[] = {5, 10, 20};
    struct eval_in how = *in;
    if (!how.n_k) {
        how.k = usual_k;
        how.n_k = sizeof usual_k / sizeof *usual_k;
    }
    assert(how.n_k <= EVAL_K_MAX);
    CLEANUP(unmap_file) struct mapped file = {S("")};
    CLEANUP(close_files) struct eval v = {.ctx = ctx, .e = e, .report = {.in = &how}};
    TRY(eval_begin(ctx, e, in, &file, &v.all));
    TRY(open_dump(&v, in->dump));
    TRY(each_open(ctx, in, "ranking", &v.each));
    return measure_all(&v, as_json, out);
}
