/* file.c - holding the database file, and telling what it is before SQLite touches it. */
#include "store/sql/db/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/files.h"
#include "store/sql/db/db.h"

/* The last three are sizes of the file format: a page, the header of the log and the header of one
 * of its frames (sqlite.org/fileformat2.html, "The Write-Ahead Log"). */
enum { HEAD = 24, PAGE = 4096, WAL_HEAD = 32, FRAME_HEAD = 24 };

int file_error_detail(int error)
{
    static const int disk[] = {ENOSPC, EDQUOT, EROFS, EIO, EFBIG};
    return SOME(i, sizeof disk / sizeof *disk, error == disk[i]) ? STORE_DISK_FAILED : 0;
}

enum status file_make_folders(struct ctx *ctx, const char *path)
{
    const char *missing = folders_make(&ctx->arena, str_of(path));
    return missing ? fail_as(ctx, STORAGE, file_error_detail(errno),
                             "cannot create the folder '%s': %s", missing, strerror(errno))
                   : OK;
}

/* --- holding --- */

void hold_leave(struct hold *h)
{
    fd_close(&h->fd);
}

/* Readable by its owner alone; SQLite gives its log files the same rights. */
static enum status open_file(struct ctx *ctx, const char *path, struct hold *h)
{
    h->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (h->fd >= 0 && fstat(h->fd, &h->st) == 0 && S_ISREG(h->st.st_mode))
        return OK;
    int why = h->fd < 0 ? errno : EISDIR;
    hold_leave(h);
    return fail_as(ctx, STORAGE, file_error_detail(why), "cannot open the database '%s': %s", path,
                   strerror(why));
}

static enum status refuse_busy(struct ctx *ctx, const char *path, enum hold_how how)
{
    if (how == HOLD_SHARED)
        return fail(ctx, TOO_BUSY, "another process is replacing the database '%s'", path);
    return fail(ctx, TOO_BUSY,
                "another process has the database '%s' open; stop it first (a server, or another "
                "command)",
                path);
}

/* The file may be replaced between opening and locking it; then the new one is opened. On a file
 * system without flock a shared hold is granted: there is no second process to keep out, or no way
 * to. */
enum status hold_take(struct ctx *ctx, const char *path, enum hold_how how, struct hold *out)
{
    for (;;) {
        struct stat now;
        TRY(open_file(ctx, path, out));
        int rc = flock(out->fd, (how == HOLD_ALONE ? LOCK_EX : LOCK_SH) | LOCK_NB);
        int why = errno;
        if (rc == 0 && (stat(path, &now) != 0 || now.st_ino != out->st.st_ino ||
                        now.st_dev != out->st.st_dev)) {
            hold_leave(out);
            continue;
        }
        if (rc == 0 || (how == HOLD_SHARED && why != EWOULDBLOCK))
            return OK;
        hold_leave(out);
        return why == EWOULDBLOCK ? refuse_busy(ctx, path, how)
                                  : fail(ctx, STORAGE, "cannot lock '%s': %s", path, strerror(why));
    }
}

/* --- marks --- */

enum { MARKS_BITS = 40 };

/* Each mark is a lock on one byte far behind those that SQLite locks; the byte is never written.
 * F_OFD_SETLK binds the lock to the open file, so closing another descriptor keeps it. SQLite's
 * lock bytes begin at 2^30, marks at 2^40. */
static struct flock byte_of(int64_t mark)
{
    return (struct flock){.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = ((off_t)1 << MARKS_BITS) + mark,
                          .l_len = 1};
}

/* A random number, so that a process that starts later cannot take over a mark. */
void hold_mark(struct hold *h)
{
    uint64_t random;
    assert(h->fd >= 0 && !h->mark);
    randombytes_buf(&random, sizeof random);
    int64_t mark = (int64_t)(random >> 4) + 1;
    struct flock byte = byte_of(mark);
    h->mark = fcntl(h->fd, F_OFD_SETLK, &byte) == 0 ? mark : 0;
}

