/* undo_record.c - erasures and changes of a task, kept as a changeset for a while. */
#include "store/sql/records/undo_record.h"

/*
 * SQLite's session extension (sqlite.org/sessionintro.html) notes each row of the tables below as
 * it was before the first change. So whatever a deletion takes with it (memories, receipts,
 * summaries, bars) is kept bit by bit, without a second list of what deletions do. Indexes, vectors
 * and counts are not recorded: undo.c makes them again from the rows. In PostgreSQL triggers on the
 * same tables do so (store/postgres/schema.c).
 */

/* A larger deletion is possible without undo. */
enum { CHANGES_MAX = 64 << 20 };

static const char *const tables[] = {"memory", "message", "session", "receipt",  "replay", "bar",
                                     "signal", "waiting", "review",  "revision", NULL};

/* Triggers note rows while it is on, and until the transaction ends. */
static enum status note_on_postgres(struct ctx *ctx, struct db *db, str on)
{
    bool any;
    return SQL_ANY(ctx, db, &any, SQL_UNDO_RECORD, on);
}

enum status undo_record_begin(struct ctx *ctx, struct db *db, const struct undo_mark *mark,
                              sqlite3_session **r)
{
    if (!mark)
        return OK;
    if (is_postgres(db))
        return note_on_postgres(ctx, db, S("on"));
    int rc = sqlite3session_create(db->handle, "main", r);
    for (const char *const *table = tables; *table && rc == SQLITE_OK; table++)
        rc = sqlite3session_attach(*r, *table);
    return rc == SQLITE_OK ? OK : db_failed(ctx, db, rc);
}

static enum status check_size(struct ctx *ctx, int64_t n)
{
    if (n <= CHANGES_MAX)
        return OK;
    return fail(ctx, TOO_LARGE,
                "this erases more than can be kept for undoing it (%d MiB); erase it without "
                "undo",
                CHANGES_MAX >> 20);
}

static enum status keep_noted(struct ctx *ctx, struct db *db, int64_t pool,
                              const struct undo_mark *mark)
{
    int64_t n;
    TRY(SQL_NUMBER(ctx, db, &n, SQL_UNDO_ADD_NOTED, pool, mark->id, mark->until));
    TRY(check_size(ctx, n));
    TRY(SQL_DO(ctx, db, SQL_UNDO_NOTED_END));
    return note_on_postgres(ctx, db, S("off"));
}

static enum status keep_changes(struct ctx *ctx, struct db *db, int64_t pool,
                                const struct undo_mark *mark, const void *changes, int n)
{
    TRY(check_size(ctx, n));
    return SQL_DO(ctx, db, SQL_UNDO_ADD, pool, mark->id, mark->until, blob_at(changes, (size_t)n));
}

enum status undo_record_end(struct ctx *ctx, struct db *db, int64_t pool,
                            const struct undo_mark *mark, sqlite3_session *r)
{
    void *changes = NULL;
    int n = 0;
    if (!mark)
        return OK;
    if (is_postgres(db))
        return keep_noted(ctx, db, pool, mark);
    int rc = sqlite3session_changeset(r, &n, &changes);
    enum status s = rc != SQLITE_OK ? db_failed(ctx, db, rc)
                    : n             ? keep_changes(ctx, db, pool, mark, changes, n)
                                    : OK;
    sqlite3_free(changes);
    return s;
}

void undo_record_leave(sqlite3_session **r)
{
    if (*r)
        sqlite3session_delete(*r);
}
