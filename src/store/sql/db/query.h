/* query.h - a prepared statement in use: bound and read in order, checked once. */
#pragma once

#include "store/sql/db/db.h"

/* The first failure sticks; sql_end returns it. */
struct query {
    struct ctx *ctx;
    struct db *db;
    union {
        sqlite3_stmt *stmt;
        struct pg_stmt *pg; /* on PostgreSQL */
    };
    int bound, column, rc;
};

/* Bytes that are bound; p NULL: NULL. */
struct blob {
    const void *p;
    size_t n;
};
static inline struct blob blob_at(const void *p, size_t n)
{
    return (struct blob){p, n};
}
static inline struct blob blob_of(str s)
{
    return blob_at(s.n ? s.p : "", s.n);
}

struct query sql_begin(struct ctx *ctx, struct db *db, enum sql which);
void sql_leave(struct query *q); /* resets the statement */

/*
 * SQL_RUN(q, ctx, db, SQL_POOL_ADD, user, space, now) declares q, a statement of this scope, with
 * its first parameters bound: a str as text, a float or double as a real, a blob as bytes, the rest
 * as integers.
 * More can be bound behind them. Text must live until the scope is left.
 */
#define SQL_RUN(q, ctx, db, which, ...)                                                            \
    CLEANUP(sql_leave)                                                                             \
    struct query q = sql_begin((ctx), (db), (which)) __VA_OPT__(; SQL_BIND(&q, __VA_ARGS__))

/* A statement q_ of this expression alone, with its parameters; its value is use, a status. */
#define SQL_ALONE(use, ctx, db, which, ...)                                                        \
    ({                                                                                             \
        SQL_RUN(q_, ctx, db, which __VA_OPT__(, ) __VA_ARGS__);                                    \
        use;                                                                                       \
    })

/* Runs a statement that gives no rows. */
#define SQL_DO(ctx, db, ...) SQL_ALONE(sql_do(&q_), ctx, db, __VA_ARGS__)
/* The same in a transaction, where nobody asks what it changed: on PostgreSQL it may go with the
 * next statement, which then fails in its place. */
#define SQL_LATER(ctx, db, ...) SQL_ALONE(sql_later(&q_), ctx, db, __VA_ARGS__)
/* One answer, as sql_number, sql_word and sql_any give it. */
#define SQL_NUMBER(ctx, db, out, ...) SQL_ALONE(sql_number(&q_, out), ctx, db, __VA_ARGS__)
#define SQL_WORD(ctx, db, out, ...) SQL_ALONE(sql_word(&q_, out), ctx, db, __VA_ARGS__)
#define SQL_ANY(ctx, db, out, ...) SQL_ALONE(sql_any(&q_, out), ctx, db, __VA_ARGS__)
/* The first row and all rows, as SQL_ROW and SQL_ROWS read them. */
#define SQL_FIRST(ctx, db, read, out, ...) SQL_ALONE(SQL_ROW(&q_, read, out), ctx, db, __VA_ARGS__)
#define SQL_LIST(ctx, db, read, out, n, ...)                                                       \
    SQL_ALONE(SQL_ROWS(&q_, read, out, n), ctx, db, __VA_ARGS__)

/* On PostgreSQL asks a statement that only reads before its answer is needed: who runs the same
 * with the same parameters in this transaction has it without a wait of its own. */
#define SQL_AHEAD(ctx, db, which, ...)                                                             \
    do {                                                                                           \
        if (is_postgres(db)) {                                                                     \
            SQL_RUN(q_, ctx, db, which __VA_OPT__(, ) __VA_ARGS__);                                \
            sql_ahead(&q_);                                                                        \
        }                                                                                          \
    } while (0)

/* Binds the next parameters, at most 27. */
#define SQL_BIND(q, ...) SQL_EXPAND(SQL_EACH(SQL_BIND_ONE, q, __VA_ARGS__))
#define SQL_BIND_ONE(q, v)                                                                         \
    _Generic((v), str                                                                              \
             : sql_text, float                                                                     \
             : sql_real, double                                                                    \
             : sql_real, struct blob                                                               \
             : sql_blob, default                                                                   \
             : sql_int)(q, v)
/* C has no loop over macro arguments: SQL_EACH names itself behind parentheses, so that each scan
 * of SQL_EXPAND takes one more argument. */
#define SQL_EACH(ONE, q, v, ...)                                                                   \
    ONE(q, v) __VA_OPT__(; SQL_EACH_NEXT SQL_PARENS(ONE, q, __VA_ARGS__))
#define SQL_EACH_NEXT() SQL_EACH
#define SQL_PARENS ()
#define SQL_EXPAND(...) SQL_EXPAND_9(SQL_EXPAND_9(SQL_EXPAND_9(__VA_ARGS__)))
#define SQL_EXPAND_9(...) SQL_EXPAND_3(SQL_EXPAND_3(SQL_EXPAND_3(__VA_ARGS__)))
#define SQL_EXPAND_3(...) SQL_SCAN(SQL_SCAN(SQL_SCAN(__VA_ARGS__)))
#define SQL_SCAN(...) __VA_ARGS__

