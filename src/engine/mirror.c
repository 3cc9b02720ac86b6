/* mirror.c - Qdrant follows the store: what is queued for it, what it finds, and how it is. */
#include "engine/mirror.h"

#include <time.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "engine/engine_int.h"

enum { BATCH = 64, CALL_MS = 5000, HEALTH_MS = 2000, SEARCH_MS = 2000 };
enum { TRIES_MAX = 3, TRY_AGAIN_MS = 60 * 1000 };
enum { RETENTION_MAX_DAYS = 3650 };

/* Kept in the store. mirrors: what the queue is for; failure: the last one, behind a hash of the
 * settings it is about; refused: the last memory that was given up. */
#define MIRRORS S("qdrant.mirrors")
#define FAILURE S("qdrant.failure")
#define REFUSED S("qdrant.refused")

/* --- what the settings ask for --- */

struct tier {
    struct qdrant_settings q;
    bool is_own;                /* choice decides, not the first tier's */
    struct embed_choice choice; /* of what makes the vectors */
    str mirrors;                /* which server and collection, and whose vectors */
    str note;
    uint64_t hash;
};

/* "owner/name" and "name" are one model; "static/name" stands in the listing of providers. */
static bool is_model(str setting, str model, str name)
{
    const struct model_card *card = model_card(setting);
    return str_eq(setting, model) || str_eq(setting, name) || (card && card == model_card(model));
}

static bool is_provider(struct ctx *ctx, struct engine *e, str name)
{
    struct embed_providers all = embed_providers(ctx, e->settings);
    for (size_t i = 0; i < all.n; i++)
        if (all.v[i].up && str_eq(all.v[i].name, name))
            return true;
    for (size_t i = 0; i < e->settings->n_upstreams; i++)
        if (str_eq(e->settings->upstreams[i].name, name))
            return true;
    return false;
}

/* The model that the settings name, where there is one; else what the first tier has; else whatever
 * the nameless upstream says to the name. */
static enum status choose(struct ctx *ctx, struct engine *e, str model, struct tier *t)
{
    struct embed_status first;
    str rest = model, provider = str_cut(&rest, '/');
    if (!provider.n || !rest.n)
        return fail(ctx, UNSUPPORTED, "the embedding model '" S_FMT "' is not PROVIDER/MODEL",
                    S_ARG(model));
    embed_status(ctx, e->embed, &first);
    t->is_own = true;
    if (is_model(e->settings->static_model, model, rest)) {
        t->choice = (struct embed_choice){.source = S("static"), .static_enabled = true};
    } else if (is_model(e->settings->transformers_model, model, rest)) {
        t->choice =
            (struct embed_choice){.source = S("transformers"), .transformers_enabled = true};
    } else if (first.source == EMBED_REMOTE &&
               str_eq(engine_live(e)->memory.embedding_model, model)) {
        t->is_own = false;
    } else if (is_provider(ctx, e, provider) || first.source == EMBED_NONE) {
        t->choice = (struct embed_choice){.source = S("remote"), .provider_model = model};
    } else {
        t->is_own = false;
        t->note = str_printf(&ctx->arena,
                             "no upstream '" S_FMT "' is configured: vectors are made by " S_FMT,
                             S_ARG(provider), S_ARG(first.model));
        model = str_printf(&ctx->arena, "%s:" S_FMT, embed_source_names[first.source],
                           S_ARG(first.model));
    }
    t->mirrors = str_printf(&ctx->arena, S_FMT " " S_FMT " " S_FMT, S_ARG(t->q.url),
                            S_ARG(t->q.collection), S_ARG(model));
    return OK;
}

/* UNSUPPORTED with "not_configured", or with what is wrong with the settings. */
static enum status tier_of(struct ctx *ctx, struct engine *e, struct tier *out)
{
    const struct live_qdrant *l = &engine_live(e)->qdrant;
    struct tier t = {.q = {.url = qdrant_url(&ctx->arena, l->host, l->port),
                           .key = l->api_key,
                           .collection = l->collection,
                           .quantization = l->quantization,
                           .timeout_ms = CALL_MS}};
    if (!l->enabled || !t.q.url.n)
        return fail(ctx, UNSUPPORTED, "not_configured");
    TRY(choose(ctx, e, l->embedding_model, &t));
    str parts[] = {t.mirrors, l->api_key};
    t.hash = hash64(parts, 2);
    *out = t;
    return OK;
}

