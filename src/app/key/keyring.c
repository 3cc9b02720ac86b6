/* keyring.c - stores generated keys in the system's keyring, or in a file beside the data. */
#include <sodium.h>
#include <unistd.h>

#include "app/key/key.h"
#include "app/spawn.h"

/*
 * Two places for a key that this program made, as rows of one table. A new key goes to the keyring
 * if there is one, which protects it by its owner's login. The keyring is asked through the program
 * secret-tool (libsecret) in place of a library, so that servers without a desktop need neither.
 * The file beside the data always works, and protects copies of the database only.
 */

/* A locked keyring asks its owner for a password, so the wait is long. */
enum { KEYRING_MS = 60000, HEX = 2 * STORE_KEY_BYTES };

static const char *const slots[] = {"current", "next", "previous"};

/* --- the keyring: Secret Service, by the program secret-tool --- */

/* One keyring holds the keys of all databases of a user; the path tells them apart. */
static const char *place_of(struct ctx *ctx, str folder)
{
    char *whole = realpath(str_c(&ctx->arena, folder), NULL);
    str out = str_dup(&ctx->arena, whole ? str_of(whole) : folder);
    free(whole);
    return out.p;
}

/* The secret goes through standard input: every user could read an argument. */
static enum status ask_keyring(struct ctx *ctx, const char *verb, const char *label, str folder,
                               enum key_slot slot, str input, char *out, size_t cap, size_t *n)
{
    const char *argv[12] = {"secret-tool", verb, label};
    const char *const rest[] = {"application",         "rememberd", "store",
                                place_of(ctx, folder), "key",       slots[slot]};
    memcpy(argv + (label ? 3 : 2), rest, sizeof rest);
    return spawn_ask(ctx, argv, input, KEYRING_MS, out, cap, n);
}

/* A child ctx: on a machine without a keyring the failure is expected and must not be reported. */
static bool keyring_get(struct ctx *ctx, str folder, enum key_slot slot,
                        uint8_t out[STORE_KEY_BYTES])
{
    CLEANUP(ctx_free) struct ctx quiet = ctx_child(ctx, 0);
    char text[HEX + 8];
    size_t n = 0;
    bool has =
        ask_keyring(&quiet, "lookup", NULL, folder, slot, S(""), text, sizeof text, &n) == OK &&
        key_read(text, n, out);
    sodium_memzero(text, sizeof text);
    return has;
}

/* The key is read back at once: some keyrings accept a secret and lose it. */
static enum status keyring_put(struct ctx *ctx, str folder, enum key_slot slot, const uint8_t *key)
{
    char hex[HEX + 1], said[256];
    uint8_t kept[STORE_KEY_BYTES];
    size_t n;
    str label = str_printf(&ctx->arena, "--label=rememberd: %s key of %s", slots[slot],
                           place_of(ctx, folder));
    sodium_bin2hex(hex, sizeof hex, key, STORE_KEY_BYTES);
    enum status status =
        ask_keyring(ctx, "store", label.p, folder, slot, (str){hex, HEX}, said, sizeof said, &n);
    sodium_memzero(hex, sizeof hex);
    TRY(status);
    bool same = keyring_get(ctx, folder, slot, kept) && !sodium_memcmp(kept, key, STORE_KEY_BYTES);
    sodium_memzero(kept, sizeof kept);
    return same ? OK : fail(ctx, UPSTREAM, "the keyring does not return the key that was stored");
}

static void keyring_drop(struct ctx *ctx, str folder, enum key_slot slot)
{
    CLEANUP(ctx_free) struct ctx quiet = ctx_child(ctx, 0);
    char said[256];
    size_t n;
    (void)!ask_keyring(&quiet, "clear", NULL, folder, slot, S(""), said, sizeof said, &n);
}

/* --- a file beside the data --- */

/* rememberd.key is the current one; rememberd.key.next and rememberd.key.previous. */
static const char *file_of(struct ctx *ctx, str folder, enum key_slot slot)
{
    return str_printf(&ctx->arena, S_FMT "/rememberd.key%s%s", S_ARG(folder), slot ? "." : "",
                      slot ? slots[slot] : "")
        .p;
}

/* A file that others can read is refused by key_read_file, and ctx then says so. */
static bool file_get(struct ctx *ctx, str folder, enum key_slot slot, uint8_t out[STORE_KEY_BYTES])
{
    const char *path = file_of(ctx, folder, slot);
    return access(path, F_OK) == 0 && key_read_file(ctx, path, out) == OK;
}

static enum status file_put(struct ctx *ctx, str folder, enum key_slot slot, const uint8_t *key)
{
    return key_write_file(ctx, file_of(ctx, folder, slot), key);
}

static void file_drop(struct ctx *ctx, str folder, enum key_slot slot)
{
    unlink(file_of(ctx, folder, slot));
}

const struct key_store key_stores[] = {
    [KEY_STORE_KEYRING] = {"the system's keyring", keyring_get, keyring_put, keyring_drop},
    [KEY_STORE_FILE] = {"the file rememberd.key beside the data", file_get, file_put, file_drop},
    [KEY_STORES] = {0},
};
