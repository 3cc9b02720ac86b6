/* filter.c - a filter of memories read, and as text. */
#include "surface/rest/filter.h"

#include "base/clock.h"
#include "base/time_text.h"

FIELDS(filter_in, FILTER_IN);

/* A number of days from now, or a time. */
static enum status read_expiring(struct ctx *ctx, str text, int64_t *out)
{
    enum { DAYS_MAX = 36500 };
    int64_t days;
    if (!text.n || time_read(text, out))
        return OK;
    if (!str_int(text, &days) || days < 0 || days > DAYS_MAX)
        return fail_field(ctx, "expiring", "must be a number of days up to %d, or a time",
                          DAYS_MAX);
    *out = clock_ms() + days * DAY_MS;
    return OK;
}

enum status filter_read(struct ctx *ctx, const struct filter_in *in, const struct pool_ref *pools,
                        size_t n, struct memory_select *out)
{
    struct memory_select select = {.pools = pools,
                                   .n_pools = n,
                                   .layer = name_index(layer_names, in->layer, -1),
                                   .type = name_index(type_names, in->type, -1),
                                   .origin = name_index(origin_names, in->origin, -1),
                                   .category = in->category,
                                   .session = in->session,
                                   .key = in->key,
                                   .tag = in->tag,
                                   .contains = in->contains,
                                   .after = in->after,
                                   .before = in->before,
                                   .importance_min = in->importance_min,
                                   .importance_max = in->importance_max,
                                   .closed = in->only_closed ? CLOSED_ONLY
                                             : in->closed    ? CLOSED_TOO
                                                             : CLOSED_OUT};
    TRY(read_expiring(ctx, in->expiring, &select.expires_before));
    *out = select;
    return OK;
}

str filter_text(struct ctx *ctx, const struct filter_in *in, const struct pool_ref *pools, size_t n)
{
    enum { TEXT_MAX = 16 << 20 };
    struct buf b = buf_make(&ctx->arena, TEXT_MAX);
    struct json_out w = json_to(&b);
    fields_write(&w, filter_in_fields, in);
    for (size_t i = 0; i < n; i++) {
        json_str(&w, pools[i].user);
        json_str(&w, pools[i].space);
    }
    return buf_str(&b);
}
