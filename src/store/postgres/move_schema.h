/* move_schema.h - what of the schema rests while all rows of a store come in. */
#pragma once

/* SQL: before the first row, and behind the last one. */
extern const char pg_move_begin[], pg_move_end[];
