/* relatives.h - persons without a name: the speaker, others, and who they are to the speaker. */
#pragma once

#include "engine/text/term_set.h"
#include "words/words.h"

/* "I", "wir"; not "my". */
bool word_is_speaker(str word);

/* "She", "it", "sie", "elle": another one than the speaker. */
bool word_is_pronoun(str word);

/* Of a stem: "brother", "Mutter", "chef" name a person by what they are to the speaker. */
bool word_is_kin(str stem);

/* Whether the first words of a sentence name a relative, "I" is not in it, and `but` (hashes of
 * stems) has no word for the same one: "My brother is allergic to nuts". */
bool is_said_of_relative(const struct words *sentence, const struct term_set *but);
