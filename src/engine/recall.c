/* recall.c - from a question to a ranked list of messages and memories, with the reasons. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "core/tokens.h"
#include "engine/engine_int.h"
#include "engine/excerpt.h"
#include "engine/gate.h"
#include "engine/known.h"
#include "engine/query.h"
#include "engine/rank.h"
#include "engine/scan.h"
#include "engine/signals.h"

/* Documents read from the index and looked at closely, times the limit compared with each other;
 * bytes of a text that are shown and compared. */
enum {
    HITS_MAX = 20000,
    CANDIDATES = 100,
    DIVERSE = 3,
    QUESTION_MIN = 3,
    TELLING = 8,
    CANDIDATES_OF_TYPE = 2000,
    SHOWN_MAX = 600,
    COMPARED = 2000
};

/* A phrase that asks for memory ("do you remember") lowers the least score to the first share, one
 * that only speaks of the user ("my garden") to the second. */
static const double asked_for = 0.05, of_user = 0.2;

struct finder {
    struct ctx *ctx;
    struct engine *e;
    const struct recall_in *in;
    struct query query;
    struct word_hits hits;
    float weights[QUERY_WORDS_MAX];
    struct scan scan;
    struct asked_of asked;
    struct message *messages; /* those read, in the order of docs */
    doc_id *docs;
    size_t n_messages;
    struct memory *memories; /* in the order of the candidates */
    struct recalled *found;
    const struct candidate **of; /* the candidate of each found one */
    size_t n;
};

static enum status late(struct ctx *ctx)
{
    return ctx_has_time(ctx) ? OK : fail(ctx, TIMED_OUT, "recall took longer than it may");
}

/* Memories have the greatest numbers, so they stand at the end. */
static void leave_memories_out(struct word_hits *hits)
{
    while (hits->n && doc_is_memory(hits->v[hits->n - 1].doc))
        hits->n--;
}

static void leave_messages_out(struct word_hits *hits)
{
    while (hits->n && !doc_is_memory(hits->v->doc)) {
        hits->v++;
        hits->n--;
    }
}

static enum status search(struct finder *f)
{
    struct query *q = &f->query;
    TRY(store_search_words(f->ctx, f->e->store, f->in->pool, q->stems, q->n, HITS_MAX, &f->hits));
    if (f->in->turns_only)
        leave_memories_out(&f->hits);
    if (f->in->memories_only)
        leave_messages_out(&f->hits);
    int64_t all = f->hits.messages + f->hits.memories;
    double unknown = 0, known = 0;
    for (size_t w = 0; w < q->n; w++) {
        bool left_out = f->hits.found[w] == UINT32_MAX;
        f->weights[w] = left_out ? 0 : (float)rank_idf(all, f->hits.found[w]);
        known += (double)f->weights[w];
        unknown += f->hits.found[w] == 0 ? rank_idf(all, 1) : 0;
    }
    f->scan = scan_hits(&f->ctx->arena, &f->hits, f->weights, q->n,
                        f->in->type.n ? CANDIDATES_OF_TYPE : CANDIDATES);
    f->asked = (struct asked_of){
        .query = q,
        .scan = &f->scan,
        .rarest = rank_idf(all, 1),
        .unknown = known + unknown > 0 ? unknown / (known + unknown) * rank_known(all) : 0,
        .now = f->in->asked ? f->in->asked : clock_ms(),
    };
    return late(f->ctx);
}

static int by_doc(const void *a, const void *b)
{
    doc_id x = *(const doc_id *)a, y = *(const doc_id *)b;
    return (x > y) - (x < y);
}

