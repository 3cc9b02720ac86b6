/* followup.h - questions that need the words before them. */
#pragma once

#include "words/words.h"

enum { FOLLOW_WORDS_MAX = 40 };

/* What a question needs of what was said before. */
struct follow {
    bool lacks_person, lacks_thing;
    bool only_opens; /* nothing but that opening shows that something is lacking */
    str because;     /* the word or opening that shows it, or "" */
};

/* By whole words; what the question's own words explain ("Ann and her dog") is not lacking. More
 * than FOLLOW_WORDS_MAX words explain themselves. */
struct follow follow_of(const struct words *w, str question);
