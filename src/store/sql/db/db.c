/* db.c - a connection to SQLite and the sticky statements on it. */
#include "store/sql/db/db.h"

#include <sodium.h>

#include "store/file.h"
#include "store/sql/db/file.h"
#include "store/sql/db/functions.h"
#include "store/sql/db/sql_parts.h"

static const char *const texts[] = {
#define BY(sqlite, postgres) sqlite
#define SQL(NAME, TEXT) TEXT,
#include "store/sql/db/sql.def"
#undef SQL
#undef BY
};

#ifdef WITH_POSTGRES
static const char *const postgres_texts[] = {
#define BY(sqlite, postgres) postgres
#define SQL(NAME, TEXT) TEXT,
#include "store/sql/db/sql.def"
#undef SQL
#undef BY
};

const char *db_postgres_text(enum sql which)
{
    return postgres_texts[which];
}

enum status db_connect(struct ctx *ctx, const char *url, struct db *db)
{
    *db = (struct db){0};
    return pg_open(ctx, str_of(url), SQL_COUNT, &db->pg);
}
#endif

/* FULL: a commit is durable when it returns. secure_delete: erased rows are overwritten.
 * temp_store=2: temporary tables stay in memory, where nothing is written in plain text.
 * cache_size: 8,000 KiB for each connection. wal_autocheckpoint=0: commits.c makes every
 * checkpoint. journal_size_limit: a log that a long read made larger is cut to 64 MiB.
 * cell_size_check hardens the reading of a manipulated file (sqlite.org/security.html). */
static const char pragmas[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
    "PRAGMA temp_store=2; PRAGMA secure_delete=ON; PRAGMA cell_size_check=ON;"
    "PRAGMA cache_size=-8000; PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;";

/* What to do when pages do not fit together. */
static const char *advice_for(int rc)
{
    bool is_broken = (rc & 0xFF) == SQLITE_CORRUPT || (rc & 0xFF) == SQLITE_NOTADB;
    return is_broken ? "; the database or its log (-wal) is damaged, or the log belongs to another "
                       "database: put the right files back, or restore a backup"
                     : "";
}

/* Of a full disk, of one that cannot be written to or fails, and of all else; path: at opening. */
static enum status failed_at(struct ctx *ctx, struct db *db, int rc, const char *path)
{
    static const int disk[] = {SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN};
    const char *why = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc);
    int code = db->handle ? sqlite3_extended_errcode(db->handle) : rc;
    int kind = SOME(i, sizeof disk / sizeof *disk, (rc & 0xFF) == disk[i]) ? STORE_DISK_FAILED : 0;
    if ((rc & 0xFF) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE) /* the -shm cannot grow */
        return fail_as(ctx, STORAGE, STORAGE_FULL, "the database's disk is full");
    return path ? fail_as(ctx, STORAGE, kind, "'%s' cannot be opened: %s%s", path, why,
                          advice_for(rc))
                : fail_as(ctx, STORAGE, kind, "the database failed: %s (%d)%s", why, code,
                          advice_for(rc));
}

enum status db_failed(struct ctx *ctx, struct db *db, int rc)
{
    if (is_postgres(db))
        return pg_failed(ctx, db->pg);
    if (rc == SQLITE_BUSY)
        return fail(ctx, TOO_BUSY, "another process is writing to the database");
    return failed_at(ctx, db, rc, NULL);
}

/* The cipher is named in full, so that a build with other defaults reads the same files: AEGIS-256
 * with our 32 bytes. "raw:" skips key derivation, which would take 30 ms per connection. */
static int set_key(sqlite3 *handle, const uint8_t *key)
{
    enum { AEGIS_256 = 4 };
    static const char raw[] = {'r', 'a', 'w', ':'};
    char text[sizeof raw + STORE_KEY_BYTES];
    if (!key)
        return SQLITE_OK;
    int cipher = sqlite3mc_cipher_index("aegis");
    if (cipher <= 0 || sqlite3mc_config(handle, "cipher", cipher) != cipher ||
        sqlite3mc_config_cipher(handle, "aegis", "algorithm", AEGIS_256) != AEGIS_256)
        return SQLITE_ERROR;
    memcpy(text, raw, sizeof raw);
    memcpy(text + sizeof raw, key, STORE_KEY_BYTES);
    int rc = sqlite3_key(handle, text, sizeof text);
    sodium_memzero(text, sizeof text);
    return rc;
}

/* Defensive, without views and without trust in the file's schema: what a manipulated file could
 * use, and we do not. Texts of statements are short, in a file's schema as well: a long expression
 * is a deep tree, on which SQLite recurses. QPSG: bound values do not influence query plans.
 * Without it SQLite prepares a statement with a bound LIMIT again at every use. */
