/* db.h - one connection: statements prepared at open, bound and read in order, checked once. */
#pragma once

#include <sqlite3.h>

#include "base/ctx.h"

enum sql {
#define SQL(NAME, WHO, TEXT) SQL_##NAME,
#include "store/sqlite/sql.def"
#undef SQL
    SQL_COUNT
};

/* Who uses a statement, and so which connections prepare it. */
enum sql_who { READS = 1, WRITES = 2, BOTH = 3 };

/* Another process (the command line beside the server) may hold the write lock for this long. */
enum { BUSY_MS = 10000 };

struct postings;
struct hold;

struct db {
    sqlite3 *handle;
    sqlite3_stmt *stmts[SQL_COUNT];
    struct postings *postings; /* where the words index puts what it finds */
    const struct hold *hold;   /* of the writer: whose claims it makes; or NULL */
};

/* Opens a connection with its key (STORE_KEY_BYTES, or NULL) and its pragmas, without statements.
 * The failure is in words and db is then closed. */
MUST_USE enum status db_open(struct ctx *ctx, const char *path, const uint8_t *key, struct db *db);
/* The first thing that is done on a connection; SQLite's result. */
int db_set_key(sqlite3 *handle, const uint8_t *key);
MUST_USE enum status db_prepare(struct ctx *ctx, struct db *db, enum sql_who who);
/* NULL handle is fine. */
void db_close(struct db *db);

/* Runs SQL text without parameters: pragmas and schema steps. */
MUST_USE enum status db_exec(struct ctx *ctx, struct db *db, const char *text);
/* The first column of the first row of a text without parameters. */
MUST_USE enum status db_int(struct ctx *ctx, struct db *db, const char *text, int64_t *out);

/* Notes the database's last failure in words; TOO_BUSY when another process holds it. */
enum status db_failed(struct ctx *ctx, struct db *db, int rc);

/* A prepared statement in use. The first failure sticks; sql_end asks for it once. */
struct query {
    struct ctx *ctx;
    struct db *db;
    sqlite3_stmt *stmt;
    int bound, column, rc;
};

struct query sql_begin(struct ctx *ctx, struct db *db, enum sql which);
void sql_leave(struct query *q); /* resets the statement */

#define SQL_RUN(q, ctx, db, which)                                                                 \
    CLEANUP(sql_leave) struct query q = sql_begin((ctx), (db), (which))

/* Bind the next parameter. Text must live until the statement is left. */
void sql_text(struct query *q, str s);
void sql_int(struct query *q, int64_t v);
void sql_real(struct query *q, double v);
void sql_blob(struct query *q, const void *p, size_t n);

/* The next row; false at the end and after a failure. */
bool sql_row(struct query *q);
MUST_USE enum status sql_end(struct query *q);
/* Runs what gives no rows. */
MUST_USE enum status sql_do(struct query *q);

/* Read the next column of the row; text is copied into the arena. */
str sql_get_text(struct query *q);
int64_t sql_get_int(struct query *q);
double sql_get_real(struct query *q);
/* Not copied: it lives until the next row. */
str sql_see_blob(struct query *q);

/* Rows changed by the last statement. */
int64_t db_changes(const struct db *db);

/* A transaction or savepoint of a scope: rolled back when the scope is left before txn_commit. */
struct txn {
    struct ctx *ctx;
    struct db *db;
    enum sql commit, rollback;
    bool is_open;
};

#define TXN(t) CLEANUP(txn_leave) struct txn t = {0}

MUST_USE enum status txn_begin(struct ctx *ctx, struct db *db, struct txn *t);
MUST_USE enum status txn_savepoint(struct ctx *ctx, struct db *db, struct txn *t);
MUST_USE enum status txn_commit(struct txn *t);
void txn_leave(struct txn *t);
