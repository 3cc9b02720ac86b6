/* stem_table.h - classes of words by their stems, in every form and language that a row lists. */
#pragma once

#include "words/word_index.h"

/* Words parted by blanks, which all have these bits. A word may stand in several rows. */
struct stem_row {
    uint32_t bits;
    const char *words;
};

struct stem {
    str text;
    uint32_t bits;
};

struct stem_table {
    const struct stem *v; /* ascending by text, each once */
    size_t n;
    struct word_index index;
    struct arena arena; /* of the stems */
};

/*
 * The table of these rows, which must be static. Stems are only known at run time, so the table is
 * made at the first call and lives as long as the process. Any thread may ask; a later call takes
 * no lock.
 */
const struct stem_table *stem_table_of(const struct stem_row *rows, size_t n);
#define STEM_TABLE(ROWS) stem_table_of(ROWS, sizeof(ROWS) / sizeof *(ROWS))

/* The table of n stems in any order; those that are the same become one. v outlives it. */
struct stem_table stem_table_made(struct stem *v, size_t n);

/* The bits of a stem; 0 when no row has it. */
uint32_t stem_bits(const struct stem_table *t, str stem);
