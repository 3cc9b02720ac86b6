/* wordings.h - the features of form.h as texts: what the tables of data/lang are written with. */
#pragma once

#include "engine/text/form.h"

/* Each once, sorted. */
struct wordings {
    str *v;
    size_t n;
};
struct wordings wordings_of(struct arena *a, str text);
/* For bsearch and qsort, of str. */
int wordings_compare(const void *a, const void *b);
