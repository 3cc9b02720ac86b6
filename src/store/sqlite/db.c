/* db.c - a connection to SQLite and the sticky statements on it. */
#include "store/sqlite/db.h"

#include <sodium.h>

#include "store/store.h"

static const struct {
    enum sql_who who;
    const char *text;
} statements[] = {
#define SQL(NAME, WHO, TEXT) {WHO, TEXT},
#include "store/sqlite/sql.def"
#undef SQL
};

static const char pragmas[] = "PRAGMA journal_mode=WAL;"
                              "PRAGMA synchronous=FULL;"
                              "PRAGMA foreign_keys=ON;"
                              "PRAGMA temp_store=2;"
                              "PRAGMA secure_delete=ON;"
                              "PRAGMA trusted_schema=OFF;"
                              "PRAGMA cell_size_check=ON;"
                              "PRAGMA cache_size=-8000;"
                              "PRAGMA wal_autocheckpoint=4000;"
                              "PRAGMA journal_size_limit=67108864;";

enum status db_failed(struct ctx *ctx, struct db *db, int rc)
{
    if (rc == SQLITE_BUSY)
        return fail(ctx, TOO_BUSY, "another process is writing to the store");
    return fail(ctx, STORAGE, "the store failed: %s (%d)",
                db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc),
                db->handle ? sqlite3_extended_errcode(db->handle) : rc);
}

/*
 * Named in full, so that another build's defaults do not decide what a file is: AEGIS-256, with the
 * 32 bytes as they are. Behind "raw:" no key is derived, which would take 30 ms for each
 * connection.
 */
int db_set_key(sqlite3 *handle, const uint8_t *key)
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

/* The change of a new file to a log is refused at once while another process makes the same change:
 * SQLite waits for locks on data only. */
static int set_up(sqlite3 *handle)
{
    enum { AGAIN_MS = 5 };
    for (int waited = 0;; waited += AGAIN_MS) {
        int rc = sqlite3_exec(handle, pragmas, NULL, NULL, NULL);
        if (rc != SQLITE_BUSY || waited >= BUSY_MS)
            return rc;
        sqlite3_sleep(AGAIN_MS);
    }
}

enum status db_open(struct ctx *ctx, const char *path, const uint8_t *key, struct db *db)
{
    *db = (struct db){0};
    int rc = sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = db_set_key(db->handle, key);
    /* What is bound decides no plan, or each statement with a bound LIMIT would be prepared again
     * whenever it is used. */
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(db->handle, BUSY_MS);
        rc = sqlite3_db_readonly(db->handle, "main") == 1 ? SQLITE_READONLY : SQLITE_OK;
    }
    if (rc == SQLITE_OK)
        rc = set_up(db->handle);
    if (rc == SQLITE_OK)
        return OK;
    enum status status =
        rc == SQLITE_NOTADB     ? fail(ctx, STORAGE, "'%s' is no rememberd store", path)
        : rc == SQLITE_READONLY ? fail(ctx, STORAGE, "'%s' cannot be written to", path)
                                : fail(ctx, STORAGE, "'%s' cannot be opened: %s", path,
                                       db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
    db_close(db);
    return status;
}

enum status db_prepare(struct ctx *ctx, struct db *db, enum sql_who who)
{
    for (int i = 0; i < SQL_COUNT; i++) {
        if (!(statements[i].who & who))
            continue;
        int rc = sqlite3_prepare_v3(db->handle, statements[i].text, -1, SQLITE_PREPARE_PERSISTENT,
                                    &db->stmts[i], NULL);
        if (rc != SQLITE_OK)
            return db_failed(ctx, db, rc);
    }
    return OK;
}

void db_close(struct db *db)
{
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(db->stmts[i]);
    sqlite3_close(db->handle);
    *db = (struct db){0};
}

