/* key.c - which key a store is opened with: a named one, or a kept one that opens it. */
#include "app/key.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/spawn.h"

enum { COMMAND_MS = 120000, TEXT_MAX = 256 };

/* What the environment said, before anything else ran; in guarded memory. */
static struct said {
    const char *variable;
    uint8_t *key;
    bool is_there, is_well;
} environment[] = {{.variable = "REMEMBERD_KEY"}, {.variable = "REMEMBERD_NEW_KEY"}};

enum { SAID_KEY, SAID_NEW_KEY };

static uint8_t *guarded(void)
{
    uint8_t *bytes = sodium_malloc(STORE_KEY_BYTES);
    if (!bytes)
        abort();
    return bytes;
}

void key_free(struct key *k)
{
    sodium_free(k->bytes);
    k->bytes = NULL;
}

/* unsetenv leaves the bytes where the process was given them, and there /proc shows them. */
void key_take_environment(void)
{
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++) {
        struct said *said = &environment[i];
        char *value = getenv(said->variable);
        if (!value)
            continue;
        said->is_there = *value != 0;
        said->key = guarded();
        said->is_well =
            strlen(value) == 2 * STORE_KEY_BYTES && key_read(value, 2 * STORE_KEY_BYTES, said->key);
        sodium_memzero(value, strlen(value));
        unsetenv(said->variable);
    }
}

static enum status from_environment(struct ctx *ctx, int which, struct key *out)
{
    const struct said *said = &environment[which];
    if (!said->is_well)
        return fail(ctx, BAD_INPUT, "%s must be 64 hex digits", said->variable);
    out->bytes = guarded();
    memcpy(out->bytes, said->key, STORE_KEY_BYTES);
    out->from = str_printf(&ctx->arena, "the variable %s", said->variable);
    return OK;
}

/* A link to nothing is no place for a key: what it names may come back, a disk that is not there.
 */
static bool is_missing(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 && errno == ENOENT;
}

static enum status from_file(struct ctx *ctx, str file, bool makes, struct key *out)
{
    const char *path = str_c(&ctx->arena, file);
    struct key key = {.bytes = guarded(),
                      .from = str_printf(&ctx->arena, "the file " S_FMT, S_ARG(file))};
    enum status status = OK;
    if (makes && is_missing(path)) {
        randombytes_buf(key.bytes, STORE_KEY_BYTES);
        status = key_write_file(ctx, path, key.bytes);
    } else {
        status = key_read_file(ctx, path, key.bytes);
    }
    if (status != OK)
        key_free(&key);
    else
        *out = key;
    return status;
}

static enum status from_command(struct ctx *ctx, str command, struct key *out)
{
    const char *argv[] = {"/bin/sh", "-c", str_c(&ctx->arena, command), NULL};
    char text[TEXT_MAX];
    size_t n = 0;
    struct key key = {.bytes = guarded(), .from = S("the key command")};
    enum status status = spawn_ask(ctx, argv, S(""), COMMAND_MS, text, sizeof text, &n);
    if (status != OK)
        snprintf(ctx->why, sizeof ctx->why, "the key command failed or took too long");
    else if (!key_read(text, n, key.bytes))
        status = fail(ctx, BAD_INPUT, "the key command must print 32 bytes or 64 hex digits");
    sodium_memzero(text, sizeof text);
    if (status != OK)
        key_free(&key);
    else
        *out = key;
    return status;
}

enum status key_named(struct ctx *ctx, const struct settings *s, bool makes, struct key *out)
{
    bool said = environment[SAID_KEY].is_there;
    if (said + (s->key_file.n > 0) + (s->key_command.n > 0) > 1)
        return fail(ctx, BAD_INPUT,
                    "more than one key is named: say one of REMEMBERD_KEY, key_file and "
                    "key_command");
    if (said)
        return from_environment(ctx, SAID_KEY, out);
    if (s->key_file.n)
        return from_file(ctx, s->key_file, makes, out);
    if (s->key_command.n)
        return from_command(ctx, s->key_command, out);
    *out = (struct key){0};
    return OK;
}

