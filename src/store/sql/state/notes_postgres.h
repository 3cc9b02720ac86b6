/* notes_postgres.h - changes by name over several servers: noted, sent and heard in PostgreSQL. */
#pragma once

#include "store/sql/state/change_events.h"

/* All on the writer's thread. A new connection: nothing is noted or heard yet. */
MUST_USE enum status notes_pg_open(struct ctx *ctx, struct db *db, struct notes *n);
/* From now on somebody follows; also within a transaction. */
MUST_USE enum status notes_pg_follow(struct ctx *ctx, struct db *db, struct notes *n);
/* Before and at the end of a group's transaction. */
MUST_USE enum status notes_pg_begin(struct ctx *ctx, struct db *db, struct notes *n);
MUST_USE enum status notes_pg_end(struct ctx *ctx, struct db *db, struct notes *n);
/* Hears what others have sent, and tells who follows. */
MUST_USE enum status notes_pg_look(struct ctx *ctx, struct db *db, struct notes *n);
