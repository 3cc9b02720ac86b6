/* suggest.c - the edit distance between a mistyped name and each known one. */
#include "core/suggest.h"

/*
 * A misspelt setting is compared with every known name. The distance is that of Damerau and
 * Levenshtein in its restricted form (optimal string alignment: no letter is moved twice). O(length
 * times length) per name, on a path that ends in an error message anyway.
 */

/* Longer than any name of a setting; the rows of the matrix are on the stack. */
enum { LENGTH_MAX = 64 };

/* Three rows of the usual matrix, since a swap looks back two rows. */
static size_t edit_distance(str a, str b)
{
    size_t rows[3][LENGTH_MAX + 1];
    assert(a.n <= LENGTH_MAX && b.n <= LENGTH_MAX);
    for (size_t j = 0; j <= b.n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t swapped = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1]
                                 ? before[j - 2] + 1
                                 : SIZE_MAX;
            size_t changed = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            now[j] = (last[j] < now[j - 1] ? last[j] : now[j - 1]) + 1;
            now[j] = changed < now[j] ? changed : now[j];
            now[j] = swapped < now[j] ? swapped : now[j];
        }
    }
    return rows[a.n % 3][b.n];
}

void suggest_name(struct suggestion *s, const char *known)
{
    str name = str_of(known);
    if (s->typed.n > LENGTH_MAX || name.n > LENGTH_MAX)
        return;
    size_t distance = edit_distance(s->typed, name);
    /* One error for each three letters. More would suggest names that have nothing to do with the
     * typed one; of equally near names the first wins. */
    if (distance > (s->typed.n < 3 ? 0 : s->typed.n / 3) || (s->best && distance >= s->distance))
        return;
    s->best = known;
    s->distance = distance;
}

void suggest_from_table(struct suggestion *s, const struct field *table)
{
    for (const struct field *f = table; f->name; f++)
        suggest_name(s, f->name);
}
