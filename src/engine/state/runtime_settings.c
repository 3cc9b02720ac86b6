/* runtime_settings.c - settings that change at run time, as snapshots. */
#include "engine/state/state.h"

#include <math.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/url.h"

/*
 * Readers take the pointer of the snapshot that acts and never wait. A thread that makes another
 * one raises is_changing. The old snapshot is kept for an hour, as a request may still read it, and
 * is freed at a later change.
 *
 * The store keeps a JSON object of the members that someone has set, so that all others follow the
 * server's own settings. A change by another process on the same store is noticed by reading this
 * text again now and then.
 */
enum { LOOK_US = 900 * 1000, TEXT_MAX = 64 << 10, WAIT_MS = 5000 };
static const int64_t KEEP_US = (int64_t)3600 * 1000 * 1000;

static const char stored_name[] = "runtime";

struct snapshot {
    struct settings own;      /* the server's: of file, variables and flags */
    struct settings settings; /* those, and what someone changed over them */
    str text;                 /* as stored, or "" */
    struct ctx ctx;           /* owns the strings that can change */
    int64_t retired_us;
    struct snapshot *older;
};

/* It and all older ones, which no reader can hold any more. */
static void snapshots_free(struct snapshot *s)
{
    while (s) {
        struct snapshot *older = s->older;
        ctx_free(&s->ctx);
        free(s);
        s = older;
    }
}

/* --- from the text to settings --- */

/* An empty text means "not set", except where it removes a model. */
static bool is_set(const struct field *f, const struct json *v)
{
    static const enum json_type types[] = {
        [FIELD_STR] = JSON_STRING, [FIELD_INT] = JSON_NUMBER,  [FIELD_NUM] = JSON_NUMBER,
        [FIELD_BOOL] = JSON_BOOL,  [FIELD_ENUM] = JSON_STRING,
    };
    assert(f->type < sizeof types / sizeof *types);
    if (!v || v->type != types[f->type])
        return false;
    return v->type != JSON_STRING || json_string(v).n || f->empty == EMPTY_NULL;
}

/* An administrator or another version may have written the stored text: numbers are clamped, and
 * invalid values are ignored. */
static bool take_member(struct ctx *ctx, const struct field *f, const struct json *v,
                        struct settings *out)
{
    if (!is_set(f, v))
        return false;
    double d = json_num_or(v, NAN);
    str text = v->type == JSON_STRING ? json_string(v) : v->source;
    if (v->type == JSON_NUMBER && isfinite(d)) {
        d = d < f->min ? f->min : d > f->max ? f->max : d;
        text = str_printf(&ctx->arena, "%.17g", f->type == FIELD_INT ? round(d) : d);
    }
    return soft(ctx, fields_set(ctx, live_fields, str_of(f->name), text, out));
}

/* Where Qdrant is. Two texts that mean one server may differ; then the key is asked for once more
 * than needed. */
static bool is_same_server(const struct settings *a, const struct settings *b)
{
    return str_eq(str_trim(a->qdrant_host), str_trim(b->qdrant_host)) &&
           a->qdrant_port == b->qdrant_port;
}

/* Members of the stored text that are damaged or unknown are ignored: a newer or older version may
 * have written them. */
static struct snapshot *snapshot_new(const struct settings *own, str text)
{
    struct snapshot *s = heap_alloc(sizeof *s);
    struct settings *now = &s->settings;
    s->text = str_dup(&s->ctx.arena, text);
    s->own = *own;
    for (const struct field *f = live_fields; f->name; f++) {
        str *owned = (str *)((char *)&s->own + f->at);
        if (f->type == FIELD_STR)
            *owned = str_dup(&s->ctx.arena, *owned);
    }
    *now = s->own;
    if (now->embedding_model.n)
        now->agent_embedding_model = now->embedding_model;
    const struct json *root = json_of_text(&s->ctx, s->text);
    for (const struct setting_row *row = settings_rows; row->name; row++)
        if (row->live &&
            take_member(&s->ctx, row->live, json_get(root, row->stored ?: row->name), now))
            now->from[row - settings_rows] = FROM_API;
    /* The key of the server's own settings is for the server that they name. */
    if (!setting_is_changed(now, SETTING_qdrant_api_key) && !is_same_server(own, now))
        now->qdrant_api_key = S("");
    return s;
}

/* --- one after the other; is_changing is raised --- */

