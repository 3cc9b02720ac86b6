/* subject.h - the subject of a statement, compared with the one whom a question is about. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct attribute_sentence {
    str sentence;
    str before;      /* the sentences of the same message in front of it, for "she" */
    uint32_t wanted; /* attributes: "my boss" is nobody else where the boss is asked for */
    bool is_setting; /* "city: Porto": a line of a profile, which is the asker's */
    bool is_grave;   /* an allergy and the like: for a request that of anybody, but of no animal */
    bool is_for_request; /* whatever the asker tells of those who live with him bears on it, too */
    bool is_far;         /* … but not where it is not near to the request */
};

/*
 * A question about the asker ("my job") fits statements of his own; one about "my brother" or Otto
 * fits those that name him, or go on about him ("She …").
 */
bool subject_fits(struct arena *a, str question, const struct attribute_sentence *of);