bool hold_has_mark(const struct hold *h, int64_t mark)
{
    assert(h->fd >= 0 && mark);
    struct flock byte = byte_of(mark);
    return mark == h->mark || fcntl(h->fd, F_OFD_GETLK, &byte) != 0 || byte.l_type != F_UNLCK;
}

/* Own locks are no obstacle, so a lock in the way is another process's. */
bool hold_is_shared(const struct hold *h)
{
    struct flock all = byte_of(0);
    all.l_len = 0; /* all bytes from there on */
    return h->mark && fcntl(h->fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

/* --- what it is --- */

/* An encrypted file begins with 16 random bytes. The next eight are always ours: pages of 4096
 * bytes, 64 of them for the seal. These eight are the header's bytes 16 to 23
 * (sqlite.org/fileformat2.html, "The Database Header"): page size, versions for writing and
 * reading, reserved bytes, and the three payload fractions. The cipher leaves them readable, as
 * SQLite needs them before it can decrypt. */
enum store_kind file_kind(int fd)
{
    static const char magic[] = "SQLite format 3", sealed[] = "\x40\x40\x20\x20";
    unsigned char head[HEAD];
    ssize_t n = pread(fd, head, sizeof head, 0);
    if (n == 0)
        return STORE_ABSENT;
    if (n != sizeof head)
        return STORE_FOREIGN;
    if (!memcmp(head, magic, sizeof magic))
        return STORE_PLAIN;
    bool ours = head[16] == PAGE >> 8 && head[17] == 0 && head[18] == head[19] &&
                (head[18] == 1 || head[18] == 2) && !memcmp(head + 20, sealed, 4);
    return ours ? STORE_ENCRYPTED : STORE_FOREIGN;
}

enum store_kind store_kind(struct ctx *ctx, str path)
{
    CLEANUP(fd_close) int fd = open(str_c(&ctx->arena, path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STORE_ABSENT : STORE_FOREIGN;
    return file_kind(fd);
}

/* An end that is there and not empty, or "". .new is of a restore that was killed. */
str store_remains(struct ctx *ctx, str path)
{
    static const char *const ends[] = {"-commits", "-wal", "-shm", ".new"};
    struct stat st;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        str file = str_printf(&ctx->arena, S_FMT "%s", S_ARG(path), ends[i]);
        if (stat(file.p, &st) == 0 && st.st_size)
            return file;
    }
    return S("");
}

/* SQLite reads %, ? and # in a URI as its own. */
str file_uri(struct arena *a, const char *path, const char *parameters)
{
    struct buf b = buf_make(a, 8 + 3 * strlen(path) + strlen(parameters));
    buf_add(&b, *path == '/' ? S("file://") : S("file:"));
    for (const char *c = path; *c; c++) {
        if (strchr("%?#", *c))
            buf_printf(&b, "%%%02X", (unsigned char)*c);
        else
            buf_byte(&b, *c);
    }
    buf_printf(&b, "?%s", parameters);
    return str_dup(a, buf_str(&b));
}

/* --- whether a key opens it --- */

/* The first page carries a seal that only the right key makes. immutable: SQLite reads this file
 * alone, takes no lock and ignores the log, so that a wrong key changes nothing. */
static bool key_opens(struct ctx *ctx, const char *path, const uint8_t *key)
{
    sqlite3 *handle = NULL;
    str uri = file_uri(&ctx->arena, path, "immutable=1");
    int rc = db_open_handle(uri.p, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, key, &handle);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(handle, "PRAGMA schema_version", NULL, NULL, NULL);
    sqlite3_close(handle);
    /* SQLITE_CORRUPT: the page was sealed with this key, and the file was cut off behind it. */
    return rc == SQLITE_OK || rc == SQLITE_CORRUPT;
}

/* The first page as the log has it. A frame belongs to the current use of the log when its salts
 * are those of the header. Any frame of page 1 will do: only its seal is tested. */
static bool read_from_wal(const char *path, unsigned char page[PAGE])
{
    unsigned char head[WAL_HEAD], frame[FRAME_HEAD];
    static const unsigned char first[] = {0, 0, 0, 1};
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = false, is_log = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head;
    for (off_t at = WAL_HEAD; is_log && !found; at += FRAME_HEAD + PAGE) {
        if (pread(fd, frame, sizeof frame, at) != sizeof frame ||
            memcmp(frame + 8, head + 16, 8) != 0)
            break; /* the end of the log, or of its current use */
        found =
            !memcmp(frame, first, sizeof first) && pread(fd, page, PAGE, at + FRAME_HEAD) == PAGE;
    }
    return found;
}

/* A power cut may tear the first page while pages go from the log into the file. SQLite then takes
 * the page from the log; so do we, or the right key would be refused. The page stays encrypted in
 * its temporary file. */
static bool opens_log(struct ctx *ctx, const char *path, const uint8_t *key)
{
    unsigned char page[PAGE];
    char copy[] = "/tmp/rememberd-page-XXXXXX";
    if (!read_from_wal(str_printf(&ctx->arena, "%s-wal", path).p, page))
        return false;
    int fd = mkostemp(copy, O_CLOEXEC);
    if (fd < 0)
        return false;
    bool fits = write(fd, page, sizeof page) == sizeof page && key_opens(ctx, copy, key);
    close(fd);
    unlink(copy);
    return fits;
}

/* Another process may be writing this page: then the next try sees it whole. */
static bool key_fits(struct ctx *ctx, const char *path, const uint8_t *key)
{
    enum { TRIES = 3, AGAIN_MS = 5 };
    for (int i = 0; i < TRIES; i++) {
        if (key_opens(ctx, path, key) || opens_log(ctx, path, key))
            return true;
        sqlite3_sleep(AGAIN_MS);
    }
    return false;
}

bool store_key_fits(struct ctx *ctx, str path, const uint8_t *key)
{
    return store_kind(ctx, path) == STORE_ENCRYPTED && key_fits(ctx, str_c(&ctx->arena, path), key);
}

/* FORBIDDEN is about keys alone, so that the command line can explain where keys come from; STORAGE
 * is about the file. */
enum status file_check_key(struct ctx *ctx, const char *path, enum store_kind kind,
                           const uint8_t *key)
{
    if (kind == STORE_FOREIGN)
        return fail(ctx, STORAGE, "'%s' is not a rememberd database", path);
    if (kind == STORE_ENCRYPTED && !key)
        return fail(ctx, FORBIDDEN, "the database '%s' is encrypted, and no key was found", path);
    if (kind == STORE_PLAIN && key)
        return fail(
            ctx, FORBIDDEN,
            "the database '%s' is not encrypted, but a key is set; rememberd encrypt encrypts it",
            path);
    if (kind == STORE_ENCRYPTED && !key_fits(ctx, path, key))
        return fail(ctx, FORBIDDEN,
                    "the key is not the key of the database '%s', or the first page of the file is "
                    "damaged: with the right key, restore a backup",
                    path);
    return OK;
}

/* --- what a copy leaves --- */

str file_whole(struct arena *a, const char *path)
{
    char *whole = realpath(path, NULL);
    str out = str_dup(a, str_of(whole ? whole : path));
    free(whole);
    return out;
}

str file_part(struct arena *a, const char *path)
{
    return str_printf(a, "%s.new", file_whole(a, path).p);
}

/* A killed copy may also leave the part's log files. */
void file_remove_part(struct ctx *ctx, const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-commits"};
    str part = file_part(&ctx->arena, path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        unlink(str_printf(&ctx->arena, "%s%s", part.p, ends[i]).p);
}
