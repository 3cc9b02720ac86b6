/* persons.h - single words that name a person without a name. */
#pragma once

#include "base/str.h"

/* "I", "wir"; not "my". */
bool word_is_speaker(str word);

/* "She", "it", "sie", "elle": another one than the speaker. */
bool word_is_pronoun(str word);

/* Of a stem: "brother", "Mutter", "chef" name a person by what they are to the speaker. */
bool word_is_kin(str stem);
