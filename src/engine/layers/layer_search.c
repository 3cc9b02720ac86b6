/* layer_search.c - one layer of memory searched: pinned facts, episodes, or the transcript. */
#include "base/clock.h"
#include "base/utf8.h"
#include "core/session_title.h"
#include "core/tokens.h"
#include "engine/layers/context.h"
#include "engine/recall/candidates.h"
#include "engine/recall/quarantine.h"

const char *const plan_scope_names[] = {"pinned", "episodes", "transcript", NULL};

/*
 * One layer searched on its own: facts, episodes or the transcript. It is recall without a gate, as
 * somebody has decided to ask; where words and vectors find nothing, the text is looked for as it
 * stands, as for codes and part numbers.
 */

/* How far back and how many, unless told; messages that may give a title. */
enum { DAYS = 365, DAYS_MAX = 36500, LIMIT = 10, LIMIT_MAX = 50 };
enum { TITLE_AMONG = 3 };
/* Sessions and messages that are read at a time; of memories: how many more than are wanted, as
 * some may stand in front of the reader; how long a transcript is looked through. */
enum { SESSIONS = 100, MESSAGES = 1000, MORE = 100, LOOK_MS = 1000 };

/* The one place that says what a layer is for recall. */
struct recall_in plan_ask(struct engine *e, enum plan_scope scope, struct pool_ref pool,
                          str question)
{
    assert(pool.user.n && scope <= PLAN_TRANSCRIPT);
    return (struct recall_in){
        .pool = pool,
        .question = question,
        .only.turns = scope == PLAN_TRANSCRIPT,
        .only.memories = scope != PLAN_TRANSCRIPT,
        .only.layer = scope == PLAN_PINNED     ? str_of(layer_names[LAYER_FACT])
                      : scope == PLAN_EPISODES ? str_of(layer_names[LAYER_EPISODE])
                                               : S(""),
        .by.words_only = engine_runtime(e)->embedding_backend == BACKEND_NONE,
    };
}

/* Whole, behind what is there already. */
static void add_shown(struct scope_out *out, struct recalled r, str why)
{
    r.text = found_text(&r);
    r.tokens = tokens_of(r.text);
    r.state = LINE_INJECTED;
    r.why = why;
    out->v[out->n++] = r;
}

/* By words and vectors, varied, best first; nothing when the query has no word to search. */
static enum status find_by_meaning(struct ctx *ctx, struct engine *e, const struct recall_in *ask,
                                   struct scope_out *out)
{
    struct finder f;
    assert(ask->limit);
    TRY(find_open(ctx, e, ask, &f));
    if (f.asked.query.n)
        TRY(find_answers(&f, ask->limit));
    *out = (struct scope_out){.v = f.found};
    for (size_t i = 0; i < f.n; i++)
        add_shown(out, f.found[i], found_why(&f, &f.found[i]));
    return OK;
}

/* --- the text as it stands --- */

#define AS_IT_STANDS S("holds the query as it stands")

/* Whether the text is in what may be shown. A memory may have it in its key alone. */
static bool holds_still(const struct finder *f, str wanted, struct recalled *r)
{
    if (!find_shows(f, r))
        return false;
    str text = utf8_lower(&f->ctx->arena, found_text(r));
    return (r->is_memory && !r->part.is_cut) || str_find(text, wanted) < text.n;
}

static enum status find_memories(struct ctx *ctx, struct engine *e, const struct recall_in *ask,
                                 struct scope_out *out)
{
    struct memory *v;
    struct finder finder;
    size_t found;
    TRY(find_open(ctx, e, ask, &finder));
    const struct memory_filter f = {.pool = ask->pool,
                                    .layer = ask->only.layer,
                                    .contains = ask->question,
                                    .limit = ask->limit + MORE};
    TRY(store_list_memories(ctx, e->store, &f, &v, &found, NULL));
    str wanted = utf8_lower(&ctx->arena, ask->question);
    for (size_t i = 0; i < found && out->n < ask->limit; i++) {
        struct recalled r = {.is_memory = true, .memory = v[i]};
        if (holds_still(&finder, wanted, &r))
            add_shown(out, r, AS_IT_STANDS);
    }
    return OK;
}

/* From the newest session to the oldest, in each from the last message to the first. */
struct look {
    str wanted;
    struct finder finder;
    int64_t deadline_us;
    struct scope_out *out;
};

/* Enough found, or no time left. */
static bool is_over(const struct look *l)
{
    return l->out->n == l->finder.in->limit || l->out->is_cut;
}

static void look_at(struct look *l, struct ctx *own, const struct message *m)
{
    struct recalled r = {.message = *m};
    struct finder one = l->finder;
    one.ctx = own;
    if (!holds_still(&one, l->wanted, &r))
        return;
    struct recalled kept = {.message = message_copy(&l->finder.ctx->arena, &r.message)};
    add_shown(l->out, kept, AS_IT_STANDS);
}

