/* doctor.c - looks at everything that may be wrong and says what to do. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"

#include "app/commands.h"
#include "app/home.h"
#include "app/key.h"
#include "embed/embed.h"
#include "http/http.h"
#include "llm/llm.h"

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

struct visit {
    struct ctx *ctx;
    const struct options *o;
    struct finding v[FINDINGS_MAX];
    size_t n;
};

static void note(struct visit *v, const char *level, str what, str detail, const char *advice)
{
    if (v->n < FINDINGS_MAX)
        v->v[v->n++] = (struct finding){str_of(level), what, detail, str_of(advice)};
}

/* --- data --- */

static void look_at_folder(struct visit *v, const struct home *home)
{
    struct stat st;
    struct statvfs fs;
    const char *folder = str_c(&v->ctx->arena, home->folder);
    if (stat(folder, &st) != 0) {
        note(v, errno == ENOENT ? "warn" : "bad", S("data folder"),
             str_printf(&v->ctx->arena, "%s: %s", folder, strerror(errno)),
             errno == ENOENT ? "it is made by the first command that remembers something"
                             : "choose a folder of yours with --data DIR");
        return;
    }
    if (!S_ISDIR(st.st_mode) || access(folder, R_OK | W_OK | X_OK) != 0)
        note(v, "bad", S("data folder"), home->folder,
             "it must be a folder that you may write to; choose one with --data DIR");
    else if (st.st_mode & 077)
        note(v, "warn", S("data folder"),
             str_printf(&v->ctx->arena, "%s is open to others (mode %03o)", folder,
                        (unsigned)st.st_mode & 0777),
             "close it with chmod 700");
    else
        note(v, "ok", S("data folder"), home->folder, "");
    if (statvfs(folder, &fs) == 0 && (double)fs.f_bavail * (double)fs.f_frsize < 256e6)
        note(v, "warn", S("disk"),
             str_printf(&v->ctx->arena, "%.0f MB are left",
                        (double)fs.f_bavail * (double)fs.f_frsize / 1e6),
             "make room, or writes will fail");
}

static void look_at_key(struct visit *v, const struct home *home)
{
    struct arena *a = &v->ctx->arena;
    if (!home->key_from.n) {
        note(v, "ok", S("encryption"),
             S("none: whoever can read the file can read what is remembered"),
             "rememberd encrypt encrypts it");
        return;
    }
    note(v, "ok", S("encryption"),
         str_printf(a, "AEGIS-256, the key is in " S_FMT, S_ARG(home->key_from)),
         str_is(home->key_from, keepers[KEEPER_FILE].name)
             ? "that protects copies of the database, but not the folder as a whole"
             : "");
}

/* Whether the model keys that users have left can be opened. A key file is not made here. */
static void look_at_keys(struct visit *v, struct home *home, bool has_seal, str how,
                         const char *then)
{
    size_t lost = 0;
    if ((has_seal && home_take_seal(v->ctx, home) != OK) ||
        engine_lost_keys(v->ctx, home->engine, &lost) != OK)
        note(v, "bad", S("model keys"), str_dup(&v->ctx->arena, str_of(v->ctx->why)), "");
    else if (lost)
        note(v, "bad", S("model keys"),
             str_printf(&v->ctx->arena, "%zu cannot be opened: " S_FMT, lost,
                        S_ARG(has_seal ? S("they were sealed with another key")
                                       : S("seal.key is gone"))),
             "bring the key back, or these users have to leave theirs again");
    else if (has_seal)
        note(v, "ok", S("model keys"), how, then);
    ctx_clear_failure(v->ctx);
}

