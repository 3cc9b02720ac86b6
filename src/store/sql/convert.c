/* convert.c - a whole store into another file, under another key: copied, proven, put in place. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "core/backup_file.h"
#include "store/sql/db/db.h"
#include "store/sql/db/file.h"
#include "store/sql/db/schema.h"
#include "store/sql/state/commits.h"
#include "store/sql/state/sql_store.h"
#include "store/sql/upgrade.h"

/*
 * Encrypting, decrypting, changing the key, backing up and restoring are all the same copy. The
 * order makes it safe to kill: hold the target, settle its log, copy into a part beside it, open
 * and check the part as a store, sync it, rename it. Before the rename the old file is untouched,
 * and a left part is removed by the next open.
 *
 * VACUUM INTO (sqlite.org/lang_vacuum.html) writes the copy in one read transaction: it shows the
 * source at one moment, even while others write to it. The copy is as small as its rows and has no
 * free pages, so nothing erased is in it.
 */

/* PROGRESS_STEPS are virtual machine instructions of SQLite between two reports. */
enum { COUNTS_MAX = 1 << 16, PROGRESS_STEPS = 20000 };

struct job {
    struct ctx *ctx;
    const struct store_copy *what;
    const char *from, *to, *part;
    bool in_place; /* from is to */
    bool is_old;   /* the copy stays of the version that from has */
    struct db db;  /* of from */
    int64_t bytes; /* that it has */
};

static void show_step(const struct job *j, const char *what, int64_t done, int64_t all)
{
    if (j->what->progress)
        j->what->progress(j->what->own, what, done, all);
}

/* --- connections --- */

/* Without the pragmas of db_open, which would make a log: a backup may lie in a folder that cannot
 * be written to. */
static enum status open_as_it_is(struct ctx *ctx, const char *path, const uint8_t *key,
                                 const char *mode, struct db *db)
{
    static const char pragmas[] =
        "PRAGMA temp_store=2; PRAGMA cell_size_check=ON; PRAGMA cache_size=-8000;";
    *db = (struct db){0};
    str uri = file_uri(&ctx->arena, path, mode);
    int rc = db_open_handle(uri.p, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, key, &db->handle);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->handle, pragmas, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        return OK;
    enum status status = db_failed(ctx, db, rc);
    db_close_unsettled(db);
    return status;
}

/* Brings the log into the file and makes sure that no other process has it open, not even one that
 * takes no holds. A file without a log can be replaced in one step. */
static enum status settle_log(struct ctx *ctx, struct db *db)
{
    static const char ours[] = "PRAGMA journal_mode=DELETE;"
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
                             "another process has the database open; stop it first (a server, or "
                             "another command)");
}

/* What has lost commits is not taken for the whole: a copy would be as short, and nobody would be
 * told. */
static enum status check_commits(const struct job *j, const char *path, struct db *db)
{
    struct commits found;
    return commits_check(j->ctx, db, path, false, &found);
}

/* --- copying --- */

/* Where the copy will be. */
static const char *folder_of(const struct job *j)
{
    size_t n = str_behind_last(str_of(j->to), '/');
    return n ? str_c(&j->ctx->arena, (str){j->to, n}) : ".";
}

/* Measured: an encrypted copy takes up to 4 % more than the pages of a plain store. An upgrade
 * behind it needs as much again for the log. When the free space cannot be asked, the copy is
 * tried. */
static enum status check_room(const struct job *j)
{
    struct statvfs fs;
    double needed = (double)j->bytes * (j->is_old ? 2.04 : 1.04) + 4e6;
    if (statvfs(folder_of(j), &fs) != 0 || (double)fs.f_bavail * (double)fs.f_frsize >= needed)
        return OK;
    return fail(j->ctx, TOO_LARGE,
                "the disk has %.1f MB free, and a copy of the database%s needs %.1f MB",
                (double)fs.f_bavail * (double)fs.f_frsize / 1e6,
                j->is_old ? " with its upgrade" : "", needed / 1e6);
}

/* SQLite calls this every few thousand steps; the size of the growing file is the progress. Of a
 * server that stops, the copy ends here. */
static int show_progress(void *own)
{
    const struct job *j = own;
    struct stat st;
    if (stat(j->part, &st) == 0)
        show_step(j, "copying", st.st_size < j->bytes ? st.st_size : j->bytes, j->bytes);
    return ctx_is_cut(j->ctx);
}

/* Makes the file before SQLite does, so that it gets the owner of the old one and no rights for
 * others. */
