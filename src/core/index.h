/* index.h - the words of a message or memory for the words index; the same for every store. */
#pragma once

#include "core/memory.h"
#include "words/words.h"

/* Two columns: a thing's own words, and the words about it (speaker, date) together with what a
 * long text only mentions. Stems with repeats. */
struct index_text {
    struct words own, label;
};

/*
 * Of a longer text than twice this many bytes, recall knows the front and the end: they are
 * indexed, ranked and shown. A pasted book would else fill the index with its vocabulary and take
 * longer to read than a recall may last (28 MB: 0.2 s; its ends: 10 ms, most of it SQLite's). What
 * someone says about a paste stands in front of it or behind it.
 */
enum { LONG_TEXT_END = 64 << 10 };

struct index_text index_of_message(struct arena *a, const struct message *m);
struct index_text index_of_memory(struct arena *a, const struct memory *m);
