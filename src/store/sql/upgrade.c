/* upgrade.c - before a schema is upgraded, the database is copied as it is, beside itself. */
#include "store/sql/upgrade.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/backup_file.h"
#include "store/sql/db/schema.h"
#include "store/sql/state/commits.h"

/*
 * An upgrade is one transaction, which a kill or a full disk undoes. The copy is for people who
 * want to go back to the version before. It is named by its time and version, and made while the
 * folder is locked, so that of two processes the second finds the first one's.
 */

/* On a file system without flock both make a copy. */
static void lock_folder(const char *folder, struct hold *out)
{
    out->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->fd >= 0)
        while (flock(out->fd, LOCK_EX) != 0 && errno == EINTR)
            ;
}

/* A copy of this version with as many commits of the same history is the database as it is. One
 * that cannot be read is no copy. */
static bool is_copy_of(struct ctx *ctx, const char *file, const uint8_t *key,
                       const struct commit_count *now)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    CLEANUP(db_close) struct db db = {0};
    struct commit_count then;
    return db_open_to_read(&own, file, key, &db) == OK && commits_read(&own, &db, &then) == OK &&
           now->n && then.n == now->n && !strcmp(then.history, now->history);
}

static enum status find_copy(struct ctx *ctx, const struct store *s, struct db *db, str folder,
                             str stem, int64_t version, str *out)
{
    struct commit_count now;
    struct backup_file *v;
    size_t n;
    *out = S("");
    TRY(commits_read(ctx, db, &now));
    TRY(backup_files(ctx, folder, stem, &v, &n));
    for (size_t i = 0; i < n && !out->n; i++) {
        str file = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(v[i].name));
        if (v[i].schema == version && is_copy_of(ctx, file.p, s->key, &now))
            *out = file;
    }
    return OK;
}

/* The folder of the file, and its name without ".db". */
static void split_path(struct arena *a, const char *path, str *folder, str *stem)
{
    str whole = file_whole(a, path), end = S(".db");
    size_t cut = str_behind_last(whole, '/');
    *folder = cut > 1 ? str_dup(a, str_sub(whole, 0, cut - 1)) : cut ? S("/") : S(".");
    *stem = str_sub(whole, cut, whole.n);
    if (str_ends(*stem, end))
        stem->n -= end.n;
}

/* With their log files, which have longer names. */
void parts_remove(struct ctx *ctx, const char *path, str stem, int64_t version, int64_t before)
{
    str folder, own;
    split_path(&ctx->arena, path, &folder, &own);
    DIR *dir = opendir(str_c(&ctx->arena, folder));
    struct backup_file one;
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        str name = str_of(e->d_name), whole = str_sub(name, 0, str_find(name, S(".new")));
        if (whole.n < name.n && backup_name_read(stem, whole, &one) && one.schema == version &&
            one.at < before)
            unlink(str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), e->d_name).p);
    }
    if (dir)
        closedir(dir);
}

/* A database that counted no commits yet may have a copy of this second. */
static str free_name(struct arena *a, str folder, str stem, int64_t version)
{
    enum { SECOND_MS = 1000 };
    for (int64_t at = clock_ms();; at += SECOND_MS) {
        str name = backup_name(a, stem, at, version);
        str file = str_printf(a, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(name));
        if (access(file.p, F_OK) != 0)
            return file;
    }
}

/* In words of the upgrade: whoever starts a server asked for no copy. */
static enum status refuse_upgrade(struct ctx *ctx, enum status status, int64_t version)
{
    str why = ctx_take_why(ctx);
    return fail(ctx, status,
                "the database needs an upgrade (schema %lld to %d) and a backup before it, which "
                "failed: " S_FMT "; nothing was changed. Remove the cause, and start again",
                (long long)version, schema_version(), S_ARG(why));
}

/* Whoever accepts a loss has a database that is not whole, and was asked for a copy by hand. */
enum status upgrade_keep_old(struct ctx *ctx, const struct store *s, struct db *db, int64_t version)
{
    FILE_HOLD(lock);
    struct arena *a = &ctx->arena;
    str folder, stem, file;
    if (!s->asked.keeps_old || s->asked.accepts_loss)
        return OK;
    split_path(a, s->path, &folder, &stem);
    lock_folder(str_c(a, folder), &lock);
    TRY(find_copy(ctx, s, db, folder, stem, version, &file));
    bool is_there = file.n > 0;
    if (!is_there) {
        parts_remove(ctx, s->path, stem, version, INT64_MAX); /* locked: nobody makes one now */
        file = free_name(a, folder, stem, version);
        enum status status = copy_open(ctx, s, file, true);
        if (status != OK)
            return refuse_upgrade(ctx, status, version);
    }
    log_event(LOG_WARN, "store.upgrade", "from=%lld to=%d backup=\"" S_FMT "\" backup_was_there=%s",
              (long long)version, schema_version(), S_ARG(file), is_there ? "yes" : "no");
    return OK;
}
