/* embed.c - the face: picks the current source, loads its model once, and caches vectors. */
#include "embed/embed.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/workers.h"
#include "embed/cache.h"
#include "embed/encoder.h"
#include "embed/remote.h"

/*
 * Two kinds of locks, of which a thread never holds two at a time. e->lock guards the choice and
 * its outcome and is held for a few copies. The lock of a model is held while the model is loaded,
 * which takes up to seconds. A loaded model does not change until embed_free, so vectors are
 * computed without a lock. The names of local models come from the settings, which do not change
 * while the server runs: one model for each source is enough.
 */

const char *const embed_failure_names[] = {"unknown", "no_key",         "rate_limited",
                                           "timeout", "request_failed", "model_load_failed",
                                           NULL};

/* A model that failed to load is tried again after this time: it may be installed by then. */
enum { RETRY_US = 10 * 1000 * 1000, WHY_MAX = 400 };

/* A local model, loaded at first use and kept until the end. */
struct loaded {
    pthread_mutex_t lock;
    const struct local_kind *kind;
    void *model;      /* NULL: not loaded */
    int64_t retry_us; /* earliest next try; 0: not tried */
    enum status how;  /* result of the last try; why is its message */
    char why[WHY_MAX];
};

struct embed {
    const struct settings *settings;
    struct arena arena; /* of folder */
    str folder;
    struct cache *cache;
    struct loaded models[EMBED_TRANSFORMERS + 1]; /* by source */
    struct encoder *encoder;

    pthread_mutex_t lock; /* of the members below */
    struct arena of_choice;
    struct embed_choice choice;
    uint64_t
        choices;   /* how many choices were made: tells a late call that its choice is outdated */
    size_t learnt; /* dimensions of the vectors; 0: no vector yet */
    char why[WHY_MAX]; /* of the last failure, or "" after a success */
};

/* Opens nothing: a chat without vectors must not pay for a model that it never uses. */
struct embed *embed_new(const struct settings *s, str folder)
{
    struct embed *e = heap_alloc(sizeof *e);
    struct embed_choice choice = embed_choice_of(s);
    e->settings = s;
    e->folder = str_dup(&e->arena, folder);
    e->encoder = encoder_new();
    e->cache = cache_new((size_t)s->embedding_cache_max, s->embedding_cache_ttl_ms);
    for (size_t i = 0; i < sizeof e->models / sizeof *e->models; i++)
        pthread_mutex_init(&e->models[i].lock, NULL);
    pthread_mutex_init(&e->lock, NULL);
    embed_choose(e, &choice);
    return e;
}

void embed_free(struct embed *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < sizeof e->models / sizeof *e->models; i++) {
        if (e->models[i].model)
            e->models[i].kind->close(e->models[i].model);
        pthread_mutex_destroy(&e->models[i].lock);
    }
    pthread_mutex_destroy(&e->lock);
    encoder_free(e->encoder);
    cache_free(e->cache);
    arena_free(&e->of_choice);
    arena_free(&e->arena);
    free(e);
}

/* A new choice retries a failed model at once: its user may just have installed it. The old strings
 * are freed last: the new choice may point into them. */
void embed_choose(struct embed *e, const struct embed_choice *choice)
{
    for (size_t i = 0; i < sizeof e->models / sizeof *e->models; i++) {
        HOLD(&e->models[i].lock);
        e->models[i].retry_us = 0;
    }
    HOLD(&e->lock);
    struct arena old = e->of_choice;
    e->of_choice = (struct arena){0};
    e->choice = *choice;
    e->choice.provider_model = str_dup(&e->of_choice, choice->provider_model);
    e->choices++;
    e->learnt = 0;
    e->why[0] = 0;
    arena_free(&old);
}

/* --- the current choice --- */

/* A snapshot of the choice, so that one call uses one source from begin to end. */
struct now {
    struct embed_plan plan;
    const struct loaded *local; /* the plan's model, once it is loaded */
    size_t dimensions;          /* of the vectors so far; 0: no vector yet */
    uint64_t choices;
};

static struct now now_of(struct ctx *ctx, struct embed *e)
{
    struct now now = {0};
    pthread_mutex_lock(&e->lock);
    struct embed_choice choice = e->choice;
    choice.provider_model = str_dup(&ctx->arena, choice.provider_model);
    now.dimensions = e->learnt;
    now.choices = e->choices;
    pthread_mutex_unlock(&e->lock);
    now.plan = embed_resolve(ctx, e->settings, &choice);
    return now;
}

