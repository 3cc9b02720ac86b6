/* posting_block.h - documents of a word with their counts, packed into bytes. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* One document, and how often it has the word (posting_count). */
struct block_entry {
    int64_t doc;
    uint8_t counts;
};

/* Each document as its distance to the one before, from `first` on, and its counts. */
str block_pack(struct arena *a, int64_t first, const struct block_entry *v, size_t n);
/* The next entry of the bytes; false at their end, and where they are damaged: then *rest is not
 * empty. doc is the one before, at first the number that the block begins with. */
bool block_next(str *rest, struct block_entry *entry);
