/* db.h - one connection to SQLite: opened with its key, its statements prepared, its failures. */
#pragma once

#include <sqlite3.h>

#include "base/ctx.h"
#include "core/memory.h"
#include "store/postgres/connection.h"

/* The names alone; db.c reads the texts, in both dialects. */
enum sql {
#define SQL(NAME, TEXT) SQL_##NAME,
#include "store/sql/db/sql.def"
#undef SQL
    SQL_COUNT
};

/* How long a connection waits while another process (the command line beside the server) writes. */
enum { BUSY_MS = 10000, BUSY_NAP_MS = 2 };

struct postings;
struct erasing;
struct hold;
struct index_changes;
struct word_lists;
struct notes;

struct db {
    sqlite3 *handle; /* NULL: it is a connection to PostgreSQL */
    struct pg *pg;
    sqlite3_stmt *stmts[SQL_COUNT]; /* NULL: not prepared yet */
    struct postings *postings;      /* filled by take(), the SQL function of a words search */
    const struct hold *hold;        /* of the writer: marks the claims it makes; or NULL */
    struct index_changes *changes;  /* of the writer: applied at the end of a group; or NULL */
    struct word_lists *lists;       /* of the store: what the words index has answered; or NULL */
    uint64_t words_before;          /* of the writer: the view before it changed the words index */
    struct erasing *erasing;        /* of the writer: notes what is erased; or NULL */
    struct notes *notes;            /* of the writer: told after the commit; or NULL */
    struct seen *seen;              /* of a reader whose transaction serves many reads; or NULL */
};

/* Whether it is PostgreSQL. A build without it has no such branch. */
static inline bool is_postgres(const struct db *db)
{
#ifdef WITH_POSTGRES
    return db->pg != NULL;
#else
    (void)db;
    return false;
#endif
}

/* A pool's names, copied. */
static inline struct pool_ref pool_copy(struct arena *a, struct pool_ref pool)
{
    return (struct pool_ref){str_dup(a, pool.user), str_dup(a, pool.space)};
}

/* A pool's row; no is 0 when it does not exist. */
struct pool_row {
    int64_t no, messages, memories;
    int64_t generation; /* of the words index, on PostgreSQL; else 0 */
};

/* What does not change within a transaction that only reads, and each read asks for. */
struct seen {
    struct pool_ref pool; /* of the row; its user is "" at first */
    struct pool_row row;
    uint64_t words; /* 0: not yet */
    int64_t now;    /* what has expired is the same for all; 0: not yet */
};

/* Opens a connection with its key (STORE_KEY_BYTES, or NULL), its pragmas and our SQL functions. On
 * failure db is closed. */
MUST_USE enum status db_open(struct ctx *ctx, const char *path, const uint8_t *key, struct db *db);
/* The same of a file that cannot be written to and that nobody else changes: it is only read. */
MUST_USE enum status db_open_to_read(struct ctx *ctx, const char *path, const uint8_t *key,
                                     struct db *db);
/* A connection of one thread, on which nothing is open that a manipulated file could use. It waits
 * BUSY_MS for others, as who closes a database keeps the next one out; or ms. SQLite's result. */
int db_open_handle(const char *name, int flags, const uint8_t *key, sqlite3 **out);
int db_wait_for_locks(sqlite3 *handle, int ms);
/* The text of a statement as PostgreSQL takes it. */
const char *db_postgres_text(enum sql which);
/* A connection to PostgreSQL, by its URL. */
MUST_USE enum status db_connect(struct ctx *ctx, const char *url, struct db *db);
/* Before each use of a statement of SQLite; it is prepared at the first one. SQLite's result. */
int db_prepare(struct db *db, enum sql which);
/* Accepts a connection that was never opened, or was closed. */
void db_close(struct db *db);
/* The same, and the log stays as it is: closing the last connection would bring it into the
 * database, though it may be damaged or of another one. */
void db_close_unsettled(struct db *db);

/* Runs SQL text without parameters: pragmas and schema steps. */
MUST_USE enum status db_exec(struct ctx *ctx, struct db *db, const char *text);
/* The first column of the first row of a text without parameters. */
MUST_USE enum status db_int(struct ctx *ctx, struct db *db, const char *text, int64_t *out);

/* Notes the database's last failure in words; TOO_BUSY while another process writes. A failure of
 * the disk has STORE_DISK_FAILED as its detail. */
enum status db_failed(struct ctx *ctx, struct db *db, int rc);

/* Rows changed by the last statement. */
static inline int64_t db_changes(const struct db *db)
{
    return is_postgres(db) ? pg_changes(db->pg) : sqlite3_changes64(db->handle);
}

/* The same of all statements since the connection was opened. */
static inline int64_t db_total_changes(const struct db *db)
{
    return is_postgres(db) ? pg_total_changes(db->pg) : sqlite3_total_changes64(db->handle);
}

/* The number that the last INSERT gave its row. */
static inline int64_t db_last_row(const struct db *db)
{
    return is_postgres(db) ? pg_last_row(db->pg) : sqlite3_last_insert_rowid(db->handle);
}

/* True inside a transaction. SQLite ends one itself when, say, the disk is full. */
static inline bool db_in_transaction(const struct db *db)
{
    return is_postgres(db) ? pg_in_transaction(db->pg) : !sqlite3_get_autocommit(db->handle);
}