static int configure(sqlite3 *handle)
{
    static const struct {
        int what, is_on;
    } configs[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_QPSG, 1},
    };
    enum { TEXT_MAX = 16 << 10 };
    int rc = SQLITE_OK;
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof configs / sizeof *configs; i++)
        rc = sqlite3_db_config(handle, configs[i].what, configs[i].is_on, NULL);
    return rc;
}

/* SQLite's own naps grow to 100 ms, and a process that writes all the time leaves few gaps. */
static int nap(void *naps, int had)
{
    if (had >= (intptr_t)naps)
        return 0;
    sqlite3_sleep(BUSY_NAP_MS);
    return 1;
}

int db_wait_for_locks(sqlite3 *handle, int ms)
{
    return sqlite3_busy_handler(handle, nap, (void *)(intptr_t)(ms / BUSY_NAP_MS));
}

int db_open_handle(const char *name, int flags, const uint8_t *key, sqlite3 **out)
{
    int rc = sqlite3_open_v2(name, out, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = set_key(*out, key);
    if (rc == SQLITE_OK)
        rc = configure(*out);
    return rc == SQLITE_OK ? db_wait_for_locks(*out, BUSY_MS) : rc;
}

/* SQLite waits for locks on data, but fails at once when two processes switch a new file to a log
 * at the same time. So we wait here. */
static int set_up(sqlite3 *handle, const char *with)
{
    for (int waited = 0;; waited += BUSY_NAP_MS) {
        int rc = sqlite3_exec(handle, with, NULL, NULL, NULL);
        if (rc != SQLITE_BUSY || waited >= BUSY_MS)
            return rc;
        sqlite3_sleep(BUSY_NAP_MS);
    }
}

/* A name is a path, or the URI of one. */
static enum status open_as(struct ctx *ctx, const char *path, const char *name, int flags,
                           const uint8_t *key, const char *with, struct db *db)
{
    *db = (struct db){0};
    int rc = db_open_handle(name, flags, key, &db->handle);
    if (rc == SQLITE_OK && flags & SQLITE_OPEN_READWRITE &&
        sqlite3_db_readonly(db->handle, "main") == 1)
        rc = SQLITE_READONLY;
    if (rc == SQLITE_OK)
        rc = set_up(db->handle, with);
    if (rc == SQLITE_OK)
        rc = functions_add(db);
    if (rc == SQLITE_OK)
        return OK;
    enum status status = rc == SQLITE_READONLY ? fail_as(ctx, STORAGE, STORE_DISK_FAILED,
                                                         "'%s' cannot be written to", path)
                                               : failed_at(ctx, db, rc, path);
    db_close_unsettled(db);
    return status;
}

enum status db_open(struct ctx *ctx, const char *path, const uint8_t *key, struct db *db)
{
    return open_as(ctx, path, path, SQLITE_OPEN_READWRITE, key, pragmas, db);
}

/* immutable: SQLite reads this file alone, takes no lock and makes nothing beside it. */
enum status db_open_to_read(struct ctx *ctx, const char *path, const uint8_t *key, struct db *db)
{
    str uri = file_uri(&ctx->arena, path, "immutable=1");
    return open_as(ctx, path, uri.p, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, key,
                   "PRAGMA temp_store=2; PRAGMA cell_size_check=ON; PRAGMA cache_size=-1000;", db);
}

/* PERSISTENT keeps these statements out of the small memory that SQLite has for short-lived
 * ones. */
int db_prepare(struct db *db, enum sql which)
{
    return db->stmts[which]
               ? SQLITE_OK
               : sqlite3_prepare_v3(db->handle, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    &db->stmts[which], NULL);
}

/* A statement that is not finalized would keep the connection open. */
void db_close(struct db *db)
{
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(db->stmts[i]);
    sqlite3_close(db->handle);
    functions_end(db);
    if (is_postgres(db))
        pg_close(db->pg);
    *db = (struct db){0};
}

void db_close_unsettled(struct db *db)
{
    if (db->handle)
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    db_close(db);
}

enum status db_exec(struct ctx *ctx, struct db *db, const char *text)
{
    if (is_postgres(db))
        return pg_exec(ctx, db->pg, text);
    int rc = sqlite3_exec(db->handle, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK : db_failed(ctx, db, rc);
}

enum status db_int(struct ctx *ctx, struct db *db, const char *text, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    if (is_postgres(db))
        return pg_int(ctx, db->pg, text, out);
    int rc = sqlite3_prepare_v2(db->handle, text, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? OK : db_failed(ctx, db, rc);
}
