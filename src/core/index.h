/* index.h - what of a message or memory goes into the words index; the same for every store. */
#pragma once

#include "base/words.h"
#include "core/memory.h"

/* Two columns: a thing's own words, and the words about it (speaker, date) together with what a
 * long text only mentions. Stems with repeats. */
struct index_text {
    struct words own, label;
};

struct index_text index_of_message(struct arena *a, const struct message *m);
struct index_text index_of_memory(struct arena *a, const struct memory *m);
