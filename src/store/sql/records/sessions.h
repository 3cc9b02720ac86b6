/* sessions.h - a session's row, made in the writer's transaction. */
#pragma once

#include "core/session.h"
#include "store/sql/db/query.h"

/* A new one, with its times; gives its number. */
MUST_USE enum status session_add(struct ctx *ctx, struct db *db, int64_t pool,
                                 const struct session *session, int64_t *no);

/* Reading one of SESSION_COLUMNS (sql_parts.h). NOT_FOUND without a row. */
struct session_row {
    int64_t pool;
    struct session session;
};
MUST_USE enum status session_read(struct query *q, struct session_row *out);
