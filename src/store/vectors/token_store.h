/* token_store.h - rows of token vectors of one pool in memory, as far as they were read. */
#pragma once

#include <stdatomic.h>

#include "base/workers.h"
#include "core/memory.h"

struct token_row;

/*
 * Many threads may find and add rows at a time. Rows stay where they are until the table is emptied
 * or one is removed: one thread does that, or asks for the bytes, while no other uses the table
 * (the lock and the users of struct held).
 */
struct token_store {
    pthread_mutex_t lock; /* of the table, while rows are added */
    struct token_row **table;
    size_t n_table, n, bytes; /* n_table: a power of two, or 0 */
    atomic_bool is_full;      /* a row had no room */
};

void token_store_open(struct token_store *t);
void token_store_close(struct token_store *t);
/* Frees all rows. The content is overwritten before it is freed. */
void token_store_empty(struct token_store *t);
void token_store_remove(struct token_store *t, doc_id doc);

/* Which of these documents are kept: their rows, else {NULL, 0}. How many are not. */
size_t token_store_find(struct token_store *t, const doc_id *docs, size_t n, str *rows);
/* "" is kept, too: the document has none. Without room nothing is kept. */
void token_store_add(struct token_store *t, doc_id doc, str row);

size_t token_store_bytes(const struct token_store *t);
