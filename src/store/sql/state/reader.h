/* reader.h - a read: one connection and one view of the store for the time of a scope. */
#pragma once

#include "store/sql/db/query.h"
#include "store/sql/state/sql_store.h"

struct reader {
    struct store *s;
    struct db *db;
    bool is_passing; /* opened for this read alone */
    bool is_lent;    /* of the ctx's view, which ends it */
};

#define READER_SCOPE(r) CLEANUP(reader_end) struct reader r = {0}

/* TIMED_OUT when no connection is free until the ctx's deadline. STORAGE also when the file was
 * deleted or replaced. */
MUST_USE enum status reader_begin(struct ctx *ctx, struct store *s, struct reader *out);
/* For a read of the whole store, of which a statement may take long. */
MUST_USE enum status reader_begin_long(struct ctx *ctx, struct store *s, struct reader *out);
/* For credentials alone, which decide who may ask also when there is no memory: a deleted or
 * replaced file is read on. *is_empty: there never was a file, and so no reader. */
MUST_USE enum status reader_begin_access(struct ctx *ctx, struct store *s, struct reader *out,
                                         bool *is_empty);
void reader_end(struct reader *r);
/* A reader r of this scope, begun. */
#define READER(r, ctx, s)                                                                          \
    READER_SCOPE(r);                                                                               \
    TRY(reader_begin((ctx), (s), &r))
#define LONG_READER(r, ctx, s)                                                                     \
    READER_SCOPE(r);                                                                               \
    TRY(reader_begin_long((ctx), (s), &r))
/* As READER, and a pool's row, which is all 0 when there is none. */
#define POOL_READER(r, row, ctx, s, pool)                                                          \
    READER(r, ctx, s);                                                                             \
    POOL_ROW(row, ctx, r.db, pool)

/* One for credentials. */
#define ACCESS_READER(r, is_empty, ctx, s)                                                         \
    bool is_empty;                                                                                 \
    READER_SCOPE(r);                                                                               \
    TRY(reader_begin_access((ctx), (s), &r, &is_empty))

/* In a view, messages that were read get notes (core/text_annotations.h), which are kept when it
 * ends. words: what words_view says. */
void reader_give_notes(struct ctx *ctx, int64_t pool, uint64_t words, struct message *v, size_t n);
/* All readers have been given back. */
void readers_close(struct store *s);
