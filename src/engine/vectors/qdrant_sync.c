/* qdrant_sync.c - Qdrant follows the store: its queue, its searches, its status. */
#include "engine/vectors/qdrant_sync.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "engine/state/state.h"

/*
 * The store is the truth and Qdrant a copy. Each change of a memory is queued in the store, and the
 * background sends the queue in batches; a search sends what is due first, so that it finds what
 * was just stored. What Qdrant returns is looked up in the store again before anybody sees it. With
 * other settings all is queued again; deletions stay, as the old collection may hold the erased.
 */

enum { BATCH = 64, HEALTH_MS = 2000, SEARCH_MS = 2000 };
enum { TRIES_MAX = 3, TRY_AGAIN_MS = 60 * 1000 };

/* Settings of the store. mirrors: the server, collection and model that the queue is for; failure:
 * the last one, behind a hash of the settings it belongs to; refused: the last memory that Qdrant
 * did not accept. */
#define MIRRORS S("qdrant.mirrors")
#define FAILURE S("qdrant.failure")
#define REFUSED S("qdrant.refused")

/* --- what the settings ask for --- */

struct mirror {
    struct qdrant_settings q;
    struct embed_choice choice; /* of the source of its vectors; EMBED_NONE: as our own vectors */
    str mirrors;                /* which server and collection, and whose vectors */
    str note;
    uint64_t hash;
};

/* "owner/name" and "name" are one model; the listing of providers shows it as "static/name". */
static bool is_model(str setting, str model, str name)
{
    const struct model_card *card = model_card(setting);
    return str_eq(setting, model) || str_eq(setting, name) || (card && card == model_card(model));
}

static bool is_provider(struct ctx *ctx, struct engine *e, str name)
{
    struct embed_providers all = embed_providers(ctx, e->settings);
    return SOME(i, all.n, all.v[i].up && str_eq(all.v[i].name, name)) ||
           SOME(i, e->settings->n_upstreams, str_eq(e->settings->upstreams[i].name, name));
}

/* The model that the setting names, if a source has it. Otherwise our own source, with a note in
 * the status; without one, the default upstream is tried with the name. */
