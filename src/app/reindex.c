/* reindex.c - makes the vectors that are missing, or all of them anew, and shows how far it is. */
#include "app/bar.h"
#include "app/commands.h"
#include "app/home.h"

struct reindex_out {
    int64_t vectors, failed, waiting;
    str source, model;
};
static const struct field reindex_out_fields[] = {
    {STR(struct reindex_out, source)},  {STR(struct reindex_out, model)},
    {INT(struct reindex_out, vectors)}, {INT(struct reindex_out, failed)},
    {INT(struct reindex_out, waiting)}, {0},
};

/* One batch, with a ctx of its own: a store may hold millions of texts. */
static enum status embed(struct ctx *ctx, struct home *home, struct vector_stats *now, bool *more)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    enum status s = engine_embed_some(&own, home->engine, more);
    if (s == OK)
        s = store_vector_stats(&own, home->store, NULL, now);
    return s == OK ? OK : fail(ctx, s, "%s", own.why);
}

static enum status embed_all(struct ctx *ctx, struct home *home, struct vector_stats *now)
{
    struct bar bar = {0};
    bool more = true;
    enum status s = OK;
    while (s == OK && more) {
        s = embed(ctx, home, now, &more);
        if (s == OK)
            bar_show(&bar, "vectors", now->rows, now->rows + now->waiting, 1, "texts");
    }
    bar_end(&bar);
    return s;
}

enum status command_reindex(struct ctx *ctx, const struct options *o)
{
    CLEANUP(home_close) struct home home = {0};
    struct pool_ref everywhere = {.user = o->user};
    struct engine_status status;
    struct vector_stats now;
    int64_t waiting;
    TRY(home_open(ctx, o, &home));
    TRY(engine_reindex(ctx, home.engine, o->force, &waiting));
    TRY(engine_status(ctx, home.engine, everywhere, false, &status));
    if (!status.embedding.source)
        return fail(ctx, UNSUPPORTED, "there is nothing that makes vectors: " S_FMT,
                    S_ARG(status.embedding.reason));
    TRY(embed_all(ctx, &home, &now));
    struct reindex_out out = {now.rows, now.failed, now.waiting, str_of(status.embedding.source),
                              status.embedding.model};
    if (o->json) {
        struct buf b = buf_make(&ctx->arena, 4096);
        struct json_out w = json_to(&b);
        fields_write(&w, reindex_out_fields, &out);
        print_buf(&b);
        return OK;
    }
    printf("%lld vectors by %s " S_FMT, (long long)now.rows, status.embedding.source,
           S_ARG(status.embedding.model));
    if (now.waiting || now.failed)
        printf("; %lld texts wait, %lld can have none", (long long)now.waiting,
               (long long)now.failed);
    putchar('\n');
    return OK;
}
