/* eval.c - measures recall on LoCoMo: ranking, silence, speed. */
#include "engine/eval/eval.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "engine/eval/followups.h"
#include "engine/gate/evidence.h"
#include "engine/import/ingest.h"
#include "engine/recall/features.h"

/*
 * Two questions are asked of the same data. Ranking: is the evidence among the first k (without a
 * gate)? Speaking: would a chat have been given it, and would a chat of somebody else, in whose
 * memories the answer cannot be, have been given nothing? Silence is easy to reach for one that
 * never speaks, so both are always reported.
 */
enum { SESSION_RESULTS = 100, DUMP_RESULTS = 200, NDCG_AT = 10, DUMP_OTHER = 20, DUMP_POOLS = 3 };

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
    struct locomo *all;
    size_t n;
    FILE *dump, *gate_dump;
    int64_t *took; /* µs of each question as a chat asks it */
    size_t n_took;
};

static struct pool_ref pool_of(const struct eval *v, size_t conversation)
{
    str space = v->report.in->one_pool ? S("eval") : v->all[conversation].id;
    return (struct pool_ref){S("eval"), space};
}

/* --- one answer against the evidence --- */

/* Refs are unique in a conversation; in a shared pool its name begins the session's. */
static bool is_of(const struct locomo *c, const struct recalled *r)
{
    return str_starts(r->message.session, c->id) && r->message.session.n > c->id.n &&
           r->message.session.p[c->id.n] == '/';
}

static bool is_evidence(const struct locomo *c, const struct locomo_question *q,
                        const struct recalled *r)
{
    for (size_t i = 0; i < q->evidence.n && is_of(c, r); i++)
        if (str_eq(q->evidence.v[i], r->message.ref))
            return true;
    return false;
}

/* "D7" of "D7:13". */
static str session_of(str ref)
{
    return str_cut(&ref, ':');
}

static size_t gold_of(const struct locomo_question *q, bool by_session)
{
    size_t n = 0;
    for (size_t i = 0; i < q->evidence.n; i++) {
        bool again = false;
        for (size_t k = 0; k < i && by_session; k++)
            again |= str_eq(session_of(q->evidence.v[k]), session_of(q->evidence.v[i]));
        n += !again;
    }
    return n;
}

/* With by_session a session is found at its first turn, and its other turns do not count again. */
static bool same_session(const struct recalled *a, const struct recalled *b)
{
    return str_eq(a->message.session, b->message.session);
}

static bool has_evidence(const struct locomo *c, const struct locomo_question *q,
                         const struct recalled *r, bool by_session)
{
    if (!by_session)
        return is_evidence(c, q, r);
    for (size_t i = 0; i < q->evidence.n && is_of(c, r); i++)
        if (str_eq(session_of(q->evidence.v[i]), session_of(r->message.ref)))
            return true;
    return false;
}

/* The ranks of the answer as hits and misses; a session counts at its first turn. */
static size_t hits_of(struct eval *v, const struct locomo *c, const struct locomo_question *q,
                      const struct recall_out *found, bool *hit)
{
    bool by_session = v->report.in->by_session;
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++) {
        bool again = false;
        for (size_t k = 0; k < i && by_session; k++)
            again |= same_session(&found->v[k], &found->v[i]);
        if (!again)
            hit[n++] = has_evidence(c, q, &found->v[i], by_session);
    }
    return n;
}

/* nDCG with gains of 0 and 1; ideal is the order with all evidence in front. */
static void tally_hits(const struct eval_in *in, struct tally *t, const bool *hit, size_t n,
                       size_t gold)
{
    double gain = 0, ideal = 0, first = 0;
    assert(gold > 0); /* questions without evidence were left out */
    t->n++;
    for (size_t k = 0; k < in->n_k; k++) {
        size_t got = 0;
        for (size_t i = 0; i < n && i < (size_t)in->k[k]; i++)
            got += hit[i];
        t->any[k] += got > 0;
        t->all[k] += got == gold;
        t->frac[k] += (double)got / (double)gold;
    }
    for (size_t i = 0; i < n; i++) {
        gain += hit[i] && i < NDCG_AT ? 1 / log2((double)i + 2) : 0;
        first = !(first > 0) && hit[i] ? 1 / ((double)i + 1) : first;
    }
    for (size_t i = 0; i < gold && i < NDCG_AT; i++)
        ideal += 1 / log2((double)i + 2);
    t->ndcg += gain / ideal;
    t->mrr += first;
}

/* --- asking --- */

/* A question as a chat asks it, and where. */
struct chat_question {
    size_t asker, question, pool;
    bool is_renamed; /* with the names of the people there */
    str text;
};

