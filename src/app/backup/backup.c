/* backup.c - a copy of the database into a file, and back. */
#include <sys/stat.h>
#include <unistd.h>

#include "app/backup/auto_backup.h"
#include "app/command.h"
#include "app/key/key.h"
#include "app/leftovers.h"
#include "app/print.h"
#include "app/progress.h"
#include "base/audit.h"
#include "base/time_text.h"
#include "http/s3.h"

/*
 * Both commands are one call of store_copy with other ends. A backup can be made while a server
 * runs; a restore replaces the file, so the server must be stopped. The file is written beside its
 * place and renamed, so that a copy that fails leaves the old one.
 */

/* encrypted is of the file that was written. */
SHAPE(backup_out, (STR, file), (INT, bytes), (BOOL, encrypted), (INT, erased_again),
      (INT, revoked_again));

/* The size is read after the copy, from the file that is really there. */
static enum status run_copy(struct ctx *ctx, const struct options *o, struct store_copy *copy)
{
    struct stat st = {0};
    const struct store_restored none = {0}, *done = copy->restored ? copy->restored : &none;
    TRY(progress_copy(ctx, copy));
    if (stat(str_c(&ctx->arena, copy->to), &st) != 0)
        return fail(ctx, STORAGE, "'" S_FMT "' disappeared during the backup", S_ARG(copy->to));
    audit_note(ctx, copy->replaces ? "restored" : "backup.made", S(""),
               "bytes=%lld erased_again=%lld revoked_again=%lld", (long long)st.st_size,
               (long long)done->erased, (long long)done->taken);
    struct backup_out out = {copy->to, st.st_size, copy->to_key != NULL, done->erased, done->taken};
    if (o->json)
        return print_fields(ctx, backup_out_fields, &out);
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    buf_printf(&b, S_FMT ": %.1f MB, %s", S_ARG(out.file), (double)out.bytes / 1e6,
               out.encrypted ? "encrypted" : "not encrypted");
    if (out.erased_again)
        buf_printf(&b, "\nerased again, as it was since the backup: " S_FMT "; --again keeps it",
                   S_ARG(counted(b.arena, out.erased_again, "memory or message",
                                 "memories and messages")));
    if (out.revoked_again)
        buf_printf(&b, "\nrevoked again, as it was since the backup: " S_FMT,
                   S_ARG(counted(b.arena, out.revoked_again, "token or role", "tokens and roles")));
    return print_buf(&b);
}

/* The backup has the key of the database. A backup in plain text would undo the encryption, so
 * no flag makes one. */
enum status command_backup(struct ctx *ctx, const struct options *o)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-commits"};
    CLEANUP(key_free) struct key key = {0};
    struct instance instance;
    TRY(instance_find_file(ctx, &o->settings, "use pg_dump and pg_restore", &instance));
    TRY(key_find(ctx, &o->settings, instance.folder, instance.file, &key));
    struct store_copy copy = {.from = instance.file,
                              .from_key = key.bytes,
                              .to = o->words.v[1],
                              .to_key = key.bytes};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        leftover_add(str_printf(&ctx->arena, S_FMT ".new%s", S_ARG(copy.to), ends[i]).p);
    return run_copy(ctx, o, &copy);
}

/* --- back --- */

SHAPE(made_out, (STR, file), (STR, at), (INT, bytes));

/* Where automatic backups are, in words. */
static str places_of(struct arena *a, const struct settings *s)
{
    bool is_both = s->backup_dir.n && s->backup_s3.n;
    return str_printf(a, S_FMT "%s" S_FMT, S_ARG(s->backup_dir), is_both ? "' and '" : "",
                      S_ARG(s->backup_s3));
}

static enum status find_made(struct ctx *ctx, const struct options *o, struct backup_file **out,
                             size_t *n)
{
    str why;
    TRY(backups_made(ctx, &o->settings, out, n, &why));
    if (why.n)
        log_event(LOG_WARN, "backup.unlisted", "why=\"" S_FMT "\"", S_ARG(why));
    return OK;
}

static enum status list_made(struct ctx *ctx, const struct options *o)
{
    struct backup_file *v;
    size_t n;
    TRY(find_made(ctx, o, &v, &n));
    struct json_out w = json_in(&ctx->arena, 1 << 24);
    if (o->json)
        json_open(&w, '[');
    for (size_t i = 0; i < n; i++) {
        struct made_out out = {auto_backup_path(ctx, &o->settings, &v[i]),
                               time_utc(&ctx->arena, v[i].at, "%Y-%m-%dT%H:%M:%SZ"), v[i].bytes};
        if (o->json)
            fields_write(&w, made_out_fields, &out);
        else
            buf_printf(w.b, "%s" S_FMT "  %8.1f MB  " S_FMT, i ? "\n" : "", S_ARG(out.at),
                       (double)out.bytes / 1e6, S_ARG(out.file));
    }
    if (o->json)
        json_close(&w, ']');
    else if (!n)
        buf_printf(w.b, "no backups in '" S_FMT "'", S_ARG(places_of(&ctx->arena, &o->settings)));
    return print_buf(w.b);
}

