/* auto_backup.c - backups that a server makes by the clock, in a folder and in an S3 storage. */
#include "app/backup/auto_backup.h"

#include <unistd.h>

#include "base/audit.h"
#include "base/clock.h"
#include "http/s3.h"
#include "store/store.h"

/*
 * Each place has a thread and backups of its own, so that a storage that fails holds up nothing.
 * Older backups are deleted behind one that is whole: store_backup opens its copy and checks it,
 * and a storage compares what it gets with its SHA-256.
 */
enum { HOUR_MS = 3600000 };

str auto_backup_path(struct ctx *ctx, const struct settings *s, const struct backup_file *f)
{
    struct s3 s3 = {.place = s->backup_dir};
    if (f->is_remote)
        s3_of(ctx, s, &s3);
    return str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(s3.place), S_ARG(f->name));
}

/* One of a time to come, as after a wrong clock, does not put off the next. */
static bool is_due(const struct settings *s, const struct backup_file *v, size_t n, int64_t now)
{
    return !SOME(i, n, v[i].at <= now && now < v[i].at + s->backup_hours * HOUR_MS);
}

static void note_made(struct ctx *ctx, str file)
{
    log_event(LOG_INFO, "backup.made", "file=\"" S_FMT "\"", S_ARG(file));
    audit_note(ctx, "backup.made", S(""), "by=clock");
}

/* --- in a folder --- */

static enum status backup_to_folder(struct ctx *ctx, struct instance *instance)
{
    const struct settings *s = &instance->settings;
    struct backup_file *v;
    size_t n;
    int64_t now = clock_ms();
    TRY(backups_by_clock(ctx, s->backup_dir, &v, &n));
    if (!is_due(s, v, n, now))
        return OK;
    struct backup_file made;
    TRY(engine_backup(ctx, instance->engine, &made));
    note_made(ctx, auto_backup_path(ctx, s, &made));
    return OK;
}

enum status backup_when_due(struct ctx *ctx, struct instance *instance)
{
    enum status status = backup_to_folder(ctx, instance);
    if (status != OK)
        instance->backups.failures++;
    return status;
}

/* --- in a storage --- */

/* What is beyond backup_keep, of those that were there before the newest. What stays is tried
 * again with the next. */
static void delete_old_objects(struct ctx *ctx, const struct settings *s, const struct s3 *s3,
                               const struct backup_file *v, size_t n)
{
    for (size_t i = (size_t)s->backup_keep - 1; i < n; i++)
        if (s3_delete(ctx, s3, v[i].name) != OK) {
            str why = ctx_take_why(ctx), file = auto_backup_path(ctx, s, &v[i]);
            log_event(LOG_WARN, "backup.stays", "file=\"" S_FMT "\" why=\"" S_FMT "\"", S_ARG(file),
                      S_ARG(why));
        }
}

/* By way of a file in the data folder, which has the rights and the key of the database. */
static enum status send_backup(struct ctx *ctx, struct instance *instance, const struct s3 *s3,
                               str name)
{
    str file = str_printf(&ctx->arena, S_FMT "/backup-to-send.db", S_ARG(instance->folder));
    unlink(file.p); /* of a server that was killed */
    TRY(store_backup(ctx, instance->store, file));
    enum status status = s3_put(ctx, s3, name, file.p);
    unlink(file.p);
    return status;
}

/* The storage is asked before anything is copied: whether it answers, and what it has. */
static enum status backup_to_storage(struct ctx *ctx, struct instance *instance)
{
    const struct settings *s = &instance->settings;
    struct backup_file *v;
    struct s3 s3;
    size_t n;
    int64_t now = clock_ms();
    s3_of(ctx, s, &s3);
    TRY(s3_list(ctx, &s3, &v, &n));
    instance->backups.remote_at = n ? v[0].at : 0;
    if (!is_due(s, v, n, now))
        return OK;
    struct backup_file made = {.name = backup_name(&ctx->arena, BACKUP_STEM, now, 0),
                               .is_remote = true};
    TRY(send_backup(ctx, instance, &s3, made.name));
    instance->backups.remote_at = now;
    note_made(ctx, auto_backup_path(ctx, s, &made));
    delete_old_objects(ctx, s, &s3, v, n);
    return OK;
}

/* A list costs money, so one is asked for at the start, when a backup is due, and each hour. A
 * failure is tried again after 5 s, and then after twice as long each time, up to an hour. */
enum status backup_remote_when_due(struct ctx *ctx, struct instance *instance)
{
    enum { LEAST_S = 5, MOST_S = 3600 };
    struct backup_state *b = &instance->backups;
    if (clock_mono_us() < b->look_us)
        return OK;
    enum status status = backup_to_storage(ctx, instance);
    int64_t due = b->remote_at + instance->settings.backup_hours * HOUR_MS;
    int64_t wait_s = status == OK ? (due - clock_ms()) / 1000 : 2 * b->pause_s;
    wait_s = wait_s < LEAST_S ? LEAST_S : wait_s < MOST_S ? wait_s : MOST_S;
    b->look_us = clock_mono_us() + wait_s * 1000000;
    b->pause_s = status == OK ? 0 : wait_s;
    if (status != OK)
        b->failures++;
    return status;
}
