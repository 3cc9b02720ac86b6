/* stem_table.c - classes of words by their stems, in every form and language that a row lists. */
#include "words/stem_table.h"

#include "base/once.h"
#include "words/words.h"

/*
 * Rows are written by people, as words in all their forms; the words are split and stemmed here by
 * the same rules as any text. So a word of a text belongs to a row when the two stems are equal,
 * and nobody has to write stems by hand.
 */

/* More words than any row has; a row that reaches it would lose words, so that is asserted. */
enum { ROW_WORDS_MAX = 2000 };

ORDER(by_text, struct stem, BY_TEXT(text));

struct stem_table stem_table_made(struct stem *v, size_t n)
{
    size_t kept = 0;
    SORT(v, n, by_text);
    for (size_t i = 0; i < n; i++) {
        if (kept && str_eq(v[kept - 1].text, v[i].text))
            v[kept - 1].bits |= v[i].bits;
        else
            v[kept++] = v[i];
    }
    return (struct stem_table){.v = v, .n = kept, .index = word_index_make(v, kept, sizeof *v)};
}

static void *make_table(const void *key, size_t n, size_t size)
{
    const struct stem_row *rows = key;
    assert(size == sizeof *rows);
    struct stem_table *t = heap_alloc(sizeof *t);
    struct arena a = {0};
    struct stem *v = NULL;
    size_t count = 0, cap = 0;
    for (size_t r = 0; r < n; r++) {
        struct words w = words_of(&a, str_of(rows[r].words), ROW_WORDS_MAX);
        assert(w.n < ROW_WORDS_MAX);
        for (size_t i = 0; i < w.n; i++)
            ARENA_ADD(&a, v, count, cap) = (struct stem){w.v[i].stem, rows[r].bits};
    }
    *t = stem_table_made(v, count);
    t->arena = a;
    return t;
}

const struct stem_table *stem_table_of(const struct stem_row *rows, size_t n)
{
    return once_of(rows, n, sizeof *rows, make_table);
}

uint32_t stem_bits(const struct stem_table *t, str stem)
{
    uint32_t at = word_index_find(&t->index, stem);
    return at == NO_WORD ? 0 : t->v[at].bits;
}
