/* vectors.c - questions and what is kept become vectors: in chats, before a search, in the
 * background. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"

/* --- what is chosen --- */

/* The source of vectors as it is chosen now. */
struct chosen {
    enum embed_source source;
    str signature; /* of its vectors; "" without a source */
    str maker;     /* the signature without the length, which may not be known yet */
};

/* "static:table:256" is made by "static:table:". */
static str maker_of(str signature)
{
    while (signature.n && signature.p[signature.n - 1] != ':')
        signature.n--;
    return signature;
}

static struct chosen chosen_of(struct ctx *ctx, struct engine *e)
{
    struct chosen c = {.signature = embed_signature(ctx, e->embed)};
    str rest = c.signature, name = str_cut(&rest, ':');
    c.maker = maker_of(c.signature);
    for (int i = EMBED_REMOTE; c.signature.n && i <= EMBED_TRANSFORMERS; i++)
        if (str_is(name, embed_source_names[i]))
            c.source = (enum embed_source)i;
    return c;
}

static bool is_warm(const struct engine *e, const struct chosen *c)
{
    return e->warm == str_hash(c->maker);
}

/* Half of what is left, so that there is time for what follows. */
static int64_t half_of(const struct ctx *ctx)
{
    int64_t now = clock_mono_us();
    return ctx->deadline_us ? now + (ctx->deadline_us - now) / 2 : 0;
}

/* --- a question --- */

/* Why not to try, or NULL. */
static const char *hindrance(struct ctx *ctx, struct engine *e, const struct chosen *c)
{
    struct vector_set set;
    if (store_vector_set(ctx, e->store, &set) != OK)
        return "the vectors cannot be read";
    if (!set.dimensions || !str_eq(maker_of(set.signature), c->maker))
        return "there are no vectors of this source yet";
    if (ctx->deadline_us && c->source != EMBED_REMOTE && !is_warm(e, c))
        return "the model is not loaded yet";
    return NULL;
}

static bool is_null(const struct embedding *v)
{
    for (size_t i = 0; i < v->dimensions; i++)
        if (v->v[i] != 0)
            return false;
    return true;
}

static enum status ask(struct ctx *ctx, struct engine *e, const struct chosen *c, str text,
                       struct embedding *out)
{
    int64_t ticket;
    if (!breaker_begin(&e->questions, &ticket))
        return fail(ctx, UPSTREAM, "the source has failed and is left alone for %lld s",
                    (long long)breaker_seconds(&e->questions));
    enum status s = embed_texts(ctx, e->embed, &text, 1, out);
    breaker_end(&e->questions, ticket, s == OK);
    TRY(s);
    e->warm = str_hash(c->maker);
    return is_null(out) ? fail(ctx, NOT_FOUND, "the model knows no word of the question") : OK;
}

static void find_vector(struct ctx *ctx, struct engine *e, str text, struct question_vector *out)
{
    struct chosen c = chosen_of(ctx, e);
    struct embedding v;
    out->signature = c.signature;
    if (!c.source) {
        struct embed_status status;
        embed_status(ctx, e->embed, &status);
        out->without = status.reason;
        return;
    }
    const char *why = hindrance(ctx, e, &c);
    if (why || ask(ctx, e, &c, text, &v) != OK) {
        out->without = str_of(why ? why : ctx->why);
        return;
    }
    out->v = v.v;
    out->dimensions = v.dimensions;
    out->signature = embedding_signature(ctx, &v);
}

void vectors_of_question(struct ctx *ctx, struct engine *e, str text, struct question_vector *out)
{
    struct ctx own = {.deadline_us = half_of(ctx)};
    struct question_vector found = {0};
    find_vector(&own, e, text, &found);
    *out = (struct question_vector){.dimensions = found.dimensions,
                                    .signature = str_dup(&ctx->arena, found.signature),
                                    .without = str_dup(&ctx->arena, found.without)};
    if (found.v) {
        float *v = NEW_N(&ctx->arena, float, found.dimensions);
        memcpy(v, found.v, found.dimensions * sizeof *v);
        out->v = v;
    }
    ctx_free(&own);
}

/* --- what is kept --- */

void vectors_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t max)
{
    (void)ctx, (void)e, (void)pool, (void)max;
}
