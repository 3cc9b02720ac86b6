/* doctor.c - checks data, key, tokens, vectors and upstreams, and advises. */
#include "surface/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/time_text.h"
#include "core/backup_file.h"
#include "http/http.h"
#include "http/s3.h"

/*
 * A visit goes from the bottom up: folder, database, key, erasures, seal, tokens, vectors, then
 * upstreams, core model and libcurl. Each look adds a finding (ok, warn or bad) with what was seen
 * and what to do, and clears the failure that it met, so that the next one starts fresh. Nothing is
 * repaired; calls go to upstreams, to the source of vectors and to the storage of backups only. The
 * command and GET /v1/doctor both end here.
 */

/* CALL_MS is short: a person waits, and a slow upstream is worth knowing. */
enum { ANSWER_MAX = 8 << 20, CALL_MS = 5000, TRIAL_BYTES = 64 << 10 };

FIELDS(finding, (STR, level, .help = "ok, warn or bad"), (STR, what, .help = "what was looked at"),
       (STR, detail, .help = "what was seen"), (STR, advice, .help = "what to do, or \"\""));

/* What one run has seen. All texts are in the ctx's arena. */
struct visit {
    struct ctx *ctx;
    const struct doctor_in *in;
    struct finding v[FINDINGS_MAX];
    size_t n;
};

static void add_finding(struct visit *v, const char *level, str what, const char *advice,
                        str detail)
{
    assert(v->n < FINDINGS_MAX); /* a few, and one for each upstream */
    v->v[v->n++] = (struct finding){str_of(level), what, detail, str_of(advice)};
}

/* The same, with the detail in the words of a format; and one whose detail is why a call failed. */
#define add_words(V, LEVEL, WHAT, ADVICE, ...)                                                     \
    add_finding(V, LEVEL, WHAT, ADVICE, str_printf(&(V)->ctx->arena, __VA_ARGS__))
#define add_failure(V, WHAT, ADVICE) add_finding(V, "bad", WHAT, ADVICE, ctx_take_why((V)->ctx))

/* --- data --- */

/* A file without a name, which is gone when it is closed: a full disk, a quota and a limit of file
 * sizes look alike. 0 where the file system knows no such files. */
static int write_error(const char *folder)
{
    static const char zeros[TRIAL_BYTES];
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOSPC || errno == EDQUOT ? errno : 0;
    errno = ENOSPC; /* of a write that takes nothing and gives no reason */
    int error = write_all(fd, (str){zeros, sizeof zeros}) ? 0 : errno;
    close(fd);
    return error;
}

static void look_at_disk(struct visit *v, const char *folder)
{
    struct statvfs fs;
    int error = write_error(folder);
    if (error)
        add_words(v, "bad", S("disk"), "free some space; until then nothing is remembered",
                  "nothing can be written: %s", strerror(error));
    else if (statvfs(folder, &fs) == 0 && (double)fs.f_bavail * (double)fs.f_frsize < 256e6)
        add_words(v, "warn", S("disk"), "free some space, or writes will fail", "%.0f MB free",
                  (double)fs.f_bavail * (double)fs.f_frsize / 1e6);
}

/* The server makes them. A late one has failed, and the server's log says why. */
static void judge_backups(struct visit *v, str what, str place, enum status read,
                          const struct backup_file *made, size_t n)
{
    enum { HOUR_MS = 3600000 };
    struct arena *a = &v->ctx->arena;
    bool is_late =
        read != OK || !n || clock_ms() - made[0].at > 2 * v->in->settings->backup_hours * HOUR_MS;
    str seen = read != OK ? ctx_take_why(v->ctx)
               : n        ? str_printf(a, "%zu in " S_FMT ", the newest of %s", n, S_ARG(place),
                                       time_utc(a, made[0].at, "%Y-%m-%d %H:%M UTC").p)
                          : str_printf(a, "none in " S_FMT, S_ARG(place));
    add_finding(v, is_late ? "warn" : "ok", what,
                is_late ? "the server makes them while it runs; see backup in its log" : "", seen);
}