static enum status look_at_page(struct look *l, str session, int64_t *end)
{
    const struct finder *f = &l->finder;
    CLEANUP(ctx_free) struct ctx own = ctx_child(f->ctx, 0);
    struct message *v;
    size_t n;
    enum status s = messages_before(&own, f->e, f->in->pool, session, MESSAGES, end, &v, &n);
    if (s != OK && s != NOT_FOUND) /* a session may have been forgotten meanwhile */
        return fail(f->ctx, s, "%s", own.why);
    *end = s == OK ? *end : 0;
    for (size_t i = s == OK ? n : 0; i-- > 0 && !is_over(l);)
        look_at(l, &own, &v[i]);
    l->out->is_cut = !is_over(l) && (clock_mono_us() > l->deadline_us || !ctx_has_time(f->ctx));
    return OK;
}

static enum status look_at_sessions(struct look *l, size_t *offset)
{
    const struct finder *f = &l->finder;
    CLEANUP(ctx_free) struct ctx own = ctx_child(f->ctx, 0);
    struct session *v;
    size_t n;
    const struct session_filter newest = {.pool = f->in->pool,
                                          .offset = *offset,
                                          .limit = SESSIONS};
    TRY(ctx_pass(f->ctx, &own, store_sessions(&own, f->e->store, &newest, &v, &n, NULL)));
    for (size_t i = 0; i < n && !is_over(l); i++)
        for (int64_t end = -1; end && !is_over(l);)
            TRY(look_at_page(l, v[i].id, &end));
    *offset = n == SESSIONS ? *offset + n : 0;
    return OK;
}

/* Newest first, for at most LOOK_MS: a scan has no index to help it. is_cut is only reported when
 * nothing was found in that time, for then "nothing" may be wrong. */
static enum status find_turns(struct ctx *ctx, struct engine *e, const struct recall_in *ask,
                              struct scope_out *out)
{
    struct look l = {.wanted = utf8_lower(&ctx->arena, ask->question),
                     .deadline_us = clock_mono_us() + (int64_t)LOOK_MS * 1000,
                     .out = out};
    size_t offset = 0;
    TRY(find_open(ctx, e, ask, &l.finder));
    for (bool more = true; more; more = offset && !is_over(&l))
        TRY(look_at_sessions(&l, &offset));
    out->is_cut &= !out->n;
    return OK;
}

/* --- titles --- */

/* A session is called by the first line that its user said. */
static enum status title_of(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct tombstones *tombstones, str session, str *out)
{
    struct message *v;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool, session, 0, TITLE_AMONG, &v, &n));
    *out = S("");
    for (size_t i = 0; i < n && !out->n; i++)
        if (str_is(v[i].role, "user")) {
            struct recalled r = {.message = v[i],
                                 .text = tombstones_left(tombstones, &ctx->arena, &v[i])};
            *out = session_title(quarantine_line(ctx, e, pool, &r, false).text);
        }
    return OK;
}

static enum status add_titles(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              struct recalled *v, size_t n)
{
    struct tombstones tombstones;
    TRY(tombstones_load(ctx, e, pool, &tombstones));
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        while (same < i && !str_eq(v[same].message.session, v[i].message.session))
            same++;
        if (same < i)
            v[i].title = v[same].title;
        else
            TRY(title_of(ctx, e, pool, &tombstones, v[i].message.session, &v[i].title));
    }
    return OK;
}

/* Limits out of range are clamped and not refused. */
enum status engine_search_scope(struct ctx *ctx, struct engine *e, const struct scope_in *in,
                                struct scope_out *out)
{
    int64_t days = in->days <= 0 ? DAYS : in->days > DAYS_MAX ? DAYS_MAX : in->days;
    bool is_transcript = in->scope == PLAN_TRANSCRIPT;
    struct recall_in ask = plan_ask(e, in->scope, in->pool, str_trim(in->query));
    ask.seen = in->seen;
    ask.only.after = is_transcript ? clock_ms() - days * DAY_MS : 0;
    ask.limit = !in->limit ? LIMIT : in->limit > LIMIT_MAX ? LIMIT_MAX : in->limit;
    if (!ask.question.n)
        return fail_field(ctx, "query", "must not be empty");
    engine_catch_up(ctx, e, in->pool);
    TRY(find_by_meaning(ctx, e, &ask, out));
    if (!out->n) {
        *out = (struct scope_out){.v = NEW_N(&ctx->arena, struct recalled, ask.limit + 1)};
        TRY((is_transcript ? find_turns : find_memories)(ctx, e, &ask, out));
    }
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (quarantine_leaves(ctx, e, in->pool, &out->v[i]))
            out->v[n++] = out->v[i];
    out->n = n;
    return is_transcript ? add_titles(ctx, e, in->pool, out->v, out->n) : OK;
}
