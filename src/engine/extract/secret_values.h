/* secret_values.h - values for the names of secrets. */
#pragma once

#include "engine/extract/secret_names.h"

/* Of one text; more become one with the last. */
enum { SPANS_MAX = 256 };

/* Bytes of a text, from and to. */
struct span {
    size_t from, to;
};

struct spans {
    struct span v[SPANS_MAX];
    size_t n;
};

/* Spans may overlap; masking goes through them in order of place. */
static inline void span_add(struct spans *s, size_t from, size_t to)
{
    struct span *last = &s->v[SPANS_MAX - 1];
    if (from >= to || SOME(i, s->n, s->v[i].from == from && s->v[i].to >= to))
        return;
    if (s->n < SPANS_MAX)
        s->v[s->n++] = (struct span){from, to};
    else
        *last = (struct span){from < last->from ? from : last->from, to > last->to ? to : last->to};
}

/* Adds the values that a text gives for this name. Returns where to go on. */
size_t secret_values_add(str text, const struct secret_name *name, struct spans *out);