/* A copy from before an upgrade is its owner's to delete, and nothing else tells of it. */
static void look_at_backups(struct visit *v)
{
    const struct settings *s = v->in->settings;
    struct backup_file *made;
    size_t n = 0;
    if (soft(v->ctx, backup_files(v->ctx, v->in->folder, BACKUP_STEM, &made, &n)) &&
        SOME(i, n, made[i].schema))
        add_finding(v, "warn", S("copies"),
                    "delete rememberd-*-schema*.db there, if you keep to the newer version",
                    S("the data folder has copies from before an upgrade, which no erasure or "
                      "encryption reaches"));
    if (!s->backup_dir.n)
        return;
    enum status status = backups_by_clock(v->ctx, s->backup_dir, &made, &n);
    judge_backups(v, S("backups"), s->backup_dir, status, made, n);
}

static void look_at_remote_backups(struct visit *v)
{
    struct backup_file *made;
    struct s3 s3;
    size_t n = 0;
    if (!v->in->settings->backup_s3.n)
        return;
    CLEANUP(ctx_free) struct ctx own = ctx_child(v->ctx, CALL_MS);
    s3_of(&own, v->in->settings, &s3);
    enum status status = s3_list(&own, &s3, &made, &n);
    if (status != OK)
        status = fail(v->ctx, status, "%s", own.why);
    judge_backups(v, S("remote backups"), s3.place, status, made, n);
}

/* A log that nobody has begun is fine. */
static void look_at_audit(struct visit *v, const char *folder)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(v->ctx, 0);
    char why[400];
    int64_t lines;
    enum status s = audit_read(&own, folder, NULL, NULL, &lines);
    audit_why(v->ctx, why, sizeof why);
    if (why[0])
        add_words(v, "warn", S("audit log"), "what happens meanwhile is missing in it",
                  "cannot be written: %s", why);
    if (s != OK && s != NOT_FOUND)
        add_words(v, "bad", S("audit log"),
                  "compare it with a copy that was sent elsewhere (audit_to)", "%s", own.why);
}

/* As after an installation for all of a machine: the server has a user of its own. The other checks
 * would show failures of this user, not of the server. */
static bool is_of_other_user(struct visit *v, const char *folder)
{
    struct stat st;
    struct arena *a = &v->ctx->arena;
    if (stat(folder, &st) != 0 || st.st_uid == geteuid() || access(folder, R_OK | W_OK | X_OK) == 0)
        return false;
    add_words(v, "bad", S("data folder"),
              str_printf(a, "run this as that user: sudo -u '#%u' rememberd doctor",
                         (unsigned)st.st_uid)
                  .p,
              "%s belongs to the user %u, and this is user %u", folder, (unsigned)st.st_uid,
              (unsigned)geteuid());
    return true;
}

/* Checks before anything is opened: a wrong folder explains most later failures. */
static void look_at_folder(struct visit *v)
{
    struct stat st;
    const char *folder = str_c(&v->ctx->arena, v->in->folder);
    if (stat(folder, &st) != 0) {
        add_words(v, errno == ENOENT ? "warn" : "bad", S("data folder"),
                  errno == ENOENT ? "created by the first command that stores a memory"
                                  : "name another folder with --data DIR",
                  "%s: %s", folder, strerror(errno));
        return;
    }
    if (!S_ISDIR(st.st_mode) || access(folder, R_OK | W_OK | X_OK) != 0)
        add_finding(v, "bad", S("data folder"),
                    "must be a writable folder; name another one with --data DIR", v->in->folder);
    else if (st.st_mode & 077)
        add_words(v, "warn", S("data folder"), "run chmod 700 on the folder",
                  "%s is accessible to other users (mode %03o)", folder,
                  (unsigned)st.st_mode & 0777);
    else
        add_finding(v, "ok", S("data folder"), "", v->in->folder);
    look_at_disk(v, folder);
    look_at_audit(v, folder);
}

