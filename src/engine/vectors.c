/* vectors.c - questions and what is kept become vectors, in chats and in the background. */
#include "engine/vectors.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"

enum { BATCH_MAX = 512 };

/* What is made at once: a table takes microseconds for a text, a transformer milliseconds. */
static const size_t batch_of[] = {
    [EMBED_REMOTE] = 64, [EMBED_STATIC] = BATCH_MAX, [EMBED_TRANSFORMERS] = 16};

/* --- what is chosen --- */

/* "static:table:256" is made by "static:table:". */
str maker_of(str signature)
{
    while (signature.n && signature.p[signature.n - 1] != ':')
        signature.n--;
    return signature;
}

struct chosen chosen_of(struct ctx *ctx, struct engine *e)
{
    bool is_off = str_is(e->settings->vectors, "off");
    struct chosen c = {.signature = is_off ? S("") : embed_signature(ctx, e->embed)};
    str rest = c.signature, name = str_cut(&rest, ':');
    c.maker = maker_of(c.signature);
    for (int i = EMBED_REMOTE; c.signature.n && i <= EMBED_TRANSFORMERS; i++)
        if (str_is(name, embed_source_names[i]))
            c.source = (enum embed_source)i;
    return c;
}

str no_source(struct ctx *ctx, struct engine *e)
{
    struct embed_status status;
    if (str_is(e->settings->vectors, "off"))
        return S("vectors are switched off");
    embed_status(ctx, e->embed, &status);
    return status.reason;
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
        out->without = no_source(ctx, e);
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

/* When to try again what failed by itself, by how often it has; then it is given up. */
static const int64_t again_ms[] = {10000, 60000};
enum { AGAIN = sizeof again_ms / sizeof *again_ms };

/* One batch on its way from the queue to the store. */
struct batch {
    struct engine *e;
    const struct vector_set *set;
    struct vector_put *put; /* what is decided so far */
    size_t n;
    bool is_stale; /* another source is chosen meanwhile */
};

static enum status in_trouble(struct engine *e, enum trouble what, enum status s)
{
    if (s != OK)
        e->trouble = what;
    return s;
}

/* Asks for a text that no cache can know. */
static enum status probe(struct ctx *ctx, struct engine *e, struct embedding *out)
{
    str id = id_random(&ctx->arena);
    str text = str_printf(&ctx->arena, "Is anyone there? " S_FMT, S_ARG(id));
    return in_trouble(e, TROUBLE_SOURCE, embed_texts(ctx, e->embed, &text, 1, out));
}

static uint64_t mark_of(const struct vector_set *set)
{
    return str_hash(set->signature) * 2 + set->is_int8 + 1;
}

/* Two processes on one store that are told different sources would take turns for ever: the one
 * whose set was replaced gives way. */
static enum status begin(struct ctx *ctx, struct engine *e, const struct vector_set *set, bool anew)
{
    if (!anew && e->begun == mark_of(set)) {
        e->trouble = TROUBLE_OTHER;
        return fail(ctx, CONFLICT, "another process on this data has chosen another source");
    }
    TRY(in_trouble(e, TROUBLE_STORE, store_begin_vectors(ctx, e->store, set, anew)));
    e->begun = mark_of(set);
    log_event(LOG_INFO, "vectors.begun", "signature=" S_FMT " int8=%d", S_ARG(set->signature),
              set->is_int8);
    return OK;
}

enum status vectors_ready(struct ctx *ctx, struct engine *e, const struct chosen *c, bool anew,
                          struct vector_set *out)
{
    struct embedding v;
    struct vector_set set;
    bool is_int8 = str_is(e->settings->vec_quantization, "int8");
    TRY(in_trouble(e, TROUBLE_STORE, store_vector_set(ctx, e->store, &set)));
    bool is_same = !anew && set.dimensions && set.is_int8 == is_int8 &&
                   str_eq(maker_of(set.signature), c->maker);
    if (!is_same || (c->source != EMBED_REMOTE && !is_warm(e, c))) {
        TRY(probe(ctx, e, &v));
        e->warm = str_hash(maker_of(embedding_signature(ctx, &v)));
        struct vector_set now = {embedding_signature(ctx, &v), v.dimensions, is_int8, 0};
        is_same = is_same && str_eq(set.signature, now.signature);
        set = now;
    }
    if (is_same)
        e->begun = mark_of(&set);
    else
        TRY(begin(ctx, e, &set, anew));
    *out = set;
    return OK;
}

static void decide(struct batch *b, const struct unembedded *u, const float *v, int64_t again_at)
{
    b->put[b->n++] = (struct vector_put){u->no, u->doc, v, again_at};
}

static void give_back(struct batch *b, const struct unembedded *u)
{
    bool again = u->tries >= 0 && u->tries < AGAIN;
    if (!again)
        log_event(LOG_WARN, "vectors.given_up", "doc=%lld", (long long)u->doc);
    decide(b, u, NULL, again ? clock_ms() + again_ms[u->tries] : 0);
}

/* Vectors of another source or length are not for this set. */
static enum status check_made(struct ctx *ctx, struct batch *b, const struct embedding *v)
{
    str made = embedding_signature(ctx, v);
    if (str_eq(made, b->set->signature))
        return OK;
    b->is_stale = !str_eq(maker_of(made), maker_of(b->set->signature));
    if (b->is_stale)
        return fail(ctx, CONFLICT, "another source is chosen meanwhile");
    b->e->trouble = TROUBLE_LENGTH;
    return fail(ctx, UPSTREAM, "the source gives %zu values where the kept vectors have %zu",
                v->dimensions, b->set->dimensions);
}

static enum status make_together(struct ctx *ctx, struct batch *b, const struct unembedded *u,
                                 size_t n)
{
    str *texts = NEW_N(&ctx->arena, str, n);
    struct embedding *v = NEW_N(&ctx->arena, struct embedding, n);
    for (size_t i = 0; i < n; i++)
        texts[i] = u[i].text;
    TRY(in_trouble(b->e, TROUBLE_SOURCE, embed_texts(ctx, b->e->embed, texts, n, v)));
    TRY(check_made(ctx, b, &v[0]));
    for (size_t i = 0; i < n; i++)
        decide(b, &u[i], is_null(&v[i]) ? NULL : v[i].v, 0);
    return OK;
}

/* What is refused is halved until it is known which texts are refused by themselves. Only called
 * when the source is known to answer. */
static enum status make_apart(struct ctx *ctx, struct batch *b, const struct unembedded *u,
                              size_t n)
{
    enum status s = make_together(ctx, b, u, n);
    if (s == OK || b->is_stale || !str_is(embed_reason(ctx), "request_failed"))
        return s;
    ctx_clear_failure(ctx);
    if (n == 1) {
        give_back(b, u);
        return OK;
    }
    TRY(make_apart(ctx, b, u, n / 2));
    return make_apart(ctx, b, u + n / 2, n - n / 2);
}

/* A refusal may be for a text's sake: then another text is not refused. */
static enum status make(struct ctx *ctx, struct batch *b, const struct unembedded *u, size_t n)
{
    struct embedding v;
    enum status s = make_together(ctx, b, u, n);
    if (s == OK || b->is_stale || !str_is(embed_reason(ctx), "request_failed"))
        return s;
    str why = str_dup(&ctx->arena, str_of(ctx->why));
    ctx_clear_failure(ctx);
    if (probe(ctx, b->e, &v) != OK) {
        ctx_clear_failure(ctx);
        return fail(ctx, s, S_FMT, S_ARG(why));
    }
    return make_apart(ctx, b, u, n);
}

static enum status try_some(struct ctx *ctx, struct engine *e, const struct chosen *c,
                            const struct pool_ref *pool, size_t *max)
{
    struct vector_set set;
    struct unembedded *u;
    size_t n;
    TRY(vectors_ready(ctx, e, c, false, &set));
    size_t limit = *max < batch_of[c->source] ? *max : batch_of[c->source];
    TRY(in_trouble(e, TROUBLE_STORE, store_unembedded(ctx, e->store, pool, limit, &u, &n)));
    if (!n) {
        *max = limit;
        return OK;
    }
    struct batch b = {.e = e, .set = &set, .put = NEW_N(&ctx->arena, struct vector_put, n)};
    enum status s = make(ctx, &b, u, n);
    if (b.n)
        TRY(in_trouble(e, TROUBLE_STORE,
                       store_put_vectors(ctx, e->store, set.signature, b.put, b.n)));
    if (b.is_stale)
        ctx_clear_failure(ctx);
    *max = limit - n;
    return b.is_stale ? OK : s;
}

/* One batch of at most *max texts; *max becomes the room that was left in it. */
static enum status make_some(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                             size_t *max)
{
    struct chosen c = chosen_of(ctx, e);
    int64_t ticket;
    if (!c.source || !breaker_begin(&e->making, &ticket))
        return OK;
    enum status s = try_some(ctx, e, &c, pool, max);
    breaker_end(&e->making, ticket, s == OK);
    if (s == OK)
        e->trouble = TROUBLE_NONE;
    return s;
}

enum status engine_embed_some(struct ctx *ctx, struct engine *e, bool *more)
{
    (void)engine_live(e); /* what another process has changed is seen also when nobody asks */
    size_t room = BATCH_MAX;
    enum status s = make_some(ctx, e, NULL, &room);
    *more = s == OK && !room;
    return s;
}

void vectors_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t max)
{
    struct ctx own = {.deadline_us = half_of(ctx)};
    if (max && make_some(&own, e, &pool, &max) != OK)
        log_event(LOG_DEBUG, "vectors.late", "why=\"%s\"", own.why);
    ctx_free(&own);
}
