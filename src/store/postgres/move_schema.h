/* move_schema.h - triggers that rest while all rows come in, and counts made behind them. */
#pragma once

/* SQL: before the first row, and behind the last one. */
extern const char pg_move_begin[], pg_move_end[];
