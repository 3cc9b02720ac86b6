/* outside_rankers.h - Asks servers beside recall: Qdrant's nearest memories, a model's order. */
#pragma once

#include "engine/recall/candidates.h"

/* The memories that Qdrant says are near to the question, by document and cosine: at most `most`,
 * best first, within half of the time left. None where Qdrant is not used or fails; f->beside says
 * why then. */
struct vector_hit *nearest_beside(struct finder *f, size_t most, size_t *n);

/* Puts what was found in the order of the reranking model, where one is set: its first has the
 * greatest score that recall gave, and so on, as its own scores have no common measure. A failure
 * keeps the order. */
void order_beside(struct finder *f);

/* Lays the scores over the order: the first gets the greatest, and so on. */
void scores_by_place(struct arena *a, struct recalled *v, size_t n);