/* Encryption is optional, so a plain database is ok with an advice, not a warning. */
static void look_at_key(struct visit *v)
{
    if (!v->in->key_from.n) {
        add_finding(v, "ok", S("encryption"), "run 'rememberd encrypt' to encrypt the database",
                    S("none: anyone who can read the file can read the memories"));
        return;
    }
    add_words(v, "ok", S("encryption"),
              v->in->key_is_beside
                  ? "a key beside the data protects copies of the database, but not the folder"
                  : "",
              "AEGIS-256, the key is in " S_FMT, S_ARG(v->in->key_from));
}

/* A missing key file is not created: a new key would hide that the old one is lost. */
static void look_at_keys(struct visit *v, bool has_seal, str how, const char *then)
{
    size_t lost = 0;
    if (has_seal && v->in->seal_why.n)
        add_finding(v, "bad", S("API keys of users"), "", v->in->seal_why);
    else if (engine_lost_keys(v->ctx, v->in->engine, &lost) != OK)
        add_failure(v, S("API keys of users"), "");
    else if (lost)
        add_words(v, "bad", S("API keys of users"),
                  "restore the key, or let these users store their API keys again",
                  "%zu cannot be decrypted: " S_FMT, lost,
                  S_ARG(has_seal ? S("encrypted with another key") : S("seal.key is missing")));
    else if (has_seal)
        add_finding(v, "ok", S("API keys of users"), then, how);
}

bool surface_has_seal(struct ctx *ctx, str folder, unsigned *mode)
{
    struct stat st;
    if (stat(str_printf(&ctx->arena, S_FMT "/seal.key", S_ARG(folder)).p, &st) != 0)
        return false;
    *mode = (unsigned)st.st_mode & 0777;
    return true;
}

/* seal.key is created by serve. Until then there are no model keys to open, unless the file was
 * lost. */
static void look_at_seal(struct visit *v)
{
    unsigned mode;
    if (v->in->settings->encryption_key.n)
        look_at_keys(v, true, S("encrypted with the setting encryption_key"), "");
    else if (!surface_has_seal(v->ctx, v->in->folder, &mode))
        look_at_keys(v, false, S(""), "");
    else if (mode & 077)
        add_words(v, "bad", S("API keys of users"),
                  "run chmod 600 on seal.key; until then the server does not start",
                  "seal.key is accessible to other users (mode %03o)", mode);
    else
        look_at_keys(v, true, S("encrypted with seal.key in the data folder"),
                     "backups of the database do not contain seal.key: keep a copy elsewhere");
}

