/* doctor.c - checks data, key, tokens, vectors and upstreams, and advises. */
#include <assert.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"

#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "embed/embed.h"
#include "http/http.h"
#include "llm/llm.h"

/*
 * A visit goes from the bottom up: folder, database, key, seal, tokens, vectors, then upstreams,
 * core model and libcurl. Each look adds a finding (ok, warn or bad) with what was seen and what to
 * do, and clears the failure that it met, so that the next one starts fresh. Nothing is repaired;
 * calls go to upstreams and to the source of vectors only.
 */

/* CALL_MS is short: a person waits, and an upstream that needs longer for a list is worth
 * knowing. */
enum { FINDINGS_MAX = 64, PRINT_MAX = 1 << 20, ANSWER_MAX = 8 << 20, CALL_MS = 5000 };

struct finding {
    str level, what, detail, advice; /* level: ok, warn, bad */
};
static const struct field finding_fields[] = {
    {STR(struct finding, level)},
    {STR(struct finding, what)},
    {STR(struct finding, detail)},
    {STR(struct finding, advice)},
    {0},
};

/* What one run has seen. All texts are in the ctx's arena. */
struct visit {
    struct ctx *ctx;
    const struct options *o;
    struct finding v[FINDINGS_MAX];
    size_t n;
};

static void add_finding(struct visit *v, const char *level, str what, str detail,
                        const char *advice)
{
    assert(v->n < FINDINGS_MAX); /* a few, and one for each upstream */
    v->v[v->n++] = (struct finding){str_of(level), what, detail, str_of(advice)};
}

/* --- data --- */

/* Checks before anything is opened: a wrong folder explains most later failures. */
static void look_at_folder(struct visit *v, const struct instance *instance)
{
    struct stat st;
    struct statvfs fs;
    const char *folder = str_c(&v->ctx->arena, instance->folder);
    if (stat(folder, &st) != 0) {
        add_finding(v, errno == ENOENT ? "warn" : "bad", S("data folder"),
                    str_printf(&v->ctx->arena, "%s: %s", folder, strerror(errno)),
                    errno == ENOENT ? "created by the first command that stores a memory"
                                    : "name another folder with --data DIR");
        return;
    }
    if (!S_ISDIR(st.st_mode) || access(folder, R_OK | W_OK | X_OK) != 0)
        add_finding(v, "bad", S("data folder"), instance->folder,
                    "must be a writable folder; name another one with --data DIR");
    else if (st.st_mode & 077)
        add_finding(v, "warn", S("data folder"),
                    str_printf(&v->ctx->arena, "%s is accessible to other users (mode %03o)",
                               folder, (unsigned)st.st_mode & 0777),
                    "run chmod 700 on the folder");
    else
        add_finding(v, "ok", S("data folder"), instance->folder, "");
    if (statvfs(folder, &fs) == 0 && (double)fs.f_bavail * (double)fs.f_frsize < 256e6)
        add_finding(v, "warn", S("disk"),
                    str_printf(&v->ctx->arena, "%.0f MB free",
                               (double)fs.f_bavail * (double)fs.f_frsize / 1e6),
                    "free some space, or writes will fail");
}

/* Encryption is optional, so a plain database is ok with an advice, not a warning. */
static void look_at_key(struct visit *v, const struct instance *instance)
{
    struct arena *a = &v->ctx->arena;
    if (!instance->key_from.n) {
        add_finding(v, "ok", S("encryption"),
                    S("none: anyone who can read the file can read the memories"),
                    "run 'rememberd encrypt' to encrypt the database");
        return;
    }
    add_finding(v, "ok", S("encryption"),
                str_printf(a, "AEGIS-256, the key is in " S_FMT, S_ARG(instance->key_from)),
                str_is(instance->key_from, key_stores[KEY_STORE_FILE].name)
                    ? "a key beside the data protects copies of the database, but not the folder"
                    : "");
}

/* Whether the stored model keys of users can be decrypted. A missing key file is not created: a new
 * key would hide that the old one is lost. */
