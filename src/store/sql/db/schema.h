/* schema.h - the numbered steps that bring a file to this version. */
#pragma once

#include "store/sql/db/db.h"

/* Whether the file is empty, or of a version that this build reads and with nothing in it that the
 * steps of that version do not make. Before any statement that could run what a file holds. A
 * failure, in words, may leave a transaction open: the caller closes the connection. */
MUST_USE enum status schema_check(struct ctx *ctx, struct db *db, int64_t *version);
/* Brings an empty or older file, which was checked, up to date. A failure is as above. */
MUST_USE enum status schema_bring(struct ctx *ctx, struct db *db);
/* The part of it that compares the tables, indexes and triggers. */
MUST_USE enum status schema_compare(struct ctx *ctx, struct db *db, int64_t version);
/* Runs the steps from one version (0: an empty file) to another. */
MUST_USE enum status schema_run(struct ctx *ctx, struct db *db, int64_t from, int64_t to);

/* The version this build writes. */
int schema_version(void);
