/* distil.c - sessions become episodes and facts: one question to the core model, one write. */
#include "engine/distil/distil.h"
#include "engine/distil/keep.h"
#include "engine/distil/known.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/recall/tombstones.h"
#include "engine/text/utterance.h"

/*
 * A worker claims a session before it distils it. The memories and the removal of the pending turns
 * are one write: a process that dies between the model's answer and that write has changed nothing,
 * and its claim expires. The model is not trusted: only facts in the user's own words are kept.
 *
 * From waiting turns to memories, for one session:
 *   1. the user's own words of each turn, without barred sentences and pasted text (strip_turns)
 *   2. too little said (NOVELTY_LEAST): done without asking the model
 *   3. the first part of the turns, as many as the model has coped with lately (take_part)
 *   4. what is known, the prompt, the answer (put_question)
 *   5. the checks of each line (keep.c, grounding.c), then one write (write_kept)
 * Failures: an unusable answer is tried again with half as many turns, FAULTS_MAX times, then the
 * session waits for a request. A server that fails is tried again for ever, at growing intervals. A
 * missing model, an empty budget or an open breaker are no failures and count no try.
 */
enum {
    NOVELTY_LEAST = 80, /* characters of a session below which the model is not asked */
    MUCH = 1000,        /* characters from which an empty answer counts as a failure, once */
    SIGNALS_AT_ONCE = 1000,
    FAULTS_MAX = 5, /* unusable answers for a session before it waits for a request */
    AGAIN_MS = 60000,
    AGAIN_MOST_MS = 3600000
};

/* --- how a claim ends --- */

/* A minute, doubled with each failure up to an hour; random, so that sessions do not all come back
 * at once. A failure of the server is retried every hour without an end: the server may be down for
 * a weekend, and distillation must go on without anyone's help. The status reports it. */
static int64_t again_at(int64_t tries)
{
    int64_t ms = AGAIN_MS;
    for (int64_t i = 0; i < tries && ms < AGAIN_MOST_MS; i++)
        ms *= 2;
    ms = ms < AGAIN_MOST_MS ? ms : AGAIN_MOST_MS;
    return clock_ms() + ms - (int64_t)randombytes_uniform((uint32_t)(ms / 4));
}

/* One session, or the first part of it, and what was spent on it. */
struct job {
    struct distilling d;
    const struct waiting_session *w;
    struct core_answer answer;
    int64_t *signals;
    size_t said, waiting; /* characters; signals of the session */
    bool goes_on;         /* the claim stays while more waits */
};

/* Turns of the session that this part does not hold. */
static bool has_more(const struct job *j)
{
    return j->waiting > j->d.n;
}

/* 0 gives the session back with the write. */
static int64_t claim_ms(const struct job *j)
{
    return j->goes_on && has_more(j) ? distil_lease_ms(j->d.e) : 0;
}

/* One row of the work log: what came of the question, with the model, tokens and time of the
 * answer. */
static struct work work_of(const struct job *j, const char *status, str details)
{
    struct work work = j->answer.work;
    work.pool = j->w->pool;
    work.kind = S("distil");
    work.status = str_of(status);
    work.details = details;
    work.created = 0; /* when it is written */
    return work;
}

enum status distil_postpone(struct ctx *ctx, struct engine *e, const struct waiting_session *w,
                            int64_t at)
{
    struct distil_end end = {.pool = w->pool, .session = w->session, .again_at = at};
    return store_end_distil(ctx, e->store, &end);
}

/* Removes the turns from the waiting list without keeping anything of them. */
static enum status end_done(struct ctx *ctx, struct job *j, const char *status, str why,
                            struct distil_outcome *out)
{
    assert(j->d.n > 0);
    out->why = why;
    out->has_more = has_more(j);
    struct work work = work_of(j, status, why);
    struct distil_end end = {.pool = j->w->pool,
                             .session = j->w->session,
                             .done = j->signals,
                             .n_done = j->d.n,
                             .claim_ms = claim_ms(j),
                             .work = &work};
    return store_end_distil(ctx, j->d.e->store, &end);
}