static void look_at_keys(struct visit *v, struct instance *instance, bool has_seal, str how,
                         const char *then)
{
    size_t lost = 0;
    if ((has_seal && instance_take_seal(v->ctx, instance) != OK) ||
        engine_lost_keys(v->ctx, instance->engine, &lost) != OK)
        add_finding(v, "bad", S("API keys of users"), str_dup(&v->ctx->arena, str_of(v->ctx->why)),
                    "");
    else if (lost)
        add_finding(v, "bad", S("API keys of users"),
                    str_printf(&v->ctx->arena, "%zu cannot be decrypted: " S_FMT, lost,
                               S_ARG(has_seal ? S("encrypted with another key")
                                              : S("seal.key is missing"))),
                    "restore the key, or let these users store their API keys again");
    else if (has_seal)
        add_finding(v, "ok", S("API keys of users"), how, then);
    ctx_clear_failure(v->ctx);
}

/* seal.key is created by serve. Until then there are no model keys to open, unless the file was
 * lost. */
static void look_at_seal(struct visit *v, struct instance *instance)
{
    struct stat st;
    const char *path = str_printf(&v->ctx->arena, S_FMT "/seal.key", S_ARG(instance->folder)).p;
    if (instance->settings.encryption_key.n)
        look_at_keys(v, instance, true, S("encrypted with the setting encryption_key"), "");
    else if (stat(path, &st) != 0)
        look_at_keys(v, instance, false, S(""), "");
    else if (st.st_mode & 077)
        add_finding(v, "bad", S("API keys of users"),
                    str_printf(&v->ctx->arena, "seal.key is accessible to other users (mode %03o)",
                               (unsigned)st.st_mode & 0777),
                    "run chmod 600 on seal.key; until then the server does not start");
    else
        look_at_keys(v, instance, true, S("encrypted with seal.key in the data folder"),
                     "backups of the database do not contain seal.key: keep a copy elsewhere");
}

/* Tokens that users create for themselves are open: they do not make tokens required for others. */
static void look_at_tokens(struct visit *v, struct instance *instance)
{
    struct arena *a = &v->ctx->arena;
    struct token *t;
    size_t n, admins = 0, closing = 0;
    if (store_tokens(v->ctx, instance->store, S(""), &t, &n) != OK) {
        add_finding(v, "bad", S("tokens"), str_of(v->ctx->why), "");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        admins += t[i].is_admin && token_is_valid(&t[i], clock_ms());
        closing += !t[i].is_open;
    }
    str detail = S("none: requests from this machine act as the user local");
    if (closing)
        detail = str_printf(a, "%zu, of which %zu are valid admin tokens", n, admins);
    else if (n)
        detail = str_printf(a,
                            "%zu, created by users for themselves; other requests from this "
                            "machine act as the user local",
                            n);
    add_finding(v, "ok", S("tokens"), detail, "");
}

/* --- vectors --- */

/* A test vector, with the source that is chosen now. */
static enum status try_source(struct ctx *ctx, const struct instance *instance,
                              struct embedding *out)
{
    const struct runtime_memory *m = &engine_runtime(instance->engine)->memory;
    struct embed_choice choice = {m->embedding_source, m->embedding_model, m->static_enabled,
                                  m->transformers_enabled};
    str text = S("hello");
    struct embed *e;
    TRY(embed_open(ctx, &instance->settings, instance->folder, &e));
    embed_choose(e, &choice);
    enum status s = embed_texts(ctx, e, &text, 1, out);
    embed_close(e);
    return s;
}

/* A source can be configured and still fail, so a test vector is made before the counts are
 * believed. */
