/* encrypt.c - encrypting the database, decrypting it, changing its key, and finding the key. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/bar.h"
#include "app/commands.h"
#include "app/home.h"
#include "app/key.h"

struct encrypt_out {
    bool encrypted;
    int64_t bytes;
    str key;
};
static const struct field encrypt_out_fields[] = {
    {BOOL(struct encrypt_out, encrypted)},
    {INT(struct encrypt_out, bytes)},
    {STR(struct encrypt_out, key)},
    {0},
};

static void show(void *own, const char *what, int64_t done, int64_t all)
{
    bool is_bytes = !strcmp(what, "copying");
    bar_show(own, what, done, all, is_bytes ? 1e6 : 1, is_bytes ? "MB" : "");
}

static enum status convert(struct ctx *ctx, const struct home *home, const struct key *from,
                           const struct key *to)
{
    struct bar bar = {0};
    struct store_copy copy = {.from = home->file,
                              .from_key = from->bytes,
                              .to = home->file,
                              .to_key = to->bytes,
                              .replaces = true,
                              .progress = show,
                              .own = &bar};
    enum status status = store_copy(ctx, &copy);
    bar_end(&bar);
    return status;
}

static const char beside_the_data[] =
    "It protects copies and backups of the database, and not from who gets the whole folder.\n"
    "For that, keep it elsewhere: rekey --new-key-file FILE.\n";

static enum status report(struct ctx *ctx, const struct options *o, const struct home *home,
                          const struct key *key, const char *done, const char *advice)
{
    struct stat st = {0};
    struct encrypt_out out = {.encrypted = key->bytes != NULL, .key = key->from};
    if (stat(str_c(&ctx->arena, home->file), &st) == 0)
        out.bytes = st.st_size;
    if (o->json) {
        struct buf b = buf_make(&ctx->arena, 1 << 16);
        struct json_out w = json_to(&b);
        fields_write(&w, encrypt_out_fields, &out);
        print_buf(&b);
        return OK;
    }
    printf("%s: " S_FMT " (%.1f MB)\n%s", done, S_ARG(home->file), (double)out.bytes / 1e6, advice);
    if (key->bytes)
        printf("the key is in " S_FMT "\n", S_ARG(key->from));
    if (key->keeper == &keepers[KEEPER_FILE])
        fputs(beside_the_data, stdout);
    return OK;
}

/* One change of keys at a time, or a key that one has put away is overwritten by the other's. */
struct lock {
    int fd;
};

static void lock_leave(struct lock *l)
{
    if (l->fd >= 0)
        close(l->fd);
}

#define LOCK(l) CLEANUP(lock_leave) struct lock l = {-1}

