/* reader.h - a read: one connection and one view of the store for the time of a scope. */
#pragma once

#include "store/sqlite/db/query.h"
#include "store/sqlite/state/sqlite_store.h"

struct reader {
    struct sqlite_store *s;
    struct db *db;
};

#define READER(r) CLEANUP(reader_end) struct reader r = {0}

MUST_USE enum status reader_begin(struct ctx *ctx, struct sqlite_store *s, struct reader *out);
void reader_end(struct reader *r);
/* All readers have been given back. */
void readers_close(struct sqlite_store *s);
