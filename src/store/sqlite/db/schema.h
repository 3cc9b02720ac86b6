/* schema.h - the numbered steps that bring a file to this version. */
#pragma once

#include "store/sqlite/db/db.h"

/* Brings an empty or older file up to date; a newer one, or another program's, is refused in words.
 */
MUST_USE enum status schema_bring(struct ctx *ctx, struct db *db);

/* The version this build writes. */
int schema_version(void);
