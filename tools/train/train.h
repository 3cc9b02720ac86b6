/* train.h - the tables that are fitted. */
#pragma once

#include "dumps.h"

/* In which sets a signal takes part: a bit for each; what the encoder shows it shows in every
 * language. */
#define IN(set) ((set) == WITH_ENCODER ? 1 << WITH_ENCODER | 1 << OTHER_LANGUAGE : 1 << (set))
#define IN_ALL (-1)

/* Each writes the whole file, and figures to the standard error output. */
void train_ranking(const struct dumps *dumps, FILE *out);
void train_gate(const struct dumps *dumps, FILE *out);
/* With the gate as it is. */
void train_personal(const struct dumps *dumps, FILE *out);
/* With the ranking as it is, so it is fitted last. */
void train_line(const struct dumps *dumps, FILE *out);
