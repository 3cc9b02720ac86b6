/* prompt.c - measures what enters the prompt of a chat: evidence, tokens, and what is foreign. */
#include "ext/eval/prompt.h"

#include <math.h>

#include "base/clock.h"
#include "base/id.h"
#include "ext/eval/each.h"
#include "ext/import/import.h"
#include "ext/import/ingest.h"

/* --- chats --- */

/* Ids that the messages of a conversation got in the store: ids[session][message]. */
struct led {
    str **ids;
    bool is_imported;
};

enum { SECOND_MS = 1000, MESSAGES_MAX = 100000 };

/* One session: what the client holds so far, and which message of the file each line is. */
struct chat {
    struct ctx *ctx;
    struct engine *e;
    struct pool_ref pool;
    const struct exam_session *s;
    str *ids;
    struct said *said;
    size_t *of;
    size_t n;
};

/* An empty message is none: clients do not send it. */
static void hold_line(struct chat *t, size_t at, str text)
{
    if (!str_trim(text).n)
        return;
    t->of[t->n] = at;
    t->said[t->n++] = (struct said){.role = t->s->messages[at].role, .text = text};
}

/* What the assistant says from message at on, up to the user's next one: one answer, since an
 * assistant answers once. */
static str answer_at(struct chat *t, size_t at, size_t *end)
{
    str text = S("");
    for (*end = at; *end < t->s->n && !str_is(t->s->messages[*end].role, "user"); ++*end) {
        str more = t->s->messages[*end].text;
        text = text.n ? str_printf(&t->ctx->arena, S_FMT "\n\n" S_FMT, S_ARG(text), S_ARG(more))
                      : more;
    }
    return text;
}

/* The user has spoken; the model's answer is the text, "" when the chat ended there. */
static enum status take_turn(struct chat *t, str answer, size_t answer_at, size_t answer_end)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(t->ctx, 0);
    str no = str_printf(&own.arena, "%zu", answer_at);
    const struct turn_in in = {.pool = t->pool,
                               .said = t->said,
                               .n_said = t->n,
                               .model = S("scripted"),
                               .answer_id = ID_OF(&t->ctx->arena, t->s->id, S("answer"), no)};
    clock_pretend(
        t->s->messages[0].created ? t->s->messages[0].created + (int64_t)answer_at * SECOND_MS : 0);
    struct turn *turn = engine_begin_turn(&own, t->e, &in);
    const struct turn_out *out = turn_out_of(turn);
    assert(out->ids.n <= t->n);
    size_t before = t->n - out->ids.n; /* of a very long chat only the last messages count */
    for (size_t i = before; i < t->n; i++)
        t->ids[t->of[i]] = str_dup(&t->ctx->arena, out->ids.v[i - before]);
    for (size_t i = answer_at; i < answer_end; i++)
        t->ids[i] = in.answer_id;
    TRY(ctx_pass(t->ctx, &own, engine_end_turn(&own, t->e, turn, answer)));
    TRY(store_settle(t->ctx, t->e->store));
    return eval_embed(t->ctx, t->e, &(struct eval_report){0});
}

static enum status lead_session(struct chat *t)
{
    for (size_t i = 0; i < t->s->n;) {
        size_t end = i;
        if (str_is(t->s->messages[i].role, "user")) {
            hold_line(t, i, t->s->messages[i].text);
            i++;
            if (i < t->s->n && str_is(t->s->messages[i].role, "user"))
                continue;
        }
        str answer = answer_at(t, i, &end);
        if (t->n)
            TRY(take_turn(t, answer, i, end));
        if (end > i)
            hold_line(t, i, answer);
        i = end;
    }
    return OK;
}

/* An import keeps the refs, so the ids are looked up by them. */
static enum status find_ids(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct exam_session *s, str *ids)
{
    struct message *v;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool, s->id, 0, MESSAGES_MAX, &v, &n));
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < n; k++)
            if (s->messages[i].ref.n && str_eq(v[k].ref, s->messages[i].ref))
                ids[i] = v[k].id;
    return OK;
}

