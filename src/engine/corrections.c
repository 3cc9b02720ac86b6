/* corrections.c - many memories changed at once, what they said before, and undoing. */
#include "base/clock.h"
#include "base/id.h"
#include "engine/extract/secrets.h"
#include "engine/recall/tombstone_writer.h"
#include "engine/state/state.h"

struct undo_mark engine_undo_mark(struct ctx *ctx)
{
    return (struct undo_mark){id_random(&ctx->arena), clock_ms() + UNDO_MS};
}

/* A turn that is being kept would come behind it. */
enum status engine_undo(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                        int64_t *restored)
{
    engine_catch_up(ctx, e, pool);
    return store_undo(ctx, e->store, pool, id, restored);
}

enum status engine_undo_prune(struct ctx *ctx, struct engine *e)
{
    return store_undo_prune(ctx, e->store, clock_ms());
}

enum status engine_history(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           struct history_item **out, size_t *n)
{
    engine_catch_up(ctx, e, pool);
    return store_history(ctx, e->store, pool, id, out, n);
}

/* Those that end with it: what messages state of them is barred, as when they end by themselves. */
static enum status bar_ended(struct ctx *ctx, struct engine *e, const struct change *change,
                             const str *ids, size_t n)
{
    struct barring_in in = {.pool = change->pool,
                            .reason = BAR_EXPIRED,
                            .at = change->to.expires,
                            .undo = change->undo};
    struct memory *v = NEW_N(&ctx->arena, struct memory, n + 1);
    int64_t barred;
    for (size_t i = 0; i < n; i++) {
        enum status s = store_memory(ctx, e->store, change->pool, ids[i], &v[in.n]);
        if (soft_if(ctx, s, NOT_FOUND))
            continue;
        TRY(s);
        in.n += !v[in.n].valid_to;
    }
    in.memories = v;
    return in.n ? bar_statements(ctx, e, &in, &barred) : OK;
}

static enum status check_grown(struct ctx *ctx, struct engine *e, const struct change *change,
                               const str *ids, size_t n)
{
    struct quota more = {0};
    struct memory old;
    for (size_t i = 0; i < n; i++) {
        enum status s = store_memory(ctx, e->store, change->pool, ids[i], &old);
        if (s == OK)
            more.bytes += quota_grown(change, &old);
        else if (!soft_if(ctx, s, NOT_FOUND))
            return s;
    }
    return quota_check(ctx, e, change->pool, more);
}

enum status engine_change_each(struct ctx *ctx, struct engine *e, const struct change *change,
                               const str *ids, size_t n, int64_t *changed)
{
    if (change->what & (CHANGE_CONTENT | CHANGE_KEY))
        return fail_field(ctx, "change", "must not set content or key, which are of one memory");
    engine_catch_up(ctx, e, change->pool); /* what was said before is older than this change */
    struct change wanted = *change;
    secrets_leave(e, &ctx->arena, &wanted.to);
    TRY(check_grown(ctx, e, &wanted, ids, n));
    TRY(store_change_each(ctx, e->store, &wanted, ids, n, changed));
    bool has_ended =
        (change->what & CHANGE_EXPIRES) && change->to.expires && change->to.expires <= clock_ms();
    return has_ended ? bar_ended(ctx, e, change, ids, n) : OK;
}