/* Tokens that users create for themselves are open: they do not make tokens required for others. */
static void look_at_tokens(struct visit *v)
{
    struct arena *a = &v->ctx->arena;
    struct token *t;
    size_t n, admins = 0, closing = 0;
    if (engine_tokens(v->ctx, v->in->engine, S(""), &t, &n) != OK) {
        add_failure(v, S("tokens"), "");
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
    add_finding(v, "ok", S("tokens"), "", detail);
}

/* --- vectors --- */

/* A source can be configured and still fail, so a test vector is made before the counts are
 * believed. */
static void look_at_vectors(struct visit *v)
{
    const struct pool_ref everyone = {.user = S(LOCAL_USER)};
    struct engine *e = v->in->engine;
    struct arena *a = &v->ctx->arena;
    struct engine_status status;
    struct vector_stats counts;
    int64_t dimensions;
    if (engine_status(v->ctx, e, everyone, false, &status) != OK ||
        engine_vectors(v->ctx, e, &counts) != OK) {
        add_failure(v, S("vectors"), "");
        return;
    }
    if (!status.embedding_source) {
        add_words(v, "ok", S("vectors"),
                  "run 'rememberd model pull potion-base-8M' to install a model",
                  "none, search uses words only (" S_FMT ")", S_ARG(status.embedding.reason));
        return;
    }
    str source = str_printf(a, "%s " S_FMT, status.embedding_source, S_ARG(status.embedding.model));
    enum status tried = engine_try_vectors(v->ctx, e, &dimensions);
    str why = ctx_take_why(v->ctx);
    if (tried != OK)
        add_words(v, "bad", S("vectors"),
                  "run 'rememberd model check NAME', or see the upstream below",
                  S_FMT ": " S_FMT "; search uses words only", S_ARG(source), S_ARG(why));
    else if (status.vectors.reason.n)
        add_words(
            v, counts.rows ? "warn" : "ok", S("vectors"),
            "the server makes the vectors in the background, 'rememberd reindex' makes them now",
            S_FMT ": " S_FMT, S_ARG(source), S_ARG(status.vectors.reason));
    else
        add_words(v, "ok", S("vectors"), "",
                  S_FMT ", %lld dimensions: %lld stored, %lld queued, %lld failed", S_ARG(source),
                  (long long)dimensions, (long long)counts.rows, (long long)counts.waiting,
                  (long long)counts.failed);
}

/* A model of this machine is loaded now; a server is not asked, as an answer may cost money. Says
 * nothing while nothing is chosen. */
static void look_at_reranker(struct visit *v)
{
    const struct pool_ref everyone = {.user = S(LOCAL_USER)};
    struct engine_status status;
    enum status loaded = engine_load_reranker(v->ctx, v->in->engine);
    str why = ctx_take_why(v->ctx);
    if (!soft(v->ctx, engine_status(v->ctx, v->in->engine, everyone, false, &status)) ||
        !status.rerank.enabled)
        return; /* a failure was reported by look_at_vectors */
    why = loaded == OK ? status.rerank.reason : why;
    if (!why.n)
        add_finding(v, "ok", S("reranking"), "", status.rerank.model);
    else
        add_words(v, "bad", S("reranking"),
                  "put the model's files into the folder of models, or name another one in "
                  "PUT /api/settings/memory",
                  S_FMT ": " S_FMT "; what is found stays in recall's order",
                  S_ARG(status.rerank.model), S_ARG(why));
}

/* One that is well is not worth a line. */
static void look_at_erasures(struct visit *v)
{
    if (engine_check_erasures(v->ctx, v->in->engine) != OK)
        add_failure(v, S("log of erasures"),
                    "stop the server and put a whole copy of the file back, or move it away: the "
                    "database then writes what it knows");
}

static void look_at_database(struct visit *v)
{
    struct engine_stats stats;
    str findings = S("");
    enum status checked = STORAGE;
    if (!v->in->store_why.n && engine_stats(v->ctx, v->in->engine, &stats) == OK &&
        engine_ping(v->ctx, v->in->engine) == OK)
        checked = engine_check(v->ctx, v->in->engine, v->in->is_deep, &findings);
    if (checked != OK && checked != TOO_BUSY) {
        str why = ctx_take_why(v->ctx);
        add_finding(
            v, "bad", S("database"),
            v->in->lacks_key ? "provide the key; a lost key cannot be recovered"
            : v->in->settings->store.n
                ? "check PostgreSQL and the setting store; what chats say meanwhile is kept later"
                : "remove this cause; restore a backup only if the file is damaged",
            v->in->store_why.n ? v->in->store_why : why);
        return;
    }
    if (checked == TOO_BUSY)
        add_finding(v, "warn", S("database"), "ask again later", ctx_take_why(v->ctx));
    else if (findings.n)
        add_finding(v, "bad", S("database"),
                    "stop the server and restore the database from a backup", findings);
    else
        add_words(v, "ok", S("database"),
                  stats.store.server[0] ? "check its pages with pg_amcheck" : "",
                  "%lld messages, %lld memories, %.1f MB%s%s", (long long)stats.store.messages,
                  (long long)stats.store.memories, (double)stats.store.bytes / 1e6,
                  stats.store.server[0] ? ", " : "", stats.store.server);
    if (stats.store.server[0])
        add_finding(v, "ok", S("encryption"), "",
                    S("none by rememberd: the database's disk can be encrypted"));
    else
        look_at_key(v);
    look_at_erasures(v);
    look_at_seal(v);
    look_at_tokens(v);
    look_at_vectors(v);
    look_at_reranker(v);
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
        add_words(v, "ok", what, "", S_FMT ", %u models", S_ARG(up->url),
                  json_get(models, "data") ? json_get(models, "data")->n : 0);
    else if ((got->code == 401 || got->code == 403) && up->key.n)
        add_finding(v, "bad", what, "the upstream rejects the configured key; set the right one",
                    url);
    else if (got->code == 401 || got->code == 403)
        add_finding(v, "ok", what,
                    "the upstream needs a key: clients send their own, or set upstream_key", url);
    else
        add_finding(v, "warn", what,
                    got->code == 404 ? "no list of models at this address; check the base URL"
                                     : "the answer is not a list of models; check the base URL",
                    url);
}

/* The list of models is the one request that costs nothing and that every such server knows. */
static void look_at_upstream(struct visit *v, const struct upstream *up)
{
    struct arena *a = &v->ctx->arena;
    const struct call call = {.timeout_ms = CALL_MS, .answer_max = ANSWER_MAX};
    struct answer got;
    str what = up->name.n ? str_printf(a, "upstream " S_FMT, S_ARG(up->name)) : S("upstream");
    if (http_call_upstream(v->ctx, up, "/v1/models", call, &got) == OK)
        judge_models(v, what, up, &got);
    else
        add_words(v, "bad", what, "check that the upstream is running and that the URL is right",
                  S_FMT ": %s", S_ARG(up->url),
                  v->ctx->why[0] ? v->ctx->why : status_name(v->ctx->failed));
    ctx_clear_failure(v->ctx);
}

/* The server runs without libcurl as long as it need not call another one. */
static void look_at_libcurl(struct visit *v)
{
    str with = {0};
    if (http_client_check(v->ctx, &with) == OK)
        add_finding(v, "ok", S("libcurl"), "", with);
    else
        add_finding(v, v->in->settings->n_upstreams ? "bad" : "warn", S("libcurl"), "",
                    ctx_take_why(v->ctx));
}

/* Only whether the settings fit together: the model is not asked, since an answer costs money. */
static void look_at_core(struct visit *v)
{
    str model, url;
    if (!v->in->settings->core_model.n)
        return;
    if (engine_find_core(v->ctx, v->in->settings, &model, &url) == OK)
        add_words(v, "ok", S("core model"), "", S_FMT " at " S_FMT, S_ARG(model), S_ARG(url));
    else
        add_failure(v, S("core model"),
                    "set --core-model UPSTREAM/MODEL and --upstream UPSTREAM=URL");
}

/* --- the face --- */

void surface_findings_json(struct buf *b, bool is_well, const struct finding *v, size_t n)
{
    struct json_out w = json_to(b);
    json_open(&w, '{');
    json_member_bool(&w, "ok", is_well);
    json_member_open(&w, "findings", '[');
    for (size_t i = 0; i < n; i++)
        fields_write(&w, finding_fields, &v[i]);
    json_close(&w, ']');
    json_close(&w, '}');
}

bool surface_doctor(struct ctx *ctx, const struct doctor_in *in, struct finding **out, size_t *n)
{
    struct visit *v = NEW(&ctx->arena, struct visit);
    bool is_well = true;
    *v = (struct visit){.ctx = ctx, .in = in};
    if (in->folder_why.n)
        add_finding(v, "bad", S("data folder"), "", in->folder_why);
    else if (!is_of_other_user(v, str_c(&ctx->arena, in->folder))) {
        look_at_folder(v);
        if (in->is_there)
            look_at_database(v);
        look_at_backups(v);
    }
    ctx_clear_failure(ctx);
    for (size_t i = 0; i < in->settings->n_upstreams; i++)
        look_at_upstream(v, &in->settings->upstreams[i]);
    look_at_remote_backups(v);
    if (!in->settings->n_upstreams)
        add_finding(v, "ok", S("upstream"), "set an upstream with --upstream URL",
                    S("none: only the built-in model rememberd/demo answers"));
    look_at_core(v);
    look_at_libcurl(v);
    for (size_t i = 0; i < v->n; i++)
        is_well &= !str_is(v->v[i].level, "bad");
    *out = v->v;
    *n = v->n;
    return is_well;
}
