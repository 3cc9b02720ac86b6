/* backup.c - a copy of the database into a file, and back. */
#include <sys/stat.h>

#include "app/bar.h"
#include "app/commands.h"
#include "app/home.h"
#include "app/key.h"

struct backup_out {
    str file;
    int64_t bytes;
    bool encrypted;
};
static const struct field backup_out_fields[] = {
    {STR(struct backup_out, file)},
    {INT(struct backup_out, bytes)},
    {BOOL(struct backup_out, encrypted)},
    {0},
};

static void show(void *own, const char *what, int64_t done, int64_t all)
{
    bool is_bytes = !strcmp(what, "copying");
    bar_show(own, what, done, all, is_bytes ? 1e6 : 1, is_bytes ? "MB" : "");
}

static enum status run(struct ctx *ctx, const struct options *o, struct store_copy *copy)
{
    struct bar bar = {0};
    struct stat st = {0};
    copy->progress = show;
    copy->own = &bar;
    enum status status = store_copy(ctx, copy);
    bar_end(&bar);
    TRY(status);
    if (stat(str_c(&ctx->arena, copy->to), &st) != 0)
        return fail(ctx, STORAGE, "'" S_FMT "' is gone", S_ARG(copy->to));
    struct backup_out out = {copy->to, st.st_size, copy->to_key != NULL};
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    struct json_out w = json_to(&b);
    if (o->json)
        fields_write(&w, backup_out_fields, &out);
    else
        buf_printf(&b, S_FMT ": %.1f MB, %s", S_ARG(out.file), (double)out.bytes / 1e6,
                   out.encrypted ? "encrypted" : "not encrypted");
    print_buf(&b);
    return OK;
}

enum status command_backup(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct home home;
    TRY(home_find(ctx, &o->settings, &home));
    TRY(key_find(ctx, &o->settings, home.folder, home.file, &key));
    struct store_copy copy = {.from = home.file,
                              .from_key = key.bytes,
                              .to = o->words.v[1],
                              .to_key = key.bytes};
    return run(ctx, o, &copy);
}

/* The store that is there keeps its key, whichever the backup has; else a key that is named is the
 * key from now on, else the backup's. */
enum status command_restore(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key from = {0};
    CLEANUP(key_free) struct key to = {0};
    struct home home;
    str file = o->words.v[1];
    TRY(home_find(ctx, &o->settings, &home));
    enum store_kind kind = store_kind(ctx, home.file);
    if (kind != STORE_ABSENT && !o->force)
        return fail(ctx, CONFLICT,
                    "there is a store '" S_FMT "' already; --force puts the backup in its place",
                    S_ARG(home.file));
    TRY(home_make_folder(ctx, &home));
    if (store_kind(ctx, file) == STORE_ENCRYPTED)
        TRY(key_find(ctx, &o->settings, home.folder, file, &from));
    if (kind == STORE_ENCRYPTED)
        TRY(key_find(ctx, &o->settings, home.folder, home.file, &to));
    else
        TRY(key_named(ctx, &o->settings, false, &to));
    struct store_copy copy = {.from = file,
                              .from_key = from.bytes,
                              .to = home.file,
                              .to_key = to.bytes ? to.bytes : from.bytes,
                              .replaces = true};
    return run(ctx, o, &copy);
}
