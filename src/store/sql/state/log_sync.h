/* log_sync.h - a connection that does nothing but sync the write-ahead log. */
#pragma once

#include "store/sql/db/db.h"
#include "store/sql/state/sql_store.h"

struct log_sync {
    struct db db;
    sqlite3_file *log; /* of the connection */
};

/* On failure there is nothing to close. */
MUST_USE enum status log_sync_open(struct ctx *ctx, const struct sql_store *s,
                                   struct log_sync *out);
/* Everything that any connection committed before the call is durable when it returns OK. */
MUST_USE enum status log_sync_run(struct ctx *ctx, struct log_sync *l);
void log_sync_close(struct log_sync *l);