static void look_at_seal(struct visit *v, struct home *home)
{
    struct stat st;
    const char *path = str_printf(&v->ctx->arena, S_FMT "/seal.key", S_ARG(home->folder)).p;
    if (home->settings.encryption_key.n)
        look_at_keys(v, home, true, S("sealed with the setting encryption_key"), "");
    else if (stat(path, &st) != 0)
        look_at_keys(v, home, false, S(""), "");
    else if (st.st_mode & 077)
        note(v, "bad", S("model keys"),
             str_printf(&v->ctx->arena, "seal.key is open to others (mode %03o)",
                        (unsigned)st.st_mode & 0777),
             "close it with chmod 600; the server does not start before");
    else
        look_at_keys(v, home, true, S("sealed with seal.key beside the data"),
                     "no backup of the database holds it: keep a copy of it, too");
}

static void look_at_tokens(struct visit *v, struct home *home)
{
    struct arena *a = &v->ctx->arena;
    struct token *t;
    size_t n, admins = 0, closing = 0;
    if (store_tokens(v->ctx, home->store, S(""), &t, &n) != OK) {
        note(v, "bad", S("tokens"), str_of(v->ctx->why), "");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        admins += t[i].is_admin && token_is_valid(&t[i], clock_ms());
        closing += !t[i].is_open;
    }
    str many = n ? str_printf(a, "%zu", n) : S("none");
    note(v, "ok", S("tokens"),
         closing ? str_printf(a, "%zu, %zu of them valid for administration", n, admins)
                 : str_printf(a, S_FMT ": %srequests from this machine act as the user local",
                              S_ARG(many), n ? "made by users for themselves; other " : ""),
         "");
}

/* --- vectors --- */

/* Makes one, by what is chosen now. */
static enum status try_source(struct ctx *ctx, const struct home *home, struct embedding *out)
{
    const struct live_memory *m = &engine_live(home->engine)->memory;
    struct embed_choice choice = {m->embedding_source, m->embedding_model, m->static_enabled,
                                  m->transformers_enabled};
    str text = S("hello");
    struct embed *e;
    TRY(embed_open(ctx, &home->settings, home->folder, &e));
    embed_choose(e, &choice);
    enum status s = embed_texts(ctx, e, &text, 1, out);
    embed_close(e);
    return s;
}

static void look_at_vectors(struct visit *v, struct home *home)
{
    struct pool_ref everyone = {.user = v->o->user};
    struct arena *a = &v->ctx->arena;
    struct engine_status status;
    struct vector_stats counts;
    struct embedding made;
    if (engine_status(v->ctx, home->engine, everyone, false, &status) != OK ||
        store_vector_stats(v->ctx, home->store, NULL, &counts) != OK) {
        note(v, "bad", S("vectors"), str_dup(a, str_of(v->ctx->why)), "");
        return;
    }
    if (!status.embedding.source) {
        note(v, "ok", S("vectors"),
             str_printf(a, "none, words are searched (" S_FMT ")", S_ARG(status.embedding.reason)),
             "rememberd model pull potion-base-8M says how to have them");
        return;
    }
    str source = str_printf(a, "%s " S_FMT, status.embedding.source, S_ARG(status.embedding.model));
    if (try_source(v->ctx, home, &made) != OK) {
        note(v, "bad", S("vectors"),
             str_printf(a, S_FMT ": %s; words are searched", S_ARG(source), v->ctx->why),
             "rememberd model check NAME, or see the upstream below");
        return;
    }
    if (status.vectors.reason.n) {
        note(v, counts.rows ? "warn" : "ok", S("vectors"),
             str_printf(a, S_FMT ": " S_FMT, S_ARG(source), S_ARG(status.vectors.reason)),
             "the server makes them by and by, rememberd reindex at once");
        return;
    }
    note(v, "ok", S("vectors"),
         str_printf(a, S_FMT ", %zu dimensions: %lld are kept, %lld texts wait, %lld can have none",
                    S_ARG(source), made.dimensions, (long long)counts.rows,
                    (long long)counts.waiting, (long long)counts.failed),
         "");
}