/* An unusable answer is mostly the fault of the session's content, other failures the server's. */
static enum status end_failed(struct ctx *ctx, struct job *j, enum status s, str why,
                              struct distil_outcome *out)
{
    assert(s != OK && why.n);
    bool own = s == BAD_INPUT;
    bool dead = own && j->w->is_answer_fault && j->w->tries + 1 >= FAULTS_MAX;
    str error = str_printf(&ctx->arena, "%s" S_FMT, own ? "answer: " : "", S_ARG(why));
    struct work work = work_of(j, dead ? "dead" : "error", error);
    struct distil_end end = {.pool = j->w->pool,
                             .session = j->w->session,
                             .again_at = again_at(j->w->tries),
                             .error = error,
                             .is_answer_fault = own,
                             .is_dead = dead,
                             .work = &work};
    count(&j->d.e->counters.distil_failed, 1);
    out->result = DISTIL_FAILED;
    out->is_server = !own;
    out->why = error;
    log_event(LOG_WARN, "distil.failed", "id=%s status=%s tries=%lld dead=%d", ctx->id,
              status_name(s), (long long)j->w->tries + 1, dead);
    return store_end_distil(ctx, j->d.e->store, &end);
}

/* --- what goes into the question --- */

/* An answer is under the tombstones of the time of its message. */
static size_t strip_turns(struct arena *a, const struct tombstones *tombstones,
                          struct distilling *d)
{
    size_t said = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct pending_signal *s = &d->signals[i];
        struct message answer = {.text = s->answer, .created = s->message.created};
        str text = tombstones_left(tombstones, a, &s->message);
        s->message.text = utterance_own_words(a, str_trim(engine_strip_block(a, text)));
        s->answer = str_trim(engine_strip_block(a, tombstones_left(tombstones, a, &answer)));
        said += utf16_length(s->message.text) + utf16_length(s->answer);
    }
    return said;
}

/* --- the question and its answer --- */

/* Whether any object of the list has a text. */
static bool has_content(const struct json *list)
{
    const struct json *v = list && list->type == JSON_ARRAY ? list->first : NULL;
    while (v && !json_string(json_get(v, "content")).n)
        v = v->next;
    return v;
}

/* A small model gives the empty example of the instructions as its answer. */
static bool is_blank(const struct said_of_session *said)
{
    return !str_trim(said->episode.summary).n && !said->episode.topics.n &&
           !said->episode.decisions.n && !said->episode.action_items.n && !said->entities.n &&
           !has_content(said->identity_facts) && !has_content(said->pinned_candidates);
}

/* Why the answer needs a summary and has none, or "". A second time it is taken as it is. */
static str no_summary(const struct job *j, const struct said_of_session *said)
{
    if (j->answer.is_cut)
        return S("no summary, and cut off");
    return j->said >= MUCH && is_blank(said) && !j->d.was_asked
               ? S("nothing of it is worth a word, though much was said")
               : S("");
}

/* --- an answer that was cut off --- */

/* The next question is about half as many turns. */
static bool is_divided(const struct job *j)
{
    return j->answer.is_cut && j->d.n > 1;
}

/* Learns how many turns one answer can hold: halved when an answer was cut off or late, doubled
 * when one was whole, 0 (no limit but PART_TURNS) when the double reaches it. In memory only. */
static void note_part(struct job *j)
{
    atomic_int_least64_t *most = &j->d.e->core_model.part_turns;
    int64_t n = (int64_t)j->d.n, now = *most;
    if (j->answer.is_cut || j->answer.why == CORE_LATE)
        *most = n > 1 ? n / 2 : 1;
    else if (now)
        *most = 2 * now < PART_TURNS ? 2 * now : 0;
}

/* What is whole is kept, and its turns go on waiting. */
static enum status end_divided(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    out->result = DISTIL_DONE;
    out->has_more = true;
    return j->goes_on ? OK : distil_postpone(ctx, j->d.e, j->w, clock_ms());
}

/* --- a usable answer --- */

static str details_of(struct arena *a, const struct job *j, const struct kept *k)
{
    struct buf b = buf_make(a, 400);
    buf_printf(&b, "pinned=%d identity=%d known=%d unsaid=%d secret=%d", k->pinned, k->identity,
               k->known, k->unsaid, k->secret);
    if (k->unconfirmed)
        buf_printf(&b, " unconfirmed=%d", k->unconfirmed);
    if (k->replaced)
        buf_printf(&b, " replaced=%d", k->replaced);
    if (is_divided(j))
        buf_printf(&b, " cut_off; asked again in steps of %zu turns", j->d.n / 2);
    return buf_str(&b);
}

