/* reindex.c - makes missing vectors, or all vectors again, with progress on a terminal. */
#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "app/progress.h"
#include "store/store.h"

/* What the background of a server does anyway, at once. Both work on the same queue. */

SHAPE(reindex_out, (STR, source), (STR, model), (INT, vectors), (INT, failed), (INT, waiting));

/* One batch in a child ctx, whose memory is freed: a store may hold millions of texts. */
static enum status embed_batch(struct ctx *ctx, struct instance *instance, struct vector_stats *now,
                               bool *more)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    enum status s = engine_embed_some(&own, instance->engine, more);
    if (s == OK)
        s = store_vector_stats(&own, instance->store, NULL, now);
    return ctx_pass(ctx, &own, s);
}

/* Ends when nothing more can be made now; what waits or has failed is printed at the end. */
static enum status embed_all(struct ctx *ctx, struct instance *instance, struct vector_stats *now)
{
    struct progress progress = {0};
    bool more = true;
    enum status s = OK;
    while (s == OK && more) {
        s = embed_batch(ctx, instance, now, &more);
        if (s == OK)
            progress_show(&progress, "vectors", now->rows, now->rows + now->waiting, 1, "texts");
    }
    progress_end(&progress);
    return s;
}

/* Marks first, embeds then: when interrupted, the server makes the rest in the background. */
enum status command_reindex(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct pool_ref everywhere = {.user = o->user};
    struct engine_status status;
    struct vector_stats now;
    int64_t waiting;
    TRY(instance_open(ctx, o, TO_CHANGE, &instance));
    TRY(engine_reindex(ctx, instance.engine, o->force, &waiting));
    TRY(engine_status(ctx, instance.engine, everywhere, false, &status));
    if (!status.embedding_source)
        return fail(ctx, UNSUPPORTED, "no embedding source is usable: " S_FMT,
                    S_ARG(status.embedding.reason));
    TRY(embed_all(ctx, &instance, &now));
    struct reindex_out out = {str_of(status.embedding_source), status.embedding.model, now.rows,
                              now.failed, now.waiting};
    if (o->json)
        return print_fields(ctx, reindex_out_fields, &out);
    printf("%lld vectors by %s " S_FMT, (long long)now.rows, status.embedding_source,
           S_ARG(status.embedding.model));
    if (now.waiting || now.failed)
        printf("; %lld texts queued, %lld failed", (long long)now.waiting, (long long)now.failed);
    putchar('\n');
    return OK;
}
