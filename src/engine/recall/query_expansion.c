/* query_expansion.c - other words for one thing, searched beside a question's own. */
#include "engine/recall/query_expansion.h"

#include "base/rule.h"
#include "words/stem_table.h"

/*
 * "My mom" finds "Mum turns 70". The words of a row of same_words (data/lang) are searched as if
 * they were one, as far as there is room for so many words.
 */

static const char *const same[] = {
#define SAME(words) words,
#include "lang/same_words.def"
};

/* The row of a word, counted from 1 (__COUNTER__ numbers the rows); a word stands in one row. */
static uint32_t row_of(str stem)
{
    enum { FIRST = __COUNTER__ + 1 };
    static const struct stem_row rows[] = {
#define SAME(words) {__COUNTER__ - FIRST + 1, words},
#include "lang/same_words.def"
    };
    return stem_bits(stem_table_of(rows, sizeof rows / sizeof *rows), stem);
}

/* Which word of the question this is, or n. */
static size_t word_of(const struct query *q, str stem)
{
    size_t i = 0;
    while (i < q->n && !str_eq(q->stems[i], stem))
        i++;
    return i;
}

static str stem_of(struct arena *a, str word)
{
    struct words w = words_of(a, word, 1);
    return w.n && !w.v[0].is_stop ? w.v[0].stem : S("");
}

void query_expand(struct finder *f)
{
    struct query *q = &f->asked.query;
    if (!RULE("same_words"))
        return;
    for (size_t i = 0; i < q->n; i++) {
        uint32_t row = row_of(q->stems[i]);
        str words = row ? str_of(same[row - 1]) : S("");
        while (words.n && q->n + q->n_others < QUERY_WORDS_MAX) {
            str other = stem_of(&f->ctx->arena, str_cut(&words, ' '));
            if (!other.n || word_of(q, other) < q->n)
                continue;
            q->stems[q->n + q->n_others] = other;
            q->other_of[q->n_others++] = i;
        }
    }
}