/* CONFLICT: a line that the model was shown was changed or erased, and the answer may repeat it. */
static enum status check_shown(struct ctx *ctx, const struct distilling *d, const struct memory *v,
                               size_t n)
{
    doc_id *docs = NEW_N(&ctx->arena, doc_id, n + 1);
    struct memory *now = NEW_N(&ctx->arena, struct memory, n + 1);
    for (size_t i = 0; i < n; i++)
        docs[i] = v[i].doc;
    TRY(store_memories(ctx, d->e->store, d->pool, docs, n, now));
    return SOME(i, n, !str_eq(now[i].id, v[i].id) || !str_eq(now[i].content, v[i].content))
               ? CONFLICT
               : OK;
}

static enum status write_unchanged(struct ctx *ctx, const struct distilling *d, struct bundle *b)
{
    TRY(check_shown(ctx, d, d->identity, d->n_identity));
    TRY(check_shown(ctx, d, d->facts, d->n_facts));
    TRY(check_shown(ctx, d, d->before, d->before != NULL));
    return store_write(ctx, d->e->store, b);
}

static enum status write_kept(struct ctx *ctx, struct job *j, struct bundle *b,
                              const struct kept *kept, struct distil_outcome *out)
{
    bool is_whole = !is_divided(j);
    struct work work = work_of(j, "success", details_of(&ctx->arena, j, kept));
    b->work = &work;
    b->distilled = is_whole ? j->signals : NULL;
    b->n_distilled = is_whole ? j->d.n : 0;
    b->claim_ms = is_whole ? claim_ms(j) : 0;
    enum status s = write_unchanged(ctx, &j->d, b);
    /* A part of the session was forgotten meanwhile, too, or another process was faster. */
    if (soft_if(ctx, s, CONFLICT)) {
        out->result = DISTIL_WAITS;
        out->why = S("changed_meanwhile");
        return distil_postpone(ctx, j->d.e, j->w, clock_ms());
    }
    TRY(s);
    count(&j->d.e->counters.distilled, is_whole && !has_more(j));
    out->has_more = has_more(j);
    return is_whole ? OK : end_divided(ctx, j, out);
}

/* NOT_FOUND of distil_keep: the answer has no summary. Whether that is right (small talk) or a
 * fault of the model is decided by no_summary. */
static enum status keep_answer(struct ctx *ctx, struct job *j, const struct said_of_session *said,
                               struct distil_outcome *out)
{
    struct bundle b = {.pool = j->d.pool, .session = {.id = j->d.session}, .rule = PUT_DISTILLED};
    struct kept kept;
    enum status s = distil_keep(ctx, &j->d, said, &b, &kept);
    bool is_empty = soft_if(ctx, s, NOT_FOUND);
    str why = is_empty ? no_summary(j, said) : str_dup(&ctx->arena, str_of(ctx->why));
    if (is_empty && is_divided(j))
        return end_divided(ctx, j, out);
    if (soft_if(ctx, s, BAD_INPUT) || (is_empty && why.n))
        return end_failed(ctx, j, BAD_INPUT, why, out);
    if (is_empty) {
        out->result = DISTIL_EMPTY;
        return end_done(ctx, j, "empty", S("empty_summary"), out);
    }
    TRY(s);
    return write_kept(ctx, j, &b, &kept, out);
}

/* Nothing has failed: the session waits for a model, for tokens or for the circuit breaker. */
static enum status end_waiting(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    struct engine *e = j->d.e;
    enum core_why why = j->answer.why;
    assert(why != CORE_ANSWERED && why <= CORE_CANCELLED);
    int64_t wait_ms = why == CORE_BUDGET    ? AGAIN_MS
                      : why == CORE_BREAKER ? dependency_seconds(&e->core_model.background) * 1000
                                            : 0;
    *out = (struct distil_outcome){DISTIL_WAITS, str_of(core_why_code(why)), true, false, why};
    return distil_postpone(ctx, e, j->w, clock_ms() + wait_ms);
}