static enum status make_part(const struct job *j, const struct stat *old)
{
    CLEANUP(fd_close) int fd = open(j->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool made = fd >= 0;
    if (made && old && (old->st_uid != geteuid() || old->st_gid != getegid()))
        made = fchown(fd, old->st_uid, old->st_gid) == 0;
    return made ? OK : fail(j->ctx, STORAGE, "cannot create '%s': %s", j->part, strerror(errno));
}

/* SQLite takes the key as a parameter in the name of the new file; the name is wiped after use. */
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
        die_of_limits("out of memory");
    snprintf(name, n, "%s%s%s%s", uri.p,
             key ? "cipher=aegis&algorithm=4&reserve=64&hexkey=" : "reserve=0&key=", key ? raw : "",
             hex);
    sodium_memzero(hex, sizeof hex);
    return name;
}

/* VACUUM INTO copies rows and leaves out erased ones. Its error message would hold the name with
 * the key, so the text of the error code is reported instead. */
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
               : fail(j->ctx, STORAGE, "the database cannot be copied: %s", sqlite3_errstr(rc));
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

/* The same number of rows in every table. A copy that VACUUM INTO cut short would be smaller. */
static enum status compare_rows(struct job *j)
{
    CLEANUP(db_close) struct db copy = {0};
    str before, after;
    TRY(open_as_it_is(j->ctx, j->part, j->what->to_key, "immutable=1", &copy));
    TRY(count_rows(j->ctx, &j->db, &before));
    TRY(count_rows(j->ctx, &copy, &after));
    return str_eq(before, after)
               ? OK
               : fail(j->ctx, STORAGE, "the copy differs from the database and was deleted");
}

/* Opens the copy as any later caller does: its key, its schema, its rows against its words. Then
 * brings the log into the file, so that the copy can be read from a folder that cannot be written
 * to. */
static enum status check_part(struct job *j)
{
    CLEANUP(db_close) struct db last = {0};
    struct store_settings settings = {.path = str_of(j->part),
                                      .key = j->what->to_key,
                                      .readers = 1,
                                      .erasures = j->what->erasures,
                                      .restored = j->what->restored};
    struct store *s;
    str findings;
    TRY(sql_open(j->ctx, &settings, false, &s));
    enum status status = store_check(j->ctx, s, &findings);
    store_close(s);
    TRY(status);
    if (findings.n)
        return fail(j->ctx, STORAGE, "the copy is damaged and was deleted: " S_FMT,
                    S_ARG(findings));
    TRY(open_as_it_is(j->ctx, j->part, j->what->to_key, "mode=rw", &last));
    return settle_log(j->ctx, &last);
}

/* A copy of an older version cannot be opened as a store: that would upgrade it. */
static enum status check_closed(struct ctx *ctx, const char *path, const uint8_t *key)
{
    CLEANUP(db_close) struct db copy = {0};
    int64_t version, is_whole = 0;
    TRY(open_as_it_is(ctx, path, key, "immutable=1", &copy));
    TRY(schema_check(ctx, &copy, &version));
    TRY(db_int(ctx, &copy, "SELECT quick_check = 'ok' FROM pragma_quick_check LIMIT 1", &is_whole));
    return is_whole ? OK : fail(ctx, STORAGE, "the copy '%s' is damaged", path);
}

/* --- putting it in place --- */

