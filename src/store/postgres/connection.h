/* connection.h - one connection to PostgreSQL: opened by its URL, its statements, its failures. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"
#include "store/with_postgres.h"

struct pg_stmt;
struct pg;

/* A URL as libpq takes it, and beside it `schema`, where the tables are: "rememberd" without one.
 * The password is in no message. */
struct pg_address {
    const char *url, *schema; /* the URL without the schema */
};
MUST_USE enum status pg_address_of(struct ctx *ctx, str url, struct pg_address *out);

/* STORE_DISK_FAILED is the detail when the server cannot be reached. n: how many statements there
 * are. */
MUST_USE enum status pg_open(struct ctx *ctx, str url, size_t n, struct pg **out);
void pg_close(struct pg *pg); /* NULL is fine */
bool pg_is_lost(const struct pg *pg);
/* It was, since the server answers nobody. */
bool pg_is_silent(const struct pg *pg);
/* As 150004 for 15.4. */
int pg_version(const struct pg *pg);
/* Whether a pooler is in between: each transaction may be on another connection of the server's. So
 * locks and LISTEN of a session are not possible. */
bool pg_is_pooled(const struct pg *pg);
/* A setting of this connection, whatever is in between; name is static. */
MUST_USE enum status pg_set(struct ctx *ctx, struct pg *pg, const char *name, const char *value);
/* Temporary tables of its transactions, whose rows end with them: a static statement that makes
 * them where they are missing. */
MUST_USE enum status pg_own_tables(struct ctx *ctx, struct pg *pg, const char *text);
/* From now on no statement is waited for longer (clock_mono_us; 0: no limit). One that is late
 * fails with TIMED_OUT, and the connection is lost. */
void pg_limit(struct pg *pg, int64_t until_us);
bool pg_in_transaction(const struct pg *pg);

/* What was sent (NOTIFY) on the channel that the connection listens to. Does not wait. */
void pg_hear(struct pg *pg, void (*hear)(void *own, bool is_mine, const char *text), void *own);

/* Of the last statement: rows changed, the number that it gave its row, and the same of all. */
int64_t pg_changes(const struct pg *pg);
int64_t pg_last_row(const struct pg *pg);
int64_t pg_total_changes(struct pg *pg);

/* Text without parameters: statements without rows; or the first column of the first row. */
MUST_USE enum status pg_exec(struct ctx *ctx, struct pg *pg, const char *text);
MUST_USE enum status pg_int(struct ctx *ctx, struct pg *pg, const char *text, int64_t *out);

/* The same number, sent now and read later in the transaction. */
void pg_note(struct pg *pg, const char *text);
MUST_USE enum status pg_noted(struct ctx *ctx, struct pg *pg, int64_t *out);

/* The first column of at most n rows, as text, a line each. */
MUST_USE enum status pg_lines(struct ctx *ctx, struct pg *pg, const char *text, int n,
                              struct buf *out);

/* A statement by its number, as text with parameters ?1, ?2 …, which is prepared at its first use.
 * Not in use by a caller. streams: its rows are fetched some at a time, within a transaction. */
struct pg_stmt *pg_begin(struct pg *pg, int which, const char *text, bool streams);
void pg_leave(struct pg_stmt *s);

/* The next parameter. A text or bytes must live until the statement is left. */
void pg_bind_text(struct pg_stmt *s, str v);
void pg_bind_int(struct pg_stmt *s, int64_t v);
void pg_bind_real(struct pg_stmt *s, double v);
void pg_bind_bytes(struct pg_stmt *s, const void *p, size_t n); /* NULL: none */
/* Lists, copied. */
void pg_bind_ints(struct pg_stmt *s, const int64_t *v, size_t n);
void pg_bind_reals(struct pg_stmt *s, const double *v, size_t n);
void pg_bind_texts(struct pg_stmt *s, const str *v, size_t n);
void pg_bind_blobs(struct pg_stmt *s, const str *v, size_t n);

/* The next row; false at the end and after a failure. The row lives until the statement is left, or
 * of one that streams until the next row. */
bool pg_row(struct pg_stmt *s);
/* Runs it within a transaction, whose next statement that is waited for fails when this one does.
 * It has no rows, and nobody asks what it changed. */
void pg_later(struct pg_stmt *s);
/* Sends it: who asks the same in this transaction gets its answer. It must change nothing. */
void pg_ahead(struct pg_stmt *s);
bool pg_has_failed(const struct pg_stmt *s);
str pg_get_bytes(struct pg_stmt *s, int column);
int64_t pg_get_int(const struct pg_stmt *s, int column);
double pg_get_real(const struct pg_stmt *s, int column);

/* The connection's last failure in words. */
enum status pg_failed(struct ctx *ctx, struct pg *pg);
/* It was that another row has the same key; or that another connection was in the way, and the same
 * can go well when it is tried again. */
bool pg_is_conflict(const struct pg *pg);
bool pg_is_again(const struct pg *pg);
