/* subject.h - the subject of a statement, compared with the one whom a question is about. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct attribute_sentence {
    str sentence;
    str before;          /* the sentences of the same message in front of it, for "she" */
    uint32_t wanted;     /* attributes: "my wife" is nobody else where a marriage is asked for */
    bool is_for_request; /* whatever the asker tells of himself or those around him bears on it */
};

/* A question about the asker ("my job") fits statements of his own; one about "my brother" or Otto
 * fits those that name him, or go on about him ("She …"). */
bool subject_fits(struct arena *a, str question, const struct attribute_sentence *of);
