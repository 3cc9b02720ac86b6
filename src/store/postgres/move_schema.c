/* move_schema.c - triggers that rest while all rows come in, and counts made behind them. */
#include "store/postgres/move_schema.h"

/*
 * Triggers of the tables with many rows count each row, which takes longer than to write it. They
 * are off until all rows are there; then the counts are made at once, with the statistics that
 * plans are made by. Nobody else uses the store meanwhile.
 */

/* clang-format off */
#define COUNTED "layer, type, category, origin, (valid_to <> 0)::int"
const char pg_move_begin[] =
    "ALTER TABLE session DISABLE TRIGGER USER; ALTER TABLE message DISABLE TRIGGER USER;"
    "ALTER TABLE memory DISABLE TRIGGER USER; ALTER TABLE vector DISABLE TRIGGER USER;";

const char pg_move_end[] =
    "SET LOCAL statement_timeout TO 0; DELETE FROM memory_tally; DELETE FROM memory_day;"
    "INSERT INTO memory_tally SELECT pool, " COUNTED ", count(*) FROM memory"
    " GROUP BY pool, " COUNTED ";"
    "INSERT INTO memory_day SELECT pool, day_of(created), " COUNTED ", count(*) FROM memory"
    " GROUP BY pool, day_of(created), " COUNTED ";"
    "UPDATE pool SET bytes = all_of.n FROM (SELECT pool, sum(n)::bigint AS n FROM ("
    "SELECT pool, octet_length(title) + octet_length(metadata) AS n FROM session UNION ALL "
    "SELECT pool, octet_length(text) + octet_length(says) FROM message UNION ALL "
    "SELECT pool, octet_length(content) + octet_length(metadata) + octet_length(tags)"
    " FROM memory) AS one GROUP BY pool) AS all_of WHERE all_of.pool = pool.id;"
    "ALTER TABLE session ENABLE TRIGGER USER; ALTER TABLE message ENABLE TRIGGER USER;"
    "ALTER TABLE memory ENABLE TRIGGER USER; ALTER TABLE vector ENABLE TRIGGER USER;"
    "ANALYZE pool, session, message, memory, receipt, vector;";
/* clang-format on */
