/* lookup.h - names into row numbers: pools, sessions, messages. */
#pragma once

#include "core/days.h"
#include "core/memory.h"
#include "store/sql/db/query.h"

/* All 0 when it does not exist. */
MUST_USE enum status pool_find(struct ctx *ctx, struct db *db, struct pool_ref pool,
                               struct pool_row *out);
/* Declares it, and gives a failure back. */
#define POOL_ROW(row, ctx, db, pool)                                                               \
    struct pool_row row;                                                                           \
    TRY(pool_find((ctx), (db), (pool), &row))
/* On PostgreSQL asks for that row ahead. *out is what it was the last time, for what is asked ahead
 * by its number: if the pool has another one, nobody will ask the same. Of a pool that is met first
 * a reader waits for the row. generation: 0 unless nobody here has written to the pool since. */
MUST_USE enum status pool_guess(struct ctx *ctx, struct db *db, struct pool_ref pool,
                                struct pool_row *out);
/* By when a memory must have expired to be left out; one time for all reads of a transaction. */
int64_t expired_by(const struct db *db);
/* Its number alone; 0 on SQLite. */
MUST_USE enum status pool_ahead(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t *out);
/* On PostgreSQL a change of the words index adds 1 to the generation; one that removes a message
 * adds this. */
#define GENERATION_REMOVAL ((int64_t)1 << 40)
/* Under what number messages of the pool are kept in memory, which no one ever changes; and that
 * there is none in a place, where the next may come. */
static inline int64_t pool_kept_as(const struct pool_row *row)
{
    uint64_t removals = (uint64_t)row->generation / GENERATION_REMOVAL;
    return (int64_t)((uint64_t)row->no + removals * 0x9E3779B97F4A7C15u);
}
static inline int64_t pool_empty_as(const struct pool_row *row)
{
    return (int64_t) ~((uint64_t)row->no + (uint64_t)row->generation * 0x9E3779B97F4A7C15u);
}
/* The pool's number; the pool is made when it does not exist. By the writer. */
MUST_USE enum status pool_make(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t now,
                               int64_t *no);

/* Adds to a count of the pool's day, in the transaction of what is counted; 0 adds nothing. stat is
 * an enum day_stat, with what is added to it. */
MUST_USE enum status days_add(struct ctx *ctx, struct db *db, int64_t pool, int stat, int64_t n);
/* What a pool has more, or (negative) less, of. closed: memories that are true no more. The others
 * are counted by the day alone: memories that came, by type, and those that were erased. */
struct pool_gain {
    int64_t sessions, messages, memories, closed;
    int64_t added[TYPE_COUNT], forgotten, expired;
};
/* Counts it in the pool's row and for today. */
MUST_USE enum status pool_count(struct ctx *ctx, struct db *db, int64_t pool,
                                struct pool_gain gain);

/* A session's number and a message's document in the pool, or 0. */
MUST_USE enum status session_find(struct ctx *ctx, struct db *db, int64_t pool, str id,
                                  int64_t *no);
MUST_USE enum status message_find(struct ctx *ctx, struct db *db, int64_t pool, str id,
                                  doc_id *out);

/* A session, by its number. */
struct session_ref {
    int64_t pool, no;
};

/* The first and the last document that a session can have. */
static inline doc_id session_first(int64_t no)
{
    return doc_of_message(no, 0);
}
static inline doc_id session_last(int64_t no)
{
    return doc_of_message(no + 1, 0) - 1;
}
