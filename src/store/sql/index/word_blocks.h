/* word_blocks.h - the words index on PostgreSQL: the documents of a word in blocks. */
#pragma once

#include "base/buf.h"
#include "store/sql/index/index.h"
#include "store/sql/index/posting_cache.h"

enum { BLOCK_ENTRIES = 256 };

/* A word that a document in blocks gets or loses; when both, its last counts stay. */
struct block_change {
    str word;
    doc_id doc;
    uint8_t counts;
    bool is_removal;
};

/* All those of a pool. */
struct block_changes {
    int64_t pool;
    struct block_change *v;
    size_t n, cap;
    struct block_place *places; /* of word_blocks.c */
    size_t n_places;
};

/* Rows of a pool, to be written or (their places alone) deleted. */
struct block_rows {
    struct block_row {
        str word;
        doc_id first;
        str docs; /* packed */
        size_t n;
    } * v;
    size_t n, cap;
};
MUST_USE enum status block_rows_write(struct ctx *ctx, struct db *db, int64_t pool,
                                      const struct block_rows *r, bool is_put);

/* Asks ahead for the blocks that change; then writes them. */
void block_changes_ask(struct ctx *ctx, struct db *db, struct block_changes *all);
MUST_USE enum status block_changes_write(struct ctx *ctx, struct db *db,
                                         const struct block_changes *all);

/* Writes what documents gained and lost; changes of one document are neighbours, in their order.
 * Each pool that has changes gets another generation. */
MUST_USE enum status word_blocks_apply(struct ctx *ctx, struct db *db, const struct index_change *v,
                                       size_t n);

/* Writes the words of all documents, where no row is. */
MUST_USE enum status word_blocks_fill(struct ctx *ctx, struct db *db);

/* The documents of words (without their pool), from `least` on, at most max of each; one statement
 * for all. */
MUST_USE enum status word_blocks_find(struct ctx *ctx, struct db *db, int64_t pool,
                                      const str *words, size_t n, doc_id least, size_t max,
                                      struct word_docs *out);
/* The same asked ahead (SQL_AHEAD). */
void word_blocks_ask(struct ctx *ctx, struct db *db, int64_t pool, const str *words, size_t n,
                     doc_id least, size_t max);
/* The newest max documents between two numbers, ascending. */
MUST_USE enum status word_blocks_newest(struct ctx *ctx, struct db *db, int64_t pool, str word,
                                        doc_id from, doc_id to, size_t max, struct word_docs *out);
/* Adds a line to the findings when the rows of the index and the texts differ. */
MUST_USE enum status word_blocks_check(struct ctx *ctx, struct db *db, struct buf *findings);
