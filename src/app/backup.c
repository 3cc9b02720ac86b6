/* backup.c - a copy of the database into a file, and back. */
#include <sys/stat.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "app/progress.h"
#include "base/audit.h"

/*
 * Both commands are one call of store_copy with other ends. A backup can be made while a server
 * runs; a restore replaces the file, so the server must be stopped. The file is written beside its
 * place and renamed, so that a copy that fails leaves the old one.
 */

/* encrypted is of the file that was written. */
SHAPE(backup_out, (STR, file), (INT, bytes), (BOOL, encrypted), (INT, erased_again));

/* Copying counts bytes, which people read in MB; the steps after it count to one. */
static void show_progress(void *own, const char *what, int64_t done, int64_t all)
{
    bool is_bytes = !strcmp(what, "copying");
    progress_show(own, what, done, all, is_bytes ? 1e6 : 1, is_bytes ? "MB" : "");
}

/* The size is read after the copy, from the file that is really there. */
static enum status run_copy(struct ctx *ctx, const struct options *o, struct store_copy *copy)
{
    struct progress progress = {0};
    struct stat st = {0};
    copy->progress = show_progress;
    copy->own = &progress;
    enum status status = store_copy(ctx, copy);
    progress_end(&progress);
    TRY(status);
    if (stat(str_c(&ctx->arena, copy->to), &st) != 0)
        return fail(ctx, STORAGE, "'" S_FMT "' disappeared during the backup", S_ARG(copy->to));
    audit_note(ctx, copy->replaces ? "restored" : "backup.made", S(""),
               "bytes=%lld erased_again=%lld", (long long)st.st_size,
               copy->restored ? (long long)copy->restored->erased : 0);
    struct backup_out out = {copy->to, st.st_size, copy->to_key != NULL,
                             copy->restored ? copy->restored->erased : 0};
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    struct json_out w = json_to(&b);
    if (o->json)
        fields_write(&w, backup_out_fields, &out);
    else
        buf_printf(&b, S_FMT ": %.1f MB, %s", S_ARG(out.file), (double)out.bytes / 1e6,
                   out.encrypted ? "encrypted" : "not encrypted");
    if (!o->json && out.erased_again)
        buf_printf(&b,
                   "\n%lld memories and messages that were erased since the backup were erased "
                   "again; --again keeps them",
                   (long long)out.erased_again);
    print_buf(&b);
    return OK;
}

/* The backup has the key of the database. A backup in plain text would undo the encryption, so
 * no flag makes one. */
enum status command_backup(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key key = {0};
    struct instance instance;
    TRY(instance_find(ctx, &o->settings, &instance));
    TRY(key_find(ctx, &o->settings, instance.folder, instance.file, &key));
    struct store_copy copy = {.from = instance.file,
                              .from_key = key.bytes,
                              .to = o->words.v[1],
                              .to_key = key.bytes};
    return run_copy(ctx, o, &copy);
}

/* An existing database keeps its key, whatever key the backup has. A new one gets the configured
 * key, or else the key of the backup. */
enum status command_restore(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key from = {0};
    CLEANUP(key_free) struct key to = {0};
    struct instance instance;
    str file = o->words.v[1];
    TRY(instance_find(ctx, &o->settings, &instance));
    if (store_kind(ctx, file) == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "no database at '" S_FMT "'", S_ARG(file));
    enum store_kind kind = store_kind(ctx, instance.file);
    if (kind != STORE_ABSENT && !o->force)
        return fail(ctx, CONFLICT,
                    "there is a database '" S_FMT "' already; --force replaces it by the backup",
                    S_ARG(instance.file));
    TRY(instance_make_folder(ctx, &instance));
    if (store_kind(ctx, file) == STORE_ENCRYPTED)
        TRY(key_find(ctx, &o->settings, instance.folder, file, &from));
    if (kind == STORE_ENCRYPTED)
        TRY(key_find(ctx, &o->settings, instance.folder, instance.file, &to));
    else
        TRY(key_configured(ctx, &o->settings, &to));
    struct store_restored restored = {.brings_again = o->again};
    struct store_copy copy = {.from = file,
                              .from_key = from.bytes,
                              .erasures = instance.erasures,
                              .restored = &restored,
                              .to = instance.file,
                              .to_key = to.bytes ? to.bytes : from.bytes,
                              .replaces = true};
    return run_copy(ctx, o, &copy);
}
