/* sentences.h - where a text's sentences end. */
#pragma once

#include "base/str.h"

struct sentence {
    str text;     /* with its marks and the quotes and brackets that they close */
    str body;     /* without them */
    bool asks;    /* its marks hold a question mark */
    bool goes_on; /* lower case follows a quote or dots: a reader reads on */
};

/*
 * Cuts the next sentence off; false when *rest is empty. One behind the other, the sentences are
 * the whole text. A sentence ends at . ! ? before a blank or the end, at a full width mark, and at
 * an empty line; not in "3.14", behind an abbreviation or an initial, behind the number that it
 * begins with, nor behind an ordinal ("am 24. kommt Anna"). What follows the last sentence is one
 * as well, if it is only blanks. cuts_ordinals: an ordinal ends one, too, as orders are found less
 * well behind other words.
 */
bool sentence_next(str *rest, bool cuts_ordinals, struct sentence *out);
static inline bool sentence_cut(str *rest, struct sentence *out)
{
    return sentence_next(rest, false, out);
}

/* The text up to the end of its nth sentence; where a sentence goes on, the next one is a part. */
str first_sentences(str text, size_t n);
