/* titles.h - the titles of sessions, as they are searched. */
#pragma once

#include "base/buf.h"
#include "store/sql/db/db.h"

/* Folded as titles are compared. */
str title_folded(struct arena *a, str title);
/* The title of a session from now on; "" when it has none or is erased. */
MUST_USE enum status title_put(struct ctx *ctx, struct db *db, int64_t pool, int64_t no, str title);
/* Session numbers, ascending. */
struct session_nos {
    int64_t *v;
    size_t n, cap;
};
/* The sessions whose title contains the folded text. */
MUST_USE enum status titles_find(struct ctx *ctx, struct db *db, int64_t pool, str folded,
                                 struct session_nos *out);
/* Adds a line to the findings for each title that differs from its session. */
MUST_USE enum status titles_check(struct ctx *ctx, struct db *db, struct buf *findings);
