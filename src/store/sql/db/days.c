/* days.c - adding to what a pool did today. */
#include "store/sql/db/days.h"

#include <assert.h>

#include "base/clock.h"

/*
 * One small row for each pool, day and kind of count. The rows of today are neighbours and stay in
 * the page cache, so that counting adds little to a write.
 */
enum status days_add(struct ctx *ctx, struct db *db, int64_t pool, int stat, int64_t n)
{
    if (!n)
        return OK;
    assert(pool && stat >= 0 && stat < DAY_STAT_COUNT && db_in_transaction(db));
    return SQL_LATER(ctx, db, SQL_DAY_ADD, pool, day_number(clock_ms()), stat, n);
}