static enum status choose_source(struct ctx *ctx, struct engine *e, str model, struct mirror *t)
{
    struct embed_status first;
    str rest = model, provider = str_cut(&rest, '/');
    if (!provider.n || !rest.n)
        return fail(ctx, UNSUPPORTED, "the embedding model '" S_FMT "' is not UPSTREAM/MODEL",
                    S_ARG(model));
    embed_status(ctx, e->embed, &first);
    bool is_ours =
        first.source == EMBED_REMOTE && str_eq(engine_runtime(e)->embedding_model, model);
    if (is_model(e->settings->static_model, model, rest)) {
        t->choice = (struct embed_choice){.source = EMBED_STATIC, .static_enabled = true};
    } else if (is_model(e->settings->transformers_model, model, rest)) {
        t->choice =
            (struct embed_choice){.source = EMBED_TRANSFORMERS, .transformers_enabled = true};
    } else if (!is_ours && (is_provider(ctx, e, provider) || first.source == EMBED_NONE)) {
        t->choice = (struct embed_choice){.source = EMBED_REMOTE, .provider_model = model};
    } else if (!is_ours) {
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
static enum status mirror_of(struct ctx *ctx, struct engine *e, struct mirror *out)
{
    const struct settings *l = engine_runtime(e);
    *out = (struct mirror){.q = {.url = qdrant_url(&ctx->arena, l->qdrant_host, l->qdrant_port),
                                 .key = l->qdrant_api_key,
                                 .collection = l->qdrant_collection,
                                 .quantization = str_of(quantization_names[l->qdrant_quantization]),
                                 .timeout_ms = l->qdrant_timeout_ms}};
    if (!l->qdrant_enabled || !out->q.url.n)
        return fail(ctx, UNSUPPORTED, "not_configured");
    TRY(choose_source(ctx, e, l->qdrant_embedding_model, out));
    out->hash = hash64(STR_LIST(out->mirrors, l->qdrant_api_key));
    return OK;
}

/* By the source that the setting names, else by that of our own vectors. */
static enum status vectors_of(struct ctx *ctx, struct engine *e, const struct mirror *t,
                              const str *texts, size_t n, struct embedding *out)
{
    return t->choice.source ? embed_texts_by(ctx, e->embed, &t->choice, texts, n, out)
                            : embed_texts(ctx, e->embed, texts, n, out);
}

/* --- failures --- */

/* Failures with other settings say nothing about these. */
static void forget_failures(struct engine *e, const struct mirror *t)
{
    if (atomic_exchange(&e->qdrant.about, t->hash) != t->hash)
        dependency_reset(&e->qdrant.server);
}

static str kept_setting(struct ctx *ctx, struct engine *e, str name)
{
    str text;
    return soft(ctx, store_setting(ctx, e->store, name, &text)) ? text : S("");
}

/* Only the status reads these settings, so a failure to write one does not fail the caller. */
static void keep_setting(struct ctx *ctx, struct engine *e, str name, str text)
{
    if (!str_eq(kept_setting(ctx, e, name), text))
        soft(ctx, store_put_setting(ctx, e->store, name, text));
}

/* A failure of the store, or a cancelled call, is not Qdrant's failure. TOO_BUSY says nothing about
 * it: another thread carried memories there, or the store had too much to write. */
static enum status note_outcome(struct ctx *ctx, struct engine *e, const struct mirror *t,
                                int64_t ticket, enum status s)
{
    if (s == TOO_BUSY)
        return s;
    dependency_end(ctx, &e->qdrant.server, ticket, s);
    if (s == STORAGE || ctx_is_cut(ctx))
        return s;
    /* For the status, also after a restart. ctx->why never holds an API key. */
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    str why = str_printf(&own.arena, "%016llx %s", (unsigned long long)t->hash, ctx->why);
    keep_setting(&own, e, FAILURE, s == OK ? S("") : why);
    return s;
}

/* --- following the store --- */

/* With another server, collection or model all memories are queued again. Deletions stay queued
 * too, as the collection may be the same. mirrors "": the queue ends. */
static enum status follow_settings(struct ctx *ctx, struct engine *e, str mirrors)
{
    str before;
    TRY(store_setting(ctx, e->store, MIRRORS, &before));
    if (str_eq(before, mirrors))
        return OK;
    TRY(store_sync(ctx, e->store, mirrors.n > 0));
    if (mirrors.n) {
        TRY(store_sync_all(ctx, e->store));
        TRY(store_put_setting(ctx, e->store, REFUSED, S("")));
    }
    return store_put_setting(ctx, e->store, MIRRORS, mirrors);
}

bool engine_mirrors(struct engine *e)
{
    return str_trim(engine_runtime(e)->qdrant_host).n > 0;
}

/* Deletions first in each batch: what was erased must go, whatever the other items do. */
static enum status drop_points(struct ctx *ctx, struct engine *e, const struct mirror *t,
                               const struct sync_item *const *v, size_t n)
{
    struct qdrant_ref *refs = NEW_N(&ctx->arena, struct qdrant_ref, n + 1);
    for (size_t i = 0; i < n; i++)
        refs[i] = (struct qdrant_ref){v[i]->pool, v[i]->id};
    TRY(qdrant_delete(ctx, &t->q, refs, n));
    return store_sync_done(ctx, e->store, v, n, 0);
}

/* A memory that is refused is retried later, and dropped after TRIES_MAX tries. */
static enum status refuse_memory(struct ctx *ctx, struct engine *e, const struct sync_item *m)
{
    bool is_last = m->tries + 1 >= TRIES_MAX;
    assert(!m->exists || m->memory.id.n);
    str said = ctx_take_why(ctx);
    str why = str_printf(&ctx->arena, "the memory " S_FMT " was refused: " S_FMT, S_ARG(m->id),
                         S_ARG(said));
    if (is_last)
        keep_setting(ctx, e, REFUSED, why);
    return store_sync_done(ctx, e->store, &m, 1, is_last ? 0 : clock_ms() + TRY_AGAIN_MS);
}

/* A new collection lacks all earlier memories, also if this process ends before it has any. */
static enum status put_points(struct ctx *ctx, struct engine *e, const struct mirror *t,
                              const struct qdrant_point *points, size_t n)
{
    enum status s = qdrant_put(ctx, &t->q, points, n, false);
    if (!soft_if(ctx, s, NOT_FOUND))
        return s;
    TRY(store_sync_all(ctx, e->store));
    return qdrant_put(ctx, &t->q, points, n, true);
}

static enum status put_memories(struct ctx *ctx, struct engine *e, const struct mirror *t,
                                const struct sync_item *const *v, size_t n);

/* Halving finds what Qdrant or the source refuses, so that it holds up nobody. A source that does
 * not answer a new short text either is down. */
static enum status put_apart(struct ctx *ctx, struct engine *e, const struct mirror *t,
                             const struct sync_item *const *v, size_t n, enum status s)
{
    struct embedding made;
    str why = ctx_take_why(ctx), text = id_random(&ctx->arena);
    bool is_down = s != BAD_INPUT && !soft(ctx, vectors_of(ctx, e, t, &text, 1, &made));
    if (is_down || n == 1) {
        s = fail(ctx, s, S_FMT, S_ARG(why));
        return is_down ? s : refuse_memory(ctx, e, v[0]);
    }
    TRY(put_memories(ctx, e, t, v, n / 2));
    return put_memories(ctx, e, t, v + n / 2, n - n / 2);
}

/* The vector is of the key and the content. */
static enum status put_memories(struct ctx *ctx, struct engine *e, const struct mirror *t,
                                const struct sync_item *const *v, size_t n)
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
    enum status s = vectors_of(ctx, e, t, texts, n, made);
    if (s != OK)
        return put_apart(ctx, e, t, v, n, s);
    for (size_t i = 0; i < n; i++)
        points[i] = (struct qdrant_point){v[i]->pool, &v[i]->memory, made[i].v, made[i].dimensions};
    s = put_points(ctx, e, t, points, n);
    return s == OK          ? store_sync_done(ctx, e->store, v, n, 0)
           : s == BAD_INPUT ? put_apart(ctx, e, t, v, n, s)
                            : s;
}

static enum status mirror_these(struct ctx *ctx, struct engine *e, const struct mirror *t,
                                const struct sync_item *v, size_t n)
{
    size_t here = 0, gone = 0;
    assert(n <= BATCH && e->qdrant.is_syncing);
    const struct sync_item **puts = NEW_N(&ctx->arena, const struct sync_item *, n + 1);
    const struct sync_item **drops = NEW_N(&ctx->arena, const struct sync_item *, n + 1);
    for (size_t i = 0; i < n; i++)
        *(v[i].exists ? &puts[here++] : &drops[gone++]) = &v[i];
    TRY(drop_points(ctx, e, t, drops, gone));
    return put_memories(ctx, e, t, puts, here);
}

/* One batch at a time: of two threads with one memory, that with the older text could be last. */
static enum status mirror_batch(struct ctx *ctx, struct engine *e, const struct mirror *t,
                                size_t *n)
{
    struct sync_item *v;
    int64_t all;
    while (atomic_exchange(&e->qdrant.is_syncing, true)) {
        if (!ctx_has_time(ctx))
            return fail(ctx, TOO_BUSY, "Qdrant sync is already running");
        usleep(1000);
    }
    enum status s = store_sync_waiting(ctx, e->store, BATCH, &v, n, &all);
    if (s == OK)
        s = mirror_these(ctx, e, t, v, *n);
    e->qdrant.is_syncing = false;
    return s;
}

/* *due: whether an item is due now, 0 or 1; *all counts the queue. */
static enum status count_due(struct ctx *ctx, struct engine *e, const struct mirror *t, size_t *due,
                             int64_t *all)
{
    struct sync_item *v;
    TRY(follow_settings(ctx, e, t->mirrors));
    return store_sync_waiting(ctx, e->store, 1, &v, due, all);
}

static enum status mirror_next(struct ctx *ctx, struct engine *e, const struct mirror *t,
                               bool *more)
{
    size_t n;
    int64_t all, ticket;
    TRY(count_due(ctx, e, t, &n, &all));
    forget_failures(e, t);
    if (!n || !soft(ctx, dependency_begin(ctx, &e->qdrant.server, &ticket)))
        return OK;
    enum status s = note_outcome(ctx, e, t, ticket, mirror_batch(ctx, e, t, &n));
    *more = s == OK && n == BATCH;
    return s;
}

/* A failure of Qdrant is reported by mirror_status, and the queue is kept. While Qdrant is switched
 * off it is kept as well, so that no deletion is lost when it is switched on again. */
enum status engine_mirror_some(struct ctx *ctx, struct engine *e, bool *more)
{
    struct mirror t;
    *more = false;
    enum status s = mirror_of(ctx, e, &t) == OK ? mirror_next(ctx, e, &t, more)
                    : engine_mirrors(e)         ? OK
                                                : follow_settings(ctx, e, S(""));
    if (s == STORAGE)
        return s;
    soft(ctx, s);
    return OK;
}

/* --- searching --- */

bool mirror_is_used(struct engine *e)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct mirror t;
    enum vector_store choice = engine_runtime(e)->vector_store;
    return choice == VECTORS_IN_QDRANT ||
           (choice == VECTORS_AUTO && mirror_of(&ctx, e, &t) == OK &&
            (e->qdrant.about != t.hash || !dependency_is_open(&e->qdrant.server)));
}