/* The messages of the candidates, and those before that may be the question they answer. */
static enum status fetch(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, 2 * f->scan.n + 1), *memories = NEW_N(a, doc_id, f->scan.n + 1);
    size_t n_memories = 0, n = 0, kept = 0;
    for (size_t i = 0; i < f->scan.n; i++) {
        const struct candidate *c = &f->scan.v[i];
        if (doc_is_memory(c->doc))
            memories[n_memories++] = c->doc;
        else
            docs[n++] = c->doc;
        if (c->previous > 0)
            docs[n++] = c->doc - 1;
    }
    qsort(docs, n, sizeof *docs, by_doc);
    for (size_t i = 0; i < n; i++)
        if (!kept || docs[kept - 1] != docs[i])
            docs[kept++] = docs[i];
    f->docs = docs;
    f->n_messages = kept;
    f->messages = NEW_N(a, struct message, kept + 1);
    f->memories = NEW_N(a, struct memory, n_memories + 1);
    TRY(store_messages(f->ctx, f->e->store, f->in->pool, docs, kept, f->messages));
    TRY(store_memories(f->ctx, f->e->store, f->in->pool, memories, n_memories, f->memories));
    return late(f->ctx);
}

static const struct message *message_of(const struct finder *f, doc_id doc)
{
    const doc_id *at = bsearch(&doc, f->docs, f->n_messages, sizeof *f->docs, by_doc);
    return at ? &f->messages[at - f->docs] : NULL;
}

static bool is_excluded(const struct recall_in *in, str id)
{
    for (size_t i = 0; id.n && i < in->n_exclude; i++)
        if (str_eq(in->exclude[i], id))
            return true;
    return false;
}

/* The only speaker among the candidates whom the question names; with two it names none. */
static str person_of(const struct finder *f)
{
    str person = S("");
    for (size_t i = 0; i < f->n_messages; i++) {
        str speaker = f->messages[i].speaker;
        if (!names_person(&f->query, speaker) || str_eq(speaker, person))
            continue;
        if (person.n)
            return S("");
        person = speaker;
    }
    return person;
}

static bool is_wanted(const struct recall_in *in, const struct memory *m)
{
    return !in->type.n || str_is(in->type, type_names[m->type]);
}

static void add(struct finder *f, const struct candidate *c, const struct message *m,
                const struct memory *memory, str before)
{
    struct recalled *r = &f->found[f->n];
    str id = m ? m->id : memory->id;
    bool is_empty = m && m->is_echo && !str_trim(m->says).n;
    if (!id.n || is_empty || is_excluded(f->in, id) ||
        (memory && (is_excluded(f->in, memory->source) || !is_wanted(f->in, memory))))
        return;
    signals_of(&f->asked, c, m, memory, before, r->signals);
    double rank = signals_rank(r->signals);
    r->score = signals_sure(r->signals, rank);
    r->is_memory = memory != NULL;
    if (m)
        r->message = *m;
    else
        r->memory = *memory;
    f->of[f->n++] = c;
}

static void judge(struct finder *f)
{
    size_t memory = 0;
    f->found = NEW_N(&f->ctx->arena, struct recalled, f->scan.n + 1);
    f->of = NEW_N(&f->ctx->arena, const struct candidate *, f->scan.n + 1);
    f->asked.person = person_of(f);
    for (size_t i = 0; i < f->scan.n; i++) {
        const struct candidate *c = &f->scan.v[i];
        const struct message *before = c->previous > 0 ? message_of(f, c->doc - 1) : NULL;
        if (doc_is_memory(c->doc))
            add(f, c, NULL, &f->memories[memory++], S(""));
        else
            add(f, c, message_of(f, c->doc), NULL, before ? before->text : S(""));
    }
}

/* --- the order --- */

struct place {
    double rank;
    doc_id doc;
    size_t at;
};

static int best_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

/* Of an answer that was given with memory beside it only what was new. */
static str text_of(const struct recalled *r)
{
    if (r->is_memory)
        return r->memory.content;
    return r->message.is_echo ? str_trim(r->message.says) : r->message.text;
}

