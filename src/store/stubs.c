/* stubs.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "store/store.h"

enum status store_read_omniroute(struct ctx *ctx, str path,
                                 enum status (*row)(struct ctx *ctx, void *own,
                                                    const struct omniroute_row *row, int64_t done,
                                                    int64_t all),
                                 void *own)
{
    return fail(ctx, UNSUPPORTED, "store_read_omniroute is not built yet");
}

enum status qdrant_health(struct ctx *ctx, const struct qdrant_settings *q, int64_t *took_us)
{
    return fail(ctx, UNSUPPORTED, "qdrant_health is not built yet");
}

enum status qdrant_put(struct ctx *ctx, const struct qdrant_settings *q,
                       const struct qdrant_point *points, size_t n)
{
    return fail(ctx, UNSUPPORTED, "qdrant_put is not built yet");
}

enum status qdrant_search(struct ctx *ctx, const struct qdrant_settings *q,
                          const struct qdrant_find *f, struct qdrant_hit **out, size_t *n)
{
    return fail(ctx, UNSUPPORTED, "qdrant_search is not built yet");
}

enum status qdrant_delete(struct ctx *ctx, const struct qdrant_settings *q, const str *ids,
                          size_t n)
{
    return fail(ctx, UNSUPPORTED, "qdrant_delete is not built yet");
}

enum status qdrant_cleanup(struct ctx *ctx, const struct qdrant_settings *q, str user,
                           int64_t before, int64_t *deleted)
{
    return fail(ctx, UNSUPPORTED, "qdrant_cleanup is not built yet");
}
