/* engine.c - opening and closing the engine, and how it is doing. */
#include "engine/engine_int.h"

#include "base/words.h"
#include "llm/llm.h"

enum { LINE_MAX_BYTES = 300, LINE_WORDS_MAX = 200 };

const char *const memory_mode_names[] = {"full", "readonly", "after", "off", NULL};

enum status engine_open(struct ctx *ctx, struct store *store, const struct settings *settings,
                        struct engine **out)
{
    struct extractor *x = extractor_new();
    if (!x)
        return fail(ctx, UNSUPPORTED, "the patterns of extraction do not compile here");
    struct engine *e = heap_alloc(sizeof *e);
    e->store = store;
    e->settings = settings;
    e->extractor = x;
    enum status s = embed_open(ctx, settings, settings->data, &e->embed);
    if (s == OK)
        s = live_open(ctx, e);
    if (s == OK)
        *out = e;
    else
        engine_close(e);
    return s;
}

static void engine_free(struct engine *e)
{
    live_free(e);
    embed_close(e->embed);
    extractor_free(e->extractor);
    seal_free(e);
    free(e);
}

void engine_close(struct engine *e)
{
    if (e)
        engine_free(e);
}

const int64_t recall_bucket_us[] = {100,   250,   500,   1000,   2500,  5000,
                                    10000, 25000, 50000, 100000, 250000};

void engine_count_recall(struct engine *e, int64_t took_us)
{
    size_t i = 0;
    while (i < RECALL_BUCKETS - 1 && took_us >= recall_bucket_us[i])
        i++;
    count(&e->recalls, 1);
    count(&e->recall_buckets[i], 1);
    count(&e->recall_us_sum, (uint64_t)took_us);
}

enum status engine_stats(struct ctx *ctx, struct engine *e, struct engine_stats *out)
{
    struct engine_stats s = {
        .recalls = e->recalls,
        .recalled = e->recalled,
        .injected_tokens = e->injected_tokens,
        .silent = e->silent,
        .timed_out = e->timed_out,
        .failed = e->failed,
        .turns = e->turns,
        .facts = e->facts,
        .dropped_turns = e->dropped_turns,
        .rerank_failed = e->rerank_failed,
        .distilled = e->distilled,
        .distil_failed = e->distil_failed,
        .core_tokens = (uint64_t)llm_meter_spent(&e->meter),
        .recall_us_sum = e->recall_us_sum,
    };
    for (size_t i = 0; i < RECALL_BUCKETS; i++)
        s.recall_buckets[i] = e->recall_buckets[i];
    TRY(store_stats(ctx, e->store, &s.store));
    *out = s;
    return OK;
}

enum status engine_ping(struct ctx *ctx, struct engine *e)
{
    return store_ping(ctx, e->store);
}

static bool share_a_word(struct words a, struct words b)
{
    for (size_t i = 0; i < a.n; i++)
        for (size_t k = 0; k < b.n && !a.v[i].is_stop; k++)
            if (str_eq(a.v[i].stem, b.v[k].stem))
                return true;
    return false;
}

/* What was recalled fits the question in some way; what was merely said before must share a word
 * with it. */
str engine_demo_answer(struct ctx *ctx, str question, const struct turn *t)
{
    struct arena *a = &ctx->arena;
    struct strs known = block_texts(a, t->block);
    str *lines = NEW_N(a, str, known.n + t->n_window + 1);
    size_t n = 0;
    question = engine_strip_block(a, question);
    struct words asked = words_of(a, question, LINE_WORDS_MAX);
    for (size_t i = 0; i < t->n_window; i++) {
        str line = utf8_cut(str_trim(t->window[i].text), LINE_MAX_BYTES);
        if (str_is(t->window[i].role, "user") &&
            share_a_word(asked, words_of(a, line, LINE_WORDS_MAX)))
            lines[n++] = line;
    }
    for (size_t i = 0; i < known.n; i++)
        lines[n++] = known.v[i];
    return llm_demo_answer(a, question, lines, n);
}