void sql_text(struct query *q, str s);
void sql_int(struct query *q, int64_t v);
void sql_real(struct query *q, double v);
void sql_blob(struct query *q, struct blob v);
void sql_list(struct query *q, const int64_t *v, size_t n); /* what carray() reads */
/* Lists that only PostgreSQL takes, as float8[], text[] and bytea[]. */
void sql_reals(struct query *q, const double *v, size_t n);
void sql_texts(struct query *q, const str *v, size_t n);
void sql_blobs(struct query *q, const str *v, size_t n);

/* The next row; false at the end and after a failure. */
bool sql_row(struct query *q);
MUST_USE enum status sql_end(struct query *q);
/* Whether it failed since another row has the same key. */
bool sql_is_conflict(const struct query *q);
MUST_USE enum status sql_do(struct query *q);
MUST_USE enum status sql_later(struct query *q); /* as SQL_LATER */
void sql_ahead(struct query *q);                 /* as SQL_AHEAD, on PostgreSQL */
/* The first column of the first row, or 0 without a row. */
MUST_USE enum status sql_number(struct query *q, int64_t *out);
/* The same of a text: or "". */
MUST_USE enum status sql_word(struct query *q, str *out);
/* Whether there is a row. */
MUST_USE enum status sql_any(struct query *q, bool *out);

/* Read the next column of the row; text is copied into the arena. */
str sql_get_text(struct query *q);
/* The same of a text that may be long: utf8_ends of it, so that the arena never holds all of it. */
str sql_get_text_ends(struct query *q, size_t each);
int64_t sql_get_int(struct query *q);
double sql_get_real(struct query *q);
/* Not copied: it lives until the next row. */
str sql_see_blob(struct query *q);
/* Reads the next columns into these, by their types; at most 27. */
#define SQL_GET(q, ...)                                                                            \
    do {                                                                                           \
        SQL_EXPAND(SQL_EACH(SQL_GET_ONE, q, __VA_ARGS__));                                         \
    } while (0)
#define SQL_GET_ONE(q, v)                                                                          \
    (v) = _Generic((v), str : sql_get_text, double : sql_get_real, default : sql_get_int)(q)
/* A function NAME that reads the next columns into a struct *out, of which these are members. */
#define SQL_READER(NAME, TYPE, ...)                                                                \
    static void NAME(struct query *q, TYPE *out)                                                   \
    {                                                                                              \
        *out = (TYPE){0};                                                                          \
        SQL_GET(q, __VA_ARGS__);                                                                   \
    }
/* The next row into these; without one they stay as they are. An enum status. */
#define SQL_GET_ROW(q, ...)                                                                        \
    ({                                                                                             \
        if (sql_row(q))                                                                            \
            SQL_GET(q, __VA_ARGS__);                                                               \
        sql_end(q);                                                                                \
    })
/* The next column, as a whole row of SQL_ROWS. */
static inline void sql_read_int(struct query *q, int64_t *out)
{
    *out = sql_get_int(q);
}
static inline void sql_read_text(struct query *q, str *out)
{
    *out = sql_get_text(q);
}
/* The next row, read by read(q, out); without one *out stays as it is. An enum status. */
#define SQL_ROW(q, read, out)                                                                      \
    ({                                                                                             \
        if (sql_row(q))                                                                            \
            read((q), (out));                                                                      \
        sql_end(q);                                                                                \
    })
/* The remaining rows as an array in the arena, each read by read(q, &row); an enum status. */
#define SQL_ROWS(q, read, out, n)                                                                  \
    ({                                                                                             \
        __typeof__(*(out)) v_ = NULL;                                                              \
        size_t n_ = 0, cap_ = 0;                                                                   \
        while (sql_row(q))                                                                         \
            read((q), &ARENA_ADD(&(q)->ctx->arena, v_, n_, cap_));                                 \
        enum status s_ = sql_end(q);                                                               \
        if (s_ == OK) {                                                                            \
            *(out) = v_;                                                                           \
            *(n) = n_;                                                                             \
        }                                                                                          \
        s_;                                                                                        \
    })

/* Declares v and n, all rows of a statement as SQL_LIST gives them, and gives a failure back. */
#define SQL_ALL(TYPE, v, n, ctx, db, read, ...)                                                    \
    TYPE *v;                                                                                       \
    size_t n;                                                                                      \
    TRY(SQL_LIST((ctx), (db), read, &v, &n, __VA_ARGS__))

/* A list's limit as SQL takes it. */
static inline int64_t sql_limit(size_t n)
{
    return n < INT32_MAX ? (int64_t)n : INT32_MAX;
}

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