/*
 * A chat of a user with an assistant is led turn by turn through the code that a chat takes: memory
 * is recalled, a scripted model gives the assistant's text, and the turn is kept with its facts. A
 * conversation of two people with names is imported with its facts, as no chat could hold it.
 * Changes what the clock says.
 */
static enum status chats_lead(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              const struct exam *c, struct led *out)
{
    struct arena *a = &ctx->arena;
    struct import_report report = {0};
    *out = (struct led){.ids = NEW_N(a, str *, c->n_sessions + 1),
                        .is_imported = c->speakers[0].n || c->speakers[1].n};
    clock_pretend(c->until);
    if (out->is_imported) {
        TRY(ingest_conversation(ctx, e, pool, c, true, &report));
        TRY(store_flush(ctx, e->store));
    }
    for (size_t i = 0; i < c->n_sessions; i++) {
        const struct exam_session *s = &c->sessions[i];
        struct chat t = {.ctx = ctx, .e = e, .pool = pool, .s = s};
        t.ids = out->ids[i] = NEW_N(a, str, s->n + 1);
        t.said = NEW_N(a, struct said, s->n + 1);
        t.of = NEW_N(a, size_t, s->n + 1);
        TRY(out->is_imported ? find_ids(ctx, e, pool, s, t.ids) : lead_session(&t));
    }
    return store_flush(ctx, e->store);
}

/*
 * The conversations are led first. Then each question begins a chat of its own, and what
 * engine_preview gives is what its model would be sent: the question is rewritten, memory recalled,
 * gated, cut to the budget and rendered by the code of a chat. It is asked three times: of its own
 * conversation, of the next one, where nothing fits, and of that with the names of its people.
 *
 * Evidence counts as given when the block has a line of its message, or of a memory that was made
 * of it. How much of the answer's words the block holds says whether it shows the right passages.
 */
enum { HOUR_MS = 3600000, PATIENT_MS = 60000, HALVINGS = 11 };

#define THRESHOLD_LEAST 0.001 /* where halving begins */

static const double levels[PROMPT_LEVELS] = {0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15,
                                             0.2,   0.3,  0.4,  0.5,  0.6,  0.7,   0.8, 0.9};

struct prompt {
    struct ctx *ctx;
    struct engine *e;
    const struct settings *before;
    struct settings settings; /* a copy, in which the threshold is moved */
    struct exams exams;
    struct led *led;
    struct each each;
    struct prompt_report report;
    int64_t *tokens; /* of each block */
    size_t n_tokens;
    struct one_asked {
        size_t c;
        const struct exam_question *q;
    } * asked; /* the questions with evidence */
    size_t n_asked;
};

static struct pool_ref pool_of(const struct exam *c)
{
    return (struct pool_ref){S("eval"), c->id};
}

/* --- one question --- */

static str id_of_ref(const struct exam *c, const struct led *led, str ref)
{
    for (size_t s = 0; s < c->n_sessions; s++)
        for (size_t i = 0; i < c->sessions[s].n; i++)
            if (str_eq(c->sessions[s].messages[i].ref, ref))
                return led->ids[s][i];
    return S("");
}

static bool is_given(const struct receipt *r, str id)
{
    return id.n && SOME(i, r->n,
                        r->lines[i].injected &&
                            (str_eq(r->lines[i].id, id) || str_eq(r->lines[i].source, id)));
}