static void dump_rows(struct eval *v, size_t conversation, size_t question, bool own,
                      const struct locomo_question *q, const struct recall_out *found)
{
    const struct locomo *c = &v->all[conversation];
    for (size_t i = 0; v->dump && i < found->n && (own || i < DUMP_OTHER); i++) {
        fprintf(v->dump, "%zu\t%zu\t%d\t%lld\t%zu\t%d", conversation, question, own,
                (long long)q->category, q->evidence.n, own && is_evidence(c, q, &found->v[i]));
        for (size_t s = 0; signal_names[s]; s++)
            fprintf(v->dump, "\t%.6g", found->v[i].signals[s]);
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

/* As many as the measures need, or more for a dump. */
static size_t most_results(const struct eval *v)
{
    size_t most = v->dump ? DUMP_RESULTS : v->report.in->by_session ? SESSION_RESULTS : 0;
    for (size_t k = 0; k < v->report.in->n_k; k++)
        most = most < (size_t)v->report.in->k[k] ? (size_t)v->report.in->k[k] : most;
    return most;
}

/* The ranking, without a gate. */
static enum status rank_question(struct eval *v, size_t conversation, size_t question)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(v->ctx, 0);
    const struct locomo *c = &v->all[conversation];
    const struct locomo_question *q = &c->questions[question];
    const struct recall_in in = {.pool = pool_of(v, conversation),
                                 .question = q->text,
                                 .asked = c->until,
                                 .limit = most_results(v),
                                 .budget_tokens = -1,
                                 .turns_only = true};
    struct recall_out found;
    if (engine_recall(&ctx, v->e, &in, &found) != OK)
        return fail(v->ctx, ctx.failed, "%s", ctx.why);
    dump_rows(v, conversation, question, true, q, &found);
    bool hit[DUMP_RESULTS + 1];
    assert(found.n <= DUMP_RESULTS);
    size_t n = hits_of(v, c, q, &found, hit), gold = gold_of(q, v->report.in->by_session);
    size_t category = q->category > 0 && q->category < EVAL_CATEGORIES ? (size_t)q->category : 0;
    tally_hits(v->report.in, &v->report.overall, hit, n, gold);
    tally_hits(v->report.in, &v->report.by_category[category], hit, n, gold);
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
    const struct locomo *c = &v->all[q->asker];
    const struct recall_in in = {.pool = pool_of(v, q->pool),
                                 .question = q->text,
                                 .asked = v->all[q->pool].until,
                                 .gate = true,
                                 .limit = v->dump ? DUMP_OTHER : 0,
                                 .turns_only = true};
    struct recall_out found;
    if (engine_recall(&ctx, v->e, &in, &found) != OK)
        return fail(v->ctx, ctx.failed, "%s", ctx.why);
    if (q->pool == (q->asker + 1) % v->n && q->pool != q->asker) /* one is enough */
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
        out->spoke |= r->injected;
        out->helped |= r->injected && evidence;
    }
    return OK;
}

