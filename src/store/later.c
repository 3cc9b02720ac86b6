/* later.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "store/store.h"

enum status store_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms, size_t limit,
                               struct waiting_session **out, size_t *n)
{
    return fail(ctx, UNSUPPORTED, "store_due_sessions is not built yet");
}

enum status store_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                          size_t limit, struct pending_signal **out, size_t *n)
{
    return fail(ctx, UNSUPPORTED, "store_signals is not built yet");
}

enum status store_end_distil(struct ctx *ctx, struct store *s, const struct distil_end *end)
{
    return fail(ctx, UNSUPPORTED, "store_end_distil is not built yet");
}

enum status store_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                                int64_t *n)
{
    return fail(ctx, UNSUPPORTED, "store_flush_signals is not built yet");
}

enum status store_signal_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                               struct signal_stats *out)
{
    return fail(ctx, UNSUPPORTED, "store_signal_stats is not built yet");
}

enum status store_log_work(struct ctx *ctx, struct store *s, const struct work *work)
{
    return fail(ctx, UNSUPPORTED, "store_log_work is not built yet");
}

enum status store_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool, str kind,
                           size_t limit, struct work **out, size_t *n)
{
    return fail(ctx, UNSUPPORTED, "store_work_log is not built yet");
}

enum status store_work_sum(struct ctx *ctx, struct store *s, int64_t since, struct work_sum *out)
{
    return fail(ctx, UNSUPPORTED, "store_work_sum is not built yet");
}

enum status store_touch(struct ctx *ctx, struct store *s, struct pool_ref pool, const doc_id *docs,
                        size_t n, int64_t now)
{
    return fail(ctx, UNSUPPORTED, "store_touch is not built yet");
}

enum status store_consolidate(struct ctx *ctx, struct store *s, const struct consolidation *c,
                              int64_t *changed)
{
    return fail(ctx, UNSUPPORTED, "store_consolidate is not built yet");
}
