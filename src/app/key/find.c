/* find.c - finds the key of a database: a configured key, or a stored key that opens it. */
#include "app/key/key.h"

#include <errno.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/spawn.h"

/*
 * There are two kinds of keys. A configured one is given by the user, in exactly one of three ways:
 * the variable REMEMBERD_KEY, a key file, or a command that prints it. A stored one was made by
 * this program and is kept in the system's keyring or beside the data. A configured key always
 * wins, and no stored one is tried then.
 *
 * Stored keys have three slots, so that a change of the key may be interrupted anywhere: key_find
 * tries all of them against the database and takes the one that opens it. Keys live in guarded
 * memory, and every copy on the way is wiped.
 */

/* COMMAND_MS gives a person time to unlock a password manager. */
enum { COMMAND_MS = 120000, TEXT_MAX = 256 };

/* Keys from the environment, taken before anything else runs; in guarded memory. */
static struct said {
    const char *variable;
    uint8_t *key;
    bool is_there, is_well;
} environment[] = {{.variable = "REMEMBERD_KEY"}, {.variable = "REMEMBERD_NEW_KEY"}};

enum { SAID_KEY, SAID_NEW_KEY };

/* Guard pages around it, locked in memory, never in a core file. Without it no key is safe, so a
 * failure ends the process. */
static uint8_t *guarded_alloc(void)
{
    uint8_t *bytes = sodium_malloc(STORE_KEY_BYTES);
    if (!bytes)
        die_of_limits("out of memory");
    return bytes;
}

void key_free(struct key *k)
{
    sodium_free(k->bytes);
    k->bytes = NULL;
}

/* What went well is the caller's; all else is wiped. */
static enum status give_key(enum status status, struct key *key, struct key *out)
{
    if (status != OK)
        key_free(key);
    else
        *out = *key;
    return status;
}

/* unsetenv alone leaves the bytes in the process's initial environment, which /proc shows. */
void key_take_environment(void)
{
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++) {
        struct said *said = &environment[i];
        char *value = getenv(said->variable);
        if (!value)
            continue;
        said->is_there = *value != 0;
        said->key = guarded_alloc();
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
    out->bytes = guarded_alloc();
    memcpy(out->bytes, said->key, STORE_KEY_BYTES);
    out->from = str_printf(&ctx->arena, "the variable %s", said->variable);
    return OK;
}

/* Only a new key's file is made when it is missing (--new-key-file). Everywhere else a missing key
 * file is an error: the path is mistyped, or the key would open nothing. */
static enum status from_file(struct ctx *ctx, str file, bool makes, struct key *out)
{
    const char *path = str_c(&ctx->arena, file);
    struct key key = {.bytes = guarded_alloc(),
                      .from = str_printf(&ctx->arena, "the file " S_FMT, S_ARG(file))};
    struct stat st;
    /* A dangling link counts as present: its target may be on a disk that is not mounted now, and
     * must not be replaced by a new key. */
    key.is_new = makes && lstat(path, &st) != 0 && errno == ENOENT;
    if (key.is_new)
        randombytes_buf(key.bytes, STORE_KEY_BYTES);
    enum status status =
        key.is_new ? key_write_file(ctx, path, key.bytes) : key_read_file(ctx, path, key.bytes);
    return give_key(status, &key, out);
}

/* The text is wiped: it passed through the stack. */
static enum status from_command(struct ctx *ctx, str command, struct key *out)
{
    const char *argv[] = {"/bin/sh", "-c", str_c(&ctx->arena, command), NULL};
    char text[TEXT_MAX];
    size_t n = 0;
    struct key key = {.bytes = guarded_alloc(), .from = S("the key command")};
    enum status status = spawn_ask(ctx, argv, S(""), COMMAND_MS, text, sizeof text, &n);
    if (status != OK)
        snprintf(ctx->why, sizeof ctx->why, "the key command failed or took too long");
    else if (!key_read(text, n, key.bytes))
        status = fail(ctx, BAD_INPUT, "the key command must print 32 bytes or 64 hex digits");
    sodium_memzero(text, sizeof text);
    return give_key(status, &key, out);
}

bool key_is_configured(const struct settings *s)
{
    return environment[SAID_KEY].is_there || s->key_file.n || s->key_command.n;
}

/* Two configured keys would leave open which one protects the database, so that is refused. */
enum status key_configured(struct ctx *ctx, const struct settings *s, struct key *out)
{
    bool said = environment[SAID_KEY].is_there;
    if (s->store.n && key_is_configured(s))
        return fail(ctx, BAD_INPUT,
                    "REMEMBERD_KEY, key_file and key_command encrypt a file, and the setting store "
                    "names a database in PostgreSQL: remove the key, and encrypt the disk that "
                    "PostgreSQL is on");
    if (said + (s->key_file.n > 0) + (s->key_command.n > 0) > 1)
        return fail(ctx, BAD_INPUT,
                    "more than one key is configured: use only one of REMEMBERD_KEY, key_file and "
                    "key_command");
    *out = (struct key){0};
    if (said)
        return from_environment(ctx, SAID_KEY, out);
    if (s->key_file.n)
        return from_file(ctx, s->key_file, false, out);
    return s->key_command.n ? from_command(ctx, s->key_command, out) : OK;
}

/* Without bytes the new key is to be made and stored by us. */
enum status key_configured_new(struct ctx *ctx, str file, struct key *out)
{
    bool said = environment[SAID_NEW_KEY].is_there;
    if (said && file.n)
        return fail(ctx, BAD_INPUT, "use only one of REMEMBERD_NEW_KEY and --new-key-file");
    *out = (struct key){0};
    if (said)
        return from_environment(ctx, SAID_NEW_KEY, out);
    return file.n ? from_file(ctx, file, true, out) : OK;
}

