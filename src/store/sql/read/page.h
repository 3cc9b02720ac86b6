/* page.h - the one reader of memories by filter and order, for the lists of the face. */
#pragma once

#include "core/memory_select.h"
#include "store/sql/db/query.h"

/* A page of the selected memories of these pools (numbers; 0 has no memory), in one transaction of
 * the caller, so that the page and its counts agree. */
MUST_USE enum status page_read(struct ctx *ctx, struct db *db, const struct memory_page_in *in,
                               const int64_t *pools, size_t n_pools, struct memory_page *out);
/* The first parameters of a statement with SELECTED, of sql_lists.def. */
void select_bind(struct query *q, const struct memory_select *f, int64_t pool, int64_t now);
