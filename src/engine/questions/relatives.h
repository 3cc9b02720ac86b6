/* relatives.h - people by what they are to the one who speaks: "my mother", "my boss". */
#pragma once

#include "engine/text/term_set.h"
#include "words/words.h"

/* Whether the first words of a sentence name a relative, "I" is not in it, and `but` (hashes of
 * stems) has no word for the same one: "My brother is allergic to nuts". */
bool is_said_of_relative(const struct words *sentence, const struct term_set *but);
