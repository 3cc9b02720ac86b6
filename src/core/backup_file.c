/* backup_file.c - names of backups are written and read, and those of a folder listed. */
#include "core/backup_file.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/time_text.h"

enum { FILES_MAX = 100000 };

str backup_name(struct arena *a, str stem, int64_t at, int64_t schema)
{
    str time = time_utc(a, at, "%Y%m%dT%H%M%SZ");
    str version = schema ? str_printf(a, "-schema%lld", (long long)schema) : S("");
    return str_printf(a, S_FMT "-" S_FMT S_FMT ".db", S_ARG(stem), S_ARG(time), S_ARG(version));
}

/* What is written again is the name itself, so nothing else is taken for one. */
bool backup_name_read(str stem, str name, struct backup_file *out)
{
    enum { NAME_MAX_BYTES = 255 };
    CLEANUP(arena_free) struct arena a = {0};
    int year, month, day, hour, minute, second;
    long long schema = 0;
    *out = (struct backup_file){.name = name};
    if (!str_starts(name, stem) || name.n > NAME_MAX_BYTES)
        return false;
    const char *rest = str_c(&a, str_sub(name, stem.n, name.n));
    if (sscanf(rest, "-%4d%2d%2dT%2d%2d%2dZ-schema%9lld", &year, &month, &day, &hour, &minute,
               &second, &schema) < 6)
        return false;
    str time =
        str_printf(&a, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute, second);
    out->schema = schema;
    return time_read(time, &out->at) && str_eq(name, backup_name(&a, stem, out->at, schema));
}

ORDER(newest_first, struct backup_file, DOWN(at) ?: -BY_TEXT(name));

void backup_files_sort(struct backup_file *v, size_t n)
{
    SORT(v, n, newest_first);
}

static void close_folder(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

enum status backup_files(struct ctx *ctx, str folder, str stem, struct backup_file **out, size_t *n)
{
    const char *path = str_c(&ctx->arena, folder);
    CLEANUP(close_folder) DIR *dir = opendir(path);
    struct backup_file one, *v = NULL;
    size_t room = 0;
    struct stat st;
    *n = 0;
    if (!dir && errno != ENOENT)
        return fail(ctx, STORAGE, "the folder '%s' cannot be read: %s", path, strerror(errno));
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e && *n < FILES_MAX;
         e = readdir(dir)) {
        if (!backup_name_read(stem, str_of(e->d_name), &one) ||
            stat(str_printf(&ctx->arena, "%s/%s", path, e->d_name).p, &st) != 0)
            continue;
        one.name = str_dup(&ctx->arena, one.name);
        one.bytes = st.st_size;
        ARENA_ADD(&ctx->arena, v, *n, room) = one;
    }
    backup_files_sort(v, *n);
    *out = v;
    return OK;
}

/* Without copies that were made before an upgrade. */
enum status backups_by_clock(struct ctx *ctx, str folder, struct backup_file **out, size_t *n)
{
    size_t all;
    TRY(backup_files(ctx, folder, BACKUP_STEM, out, &all));
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (!(*out)[i].schema)
            (*out)[(*n)++] = (*out)[i];
    return OK;
}

void backups_drop_old(struct ctx *ctx, str folder, int64_t keep)
{
    struct backup_file *v;
    size_t n = 0;
    if (!soft(ctx, backups_by_clock(ctx, folder, &v, &n)))
        return;
    for (size_t i = 0; i < n; i++) { /* one of a time to come, as after a wrong clock, stays */
        str file = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(v[i].name));
        if (v[i].at <= clock_ms() && keep-- <= 0 && unlink(file.p) != 0)
            log_event(LOG_WARN, "backup.stays", "file=\"" S_FMT "\" why=\"%s\"", S_ARG(file),
                      strerror(errno));
    }
}

bool s3_place_read(str text, str *bucket, str *prefix)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    if (!str_starts(text, S(S3_SCHEME)))
        return false;
    *prefix = str_sub(text, strlen(S3_SCHEME), text.n);
    if (!EVERY(i, prefix->n, char_is_one_of(prefix->p[i], plain)))
        return false;
    *bucket = str_cut(prefix, '/');
    *prefix = str_trim_end(*prefix, "/");
    return bucket->n && !str_starts(*prefix, S("/")) && str_find(*prefix, S("//")) == prefix->n;
}
