/* touch.c - the marks that use leaves on memories; written with others, for nobody waits. */
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/state/writer.h"

/*
 * Each recall marks what it showed: uses counts up, last_used moves on. These marks are not worth
 * an fsync of their own: the write waits for others to join, and a crash may lose it.
 */

struct touch {
    struct pool_ref pool;
    const doc_id *docs;
    size_t n;
    int64_t now;
};

static enum status touch_memories(struct ctx *ctx, struct db *db, const void *what)
{
    const struct touch *t = what;
    POOL_ROW(row, ctx, db, t->pool);
    for (size_t i = 0; i < t->n; i++)
        if (doc_is_memory(t->docs[i]))
            TRY(SQL_LATER(ctx, db, SQL_MEMORY_TOUCH, row.no, memory_no(t->docs[i]), t->now));
    return OK;
}

enum status store_touch(struct ctx *ctx, struct store *s, struct pool_ref pool, const doc_id *docs,
                        size_t n, int64_t now)
{
    struct later *later;
    if (!n)
        return OK;
    TRY(writer_reserve(ctx, s->writer, sizeof(struct touch) + n * sizeof *docs, &later));
    struct arena *a = &later->ctx.arena;
    struct touch *own = NEW(a, struct touch);
    *own = (struct touch){pool_copy(a, pool), DUP_N(a, docs, n, n), n, now};
    later->task.pool = own->pool;
    later->task.is_touch = true;
    writer_queue(s->writer, later, touch_memories, own);
    return OK;
}
