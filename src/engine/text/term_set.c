/* term_set.c - sets of terms: the words of two texts, and how far they overlap. */
#include "engine/text/term_set.h"

#include "engine/text/bytes.h"

/* Two texts are compared in one pass without allocation. A collision of two words in one comparison
 * is too rare to matter. */

struct term_set terms_with_room(struct arena *a, size_t n)
{
    return (struct term_set){.v = NEW_N(a, uint64_t, n + 1), .cap = n + 1};
}

void terms_add(struct arena *a, struct term_set *t, uint64_t term)
{
    ARENA_ADD(a, t->v, t->n, t->cap) = term;
}

ORDER(by_value, uint64_t, (*x > *y) - (*x < *y));

/* A sentence has few words; for these a library's sort takes longer to begin than to end. */
static void sort_few(uint64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t term = v[i];
        size_t at = i;
        for (; at && v[at - 1] > term; at--)
            v[at] = v[at - 1];
        v[at] = term;
    }
}

void terms_sort(struct term_set *t)
{
    enum { FEW = 48 };
    size_t kept = 0;
    if (t->n <= FEW)
        sort_few(t->v, t->n);
    else
        qsort(t->v, t->n, sizeof *t->v, by_value);
    for (size_t i = 0; i < t->n; i++)
        if (!kept || t->v[kept - 1] != t->v[i])
            t->v[kept++] = t->v[i];
    t->n = kept;
}

/* Binary search. */
bool terms_have(const struct term_set *t, uint64_t term)
{
    size_t from = 0;
    for (size_t n = t->n; n > 1; n -= n / 2)
        from += t->v[from + n / 2] <= term ? n / 2 : 0;
    return t->n && t->v[from] == term;
}

/* Both sorted; linear in the sum of their sizes. */
size_t terms_shared(const struct term_set *one, const struct term_set *other)
{
    size_t shared = 0;
    for (size_t i = 0, k = 0; i < one->n && k < other->n;) {
        uint64_t x = one->v[i], y = other->v[k];
        shared += x == y;
        i += x <= y;
        k += y <= x;
    }
    return shared;
}

double terms_jaccard(const struct term_set *one, const struct term_set *other)
{
    size_t shared = terms_shared(one, other), all = one->n + other->n - shared;
    return all ? (double)shared / (double)all : 0;
}

/* Cut words, not stems: near-duplicates need no grammar, and all results are compared. */
struct term_set shingles_of(struct arena *a, str text)
{
    enum { CUT = 8 };
    struct term_set t = terms_with_room(a, text.n / 2 + 1);
    str word;
    for (size_t at = 0; (word = next_word(text, &at)).n;) {
        char lower[CUT];
        size_t n = 0;
        for (; n < CUT && n < word.n; n++)
            lower[n] = ascii_lower(word.p[n]);
        terms_add(a, &t, str_hash((str){lower, n}));
    }
    terms_sort(&t);
    return t;
}
