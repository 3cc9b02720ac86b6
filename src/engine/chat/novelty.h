/* novelty.h - parts of an answer beyond the memory block that the model was given. */
#pragma once

#include "base/str.h"

/* The sentences of the answer that say more than the block beside the question and what the user
 * told in it. */
str novel_sentences(struct arena *a, str answer, str block, str told);
