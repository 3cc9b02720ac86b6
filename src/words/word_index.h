/* word_index.h - finds a word in a list of words in one step. */
#pragma once

#include "base/str.h"

struct word_index {
    struct word_place *v;
    uint64_t *marks; /* a bit for each hash that a word has */
    uint32_t last;   /* of v, one less than a power of two */
};

/* What word_index_find gives for a word that is not in the list. */
#define NO_WORD UINT32_MAX

/* Of n rows of that size which begin with a word, a str; of rows with one word the first is found.
 * The words and the index outlive all that ask. */
struct word_index word_index_make(const void *rows, size_t n, size_t size);
/* The same of static rows, made at the first call. */
const struct word_index *word_index_of(const void *rows, size_t n, size_t size);
#define WORD_INDEX(ROWS) word_index_of(ROWS, sizeof(ROWS) / sizeof *(ROWS), sizeof *(ROWS))

/* The row of the word. */
uint32_t word_index_find(const struct word_index *x, str word);
/* The row of its lower case (ASCII), where the rows have that. */
uint32_t word_index_find_lower(const struct word_index *x, str word);