/* The question with each person's name replaced by that of a person of the other conversation. */
static str renamed_question(struct arena *a, str text, const struct locomo *from,
                            const struct locomo *to)
{
    struct buf b = buf_make(a, 1 << 16);
    for (size_t i = 0; i < text.n;) {
        str rest = str_sub(text, i, text.n);
        size_t who = str_starts(rest, from->speakers[0])   ? 0
                     : str_starts(rest, from->speakers[1]) ? 1
                                                           : 2;
        if (who < 2 && from->speakers[who].n) {
            buf_add(&b, to->speakers[who]);
            i += from->speakers[who].n;
        } else {
            buf_byte(&b, text.p[i++]);
        }
    }
    return buf_str(&b);
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

static void count_other(struct eval_report *r, const struct spoken *s, bool is_renamed)
{
    for (size_t i = 0; i < EVAL_LEVELS; i++) {
        r->silence[i].other_spoken += !is_renamed && s->probability >= levels[i];
        r->silence[i].other_renamed += is_renamed && s->probability >= levels[i];
    }
    r->as_set.other_spoken += !is_renamed && s->spoke;
    r->as_set.other_renamed += is_renamed && s->spoke;
}

/* Another conversation's pool, where nothing belongs to the question, must stay silent. Only the
 * next one is counted. */
static enum status ask_elsewhere(struct eval *v, struct chat_question q, bool is_counted)
{
    struct spoken s;
    const struct locomo *from = &v->all[q.asker], *to = &v->all[q.pool];
    TRY(speak_question(v, &q, &s));
    if (is_counted)
        count_other(&v->report, &s, false);
    q.text = renamed_question(&v->ctx->arena, q.text, from, to);
    q.is_renamed = true;
    TRY(speak_question(v, &q, &s));
    if (is_counted)
        count_other(&v->report, &s, true);
    v->report.other_asked += is_counted;
    return OK;
}

/* Its own pool must speak. A dump has more of others. */
static enum status ask_as_chat(struct eval *v, size_t c, size_t question)
{
    struct spoken s;
    struct chat_question q = {c, question, c, false, v->all[c].questions[question].text};
    TRY(speak_question(v, &q, &s));
    count_own(&v->report, &s);
    v->took[v->n_took++] = s.took_us;
    size_t others = v->dump ? DUMP_POOLS : 1;
    for (size_t i = 1; i < v->n && i <= others && !v->report.in->one_pool; i++) {
        q.pool = (c + i) % v->n;
        TRY(ask_elsewhere(v, q, i == 1));
    }
    return OK;
}

/* --- the whole --- */

/* Every turn gets its vector before the first question, as the background would do it. */
static enum status embed_all(struct eval *v)
{
    struct eval_report *r = &v->report;
    int64_t began = clock_mono_us();
    struct embed_status source;
    embed_status(v->ctx, v->e->embed, &source);
    r->without = source.reason;
    if (source.source == EMBED_NONE)
        return OK;
    for (bool more = true; more;)
        TRY(engine_embed_some(v->ctx, v->e, &more));
    r->vectors = embed_signature(v->ctx, v->e->embed);
    r->embed_seconds = (double)(clock_mono_us() - began) / 1e6;
    return OK;
}

static enum status load_turns(struct eval *v)
{
    struct ingest_report in = {0};
    int64_t began = clock_mono_us();
    for (size_t i = 0; i < v->n; i++)
        TRY(ingest_conversation(v->ctx, v->e, pool_of(v, i), &v->all[i], false, &in));
    TRY(store_flush(v->ctx, v->e->store));
    v->report.ingest_seconds = (double)(clock_mono_us() - began) / 1e6;
    v->report.turns = in.messages;
    v->report.conversations = (int64_t)v->n;
    return OK;
}

static int compare_durations(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ranked first and then asked as a chat: the times are those of warm caches. */
static enum status ask_all(struct eval *v)
{
    size_t questions = 0;
    for (size_t c = 0; c < v->n; c++)
        questions += v->all[c].n_questions;
    v->took = NEW_N(&v->ctx->arena, int64_t, questions + 1);
    for (size_t c = 0; c < v->n; c++) {
        v->report.left_out += (int64_t)v->all[c].left_out;
        for (size_t q = 0; q < v->all[c].n_questions; q++) {
            TRY(rank_question(v, c, q));
            TRY(ask_as_chat(v, c, q));
        }
    }
    qsort(v->took, v->n_took, sizeof *v->took, compare_durations);
    if (v->n_took) {
        v->report.p50_us = v->took[v->n_took / 2];
        v->report.p99_us = v->took[v->n_took * 99 / 100];
    }
    return OK;
}

static void close_dump(struct eval *v)
{
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
    TRY(open_one_dump(v, path, "conversation\tquestion\town\tcategory\tgold\tevidence",
                      signal_names, &v->dump));
    return open_one_dump(v, str_printf(&v->ctx->arena, S_FMT ".gate", S_ARG(path)),
                         "conversation\tquestion\tpool\trenamed\tdecided", gate_signal_names,
                         &v->gate_dump);
}

/* Only in an empty database, since it fills it. k must be 1 to SESSION_RESULTS. */
enum status engine_eval(struct ctx *ctx, struct engine *e, const struct eval_in *in, bool as_json,
                        struct buf *out)
{
    static const int64_t usual_k[] = {5, 10, 20};
    struct eval_in how = *in;
    if (!how.n_k) {
        how.k = usual_k;
        how.n_k = sizeof usual_k / sizeof *usual_k;
    }
    for (size_t k = 0; k < how.n_k; k++)
        if (how.n_k > EVAL_K_MAX || how.k[k] < 1 || how.k[k] > SESSION_RESULTS)
            return fail_field(ctx, "k", "must be up to %d numbers of 1 to %d", EVAL_K_MAX,
                              SESSION_RESULTS);
    struct store_stats before;
    TRY(store_stats(ctx, e->store, &before));
    if (before.messages || before.memories)
        return fail(ctx, CONFLICT, "the database must be empty");
    CLEANUP(unmap_file) struct mapped file = {S("")};
    CLEANUP(close_dump) struct eval v = {.ctx = ctx, .e = e, .report = {.in = &how}};
    TRY(map_file(ctx, in->file, &file));
    TRY(locomo_read(ctx, file.text, &v.all, &v.n));
    for (size_t c = 0; in->sessions > 0 && c < v.n; c++)
        locomo_cut(&v.all[c], (size_t)in->sessions);
    TRY(open_dump(&v, in->dump));
    TRY(load_turns(&v));
    TRY(embed_all(&v));
    if (in->follow_ups)
        return eval_follow_ups(ctx, e, v.all, v.n, as_json, out);
    for (size_t i = 0; i < EVAL_LEVELS; i++)
        v.report.silence[i].least = levels[i];
    v.report.as_set.least = e->settings->gate_threshold;
    TRY(ask_all(&v));
    eval_write(out, &v.report, as_json);
    return OK;
}