static enum status ask_question(struct prompt *p, size_t asker, const struct exam_question *q,
                                size_t pool, str text, struct given_sum *out)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(p->ctx, 0);
    const struct exam *of = &p->exams.v[asker], *c = &p->exams.v[pool];
    const struct said said = {.role = S("user"), .text = text};
    const struct preview unchanged = {0};
    const struct turn_in in = {.pool = pool_of(c),
                               .said = &said,
                               .n_said = 1,
                               .model = S("scripted"),
                               .preview = &unchanged};
    struct receipt r;
    int64_t asked = pool == asker ? q->asked : 0, after = c->until ? c->until + HOUR_MS : 0;
    clock_pretend(asked > after ? asked : after);
    engine_preview(&ctx, p->e, &in, &r);
    if (str_is(r.decision, "failed"))
        return fail(p->ctx, STORAGE, "recall failed: " S_FMT, S_ARG(r.reason));
    /* Standing instructions are given with whatever is asked: they say nothing of the question. */
    bool spoke = r.block.n > 0 && !str_starts(r.reason, S(ONLY_STANDING));
    size_t found = 0;
    for (size_t i = 0; i < q->evidence.n && pool == asker; i++)
        found += is_given(&r, id_of_ref(of, &p->led[asker], q->evidence.v[i]));
    double words = pool == asker ? answer_words_share(&ctx.arena, of, q, r.block) : -1;
    *out = (struct given_sum){.n = 1,
                              .kept = spoke,
                              .any = found > 0,
                              .frac = (double)found / (double)q->evidence.n,
                              .tokens = (double)r.tokens,
                              .worded = words >= 0,
                              .words = fmax(words, 0)};
    return OK;
}

/* Asked three times, or of its own conversation alone, with the threshold as it is set now. */
static enum status ask_all(struct prompt *p, size_t c, const struct exam_question *q,
                           bool is_own_alone, struct given_sum *out)
{
    struct given_sum other;
    size_t next = (c + 1) % p->exams.n;
    const struct exam *from = &p->exams.v[c], *to = &p->exams.v[next];
    TRY(ask_question(p, c, q, c, q->text, out));
    if (is_own_alone || next == c)
        return OK;
    TRY(ask_question(p, c, q, next, q->text, &other));
    out->foreign_asked = 1;
    out->foreign = other.kept;
    /* Renamed where both are of people with names. */
    if (!from->speakers[0].n || !to->speakers[0].n || (from->speakers[1].n && !to->speakers[1].n))
        return OK;
    str renamed = eval_renamed(&p->ctx->arena, q->text, from, to);
    TRY(ask_question(p, c, q, next, renamed, &other));
    out->renamed_asked = 1;
    out->renamed = other.kept;
    return OK;
}

/* --- all of them --- */

static void write_each(struct each *each, const struct given_sum *s)
{
    each_num(each, "kept", s->kept);
    each_num(each, "any", s->any);
    each_num(each, "frac", s->frac);
    each_num(each, "tokens", s->tokens);
    if (s->worded)
        each_num(each, "answer_words", s->words);
    if (s->foreign_asked)
        each_num(each, "foreign", s->foreign);
    if (s->renamed_asked)
        each_num(each, "renamed", s->renamed);
}

static enum status measure_level(struct prompt *p, double least, bool is_own_alone,
                                 struct given_sum *out)
{
    *out = (struct given_sum){0};
    p->settings.gate_threshold = least;
    for (size_t i = 0; i < p->n_asked; i++) {
        struct given_sum one;
        TRY(ask_all(p, p->asked[i].c, p->asked[i].q, is_own_alone, &one));
        eval_add(out, &one, sizeof one);
    }
    return OK;
}

static enum status measure_all(struct prompt *p)
{
    struct prompt_report *r = &p->report;
    for (size_t i = 0; i < p->n_asked; i++) {
        const struct exam_question *q = p->asked[i].q;
        struct given_sum one;
        TRY(ask_all(p, p->asked[i].c, q, false, &one));
        eval_add(&r->all, &one, sizeof one);
        eval_add(&r->sums[eval_kind_place(&r->kinds, q)], &one, sizeof one);
        if (one.kept)
            p->tokens[p->n_tokens++] = (int64_t)one.tokens;
        each_begin(&p->each, &p->exams.v[p->asked[i].c], q);
        write_each(&p->each, &one);
        each_end(&p->each);
    }
    r->tokens_p50 = eval_percentile(p->tokens, p->n_tokens, 50);
    r->tokens_p95 = eval_percentile(p->tokens, p->n_tokens, 95);
    for (size_t i = 0; i < r->n_levels; i++)
        TRY(measure_level(p, r->levels[i], false, &r->curve[i]));
    return OK;
}