static void look_at_vectors(struct visit *v, struct instance *instance)
{
    struct pool_ref everyone = {.user = v->o->user};
    struct arena *a = &v->ctx->arena;
    struct engine_status status;
    struct vector_stats counts;
    struct embedding made;
    if (engine_status(v->ctx, instance->engine, everyone, false, &status) != OK ||
        store_vector_stats(v->ctx, instance->store, NULL, &counts) != OK) {
        add_finding(v, "bad", S("vectors"), str_dup(a, str_of(v->ctx->why)), "");
        return;
    }
    if (!status.embedding.source) {
        add_finding(v, "ok", S("vectors"),
                    str_printf(a, "none, search uses words only (" S_FMT ")",
                               S_ARG(status.embedding.reason)),
                    "run 'rememberd model pull potion-base-8M' to install a model");
        return;
    }
    str source = str_printf(a, "%s " S_FMT, status.embedding.source, S_ARG(status.embedding.model));
    if (try_source(v->ctx, instance, &made) != OK) {
        add_finding(v, "bad", S("vectors"),
                    str_printf(a, S_FMT ": %s; search uses words only", S_ARG(source), v->ctx->why),
                    "run 'rememberd model check NAME', or see the upstream below");
        return;
    }
    if (status.vectors.reason.n) {
        add_finding(
            v, counts.rows ? "warn" : "ok", S("vectors"),
            str_printf(a, S_FMT ": " S_FMT, S_ARG(source), S_ARG(status.vectors.reason)),
            "the server makes the vectors in the background, 'rememberd reindex' makes them now");
        return;
    }
    add_finding(v, "ok", S("vectors"),
                str_printf(a, S_FMT ", %zu dimensions: %lld stored, %lld queued, %lld failed",
                           S_ARG(source), made.dimensions, (long long)counts.rows,
                           (long long)counts.waiting, (long long)counts.failed),
                "");
}

/* Each check needs the one before, so the first failure ends the list for the database. */
static void look_at_store(struct visit *v)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct store_stats stats;
    str findings = S("");
    if (instance_find(v->ctx, &v->o->settings, &instance) != OK) {
        add_finding(v, "bad", S("data folder"), str_of(v->ctx->why), "");
        return;
    }
    look_at_folder(v, &instance);
    if (access(str_c(&v->ctx->arena, instance.file), F_OK) != 0)
        return;
    if (instance_open(v->ctx, v->o, &instance) != OK ||
        store_stats(v->ctx, instance.store, &stats) != OK ||
        store_check(v->ctx, instance.store, &findings) != OK) {
        add_finding(v, "bad", S("database"), str_dup(&v->ctx->arena, str_of(v->ctx->why)),
                    v->ctx->failed == FORBIDDEN
                        ? "provide the key; a lost key cannot be recovered"
                        : "if the error persists, restore the database from a backup");
        return;
    }
    if (findings.n)
        add_finding(v, "bad", S("database"), findings,
                    "stop the server and restore the database from a backup");
    else
        add_finding(v, "ok", S("database"),
                    str_printf(&v->ctx->arena, "%lld messages, %lld memories, %.1f MB",
                               (long long)stats.messages, (long long)stats.memories,
                               (double)stats.bytes / 1e6),
                    "");
    look_at_key(v, &instance);
    look_at_seal(v, &instance);
    look_at_tokens(v, &instance);
    look_at_vectors(v, &instance);
}

/* --- upstreams --- */

/* A 401 is fine without a configured key, since clients send their own. Other answers mean that
 * the URL is probably not the base of an OpenAI-compatible API. */
static void judge_models(struct visit *v, str what, const struct upstream *up,
                         const struct answer *got)
{
    str url = str_printf(&v->ctx->arena, S_FMT " answers %d", S_ARG(up->url), got->code);
    struct json *models;
    if (got->code == 200 && json_parse(v->ctx, got->body, &models) == OK)
        add_finding(v, "ok", what,
                    str_printf(&v->ctx->arena, S_FMT ", %u models", S_ARG(up->url),
                               json_get(models, "data") ? json_get(models, "data")->n : 0),
                    "");
    else if ((got->code == 401 || got->code == 403) && up->key.n)
        add_finding(v, "bad", what, url,
                    "the upstream rejects the configured key; set the right one");
    else if (got->code == 401 || got->code == 403)
        add_finding(v, "ok", what, url,
                    "the upstream needs a key: clients send their own, or set upstream_key");
    else if (got->code == 404)
        add_finding(v, "warn", what, url, "no list of models at this address; check the base URL");
    else
        add_finding(v, "warn", what, url, "the answer is not a list of models; check the base URL");
}

