/* reader.h - a read: one connection and one view of the store for the time of a scope. */
#pragma once

#include "store/sql/db/query.h"
#include "store/sql/state/sql_store.h"

struct reader {
    struct sql_store *s;
    struct db *db;
    bool is_passing; /* opened for this read alone */
    bool is_lent;    /* of the ctx's view, which ends it */
};

#define READER(r) CLEANUP(reader_end) struct reader r = {0}

/* TIMED_OUT when no connection is free until the ctx's deadline. STORAGE also when the file was
 * deleted or replaced. */
MUST_USE enum status reader_begin(struct ctx *ctx, struct sql_store *s, struct reader *out);
/* For a read of the whole store, of which a statement may take long. */
MUST_USE enum status reader_begin_long(struct ctx *ctx, struct sql_store *s, struct reader *out);
/* For credentials alone, which decide who may ask also when there is no memory: a deleted or
 * replaced file is read on. *is_empty: there never was a file, and so no reader. */
MUST_USE enum status reader_begin_access(struct ctx *ctx, struct sql_store *s, struct reader *out,
                                         bool *is_empty);
void reader_end(struct reader *r);
/* A reader r, and a pool's row, which is all 0 when there is none. */
#define POOL_READER(r, row, ctx, s, pool)                                                          \
    struct pool_row row;                                                                           \
    READER(r);                                                                                     \
    TRY(reader_begin((ctx), sql_of(s), &r));                                                       \
    TRY(pool_find((ctx), r.db, (pool), &row))

/* The reads of a ctx share one transaction, from its first read on until it rests; see STORE_VIEW
 * of store/read.h. */
void reader_view_begin(struct ctx *ctx, struct store *s);
void reader_view_rest(struct ctx *ctx);
void reader_view_end(struct ctx *ctx);
/* In a view, messages that were read get notes (core/text_annotations.h), which are kept when it
 * ends. words: what words_view says. */
void reader_give_notes(struct ctx *ctx, int64_t pool, uint64_t words, struct message *v, size_t n);
/* All readers have been given back. */
void readers_close(struct sql_store *s);