static enum status lock_take(struct ctx *ctx, const struct home *home, struct lock *out)
{
    out->fd = open(str_c(&ctx->arena, home->folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->fd < 0)
        return fail(ctx, STORAGE, "'" S_FMT "': %s", S_ARG(home->folder), strerror(errno));
    if (flock(out->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(ctx, TOO_BUSY, "another process is changing the key of '" S_FMT "'",
                    S_ARG(home->file));
    return OK;
}

/* --- encrypt --- */

static const char encrypted_advice[] =
    "Without its key nothing can be read any more: keep a copy elsewhere (rememberd key show).\n"
    "The plain file has been removed; what a disk keeps of removed files is not in our hands.\n";

static enum status make_encrypted(struct ctx *ctx, const struct home *home, const struct key *key)
{
    struct store_settings settings = {.path = home->file, .key = key->bytes};
    struct store *s;
    TRY(store_open(ctx, &settings, &s));
    store_close(s);
    return OK;
}

enum status command_encrypt(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct home home;
    struct key none = {0};
    TRY(home_find(ctx, &o->settings, &home));
    TRY(home_make_folder(ctx, &home));
    LOCK(lock);
    TRY(lock_take(ctx, &home, &lock));
    enum store_kind kind = store_kind(ctx, home.file);
    if (kind == STORE_ENCRYPTED)
        return fail(ctx, CONFLICT, "the store '" S_FMT "' is encrypted; rekey changes its key",
                    S_ARG(home.file));
    TRY(key_named(ctx, &o->settings, true, &key));
    if (!key.bytes)
        TRY(key_keep(ctx, home.folder, &key));
    TRY(kind == STORE_ABSENT ? make_encrypted(ctx, &home, &key) : convert(ctx, &home, &none, &key));
    return report(ctx, o, &home, &key, "encrypted", encrypted_advice);
}

/* --- what is encrypted --- */

static enum status find_encrypted(struct ctx *ctx, const struct options *o, struct home *home,
                                  struct key *key)
{
    TRY(home_find(ctx, &o->settings, home));
    enum store_kind kind = store_kind(ctx, home->file);
    if (kind == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "there is no store '" S_FMT "'", S_ARG(home->file));
    if (kind == STORE_PLAIN)
        return fail(ctx, CONFLICT, "the store '" S_FMT "' is not encrypted", S_ARG(home->file));
    return key_find(ctx, &o->settings, home->folder, home->file, key);
}

enum status command_decrypt(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct home home;
    struct key none = {0};
    TRY(find_encrypted(ctx, o, &home, &key));
    TRY(convert(ctx, &home, &key, &none));
    str advice =
        str_printf(&ctx->arena,
                   "Backups that were made before still need the key, which stays in " S_FMT ".\n",
                   S_ARG(key.from));
    return report(ctx, o, &home, &none, "decrypted", advice.p);
}

enum status command_rekey(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    CLEANUP(key_free) struct key new = {0};
    struct home home;
    TRY(home_find(ctx, &o->settings, &home));
    LOCK(lock);
    TRY(lock_take(ctx, &home, &lock));
    TRY(find_encrypted(ctx, o, &home, &key));
    TRY(key_named_new(ctx, o->new_key_file, &new));
    if (!new.bytes && !key.keeper)
        return fail(ctx, BAD_INPUT,
                    "the key in force was named, so name the new one, too: --new-key-file FILE or "
                    "REMEMBERD_NEW_KEY");
    if (new.bytes && !sodium_memcmp(new.bytes, key.bytes, STORE_KEY_BYTES))
        return fail(ctx, CONFLICT, "the new key is the key in force; nothing was changed");
    if (!new.bytes)
        TRY(key_make_next(ctx, home.folder, &key, &new));
    TRY(convert(ctx, &home, &key, &new));
    if (new.keeper)
        TRY(key_settle(ctx, home.folder, &new));
    return report(ctx, o, &home, &new, "encrypted anew",
                  new.keeper ? "Backups that were made before need the key before, which is kept "
                               "as the previous one until the next rekey.\n"
                             : "Backups that were made before need the key before.\n");
}

/* --- where the key is --- */

enum status command_key_check(struct ctx *ctx, const struct options *o)
{
    str verb = o->words.v[1];
    if (str_is(verb, "where") || str_is(verb, "show"))
        return OK;
    return fail(ctx, BAD_INPUT, "say one of: key where, key show");
}

static void print_key(const struct key *key, bool json)
{
    char hex[2 * STORE_KEY_BYTES + 1];
    sodium_bin2hex(hex, sizeof hex, key->bytes, STORE_KEY_BYTES);
    printf(json ? "{\"key\":\"%s\"}\n" : "%s\n", hex);
    fflush(stdout);
    sodium_memzero(hex, sizeof hex);
}

enum status command_key(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct home home;
    TRY(find_encrypted(ctx, o, &home, &key));
    if (!store_key_fits(ctx, home.file, key.bytes))
        return fail(ctx, FORBIDDEN, "the key in " S_FMT " is not the key of the store",
                    S_ARG(key.from));
    if (str_is(o->words.v[1], "show")) {
        print_key(&key, o->json);
        return OK;
    }
    struct encrypt_out out = {.encrypted = true, .key = key.from};
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    struct json_out w = json_to(&b);
    if (o->json)
        fields_write(&w, encrypt_out_fields, &out);
    else
        buf_add(&b, key.from);
    print_buf(&b);
    return OK;
}