/* The list of models is the one request that costs nothing and that every such server knows. */
static void look_at_upstream(struct visit *v, const struct upstream *up)
{
    struct arena *a = &v->ctx->arena;
    bool is_anthropic = str_is(up->dialect, "anthropic");
    struct header bearer = {S("Authorization"), str_printf(a, "Bearer " S_FMT, S_ARG(up->key))};
    struct header headers[] = {is_anthropic ? (struct header){S("x-api-key"), up->key} : bearer,
                               {S("anthropic-version"), S("2023-06-01")}};
    struct call call = {
        .url = upstream_url(a, up, S("/v1/models"), S("")),
        .method = S("GET"),
        .headers = headers,
        .n_headers = is_anthropic ? 2 : up->key.n > 0,
        .timeout_ms = CALL_MS,
        .answer_max = ANSWER_MAX,
    };
    struct answer got;
    str what = up->name.n ? str_printf(a, "upstream " S_FMT, S_ARG(up->name)) : S("upstream");
    ctx_clear_failure(v->ctx);
    if (http_call(v->ctx, &call, &got) == OK)
        judge_models(v, what, up, &got);
    else
        add_finding(v, "bad", what,
                    str_printf(a, S_FMT ": %s", S_ARG(up->url),
                               v->ctx->why[0] ? v->ctx->why : status_name(v->ctx->failed)),
                    "check that the upstream is running and that the URL is right");
    ctx_clear_failure(v->ctx);
}

/* The server runs without libcurl as long as it need not call another one. */
static void look_at_libcurl(struct visit *v)
{
    str with = {0};
    if (http_client_check(v->ctx, &with) == OK)
        add_finding(v, "ok", S("libcurl"), with, "");
    else
        add_finding(v, v->o->settings.n_upstreams ? "bad" : "warn", S("libcurl"),
                    str_dup(&v->ctx->arena, str_of(v->ctx->why)), "");
    ctx_clear_failure(v->ctx);
}

/* Only whether the settings fit together: the model is not asked, since an answer costs money. */
static void look_at_core(struct visit *v)
{
    const struct upstream *up;
    str model;
    if (!v->o->settings.core_model.n)
        return;
    if (llm_core(v->ctx, &v->o->settings, &up, &model) == OK)
        add_finding(v, "ok", S("core model"),
                    str_printf(&v->ctx->arena, S_FMT " at " S_FMT, S_ARG(model), S_ARG(up->url)),
                    "");
    else
        add_finding(v, "bad", S("core model"), str_dup(&v->ctx->arena, str_of(v->ctx->why)),
                    "set --core-model UPSTREAM/MODEL and --upstream UPSTREAM=URL");
    ctx_clear_failure(v->ctx);
}

/* One line per finding; a script reads --json instead. */
static void print_findings(struct visit *v, bool is_well)
{
    struct buf b = buf_make(&v->ctx->arena, PRINT_MAX);
    struct json_out w = json_to(&b);
    if (v->o->json) {
        json_open(&w, '{');
        json_member_bool(&w, "ok", is_well);
        json_member_open(&w, "findings", '[');
        for (size_t i = 0; i < v->n; i++)
            fields_write(&w, finding_fields, &v->v[i]);
        json_close(&w, ']');
        json_close(&w, '}');
        print_buf(&b);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        printf("%-5s" S_FMT ": ", v->v[i].level.p, S_ARG(v->v[i].what));
        print_line(v->v[i].detail);
        if (v->v[i].advice.n)
            printf("     -> " S_FMT "\n", S_ARG(v->v[i].advice));
    }
}

/* Every check runs even after a failure, so that one run shows all problems. Exit status 1 when
 * any is bad, for scripts and service managers. */
enum status command_doctor(struct ctx *ctx, const struct options *o)
{
    struct visit *v = NEW(&ctx->arena, struct visit);
    size_t bad = 0;
    v->ctx = ctx;
    v->o = o;
    look_at_store(v);
    ctx_clear_failure(ctx);
    for (size_t i = 0; i < o->settings.n_upstreams; i++)
        look_at_upstream(v, &o->settings.upstreams[i]);
    if (!o->settings.n_upstreams)
        add_finding(v, "ok", S("upstream"), S("none: the built-in model rememberd/demo answers"),
                    "set an upstream with --upstream URL");
    look_at_core(v);
    look_at_libcurl(v);
    for (size_t i = 0; i < v->n; i++)
        bad += str_is(v->v[i].level, "bad");
    print_findings(v, !bad);
    return bad ? fail(ctx, STORAGE, "%zu %s found", bad, bad == 1 ? "problem" : "problems") : OK;
}
