/* convert.c - a whole store into another file, under another key: copied, proven, put in place. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/sqlite/sqlite_store.h"

enum { COUNTS_MAX = 1 << 16, PROGRESS_STEPS = 20000 };

struct job {
    struct ctx *ctx;
    const struct store_copy *what;
    const char *from, *to, *part;
    bool in_place; /* from is to */
    struct db db;  /* of from */
    int64_t bytes; /* that it has */
};

static void say(const struct job *j, const char *what, int64_t done, int64_t all)
{
    if (j->what->progress)
        j->what->progress(j->what->own, what, done, all);
}

/* --- connections --- */

/* Without the pragmas of db_open, which would make a log: a backup may lie where nothing can be
 * written. */
static enum status open_as_it_is(struct ctx *ctx, const char *path, const uint8_t *key,
                                 const char *mode, struct db *db)
{
    static const char pragmas[] = "PRAGMA temp_store=2; PRAGMA trusted_schema=OFF;"
                                  "PRAGMA cell_size_check=ON; PRAGMA cache_size=-8000;";
    *db = (struct db){0};
    str uri = file_uri(&ctx->arena, path, mode);
    int rc = sqlite3_open_v2(uri.p, &db->handle,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = db_set_key(db->handle, key);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->handle, pragmas, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        return OK;
    enum status status = db_failed(ctx, db, rc);
    db_close(db);
    return status;
}

/*
 * The log goes into the file, and nobody else has the file open: not even a process that knows
 * nothing of holds. Without a log beside it a file can be replaced in one step.
 */
static enum status settle(struct ctx *ctx, struct db *db)
{
    static const char ours[] = "PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE;"
                               "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;";
    int64_t has_no_log = 0;
    int rc = sqlite3_exec(db->handle, ours, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        TRY(db_int(ctx, db, "SELECT journal_mode = 'delete' FROM pragma_journal_mode",
                   &has_no_log));
    if (rc != SQLITE_OK && rc != SQLITE_BUSY && rc != SQLITE_LOCKED)
        return db_failed(ctx, db, rc);
    return has_no_log ? OK
                      : fail(ctx, TOO_BUSY,
                             "another process has the store open; stop it first (a server, or "
                             "another command)");
}

static void db_closep(struct db *db)
{
    words_end(db);
    db_close(db);
}

/* --- copying --- */

static enum status check_room(const struct job *j)
{
    struct statvfs fs;
    char *folder = arena_alloc(&j->ctx->arena, strlen(j->to) + 3);
    memcpy(folder, j->to, strlen(j->to));
    char *slash = strrchr(folder, '/');
    memcpy(slash ? slash + 1 : folder, ".", 2);
    double needed = (double)j->bytes * 1.04 + 4e6;
    if (statvfs(folder, &fs) != 0 || (double)fs.f_bavail * (double)fs.f_frsize >= needed)
        return OK;
    return fail(j->ctx, TOO_LARGE,
                "the disk has %.1f MB left, and a copy of the store takes %.1f MB",
                (double)fs.f_bavail * (double)fs.f_frsize / 1e6, needed / 1e6);
}

static int show_progress(void *own)
{
    const struct job *j = own;
    struct stat st;
    if (stat(j->part, &st) == 0)
        say(j, "copying", st.st_size < j->bytes ? st.st_size : j->bytes, j->bytes);
    return 0;
}

/* Made here, so that it belongs to whom the old one belonged to, and to nobody else. */
static enum status make_part(const struct job *j, const struct stat *old)
{
    int fd = open(j->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool made = fd >= 0;
    if (made && old && (old->st_uid != geteuid() || old->st_gid != getegid()))
        made = fchown(fd, old->st_uid, old->st_gid) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return made ? OK : fail(j->ctx, STORAGE, "cannot make '%s': %s", j->part, strerror(why));
}

/* The key stands in the name of the new file, as SQLite wants it; the name is wiped. */
static char *name_with_key(const struct job *j)
{
    static const char raw[] = "7261773a"; /* "raw:" */
    char hex[2 * STORE_KEY_BYTES + 1] = "";
    const uint8_t *key = j->what->to_key;
    if (key)
        sodium_bin2hex(hex, sizeof hex, key, STORE_KEY_BYTES);
    str uri = file_uri(&j->ctx->arena, j->part, "");
    size_t n = uri.n + sizeof raw + sizeof hex + 80;
    char *name = sodium_malloc(n);
    if (!name)
        abort();
    snprintf(name, n, "%s%s%s%s", uri.p,
             key ? "cipher=aegis&algorithm=4&reserve=64&hexkey=" : "reserve=0&key=", key ? raw : "",
             hex);
    sodium_memzero(hex, sizeof hex);
    return name;
}

/* VACUUM INTO writes the rows and leaves behind what was erased. Its own words of a failure hold
 * the name, so the code's are taken. */
static enum status write_part(struct job *j)
{
    sqlite3_stmt *stmt = NULL;
    char *name = name_with_key(j);
    sqlite3_progress_handler(j->db.handle, PROGRESS_STEPS, show_progress, j);
    int rc = sqlite3_prepare_v2(j->db.handle, "VACUUM INTO ?1", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    sqlite3_progress_handler(j->db.handle, 0, NULL, NULL);
    sodium_free(name);
    return rc == SQLITE_DONE
               ? OK
               : fail(j->ctx, STORAGE, "the store cannot be copied: %s", sqlite3_errstr(rc));
}

/* --- proving --- */

/* How many rows each table has, as lines. */
static enum status count_rows(struct ctx *ctx, struct db *db, str *out)
{
    static const char tables[] = "SELECT name, 'SELECT count(*) FROM \"' || name || '\"'"
                                 " FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
                                 " ORDER BY name";
    struct buf b = buf_make(&ctx->arena, COUNTS_MAX);
    sqlite3_stmt *stmt = NULL;
    enum status status = OK;
    int rc = sqlite3_prepare_v2(db->handle, tables, -1, &stmt, NULL);
    while (rc == SQLITE_OK && status == OK && sqlite3_step(stmt) == SQLITE_ROW) {
        int64_t n = 0;
        status = db_int(ctx, db, (const char *)sqlite3_column_text(stmt, 1), &n);
        buf_printf(&b, "%s %lld\n", (const char *)sqlite3_column_text(stmt, 0), (long long)n);
    }
    rc = sqlite3_finalize(stmt);
    if (status == OK && rc != SQLITE_OK)
        status = db_failed(ctx, db, rc);
    *out = buf_str(&b);
    return status;
}

static enum status compare_rows(struct job *j)
{
    CLEANUP(db_closep) struct db copy = {0};
    str before, after;
    TRY(open_as_it_is(j->ctx, j->part, j->what->to_key, "immutable=1", &copy));
    TRY(count_rows(j->ctx, &j->db, &before));
    TRY(count_rows(j->ctx, &copy, &after));
    if (!str_eq(before, after))
        return fail(j->ctx, STORAGE, "the copy has other rows than the store; it was not kept");
    return OK;
}

/* As anyone will open it: with its key, its schema brought up, its rows against its words. Then it
 * is one file without a log, which can be read where nothing can be written. */
static enum status check_part(struct job *j)
{
    CLEANUP(db_closep) struct db last = {0};
    struct store_settings settings = {.path = str_of(j->part),
                                      .key = j->what->to_key,
                                      .readers = 1};
    struct store *s;
    str findings;
    TRY(sqlite_ops.open(j->ctx, &settings, &s));
    enum status status = sqlite_ops.check(j->ctx, s, &findings);
    sqlite_ops.close(s);
    TRY(status);
    if (findings.n)
        return fail(j->ctx, STORAGE, "the copy is not sound and was not kept: " S_FMT,
                    S_ARG(findings));
    TRY(open_as_it_is(j->ctx, j->part, j->what->to_key, "mode=rw", &last));
    return settle(j->ctx, &last);
}

/* --- putting it in place --- */

static enum status sync_path(struct ctx *ctx, const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return done ? OK : fail(ctx, STORAGE, "'%s' cannot be made durable: %s", path, strerror(why));
}

static enum status sync_folder(const struct job *j)
{
    size_t n = strlen(j->to);
    while (n && j->to[n - 1] != '/')
        n--;
    str folder = n ? str_dup(&j->ctx->arena, (str){j->to, n}) : S(".");
    return sync_path(j->ctx, folder.p, O_RDONLY | O_DIRECTORY);
}

static enum status put_in_place(const struct job *j)
{
    TRY(sync_path(j->ctx, j->part, O_RDWR));
    TRY(sync_folder(j));
    if (!j->what->replaces && access(j->to, F_OK) == 0)
        return fail(j->ctx, CONFLICT, "'%s' is there already", j->to);
    if (rename(j->part, j->to) != 0)
        return fail(j->ctx, STORAGE, "'%s' cannot be put in place: %s", j->to, strerror(errno));
    return sync_folder(j);
}

/* --- the whole --- */

static enum status copy_and_prove(struct job *j, const struct stat *old)
{
    int64_t pages, size;
    TRY(db_int(j->ctx, &j->db, "PRAGMA page_count", &pages));
    TRY(db_int(j->ctx, &j->db, "PRAGMA page_size", &size));
    j->bytes = pages * size;
    TRY(check_room(j));
    TRY(make_part(j, old));
    say(j, "copying", 0, j->bytes);
    TRY(write_part(j));
    say(j, "checking", 0, 1);
    if (j->what->replaces) /* else rows may have come since */
        TRY(compare_rows(j));
    TRY(check_part(j));
    say(j, "checking", 1, 1);
    return put_in_place(j);
}

/* What is to be replaced is settled first, by its own key: that of the copy, when it is another
 * file's. */
static enum status settle_old(struct job *j, const struct hold *hold, struct db *old)
{
    enum store_kind kind = file_kind(hold->fd);
    const uint8_t *key = j->in_place ? j->what->from_key : j->what->to_key;
    if (kind == STORE_ABSENT)
        return OK;
    if (kind == STORE_PLAIN && !j->in_place)
        key = NULL;
    TRY(file_check_key(j->ctx, j->to, kind, key));
    TRY(open_as_it_is(j->ctx, j->to, key, "mode=rw", old));
    return settle(j->ctx, old);
}

/* Before the hold is left: what is closed later would drop the locks of another connection, and
 * what is removed later might be another process's. */
static enum status end(struct job *j, enum status status)
{
    db_closep(&j->db);
    if (status != OK)
        file_remove_part(j->ctx, j->to);
    return status;
}

static enum status replace(struct job *j)
{
    HOLD(hold);
    CLEANUP(db_closep) struct db old = {0};
    TRY(hold_take(j->ctx, j->to, HOLD_ALONE, &hold));
    if (hold.st.st_nlink > 1)
        return fail(j->ctx, CONFLICT,
                    "'%s' has another name (a hard link), under which the old file would stay",
                    j->to);
    file_remove_part(j->ctx, j->to);
    enum status status = settle_old(j, &hold, &old);
    if (j->in_place) {
        j->db = old;
        old = (struct db){0};
    }
    if (status == OK)
        status = copy_and_prove(j, &hold.st);
    if (status != OK && !hold.st.st_size)
        unlink(j->to); /* it was made to be held */
    return end(j, status);
}

static enum status open_source(struct job *j)
{
    TRY(file_check_key(j->ctx, j->from, store_kind(j->ctx, j->what->from), j->what->from_key));
    return open_as_it_is(j->ctx, j->from, j->what->from_key,
                         j->what->replaces ? "mode=ro" : "mode=rw", &j->db);
}

static enum status make_new(struct job *j)
{
    HOLD(hold);
    if (access(j->to, F_OK) == 0)
        return fail(j->ctx, CONFLICT, "'%s' is there already", j->to);
    TRY(hold_take(j->ctx, j->from, HOLD_SHARED, &hold));
    file_remove_part(j->ctx, j->to);
    enum status status = open_source(j);
    return end(j, status == OK ? copy_and_prove(j, NULL) : status);
}

enum status store_copy(struct ctx *ctx, const struct store_copy *copy)
{
    struct arena *a = &ctx->arena;
    struct job j = {ctx, copy, str_c(a, copy->from), str_c(a, copy->to)};
    j.to = file_whole(a, j.to).p;
    j.part = file_part(a, j.to).p;
    j.in_place = str_eq(copy->from, copy->to);
    if (store_kind(ctx, copy->from) == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "there is no store '%s'", j.from);
    if (!copy->replaces) {
        TRY(make_new(&j));
    } else {
        if (!j.in_place)
            TRY(open_source(&j));
        enum status status = replace(&j);
        db_closep(&j.db);
        TRY(status);
    }
    say(&j, "done", 1, 1);
    return OK;
}
