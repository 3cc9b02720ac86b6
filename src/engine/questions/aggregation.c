/* aggregation.c - Recognises questions whose answer is spread over many places. */
#include "engine/questions/aggregation.h"

#include "engine/text/phrases.h"
#include "lang/broad_lists.h"

bool aggregation_of(struct arena *a, str question)
{
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    return !phrase_find_any(&w, length_questions, NULL) &&
           phrase_find_any(&w, broad_questions, NULL);
}
