/* schema.h - the numbered steps that bring a file to this version. */
#pragma once

#include "store/sql/db/db.h"

/* Called before a file of an older version is changed; a failure leaves it as it is. */
typedef enum status schema_keep(struct ctx *ctx, struct db *db, int64_t version, const void *own);
/* Brings an empty or older file up to date; a newer one, or another program's, is refused in words.
 */
MUST_USE enum status schema_bring(struct ctx *ctx, struct db *db, schema_keep *keep,
                                  const void *own);

/* Whether the file is empty, or of a version that this build reads and with nothing in it that the
 * steps of that version do not make. Before any statement that could run what a file holds. */
MUST_USE enum status schema_check(struct ctx *ctx, struct db *db, int64_t *version);
/* The part of it that compares the tables, indexes and triggers. */
MUST_USE enum status schema_compare(struct ctx *ctx, struct db *db, int64_t version);
/* Runs the steps from one version (0: an empty file) to another. */
MUST_USE enum status schema_run(struct ctx *ctx, struct db *db, int64_t from, int64_t to);

/* The version this build writes. */
int schema_version(void);
