/* token_store.c - a table of rows by their documents, with a limit in bytes. */
#include "store/vectors/token_store.h"

/*
 * A question is compared with the tokens of some hundred texts, a row of some kilobytes each. To
 * read them from the database takes five times as long as to compare them. A full table is emptied
 * as a whole (by whoever may write), not row by row: a pool that does not fit would otherwise pay
 * for keeping order, and gain little.
 */
enum { BYTES_MAX = 48 << 20, TABLE_FIRST = 1024 };

struct token_row {
    struct token_row *next;
    doc_id doc;
    size_t n;
    char v[];
};

void token_store_open(struct token_store *t)
{
    *t = (struct token_store){0};
    pthread_mutex_init(&t->lock, NULL);
}

static void free_row(struct token_store *t, struct token_row *row)
{
    t->n--;
    t->bytes -= sizeof *row + row->n;
    explicit_bzero(row, sizeof *row + row->n);
    free(row);
}

void token_store_empty(struct token_store *t)
{
    for (size_t i = 0; i < t->n_table; i++)
        for (struct token_row *row = t->table[i], *next; row; row = next) {
            next = row->next;
            free_row(t, row);
        }
    assert(!t->n && !t->bytes);
    free(t->table);
    t->table = NULL;
    t->n_table = 0;
    atomic_store(&t->is_full, false);
}

void token_store_close(struct token_store *t)
{
    token_store_empty(t);
    pthread_mutex_destroy(&t->lock);
}

/* Neighbours of a session have neighbouring numbers, and sessions are far apart. */
static size_t list_of(const struct token_store *t, doc_id doc)
{
    return (size_t)(((uint64_t)doc * 0x9E3779B97F4A7C15u) >> 32) & (t->n_table - 1);
}

/* The link to the row, or where it would be. */
static struct token_row **find_row(struct token_store *t, doc_id doc)
{
    struct token_row **at = &t->table[list_of(t, doc)];
    while (*at && (*at)->doc != doc)
        at = &(*at)->next;
    return at;
}

void token_store_remove(struct token_store *t, doc_id doc)
{
    if (!t->n)
        return;
    struct token_row **at = find_row(t, doc), *row = *at;
    if (!row)
        return;
    *at = row->next;
    free_row(t, row);
}

size_t token_store_find(struct token_store *t, const doc_id *docs, size_t n, str *rows)
{
    size_t missing = 0;
    HOLD(&t->lock);
    for (size_t i = 0; i < n; i++) {
        const struct token_row *row = t->n ? *find_row(t, docs[i]) : NULL;
        rows[i] = row ? (str){row->v, row->n} : (str){NULL, 0};
        missing += !row;
    }
    return missing;
}

static void grow_table(struct token_store *t)
{
    struct token_row **old = t->table;
    size_t n_old = t->n_table;
    t->n_table = n_old ? 4 * n_old : TABLE_FIRST;
    t->table = heap_alloc(t->n_table * sizeof(struct token_row *));
    for (size_t i = 0; i < n_old; i++)
        for (struct token_row *row = old[i], *next; row; row = next) {
            struct token_row **at = &t->table[list_of(t, row->doc)];
            next = row->next;
            row->next = *at;
            *at = row;
        }
    free(old);
}

/* Another thread may have added it meanwhile. */
static void add_row(struct token_store *t, doc_id doc, str v)
{
    size_t bytes = sizeof(struct token_row) + v.n;
    if (t->n >= t->n_table)
        grow_table(t);
    struct token_row **at = find_row(t, doc);
    if (*at)
        return;
    *at = heap_alloc(bytes);
    **at = (struct token_row){.doc = doc, .n = v.n};
    if (v.n)
        memcpy((*at)->v, v.p, v.n);
    t->n++;
    t->bytes += bytes;
}

void token_store_add(struct token_store *t, doc_id doc, str row)
{
    HOLD(&t->lock);
    if (t->bytes + sizeof(struct token_row) + row.n <= BYTES_MAX)
        add_row(t, doc, row);
    else
        atomic_store(&t->is_full, true);
}

size_t token_store_bytes(const struct token_store *t)
{
    return t->bytes + t->n_table * sizeof(struct token_row *);
}
