/* move_schema.h - triggers that rest while all rows of a store come in, and the counts they make. */
#pragma once

/* SQL: before the first row, and behind the last one. */
extern const char pg_move_begin[], pg_move_end[];
