/* stats.c - the engine's counters, and its status. */
#include "base/clock.h"
#include "engine/state/state.h"

const int64_t recall_bucket_us[] = {100,   250,   500,   1000,   2500,  5000,
                                    10000, 25000, 50000, 100000, 250000};

/* Buckets of a histogram in microseconds, as metrics show it; the last one has no upper end. */
void engine_count_recall(struct engine *e, int64_t took_us)
{
    size_t i = 0;
    while (i < RECALL_BUCKETS - 1 && took_us >= recall_bucket_us[i])
        i++;
    count(&e->counters.recalls, 1);
    count(&e->counters.recall_buckets[i], 1);
    count(&e->counters.recall_us_sum, (uint64_t)took_us);
}

bool engine_has_chats(const struct engine *e)
{
    return clock_mono_us() - e->work.chat_at < CHATS_MS * 1000;
}

/* Counters are atomic one by one and not together: their sums may differ by calls in flight. */
enum status engine_stats(struct ctx *ctx, struct engine *e, struct engine_stats *out)
{
#define COPY(name) .name = e->counters.name,
    *out = (struct engine_stats){
        ENGINE_COUNTERS(COPY).rerank_failed = e->rerank.failures,
        .core_tokens = (uint64_t)llm_meter_spent(&e->core_model.meter),
    };
    for (size_t i = 0; i < RECALL_BUCKETS; i++)
        out->recall_buckets[i] = e->counters.recall_buckets[i];
    return store_stats(ctx, e->store, &out->store);
}

enum status engine_ping(struct ctx *ctx, struct engine *e)
{
    return store_ping(ctx, e->store);
}

void engine_accessed(struct ctx *ctx, struct engine *e, struct pool_ref pool, const doc_id *docs,
                     size_t n)
{
    soft(ctx, store_touch(ctx, e->store, pool, docs, n, clock_ms()));
}

enum status engine_check(struct ctx *ctx, struct engine *e, bool is_deep, str *findings)
{
    TRY(store_check(ctx, e->store, findings));
    enum status s = is_deep && !findings->n ? store_check_pages(ctx, e->store, findings) : OK;
    return soft_if(ctx, s, UNSUPPORTED) ? OK : s; /* PostgreSQL checks its own */
}

enum status engine_check_erasures(struct ctx *ctx, struct engine *e)
{
    return store_check_erasures(ctx, e->store);
}
