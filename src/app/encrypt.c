/* encrypt.c - encrypting the database, decrypting it, changing its key, and finding the key. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "app/progress.h"
#include "base/audit.h"
#include "base/files.h"

/* Where the key is belongs to app/key; here it meets the file. A key that is made here is always
 * stored before anything is encrypted by it. */

static const char encrypt_the_disk[] =
    "rememberd does not encrypt it; encrypt the disk that PostgreSQL is on, and its dumps";

SHAPE(encrypt_out, (BOOL, encrypted), (INT, bytes), (STR, key));

/* store_copy writes a second file and renames it over the first, so a crash leaves either the old
 * or the new database, never a mixture. Opening it brings the log of erasures under the same key;
 * where that fails, the next opening says why. */
static enum status convert_database(struct ctx *ctx, const struct instance *instance,
                                    const struct key *from, const struct key *to)
{
    struct store_copy copy = {.from = instance->file,
                              .from_key = from->bytes,
                              .to = instance->file,
                              .to_key = to->bytes,
                              .replaces = true};
    struct store_settings settings = {.path = instance->file,
                                      .key = to->bytes,
                                      .erasures = instance->erasures};
    struct store *made = NULL;
    TRY(progress_copy(ctx, &copy));
    soft(ctx, store_open(ctx, &settings, &made));
    store_close(made);
    return OK;
}

static const char beside_the_data[] =
    "A key beside the data protects copies and backups of the database, but not the folder.\n"
    "To protect the folder, keep the key elsewhere: rememberd rekey --new-key-file FILE.\n";

/* The advice belongs to the command; the last lines depend on where the key is. */
static enum status print_report(struct ctx *ctx, const struct options *o,
                                const struct instance *instance, const struct key *key,
                                const char *done, const char *advice)
{
    struct stat st = {0};
    struct encrypt_out out = {.encrypted = key->bytes != NULL, .key = key->from};
    audit_note(ctx, "database.converted", S(""), "to=%s", key->bytes ? "encrypted" : "plain");
    if (stat(str_c(&ctx->arena, instance->file), &st) == 0)
        out.bytes = st.st_size;
    if (o->json)
        return print_fields(ctx, encrypt_out_fields, &out);
    printf("%s: " S_FMT " (%.1f MB)\n%s", done, S_ARG(instance->file), (double)out.bytes / 1e6,
           advice);
    if (key->bytes)
        printf("the key is in " S_FMT "\n", S_ARG(key->from));
    if (key->store == &key_stores[KEY_STORE_FILE])
        fputs(beside_the_data, stdout);
    return OK;
}