/* The wait is twice the model's timeout, as llm_json may ask a second time for valid JSON. */
static enum status put_question(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    struct engine *e = j->d.e;
    struct said_of_session said;
    TRY(distil_gather(ctx, &j->d));
    const struct core_ask_in in = {.kind = CORE_DISTIL,
                                   .pool = j->d.pool,
                                   .instructions = str_of(distil_instructions),
                                   .prompt = distil_prompt(&ctx->arena, &j->d),
                                   .shape = said_of_session_fields,
                                   .out = &said,
                                   .wait_ms = 2 * e->settings->core_timeout_ms,
                                   .keeps_work = true};
    enum core_why why = core_ask(ctx, e, &in, &j->answer);
    e->core_model.wants = why == CORE_BUDGET ? j->answer.about : 0;
    /* A moving average, the newest answer a quarter; 0 means that no answer came yet. Read by
     * claim_of in background.c. */
    int64_t took = j->answer.work.took_ms, before = e->core_model.took_ms;
    if (took)
        e->core_model.took_ms = 1 + (before ? (3 * before + took) / 4 : took);
    if (why == CORE_ANSWERED || why == CORE_LATE)
        note_part(j);
    if (why == CORE_ANSWERED)
        return keep_answer(ctx, j, &said, out);
    if (why <= CORE_CANCELLED)
        return end_waiting(ctx, j, out);
    str details = j->answer.work.details;
    enum status s = j->answer.status;
    return end_failed(ctx, j, s, details.n ? details : str_of(status_name(s)), out);
}

/* The first turns of what waits. After an unusable answer fewer: a smaller question may do. */
static void take_part(struct job *j)
{
    int64_t most = j->d.e->core_model.part_turns;
    int64_t tries = j->w->is_answer_fault ? j->w->tries : 0;
    most = (most ? most : PART_TURNS) >> (tries < FAULTS_MAX ? tries : FAULTS_MAX);
    j->d.n = distil_part(j->d.signals, j->waiting, (size_t)most);
    assert(j->d.n > 0 && j->d.n <= j->waiting);
    j->d.date = 0;
    for (size_t i = 0; i < j->d.n; i++)
        if (j->d.signals[i].message.created > j->d.date)
            j->d.date = j->d.signals[i].message.created;
}

/* While answers are cut: the short rest of a session distilled in part is no small talk. */
static enum status find_rest(struct ctx *ctx, const struct distilling *d, bool *out)
{
    struct memory episode;
    *out = false;
    if (!d->e->core_model.part_turns)
        return OK;
    str id = episode_id(&ctx->arena, d->session);
    enum status s = store_memory(ctx, d->e->store, d->pool, id, &episode);
    *out = s == OK;
    return soft_or(ctx, s, NOT_FOUND);
}

/* OK also when the model failed: the session is due again then. */
enum status distil_session(struct ctx *ctx, struct engine *e, const struct waiting_session *w,
                           bool goes_on, struct distil_outcome *out)
{
    struct job j = {
        .w = w,
        .d = {.e = e, .pool = w->pool, .session = w->session, .was_asked = w->is_answer_fault},
        .answer.work = {.model = S("")},
        .goes_on = goes_on};
    struct tombstones tombstones;
    bool is_rest;
    *out = (struct distil_outcome){.why = S("")};
    assert(w->pool.user.n && w->pool.space.n && w->session.n);
    TRY(tombstones_load(ctx, e, w->pool, &tombstones));
    TRY(store_signals(ctx, e->store, w->pool, w->session, SIGNALS_AT_ONCE, &j.d.signals, &j.d.n));
    if (!j.d.n) {
        out->result = DISTIL_NOTHING;
        return distil_postpone(ctx, e, w, 0);
    }
    j.waiting = j.d.n;
    j.signals = NEW_N(&ctx->arena, int64_t, j.d.n);
    for (size_t i = 0; i < j.d.n; i++)
        j.signals[i] = j.d.signals[i].no;
    j.said = strip_turns(&ctx->arena, &tombstones, &j.d);
    TRY(find_rest(ctx, &j.d, &is_rest));
    if (j.said < NOVELTY_LEAST && !is_rest) {
        out->result = DISTIL_SKIPPED;
        str why = str_printf(&ctx->arena, "low_novelty:%zuchars", j.said);
        return end_done(ctx, &j, "skipped", why, out);
    }
    take_part(&j);
    return put_question(ctx, &j, out);
}
