/* functions.h - the SQL functions that a connection gets from us: take, tokens, holds. */
#pragma once

#include "store/postgres/posting_block.h"
#include "store/sql/db/db.h"

/* Columns of the words index. */
enum word_column { IN_TEXT, IN_LABEL };

/* Once more. */
void posting_count(struct posting *p, enum word_column at);

/* Filled by take() while a statement matches one word; the caller sets n to 0 and max. */
struct postings {
    struct posting *v;
    size_t n, cap, max;
};

/* An argument of an SQL function. */
str value_text(sqlite3_value *v);

/* SQLite's result. */
int functions_add(struct db *db);
/* After the connection is closed. */
void functions_end(struct db *db);
