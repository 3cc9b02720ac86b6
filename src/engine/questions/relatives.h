/* relatives.h - whom a question is about, and whom a statement tells of: "my mother", "my boss". */
#pragma once

#include "engine/text/term_set.h"
#include "words/words.h"

/*
 * Whether the question asks of somebody by what he is to the speaker, and the statement tells of
 * somebody else in that way alone and shares no word with the question: "When is my mother's
 * birthday?" and "My sister Megan has moved". False where either names nobody so.
 */
bool is_of_other_relative(struct arena *a, const struct words *question, str statement);

/* Whether the first words of a sentence name a relative, and `but` (hashes of stems) has no word
 * for the same one: "My brother is allergic to nuts". */
bool is_said_of_relative(const struct words *sentence, const struct term_set *but);
