/* live.c - the settings that change while the server runs: one snapshot, and the next one. */
#include "engine/engine_int.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/memory.h"

/*
 * Whoever reads takes the pointer of the snapshot that acts and never waits. Who makes another one
 * raises is_changing; the one that it replaces is kept for an hour, as a request may still look at
 * it, and is freed at a later change.
 *
 * What was set is stored as a JSON object of the members that someone has named, so that what
 * nobody has named follows the server's own settings. Another process on the same store is noticed
 * by looking at these texts now and then.
 */
enum { LOOK_US = 900 * 1000, TEXT_MAX = 64 << 10, WAIT_MS = 5000 };
static const int64_t KEEP_US = (int64_t)3600 * 1000 * 1000;

/* What is stored apart. */
enum part { MEMORY, QDRANT, OSAURUS, PARTS };
static const struct {
    const char *name;
    const struct field *table;
} parts[] = {[MEMORY] = {"memory", live_memory_fields},
             [QDRANT] = {"qdrant", live_qdrant_fields},
             [OSAURUS] = {"osaurus", live_osaurus_fields}};

struct snapshot {
    struct live live;
    str texts[PARTS]; /* as stored, or "" */
    struct ctx ctx;   /* what it is made of */
    int64_t retired_us;
    struct snapshot *older;
};

static void snapshot_free(struct snapshot *s)
{
    ctx_free(&s->ctx);
    free(s);
}

/* --- from texts to settings --- */

static void follow_osaurus(const struct settings *s, str embedding_model, struct live_osaurus *out)
{
    fields_defaults(live_osaurus_fields, out);
    out->embedding_backend = s->embedding_backend;
    if (embedding_model.n)
        out->embedding_model = embedding_model;
    out->extraction_mode = s->extraction_mode;
    out->gate_mode = s->gate_mode;
    out->budget_tokens = s->memory_budget;
    out->debounce_s = s->summary_debounce_s;
    out->consolidation_h = s->consolidation_hours;
    out->salience_floor = s->salience_floor;
    out->episode_days = s->episode_days;
}

static void follow_settings(const struct settings *s, struct live *out)
{
    struct embed_choice choice = embed_choice_of(s);
    struct live_memory *m = &out->memory;
    struct live_qdrant *q = &out->qdrant;
    fields_defaults(live_memory_fields, m);
    fields_defaults(live_qdrant_fields, q);
    m->enabled = str_is(s->memory, "on");
    m->embedding_source = choice.source;
    m->embedding_model = choice.provider_model;
    m->static_enabled = choice.static_enabled;
    m->transformers_enabled = choice.transformers_enabled;
    q->host = s->qdrant_host;
    q->port = s->qdrant_port;
    q->api_key = s->qdrant_api_key;
    q->collection = s->qdrant_collection;
    q->embedding_model = s->qdrant_embedding_model;
    follow_osaurus(s, choice.provider_model, &out->osaurus);
}

/* A hand or another version may have written it: a number is brought into its range, and what makes
 * no sense is as if it was not there. */
static bool take(struct ctx *ctx, const struct field *table, const struct field *f,
                 const struct json *v, void *out)
{
    static const enum json_type types[] = {[FIELD_STR] = JSON_STRING,
                                           [FIELD_INT] = JSON_NUMBER,
                                           [FIELD_NUM] = JSON_NUMBER,
                                           [FIELD_BOOL] = JSON_BOOL};
    double d = v ? json_num_or(v, NAN) : 0;
    if (!v || v->type != types[f->type])
        return false;
    if (v->type == JSON_NUMBER && isfinite(d)) {
        d = d < f->min ? f->min : d > f->max ? f->max : d;
        if (f->type == FIELD_INT)
            *(int64_t *)((char *)out + f->at) = (int64_t)round(d);
        else
            *(double *)((char *)out + f->at) = d;
        return true;
    }
    str text = f->type == FIELD_STR ? v->string : v->source;
    enum status s = fields_set(ctx, table, str_of(f->name), text, out);
    ctx_clear_failure(ctx);
    return s == OK;
}

static const struct json *parsed(struct ctx *ctx, str text)
{
    struct json *root = NULL;
    if (text.n && json_parse(ctx, text, &root) != OK) {
        ctx_clear_failure(ctx);
        return NULL;
    }
    return root;
}

static void take_memory(struct snapshot *s)
{
    const struct json *root = parsed(&s->ctx, s->texts[MEMORY]);
    for (const struct field *f = live_memory_fields; f->name; f++) {
        bool is_set =
            take(&s->ctx, live_memory_fields, f, json_get(root, f->name), &s->live.memory);
        s->live.budget_set |= is_set && f->at == offsetof(struct live_memory, max_tokens);
        s->live.retention_set |= is_set && f->at == offsetof(struct live_memory, retention_days);
    }
}

