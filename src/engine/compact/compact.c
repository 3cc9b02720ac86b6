/* compact.c - replaces the old memories of each space by one summary. */
#include "engine/compact/compact.h"

#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/tokens.h"

/*
 * A memory that does not fit into the summary is not closed: it waits for the next summary, so
 * nothing is lost. Some memories are never condensed:
 * - summaries, or each round would blur what the one before has kept;
 * - what expires, or it would outlive its end inside the summary;
 * - identity, which does not age.
 */
enum { PAGE = 1000, LOOKED_AT = 10000, TRIES = 3 };

/* Summaries that came by an import have the mark in their metadata. */
static bool is_summary(const struct memory *m)
{
    struct ctx own = {0};
    struct json *metadata;
    if (m->layer == LAYER_SUMMARY)
        return true;
    bool may_be = str_find(m->metadata, S("summarizedCount")) < m->metadata.n;
    bool is_marked = may_be && json_parse(&own, m->metadata, &metadata) == OK &&
                     json_get(metadata, "summarizedCount");
    ctx_free(&own);
    return is_marked;
}

static bool may_go(const struct memory *m)
{
    return m->layer != LAYER_IDENTITY && !m->expires && !m->valid_to && !is_summary(m);
}

/* *left counts the old memories that did not fit, among those that are looked at. */
static enum status gather_old(struct ctx *ctx, struct engine *e, struct batch *b, int64_t now,
                              int64_t *left)
{
    struct arena *a = &ctx->arena;
    struct memory_filter f = {.pool = b->pool,
                              .before = now - b->days * DAY_MS,
                              .oldest_first = true,
                              .limit = PAGE};
    int64_t room = SUMMARY_TOKENS - tokens_of(summary_header(a, LOOKED_AT, b->days));
    struct memory *taken = NULL, *v;
    size_t cap = 0, n;
    assert(b->days > 0 && b->pool.user.n);
    b->n = 0;
    *left = 0;
    do {
        TRY(store_list_memories(ctx, e->store, &f, &v, &n, NULL));
        for (size_t i = 0; i < n; i++) {
            if (!may_go(&v[i]))
                continue;
            int64_t tokens = tokens_of(summary_line(a, &v[i])) + 1;
            if (tokens > room) {
                (*left)++;
                continue;
            }
            room -= tokens;
            taken = arena_more(a, taken, b->n, &cap, sizeof *taken);
            taken[b->n++] = v[i];
        }
        f.offset += n;
    } while (n == PAGE && f.offset < LOOKED_AT);
    b->v = taken;
    return OK;
}

static str metadata_of(struct ctx *ctx, const struct batch *b, const struct summary *s, int64_t now)
{
    struct buf out = buf_make(&ctx->arena, 1 << 20);
    struct json_out w = json_to(&out);
    json_open(&w, '{');
    json_key(&w, "summarizedCount");
    json_int(&w, (int64_t)b->n);
    json_key(&w, "olderThanDays");
    json_int(&w, b->days);
    json_key(&w, "generatedAt");
    json_time(&w, now);
    json_key(&w, "by");
    json_str(&w, s->model.n ? s->model : S("rule"));
    if (s->why.n) {
        json_key(&w, "fallback");
        json_str(&w, s->why);
    }
    json_key(&w, "ids");
    json_open(&w, '[');
    for (size_t i = 0; i < b->n; i++)
        json_str(&w, b->v[i].id);
    json_close(&w, ']');
    json_close(&w, '}');
    return buf_str(&out);
}

static str key_of(struct ctx *ctx, int64_t now)
{
    struct buf b = buf_make(&ctx->arena, 100);
    struct json_out w = json_to(&b);
    json_time(&w, now);
    str time = str_sub(buf_str(&b), 1, b.n - 1); /* without its quotes */
    return str_printf(&ctx->arena, "summary_" S_FMT, S_ARG(time));
}

/* The model may take a minute: a memory that was changed meanwhile must not be closed, as the
 * summary holds its old text. */