/* The highest threshold that keeps enough, by halving the ratio of two: what is kept needs each
 * question only once. */
static enum status find_kept(struct prompt *p)
{
    struct prompt_report *r = &p->report;
    double low = THRESHOLD_LEAST, high = 1;
    struct given_sum sum;
    TRY(measure_level(p, low, true, &sum));
    if (eval_percent(sum.kept, sum.n) < KEPT_AT_LEAST)
        return OK;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high);
        TRY(measure_level(p, middle, true, &sum));
        *(eval_percent(sum.kept, sum.n) < KEPT_AT_LEAST ? &high : &low) = middle;
    }
    r->threshold_kept = low;
    return measure_level(p, low, false, &r->at_kept);
}

static void list_questions(struct prompt *p)
{
    size_t n = 0;
    for (size_t c = 0; c < p->exams.n; c++)
        n += p->exams.v[c].n_questions;
    p->tokens = NEW_N(&p->ctx->arena, int64_t, n + 1);
    p->asked = NEW_N(&p->ctx->arena, struct one_asked, n + 1);
    for (size_t c = 0; c < p->exams.n; c++) {
        const struct exam *exam = &p->exams.v[c];
        for (size_t i = 0; i < exam->n_questions; i++)
            if (exam->questions[i].evidence.n)
                p->asked[p->n_asked++] = (struct one_asked){c, &exam->questions[i]};
        p->report.left_out += (int64_t)exam->left_out;
    }
    p->report.left_out += (int64_t)(n - p->n_asked);
}

static enum status lead_all(struct prompt *p)
{
    p->led = NEW_N(&p->ctx->arena, struct led, p->exams.n + 1);
    for (size_t c = 0; c < p->exams.n; c++) {
        const struct exam *exam = &p->exams.v[c];
        TRY(chats_lead(p->ctx, p->e, pool_of(exam), exam, &p->led[c]));
        p->report.led += !p->led[c].is_imported;
        for (size_t s = 0; s < exam->n_sessions; s++)
            p->report.messages += (int64_t)exam->sessions[s].n;
    }
    p->report.conversations = (int64_t)p->exams.n;
    return OK;
}

static void end_prompt(struct prompt *p)
{
    clock_pretend(0);
    p->e->settings = p->before;
    each_close(&p->each);
}

/* The deadline of a chat would make the figures those of a busy machine. */
enum status engine_eval_prompt(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                               bool as_json, struct buf *out)
{
    CLEANUP(unmap_file) struct mapped file = {S("")};
    CLEANUP(end_prompt)
    struct prompt p = {.ctx = ctx, .e = e, .before = e->settings, .settings = *e->settings};
    p.settings.recall_deadline_ms = PATIENT_MS;
    e->settings = &p.settings;
    p.report.threshold = p.settings.gate_threshold;
    TRY(eval_begin(ctx, e, in, &file, &p.exams));
    for (; in->curve && p.report.n_levels < PROMPT_LEVELS; p.report.n_levels++)
        p.report.levels[p.report.n_levels] = levels[p.report.n_levels];
    TRY(each_open(ctx, in, "prompt", &p.each));
    list_questions(&p);
    TRY(lead_all(&p));
    TRY(eval_embed(ctx, e, &p.report.vectors));
    TRY(measure_all(&p));
    if (in->curve || in->kept)
        TRY(find_kept(&p));
    TRY(each_finish(ctx, &p.each));
    prompt_write(out, &p.report, as_json);
    return OK;
}