/* Stores the outcome of a call, unless the embedding source was changed during this call.
 * now->choices is the count at the start of the call: a call that ends after a new choice must not
 * report its failure or its dimensions as those of the new source. */
static void keep_outcome(struct embed *e, const struct now *now, const char *why)
{
    HOLD(&e->lock);
    if (e->choices != now->choices)
        return;
    snprintf(e->why, sizeof e->why, "%s", why);
    e->learnt = *why ? 0 : now->dimensions; /* a server may come back with another model */
}

/* --- local models --- */

static enum status load_files(struct ctx *ctx, const struct embed *e, const struct embed_plan *plan,
                              struct loaded *m)
{
    str folder;
    TRY(model_place(ctx, e->folder, plan->model, &folder));
    for (const struct local_kind *const *kind = local_kinds; *kind; kind++)
        if ((*kind)->source == plan->source) {
            m->kind = *kind;
            return m->kind->open(ctx, folder, &m->model);
        }
    return fail(ctx, UNSUPPORTED, "this program was built without local models of the kind %s",
                embed_source_names[plan->source]);
}

/* A child ctx frees the parsed vocabulary, which takes megabytes, when the load is done. The lock
 * is held. */
static enum status load_model(struct ctx *ctx, struct embed *e, const struct embed_plan *plan,
                              struct loaded *m)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx); /* a kept failure is the model's own */
    if (m->model)
        return OK;
    if (m->retry_us && clock_mono_us() < m->retry_us)
        return fail_as(ctx, m->how, EMBED_LOAD_FAILED, "%s", m->why);
    enum status s = load_files(&own, e, plan, m);
    if (s == OK)
        return OK;
    const char *hint = s == NOT_FOUND && model_card(plan->model)
                           ? "; 'rememberd model pull' downloads the model"
                           : "";
    snprintf(m->why, sizeof m->why, "%s: %.300s%s", embed_failure_names[EMBED_LOAD_FAILED], own.why,
             hint);
    m->retry_us = clock_mono_us() + RETRY_US;
    m->how = s == UNSUPPORTED ? UNSUPPORTED : STORAGE;
    return fail_as(ctx, m->how, EMBED_LOAD_FAILED, "%s", m->why);
}

/* The lock is held during the load: of several first texts one loads, and the others wait. */
static enum status model_of(struct ctx *ctx, struct embed *e, const struct embed_plan *plan,
                            const struct loaded **out)
{
    assert(plan->source == EMBED_STATIC || plan->source == EMBED_TRANSFORMERS);
    struct loaded *m = &e->models[plan->source];
    HOLD(&m->lock);
    *out = m;
    return load_model(ctx, e, plan, m);
}

/* Learns the dimensions; a local model is loaded for that. Those of a remote source come with
 * its first vector. Until then they are 0, and nothing is cached, as the key of the cache names
 * them. */
static enum status learn_dimensions(struct ctx *ctx, struct embed *e, struct now *now)
{
    if (now->plan.source == EMBED_NONE)
        return fail(ctx, UNSUPPORTED, S_FMT, S_ARG(now->plan.reason));
    if (now->plan.source == EMBED_REMOTE)
        return OK;
    TRY(model_of(ctx, e, &now->plan, &now->local));
    now->dimensions = now->local->kind->dimensions(now->local->model);
    return OK;
}

/* --- vectors --- */

/* The texts of one call. */
struct reading {
    const str *texts;
    size_t n;
    bool is_row; /* they follow each other, and before stands in front of the first */
    str before;
};

/* n vectors, one after the other. A remote source also tells the dimensions. */
static enum status compute_vectors(struct ctx *ctx, struct embed *e, struct now *now,
                                   const str *texts, size_t n, float **out)
{
    if (now->local) {
        assert(now->dimensions > 0);
        *out = NEW_N(&ctx->arena, float, n * now->dimensions);
        return now->local->kind->embed(ctx, now->local->model, texts, n, *out);
    }
    struct remote r = {.up = now->plan.up,
                       .model = now->plan.model,
                       .timeout_ms = e->settings->embedding_timeout_ms,
                       .dimensions = now->dimensions};
    return remote_embed(ctx, &r, texts, n, out, &now->dimensions);
}