enum status db_exec(struct ctx *ctx, struct db *db, const char *text)
{
    int rc = sqlite3_exec(db->handle, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK : db_failed(ctx, db, rc);
}

enum status db_int(struct ctx *ctx, struct db *db, const char *text, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->handle, text, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? OK : db_failed(ctx, db, rc);
}

struct query sql_begin(struct ctx *ctx, struct db *db, enum sql which)
{
    return (struct query){.ctx = ctx, .db = db, .stmt = db->stmts[which]};
}

void sql_leave(struct query *q)
{
    sqlite3_reset(q->stmt);
}

static void note(struct query *q, int rc)
{
    if (q->rc == SQLITE_OK)
        q->rc = rc;
}

/* An empty text is bound as '' and never as NULL. */
void sql_text(struct query *q, str s)
{
    note(q,
         sqlite3_bind_text64(q->stmt, ++q->bound, s.p ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8));
}

void sql_int(struct query *q, int64_t v)
{
    note(q, sqlite3_bind_int64(q->stmt, ++q->bound, v));
}

void sql_real(struct query *q, double v)
{
    note(q, sqlite3_bind_double(q->stmt, ++q->bound, v));
}

void sql_blob(struct query *q, const void *p, size_t n)
{
    note(q, sqlite3_bind_blob64(q->stmt, ++q->bound, p, n, SQLITE_STATIC));
}

bool sql_row(struct query *q)
{
    if (q->rc != SQLITE_OK)
        return false;
    q->column = 0;
    int rc = sqlite3_step(q->stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        q->rc = rc;
    return rc == SQLITE_ROW;
}

enum status sql_end(struct query *q)
{
    return q->rc == SQLITE_OK ? OK : db_failed(q->ctx, q->db, q->rc);
}

enum status sql_do(struct query *q)
{
    while (sql_row(q))
        continue;
    return sql_end(q);
}

str sql_get_text(struct query *q)
{
    const char *p = (const char *)sqlite3_column_text(q->stmt, q->column);
    return str_dup(&q->ctx->arena, (str){p, (size_t)sqlite3_column_bytes(q->stmt, q->column++)});
}

int64_t sql_get_int(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++);
}

double sql_get_real(struct query *q)
{
    return sqlite3_column_double(q->stmt, q->column++);
}

str sql_see_blob(struct query *q)
{
    const char *p = sqlite3_column_blob(q->stmt, q->column);
    return (str){p, (size_t)sqlite3_column_bytes(q->stmt, q->column++)};
}

int64_t db_changes(const struct db *db)
{
    return sqlite3_changes64(db->handle);
}

static enum status run(struct ctx *ctx, struct db *db, enum sql which)
{
    SQL_RUN(q, ctx, db, which);
    return sql_do(&q);
}

enum status txn_begin(struct ctx *ctx, struct db *db, struct txn *t)
{
    *t = (struct txn){ctx, db, SQL_COMMIT, SQL_ROLLBACK, false};
    TRY(run(ctx, db, SQL_BEGIN));
    t->is_open = true;
    return OK;
}

enum status txn_savepoint(struct ctx *ctx, struct db *db, struct txn *t)
{
    *t = (struct txn){ctx, db, SQL_SAVEPOINT_RELEASE, SQL_SAVEPOINT_UNDO, false};
    TRY(run(ctx, db, SQL_SAVEPOINT));
    t->is_open = true;
    return OK;
}

enum status txn_commit(struct txn *t)
{
    TRY(run(t->ctx, t->db, t->commit));
    t->is_open = false;
    return OK;
}

/* A full disk may have ended the transaction already; then there is nothing to undo. */
void txn_leave(struct txn *t)
{
    struct ctx quiet = {0};
    if (!t->is_open || sqlite3_get_autocommit(t->db->handle))
        return;
    enum status undone = run(&quiet, t->db, t->rollback);
    if (undone == OK && t->rollback == SQL_SAVEPOINT_UNDO)
        undone = run(&quiet, t->db, SQL_SAVEPOINT_RELEASE);
    (void)undone;
    ctx_free(&quiet);
}
