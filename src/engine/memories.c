/* memories.c - adding, reading and forgetting single memories. */
#include "engine/engine_int.h"

#include "base/clock.h"

static enum status check_importance(struct ctx *ctx, double importance)
{
    if (importance >= 0 && importance <= 1)
        return OK;
    return fail_field(ctx, "importance", "must be 0 to 1");
}

/* A list shows many memories: one that no answer holds could not be seen at all. */
static enum status check_metadata(struct ctx *ctx, str metadata)
{
    if (metadata.n <= METADATA_MAX)
        return OK;
    return fail_field(ctx, "metadata", "must have at most %d bytes, has %zu", METADATA_MAX,
                      metadata.n);
}

static enum status add(struct ctx *ctx, struct engine *e, struct pool_ref pool, enum put_rule rule,
                       struct memory *m)
{
    int64_t now = clock_ms();
    struct memory kept = *m;
    kept.content = str_trim(m->content);
    if (!kept.content.n)
        return fail_field(ctx, "content", "is required");
    TRY(check_importance(ctx, kept.importance));
    TRY(check_metadata(ctx, kept.metadata));
    if (kept.importance == 0)
        kept.importance = 0.5;
    if (kept.salience == 0)
        kept.salience = kept.importance;
    /* What comes by a call is not the user's own words in a chat. */
    if (kept.origin == ORIGIN_USER)
        kept.origin = ORIGIN_API;
    if (!kept.created)
        kept.created = now;
    if (!kept.updated)
        kept.updated = kept.created;
    if (!kept.last_used)
        kept.last_used = kept.created;
    struct bundle b = {.pool = pool, .memories = &kept, .n_memories = 1, .rule = rule};
    TRY(store_write(ctx, e->store, &b));
    *m = kept;
    return OK;
}

enum status engine_add(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct memory *m)
{
    return add(ctx, e, pool, PUT_SUPERSEDE, m);
}

enum status engine_replace(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           struct memory *m)
{
    return add(ctx, e, pool, PUT_REPLACE, m);
}

enum status engine_change(struct ctx *ctx, struct engine *e, const struct change *change,
                          struct memory *out)
{
    struct change wanted = *change;
    wanted.to.content = str_trim(change->to.content);
    if (!wanted.what)
        return fail(ctx, BAD_INPUT, "say what to change");
    if ((wanted.what & CHANGE_CONTENT) && !wanted.to.content.n)
        return fail_field(ctx, "content", "must not be empty");
    if (wanted.what & CHANGE_IMPORTANCE)
        TRY(check_importance(ctx, wanted.to.importance));
    if (wanted.what & CHANGE_METADATA)
        TRY(check_metadata(ctx, wanted.to.metadata));
    return store_change(ctx, e->store, &wanted, out);
}

enum status engine_get(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                       struct memory *out)
{
    return store_memory(ctx, e->store, pool, id, out);
}

enum status engine_list(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                        struct memory **out, size_t *n, int64_t *total)
{
    return store_list_memories(ctx, e->store, f, out, n, total);
}

enum status engine_totals(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                          struct memory_totals *out)
{
    return store_memory_totals(ctx, e->store, f, out);
}

enum status engine_spaces(struct ctx *ctx, struct engine *e, str user, struct pool_info **out,
                          size_t *n)
{
    return store_pools(ctx, e->store, user, out, n);
}

enum status engine_forget(struct ctx *ctx, struct engine *e, const struct forget *what,
                          int64_t *erased)
{
    if (!what->id.n && !what->session.n && !what->everything && !what->memories)
        return fail_field(ctx, "id", "say what to forget: an id, a session, or everything");
    TRY(store_forget(ctx, e->store, what, erased));
    embed_forget(e->embed);
    return OK;
}

void engine_accessed(struct ctx *ctx, struct engine *e, struct pool_ref pool, const doc_id *docs,
                     size_t n)
{
    if (store_touch(ctx, e->store, pool, docs, n, clock_ms()) != OK)
        ctx_clear_failure(ctx);
}

enum status engine_receipt(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           struct receipt *out)
{
    return store_receipt(ctx, e->store, pool, id, out);
}

enum status engine_work_log(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                            str kind, size_t limit, struct work **out, size_t *n)
{
    return store_work_log(ctx, e->store, pool, kind, limit, out, n);
}