/* A blank text gets a zero vector without a call. */
static bool is_blank(str text)
{
    return !str_trim(text).n;
}

static str signature_of(struct ctx *ctx, enum embed_source source, str model, size_t dimensions)
{
    return str_printf(&ctx->arena, "%s:" S_FMT ":%zu", embed_source_names[source], S_ARG(model),
                      dimensions);
}

/* "source:model:dimensions:sha256 of the text": a change of model never returns old vectors. */
static str key_of(struct ctx *ctx, const struct now *now, str text)
{
    str signature = signature_of(ctx, now->plan.source, now->plan.model, now->dimensions);
    return str_printf(&ctx->arena, S_FMT ":" S_FMT, S_ARG(signature),
                      S_ARG(sha256_hex(&ctx->arena, text)));
}

static bool find_cached(struct ctx *ctx, struct embed *e, const struct now *now, str text,
                        struct embedding *out)
{
    float *v = NEW_N(&ctx->arena, float, now->dimensions + 1);
    out->v = v;
    out->cached = !is_blank(text) && now->dimensions &&
                  cache_get(e->cache, key_of(ctx, now, text), v, now->dimensions);
    return out->cached || is_blank(text);
}

/* The encoder's are not cached: they depend on the texts around them. */
static enum status encode_all(struct ctx *ctx, struct embed *e, struct now *now,
                              const struct reading *r, struct embedding *out)
{
    struct encoded *v = NEW_N(&ctx->arena, struct encoded, r->n + 1);
    now->dimensions = ENCODER_SPACE;
    if (r->is_row)
        TRY(encoder_texts(ctx, e->encoder, r->before, r->texts, r->n, v));
    for (size_t i = 0; i < r->n; i++) {
        if (!r->is_row)
            TRY(encoder_texts(ctx, e->encoder, S(""), &r->texts[i], 1, &v[i]));
        out[i] = (struct embedding){.v = v[i].pooled,
                                    .dimensions = ENCODER_SPACE,
                                    .tokens = {v[i].tokens, v[i].ids, v[i].n}};
    }
    return OK;
}

/* Only texts that are not cached are sent to the source, in one call. Results keep the order. */
static enum status embed_all(struct ctx *ctx, struct embed *e, struct now *now,
                             const struct reading *r, struct embedding *out)
{
    const str *texts = r->texts;
    size_t n = r->n;
    if (now->plan.source == EMBED_ENCODER)
        return encode_all(ctx, e, now, r, out);
    str *missing = NEW_N(&ctx->arena, str, n + 1);
    size_t n_missing = 0, at = 0;
    float *v = NULL;
    TRY(learn_dimensions(ctx, e, now));
    for (size_t i = 0; i < n; i++)
        if (!find_cached(ctx, e, now, texts[i], &out[i]))
            missing[n_missing++] = texts[i];
    if (n_missing)
        TRY(compute_vectors(ctx, e, now, missing, n_missing, &v));
    for (size_t i = 0; i < n; i++) {
        out[i].dimensions = now->dimensions;
        if (is_blank(texts[i])) {
            out[i].v = NEW_N(&ctx->arena, float, now->dimensions + 1);
        } else if (!out[i].cached) {
            out[i].v = v + at++ * now->dimensions;
            cache_put(e->cache, key_of(ctx, now, texts[i]), out[i].v, now->dimensions);
        }
    }
    assert(at == n_missing);
    return OK;
}

/* out is written only when every text has its vector. took_us is the time of the whole call, the
 * same in each. */
static enum status embed_timed(struct ctx *ctx, struct embed *e, struct now *now,
                               const struct reading *r, struct embedding *out)
{
    int64_t began = clock_mono_us();
    struct embedding *found = NEW_N(&ctx->arena, struct embedding, r->n + 1);
    TRY(embed_all(ctx, e, now, r, found));
    int64_t took = clock_mono_us() - began;
    for (size_t i = 0; i < r->n; i++) {
        out[i] = found[i];
        out[i].source = now->plan.source;
        out[i].model = now->plan.model;
        out[i].took_us = took;
    }
    return OK;
}

/* The outcome is kept for embed_status. Without a source there is none, and a call that nobody
 * waits for any more says nothing about the source. */
