/* candidates.h - finds, describes and ranks the candidates of a question. */
#pragma once

#include "engine/recall/bars.h"
#include "engine/recall/given.h"
#include "engine/recall/lexical.h"
#include "engine/state/state.h"
#include "engine/text/query.h"

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
    struct bars bars;     /* of the pool; find_answers and find_newest load them */
    str beside;           /* which server beside recall gave nothing, and why; or "" */
};

/* The best `limit` that the question finds by words and, where there are some, by vectors. Fills
 * found. */
MUST_USE enum status find_answers(struct finder *f, size_t limit);

/* The newest memories, whatever the question. */
MUST_USE enum status find_newest(struct finder *f, size_t limit);

/* engine_recall that is not counted: for who asks several times for one turn. */
MUST_USE enum status find_recalled(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                   struct recall_out *out);

/* Whether a search that asks so may show it: one of the two is NULL. What the reader has in front
 * of it is not wanted, nor what was made of that, unless it was corrected since. */
bool find_wants(const struct recall_in *in, const struct bars *bars, const struct message *m,
                const struct memory *memory);

/* Why a candidate was found: "says lake, paint; near it: sunrise; by Melanie, whom the question
 * names". */
str found_why(struct arena *a, const struct query *q, const struct candidate *c,
              const struct recalled *r);

/* What is compared and shown of it: of an answer that was given with memory beside it only what was
 * new. */
str found_text(const struct recalled *r);

/* What of a message a chat may be given: what it states, without what is barred. */
struct given found_given(const struct finder *f, const struct message *m);