/* A missing file is named, with how to get one: the path may be mistyped, and the database would be
 * encrypted with a key that its owner does not know of. */
static enum status configured_to_encrypt(struct ctx *ctx, const struct settings *s, struct key *out)
{
    enum status status = key_configured(ctx, s, out);
    if (status != NOT_FOUND)
        return status;
    str why = ctx_take_why(ctx);
    return fail(ctx, NOT_FOUND, S_FMT "; --new-key-file FILE makes a file with a new key",
                S_ARG(why));
}

/* The setting key_file may already name the file that is to be made. */
enum status key_to_encrypt(struct ctx *ctx, const struct settings *s, str new_file, struct key *out)
{
    bool is_same = str_eq(s->key_file, new_file);
    bool is_configured =
        environment[SAID_KEY].is_there || s->key_command.n || (s->key_file.n && !is_same);
    if (is_configured && new_file.n)
        return fail(ctx, BAD_INPUT,
                    "use --new-key-file without REMEMBERD_KEY, key_command and another key_file");
    return is_configured ? configured_to_encrypt(ctx, s, out)
                         : key_configured_new(ctx, new_file, out);
}

/* --- stored keys --- */

/* From the last key store on: reading a file is faster than running another program. */
static bool find_kept(struct ctx *ctx, str folder, const char *file, struct key *out)
{
    struct key key = {.bytes = guarded_alloc()};
    for (const struct key_store *k = &key_stores[KEY_STORES]; k-- > key_stores;) {
        for (enum key_slot slot = KEY_CURRENT; slot <= KEY_PREVIOUS; slot++) {
            if (!k->get(ctx, folder, slot, key.bytes) ||
                (file && !store_key_fits(ctx, str_of(file), key.bytes)))
                continue;
            key.from = str_of(k->name);
            key.store = k;
            key.slot = slot;
            *out = key;
            return true;
        }
    }
    key_free(&key);
    return false;
}

/* A configured key counts even for a plain database: the store refuses it there, instead of
 * writing unencrypted data that its owner believes encrypted. */
enum status key_find(struct ctx *ctx, const struct settings *s, str folder, str file,
                     struct key *out)
{
    TRY(key_configured(ctx, s, out));
    if (out->bytes || store_kind(ctx, file) != STORE_ENCRYPTED)
        return OK;
    if (!find_kept(ctx, folder, str_c(&ctx->arena, file), out))
        return fail(
            ctx, FORBIDDEN,
            "the database '" S_FMT
            "' is encrypted, and no key was found: use --key-file, REMEMBERD_KEY or --key-command",
            S_ARG(file));
    ctx_clear_failure(ctx);
    return OK;
}

bool key_is_beside(struct ctx *ctx, str folder)
{
    struct stat st;
    return lstat(str_printf(&ctx->arena, S_FMT "/rememberd.key", S_ARG(folder)).p, &st) == 0;
}

/* The keyring is safer, the file always works. A key that cannot be read stays: backups need it. */
enum status key_load_or_create(struct ctx *ctx, str folder, struct key *out)
{
    if (find_kept(ctx, folder, NULL, out) || ctx->failed)
        return ctx->failed;
    struct key key = {.bytes = guarded_alloc(), .slot = KEY_CURRENT, .is_new = true};
    randombytes_buf(key.bytes, STORE_KEY_BYTES);
    enum status status = UNSUPPORTED;
    for (const struct key_store *k = key_stores; k->name && status != OK; k++) {
        ctx_clear_failure(ctx);
        key.from = str_of(k->name);
        key.store = k;
        status = k->put(ctx, folder, KEY_CURRENT, key.bytes);
    }
    return give_key(status, &key, out);
}

void key_drop_new(struct ctx *ctx, str folder, str new_file, const struct key *key)
{
    if (key->is_new && key->store)
        key->store->drop(ctx, folder, KEY_CURRENT);
    else if (key->is_new)
        unlink(str_c(&ctx->arena, new_file));
}

/* Only for a key that is stored: of one that is configured the owner gives the new one. */
enum status key_create_next(struct ctx *ctx, str folder, const struct key *old, struct key *out)
{
    assert(old->store);
    if (old->slot == KEY_NEXT)
        TRY(key_make_current(ctx, folder, old)); /* an earlier rekey was interrupted */
    struct key key = {.bytes = guarded_alloc(),
                      .from = old->from,
                      .store = old->store,
                      .slot = KEY_NEXT};
    randombytes_buf(key.bytes, STORE_KEY_BYTES);
    enum status status = key.store->put(ctx, folder, KEY_NEXT, key.bytes);
    return give_key(status, &key, out);
}

/* Wherever this stops, the current key is in one of the slots, where find_kept tries each. */
enum status key_make_current(struct ctx *ctx, str folder, const struct key *key)
{
    const struct key_store *store = key->store;
    assert(store && key->bytes);
    uint8_t *before = guarded_alloc();
    bool found = store->get(ctx, folder, KEY_CURRENT, before);
    enum status status = ctx->failed;
    if (found && sodium_memcmp(before, key->bytes, STORE_KEY_BYTES) != 0)
        status = store->put(ctx, folder, KEY_PREVIOUS, before);
    sodium_free(before);
    TRY(status);
    TRY(store->put(ctx, folder, KEY_CURRENT, key->bytes));
    store->drop(ctx, folder, KEY_NEXT);
    return OK;
}
