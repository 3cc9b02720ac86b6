/* compact.c - short summaries in the place of old memories, where that saves tokens. */
#include "engine/compact/compact.h"

#include "base/clock.h"
#include "base/time_text.h"
#include "core/tokens.h"

/*
 * A run over a space: list what is older than asked, skip what must stay (skip.c), then shorten the
 * rest in batches. Where a core model is set it writes a summary of up to MODEL_ROWS memories;
 * where it fails or saves too little, and without a model, the rule of repeats.c does. A summary
 * replaces its members in one transaction and names them, so engine_reopen can undo it
 * (decisions/014).
 *
 * A group below MODEL_LEAST tokens is not worth a question; MODEL_TOKENS keeps the model's input
 * short enough that it can hold every name and number. BATCH bounds the memory of a run.
 */

/* Rows of one list call; memories that are compared at once; what the model is given at once. */
enum { PAGE = 1000, BATCH = 20000, MODEL_ROWS = 24, MODEL_TOKENS = 1200, MODEL_LEAST = 60 };

/* A run, in one space after the other. */
struct round {
    struct ctx *ctx;
    struct engine *e;
    struct pool_ref pool;
    const struct condense_in *in;
    struct condense_out *out;
    int64_t now;
    size_t listed_cap, ids_cap; /* of the lists of out */
    bool asks_model;            /* until it fails */
};

/* --- what is old --- */

/* All of them, before anything is written. A page begins at the time of the last row of the one
 * before, behind the rows of that time which were seen: the cost of an offset grows with it. */
static enum status docs_of_old(struct round *r, doc_id **out, size_t *n_out)
{
    struct memory_filter f = {.pool = r->pool,
                              .before = r->now - r->in->older_than_days * DAY_MS,
                              .oldest_first = true,
                              .limit = PAGE};
    size_t n = PAGE, cap = 0;
    *out = NULL;
    *n_out = 0;
    while (n == PAGE) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(r->ctx, 0);
        struct memory *v;
        TRY(ctx_pass(r->ctx, &own, store_list_memories(&own, r->e->store, &f, &v, &n, NULL)));
        for (size_t i = 0; i < n; i++) {
            f.offset = v[i].created == f.after ? f.offset + 1 : 1;
            f.after = v[i].created;
            ARENA_ADD(&r->ctx->arena, *out, *n_out, cap) = v[i].doc;
        }
    }
    return OK;
}

/* --- reporting --- */

/* For the caller to look at, also in a dry run; the list ends at CONDENSE_LISTED, the count does
 * not. */
static void list_candidates(struct round *r, const struct condensed *c)
{
    struct condense_out *out = r->out;
    for (size_t i = 0; i < c->n && out->n < CONDENSE_LISTED; i++)
        ARENA_ADD(&r->ctx->arena, out->candidates, out->n, r->listed_cap) =
            memory_copy(&r->ctx->arena, c->v[i]);
    out->replaced += (int64_t)c->n;
}

/* --- writing --- */

/* What a reader of the summary needs: how many it replaces, who wrote it (a rule or a model), what
 * it saved, and the ids of its members. */
static str metadata_of(struct ctx *ctx, const struct round *r, const struct condensed *c)
{
    struct json_out w = json_in(&ctx->arena, METADATA_MAX);
    json_open(&w, '{');
    json_member_int(&w, "summarizedCount", (int64_t)c->n);
    json_member_int(&w, "olderThanDays", r->in->older_than_days);
    json_key(&w, "generatedAt");
    json_time(&w, r->now);
    json_member_str(&w, "by", c->by);
    json_member_int(&w, "tokensBefore", c->before);
    json_member_int(&w, "tokensAfter", c->after);
    json_member_open(&w, "ids", '[');
    for (size_t i = 0; i < c->n; i++)
        json_str(&w, c->v[i]->id);
    json_close(&w, ']');
    json_close(&w, '}');
    return buf_str(w.b);
}

/* As old as its newest member, so that it is not taken for news. Its key has the time of writing
 * and the first member: no two summaries have one key. */
static struct memory summary_of(struct ctx *ctx, const struct round *r, const struct condensed *c)
{
    const struct memory *first = c->v[0];
    char time[TIME_ISO_ROOM];
    time_iso(r->now, time);
    struct memory m = {.layer = LAYER_SUMMARY,
                       .type = TYPE_SEMANTIC,
                       .category = first->category,
                       .session = first->session,
                       .key = str_printf(&ctx->arena, "summary_%s_" S_FMT, time,
                                         S_ARG(str_sub(first->id, 0, 8))),
                       .content = c->text,
                       .metadata = metadata_of(ctx, r, c),
                       .origin = ORIGIN_DISTILLED,
                       .updated = r->now};
    for (size_t i = 0; i < c->n; i++) {
        const struct memory *one = c->v[i];
        m.session = str_eq(m.session, one->session) ? m.session : S("");
        m.importance = one->importance > m.importance ? one->importance : m.importance;
        m.salience = one->salience > m.salience ? one->salience : m.salience;
        m.created = one->created > m.created ? one->created : m.created;
        m.last_used = one->last_used > m.last_used ? one->last_used : m.last_used;
        m.uses += one->uses;
    }
    return m;
}

