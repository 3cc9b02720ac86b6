/* sync_queue.c - changed memories, queued for a second place (Qdrant) that follows the store. */
#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * An outbox: triggers add an entry in the transaction that changes a memory, so no change can be
 * committed without it. Entries name a memory and not its content. A change while an entry is being
 * worked on replaces it under a new number, so ending the old one finds nothing. By then another
 * process may have carried the change before this one carried what was: it is queued once more.
 */

/* The triggers queue changes while this fact exists; its name and the table's are an old one. */
#define SYNC_FACT "mirror"

/* Turning it on again keeps what waits. */
static enum status turn_sync(struct ctx *ctx, struct db *db, const void *what)
{
    bool on = *(const bool *)what, was;
    TRY(SQL_ANY(ctx, db, &was, SQL_FACT_GET, S(SYNC_FACT)));
    if (on == was)
        return OK;
    TRY(on ? SQL_DO(ctx, db, SQL_FACT_PUT, S(SYNC_FACT), S("on"))
           : SQL_DO(ctx, db, SQL_FACT_DELETE, S(SYNC_FACT)));
    return SQL_DO(ctx, db, on ? SQL_SYNC_ALL : SQL_SYNC_CLEAR);
}

enum status store_sync(struct ctx *ctx, struct store *s, bool on)
{
    return writer_call(ctx, s->writer, turn_sync, &on);
}

static enum status queue_all(struct ctx *ctx, struct db *db, UNUSED const void *what)
{
    bool on;
    TRY(SQL_ANY(ctx, db, &on, SQL_FACT_GET, S(SYNC_FACT)));
    return on ? SQL_DO(ctx, db, SQL_SYNC_ALL) : OK;
}

enum status store_sync_all(struct ctx *ctx, struct store *s)
{
    return writer_call(ctx, s->writer, queue_all, NULL);
}

SQL_READER(read_item, struct sync_item, out->no, out->pool.user, out->pool.space, out->id,
           out->tries);

/* Read when it is due, not when it was queued: the second place gets the newest state once. */
static enum status read_one(struct ctx *ctx, struct db *db, struct sync_item *m)
{
    POOL_ROW(row, ctx, db, m->pool);
    TRY(memory_find(ctx, db, SQL_MEMORY_BY_ID, row.no, m->id, &m->memory));
    m->exists = m->memory.id.n && !m->memory.valid_to;
    if (!m->exists)
        m->memory = (struct memory){0};
    return OK;
}

enum status store_sync_waiting(struct ctx *ctx, struct store *s, size_t limit,
                               struct sync_item **out, size_t *n, int64_t *all)
{
    int64_t waiting;
    READER(r, ctx, s);
    TRY(SQL_NUMBER(ctx, r.db, &waiting, SQL_SYNC_COUNT));
    TRY(SQL_LIST(ctx, r.db, read_item, out, n, SQL_SYNC_NEXT, clock_ms(), sql_limit(limit)));
    for (size_t i = 0; i < *n; i++)
        TRY(read_one(ctx, r.db, &(*out)[i]));
    *all = waiting;
    return OK;
}

struct done {
    const struct sync_item *const *v;
    size_t n;
    int64_t again_at;
};

/* again_at 0: done. Otherwise the entry counts a try and is due at that time. */
static enum status end_items(struct ctx *ctx, struct db *db, const void *what)
{
    const struct done *done = what;
    for (size_t i = 0; i < done->n; i++) {
        const struct sync_item *m = done->v[i];
        TRY(done->again_at ? SQL_DO(ctx, db, SQL_SYNC_AGAIN, m->no, done->again_at)
                           : SQL_DO(ctx, db, SQL_SYNC_DONE, m->no));
        if (!db_changes(db))
            TRY(SQL_DO(ctx, db, SQL_SYNC_UNLESS, m->pool.user, m->pool.space, m->id,
                       m->memory.updated));
    }
    return OK;
}

enum status store_sync_done(struct ctx *ctx, struct store *s, const struct sync_item *const *v,
                            size_t n, int64_t again_at)
{
    return n ? writer_call(ctx, s->writer, end_items, &(struct done){v, n, again_at}) : OK;
}
