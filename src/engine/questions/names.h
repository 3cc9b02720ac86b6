/* names.h - names that a statement gives to someone or something. */
#pragma once

#include "base/str.h"

/* "my wife is called Anna": two words for one. */
struct naming {
    str thing;       /* "wife"; of "Rob is short for Robert" the other name */
    str name;        /* "Anna" */
    bool is_of_user; /* "my wife": the thing is said with "my" */
};

/* By the words that give a name: "is called", "'s name is", "heißt", "is short for". False when the
 * statement gives none. The parts point into it. */
bool naming_of(str statement, struct naming *out);
