/* erasure.h - rows about what was erased: keyed hashes, written by who erases, asked by copies. */
#pragma once

#include "core/erasure_hash.h"
#include "core/memory_ops.h"
#include "store/erasures.h"
#include "store/sql/db/query.h"

/* The key is of one database and its backups: without it a hash tells nothing, even by guessing. */
/* makes: a missing one is made. */
MUST_USE enum status erasure_key_find(struct ctx *ctx, struct db *db, bool makes,
                                      struct erasure_key *out);
MUST_USE enum status erasure_key_put(struct ctx *ctx, struct db *db, const struct erasure_key *key);

/* Whose a row is: the hashes of the user and of the pool, as its bytes; "" without a user. */
str erasure_owner(struct arena *a, const struct erasure_key *key, struct pool_ref pool);

/* The last word on any of the names in rows behind a number: whether it says "erased", and when. */
struct erasure_word {
    bool is_erased;
    int64_t at;
};
MUST_USE enum status erasure_last(struct ctx *ctx, struct db *db, int64_t behind,
                                  const struct erasure_names *names, struct erasure_word *out);

/* As store_was_erased, on this connection. no: of the pool, or 0. */
MUST_USE enum status erasure_asked(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t no,
                                   const struct erased_ask *v, size_t n, bool *out);

/* --- writing, in the writer's transaction --- */

/* While it is open, what is erased on the connection leaves its hashes. */
struct erasing {
    struct db *db;
    struct pool_ref pool;
    struct erasure_key key;
    int64_t no; /* of the row; 0: nothing is noted */
    int64_t hashes, memories, messages, newest;
    bool is_whole; /* a space or a user: one hash says it all */
};
#define ERASING(e) CLEANUP(erasing_leave) struct erasing e = {0}
void erasing_leave(struct erasing *e);

struct erasing_in {
    struct pool_ref pool;
    str call;         /* that it belongs to; "": it is one of its own */
    const char *what; /* "memory", "session", "space", "user", "account", "again", "bar",
                       * "rights" */
    const struct undo_mark *undo;
    str bar; /* the words of a bar; or "" */
};
/* Counts what is erased, and leaves no row: a row of the same call says it all. */
void erasing_count(struct db *db, struct erasing *out);
MUST_USE enum status erasing_begin(struct ctx *ctx, struct db *db, const struct erasing_in *in,
                                   struct erasing *out);
/* Declares one of this scope, begun with these members of struct erasing_in. */
#define ERASING_BEGUN(e, ctx, db, ...)                                                             \
    ERASING(e);                                                                                    \
    TRY(erasing_begin((ctx), (db), &(struct erasing_in){__VA_ARGS__}, &e))
/* The hashes of what is forgotten as a whole; rows follow with erasing_memory and the other. */
MUST_USE enum status erasing_scope(struct ctx *ctx, struct erasing *e, const struct forget *what);
/* Nothing when nothing is being noted. */
MUST_USE enum status erasing_memory(struct ctx *ctx, struct db *db, const struct memory *m);
MUST_USE enum status erasing_message(struct ctx *ctx, struct db *db, const struct message *m);
MUST_USE enum status erasing_names(struct ctx *ctx, struct erasing *e,
                                   const struct erasure_names *names);
/* A row without hashes is not kept. */
MUST_USE enum status erasing_end(struct ctx *ctx, struct erasing *e);

/* What an undo brings back counts as erased no more; or, with "", what the rows behind a number
 * say. */
MUST_USE enum status erasure_taken_back(struct ctx *ctx, struct db *db, str undo, int64_t behind);