static enum status choose_made(struct ctx *ctx, const struct options *o, struct backup_file *out)
{
    struct backup_file *v;
    size_t n, i = 0;
    int64_t at;
    if (!time_read(o->at, &at))
        return fail_field(ctx, "at", "must be a time, as 2026-11-24T08:00:00Z");
    TRY(find_made(ctx, o, &v, &n));
    while (i < n && v[i].at > at)
        i++;
    if (i == n)
        return fail(ctx, NOT_FOUND, "no backup in '" S_FMT "' is from " S_FMT " or before",
                    S_ARG(places_of(&ctx->arena, &o->settings)), S_ARG(o->at));
    *out = v[i];
    return OK;
}

enum status command_restore_check(struct ctx *ctx, const struct options *o)
{
    bool has_file = o->words.n > 1;
    if (has_file + o->list + (o->at.n > 0) != 1)
        return fail(ctx, BAD_INPUT, "restore takes one of FILE, --at TIME and --list");
    if (!has_file && !o->settings.backup_dir.n && !o->settings.backup_s3.n)
        return fail(ctx, BAD_INPUT,
                    "backup_dir: is not set, and backup_s3 neither, so there are no automatic "
                    "backups");
    return OK;
}

/* The database that is replaced knows its erasures: opening it writes those that their log lacks. A
 * damaged one is not opened, nor one of another version, which would be upgraded first. */
static void note_erasures(struct ctx *ctx, const struct instance *instance, const uint8_t *key)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    const struct store_settings old = {.path = instance->file,
                                       .key = key,
                                       .erasures = instance->erasures};
    struct store *store = NULL;
    int64_t version, here;
    enum status s = store_schema(&own, old.path, key, &version, &here);
    if (s == OK && version == here)
        s = store_open(&own, &old, &store);
    store_close(store);
    if (s != OK)
        log_event(LOG_WARN, "restore.unread", "why=\"what is replaced cannot be read: %s\"",
                  own.why);
}

/* An existing database keeps its key, whatever key the backup has; where its first bytes are gone,
 * that is the one beside it. A new one gets the configured key, or else the key of the backup. */
static enum status restore_file(struct ctx *ctx, const struct options *o,
                                const struct instance *instance, str file)
{
    CLEANUP(key_free) struct key from = {0};
    CLEANUP(key_free) struct key to = {0};
    enum store_kind kind = store_kind(ctx, instance->file);
    if (store_kind(ctx, file) == STORE_ENCRYPTED)
        TRY(key_find(ctx, &o->settings, instance->folder, file, &from));
    TRY(key_find(ctx, &o->settings, instance->folder, instance->file, &to));
    if (kind == STORE_FOREIGN && !to.bytes && key_is_beside(ctx, instance->folder))
        TRY(key_load_or_create(ctx, instance->folder, &to));
    if (kind == STORE_ENCRYPTED && from.bytes &&
        store_key_fits(ctx, file, from.bytes) != store_key_fits(ctx, instance->file, to.bytes))
        return fail(ctx, FORBIDDEN,
                    "the backup '" S_FMT "' has another key than the database, as after a rekey: "
                    "restore it into an empty folder with the backup's key (--data FOLDER "
                    "--key-file FILE)",
                    S_ARG(file));
    if (kind != STORE_ABSENT)
        note_erasures(ctx, instance, kind == STORE_ENCRYPTED ? to.bytes : NULL);
    struct store_restored restored = {.brings_again = o->again};
    struct store_copy copy = {.from = file,
                              .from_key = from.bytes,
                              .erasures = instance->erasures,
                              .restored = &restored,
                              .to = instance->file,
                              .to_key = to.bytes ? to.bytes : from.bytes,
                              .replaces = true};
    return run_copy(ctx, o, &copy);
}

/* A backup of the storage is fetched into the data folder first. */
static enum status restore_made(struct ctx *ctx, const struct options *o,
                                const struct instance *instance, const struct backup_file *made)
{
    str file = auto_backup_path(ctx, &o->settings, made);
    if (!made->is_remote)
        return restore_file(ctx, o, instance, file);
    str part = str_printf(&ctx->arena, S_FMT "/backup-fetched.db", S_ARG(instance->folder));
    struct s3 s3;
    unlink(part.p); /* of a command that was killed */
    s3_of(ctx, &o->settings, &s3);
    TRY(s3_get(ctx, &s3, made, part.p));
    enum status status = restore_file(ctx, o, instance, part);
    unlink(part.p);
    return status;
}

enum status command_restore(struct ctx *ctx, const struct options *o)
{
    struct instance instance;
    struct backup_file made = {0};
    if (o->list)
        return list_made(ctx, o);
    TRY(instance_find_file(ctx, &o->settings, "use pg_dump and pg_restore", &instance));
    if (o->at.n)
        TRY(choose_made(ctx, o, &made));
    else if (store_kind(ctx, o->words.v[1]) == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "no database at '" S_FMT "'", S_ARG(o->words.v[1]));
    if (!o->force && store_kind(ctx, instance.file) != STORE_ABSENT)
        return fail(ctx, CONFLICT,
                    "there is a database '" S_FMT "' already; --force replaces it by the backup",
                    S_ARG(instance.file));
    bool was_there = access(instance.folder.p, F_OK) == 0;
    TRY(make_folder_of(ctx, instance.file));
    enum status s = o->at.n ? restore_made(ctx, o, &instance, &made)
                            : restore_file(ctx, o, &instance, o->words.v[1]);
    if (s != OK && !was_there)
        rmdir(instance.folder.p);
    return s;
}
