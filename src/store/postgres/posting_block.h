/* posting_block.h - documents of a word, or words of a document, with counts, packed into bytes. */
#pragma once

#include "core/memory.h"

/* One document that holds a word. */
struct posting {
    doc_id doc;
    uint8_t counts; /* how often, up to 15 each; low half: own words, high half: label */
};

/* Each document as its distance to the one before, from `first` on, and its counts. */
str block_pack(struct arena *a, int64_t first, const struct posting *v, size_t n);
/* The next entry of the bytes; false at their end, and where they are damaged: then *rest is not
 * empty. doc is the one before, at first the number that the block begins with. */
bool block_next(str *rest, struct posting *entry);

/* A word of a document, and how often it has it. */
struct block_word {
    str word;
    uint8_t counts;
};

/* Each word as its counts, its length and its bytes. */
str block_words_pack(struct arena *a, const struct block_word *v, size_t n);
/* As block_next. The word is a part of *rest. */
bool block_next_word(str *rest, struct block_word *word);
