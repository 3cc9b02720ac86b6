/* stem_search.h - a search beside the question's own: what holds some stems, best first. */
#pragma once

#include "engine/recall/candidates.h"

struct stem_hit {
    doc_id doc;
    double worth;
};

/* Documents taken from the index for each 16 stems, and given. */
struct stem_bounds {
    size_t searched, given;
};

/* The best documents that hold a stem, each with the worth of all that it holds; of stems with more
 * documents than are searched the commonest are skipped. The ranking and its fitted weights see
 * nothing of it. */
MUST_USE enum status stems_search(struct finder *f, const str *stems, size_t n,
                                  struct stem_bounds most, struct stem_hit **out, size_t *n_out);

/* The messages and memories of the first n. */
MUST_USE enum status stems_read(struct finder *f, const struct stem_hit *hits, size_t n,
                                struct recalled **out);
