/* prune.c - removes expired memories, old receipts and the old log of work. */
#include "base/clock.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/vector_set.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/eraser.h"
#include "store/sql/write/forget_long.h"

/*
 * An expired memory is not recalled from the moment it expires. Pruning erases it, with receipts
 * that show it. A crash between batches loses nothing: the next call continues.
 */

enum {
    /* Bounds how long other writes wait for a batch. */
    PRUNE_BATCH = 2000, /* rows in one transaction */
    WORK_DAYS = 30,     /* that the log of work is kept */
};

struct prunable {
    int64_t pool, no;
};

SQL_READER(read_prunable, struct prunable, out->pool, out->no);

/* Those of a pool follow each other. */
static enum status prune_memories(struct ctx *ctx, struct db *db, int64_t before, int64_t *removed)
{
    struct eraser e = {.ctx = ctx, .db = db};
    SQL_ALL(struct prunable, v, n, ctx, db, read_prunable, SQL_MEMORY_PRUNABLE, before,
            PRUNE_BATCH);
    for (size_t i = 0; i < n; i++) {
        struct memory m = {0};
        if (v[i].pool != e.pool) {
            e = (struct eraser){.ctx = ctx, .db = db, .pool = v[i].pool, .is_expiry = true};
            TRY(SQL_DO(ctx, db, SQL_ERASED_CLEAR));
        }
        TRY(SQL_FIRST(ctx, db, read_memory, &m, SQL_MEMORY_GET, e.pool, v[i].no));
        TRY(erase_memory(&e, &m));
        if (i + 1 < n && v[i + 1].pool == e.pool)
            continue;
        TRY(eraser_end(&e, removed));
        TRY(SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SHOWN, e.pool));
    }
    return OK;
}

static enum status prune_rows(struct ctx *ctx, struct db *db, enum sql which, int64_t before,
                              int64_t *removed)
{
    TRY(SQL_DO(ctx, db, which, before, PRUNE_BATCH));
    *removed += db_changes(db);
    return OK;
}

struct prune {
    int64_t receipts_before, expired_before;
    int64_t *removed;
};

static enum status prune_some(struct ctx *ctx, struct db *db, const void *what)
{
    const struct prune *p = what;
    *p->removed = 0;
    TRY(prune_memories(ctx, db, p->expired_before, p->removed));
    TRY(prune_rows(ctx, db, SQL_RECEIPT_PRUNE, p->receipts_before, p->removed));
    TRY(prune_rows(ctx, db, SQL_WORK_PRUNE, clock_ms() - WORK_DAYS * DAY_MS, p->removed));
    TRY(prune_rows(ctx, db, SQL_OWNER_PRUNE, clock_ms(), p->removed));
    return vectors_prune(ctx, db);
}

/* In batches, so that other writes come between. */
enum status store_prune(struct ctx *ctx, struct store *s, int64_t receipts_before,
                        int64_t expired_before, int64_t *removed)
{
    int64_t all = 0, some = 1;
    struct prune p = {receipts_before, expired_before, &some};
    TRY(forgets_resume(ctx, s));
    while (some) {
        TRY(writer_call(ctx, s->writer, prune_some, &p));
        all += some;
    }
    vector_cache_follow(s, NULL);
    *removed = all;
    struct task end = {.ctx = ctx, .erases = true}; /* nothing stays in the log */
    return all ? writer_run(s->writer, &end) : OK;
}
