/* prune.c - what has had its time: expired memories, old receipts and old work. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

/* Rows that go at once; how long work is told of. */
enum { PRUNE_BATCH = 2000 };
static const int64_t WORK_DAYS = 30;

static enum status prune_memories(struct ctx *ctx, struct db *db, int64_t before, int64_t *removed)
{
    int64_t(*v)[2] = arena_alloc(&ctx->arena, sizeof *v * PRUNE_BATCH);
    size_t n = 0;
    SQL_RUN(q, ctx, db, SQL_MEMORY_PRUNABLE);
    sql_int(&q, before);
    sql_int(&q, PRUNE_BATCH);
    while (sql_row(&q)) {
        v[n][0] = sql_get_int(&q);
        v[n++][1] = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    for (size_t i = 0; i < n; i++)
        TRY(memory_prune(ctx, db, v[i][0], v[i][1]));
    *removed += (int64_t)n;
    return OK;
}

static enum status prune_rows(struct ctx *ctx, struct db *db, enum sql which, int64_t before,
                              int64_t *removed)
{
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, before);
    sql_int(&q, PRUNE_BATCH);
    TRY(sql_do(&q));
    *removed += db_changes(db);
    return OK;
}

enum status prune(struct ctx *ctx, struct db *db, int64_t receipts_before, int64_t expired_before,
                  int64_t *removed)
{
    *removed = 0;
    TRY(prune_memories(ctx, db, expired_before, removed));
    TRY(prune_rows(ctx, db, SQL_RECEIPT_PRUNE, receipts_before, removed));
    TRY(prune_rows(ctx, db, SQL_WORK_PRUNE, clock_ms() - WORK_DAYS * 86400000, removed));
    return vectors_prune(ctx, db);
}