static enum status vectors_of(struct ctx *ctx, struct engine *e, const struct tier *t,
                              const str *texts, size_t n, struct embedding *out)
{
    return t->is_own ? embed_texts_by(ctx, e->embed, &t->choice, texts, n, out)
                     : embed_texts(ctx, e->embed, texts, n, out);
}

/* --- how it went --- */

/* What went wrong with other settings says nothing about these. */
static void meet(struct engine *e, const struct tier *t)
{
    if (atomic_exchange(&e->mirror_of, t->hash) != t->hash)
        breaker_reset(&e->mirror);
}

static bool is_resting(struct engine *e, const struct tier *t)
{
    return e->mirror_of == t->hash && clock_mono_us() < e->mirror.until_us;
}

/* What is kept says less than what happened when it cannot be written; nothing else follows. */
static void keep(struct ctx *ctx, struct engine *e, str name, str text)
{
    str before;
    if (store_setting(ctx, e->store, name, &before) == OK && str_eq(before, text))
        return;
    if (store_put_setting(ctx, e->store, name, text) != OK)
        ctx_clear_failure(ctx);
}

/* The first failure and the end of failing are logged; ctx->why holds no key. */
static void note(struct ctx *ctx, struct engine *e, const struct tier *t, bool was_failing,
                 bool is_well)
{
    struct ctx own = {0};
    str failure = is_well
                      ? S("")
                      : str_printf(&own.arena, "%016llx %s", (unsigned long long)t->hash, ctx->why);
    if (is_well && was_failing)
        log_event(LOG_INFO, "qdrant.back", "collection=\"" S_FMT "\"", S_ARG(t->q.collection));
    if (!is_well && !was_failing)
        log_event(LOG_WARN, "qdrant.failed", "why=\"%s\"", ctx->why);
    keep(&own, e, FAILURE, failure);
    ctx_free(&own);
}

/* The store's own failures are not Qdrant's, nor is the end of the process. */
static enum status ended(struct ctx *ctx, struct engine *e, const struct tier *t, int64_t ticket,
                         enum status s)
{
    bool is_well = s == OK || s == STORAGE;
    if (ctx->is_cut && *ctx->is_cut)
        return s;
    breaker_end(&e->mirror, ticket, is_well);
    if (s != STORAGE)
        note(ctx, e, t, ticket != 0, is_well);
    return s;
}

/* --- following the store --- */

/* For another server, collection or model everything waits anew; what is to be deleted still
 * waits, as the collection may be the same. */
static enum status follow(struct ctx *ctx, struct engine *e, str mirrors)
{
    str before;
    TRY(store_setting(ctx, e->store, MIRRORS, &before));
    if (str_eq(before, mirrors))
        return OK;
    TRY(store_mirror(ctx, e->store, true));
    TRY(store_mirror_all(ctx, e->store));
    TRY(store_put_setting(ctx, e->store, REFUSED, S("")));
    return store_put_setting(ctx, e->store, MIRRORS, mirrors);
}

/* Turned off, the queue goes on, so that a deletion is not forgotten when it is turned on again.
 * It ends with the host's name. */
static enum status rest(struct ctx *ctx, struct engine *e)
{
    str before;
    if (str_trim(engine_live(e)->qdrant.host).n)
        return OK;
    TRY(store_setting(ctx, e->store, MIRRORS, &before));
    if (!before.n)
        return OK;
    TRY(store_mirror(ctx, e->store, false));
    return store_put_setting(ctx, e->store, MIRRORS, S(""));
}