/* "static/…" and "transformers/…" are in the listing of providers, but are not servers. */
static void choose_settings(struct engine *e, const struct settings *s)
{
    struct embed_choice choice = embed_choice_of(s);
    str *model = &choice.provider_model;
    if (str_starts(*model, S("static/")) || str_starts(*model, S("transformers/")))
        *model = S("");
    embed_choose(e->embed, &choice);
    dependency_reset(&e->vectors.questions);
    dependency_reset(&e->vectors.making);
    dependency_reset(&e->rerank);
    reranker_retry(e->reranker);
    e->vectors.trouble = TROUBLE_NONE;
    e->vectors.begun = 0;
}

static void replace_snapshot(struct engine *e, struct snapshot *next)
{
    struct snapshot *now = e->runtime.now;
    assert(now && e->runtime.is_changing);
    next->older = now;
    now->retired_us = clock_mono_us();
    e->runtime.now = next;
    choose_settings(e, &next->settings);
    struct snapshot *kept = next;
    while (kept->older && kept->older->retired_us >= now->retired_us - KEEP_US)
        kept = kept->older;
    snapshots_free(kept->older);
    kept->older = NULL;
}

/* By comparing the text: cheap enough for once a second, and independent of clocks. */
static enum status look_for_change(struct ctx *ctx, struct engine *e)
{
    str text;
    const struct snapshot *now = e->runtime.now;
    assert(e->runtime.is_changing);
    e->runtime.looked = clock_mono_us();
    TRY(store_setting(ctx, e->store, str_of(stored_name), &text));
    if (!str_eq(text, now->text))
        replace_snapshot(e, snapshot_new(&now->own, text));
    return OK;
}

/* Where the server of a key is, is stored with the key: other settings at the next start must not
 * take the key to another server. */
static void write_place(struct json_out *w, const struct setting_row *row, const struct settings *s)
{
    if (row == &settings_rows[SETTING_qdrant_host])
        json_member_str(w, row->name, s->qdrant_host);
    if (row == &settings_rows[SETTING_qdrant_port])
        json_member_int(w, row->name, s->qdrant_port);
}

/* The members of the change, and those stored that it does not name. */
static str merge_change(struct ctx *ctx, const struct snapshot *now, const struct json *change,
                        enum null_means null)
{
    struct json_out w = json_in(&ctx->arena, TEXT_MAX);
    const struct json *old = json_of_text(ctx, now->text);
    bool has_key = json_string(json_get(change, "qdrant_api_key")).n > 0;
    json_open(&w, '{');
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        const char *stored = row->stored ?: row->name;
        const struct json *v = row->live ? json_get(change, row->name) : NULL;
        if (!v && row->live)
            v = json_get(old, stored);
        if (v && v->type == JSON_NULL && null == NULL_TAKES_BACK)
            continue;
        if (v)
            json_member_raw(&w, stored, v->type == JSON_NULL ? S("\"\"") : v->source);
        else if (has_key)
            write_place(&w, row, &now->settings);
    }
    json_close(&w, '}');
    return buf_str(w.b);
}

/* A key goes to the server that it was given for. Whoever moves Qdrant gives the key again, or
 * removes it. */
static enum status check_key(struct ctx *ctx, const struct settings *now,
                             const struct settings *next, const struct json *change)
{
    static const char name[] = "qdrant_api_key";
    if (!now->qdrant_api_key.n || json_get(change, name) || is_same_server(now, next))
        return OK;
    return fail_field(ctx, name,
                      "is needed again, because the host or port changes: the stored key is "
                      "not sent to another server. An empty one removes it");
}

/* "budget_tokens,strategy" */
static str names_of(struct ctx *ctx, const struct json *object)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    for (const struct json *m = object->first; m; m = m->next)
        buf_printf(&b, "%s" S_FMT, b.n ? "," : "", S_ARG(json_name(m)));
    return buf_str(&b);
}

static enum status change_now(struct ctx *ctx, struct engine *e, const struct json *object,
                              enum null_means null)
{
    assert(e->runtime.is_changing);
    TRY(look_for_change(ctx, e)); /* another process may have changed other members */
    const struct snapshot *now = e->runtime.now;
    str text = merge_change(ctx, now, object, null);
    struct snapshot *next = snapshot_new(&now->own, text);
    enum status s = check_key(ctx, &now->settings, &next->settings, object);
    if (s == OK)
        s = store_put_setting(ctx, e->store, str_of(stored_name), text);
    if (s != OK) {
        snapshots_free(next);
        return s;
    }
    replace_snapshot(e, next);
    log_event(LOG_INFO, "settings.changed", "what=" S_FMT, S_ARG(names_of(ctx, object)));
    return OK;
}

