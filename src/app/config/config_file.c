/* config_file.c - the file of settings that the command config changes. */
#include "app/config/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "core/settings_file.h"

enum { FILE_MAX = 1 << 20 };

/* A file that is a link stays one: what it leads to is changed. */
static str real_path(struct ctx *ctx, str path)
{
    char *real = realpath(str_c(&ctx->arena, path), NULL);
    str out = real ? str_dup(&ctx->arena, str_of(real)) : path;
    free(real);
    return out;
}

enum status config_file_read(struct ctx *ctx, const struct settings *s, str *path, str *text)
{
    str folders[SETTINGS_FOLDERS];
    bool is_none = getenv("REMEMBERD_CONFIG") || s->from[SETTING_config] == FROM_OPTION;
    settings_folders(&ctx->arena, folders);
    *text = S("");
    if (!s->config.n && (is_none || !folders[0].n))
        return fail_field(ctx, "config", "names no file; name one with --config FILE");
    if (!s->config.n) {
        *path = str_printf(&ctx->arena, S_FMT "/rememberd.toml", S_ARG(folders[0]));
        return OK;
    }
    *path = real_path(ctx, s->config);
    TRY(file_read(ctx, str_c(&ctx->arena, *path), FILE_MAX, text));
    if (settings_is_json(str_c(&ctx->arena, *path), *text))
        return fail_field(ctx, "config",
                          "is JSON, where only people change values; edit " S_FMT
                          ", or write the settings as TOML",
                          S_ARG(*path));
    return OK;
}

static enum status make_folders(struct ctx *ctx, str path)
{
    for (size_t i = 1; i < path.n; i++) {
        if (path.p[i] != '/')
            continue;
        const char *folder = str_c(&ctx->arena, str_sub(path, 0, i));
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return fail(ctx, STORAGE, "the folder %s cannot be created: %s", folder,
                        strerror(errno));
    }
    return OK;
}

/* Only root may give a file away, so an owner that cannot be kept is a failure. */
static bool keep_rights(int fd, const struct stat *old)
{
    bool is_same = old->st_uid == geteuid() && old->st_gid == getegid();
    return (is_same || fchown(fd, old->st_uid, old->st_gid) == 0) &&
           fchmod(fd, old->st_mode & 07777) == 0;
}

/* A new file beside the old one takes its place. */
enum status config_file_write(struct ctx *ctx, str path, str text)
{
    struct stat old;
    const char *to = str_c(&ctx->arena, path);
    char *part = (char *)str_printf(&ctx->arena, S_FMT ".XXXXXX", S_ARG(path)).p;
    TRY(make_folders(ctx, path));
    int fd = mkostemp(part, O_CLOEXEC);
    bool is_new = stat(to, &old) != 0;
    bool done = fd >= 0 && write_all(fd, text) && fsync(fd) == 0 &&
                (is_new || keep_rights(fd, &old)) && rename(part, to) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (done)
        return OK;
    if (fd >= 0)
        unlink(part);
    return fail(ctx, STORAGE, S_FMT " cannot be written: %s", S_ARG(path), strerror(why));
}
