/* stem_table.c - classes of words by their stems, in every form and language that a row lists. */
#include "base/stem_table.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/words.h"

enum { ROW_WORDS_MAX = 2000 };

struct made {
    const struct stem_row *rows;
    struct stem_table table;
    struct arena arena; /* of the stems */
    struct made *next;
};

/* Tables are added at the front and never removed, so a reader needs no lock. */
static _Atomic(struct made *) all;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct stem *)a)->text, ((const struct stem *)b)->text);
}

static const struct made *made_of(const struct stem_row *rows)
{
    const struct made *m = atomic_load_explicit(&all, memory_order_acquire);
    while (m && m->rows != rows)
        m = m->next;
    return m;
}

/* Rows that share a stem become one entry. */
static size_t merge_stems(struct stem *v, size_t n)
{
    size_t kept = 0;
    qsort(v, n, sizeof *v, by_text);
    for (size_t i = 0; i < n; i++) {
        if (kept && str_eq(v[kept - 1].text, v[i].text))
            v[kept - 1].bits |= v[i].bits;
        else
            v[kept++] = v[i];
    }
    return kept;
}

static struct made *make_table(const struct stem_row *rows, size_t n)
{
    struct made *m = heap_alloc(sizeof *m);
    struct stem *v = NULL;
    size_t count = 0, cap = 0;
    m->rows = rows;
    for (size_t r = 0; r < n; r++) {
        struct words w = words_of(&m->arena, str_of(rows[r].words), ROW_WORDS_MAX);
        assert(w.n < ROW_WORDS_MAX);
        for (size_t i = 0; i < w.n; i++) {
            v = arena_more(&m->arena, v, count, &cap, sizeof *v);
            v[count++] = (struct stem){w.v[i].stem, rows[r].bits};
        }
    }
    m->table = (struct stem_table){v, count ? merge_stems(v, count) : 0};
    return m;
}

const struct stem_table *stem_table_of(const struct stem_row *rows, size_t n)
{
    const struct made *found = made_of(rows);
    if (found)
        return &found->table;
    pthread_mutex_lock(&making);
    found = made_of(rows); /* another thread may have been first */
    if (!found) {
        struct made *m = make_table(rows, n);
        m->next = atomic_load_explicit(&all, memory_order_relaxed);
        atomic_store_explicit(&all, m, memory_order_release);
        found = m;
    }
    pthread_mutex_unlock(&making);
    return &found->table;
}

uint32_t stem_bits(const struct stem_table *t, str stem)
{
    const struct stem key = {.text = stem};
    const struct stem *found = t->n ? bsearch(&key, t->v, t->n, sizeof key, by_text) : NULL;
    return found ? found->bits : 0;
}
