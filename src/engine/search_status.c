/* search_status.c - the status of words, vectors, Qdrant and the reranker; and reindexing. */
#include "engine/compact/compact.h"
#include "engine/rerank/ask_order.h"
#include "engine/vectors/embed_queue.h"
#include "engine/vectors/qdrant_sync.h"

/*
 * What health checks and the settings page show: is the words index sound, which source makes
 * vectors and how many are missing, is Qdrant well, does the reranker answer. Everything here
 * reports; only reindexing at the end changes something. With probe the servers are asked now, else
 * the last known state is told, so that a page may be polled.
 */

enum { PROBE_MS = 5000 }; /* for a source that is asked for its dimensions, while a caller waits */

/* --- status --- */

static void embedding_status(struct ctx *ctx, struct engine *e, struct engine_status *out)
{
    struct chosen c = chosen_of(ctx, e);
    struct embed_status *s = &out->embedding;
    embed_status(ctx, e->embed, s);
    if (c.source)
        out->embedding_source = embed_source_names[c.source];
    else
        *s = (struct embed_status){.model = S(""),
                                   .reason = no_source(ctx, e),
                                   .hits = s->hits,
                                   .misses = s->misses,
                                   .size = s->size};
}

/* Of one space, or summed over all spaces of the user. */
static enum status vector_counts(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                 struct engine_status *out)
{
    struct pool_info *v;
    size_t n;
    TRY(run_pools(ctx, e, pool, &v, &n));
    for (size_t i = 0; i < n; i++) {
        struct vector_stats one;
        TRY(store_vector_stats(ctx, e->store, &v[i].pool, &one));
        out->vectors.rows += one.rows;
        out->vectors.waiting += one.waiting;
        out->vectors.failed += one.failed;
    }
    return OK;
}

/* Why vectors cannot be made or found, or "". */
static str hindrance_of(struct ctx *ctx, struct engine *e, const struct chosen *c, bool is_there)
{
    static const char *const words[] = {
        [TROUBLE_NONE] = "",
        [TROUBLE_SOURCE] = "the embedding source failed",
        [TROUBLE_LENGTH] = ("the source gives vectors of another length than the stored ones; "
                            "'rememberd reindex --force' replaces them"),
        [TROUBLE_STORE] = "vectors cannot be written",
        [TROUBLE_OTHER] = "another process on this data makes vectors by another source",
    };
    enum trouble trouble = e->vectors.trouble;
    if (!c->source)
        return no_source(ctx, e);
    if (trouble && dependency_is_failing(&e->vectors.making))
        return dependency_retry(&ctx->arena, &e->vectors.making, str_of(words[trouble]));
    if (trouble)
        return str_of(words[trouble]);
    return is_there ? S("") : S("no vector of this source was made yet");
}

static enum status vectors_status(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  struct engine_status *out)
{
    struct chosen c = chosen_of(ctx, e);
    struct vector_set set;
    TRY(store_vector_set(ctx, e->store, &set));
    TRY(vector_counts(ctx, e, pool, out));
    bool is_there = set.dimensions && str_eq(maker_of(set.signature), c.maker);
    bool is_qdrant = engine_runtime(e)->vector_store == VECTORS_IN_QDRANT && out->qdrant.healthy;
    out->vectors.backend = is_qdrant ? "qdrant" : c.source ? "sqlite-vec" : "none";
    out->vectors.available = is_qdrant || (c.source && is_there);
    out->vectors.reason = hindrance_of(ctx, e, &c, is_there);
    return OK;
}

/* Searches for a word, as a damaged index shows only in a search. */
static bool words_answer(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct word_hits hits;
    str stem = S("rememberd");
    return store_search_words(&own, e->store, pool, &stem, 1, false, 1, &hits) == OK;
}

enum status engine_status(struct ctx *ctx, struct engine *e, struct pool_ref pool, bool probe,
                          struct engine_status *out)
{
    engine_catch_up(ctx, e, pool); /* what a chat has taught waits for its vectors */
    struct engine_status s = {.words_ok = words_answer(ctx, e, pool)};
    mirror_status(ctx, e, probe, &s);
    TRY(vectors_status(ctx, e, pool, &s));
    embedding_status(ctx, e, &s); /* last: who made the vectors that are counted has told more */
    rerank_status(ctx, e, probe, &s);
    *out = s;
    return OK;
}

/* --- providers --- */

/* A local model. Clients show has_key as "ready": here it means that the files are installed. */
static struct embed_provider local_of(struct ctx *ctx, const struct engine *e,
                                      enum embed_source source, str model)
{
    const struct model_card *card = model_card(model);
    str folder = model_folder(ctx, e->settings, e->settings->data);
    struct embed_provider_model *one = NEW(&ctx->arena, struct embed_provider_model);
    *one = (struct embed_provider_model){model, card ? card->dimensions : 0};
    return (struct embed_provider){.name = str_of(embed_source_names[source]),
                                   .models = one,
                                   .n_models = 1,
                                   .has_key = card && model_is_installed(ctx, folder, card)};
}

struct embed_providers engine_embedding_providers(struct ctx *ctx, struct engine *e)
{
    struct embed_providers all = embed_providers(ctx, e->settings);
    all.v = DUP_N(&ctx->arena, all.v, all.n, all.n + 2);
    all.v[all.n++] = local_of(ctx, e, EMBED_STATIC, e->settings->static_model);
    all.v[all.n++] = local_of(ctx, e, EMBED_TRANSFORMERS, e->settings->transformers_model);
    return all;
}

/* --- reindex --- */

/* When the source does not answer, the set is emptied, and the status reports the source. */
static enum status begin_set(struct ctx *ctx, struct engine *e, const struct chosen *c, bool anew)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, PROBE_MS);
    struct vector_set set;
    if (vectors_ready(&own, e, c, anew, &set) == OK && anew)
        return OK;
    TRY(store_vector_set(ctx, e->store, &set));
    return set.dimensions ? store_begin_vectors(ctx, e->store, &set, anew) : OK;
}

enum status engine_reindex(struct ctx *ctx, struct engine *e, bool anew, int64_t *waiting)
{
    struct chosen c = chosen_of(ctx, e);
    struct vector_stats counts;
    TRY(runtime_renew(ctx, e));
    if (c.source)
        TRY(begin_set(ctx, e, &c, anew));
    if (anew)
        TRY(store_sync_all(ctx, e->store));
    TRY(store_vector_stats(ctx, e->store, NULL, &counts));
    *waiting = counts.waiting;
    return OK;
}

enum status engine_vectors(struct ctx *ctx, struct engine *e, struct vector_stats *out)
{
    return store_vector_stats(ctx, e->store, NULL, out);
}

enum status engine_try_vectors(struct ctx *ctx, struct engine *e, int64_t *dimensions)
{
    struct embedding made;
    str text = S("hello");
    TRY(embed_texts(ctx, e->embed, &text, 1, &made));
    *dimensions = (int64_t)made.dimensions;
    return OK;
}
