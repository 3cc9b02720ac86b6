/* instance.c - opens everything below the commands in the order of PLAN, closes in reverse. */
#include "app/instance.h"

#include <errno.h>
#include <grp.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/seal.h"

#include "app/key/key.h"
#include "app/leftovers.h"

/*
 * An instance is one data folder with everything opened on it: the key, the store, the engine.
 * Commands work on it directly, without a server, also while one runs: SQLite's locks keep the
 * processes apart, and a server sees what others wrote. Seals are a second key, for the model keys
 * that users store; it belongs to the server and is in the folder (seal.key) or a setting, not in
 * the database.
 */

/* --data wins, then the XDG convention for user data. */
enum status instance_place(struct ctx *ctx, const struct settings *s, struct instance *out)
{
    const char *base = getenv("XDG_DATA_HOME"), *own = getenv("HOME");
    struct arena *a = &ctx->arena;
    *out = (struct instance){0};
    if (s->data.n)
        out->folder = str_dup(a, s->data);
    else if (base && *base)
        out->folder = str_printf(a, "%s/rememberd", base);
    else if (own && *own)
        out->folder = str_printf(a, "%s/.local/share/rememberd", own);
    else
        return fail(ctx, BAD_INPUT, "no home folder is known (HOME is not set): use --data DIR");
    out->file = str_printf(a, S_FMT "/rememberd.db", S_ARG(out->folder));
    out->erasures = str_printf(a, S_FMT "/rememberd.erasures", S_ARG(out->folder));
    return OK;
}

/* Files of root in another user's folder would keep that user's server from starting. */
static enum status act_as_owner(struct ctx *ctx, str folder)
{
    struct stat s;
    const char *path = str_c(&ctx->arena, folder);
    if (geteuid() != 0 || stat(path, &s) != 0 || s.st_uid == 0)
        return OK;
    if (setgroups(0, NULL) != 0 || setgid(s.st_gid) != 0 || setuid(s.st_uid) != 0)
        return fail(ctx, FORBIDDEN, "cannot act as uid %u, who owns %s: %s", (unsigned)s.st_uid,
                    path, strerror(errno));
    fprintf(stderr, "acting as uid %u, who owns %s\n", (unsigned)s.st_uid, path);
    return OK;
}

enum status instance_find(struct ctx *ctx, const struct settings *s, struct instance *out)
{
    TRY(instance_place(ctx, s, out));
    return act_as_owner(ctx, out->folder);
}

enum status make_folder_of(struct ctx *ctx, str file)
{
    const char *missing = folders_make(&ctx->arena, file);
    if (missing)
        return fail(ctx, STORAGE, "the folder %s cannot be created: %s", missing, strerror(errno));
    return OK;
}

/* The memory of the process holds keys and what users said: no core file, and no look into it by
 * another process of the same user. Sanitizers look into it themselves. */