static void look_at_store(struct visit *v)
{
    CLEANUP(home_close) struct home home = {0};
    struct store_stats stats;
    str findings = S("");
    if (home_find(v->ctx, &v->o->settings, &home) != OK) {
        note(v, "bad", S("data folder"), str_of(v->ctx->why), "");
        return;
    }
    look_at_folder(v, &home);
    if (access(str_c(&v->ctx->arena, home.file), F_OK) != 0)
        return;
    if (home_open(v->ctx, v->o, &home) != OK || store_stats(v->ctx, home.store, &stats) != OK ||
        store_check(v->ctx, home.store, &findings) != OK) {
        note(v, "bad", S("database"), str_dup(&v->ctx->arena, str_of(v->ctx->why)),
             v->ctx->failed == FORBIDDEN ? "see to its key; a lost one cannot be made again"
                                         : "if it stays, restore the file from a backup");
        return;
    }
    if (findings.n)
        note(v, "bad", S("database"), findings, "stop the server and restore it from a backup");
    else
        note(v, "ok", S("database"),
             str_printf(&v->ctx->arena, "%lld messages, %lld memories, %.1f MB",
                        (long long)stats.messages, (long long)stats.memories,
                        (double)stats.bytes / 1e6),
             "");
    look_at_key(v, &home);
    look_at_seal(v, &home);
    look_at_tokens(v, &home);
    look_at_vectors(v, &home);
}

/* --- upstreams --- */

static void judge(struct visit *v, str what, const struct upstream *up, const struct answer *got)
{
    str url = str_printf(&v->ctx->arena, S_FMT " answers %d", S_ARG(up->url), got->code);
    struct json *models;
    if (got->code == 200 && json_parse(v->ctx, got->body, &models) == OK)
        note(v, "ok", what,
             str_printf(&v->ctx->arena, S_FMT ", %u models", S_ARG(up->url),
                        json_get(models, "data") ? json_get(models, "data")->n : 0),
             "");
    else if ((got->code == 401 || got->code == 403) && up->key.n)
        note(v, "bad", what, url, "it refuses the key of the settings");
    else if (got->code == 401 || got->code == 403)
        note(v, "ok", what, url, "it wants a key; clients send their own, or set upstream_key");
    else if (got->code == 404)
        note(v, "warn", what, url, "it has no list of models there; is the base URL right?");
    else
        note(v, "warn", what, url, "that is no list of models; is the base URL right?");
}

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
        judge(v, what, up, &got);
    else
        note(v, "bad", what,
             str_printf(a, S_FMT ": %s", S_ARG(up->url),
                        v->ctx->why[0] ? v->ctx->why : status_name(v->ctx->failed)),
             "is it running, and is the address right?");
    ctx_clear_failure(v->ctx);
}

static void look_at_core(struct visit *v)
{
    const struct upstream *up;
    str model;
    if (!v->o->settings.core_model.n)
        return;
    if (llm_core(v->ctx, &v->o->settings, &up, &model) == OK)
        note(v, "ok", S("core model"),
             str_printf(&v->ctx->arena, S_FMT " at " S_FMT, S_ARG(model), S_ARG(up->url)), "");
    else
        note(v, "bad", S("core model"), str_dup(&v->ctx->arena, str_of(v->ctx->why)),
             "name one as UPSTREAM/MODEL, and its server with --upstream");
    ctx_clear_failure(v->ctx);
}

static void print(struct visit *v, bool is_well)
{
    struct buf b = buf_make(&v->ctx->arena, PRINT_MAX);
    struct json_out w = json_to(&b);
    if (v->o->json) {
        json_open(&w, '{');
        json_key(&w, "ok");
        json_bool(&w, is_well);
        json_key(&w, "findings");
        json_open(&w, '[');
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
        note(v, "ok", S("upstream"), S("none: the built-in model rememberd/demo answers"),
             "set one with --upstream URL");
    look_at_core(v);
    for (size_t i = 0; i < v->n; i++)
        bad += str_is(v->v[i].level, "bad");
    print(v, !bad);
    return bad ? fail(ctx, STORAGE, "%zu %s", bad, bad == 1 ? "thing is wrong" : "things are wrong")
               : OK;
}