/* Only one process may change keys, or one overwrites the key that the other has just stored. */
static enum status lock_take(struct ctx *ctx, const struct instance *instance, int *fd)
{
    assert(*fd < 0);
    *fd = open(str_c(&ctx->arena, instance->folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return fail(ctx, STORAGE, "'" S_FMT "': %s", S_ARG(instance->folder), strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(ctx, TOO_BUSY, "another process is changing the key of '" S_FMT "'",
                    S_ARG(instance->file));
    return OK;
}

/* --- encrypt --- */

static const char encrypted_advice[] =
    "Without the key the database cannot be read: keep a copy elsewhere (rememberd key show).\n"
    "The unencrypted file was deleted; the disk may still hold its old blocks.\n"
    "Earlier backups stay unencrypted, also rememberd-*-schema*.db beside it: delete them.\n";

/* Under the lock from before the database is looked at, so that of two runs the second sees it
 * encrypted. */
enum status command_encrypt(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct instance instance;
    struct key none = {0};
    TRY(instance_find_file(ctx, &o->settings, encrypt_the_disk, &instance));
    if (instance_is_new(ctx, &instance))
        return fail(ctx, NOT_FOUND, "no database at '" S_FMT "'", S_ARG(instance.file));
    CLEANUP(fd_close) int lock = -1;
    TRY(lock_take(ctx, &instance, &lock));
    enum store_kind kind = store_kind(ctx, instance.file);
    if (kind == STORE_ENCRYPTED)
        return fail(ctx, CONFLICT,
                    "the database '" S_FMT
                    "' is already encrypted; 'rememberd rekey' changes its key",
                    S_ARG(instance.file));
    TRY(key_to_encrypt(ctx, &o->settings, o->new_key_file, &key));
    if (!key.bytes)
        TRY(key_load_or_create(ctx, instance.folder, &key));
    /* Opening creates the file, so an empty database is encrypted from its first byte. */
    struct store_settings settings = {.path = instance.file, .key = key.bytes};
    struct store *made = NULL;
    enum status s = kind == STORE_ABSENT ? store_open(ctx, &settings, &made)
                                         : convert_database(ctx, &instance, &none, &key);
    store_close(made);
    if (s != OK && store_kind(ctx, instance.file) == kind)
        key_drop_new(ctx, instance.folder, o->new_key_file, &key);
    TRY(s);
    return print_report(ctx, o, &instance, &key, "encrypted", encrypted_advice);
}

/* --- what is encrypted --- */

/* For decrypt, rekey and key: there must be a database, and it must be encrypted. lock: NULL for
 * who changes no key. */
static enum status find_encrypted(struct ctx *ctx, const struct options *o,
                                  struct instance *instance, int *lock, struct key *key)
{
    TRY(instance_find_file(ctx, &o->settings, encrypt_the_disk, instance));
    if (lock)
        TRY(lock_take(ctx, instance, lock));
    enum store_kind kind = store_kind(ctx, instance->file);
    if (kind == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "no database at '" S_FMT "'", S_ARG(instance->file));
    if (kind == STORE_PLAIN)
        return fail(ctx, CONFLICT, "the database '" S_FMT "' is not encrypted",
                    S_ARG(instance->file));
    return key_find(ctx, &o->settings, instance->folder, instance->file, key);
}

/* The stored key stays: backups that were made before can be read by nothing else. */
enum status command_decrypt(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    CLEANUP(fd_close) int lock = -1;
    struct instance instance;
    struct key none = {0};
    TRY(find_encrypted(ctx, o, &instance, &lock, &key));
    TRY(convert_database(ctx, &instance, &key, &none));
    str advice =
        str_printf(&ctx->arena, "Earlier backups still need the key, which stays in " S_FMT ".\n",
                   S_ARG(key.from));
    return print_report(ctx, o, &instance, &none, "decrypted", advice.p);
}

/* The order makes a crash harmless: the new key is stored beside the old one, the database is
 * converted, and only then does the new key become the current one. Whichever file the crash
 * leaves, its key is in one of the slots. */
enum status command_rekey(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    CLEANUP(key_free) struct key new = {0};
    CLEANUP(fd_close) int lock = -1;
    struct instance instance;
    TRY(find_encrypted(ctx, o, &instance, &lock, &key));
    TRY(key_configured_new(ctx, o->new_key_file, &new));
    if (!new.bytes && !key.store)
        return fail(ctx, BAD_INPUT,
                    "a current key needs a new key: --new-key-file FILE or REMEMBERD_NEW_KEY");
    if (new.bytes && !sodium_memcmp(new.bytes, key.bytes, STORE_KEY_BYTES))
        return fail(ctx, CONFLICT, "the new key equals the current key; nothing was changed");
    if (!new.bytes)
        TRY(key_create_next(ctx, instance.folder, &key, &new));
    TRY(convert_database(ctx, &instance, &key, &new));
    if (new.store)
        TRY(key_make_current(ctx, instance.folder, &new));
    return print_report(
        ctx, o, &instance, &new, "encrypted with a new key",
        new.store ? "Earlier backups need the previous key, which is kept until the next rekey.\n"
                  : "Earlier backups need the previous key.\n");
}

/* --- where the key is --- */

/* Both only read; show prints the key itself, for a copy on paper or in a password manager. */
enum status command_key_check(struct ctx *ctx, const struct options *o)
{
    str verb = o->words.v[1];
    if (str_is(verb, "where") || str_is(verb, "show"))
        return OK;
    return fail(ctx, BAD_INPUT, "must be one of: key where, key show");
}

/* Not through the arena, whose memory is not wiped before it is freed. */
static void print_key(const struct key *key, bool json)
{
    char hex[2 * STORE_KEY_BYTES + 1];
    sodium_bin2hex(hex, sizeof hex, key->bytes, STORE_KEY_BYTES);
    printf(json ? "{\"key\":\"%s\"}\n" : "%s\n", hex);
    fflush(stdout);
    sodium_memzero(hex, sizeof hex);
}

/* The key is verified before it is shown: a wrong key on a note is worse than none. */
enum status command_key(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct instance instance;
    TRY(find_encrypted(ctx, o, &instance, NULL, &key));
    if (!store_key_fits(ctx, instance.file, key.bytes))
        return fail(ctx, FORBIDDEN, "the key in " S_FMT " is not the key of the database",
                    S_ARG(key.from));
    if (str_is(o->words.v[1], "show")) {
        print_key(&key, o->json);
        return OK;
    }
    struct encrypt_out out = {.encrypted = true, .key = key.from};
    if (o->json)
        return print_fields(ctx, encrypt_out_fields, &out);
    printf(S_FMT "\n", S_ARG(key.from));
    return OK;
}
