/* find.h - what a question finds: candidates by words and vectors, described and put in order. */
#pragma once

#include "engine/engine_int.h"
#include "engine/query.h"
#include "engine/scan.h"

/* The cosine from which on a text counts as close in meaning to the question. */
#define FOUND_CLOSE 0.35f

struct finder {
    struct ctx *ctx;
    struct engine *e;
    const struct recall_in *in;
    struct query query;
    float weights[QUERY_WORDS_MAX]; /* of its words, in this pool */
    struct recalled *found;         /* best first */
    const struct candidate **of;    /* how each was found; NULL: not by the question */
    size_t n;
    str vectors, without; /* as in recall_out */
};

/* The best `limit` that the question finds by words and, where there are some, by vectors. Fills
 * found. */
MUST_USE enum status find_answers(struct finder *f, size_t limit);

/* The newest memories, whatever the question. */
MUST_USE enum status find_newest(struct finder *f, size_t limit);

/* Whether a search that asks so may show it: one of the two is NULL. What the reader has in front
 * of it is not wanted, nor what was made of that. */
bool find_wants(const struct recall_in *in, const struct message *m, const struct memory *memory);

/* Why a candidate was found: "says lake, paint; near it: sunrise; by Melanie, whom the question
 * names". */
str found_why(struct arena *a, const struct query *q, const struct candidate *c,
              const struct recalled *r);

/* What is compared and shown of it: of an answer that was given with memory beside it only what was
 * new. */
str found_text(const struct recalled *r);