/* fsync, so that a power cut after the rename cannot leave an empty file behind. */
static enum status sync_path(struct ctx *ctx, const char *path, int flags)
{
    CLEANUP(fd_close) int fd = open(path, flags | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0 ? OK : fail_file(ctx, path, "synced to disk");
}

/* The count of commits beside the part was made by check_part. That of the old file goes first: a
 * file without one is opened, and one with another's may not be. So does a log whose database was
 * missing: SQLite would take it for the log of the new one. */
static enum status move_part(const struct job *j)
{
    static const char *const ends[] = {"-commits", "-wal", "-shm"};
    str part = str_printf(&j->ctx->arena, "%s-commits", j->part);
    str to = str_printf(&j->ctx->arena, "%s-commits", j->to);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        unlink(str_printf(&j->ctx->arena, "%s%s", j->what->replaces ? j->to : j->part, ends[i]).p);
    if (rename(j->part, j->to) != 0)
        return fail_file(j->ctx, j->to, "put in place");
    return j->what->replaces && rename(part.p, to.p) != 0 ? fail_file(j->ctx, to.p, "put in place")
                                                          : OK;
}

/* The folder is synced twice: before the rename the part must be in it, and after it the new name.
 */
static enum status put_in_place(const struct job *j)
{
    const char *folder = folder_of(j);
    TRY(sync_path(j->ctx, j->part, O_RDWR));
    TRY(sync_path(j->ctx, folder, O_RDONLY | O_DIRECTORY));
    if (!j->what->replaces && access(j->to, F_OK) == 0)
        return fail(j->ctx, CONFLICT, "'%s' exists already", j->to);
    TRY(move_part(j));
    return sync_path(j->ctx, folder, O_RDONLY | O_DIRECTORY);
}

/* --- the whole --- */

/* A failure at any step leaves the target as it was; end_job removes the part. */
static enum status copy_and_prove(struct job *j, const struct stat *old)
{
    int64_t pages, size;
    TRY(db_int(j->ctx, &j->db, "PRAGMA page_count", &pages));
    TRY(db_int(j->ctx, &j->db, "PRAGMA page_size", &size));
    j->bytes = pages * size;
    TRY(check_room(j));
    TRY(make_part(j, old));
    show_step(j, "copying", 0, j->bytes);
    TRY(write_part(j));
    show_step(j, "checking", 0, 1);
    if (j->what->replaces) /* else the store is open, and rows may have been added since */
        TRY(compare_rows(j));
    TRY(j->is_old ? check_closed(j->ctx, j->part, j->what->to_key) : check_part(j));
    show_step(j, "checking", 1, 1);
    return put_in_place(j);
}

static enum status settle_file(struct job *j, const uint8_t *key, struct db *old)
{
    TRY(open_as_it_is(j->ctx, j->to, key, "mode=rw", old));
    if (j->in_place)
        TRY(check_commits(j, j->to, old));
    db_wait_for_locks(old->handle, 0); /* a program that has it open may have it for long */
    TRY(commits_settle(j->ctx, old, j->to, SQLITE_CHECKPOINT_TRUNCATE));
    return settle_log(j->ctx, old);
}

/* Settles the file that is to be replaced, with its own key: that of the copy when it is another
 * store. A damaged one is what a restore mends. */
static enum status settle_old(struct job *j, const struct hold *hold, struct db *old)
{
    enum store_kind kind = file_kind(hold->fd);
    const uint8_t *key = j->in_place ? j->what->from_key : j->what->to_key;
    if (kind == STORE_ABSENT || (kind == STORE_FOREIGN && !j->in_place))
        return OK;
    if (kind == STORE_PLAIN && !j->in_place)
        key = NULL;
    TRY(file_check_key(j->ctx, j->to, kind, key));
    enum status status = settle_file(j, key, old);
    return !j->in_place && soft_if(j->ctx, status, STORAGE) ? OK : status;
}

/* Runs before the hold is left: closing the connection later would drop the locks of another one,
 * and a part that is removed later may be another process's. */
static enum status end_job(struct job *j, enum status status)
{
    db_close_unsettled(&j->db);
    if (status != OK)
        file_remove_part(j->ctx, j->to);
    return status;
}

static enum status replace_store(struct job *j)
{
    assert(j->what->replaces);
    FILE_HOLD(hold);
    CLEANUP(db_close) struct db old = {0};
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
    status = status == OK ? copy_and_prove(j, &hold.st) : status;
    if (status != OK && !hold.st.st_size)
        unlink(j->to); /* made by hold_take */
    return end_job(j, status);
}

/* A restored file takes the place of a store, so it must be one, and whole. */
static enum status check_source(struct job *j)
{
    int64_t version, is_whole = !j->what->replaces;
    TRY(schema_check(j->ctx, &j->db, &version));
    if (!is_whole)
        TRY(db_int(j->ctx, &j->db, "SELECT quick_check = 'ok' FROM pragma_quick_check", &is_whole));
    return is_whole ? OK : fail(j->ctx, STORAGE, "'%s' is damaged; use another backup", j->from);
}

/* A file in a folder that cannot be written to is opened, and then not read. */
static enum status open_and_read(struct job *j, const char *mode)
{
    TRY(open_as_it_is(j->ctx, j->from, j->what->from_key, mode, &j->db));
    enum status s = check_source(j);
    s = s == OK ? check_commits(j, j->from, &j->db) : s;
    if (s != OK)
        db_close_unsettled(&j->db);
    return s;
}

/* Where nothing can be written, nobody else writes either, and the file is read alone. A log would
 * hold newer pages. */
static enum status open_source(struct job *j)
{
    struct stat log;
    TRY(file_check_key(j->ctx, j->from, store_kind(j->ctx, j->what->from), j->what->from_key));
    enum status s = open_and_read(j, j->what->replaces ? "mode=ro" : "mode=rw");
    bool has_log = stat(str_printf(&j->ctx->arena, "%s-wal", j->from).p, &log) == 0 && log.st_size;
    if (!store_disk_failed(j->ctx, s) || has_log)
        return s;
    ctx_clear_failure(j->ctx);
    return open_and_read(j, "immutable=1");
}

/* A copy beside the store: the store stays open for others meanwhile. */
static enum status make_new(struct job *j)
{
    FILE_HOLD(hold);
    if (access(j->to, F_OK) == 0)
        return fail(j->ctx, CONFLICT, "'%s' exists already", j->to);
    enum status held = hold_take(j->ctx, j->from, HOLD_SHARED, &hold);
    if (!store_disk_failed(j->ctx,
                           held)) /* a file that nobody can write to is not replaced meanwhile */
        TRY(held);
    ctx_clear_failure(j->ctx);
    file_remove_part(j->ctx, j->to);
    enum status status = open_source(j);
    return end_job(j, status == OK ? copy_and_prove(j, NULL) : status);
}

enum status store_copy(struct ctx *ctx, const struct store_copy *copy)
{
    struct arena *a = &ctx->arena;
    struct job j = {ctx, copy, str_c(a, copy->from), str_c(a, copy->to)};
    j.to = file_whole(a, j.to).p;
    j.part = file_part(a, j.to).p;
    j.in_place = str_eq(copy->from, copy->to);
    if (store_kind(ctx, copy->from) == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "no database at '%s'", j.from);
    if (!copy->replaces) {
        TRY(make_new(&j));
    } else {
        if (!j.in_place)
            TRY(open_source(&j));
        enum status status = replace_store(&j);
        db_close(&j.db);
        TRY(status);
    }
    show_step(&j, "done", 1, 1);
    return OK;
}

enum status store_schema(struct ctx *ctx, str path, const uint8_t *key, int64_t *version,
                         int64_t *here)
{
    CLEANUP(db_close_unsettled) struct db db = {0};
    struct stat log;
    const char *file = str_c(&ctx->arena, path);
    bool has_log = stat(str_printf(&ctx->arena, "%s-wal", file).p, &log) == 0 && log.st_size;
    enum store_kind kind = store_kind(ctx, path);
    *here = schema_version();
    if (kind == STORE_ABSENT)
        return fail(ctx, NOT_FOUND, "no database at '%s'", file);
    TRY(file_check_key(ctx, file, kind, key));
    TRY(open_as_it_is(ctx, file, key, has_log ? "mode=rw" : "immutable=1", &db));
    return schema_check(ctx, &db, version);
}

/* --- of a store that is open --- */

/* Nothing here opens or closes the file but SQLite: a descriptor that is closed would drop the
 * locks of all its connections. */
enum status copy_open(struct ctx *ctx, const struct store *s, str to, bool is_old)
{
    const struct store_copy copy = {.to = to, .to_key = s->key};
    struct job j = {ctx, &copy, s->path, file_whole(&ctx->arena, str_c(&ctx->arena, to)).p};
    j.part = file_part(&ctx->arena, j.to).p;
    j.is_old = is_old;
    if (access(j.to, F_OK) == 0)
        return fail(ctx, CONFLICT, "'%s' exists already", j.to);
    TRY(open_as_it_is(ctx, s->path, s->key, "mode=rw", &j.db));
    file_remove_part(ctx, j.to);
    return end_job(&j, copy_and_prove(&j, NULL));
}

/* Whether the store is a file; what others are left to do with a tool of their own. */
static enum status check_file(struct ctx *ctx, struct store *s, const char *name,
                              const char *instead)
{
    return store_is_postgres(s) ? fail(ctx, UNSUPPORTED,
                                       "the store in PostgreSQL has no '%s' yet: %s", name, instead)
                                : OK;
}

enum status store_backup(struct ctx *ctx, struct store *s, str to)
{
    TRY(check_file(ctx, s, "backup", "use pg_dump"));
    parts_remove(ctx, str_c(&ctx->arena, to), BACKUP_STEM, 0, clock_ms() - DAY_MS);
    return copy_open(ctx, s, to, false);
}

enum status store_backup_check(struct ctx *ctx, struct store *s, str file)
{
    TRY(check_file(ctx, s, "backup_check", "use pg_restore"));
    const char *path = str_c(&ctx->arena, file);
    enum store_kind kind = store_kind(ctx, file);
    const uint8_t *key = kind == STORE_ENCRYPTED ? s->key : NULL;
    TRY(file_check_key(ctx, path, kind, key));
    return check_closed(ctx, path, key);
}