static void close_process(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
#ifndef SANITIZED
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* A key without its database: an empty plain one in its place would hide that it is lost. */
static enum status refuse_plain(struct ctx *ctx, const struct instance *instance)
{
    if (instance->accepts_loss || store_kind(ctx, instance->file) != STORE_ABSENT ||
        !key_is_beside(ctx, instance->folder))
        return OK;
    return fail(ctx, STORAGE,
                "the database '" S_FMT
                "' is missing, and its key is there; put it back, restore a backup, or begin an "
                "empty one: rememberd encrypt, or in plain text: rememberd doctor --accept-loss",
                S_ARG(instance->file));
}

/* The only place where a key is looked up; the store keeps its own copy. */
static enum status open_file(struct ctx *ctx, struct instance *instance)
{
    enum { LEAST = 64, BESIDE = 64 };
    CLEANUP(key_free) struct key key = {0};
    const struct settings *s = &instance->settings;
    /* One reader for each thread that may read, so that none waits for another: workers (two per
     * core unless the setting says otherwise), event loops and the background. */
    size_t wanted = (size_t)s->workers + (size_t)s->loops;
    TRY(key_find(ctx, s, instance->folder, instance->file, &key));
    if (!key.bytes)
        TRY(refuse_plain(ctx, instance));
    struct store_settings store = {.path = instance->file,
                                   .cache_bytes = (size_t)s->cache_max,
                                   .key = key.bytes,
                                   .readers = BESIDE + (wanted > LEAST ? wanted : LEAST),
                                   .may_wait = instance->may_wait,
                                   .keeps_reserve = instance->is_server,
                                   .accepts_loss = instance->accepts_loss,
                                   .keeps_old = true,
                                   .erasures = instance->erasures};
    instance->key_from = key.from;
    return store_open(ctx, &store, &instance->store);
}

/* The setting `store`: a database that is no file in the folder. */
static enum status open_store(struct ctx *ctx, struct instance *instance)
{
    if (!instance->settings.core_dumps)
        close_process();
    if (!instance->settings.store.n)
        return open_file(ctx, instance);
    TRY(key_configured(ctx, &instance->settings, &(struct key){0}));
    struct store_settings store = {.path = instance->settings.store,
                                   .cache_bytes = (size_t)instance->settings.cache_max,
                                   .may_wait = instance->may_wait,
                                   .must_exist = instance->must_exist,
                                   .erasures = instance->erasures};
    return store_open(ctx, &store, &instance->store);
}

enum status instance_find_file(struct ctx *ctx, const struct settings *s, const char *instead,
                               struct instance *out)
{
    if (!s->store.n)
        return instance_find(ctx, s, out);
    return fail(ctx, UNSUPPORTED,
                "the setting store names a database in PostgreSQL, which is no file: %s", instead);
}

/* A folder that cannot be looked into is left to the opening, whose failure says why; so is a
 * database that went missing. */
bool instance_is_new(struct ctx *ctx, const struct instance *instance)
{
    return access(str_c(&ctx->arena, instance->file), F_OK) != 0 &&
           (errno == ENOENT || errno == ENOTDIR) && !store_remains(ctx, instance->file).n &&
           !key_is_beside(ctx, instance->folder);
}

/* Empty, in a folder of its own that instance_close removes, or a signal that ends the command. */
static enum status open_scratch(struct ctx *ctx, const struct options *o, struct instance *out)
{
    static const char *const ends[] = {".db",     ".db-journal", ".db-wal",
                                       ".db-shm", ".db-commits", ".erasures"};
    const char *base = getenv("TMPDIR");
    str folder = str_printf(&ctx->arena, "%s/rememberd-XXXXXX", base && *base ? base : "/tmp");
    struct options own = *o;
    if (!mkdtemp((char *)folder.p))
        return fail(ctx, STORAGE, "the folder " S_FMT " cannot be created: %s", S_ARG(folder),
                    strerror(errno));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        leftover_add(str_printf(&ctx->arena, S_FMT "/rememberd%s", S_ARG(folder), ends[i]).p);
    leftover_add(folder.p);
    own.settings.data = folder;
    own.settings.store = S("");
    enum status s = instance_open(ctx, &own, TO_ADD, out);
    out->is_scratch = true;
    return s;
}

/* From the bottom up: folder, key, store, engine. instance_close is safe after any failure in
 * between, as the rest is zero. A store that may wait makes the folder itself, later. To read, an
 * existing file is opened while the disk takes no writes, as for a server. */
enum status instance_open(struct ctx *ctx, const struct options *o, enum opening how,
                          struct instance *out)
{
    if (how == TO_TRY) {
        enum status s = instance_open(ctx, o, TO_READ, out);
        return soft_if(ctx, s, NOT_FOUND) ? open_scratch(ctx, o, out) : s;
    }
    if (how == TO_MEASURE)
        return open_scratch(ctx, o, out);
    TRY(instance_find(ctx, &o->settings, out));
    out->must_exist = how == TO_CHANGE || how == TO_READ;
    if (out->must_exist && !o->settings.store.n && instance_is_new(ctx, out))
        return fail(ctx, NOT_FOUND,
                    "there is no database in '" S_FMT "'; name its folder with --data DIR, or "
                    "create it with rememberd add",
                    S_ARG(out->folder));
    out->settings = o->settings;
    out->settings.data = out->folder;
    out->is_server = how == TO_SERVE;
    out->may_wait = how == TO_READ || how == TO_SERVE;
    out->accepts_loss = o->accept_loss;
    enum status made = make_folder_of(ctx, out->file);
    if (!out->may_wait || !soft_if(ctx, made, STORAGE))
        TRY(made);
    TRY(open_store(ctx, out));
    TRY(engine_open(ctx, out->store, &out->settings, &out->engine));
    if (!out->is_server || !out->settings.store.n)
        return OK;
    return engine_open_spool(ctx, out->engine, out->folder);
}

/* Of two processes that create the file at one time, the second reads what the first wrote. */
static enum status seal_of_file(struct ctx *ctx, const char *path, uint8_t key[SEAL_KEY_BYTES])
{
    enum status s = key_read_file(ctx, path, key);
    if (!soft_if(ctx, s, NOT_FOUND))
        return s;
    randombytes_buf(key, SEAL_KEY_BYTES);
    s = key_make_file(ctx, path, key);
    return s == CONFLICT ? key_read_file(ctx, path, key) : s;
}

enum status seal_of_setting(struct ctx *ctx, const struct settings *s, uint8_t *key)
{
    return !s->encryption_key.n || seal_key_read(s->encryption_key, key)
               ? OK
               : fail_field(ctx, "encryption_key",
                            "must be 32 bytes as base64url, or 64 hex digits");
}

/* The key is wiped from the stack; the engine keeps its own copy. */
enum status instance_take_seal(struct ctx *ctx, struct instance *instance)
{
    uint8_t key[SEAL_KEY_BYTES];
    assert(instance->engine);
    enum status s = seal_of_setting(ctx, &instance->settings, key);
    static_assert((int)SEAL_KEY_BYTES == STORE_KEY_BYTES, "both are read from a file alike");
    if (!instance->settings.encryption_key.n)
        s = seal_of_file(ctx, str_printf(&ctx->arena, S_FMT "/seal.key", S_ARG(instance->folder)).p,
                         key);
    if (s == OK)
        engine_take_seal(instance->engine, key);
    sodium_memzero(key, sizeof key);
    return s;
}

/* A warning only: these users can store their model keys again, and all others work. */
static void check_seal(struct ctx *ctx, struct instance *instance)
{
    size_t lost = 0;
    soft(ctx, engine_lost_keys(ctx, instance->engine, &lost));
    if (lost)
        log_event(LOG_WARN, "seal.lost_keys",
                  "users=%zu why=\"the API keys of these users were encrypted with another key: "
                  "restore that key, or let the users store their API keys again\"",
                  lost);
}

enum status instance_settle(struct ctx *ctx, struct instance *instance)
{
    assert(instance->may_wait);
    if (instance->is_settled || !soft(ctx, store_ping(ctx, instance->store)))
        return OK;
    enum status s = instance_take_seal(ctx, instance);
    if (store_disk_failed(ctx, s)) {
        ctx_clear_failure(ctx);
        return OK;
    }
    TRY(s);
    check_seal(ctx, instance);
    soft(ctx, engine_know_tokens(ctx, instance->engine));
    instance->is_settled = true;
    return OK;
}

/* The engine first: it uses the store until it is closed. */
void instance_close(struct instance *h)
{
    engine_close(h->engine);
    store_close(h->store);
    if (h->is_scratch)
        leftovers_remove();
    *h = (struct instance){0};
}