/* Best first, and what repeats a better one further down. Keeps the best `limit`. */
static void order(struct finder *f, size_t limit)
{
    struct arena *a = &f->ctx->arena;
    struct place *places = NEW_N(a, struct place, f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        places[i] = (struct place){signals_rank(f->found[i].signals), f->of[i]->doc, i};
    qsort(places, f->n, sizeof *places, best_first);
    size_t n = f->n < DIVERSE * limit ? f->n : DIVERSE * limit;
    double *ranks = NEW_N(a, double, n + 1);
    struct shingles *texts = NEW_N(a, struct shingles, n + 1);
    size_t *by = NEW_N(a, size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        ranks[i] = places[i].rank;
        texts[i] = rank_shingles(a, utf8_cut(text_of(&f->found[places[i].at]), COMPARED));
    }
    rank_diversify(a, ranks, texts, n, limit, by);
    n = n < limit ? n : limit;
    struct recalled *found = NEW_N(a, struct recalled, n + 1);
    const struct candidate **of = NEW_N(a, const struct candidate *, n + 1);
    for (size_t i = 0; i < n; i++) {
        found[i] = f->found[places[by[i]].at];
        of[i] = f->of[places[by[i]].at];
    }
    f->found = found;
    f->of = of;
    f->n = n;
}

/* --- the reasons --- */

static void add_words(struct buf *b, const struct query *q, const char *what, const uint8_t *in,
                      const uint8_t *but)
{
    bool first = true;
    for (size_t w = 0; w < q->n; w++) {
        if (!in[w] || (but && but[w]))
            continue;
        buf_printf(b, "%s" S_FMT, first ? what : ", ", S_ARG(q->texts[w]));
        first = false;
    }
}

/* "says lake, paint; near it: sunrise; by Melanie, whom the question names". */
static str why_of(struct arena *a, const struct query *q, const struct candidate *c,
                  const struct recalled *r)
{
    enum { WHY_MAX = 400 };
    struct buf b = buf_make(a, WHY_MAX);
    add_words(&b, q, "says ", c->own, NULL);
    add_words(&b, q, b.n ? "; near it: " : "near it: ", c->near, c->own);
    if (r->signals[SIGNAL_speaker] > 0)
        buf_printf(&b, "; by " S_FMT ", whom the question names", S_ARG(r->message.speaker));
    if (r->signals[SIGNAL_answers] > 0)
        buf_add(&b, S("; answers a question about it"));
    if (r->signals[SIGNAL_time] > 0)
        buf_add(&b, S("; of the time the question names"));
    if (r->signals[SIGNAL_date] > 0)
        buf_add(&b, S("; holds a date"));
    return buf_str(&b);
}

/* --- the gate --- */

struct verdict {
    str decision, reason;
    double least; /* score that goes in; 2: nothing does */
    bool is_sure; /* the best would go in without any phrase */
};

/* The best must reach the threshold; once memory speaks, others may be less sure. */
static struct verdict verdict_of(struct finder *f, struct gate gate)
{
    struct arena *a = &f->ctx->arena;
    if (!f->in->gate)
        return (struct verdict){S("all"), S("no gate was asked for"), 0, true};
    double least = f->e->settings->gate_threshold, enough = least;
    if (gate.section != GATE_NONE)
        least *= gate.is_weak ? of_user : asked_for;
    double best = 0;
    for (size_t i = 0; i < f->n; i++)
        best = f->found[i].score > best ? f->found[i].score : best;
    str reason =
        gate.section == GATE_NONE
            ? str_printf(a, "best score %.2f, least is %.2f", best, least)
            : str_printf(a, "asks for memory (\"" S_FMT "\"), best score %.2f, least is %.2f",
                         S_ARG(gate.phrase), best, least);
    if (best < least || !f->n)
        return (struct verdict){S("none"), f->n ? reason : S("nothing was found"), 2, false};
    str section =
        gate.section == GATE_NONE ? S("memory") : str_of(gate_section_names[gate.section]);
    return (struct verdict){section, reason, least * GATE_BESIDE, best >= enough};
}

/* Where the question asks for memory and nothing found is sure: what is known about the user goes
 * in instead. */
static enum status add_known(struct finder *f, struct gate gate, int64_t budget, struct verdict *v)
{
    struct arena *a = &f->ctx->arena;
    struct recalled *known;
    size_t n;
    TRY(known_of(f->ctx, f->e, f->in->pool, budget, &known, &n));
    if (!n)
        return OK;
    struct recalled *all = NEW_N(a, struct recalled, n + f->n);
    const struct candidate **of = NEW_N(a, const struct candidate *, n + f->n);
    memcpy(all, known, n * sizeof *all);
    size_t total = n;
    for (size_t i = 0; i < f->n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < n; k++)
            is_there |= f->found[i].is_memory && known[k].memory.doc == f->found[i].memory.doc;
        if (is_there)
            continue;
        of[total] = f->of[i];
        all[total++] = f->found[i];
    }
    f->found = all;
    f->of = of;
    f->n = total;
    *v = (struct verdict){
        .decision = str_of(gate_section_names[gate.section]),
        .reason = str_printf(a, "asks for memory (\"" S_FMT "\"), and nothing found is sure",
                             S_ARG(gate.phrase)),
        .least = f->e->settings->gate_threshold,
    };
    return OK;
}