/* An empty text is as one that was never set: the server's own setting stands in. */
static void take_qdrant(struct snapshot *s)
{
    const struct json *root = parsed(&s->ctx, s->texts[QDRANT]);
    for (const struct field *f = live_qdrant_fields; f->name; f++) {
        const struct json *v = json_get(root, f->name);
        if (v && (v->type != JSON_STRING || v->string.n))
            take(&s->ctx, live_qdrant_fields, f, v, &s->live.qdrant);
    }
}

/* The switch is the memory's own. */
static void take_osaurus(struct snapshot *s)
{
    const struct json *root = parsed(&s->ctx, s->texts[OSAURUS]);
    for (const struct field *f = live_osaurus_fields; f->name; f++)
        take(&s->ctx, live_osaurus_fields, f, json_get(root, f->name), &s->live.osaurus);
    s->live.osaurus.enabled = s->live.memory.enabled;
}

static struct snapshot *snapshot_new(const struct engine *e, const str texts[PARTS])
{
    struct snapshot *s = heap_alloc(sizeof *s);
    for (int i = 0; i < PARTS; i++)
        s->texts[i] = str_dup(&s->ctx.arena, texts[i]);
    follow_settings(e->settings, &s->live);
    take_memory(s);
    take_qdrant(s);
    take_osaurus(s);
    return s;
}

/* --- one after the other; is_changing is raised --- */

/* "static/…" and "transformers/…" stand in the listing of providers, but are no server. */
static str server_model(str model)
{
    bool is_local = str_starts(model, S("static/")) || str_starts(model, S("transformers/"));
    return is_local ? S("") : model;
}

static void choose(struct engine *e, const struct live_memory *m)
{
    struct embed_choice choice = {.source = m->embedding_source,
                                  .provider_model = server_model(m->embedding_model),
                                  .static_enabled = m->static_enabled,
                                  .transformers_enabled = m->transformers_enabled};
    embed_choose(e->embed, &choice);
    breaker_reset(&e->questions);
    breaker_reset(&e->making);
    breaker_reset(&e->reranks);
    e->rerank_asked = 0;
    e->trouble = TROUBLE_NONE;
    e->begun = 0;
}

static void free_old(struct snapshot *s, int64_t before)
{
    while (s->older && s->older->retired_us >= before)
        s = s->older;
    struct snapshot *old = s->older;
    s->older = NULL;
    while (old) {
        struct snapshot *next = old->older;
        snapshot_free(old);
        old = next;
    }
}

static void replace(struct engine *e, struct snapshot *next)
{
    struct snapshot *now = e->now;
    next->older = now;
    now->retired_us = clock_mono_us();
    e->now = next;
    choose(e, &next->live.memory);
    free_old(next, now->retired_us - KEEP_US);
}

static enum status look(struct ctx *ctx, struct engine *e)
{
    str texts[PARTS];
    bool is_same = true;
    const struct snapshot *now = e->now;
    e->looked = clock_mono_us();
    for (int i = 0; i < PARTS; i++) {
        TRY(store_setting(ctx, e->store, str_of(parts[i].name), &texts[i]));
        is_same &= str_eq(texts[i], now->texts[i]);
    }
    if (!is_same)
        replace(e, snapshot_new(e, texts));
    return OK;
}

/* The members of the change, and of what is stored those that it does not name. */
static str merged(struct ctx *ctx, const struct field *table, str stored, const struct json *change)
{
    struct buf b = buf_make(&ctx->arena, TEXT_MAX);
    struct json_out w = json_to(&b);
    const struct json *old = parsed(ctx, stored);
    json_open(&w, '{');
    for (const struct field *f = table; f->name; f++) {
        const struct json *v = json_get(change, f->name);
        if (!v)
            v = json_get(old, f->name);
        if (!v)
            continue;
        json_key(&w, f->name);
        json_raw(&w, v->type == JSON_NULL ? S("\"\"") : v->source);
    }
    json_close(&w, '}');
    return buf_str(&b);
}

static enum status put_part(struct ctx *ctx, struct engine *e, enum part part,
                            const struct json *object)
{
    const struct snapshot *now = e->now;
    str texts[PARTS], name = str_of(parts[part].name);
    memcpy(texts, now->texts, sizeof texts);
    texts[part] = merged(ctx, parts[part].table, texts[part], object);
    TRY(store_put_setting(ctx, e->store, name, texts[part]));
    replace(e, snapshot_new(e, texts));
    log_event(LOG_INFO, "settings.changed", "what=" S_FMT, S_ARG(name));
    return OK;
}

