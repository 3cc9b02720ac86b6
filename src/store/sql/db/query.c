/* query.c - binding, stepping and reading a prepared statement; transactions and savepoints. */
#include "store/sql/db/query.h"

#include "base/utf8.h"

/* Bound and read from left to right, in the order of sql.def. Behind a failure binding and stepping
 * go on without effect. */

/* The whole store is read some rows at a time. */
static struct pg_stmt *begin_on_postgres(struct db *db, enum sql which)
{
    bool streams = which == SQL_EACH_MESSAGE || which == SQL_EACH_MEMORY ||
                   which == SQL_POSTING_ALL ||
                   (which >= SQL_MOVE_READ_pool && which < SQL_MOVE_PUT_pool);
    return pg_begin(db->pg, which, db_postgres_text(which), streams);
}

struct query sql_begin(struct ctx *ctx, struct db *db, enum sql which)
{
    if (is_postgres(db))
        return (struct query){.ctx = ctx, .db = db, .pg = begin_on_postgres(db, which)};
    int rc = db_prepare(db, which);
    sqlite3_stmt *stmt = db->stmts[which];
    assert(!stmt || !sqlite3_stmt_busy(stmt)); /* not in use by a caller */
    return (struct query){.ctx = ctx, .db = db, .stmt = stmt, .rc = rc};
}

void sql_leave(struct query *q)
{
    if (is_postgres(q->db))
        pg_leave(q->pg);
    else
        sqlite3_reset(q->stmt);
}

/* The first failure is the cause of those behind it. Binding does not stop the caller; the failure
 * shows in sql_row. */
static void note_result(struct query *q, int rc)
{
    if (q->rc == SQLITE_OK)
        q->rc = rc;
}

/* STATIC: SQLite keeps the pointer, so the bytes must live until the statement is reset. An empty
 * text has no address; it is bound as '' and not as NULL, which the tables refuse. */
#define BIND(NAME, TYPE, ON_POSTGRES, ON_SQLITE, ...)                                              \
    void NAME(struct query *q, TYPE v)                                                             \
    {                                                                                              \
        if (is_postgres(q->db))                                                                    \
            ON_POSTGRES;                                                                           \
        else                                                                                       \
            note_result(q, ON_SQLITE(q->stmt, ++q->bound, __VA_ARGS__));                           \
    }
BIND(sql_text, str, pg_bind_text(q->pg, v), sqlite3_bind_text64, v.p ? v.p : "", v.n, SQLITE_STATIC,
     SQLITE_UTF8)
BIND(sql_int, int64_t, pg_bind_int(q->pg, v), sqlite3_bind_int64, v)
BIND(sql_real, double, pg_bind_real(q->pg, v), sqlite3_bind_double, v)
BIND(sql_blob, struct blob, pg_bind_bytes(q->pg, v.p, v.n), sqlite3_bind_blob64, v.p, v.n,
     SQLITE_STATIC)

void sql_list(struct query *q, const int64_t *v, size_t n)
{
    if (is_postgres(q->db)) {
        pg_bind_ints(q->pg, v, n);
        return;
    }
    assert(n <= INT32_MAX);
    note_result(q, sqlite3_carray_bind(q->stmt, ++q->bound, (void *)v, (int)n, SQLITE_CARRAY_INT64,
                                       SQLITE_STATIC));
}

#define BIND_ON_POSTGRES(NAME, BIND, TYPE)                                                         \
    void NAME(struct query *q, const TYPE *v, size_t n)                                            \
    {                                                                                              \
        assert(is_postgres(q->db));                                                                \
        if (is_postgres(q->db))                                                                    \
            BIND(q->pg, v, n);                                                                     \
    }
BIND_ON_POSTGRES(sql_reals, pg_bind_reals, double)
BIND_ON_POSTGRES(sql_texts, pg_bind_texts, str)
BIND_ON_POSTGRES(sql_blobs, pg_bind_blobs, str)