/* The model may take a minute: a memory that was changed meanwhile must not be closed, as the
 * summary holds its old text. CONFLICT, without a note, says so. */
static enum status check_unchanged(struct ctx *ctx, const struct round *r,
                                   const struct condensed *c)
{
    doc_id *docs = NEW_N(&ctx->arena, doc_id, c->n);
    struct memory *now = NEW_N(&ctx->arena, struct memory, c->n);
    for (size_t i = 0; i < c->n; i++)
        docs[i] = c->v[i]->doc;
    TRY(store_memories(ctx, r->e->store, r->pool, docs, c->n, now));
    return SOME(i, c->n, now[i].updated != c->v[i]->updated || now[i].valid_to) ? CONFLICT : OK;
}

/* All groups or none: one transaction. CONFLICT means that a member was changed since it was
 * read. */
static enum status replace_groups(struct ctx *ctx, struct round *r, const struct condensed *c,
                                  size_t n)
{
    struct condensing *v = NEW_N(&ctx->arena, struct condensing, n);
    struct condense_out *out = r->out;
    struct arena *a = &r->ctx->arena;
    for (size_t i = 0; i < n; i++) {
        str *ids = NEW_N(&ctx->arena, str, c[i].n);
        for (size_t k = 0; k < c[i].n; k++)
            ids[k] = c[i].v[k]->id;
        v[i] = (struct condensing){summary_of(ctx, r, &c[i]), ids, c[i].n};
        TRY(check_unchanged(ctx, r, &c[i]));
    }
    TRY(store_condense(ctx, r->e->store, r->pool, v, n));
    for (size_t i = 0; i < n; i++)
        ARENA_ADD(a, out->summaries.v, out->summaries.n, r->ids_cap) = str_dup(a, v[i].summary.id);
    return OK;
}

/* Members that were changed meanwhile stay, and the next run looks at them again; so the groups
 * beside theirs are written one by one. */
static enum status settle_groups(struct round *r, const struct condensed *c, size_t n)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(r->ctx);
    assert(n && n <= CONDENSED_MAX && c->n && c->after < c->before);
    if (!r->in->dry_run) {
        enum status s = replace_groups(&own, r, c, n);
        if (soft_if(&own, s, CONFLICT)) {
            for (size_t i = 0; n > 1 && i < n; i++)
                TRY(settle_groups(r, &c[i], 1));
            r->out->skipped[SKIP_CHANGED] += n == 1 ? (int64_t)c->n : 0;
            return OK;
        }
        TRY(ctx_pass(r->ctx, &own, s));
    }
    for (size_t i = 0; i < n; i++) {
        list_candidates(r, &c[i]);
        r->out->before += c[i].before;
        r->out->after += c[i].after;
    }
    r->out->n_summaries += (int64_t)n;
    return OK;
}

/* Once the time is over the run ends after the group at hand. What was written stays; the caller is
 * told by is_cut. */
static bool may_go_on(struct round *r)
{
    r->out->is_cut |= !ctx_has_time(r->ctx);
    return !r->out->is_cut;
}

/* --- by rule, by the model --- */

static enum status settle_by_rule(struct round *r, struct arena *a, const struct memory *v,
                                  size_t n)
{
    struct condensed *groups;
    size_t n_groups, done = 0;
    condense_repeats(a, v, n, &groups, &n_groups);
    for (size_t i = 0, some; i < n_groups && may_go_on(r); i += some) {
        some = n_groups - i < CONDENSED_MAX ? n_groups - i : CONDENSED_MAX;
        TRY(settle_groups(r, &groups[i], some));
        for (size_t k = i; k < i + some; k++)
            done += groups[k].n;
    }
    if (!r->out->is_cut)
        r->out->skipped[SKIP_UNSAVED] += (int64_t)(n - done);
    return OK;
}

ORDER(alike_first, struct memory, UP(type) ?: BY_TEXT(category) ?: UP(created) ?: UP(doc))

/* The next rows that the model is given at once. */
static size_t chunk_of(const struct memory *v, size_t n, int64_t *tokens)
{
    size_t i = 0;
    for (*tokens = 0; i < n && i < MODEL_ROWS; i++) {
        int64_t more = tokens_of(v[i].content);
        if (i && (*tokens + more > MODEL_TOKENS || !are_alike(&v[0], &v[i])))
            break;
        *tokens += more;
    }
    return i;
}

/* A dry run asks nobody: it counts what the model would be given. */
static enum status settle_by_model(struct round *r, struct arena *a, const struct memory *v,
                                   size_t n, int64_t tokens, bool *is_done)
{
    struct condensed c = {.n = n, .v = NEW_N(a, const struct memory *, n), .before = tokens};
    for (size_t i = 0; i < n; i++)
        c.v[i] = &v[i];
    *is_done = true;
    if (r->in->dry_run) {
        r->out->asks_model += (int64_t)n;
        list_candidates(r, &c);
        return OK;
    }
    enum by_model how = condense_by_model(r->ctx, r->e, r->pool, &c);
    r->asks_model = how != MODEL_ABSENT;
    if (c.why.n && !r->out->why.n)
        r->out->why = c.why;
    if (!may_go_on(r))
        return OK;
    *is_done = how == MODEL_WROTE;
    return *is_done ? settle_groups(r, &c, 1) : OK;
}

