/* backup.c - a copy of the database into a file, and back. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/background.h"
#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "app/progress.h"
#include "base/audit.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/time_text.h"
#include "core/backup_file.h"
#include "store/store.h"

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
    TRY(instance_needs_file(ctx, &o->settings));
    TRY(instance_find(ctx, &o->settings, &instance));
    TRY(key_find(ctx, &o->settings, instance.folder, instance.file, &key));
    struct store_copy copy = {.from = instance.file,
                              .from_key = key.bytes,
                              .to = o->words.v[1],
                              .to_key = key.bytes};
    return run_copy(ctx, o, &copy);
}

/* --- automatic ones --- */

SHAPE(made_out, (STR, file), (STR, at), (INT, bytes));

static str path_of(struct ctx *ctx, const struct settings *s, str name)
{
    return str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(s->backup_dir), S_ARG(name));
}

/* Only behind one that is whole. A file that cannot be deleted is tried again with the next. */
static void delete_old(struct ctx *ctx, const struct settings *s)
{
    struct backup_file *v;
    size_t n;
    if (backups_by_clock(ctx, s->backup_dir, &v, &n) != OK)
        return;
    for (size_t i = (size_t)s->backup_keep; i < n; i++) {
        str file = path_of(ctx, s, v[i].name);
        if (unlink(file.p) != 0)
            log_event(LOG_WARN, "backup.stays", "file=\"%s\" why=\"%s\"", file.p, strerror(errno));
    }
}

/* One of a time to come, as after a wrong clock, does not put off the next. */
enum status backup_when_due(struct ctx *ctx, struct instance *instance, bool *more)
{
    enum { HOUR_MS = 3600000 };
    const struct settings *s = &instance->settings;
    struct backup_file *v;
    size_t n;
    int64_t now = clock_ms();
    *more = false;
    if (mkdir(str_c(&ctx->arena, s->backup_dir), 0700) != 0 && errno != EEXIST)
        return fail(ctx, STORAGE, "backup_dir: cannot create the folder '" S_FMT "': %s",
                    S_ARG(s->backup_dir), strerror(errno));
    TRY(backups_by_clock(ctx, s->backup_dir, &v, &n));
    for (size_t i = 0; i < n; i++)
        if (v[i].at <= now && now < v[i].at + s->backup_hours * HOUR_MS)
            return OK;
    str file = path_of(ctx, s, backup_name(&ctx->arena, BACKUP_STEM, now, 0));
    TRY(store_backup(ctx, instance->store, file));
    log_event(LOG_INFO, "backup.made", "file=\"%s\"", file.p);
    audit_note(ctx, "backup.made", S(""), "by=clock");
    delete_old(ctx, s);
    return OK;
}

static enum status list_made(struct ctx *ctx, const struct options *o)
{
    struct backup_file *v;
    size_t n;
    TRY(backups_by_clock(ctx, o->settings.backup_dir, &v, &n));
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    struct json_out w = json_to(&b);
    if (o->json)
        json_open(&w, '[');
    for (size_t i = 0; i < n; i++) {
        struct made_out out = {path_of(ctx, &o->settings, v[i].name),
                               time_write(&ctx->arena, v[i].at, "%Y-%m-%dT%H:%M:%SZ"), v[i].bytes};
        if (o->json)
            fields_write(&w, made_out_fields, &out);
        else
            buf_printf(&b, "%s" S_FMT "  %8.1f MB  " S_FMT, i ? "\n" : "", S_ARG(out.at),
                       (double)out.bytes / 1e6, S_ARG(out.file));
    }
    if (o->json)
        json_close(&w, ']');
    else if (!n)
        buf_printf(&b, "no backups in '" S_FMT "'", S_ARG(o->settings.backup_dir));
    print_buf(&b);
    return OK;
}

static enum status choose_made(struct ctx *ctx, const struct options *o, str *out)
{
    struct backup_file *v;
    size_t n, i = 0;
    int64_t at;
    if (!time_read(o->at, &at))
        return fail_field(ctx, "at", "must be a time, as 2026-11-24T08:00:00Z");
    TRY(backups_by_clock(ctx, o->settings.backup_dir, &v, &n));
    while (i < n && v[i].at > at)
        i++;
    if (i == n)
        return fail(ctx, NOT_FOUND, "no backup in '" S_FMT "' is from " S_FMT " or before",
                    S_ARG(o->settings.backup_dir), S_ARG(o->at));
    *out = path_of(ctx, &o->settings, v[i].name);
    return OK;
}

enum status command_restore_check(struct ctx *ctx, const struct options *o)
{
    bool has_file = o->words.n > 1;
    if (has_file + o->list + (o->at.n > 0) != 1)
        return fail(ctx, BAD_INPUT, "restore takes one of FILE, --at TIME and --list");
    if (!has_file && !o->settings.backup_dir.n)
        return fail(ctx, BAD_INPUT, "backup_dir: is not set, so there are no automatic backups");
    return OK;
}

/* An existing database keeps its key, whatever key the backup has. A new one gets the configured
 * key, or else the key of the backup. */
enum status command_restore(struct ctx *ctx, const struct options *o)
{
    CLEANUP(key_free) struct key from = {0};
    CLEANUP(key_free) struct key to = {0};
    struct instance instance;
    str file;
    if (o->list)
        return list_made(ctx, o);
    if (o->at.n)
        TRY(choose_made(ctx, o, &file));
    else
        file = o->words.v[1];
    TRY(instance_needs_file(ctx, &o->settings));
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