static enum status find_points(struct ctx *ctx, struct engine *e, const struct mirror *t,
                               struct qdrant_find *f, str text, struct embedding *by,
                               struct qdrant_hit **out, size_t *n)
{
    *n = 0;
    *out = NULL;
    TRY(vectors_of(ctx, e, t, &text, 1, by));
    f->v = by->v;
    f->dimensions = by->dimensions;
    enum status s = qdrant_search(ctx, &t->q, f, out, n);
    if (soft_if(ctx, s, NOT_FOUND)) /* not made yet, or deleted */
        s = store_sync_all(ctx, e->store);
    return s;
}

/* What is due is copied first, so that it is found; of more than one batch the answer would lack
 * too much. */
enum status mirror_search(struct ctx *ctx, struct engine *e, struct pool_ref pool, str session,
                          str text, size_t limit, struct embedding *by, struct qdrant_hit **out,
                          size_t *n)
{
    struct mirror t;
    struct qdrant_find f = {.pool = pool, .session = session, .limit = limit};
    int64_t before = ctx->deadline_us, end = clock_mono_us() + SEARCH_MS * 1000, all, ticket;
    size_t due;
    TRY(mirror_of(ctx, e, &t));
    TRY(count_due(ctx, e, &t, &due, &all));
    forget_failures(e, &t);
    if (all > BATCH)
        return fail(ctx, UPSTREAM, "%lld memories are not in Qdrant yet", (long long)all);
    TRY(dependency_begin(ctx, &e->qdrant.server, &ticket));
    ctx->deadline_us = before && before < end ? before : end;
    enum status s = due ? mirror_batch(ctx, e, &t, &due) : OK;
    if (s == OK)
        s = find_points(ctx, e, &t, &f, text, by, out, n);
    ctx->deadline_us = before;
    return note_outcome(ctx, e, &t, ticket, s);
}