static enum status settle_batch(struct round *r, struct arena *a, struct memory *v, size_t n)
{
    size_t step;
    if (r->asks_model)
        SORT(v, n, alike_first);
    for (size_t i = 0; i < n && may_go_on(r); i += step) {
        bool is_done = false;
        int64_t tokens;
        if (!r->asks_model)
            return settle_by_rule(r, a, v + i, n - i);
        step = chunk_of(v + i, n - i, &tokens);
        if (tokens >= MODEL_LEAST)
            TRY(settle_by_model(r, a, v + i, step, tokens, &is_done));
        if (!is_done && !r->asks_model)
            return settle_by_rule(r, a, v + i, n - i);
        if (!is_done && may_go_on(r))
            TRY(settle_by_rule(r, a, v + i, step));
    }
    return OK;
}

/* --- one space --- */

/* Memories are read here and not when they were listed, so a batch needs the memory of a batch, and
 * what changed meanwhile is skipped. */
static enum status compact_batch(struct round *r, const struct tombstones *tombstones,
                                 const doc_id *docs, size_t n)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(r->ctx, 0);
    struct memory *v = NEW_N(&own.arena, struct memory, n);
    size_t kept = 0;
    TRY(ctx_pass(r->ctx, &own, store_memories(&own, r->e->store, r->pool, docs, n, v)));
    for (size_t i = 0; i < n && may_go_on(r); i++) {
        enum condense_skip why = !v[i].id.n || v[i].valid_to
                                     ? SKIP_CHANGED
                                     : skip_of(&own, r->e, r->pool, tombstones, &v[i]);
        r->out->considered++;
        if (why == SKIP_COUNT)
            v[kept++] = v[i];
        else
            r->out->skipped[why]++;
    }
    return settle_batch(r, &own.arena, v, kept);
}

static enum status compact_space(struct round *r)
{
    doc_id *old;
    size_t n_old, n;
    struct tombstones tombstones;
    assert(r->in->older_than_days > 0 && r->pool.user.n);
    TRY(tombstones_load(r->ctx, r->e, r->pool, &tombstones));
    TRY(docs_of_old(r, &old, &n_old));
    for (size_t i = 0; i < n_old && may_go_on(r); i += n) {
        n = n_old - i < BATCH ? n_old - i : BATCH;
        TRY(compact_batch(r, &tombstones, old + i, n));
    }
    return OK;
}

enum status run_pools(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                      struct pool_info **out, size_t *n)
{
    *n = 1;
    *out = NEW(&ctx->arena, struct pool_info);
    (*out)->pool = pool;
    return pool.space.n ? OK : store_pools(ctx, e->store, pool.user, out, n);
}

/* Spaces one after the other. A failing one ends the run; the spaces before it stay condensed. */
enum status engine_condense(struct ctx *ctx, struct engine *e, const struct condense_in *in,
                            struct condense_out *out)
{
    struct pool_info *pools;
    size_t n;
    struct condense_out given = {.dry_run = in->dry_run, .why = S("")};
    struct round r = {.ctx = ctx, .e = e, .in = in, .out = &given};
    if (in->older_than_days < 1)
        return fail_field(ctx, "olderThanDays", "must be at least 1");
    engine_catch_up(ctx, e, in->pool);
    TRY(run_pools(ctx, e, in->pool, &pools, &n));
    for (size_t i = 0; i < n; i++) {
        r.pool = pools[i].pool;
        r.now = clock_ms();
        r.asks_model = e->settings->core_model.n > 0;
        TRY(compact_space(&r));
    }
    log_event(LOG_INFO, "condense.done", "considered=%lld replaced=%lld before=%lld after=%lld",
              (long long)given.considered, (long long)given.replaced, (long long)given.before,
              (long long)given.after);
    *out = given;
    return OK;
}

/* --- the way back --- */

/* Also finds the summary's space, as ids are unique for a user. */
static enum status summary_with(struct ctx *ctx, struct engine *e, struct pool_ref *pool, str id)
{
    struct memory m;
    engine_catch_up(ctx, e, *pool);
    TRY(store_memory(ctx, e->store, *pool, id, &m));
    if (m.layer != LAYER_SUMMARY)
        return fail_field(ctx, "id", "must be the id of a summary, '" S_FMT "' is a memory",
                          S_ARG(id));
    pool->space = m.space;
    return OK;
}

enum status engine_replaced(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                            struct memory **out, size_t *n)
{
    TRY(summary_with(ctx, e, &pool, id));
    return store_replaced(ctx, e->store, pool, id, out, n);
}

enum status engine_reopen(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                          int64_t *reopened)
{
    TRY(summary_with(ctx, e, &pool, id));
    return store_reopen(ctx, e->store, pool, id, reopened);
}
