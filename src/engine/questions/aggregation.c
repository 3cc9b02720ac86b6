/* aggregation.c - Recognises questions whose answer is spread over many places. */
#include "engine/questions/aggregation.h"

#include "engine/text/phrases.h"
#include "lang/broad_lists.h"

enum aggregation aggregation_of(struct arena *a, str question)
{
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    if (phrase_find_any(&w, length_questions, NULL))
        return AGGREGATION_NONE;
    if (phrase_find_any(&w, order_questions, NULL))
        return AGGREGATION_ORDER;
    return phrase_find_any(&w, count_questions, NULL) ? AGGREGATION_COUNT : AGGREGATION_NONE;
}