static enum status done(struct ctx *ctx, struct engine *e, const struct mirrored *const *v,
                        size_t n, int64_t again_at)
{
    int64_t *no = NEW_N(&ctx->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        no[i] = v[i]->no;
    return n ? store_mirror_done(ctx, e->store, no, n, again_at) : OK;
}

static enum status drop(struct ctx *ctx, struct engine *e, const struct tier *t,
                        const struct mirrored *const *v, size_t n)
{
    struct qdrant_ref *refs = NEW_N(&ctx->arena, struct qdrant_ref, n + 1);
    for (size_t i = 0; i < n; i++)
        refs[i] = (struct qdrant_ref){v[i]->pool, v[i]->id};
    TRY(qdrant_delete(ctx, &t->q, refs, n));
    return done(ctx, e, v, n, 0);
}

/* A memory that the server does not take: it is tried again later, and then given up. */
static enum status refuse(struct ctx *ctx, struct engine *e, const struct mirrored *m)
{
    bool is_last = m->tries + 1 >= TRIES_MAX;
    str why =
        str_printf(&ctx->arena, "the memory " S_FMT " was refused: %s", S_ARG(m->id), ctx->why);
    ctx_clear_failure(ctx);
    if (is_last)
        keep(ctx, e, REFUSED, why);
    return done(ctx, e, &m, 1, is_last ? 0 : clock_ms() + TRY_AGAIN_MS);
}

static enum status put_points(struct ctx *ctx, struct engine *e, const struct tier *t,
                              const struct mirrored *const *v, const struct qdrant_point *points,
                              size_t n)
{
    bool made = false;
    enum status s = qdrant_put(ctx, &t->q, points, n, &made);
    /* Someone may have deleted the collection; what still waits here does not wait twice. */
    if (made)
        TRY(store_mirror_all(ctx, e->store));
    if (s == OK)
        return done(ctx, e, v, n, 0);
    if (s != BAD_INPUT)
        return s;
    if (n == 1)
        return refuse(ctx, e, v[0]);
    ctx_clear_failure(ctx);
    for (size_t i = 0; i < n; i++)
        TRY(put_points(ctx, e, t, v + i, points + i, 1));
    return OK;
}

static enum status put(struct ctx *ctx, struct engine *e, const struct tier *t,
                       const struct mirrored *const *v, size_t n)
{
    str *texts = NEW_N(&ctx->arena, str, n + 1);
    struct embedding *made = NEW_N(&ctx->arena, struct embedding, n + 1);
    struct qdrant_point *points = NEW_N(&ctx->arena, struct qdrant_point, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct memory *m = &v[i]->memory;
        texts[i] =
            m->key.n ? str_printf(&ctx->arena, S_FMT "\n\n" S_FMT, S_ARG(m->key), S_ARG(m->content))
                     : m->content;
    }
    if (!n)
        return OK;
    TRY(vectors_of(ctx, e, t, texts, n, made));
    for (size_t i = 0; i < n; i++)
        points[i] = (struct qdrant_point){v[i]->pool, &v[i]->memory, made[i].v, made[i].dimensions};
    return put_points(ctx, e, t, v, points, n);
}

static enum status mirror_these(struct ctx *ctx, struct engine *e, const struct tier *t,
                                const struct mirrored *v, size_t n)
{
    size_t here = 0, gone = 0;
    const struct mirrored **puts = NEW_N(&ctx->arena, const struct mirrored *, n + 1);
    const struct mirrored **drops = NEW_N(&ctx->arena, const struct mirrored *, n + 1);
    for (size_t i = 0; i < n; i++)
        *(v[i].exists ? &puts[here++] : &drops[gone++]) = &v[i];
    TRY(drop(ctx, e, t, drops, gone));
    return put(ctx, e, t, puts, here);
}

/* One at a time: of two that carry the same memory, the one that has read it earlier could come
 * later. */
static enum status mirror_batch(struct ctx *ctx, struct engine *e, const struct tier *t, size_t *n)
{
    static const struct timespec a_moment = {.tv_nsec = 1000000};
    struct mirrored *v;
    int64_t all;
    while (atomic_exchange(&e->is_mirroring, true)) {
        if (!ctx_has_time(ctx))
            return fail(ctx, TIMED_OUT, "Qdrant: others are being brought there");
        nanosleep(&a_moment, NULL);
    }
    enum status s = store_mirror_waiting(ctx, e->store, BATCH, &v, n, &all);
    if (s == OK)
        s = mirror_these(ctx, e, t, v, *n);
    e->is_mirroring = false;
    return s;
}

/* What may be carried now, at most one, and all that wait. */
static enum status peek(struct ctx *ctx, struct engine *e, const struct tier *t, size_t *due,
                        int64_t *all)
{
    struct mirrored *v;
    TRY(follow(ctx, e, t->mirrors));
    return store_mirror_waiting(ctx, e->store, 1, &v, due, all);
}

static enum status mirror_next(struct ctx *ctx, struct engine *e, const struct tier *t, bool *more)
{
    size_t n;
    int64_t all, ticket;
    TRY(peek(ctx, e, t, &n, &all));
    meet(e, t);
    if (!n || !breaker_begin(&e->mirror, &ticket))
        return OK;
    enum status s = ended(ctx, e, t, ticket, mirror_batch(ctx, e, t, &n));
    *more = s == OK && n == BATCH;
    return s;
}

/* A failure is told by mirror_status, and the queue keeps what it holds. */
enum status engine_mirror_some(struct ctx *ctx, struct engine *e, bool *more)
{
    struct tier t;
    enum status s;
    *more = false;
    if (tier_of(ctx, e, &t) == OK)
        s = mirror_next(ctx, e, &t, more);
    else
        s = rest(ctx, e);
    if (s == STORAGE)
        return s;
    ctx_clear_failure(ctx);
    return OK;
}

/* --- asking it --- */

bool mirror_is_used(struct engine *e)
{
    struct ctx ctx = {0};
    struct tier t;
    str choice = engine_live(e)->memory.vector_store;
    bool is_used = str_is(choice, "qdrant") ||
                   (str_is(choice, "auto") && tier_of(&ctx, e, &t) == OK && !is_resting(e, &t));
    ctx_free(&ctx);
    return is_used;
}

static enum status find(struct ctx *ctx, struct engine *e, const struct tier *t,
                        struct qdrant_find *f, str text, struct embedding *by,
                        struct engine_hit **out, size_t *n)
{
    struct qdrant_hit *hits;
    size_t count = 0;
    TRY(vectors_of(ctx, e, t, &text, 1, by));
    f->v = by->v;
    f->dimensions = by->dimensions;
    enum status s = qdrant_search(ctx, &t->q, f, &hits, &count);
    if (s == NOT_FOUND) { /* not made yet, or deleted */
        ctx_clear_failure(ctx);
        s = store_mirror_all(ctx, e->store);
    }
    TRY(s);
    *out = NEW_N(&ctx->arena, struct engine_hit, count + 1);
    for (size_t i = 0; i < count; i++)
        (*out)[i] = (struct engine_hit){hits[i].id, hits[i].payload, hits[i].score};
    *n = count;
    return OK;
}

/* What was just written is brought there first, so that it is found. */
static enum status find_all(struct ctx *ctx, struct engine *e, const struct tier *t, size_t due,
                            struct qdrant_find *f, str text, struct embedding *by,
                            struct engine_hit **out, size_t *n)
{
    if (due)
        TRY(mirror_batch(ctx, e, t, &due));
    return find(ctx, e, t, f, text, by, out, n);
}

enum status mirror_search(struct ctx *ctx, struct engine *e, struct pool_ref pool, str session,
                          str text, size_t limit, struct embedding *by, struct engine_hit **out,
                          size_t *n)
{
    struct tier t;
    struct qdrant_find f = {.pool = pool, .session = session, .limit = limit};
    int64_t before = ctx->deadline_us, end = clock_mono_us() + SEARCH_MS * 1000, all, ticket;
    size_t due;
    TRY(tier_of(ctx, e, &t));
    TRY(peek(ctx, e, &t, &due, &all));
    meet(e, &t);
    if (all > BATCH)
        return fail(ctx, UPSTREAM, "Qdrant does not know %lld memories yet", (long long)all);
    if (!breaker_begin(&e->mirror, &ticket))
        return fail(ctx, UPSTREAM, "Qdrant has failed and is left alone for %lld s",
                    (long long)breaker_seconds(&e->mirror));
    ctx->deadline_us = before && before < end ? before : end;
    enum status s = find_all(ctx, e, &t, due, &f, text, by, out, n);
    ctx->deadline_us = before;
    return ended(ctx, e, &t, ticket, s);
}

/* Asks also what has failed a moment ago. */
static enum status find_now(struct ctx *ctx, struct engine *e, const struct tier *t,
                            struct qdrant_find *f, str text, struct engine_hit **out, size_t *n)
{
    struct embedding by;
    meet(e, t);
    int64_t ticket = e->mirror.wait_ms;
    return ended(ctx, e, t, ticket, find(ctx, e, t, f, text, &by, out, n));
}

enum status engine_qdrant_search(struct ctx *ctx, struct engine *e, struct pool_ref pool, str query,
                                 size_t limit, struct engine_hit **out, size_t *n)
{
    struct tier t;
    struct qdrant_find f = {.pool = pool, .limit = limit};
    TRY(tier_of(ctx, e, &t));
    return find_now(ctx, e, &t, &f, query, out, n);
}

enum status engine_qdrant_health(struct ctx *ctx, struct engine *e, int64_t *took_us)
{
    struct tier t;
    TRY(tier_of(ctx, e, &t));
    t.q.timeout_ms = HEALTH_MS;
    return qdrant_health(ctx, &t.q, took_us);
}

enum status engine_qdrant_cleanup(struct ctx *ctx, struct engine *e, str user, int64_t *deleted)
{
    struct tier t;
    int64_t days = engine_live(e)->memory.retention_days;
    days = days < 1 ? 1 : days > RETENTION_MAX_DAYS ? RETENTION_MAX_DAYS : days;
    TRY(tier_of(ctx, e, &t));
    return qdrant_cleanup(ctx, &t.q, user, clock_ms() - days * DAY_MS, deleted);
}

/* --- how it is --- */

static str kept(struct ctx *ctx, struct engine *e, str name)
{
    str text;
    if (store_setting(ctx, e->store, name, &text) == OK)
        return text;
    ctx_clear_failure(ctx);
    return S("");
}

/* What is kept about other settings than these is old. */
static str last_failure(struct ctx *ctx, struct engine *e, const struct tier *t)
{
    str text = kept(ctx, e, FAILURE), hash = str_cut(&text, ' ');
    str now = str_printf(&ctx->arena, "%016llx", (unsigned long long)t->hash);
    return str_eq(hash, now) ? text : S("");
}

static str taken_why(struct ctx *ctx)
{
    str why = str_dup(&ctx->arena, str_of(ctx->why));
    ctx_clear_failure(ctx);
    return why;
}

/* A server that is ready may still not take our vectors: after a failure it is shown one. */
static void probe_tier(struct ctx *ctx, struct engine *e, struct tier *t, struct engine_status *out)
{
    struct qdrant_find f = {.pool = {S(LOCAL_USER), S(DEFAULT_SPACE)}, .limit = 1};
    struct engine_hit *hits;
    size_t n;
    t->q.timeout_ms = HEALTH_MS;
    enum status s = qdrant_health(ctx, &t->q, &out->qdrant.took_us);
    if (s == OK && last_failure(ctx, e, t).n)
        s = find_now(ctx, e, t, &f, S("ready"), &hits, &n);
    out->qdrant.error = s == OK ? last_failure(ctx, e, t) : taken_why(ctx);
}

void mirror_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out)
{
    struct tier t;
    size_t due;
    out->qdrant.enabled = engine_live(e)->qdrant.enabled;
    if (!out->qdrant.enabled)
        return;
    out->qdrant.probed = probe;
    if (tier_of(ctx, e, &t) != OK) {
        out->qdrant.error = taken_why(ctx);
        return;
    }
    if (peek(ctx, e, &t, &due, &out->qdrant.waiting) != OK)
        ctx_clear_failure(ctx);
    out->qdrant.note = t.note;
    if (probe)
        probe_tier(ctx, e, &t, out);
    else
        out->qdrant.error = last_failure(ctx, e, &t);
    out->qdrant.healthy = probe && !out->qdrant.error.n;
    if (!out->qdrant.error.n)
        out->qdrant.error = kept(ctx, e, REFUSED);
}
