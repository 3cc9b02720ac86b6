/* key_file.c - a secret key in a file of its own, made when it is needed first. */
#include "base/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/files.h"

enum status key_file_take(struct ctx *ctx, const char *path, bool makes,
                          uint8_t key[KEY_FILE_BYTES], bool *is_new, int *fd)
{
    *is_new = false;
    *fd = open(path, (makes ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600);
    if (*fd < 0)
        return errno == ENOENT ? fail(ctx, NOT_FOUND, "there is no key '%s'", path)
                               : fail_file(ctx, path, "opened");
    if (flock(*fd, makes ? LOCK_EX : LOCK_SH) != 0)
        return fail_file(ctx, path, "locked");
    ssize_t n = pread(*fd, key, KEY_FILE_BYTES, 0);
    if (n == KEY_FILE_BYTES)
        return OK;
    if (n != 0 || !makes)
        return fail(ctx, n ? STORAGE : NOT_FOUND, "'%s' is no key: it has to be of %d bytes", path,
                    KEY_FILE_BYTES);
    randombytes_buf(key, KEY_FILE_BYTES);
    if (pwrite(*fd, key, KEY_FILE_BYTES, 0) != KEY_FILE_BYTES || fsync(*fd) != 0) {
        enum status status = fail_file(ctx, path, "written");
        (void)!ftruncate(*fd, 0); /* a part of it would be no key for good */
        return status;
    }
    *is_new = true;
    return OK;
}