/* "I see.": found for its neighbours' words alone, and too short to say something of its own. */
static bool is_mere_neighbour(const struct finder *f, size_t i)
{
    const double *signals = f->found[i].signals;
    return f->in->gate && f->of[i] && signals[SIGNAL_share] == 0 &&
           signals[SIGNAL_length] < log1p(TELLING);
}

/* Marks what goes in: over the bar, and within the budget in the order of rank. */
static int64_t choose(struct finder *f, double least, int64_t budget)
{
    size_t n = 0;
    int64_t *tokens = NEW_N(&f->ctx->arena, int64_t, f->n + 1), total = 0;
    size_t *which = NEW_N(&f->ctx->arena, size_t, f->n + 1);
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        r->text = excerpt_of(&f->ctx->arena, text_of(r), &f->query, f->weights, SHOWN_MAX);
        r->tokens = tokens_of(r->text);
        if (f->of[i])
            r->why = why_of(&f->ctx->arena, &f->query, f->of[i], r);
        if (r->score < least || is_mere_neighbour(f, i))
            continue;
        tokens[n] = r->tokens;
        which[n++] = i;
    }
    n = rank_walk(tokens, n, budget);
    for (size_t i = 0; i < n; i++) {
        f->found[which[i]].injected = true;
        total += tokens[i];
    }
    return total;
}

static enum status find(struct finder *f, struct recall_out *out)
{
    const struct recall_in *in = f->in;
    const struct settings *s = f->e->settings;
    f->query = query_of(&f->ctx->arena, in->question, in->asked ? in->asked : clock_ms());
    struct gate gate = {0};
    if (in->gate)
        gate = gate_of(&f->ctx->arena, in->question, NULL, 0);
    bool asks_known = known_is_asked(gate) && !in->turns_only;
    if (str_trim(in->question).n < QUESTION_MIN || (!f->query.n && !asks_known)) {
        *out = (struct recall_out){.decision = S("none"), .reason = S("no words to search")};
        return OK;
    }
    if (f->query.n) {
        TRY(search(f));
        TRY(fetch(f));
        judge(f);
        order(f, in->limit ? in->limit : (size_t)s->recall_limit);
    }
    struct verdict v = verdict_of(f, gate);
    int64_t budget = in->budget_tokens ? in->budget_tokens : s->budget_tokens;
    if (asks_known && !v.is_sure)
        TRY(add_known(f, gate, budget, &v));
    int64_t tokens = choose(f, v.least, budget);
    *out = (struct recall_out){
        .v = f->found, .n = f->n, .decision = v.decision, .reason = v.reason, .tokens = tokens};
    return late(f->ctx);
}

enum status engine_context(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                           struct recall_out *out, str *block)
{
    struct recall_in gated = *in;
    gated.gate = true;
    gated.budget_tokens = in->budget_tokens ? in->budget_tokens : e->settings->budget_tokens;
    TRY(engine_recall(ctx, e, &gated, out));
    int64_t now = in->asked ? in->asked : clock_ms();
    *block = block_render(&ctx->arena, out->v, out->n, gated.budget_tokens, now);
    return OK;
}

enum status engine_recall(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                          struct recall_out *out)
{
    int64_t began = clock_mono_us();
    struct finder f = {.ctx = ctx, .e = e, .in = in};
    struct recall_out found;
    enum status s = find(&f, &found);
    int64_t took = clock_mono_us() - began;
    engine_count_recall(e, took);
    TRY(s);
    found.took_us = took;
    *out = found;
    return OK;
}
