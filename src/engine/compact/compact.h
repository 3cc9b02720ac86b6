/* compact.h - what a summary of old memories says: by rule, or by a model. */
#pragma once

#include "engine/state/state.h"

/* A summary may have this many tokens. */
enum { SUMMARY_TOKENS = 4000 };

/* The old memories of one space that go into one summary. */
struct batch {
    struct pool_ref pool;
    const struct memory *v; /* oldest first */
    size_t n;
    int64_t days; /* the memories are older than this */
};

/* "[factual] key: its first three sentences" without line breaks. */
str summary_line(struct arena *a, const struct memory *m);

/* "Summary of 3 memories (older than 30 days):" */
str summary_header(struct arena *a, size_t n, int64_t days);

struct summary {
    str text;
    str model; /* that wrote it, or "" */
    str why;   /* not the model that the settings name, in words, or "" */
};

/* Never fails: without a model, or after its failure, the text is a list of lines. */
struct summary summary_of(struct ctx *ctx, struct engine *e, const struct batch *b);
