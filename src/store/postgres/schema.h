/* schema.h - the tables of a store in PostgreSQL. */
#pragma once

#include "store/postgres/connection.h"

/* Makes the schema and its tables where they are missing, and upgrades older ones, one server at a
 * time. A newer version is refused in words, unless it says that this one may serve it. Unless it
 * makes, NOT_FOUND where there are no tables. */
MUST_USE enum status pg_schema_bring(struct ctx *ctx, struct pg *pg, str schema, bool makes);
/* The version this build writes. */
int pg_schema_version(void);

/* SQL of a copy of all rows: before the first row, and behind the last one. */
extern const char pg_move_begin[], pg_move_end[];
