/* log_sync.c - a connection that does nothing but sync the write-ahead log. */
#include "store/sql/state/log_sync.h"

#include <assert.h>

/*
 * With synchronous=FULL SQLite syncs the log inside the commit, and readers see the commit only
 * afterwards. With NORMAL readers see the commit at once, and the log is synced here. A connection
 * of its own has a file handle of its own, which no other thread uses. A checkpoint syncs the log
 * and the database itself, so what has left the log is durable.
 */
enum status log_sync_open(struct ctx *ctx, const struct sql_store *s, struct log_sync *out)
{
    int64_t version;
    TRY(db_open(ctx, s->path, s->key, &out->db));
    enum status status = db_int(ctx, &out->db, "PRAGMA schema_version", &version); /* opens it */
    if (status == OK)
        sqlite3_file_control(out->db.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &out->log);
    if (status == OK && (!out->log || !out->log->pMethods))
        status = fail(ctx, STORAGE, "the database has no write-ahead log");
    if (status != OK)
        log_sync_close(out);
    return status;
}

enum status log_sync_run(struct ctx *ctx, struct log_sync *l)
{
    assert(l->log && l->log->pMethods);
    int rc = l->log->pMethods->xSync(l->log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? OK : fail(ctx, STORAGE, "the log could not be synced (%d)", rc);
}

void log_sync_close(struct log_sync *l)
{
    db_close(&l->db);
    *l = (struct log_sync){0};
}
