/* file.c - reads a key from a private file, and writes one atomically. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/id.h"

#include "app/key/key.h"

/* A key file may end with a newline or two; READ_MAX is enough to notice one that is too long. */
enum { HEX = 2 * STORE_KEY_BYTES, READ_MAX = HEX + 8 };

/* Both are common: raw bytes from a random generator, hex from a password manager or a note. */
bool key_read(const char *p, size_t n, uint8_t out[STORE_KEY_BYTES])
{
    if (n == STORE_KEY_BYTES) {
        memcpy(out, p, STORE_KEY_BYTES);
        return true;
    }
    return hex_read(str_trim_end((str){p, n}, " \r\n"), out, STORE_KEY_BYTES);
}

/* Permissions are checked on the open file, not on the path, which could be swapped in between. */
static enum status read_open(struct ctx *ctx, const char *path, int fd,
                             uint8_t out[STORE_KEY_BYTES])
{
    char text[READ_MAX];
    struct stat st;
    ssize_t got;
    size_t n = 0;
    if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode))
        return fail(ctx, STORAGE, "the key file '%s' cannot be read", path);
    if (st.st_mode & 077)
        return fail(
            ctx, FORBIDDEN,
            "the key file '%s' is accessible to other users (mode %03o): run chmod 600 on it", path,
            (unsigned)st.st_mode & 0777);
    while (n < sizeof text && (got = read(fd, text + n, sizeof text - n)) > 0)
        n += (size_t)got;
    bool well = key_read(text, n, out);
    sodium_memzero(text, sizeof text);
    return well ? OK
                : fail(ctx, BAD_INPUT, "the key file '%s' must hold 32 bytes or 64 hex digits",
                       path);
}

/* NOT_FOUND only when there is no file: callers may make one then, and in no other case. */
enum status key_read_file(struct ctx *ctx, const char *path, uint8_t out[STORE_KEY_BYTES])
{
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? read_open(ctx, path, fd, out)
                   : fail(ctx, errno == ENOENT ? NOT_FOUND : STORAGE,
                          "the key file '%s' cannot be opened: %s", path, strerror(errno));
}

/* A rename is durable only when its folder is synced. */
static bool sync_folder_of(struct ctx *ctx, const char *path)
{
    size_t n = str_behind_last(str_of(path), '/');
    const char *folder = n ? str_c(&ctx->arena, (str){path, n}) : ".";
    CLEANUP(fd_close) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0;
}

/* Writes a private file and syncs it. Gives 0, or the errno of what failed. */
static int write_part(const char *part, const uint8_t *key)
{
    char text[HEX + 1];
    CLEANUP(fd_close) int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    sodium_bin2hex(text, sizeof text, key, STORE_KEY_BYTES);
    text[HEX] = '\n';
    bool done = fd >= 0 && write(fd, text, sizeof text) == sizeof text && fsync(fd) == 0;
    int why = done ? 0 : errno ? errno : ENOSPC;
    sodium_memzero(text, sizeof text);
    return why;
}

static enum status not_written(struct ctx *ctx, const char *path, int why)
{
    return fail_as(ctx, STORAGE, STORE_DISK_FAILED, "the key file '%s' cannot be written: %s", path,
                   strerror(why));
}

/* Written beside the target and renamed, so that a crash never leaves half a key. */
enum status key_write_file(struct ctx *ctx, const char *path, const uint8_t *key)
{
    const char *part = str_printf(&ctx->arena, "%s.part", path).p;
    unlink(part);
    int why = write_part(part, key);
    if (!why && rename(part, path) == 0 && sync_folder_of(ctx, path))
        return OK;
    why = why ? why : errno;
    unlink(part);
    return not_written(ctx, path, why);
}

/* The link fails when the file exists, so of two processes one wins and the other reads its key. */
enum status key_make_file(struct ctx *ctx, const char *path, const uint8_t *key)
{
    str name = random_text(&ctx->arena, 9);
    const char *part = str_printf(&ctx->arena, "%s." S_FMT ".part", path, S_ARG(name)).p;
    int why = write_part(part, key);
    /* A file system without hard links can only rename, so there the last writer wins. */
    if (!why && link(part, path) != 0 && (errno == EEXIST || rename(part, path) != 0))
        why = errno;
    unlink(part);
    if (why == EEXIST)
        return CONFLICT;
    if (!why && !sync_folder_of(ctx, path))
        why = errno;
    return why ? not_written(ctx, path, why) : OK;
}