enum status key_named_new(struct ctx *ctx, str file, struct key *out)
{
    bool said = environment[SAID_NEW_KEY].is_there;
    if (said && file.n)
        return fail(ctx, BAD_INPUT, "say one of REMEMBERD_NEW_KEY and --new-key-file");
    if (said)
        return from_environment(ctx, SAID_NEW_KEY, out);
    if (file.n)
        return from_file(ctx, file, true, out);
    *out = (struct key){0};
    return OK;
}

/* --- keys that are kept --- */

static const struct keeper *keeper_end(void)
{
    const struct keeper *k = keepers;
    while (k->name)
        k++;
    return k;
}

/* From the last one on: a file is looked into sooner than another program is asked. */
static bool find_kept(struct ctx *ctx, str folder, const char *file, struct key *out)
{
    static const enum key_slot order[] = {KEY_CURRENT, KEY_NEXT, KEY_PREVIOUS};
    struct key key = {.bytes = guarded()};
    for (const struct keeper *k = keeper_end(); k-- > keepers;) {
        for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
            if (!k->get(ctx, folder, order[i], key.bytes) ||
                (file && !store_key_fits(ctx, str_of(file), key.bytes)))
                continue;
            key.from = str_of(k->name);
            key.keeper = k;
            key.slot = order[i];
            *out = key;
            return true;
        }
    }
    key_free(&key);
    return false;
}

enum status key_find(struct ctx *ctx, const struct settings *s, str folder, str file,
                     struct key *out)
{
    TRY(key_named(ctx, s, false, out));
    if (out->bytes || store_kind(ctx, file) != STORE_ENCRYPTED)
        return OK;
    if (!find_kept(ctx, folder, str_c(&ctx->arena, file), out))
        return fail(ctx, FORBIDDEN,
                    "the store '" S_FMT
                    "' is encrypted, and there is no key for it: name it by --key-file, "
                    "REMEMBERD_KEY or --key-command",
                    S_ARG(file));
    ctx_clear_failure(ctx);
    return OK;
}

enum status key_keep(struct ctx *ctx, str folder, struct key *out)
{
    if (find_kept(ctx, folder, NULL, out))
        return OK;
    struct key key = {.bytes = guarded(), .slot = KEY_CURRENT};
    randombytes_buf(key.bytes, STORE_KEY_BYTES);
    enum status status = UNSUPPORTED;
    for (const struct keeper *k = keepers; k->name && status != OK; k++) {
        ctx_clear_failure(ctx);
        key.from = str_of(k->name);
        key.keeper = k;
        status = k->put(ctx, folder, KEY_CURRENT, key.bytes);
    }
    if (status != OK)
        key_free(&key);
    else
        *out = key;
    return status;
}

enum status key_make_next(struct ctx *ctx, str folder, const struct key *old, struct key *out)
{
    if (old->slot == KEY_NEXT)
        TRY(key_settle(ctx, folder, old)); /* an earlier change was cut short */
    struct key key = {.bytes = guarded(),
                      .from = old->from,
                      .keeper = old->keeper,
                      .slot = KEY_NEXT};
    randombytes_buf(key.bytes, STORE_KEY_BYTES);
    enum status status = key.keeper->put(ctx, folder, KEY_NEXT, key.bytes);
    if (status != OK)
        key_free(&key);
    else
        *out = key;
    return status;
}

/* Cut short anywhere, the key in force is in one of the places, and is found by trying them. */
enum status key_settle(struct ctx *ctx, str folder, const struct key *key)
{
    const struct keeper *keeper = key->keeper;
    uint8_t *before = guarded();
    enum status status = OK;
    if (keeper->get(ctx, folder, KEY_CURRENT, before) &&
        sodium_memcmp(before, key->bytes, STORE_KEY_BYTES) != 0)
        status = keeper->put(ctx, folder, KEY_PREVIOUS, before);
    sodium_free(before);
    TRY(status);
    TRY(keeper->put(ctx, folder, KEY_CURRENT, key->bytes));
    keeper->drop(ctx, folder, KEY_NEXT);
    return OK;
}
