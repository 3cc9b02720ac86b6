/* upgrade.h - the copy of a database that is made before its schema is upgraded. */
#pragma once

#include "store/sql/db/db.h"
#include "store/sql/state/sql_store.h"

/* A step of the writer: copies the database beside it, unless such a copy is there or none is
 * wanted. TOO_LARGE, STORAGE: the upgrade is refused. */
MUST_USE enum status upgrade_keep_old(struct ctx *ctx, const struct store *s, struct db *db,
                                      int64_t version);

/* Deletes what killed copies beside that path left, if begun before that time. */
void parts_remove(struct ctx *ctx, const char *path, str stem, int64_t version, int64_t before);

/* Of convert.c: the database as it is into a new file; is_old: of its version. */
MUST_USE enum status copy_open(struct ctx *ctx, const struct store *s, str to, bool is_old);
