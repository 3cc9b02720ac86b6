/* reserve.c - space that only erasures may take, so that a full disk can be erased from. */
#include "store/sql/state/reserve.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/files.h"

/*
 * An erasure writes changed pages to the log before it empties it into the database. On a full disk
 * it could not, and what a person wants gone would stay. So the server keeps a file of zeros beside
 * the database. It is emptied for an erasure when nothing else is left, and filled again behind it,
 * before another write can take the space.
 */
enum { RESERVE_BYTES = 8 << 20, STEP = 1 << 20, PLENTY = 4 };

static void name_it(const char *path, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s-reserve", path);
}

static double free_bytes(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 ? (double)fs.f_bavail * (double)fs.f_frsize : 0;
}

/* Failing is no fault: then erasures need space as other writes do. */
void reserve_keep(const char *path)
{
    char name[PATH_MAX];
    struct stat st;
    name_it(path, name);
    bool is_there = stat(name, &st) == 0;
    if (is_there && st.st_size >= RESERVE_BYTES)
        return;
    if (!is_there && free_bytes(path) < (double)PLENTY * RESERVE_BYTES)
        return;
    CLEANUP(fd_close) int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    off_t bytes = RESERVE_BYTES;
    while (bytes > 0 && posix_fallocate(fd, 0, bytes) != 0)
        bytes -= STEP;
}

bool reserve_lend(const char *path)
{
    char name[PATH_MAX];
    name_it(path, name);
    return free_bytes(path) < RESERVE_BYTES && truncate(name, 0) == 0;
}
