/* stem_search.h - a search beside the question's own: what holds some stems, best first. */
#pragma once

#include "engine/recall/candidates.h"

struct stem_hit {
    doc_id doc;
    double worth;
};

/* One for each document that holds a stem, with the worth of all that it holds; of stems with more
 * than `most` documents the commonest are skipped. The ranking and its fitted weights see nothing
 * of it. */
MUST_USE enum status stems_search(struct finder *f, const str *stems, size_t n, size_t most,
                                  struct stem_hit **out, size_t *n_out);

/* The messages and memories of the first n. */
MUST_USE enum status stems_read(struct finder *f, const struct stem_hit *hits, size_t n,
                                struct recalled **out);