static enum status check_unchanged(struct ctx *ctx, struct engine *e, const struct batch *b)
{
    doc_id *docs = NEW_N(&ctx->arena, doc_id, b->n);
    struct memory *now = NEW_N(&ctx->arena, struct memory, b->n);
    for (size_t i = 0; i < b->n; i++)
        docs[i] = b->v[i].doc;
    TRY(store_memories(ctx, e->store, b->pool, docs, b->n, now));
    for (size_t i = 0; i < b->n; i++)
        if (!str_eq(now[i].content, b->v[i].content))
            return fail(ctx, CONFLICT, "the memory '" S_FMT "' was changed during this call",
                        S_ARG(b->v[i].id));
    return OK;
}

static enum status replace_batch(struct ctx *ctx, struct engine *e, const struct batch *b,
                                 int64_t now, str *id)
{
    assert(b->n > 0);
    struct summary s = summary_of(ctx, e, b);
    if (ctx_is_cut(ctx))
        return fail(ctx, TIMED_OUT, "the call was cancelled before the summary was written");
    struct memory m = {.layer = LAYER_SUMMARY,
                       .type = TYPE_SEMANTIC,
                       .key = key_of(ctx, now),
                       .content = s.text,
                       .metadata = metadata_of(ctx, b, &s, now),
                       .origin = ORIGIN_DISTILLED,
                       .created = now,
                       .updated = now,
                       .last_used = now};
    str *ids = NEW_N(&ctx->arena, str, b->n);
    for (size_t i = 0; i < b->n; i++) {
        ids[i] = b->v[i].id;
        m.importance = b->v[i].importance > m.importance ? b->v[i].importance : m.importance;
    }
    m.salience = m.importance;
    if (s.model.n)
        TRY(check_unchanged(ctx, e, b));
    TRY(store_condense(ctx, e->store, b->pool, &m, ids, b->n));
    *id = m.id;
    return OK;
}

/* One space. The store refuses a summary when one of its memories was changed meanwhile; the round
 * then starts again, a millisecond later, as another round may have used the same key. */
static enum status compact_space(struct ctx *ctx, struct engine *e, struct batch *b, bool dry_run,
                                 struct condense_out *out)
{
    int64_t left = 0;
    enum status s = OK;
    str id = S("");
    for (int left_tries = TRIES; left_tries > 0; left_tries--) {
        int64_t now = clock_ms() + TRIES - left_tries;
        TRY(gather_old(ctx, e, b, now, &left));
        if (dry_run || !b->n)
            break;
        s = replace_batch(ctx, e, b, now, &id);
        if (left_tries == 1 || !soft_if(ctx, s, CONFLICT))
            break;
    }
    TRY(s);
    out->left += left;
    if (!dry_run && b->n) {
        out->removed += (int64_t)b->n;
        out->summaries.v[out->summaries.n++] = id;
    }
    return OK;
}

static enum status pools_of(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            struct pool_ref **out, size_t *n)
{
    struct pool_info *all;
    *n = 1;
    if (pool.space.n) {
        *out = NEW(&ctx->arena, struct pool_ref);
        **out = pool;
        return OK;
    }
    TRY(store_pools(ctx, e->store, pool.user, &all, n));
    *out = NEW_N(&ctx->arena, struct pool_ref, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = all[i].pool;
    return OK;
}

static int oldest_first(const void *a, const void *b)
{
    const struct memory *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

enum status engine_condense(struct ctx *ctx, struct engine *e, const struct condense_in *in,
                            struct condense_out *out)
{
    struct pool_ref *pools;
    size_t n, cap = 0;
    if (in->older_than_days < 1)
        return fail_field(ctx, "olderThanDays", "must be at least 1");
    TRY(pools_of(ctx, e, in->pool, &pools, &n));
    struct condense_out given = {.dry_run = in->dry_run};
    given.summaries.v = NEW_N(&ctx->arena, str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct batch b = {.pool = pools[i], .days = in->older_than_days};
        TRY(compact_space(ctx, e, &b, in->dry_run, &given));
        for (size_t k = 0; k < b.n; k++) {
            struct memory *v = given.candidates;
            given.candidates = arena_more(&ctx->arena, v, given.n, &cap, sizeof *v);
            given.candidates[given.n++] = b.v[k];
            given.tokens += tokens_of(b.v[k].content);
        }
    }
    if (given.n)
        qsort(given.candidates, given.n, sizeof *given.candidates, oldest_first);
    log_event(LOG_INFO, "condense.done", "candidates=%zu removed=%lld left=%lld", given.n,
              (long long)given.removed, (long long)given.left);
    *out = given;
    return OK;
}
