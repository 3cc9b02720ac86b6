/* home.c - opens everything below the commands in the order of PLAN, closes in reverse. */
#include "app/home.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/seal.h"

#include "app/key.h"

enum status home_find(struct ctx *ctx, const struct settings *s, struct home *out)
{
    const char *base = getenv("XDG_DATA_HOME"), *own = getenv("HOME");
    struct arena *a = &ctx->arena;
    *out = (struct home){0};
    if (s->data.n)
        out->folder = str_dup(a, s->data);
    else if (base && *base)
        out->folder = str_printf(a, "%s/rememberd", base);
    else if (own && *own)
        out->folder = str_printf(a, "%s/.local/share/rememberd", own);
    else
        return fail(ctx, BAD_INPUT, "there is no home folder: say --data DIR");
    out->file = str_printf(a, S_FMT "/rememberd.db", S_ARG(out->folder));
    return OK;
}

/* Each part of the path that is missing; only the last one is closed to others. */
enum status home_make_folder(struct ctx *ctx, const struct home *home)
{
    str folder = home->folder;
    char *p = arena_alloc(&ctx->arena, folder.n + 1);
    for (size_t i = 0; i <= folder.n; i++) {
        if (i > 0 && (i == folder.n || folder.p[i] == '/') &&
            mkdir(p, i == folder.n ? 0700 : 0755) != 0 && errno != EEXIST)
            return fail(ctx, STORAGE, "the folder %s cannot be made: %s", p, strerror(errno));
        if (i < folder.n)
            p[i] = folder.p[i];
    }
    return OK;
}

/* Here and nowhere else a key is looked for; the store keeps its own copy. */
static enum status open_store(struct ctx *ctx, struct home *home)
{
    CLEANUP(key_free) struct key key = {0};
    TRY(key_find(ctx, &home->settings, home->folder, home->file, &key));
    struct store_settings store = {.path = home->file, .key = key.bytes};
    if (key.bytes) /* a core file would hold it, and what it protects */
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    home->key_from = key.from;
    return store_open(ctx, &store, &home->store);
}

enum status home_open(struct ctx *ctx, const struct options *o, struct home *out)
{
    TRY(home_find(ctx, &o->settings, out));
    out->settings = o->settings;
    out->settings.data = out->folder;
    TRY(home_make_folder(ctx, out));
    TRY(open_store(ctx, out));
    return engine_open(ctx, out->store, &out->settings, &out->engine);
}

/* Whoever comes second takes what the first has made. */
static enum status seal_of_file(struct ctx *ctx, const char *path, uint8_t key[SEAL_KEY_BYTES])
{
    enum status s = key_read_file(ctx, path, key);
    if (s != NOT_FOUND)
        return s;
    ctx_clear_failure(ctx);
    randombytes_buf(key, SEAL_KEY_BYTES);
    s = key_make_file(ctx, path, key);
    return s == CONFLICT ? key_read_file(ctx, path, key) : s;
}

enum status home_take_seal(struct ctx *ctx, struct home *home)
{
    uint8_t key[SEAL_KEY_BYTES];
    str said = home->settings.encryption_key;
    enum status s = OK;
    static_assert((int)SEAL_KEY_BYTES == STORE_KEY_BYTES, "both are read from a file alike");
    if (!said.n)
        s = seal_of_file(ctx, str_printf(&ctx->arena, S_FMT "/seal.key", S_ARG(home->folder)).p,
                         key);
    else if (!seal_key_read(said, key))
        s = fail_field(ctx, "encryption_key", "must be 32 bytes as base64url, or 64 hex digits");
    if (s == OK)
        engine_take_seal(home->engine, key);
    sodium_memzero(key, sizeof key);
    return s;
}

void home_check_seal(struct ctx *ctx, struct home *home)
{
    size_t lost = 0;
    if (engine_lost_keys(ctx, home->engine, &lost) != OK)
        ctx_clear_failure(ctx);
    if (lost)
        log_event(
            LOG_WARN, "seal.lost_keys",
            "users=%zu why=\"their model keys were sealed with another key: bring it back, or "
            "they have to leave theirs again\"",
            lost);
}

void home_close(struct home *h)
{
    engine_close(h->engine);
    store_close(h->store);
    *h = (struct home){0};
}