static enum status embed_now(struct ctx *ctx, struct embed *e, const struct reading *r,
                             struct embedding *out)
{
    struct now now = now_of(ctx, e);
    enum status s = embed_timed(ctx, e, &now, r, out);
    if (now.plan.source != EMBED_NONE && (s == OK || !ctx_is_cut(ctx)))
        keep_outcome(e, &now, s == OK ? "" : ctx->why);
    return s;
}

enum status embed_texts(struct ctx *ctx, struct embed *e, const str *texts, size_t n,
                        struct embedding *out)
{
    return embed_now(ctx, e, &(struct reading){.texts = texts, .n = n}, out);
}

enum status embed_following(struct ctx *ctx, struct embed *e, str before, const str *texts,
                            size_t n, struct embedding *out)
{
    return embed_now(ctx, e,
                     &(struct reading){.texts = texts, .n = n, .is_row = true, .before = before},
                     out);
}

enum status embed_pieces(struct ctx *ctx, struct embed *e, str word, uint32_t *out, size_t max,
                         size_t *n)
{
    return encoder_pieces(ctx, e->encoder, word, out, max, n);
}

/* Uses the same cache and the same loaded models; only the choice is another. */
enum status embed_texts_by(struct ctx *ctx, struct embed *e, const struct embed_choice *choice,
                           const str *texts, size_t n, struct embedding *out)
{
    struct now now = {.plan = embed_resolve(ctx, e->settings, choice)};
    return embed_timed(ctx, e, &now, &(struct reading){.texts = texts, .n = n}, out);
}

/* --- status --- */

str embedding_signature(struct ctx *ctx, const struct embedding *v)
{
    return signature_of(ctx, v->source, v->model, v->dimensions);
}

/* The dimensions are those of the vectors so far, else those that the plan knows in advance, else
 * 0. */
str embed_signature(struct ctx *ctx, struct embed *e)
{
    struct now now = now_of(ctx, e);
    if (now.plan.source == EMBED_NONE)
        return S("");
    return signature_of(ctx, now.plan.source, now.plan.model,
                        now.dimensions ? now.dimensions : now.plan.dimensions);
}

/* Why a local model will fail, as far as known without loading it; "" otherwise. */
static str known_fault(struct ctx *ctx, struct embed *e, const struct embed_plan *plan)
{
    if (plan->source == EMBED_ENCODER)
        return S("");
    struct loaded *m = &e->models[plan->source];
    pthread_mutex_lock(&m->lock);
    bool is_loaded = m->model;
    str why = str_dup(&ctx->arena, str_of(m->retry_us ? m->why : ""));
    pthread_mutex_unlock(&m->lock);
    if (is_loaded || plan->source == EMBED_REMOTE)
        return S("");
    const char *weights = str_printf(&ctx->arena, S_FMT "/" S_FMT "/model.safetensors",
                                     S_ARG(e->folder), S_ARG(plan->model))
                              .p;
    if (!why.n && access(weights, R_OK) != 0)
        return str_printf(&ctx->arena, "%s: %s: %s", embed_failure_names[EMBED_LOAD_FAILED],
                          weights, strerror(errno));
    return why;
}

/* Neither calls a source nor loads a model, but may wait for a load that is under way. The reason
 * is that of the last failed call until one succeeds. */
void embed_status(struct ctx *ctx, struct embed *e, struct embed_status *out)
{
    struct now now = now_of(ctx, e);
    struct cache_stats stats = cache_stats(e->cache);
    pthread_mutex_lock(&e->lock);
    str why = str_dup(&ctx->arena, str_of(e->why));
    pthread_mutex_unlock(&e->lock);
    if (now.plan.source == EMBED_NONE)
        why = now.plan.reason;
    else if (!why.n)
        why = known_fault(ctx, e, &now.plan);
    *out = (struct embed_status){.source = now.plan.source,
                                 .model = now.plan.model,
                                 .dimensions = (int64_t)(now.dimensions ?: now.plan.dimensions),
                                 .available = now.plan.source != EMBED_NONE && !why.n,
                                 .reason = why,
                                 .hits = (int64_t)stats.hits,
                                 .misses = (int64_t)stats.misses,
                                 .size = (int64_t)stats.size};
}

void embed_forget(struct embed *e)
{
    cache_clear(e->cache);
}
