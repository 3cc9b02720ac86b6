/* wordings.c - see wordings.h. */
#include "wordings.h"

#include <stdlib.h>

int wordings_compare(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

struct wordings wordings_of(struct arena *a, str text)
{
    struct form_features f;
    form_features_of(a, text, &f);
    struct wordings out = {NEW_N(a, str, f.n), 0};
    for (size_t i = 0; i < f.n; i++)
        out.v[i] = str_printf(a, S_FMT S_FMT "%s" S_FMT, S_ARG(f.v[i].kind), S_ARG(f.v[i].before),
                              f.v[i].before.n ? " " : "", S_ARG(f.v[i].word));
    qsort(out.v, f.n, sizeof *out.v, wordings_compare);
    for (size_t i = 0; i < f.n; i++)
        if (!out.n || !str_eq(out.v[out.n - 1], out.v[i]))
            out.v[out.n++] = out.v[i];
    return out;
}