/* Asks although the circuit may be open: an administrator wants to know. */
static enum status find_now(struct ctx *ctx, struct engine *e, const struct mirror *t,
                            struct qdrant_find *f, str text, struct qdrant_hit **out, size_t *n)
{
    struct embedding by;
    forget_failures(e, t);
    int64_t ticket = dependency_begin_now(&e->qdrant.server);
    return note_outcome(ctx, e, t, ticket, find_points(ctx, e, t, f, text, &by, out, n));
}

enum status mirror_search_now(struct ctx *ctx, struct engine *e, struct pool_ref pool, str query,
                              size_t limit, struct qdrant_hit **out, size_t *n)
{
    struct mirror t;
    struct qdrant_find f = {.pool = pool, .limit = limit};
    TRY(mirror_of(ctx, e, &t));
    return find_now(ctx, e, &t, &f, query, out, n);
}

enum status engine_qdrant_health(struct ctx *ctx, struct engine *e, int64_t *took_us)
{
    struct mirror t;
    TRY(mirror_of(ctx, e, &t));
    t.q.timeout_ms = HEALTH_MS;
    return qdrant_health(ctx, &t.q, took_us);
}

enum status engine_qdrant_cleanup(struct ctx *ctx, struct engine *e, str user, int64_t *deleted)
{
    struct mirror t;
    int64_t age = engine_runtime(e)->retention_days * DAY_MS;
    TRY(mirror_of(ctx, e, &t));
    return qdrant_cleanup(ctx, &t.q, user, clock_ms() - age, deleted);
}

/* --- status --- */

/* A failure with other settings than these is out of date. */
static str last_failure(struct ctx *ctx, struct engine *e, const struct mirror *t)
{
    str text = kept_setting(ctx, e, FAILURE), hash = str_cut(&text, ' ');
    str now = str_printf(&ctx->arena, "%016llx", (unsigned long long)t->hash);
    return str_eq(hash, now) ? text : S("");
}

/* A healthy server may refuse our vectors (another length), so after a failure one is searched. */
static void probe_mirror(struct ctx *ctx, struct engine *e, struct mirror *t,
                         struct engine_status *out)
{
    struct qdrant_find f = {.pool = {S(LOCAL_USER), S(DEFAULT_SPACE)}, .limit = 1};
    struct qdrant_hit *hits;
    size_t n;
    t->q.timeout_ms = HEALTH_MS;
    enum status s = qdrant_health(ctx, &t->q, &out->qdrant.took_us);
    if (s == OK && last_failure(ctx, e, t).n)
        s = find_now(ctx, e, t, &f, S("ready"), &hits, &n);
    out->qdrant.error = s == OK ? last_failure(ctx, e, t) : ctx_take_why(ctx);
}

void mirror_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out)
{
    struct mirror t;
    size_t due;
    out->qdrant.enabled = engine_runtime(e)->qdrant_enabled;
    if (!out->qdrant.enabled)
        return;
    out->qdrant.probed = probe;
    if (mirror_of(ctx, e, &t) != OK) {
        out->qdrant.error = ctx_take_why(ctx);
        return;
    }
    soft(ctx, count_due(ctx, e, &t, &due, &out->qdrant.waiting));
    out->qdrant.note = t.note;
    if (probe)
        probe_mirror(ctx, e, &t, out);
    else
        out->qdrant.error = last_failure(ctx, e, &t);
    out->qdrant.healthy = probe && !out->qdrant.error.n;
    if (!out->qdrant.error.n)
        out->qdrant.error = kept_setting(ctx, e, REFUSED);
}
