/* rows.h - messages and memories as rows: read in the order of the columns in sql_parts.h. */
#pragma once

#include "core/memory.h"
#include "store/sql/db/query.h"

void read_message(struct query *q, struct message *out);
/* Of a long text only its ends (core/index.h). */
void read_message_ends(struct query *q, struct message *out);
void read_memory(struct query *q, struct memory *out);
/* A memory's tags as its row keeps them. */
str tags_text(struct arena *a, struct strs tags);

/* The number of a memory's row. */
static inline int64_t memory_no(doc_id doc)
{
    assert(doc_is_memory(doc));
    return doc & ~DOC_MEMORY;
}

/* A pool's memory by the name that `which` asks for (its id, its key); its id is "" when there is
 * none. */
MUST_USE enum status memory_find(struct ctx *ctx, struct db *db, enum sql which, int64_t pool,
                                 str name, struct memory *out);
