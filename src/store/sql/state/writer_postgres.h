/* writer_postgres.h - the steps of the writer on PostgreSQL, for writer_steps. */
#pragma once

#include "store/sql/state/writer.h"

MUST_USE enum status writer_open_on_postgres(struct ctx *ctx, struct writer *w);
MUST_USE enum status writer_group_on_postgres(struct ctx *ctx, struct writer *w,
                                              struct task *first);
MUST_USE enum status writer_settle_on_postgres(struct ctx *ctx, struct writer *w);
