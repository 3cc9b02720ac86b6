/* rarity.h - the rarity of a word in English, whatever a pool holds. */
#pragma once

#include "base/str.h"

/* 0.2 for the commonest words to 0.8 for those that few texts hold; words of other
 * languages count as rare. */
double word_rarity(str word);

/* Whether it is among the commonest of English. */
bool word_is_common(str word);