/* Raises is_changing. A look at the store or a change takes milliseconds. */
static enum status begin_change(struct ctx *ctx, struct engine *e)
{
    for (int ms = 0; atomic_exchange(&e->runtime.is_changing, true); ms++) {
        if (ms == WAIT_MS)
            return fail(ctx, TOO_BUSY, "another change of the settings is running; try again");
        usleep(1000);
    }
    return OK;
}

/* --- the face --- */

/* One thread at a time looks into the store; the others go on with what they have. */
const struct settings *engine_runtime(struct engine *e)
{
    bool is_due = clock_mono_us() - e->runtime.looked >= LOOK_US;
    if (is_due && !atomic_exchange(&e->runtime.is_changing, true)) {
        CLEANUP(ctx_free) struct ctx own = {0};
        bool failed = look_for_change(&own, e) != OK;
        if (failed && !e->runtime.is_unread)
            log_event(LOG_WARN, "settings.unread", "why=\"%s\"", own.why);
        e->runtime.is_unread = failed;
        e->runtime.is_changing = false;
    }
    return &atomic_load(&e->runtime.now)->settings;
}

enum status runtime_renew(struct ctx *ctx, struct engine *e)
{
    TRY(begin_change(ctx, e));
    choose_settings(e, &atomic_load(&e->runtime.now)->settings);
    e->runtime.is_changing = false;
    return OK;
}

bool runtime_remembers(const struct settings *r)
{
    return r->memory && (r->budget_tokens || !setting_is_changed(r, SETTING_budget_tokens));
}

bool engine_remembers(struct engine *e)
{
    return runtime_remembers(&atomic_load(&e->runtime.now)->settings);
}

int64_t runtime_budget(const struct settings *r)
{
    bool is_over = r->budget_tokens > RECALL_BUDGET_MAX;
    return is_over && setting_is_changed(r, SETTING_budget_tokens) ? RECALL_BUDGET_MAX
                                                                   : r->budget_tokens;
}

/* The time before which nothing is recalled (unix ms), or 0. The default number of days is not
 * applied until someone sets it: a default must not hide what people said. */
int64_t runtime_after(const struct settings *r, int64_t now)
{
    return setting_is_changed(r, SETTING_retention_days) ? now - r->retention_days * DAY_MS : 0;
}

bool runtime_prunes(const struct settings *r)
{
    return setting_is_changed(r, SETTING_episode_days) ||
           r->episode_days != settings_table[SETTING_episode_days].otherwise;
}

enum status engine_change_settings(struct ctx *ctx, struct engine *e, const struct json *object,
                                   enum null_means null)
{
    struct settings checked;
    TRY(fields_read(ctx, live_fields, object, true, &checked));
    for (const struct field *f = live_fields; f->name && null == NULL_EMPTIES; f++) {
        const struct json *v = json_get(object, f->name); /* only what may be empty is emptied */
        if (v && v->type == JSON_NULL && f->empty != EMPTY_NULL)
            return fail_field(ctx, f->name, "must not be null");
    }
    TRY(url_check(ctx, "qdrant_host", str_trim(checked.qdrant_host), false,
                  e->settings->allow_addresses));
    TRY(begin_change(ctx, e));
    enum status s = change_now(ctx, e, object, null);
    e->runtime.is_changing = false;
    for (const struct json *v = object->first; v && s == OK; v = v->next)
        audit_note(ctx, "setting.changed", S(""), "name=" S_FMT, S_ARG(json_name(v)));
    return s;
}

const struct settings *engine_own_settings(struct engine *e)
{
    return &atomic_load(&e->runtime.now)->own;
}

/* What someone has set stays over it. */
enum status engine_renew_settings(struct ctx *ctx, struct engine *e, const struct settings *own)
{
    TRY(begin_change(ctx, e));
    replace_snapshot(e, snapshot_new(own, atomic_load(&e->runtime.now)->text));
    e->runtime.is_changing = false;
    return OK;
}

enum status runtime_open(struct ctx *ctx, struct engine *e)
{
    e->runtime.now = snapshot_new(e->settings, S(""));
    choose_settings(e, &atomic_load(&e->runtime.now)->settings);
    if (!e->store) /* patterns alone need no store */
        return OK;
    e->runtime.is_changing = true;
    enum status s = look_for_change(ctx, e);
    e->runtime.is_changing = false;
    /* A store that is opened later is read then, as after a change by another process. */
    if (s != STORAGE || ctx->detail != STORAGE_AWAY)
        return s;
    ctx_clear_failure(ctx);
    return OK;
}

void runtime_free(struct engine *e)
{
    snapshots_free(e->runtime.now);
}