/* A forgotten parameter would be NULL and match no row, so the count is checked. */
bool sql_row(struct query *q)
{
    if (q->rc != SQLITE_OK)
        return false;
    q->column = 0;
    if (is_postgres(q->db)) {
        bool is_row = pg_row(q->pg);
        if (pg_has_failed(q->pg))
            q->rc = SQLITE_ERROR;
        return is_row;
    }
    assert(q->bound == sqlite3_bind_parameter_count(q->stmt));
    int rc = sqlite3_step(q->stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        q->rc = rc;
    return rc == SQLITE_ROW;
}

enum status sql_end(struct query *q)
{
    return q->rc == SQLITE_OK ? OK : db_failed(q->ctx, q->db, q->rc);
}

bool sql_is_conflict(const struct query *q)
{
    return is_postgres(q->db) ? q->rc != SQLITE_OK && pg_is_conflict(q->db->pg)
                              : q->rc == SQLITE_CONSTRAINT;
}

enum status sql_do(struct query *q)
{
    while (sql_row(q))
        continue;
    return sql_end(q);
}

enum status sql_later(struct query *q)
{
    if (!is_postgres(q->db))
        return sql_do(q);
    pg_later(q->pg);
    return OK;
}

void sql_ahead(struct query *q)
{
    assert(is_postgres(q->db));
    if (is_postgres(q->db))
        pg_ahead(q->pg);
}

#define ANSWER(NAME, TYPE, answer)                                                                 \
    enum status NAME(struct query *q, TYPE *out)                                                   \
    {                                                                                              \
        *out = (answer);                                                                           \
        return sql_end(q);                                                                         \
    }
ANSWER(sql_number, int64_t, sql_row(q) ? sql_get_int(q) : 0)
ANSWER(sql_word, str, sql_row(q) ? sql_get_text(q) : S(""))
ANSWER(sql_any, bool, sql_row(q))

static str see(struct query *q, bool is_text)
{
    if (is_postgres(q->db))
        return pg_get_bytes(q->pg, q->column++);
    const void *p =
        is_text ? sqlite3_column_text(q->stmt, q->column) : sqlite3_column_blob(q->stmt, q->column);
    return (str){p, (size_t)sqlite3_column_bytes(q->stmt, q->column++)};
}

str sql_get_text(struct query *q)
{
    str text = see(q, true);
    return text.n ? str_dup(&q->ctx->arena, text) : S("");
}

str sql_get_text_ends(struct query *q, size_t each)
{
    str all = see(q, true);
    return all.n > 2 * each ? utf8_ends(&q->ctx->arena, all, each) : str_dup(&q->ctx->arena, all);
}

#define GET(NAME, TYPE, ON_POSTGRES, ON_SQLITE)                                                    \
    TYPE NAME(struct query *q)                                                                     \
    {                                                                                              \
        return is_postgres(q->db) ? ON_POSTGRES(q->pg, q->column++)                                \
                                  : ON_SQLITE(q->stmt, q->column++);                               \
    }
GET(sql_get_int, int64_t, pg_get_int, sqlite3_column_int64)
GET(sql_get_real, double, pg_get_real, sqlite3_column_double)

/* Vectors are read by the thousand. */
str sql_see_blob(struct query *q)
{
    return see(q, false);
}

/* --- transactions --- */

enum status txn_begin(struct ctx *ctx, struct db *db, struct txn *t)
{
    assert(!db_in_transaction(db));
    TRY(SQL_DO(ctx, db, SQL_BEGIN));
    *t = (struct txn){ctx, db, SQL_COMMIT, SQL_ROLLBACK, true};
    return OK;
}

/* Undone without ending the transaction around it. */
enum status txn_savepoint(struct ctx *ctx, struct db *db, struct txn *t)
{
    assert(db_in_transaction(db));
    TRY(SQL_DO(ctx, db, SQL_SAVEPOINT));
    *t = (struct txn){ctx, db, SQL_SAVEPOINT_RELEASE, SQL_SAVEPOINT_UNDO, true};
    return OK;
}

enum status txn_commit(struct txn *t)
{
    assert(t->is_open);
    TRY(SQL_DO(t->ctx, t->db, t->commit));
    t->is_open = false;
    return OK;
}

/* A full disk may have ended the transaction: then there is nothing to roll back. The failure that
 * led here is already noted, so that of a rollback is dropped. */
void txn_leave(struct txn *t)
{
    if (!t->is_open || !db_in_transaction(t->db))
        return;
    CLEANUP(ctx_free) struct ctx quiet = ctx_detached(t->ctx);
    if (soft(&quiet, SQL_DO(&quiet, t->db, t->rollback)) && t->rollback == SQL_SAVEPOINT_UNDO)
        soft(&quiet, SQL_DO(&quiet, t->db, SQL_SAVEPOINT_RELEASE));
}
