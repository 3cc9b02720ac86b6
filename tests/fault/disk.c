/* disk.c - an SQLite VFS around the real one: it counts, fails and remembers. */
#include "disk.h"

#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>

struct file {
    sqlite3_file base;
    const char *path;
    sqlite3_file *real;
};

/* The content of a file at its last sync. */
struct kept {
    char *path, *bytes;
    size_t n;
    bool is_gone;
};

enum { KEPT_MAX = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_through = PTHREAD_COND_INITIALIZER;
static bool holds_syncs;
static sqlite3_vfs *real, shim;
static struct {
    enum disk_fault fault;
    int left, tries;
    bool for_good, has_failed, remembers;
} disk;
static struct kept kept[KEPT_MAX];

static bool fails(enum disk_fault a, enum disk_fault b)
{
    pthread_mutex_lock(&lock);
    disk.tries += a != DISK_READ_FAILS && a != DISK_LOCKED_OPEN;
    bool now = false;
    if (disk.fault != DISK_IS_FINE && (disk.fault == a || disk.fault == b)) {
        now = disk.left == 0 || (disk.for_good && disk.has_failed);
        disk.has_failed |= now;
        disk.left -= disk.left >= 0;
    }
    pthread_mutex_unlock(&lock);
    return now;
}

void disk_fail(enum disk_fault fault, int nth, bool for_good)
{
    pthread_mutex_lock(&lock);
    disk.fault = fault;
    disk.left = nth;
    disk.for_good = for_good;
    disk.has_failed = false;
    pthread_mutex_unlock(&lock);
}

bool disk_mend(void)
{
    pthread_mutex_lock(&lock);
    bool failed = disk.has_failed;
    disk.fault = DISK_IS_FINE;
    pthread_mutex_unlock(&lock);
    return failed;
}

int disk_tries(void)
{
    pthread_mutex_lock(&lock);
    int tries = disk.tries;
    pthread_mutex_unlock(&lock);
    return tries;
}

void disk_hold_syncs(bool hold)
{
    pthread_mutex_lock(&lock);
    holds_syncs = hold;
    pthread_cond_broadcast(&let_through);
    pthread_mutex_unlock(&lock);
}

static void wait_for_sync(void)
{
    pthread_mutex_lock(&lock);
    while (holds_syncs)
        pthread_cond_wait(&let_through, &lock);
    pthread_mutex_unlock(&lock);
}

/* --- what survives --- */

static void keep_content(struct file *f)
{
    sqlite3_int64 size = 0;
    int i = 0;
    f->real->pMethods->xFileSize(f->real, &size);
    char *bytes = heap_alloc((size_t)size);
    if (size)
        f->real->pMethods->xRead(f->real, bytes, (int)size, 0);
    pthread_mutex_lock(&lock);
    while (i < KEPT_MAX && kept[i].path && strcmp(kept[i].path, f->path) != 0)
        i++;
    assert(i < KEPT_MAX);
    if (!kept[i].path)
        kept[i].path = strdup(f->path);
    free(kept[i].bytes);
    kept[i].bytes = bytes;
    kept[i].n = (size_t)size;
    kept[i].is_gone = false;
    pthread_mutex_unlock(&lock);
}

void disk_remember(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < KEPT_MAX; i++) {
        free(kept[i].path);
        free(kept[i].bytes);
        kept[i] = (struct kept){0};
    }
    disk.remembers = true;
    pthread_mutex_unlock(&lock);
}

void disk_cut_power(const char *path, const char *copy)
{
    pthread_mutex_lock(&lock);
    size_t n = strlen(path);
    for (int i = 0; i < KEPT_MAX && kept[i].path; i++) {
        char name[256];
        if (kept[i].is_gone || strncmp(kept[i].path, path, n) != 0)
            continue;
        snprintf(name, sizeof name, "%s%s", copy, kept[i].path + n);
        FILE *out = fopen(name, "w");
        assert(out);
        fwrite(kept[i].bytes, 1, kept[i].n, out);
        fclose(out);
    }
    pthread_mutex_unlock(&lock);
}

/* --- the file --- */

#define REAL(f) (((struct file *)(f))->real)
#define PASS(f, method, ...) REAL(f)->pMethods->method(REAL(f), __VA_ARGS__)

static int file_close(sqlite3_file *f)
{
    int rc = REAL(f)->pMethods->xClose(REAL(f));
    sqlite3_free(REAL(f));
    return rc;
}

static int file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return fails(DISK_READ_FAILS, DISK_READ_FAILS) ? SQLITE_IOERR_READ : PASS(f, xRead, p, n, at);
}

static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (fails(DISK_WRITE_FAILS, DISK_IS_FULL))
        return disk.fault == DISK_IS_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    return PASS(f, xWrite, p, n, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return fails(DISK_WRITE_FAILS, DISK_WRITE_FAILS) ? SQLITE_IOERR_TRUNCATE
                                                     : PASS(f, xTruncate, size);
}

/* The real disk is spared: what counts is the order of things. */
static int file_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    wait_for_sync();
    if (fails(DISK_SYNC_FAILS, DISK_SYNC_FAILS))
        return SQLITE_IOERR_FSYNC;
    if (disk.remembers)
        keep_content((struct file *)f);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return PASS(f, xFileSize, size);
}

static int file_lock(sqlite3_file *f, int how)
{
    return PASS(f, xLock, how);
}

static int file_unlock(sqlite3_file *f, int how)
{
    return PASS(f, xUnlock, how);
}

static int file_reserved(sqlite3_file *f, int *out)
{
    return PASS(f, xCheckReservedLock, out);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    return PASS(f, xFileControl, op, arg);
}

static int file_sector(sqlite3_file *f)
{
    return REAL(f)->pMethods->xSectorSize(REAL(f));
}

static int file_traits(sqlite3_file *f)
{
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return PASS(f, xShmMap, page, size, extend, out);
}

static int file_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return PASS(f, xShmLock, offset, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
    REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static int file_shm_unmap(sqlite3_file *f, int delete)
{
    return PASS(f, xShmUnmap, delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct file *file = (struct file *)f;
    (void)vfs;
    bool writes = (flags & SQLITE_OPEN_READWRITE) && !(flags & SQLITE_OPEN_DELETEONCLOSE);
    f->pMethods = NULL;
    if (writes && fails(DISK_LOCKED_OPEN, DISK_LOCKED_OPEN))
        return SQLITE_CANTOPEN;
    file->path = name;
    file->real = sqlite3_malloc(real->szOsFile);
    memset(file->real, 0, (size_t)real->szOsFile);
    int rc = real->xOpen(real, name, file->real, flags, out);
    f->pMethods = rc == SQLITE_OK ? &methods : NULL;
    if (rc != SQLITE_OK)
        sqlite3_free(file->real);
    return rc;
}

/* A file that is gone leaves nothing. */
static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < KEPT_MAX && kept[i].path; i++)
        if (strcmp(kept[i].path, name) == 0)
            kept[i].is_gone = true;
    pthread_mutex_unlock(&lock);
    return real->xDelete(real, name, sync);
}

void disk_install(void)
{
    if (real)
        return;
    real = sqlite3_vfs_find(NULL);
    shim = *real;
    shim.zName = "failing";
    shim.szOsFile = sizeof(struct file);
    shim.xOpen = open_file;
    shim.xDelete = delete_file;
    shim.pNext = NULL;
    int rc = sqlite3_vfs_register(&shim, 1);
    assert(rc == SQLITE_OK);
    (void)rc;
}
