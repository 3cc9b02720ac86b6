/* dialect.h - the text of a statement as PostgreSQL takes it. */
#pragma once

/* Parameters ?1 become $1; a plus sign at a column, which keeps SQLite from an index, goes; the
 * column and table user, which is a word of SQL, is quoted. What differs otherwise has two texts in
 * sql.def. On the heap. */
char *dialect_text(const char *sqlite);