/* Osaurus's switch is the memory's, and what else it names is its own. */
static enum status change_now(struct ctx *ctx, struct engine *e, enum part part,
                              const struct json *object)
{
    const struct json *enabled = json_get(object, "enabled");
    TRY(look(ctx, e));
    if (part == OSAURUS && enabled) {
        struct json one = *enabled, both = {.type = JSON_OBJECT, .first = &one, .n = 1};
        one.next = NULL;
        TRY(put_part(ctx, e, MEMORY, &both));
    }
    return put_part(ctx, e, part, object);
}

/* Raises is_changing. A look at the store or a change takes milliseconds. */
static enum status begin_change(struct ctx *ctx, struct engine *e)
{
    static const struct timespec a_moment = {.tv_nsec = 1000000};
    for (int ms = 0; atomic_exchange(&e->is_changing, true); ms++) {
        if (ms == WAIT_MS)
            return fail(ctx, TOO_BUSY, "another change of the settings is being made");
        nanosleep(&a_moment, NULL);
    }
    return OK;
}

static enum status change(struct ctx *ctx, struct engine *e, enum part part,
                          const struct json *object)
{
    TRY(begin_change(ctx, e));
    enum status s = change_now(ctx, e, part, object);
    e->is_changing = false;
    return s;
}

/* --- the face --- */

const struct live *engine_live(struct engine *e)
{
    bool is_due = clock_mono_us() - e->looked >= LOOK_US;
    if (is_due && !atomic_exchange(&e->is_changing, true)) {
        struct ctx own = {0};
        if (look(&own, e) != OK)
            log_event(LOG_WARN, "settings.unread", "why=\"%s\"", own.why);
        ctx_free(&own);
        e->is_changing = false;
    }
    return &atomic_load(&e->now)->live;
}

enum status live_renew(struct ctx *ctx, struct engine *e)
{
    TRY(begin_change(ctx, e));
    choose(e, &atomic_load(&e->now)->live.memory);
    e->is_changing = false;
    return OK;
}

bool live_remembers(const struct live *l)
{
    return l->memory.enabled && !(l->budget_set && l->memory.max_tokens == 0);
}

bool engine_remembers(struct engine *e)
{
    return live_remembers(&atomic_load(&e->now)->live);
}

int64_t live_budget(const struct engine *e, const struct live *l)
{
    int64_t set = l->memory.max_tokens;
    if (!l->budget_set)
        return e->settings->budget_tokens;
    return set < RETRIEVE_BUDGET_MAX ? set : RETRIEVE_BUDGET_MAX;
}

int64_t live_after(const struct live *l, int64_t now)
{
    return l->retention_set ? now - l->memory.retention_days * 86400000 : 0;
}

enum strategy live_strategy(const struct live *l)
{
    return (enum strategy)name_index(strategy_names, l->memory.strategy, STRATEGY_HYBRID);
}

/* Only the models may be null: it takes them away. */
static enum status check_nulls(struct ctx *ctx, const struct json *object)
{
    for (const struct json *m = object->first; m; m = m->next)
        if (m->type == JSON_NULL && !str_is(m->key, "embeddingProviderModel") &&
            !str_is(m->key, "rerankProviderModel"))
            return fail_field(ctx, str_c(&ctx->arena, m->key), "must not be null");
    return OK;
}

enum status engine_change_memory_settings(struct ctx *ctx, struct engine *e,
                                          const struct json *object)
{
    struct live_memory checked;
    TRY(fields_read(ctx, live_memory_fields, object, true, &checked));
    TRY(check_nulls(ctx, object));
    return change(ctx, e, MEMORY, object);
}

enum status engine_change_qdrant_settings(struct ctx *ctx, struct engine *e,
                                          const struct json *object)
{
    struct live_qdrant checked;
    TRY(fields_read(ctx, live_qdrant_fields, object, true, &checked));
    TRY(check_nulls(ctx, object));
    return change(ctx, e, QDRANT, object);
}

enum status engine_change_osaurus_settings(struct ctx *ctx, struct engine *e,
                                           const struct json *object)
{
    struct live_osaurus checked;
    TRY(fields_read(ctx, live_osaurus_fields, object, true, &checked));
    for (const struct json *m = object->first; m; m = m->next)
        if (m->type == JSON_NULL)
            return fail_field(ctx, str_c(&ctx->arena, m->key), "must not be null");
    return change(ctx, e, OSAURUS, object);
}

enum status live_open(struct ctx *ctx, struct engine *e)
{
    e->now = snapshot_new(e, (str[PARTS]){{0}});
    choose(e, &atomic_load(&e->now)->live.memory);
    return e->store ? look(ctx, e) : OK; /* patterns alone need no store */
}

void live_free(struct engine *e)
{
    struct snapshot *now = e->now;
    if (!now)
        return;
    free_old(now, INT64_MAX);
    snapshot_free(now);
}
