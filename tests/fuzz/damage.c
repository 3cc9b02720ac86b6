/* damage.c - what fuzz targets do to a file: bytes changed, pages swapped, cut, SQL run on it. */
#include "damage.h"

#include <assert.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_bytes get_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return (struct file_bytes){0};
    assert(fstat(fd, &st) == 0);
    struct file_bytes f = {malloc((size_t)st.st_size + 1), (size_t)st.st_size};
    assert(f.v && read(fd, f.v, f.n) == st.st_size);
    close(fd);
    return f;
}

void put_file(const char *path, const uint8_t *v, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(fd >= 0 && write(fd, v, n) == (ssize_t)n);
    close(fd);
}

size_t edit(uint8_t *v, size_t n, const uint8_t *data, size_t size, bool cuts)
{
    size_t at = 0;
    while (size >= 5) {
        at = ((size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % n;
        size_t bytes = data[4];
        data += 5;
        size -= 5;
        for (; bytes && size && at < n; bytes--, size--)
            v[at++] = *data++;
    }
    return cuts ? at : n;
}

void swap_pages(uint8_t *v, size_t n, const uint8_t *data, size_t size)
{
    enum { PAGE = 512 };
    uint8_t page[PAGE];
    for (; size >= 4 && n >= PAGE; data += 4, size -= 4) {
        uint8_t *one = v + ((size_t)data[0] | (size_t)data[1] << 8) % (n / PAGE) * PAGE;
        uint8_t *other = v + ((size_t)data[2] | (size_t)data[3] << 8) % (n / PAGE) * PAGE;
        memcpy(page, one, PAGE);
        memmove(one, other, PAGE);
        memcpy(other, page, PAGE);
    }
}

static int stop(void *steps)
{
    return ++*(int *)steps > 100;
}

/* No other file is made or opened; VACUUM attaches one without a name. */
static int stay_inside(void *own, int action, const char *file, const char *second, const char *db,
                       const char *inside)
{
    (void)own, (void)second, (void)db, (void)inside;
    return action == SQLITE_ATTACH && file && *file ? SQLITE_DENY : SQLITE_OK;
}

void run_sql(const char *path, const uint8_t *data, size_t size)
{
    sqlite3 *db;
    int steps = 0;
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = 0;
    if (sqlite3_open(path, &db) == SQLITE_OK) {
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
        sqlite3_progress_handler(db, 1000, stop, &steps);
        sqlite3_set_authorizer(db, stay_inside, NULL);
        sqlite3_exec(db, text, NULL, NULL, NULL);
    }
    sqlite3_close(db);
    free(text);
}
