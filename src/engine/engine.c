/* engine.c - opening and closing the engine. */
#include "engine/accounts/credentials.h"
#include "engine/events/feed.h"
#include "engine/jobs/registry.h"
#include "engine/state/known_tokens.h"
#include "engine/state/spool.h"
#include "engine/state/state.h"

/*
 * One engine for each process and store. It owns the embedding sources, the runtime
 * settings and the circuit breakers; the store and the settings are the caller's and must outlive
 * it. Requests and the background call it from any number of threads.
 */

/* store may be NULL where patterns alone are wanted. On failure all is freed and *out not set. */
enum status engine_open(struct ctx *ctx, struct store *store, const struct settings *settings,
                        struct engine **out)
{
    assert(settings);
    struct engine *e = heap_alloc(sizeof *e);
    e->store = store;
    e->settings = settings;
    e->feed = feed_new(e);
    e->jobs = registry_new(e);
    known_tokens_open(e);
    e->vectors.questions.kind = DEPENDENCY_EMBED_QUESTIONS;
    e->vectors.making.kind = DEPENDENCY_EMBED_QUEUE;
    e->rerank.kind = DEPENDENCY_RERANK;
    e->core_model.background.kind = DEPENDENCY_CORE_MODEL;
    e->core_model.sections.kind = DEPENDENCY_SECTIONS;
    e->core_model.rewriter.kind = DEPENDENCY_REWRITE;
    e->qdrant.server.kind = DEPENDENCY_QDRANT;
    pthread_mutex_init(&e->unkept.lock, NULL);
    pthread_cond_init(&e->unkept.kept, NULL);
    pthread_mutex_init(&e->vectors.beginning, NULL);
    str folder = model_folder(ctx, settings, settings->data);
    e->reranker = reranker_new(folder);
    e->embed = embed_new(settings, folder);
    enum status s = runtime_open(ctx, e);
    if (s == OK)
        *out = e;
    else
        engine_close(e);
    return s;
}

/* NULL is allowed. No call may be running. All turns must be kept by now, as their memory belongs
 * to requests that are over. Jobs are cut first, as they use all the rest. */
void engine_close(struct engine *e)
{
    if (!e)
        return;
    assert(!e->unkept.first);
    registry_free(e->jobs);
    feed_free(e->feed);
    pthread_mutex_destroy(&e->unkept.lock);
    pthread_cond_destroy(&e->unkept.kept);
    spool_close(&e->work.spool);
    pthread_mutex_destroy(&e->vectors.beginning);
    runtime_free(e);
    embed_free(e->embed);
    reranker_free(e->reranker);
    seal_free(e);
    known_tokens_close(e);
    free(e);
}
