/* broad.c - questions whose answer is spread over many places: in which order, how many, all. */
#include "engine/questions/broad.h"

#include "engine/text/phrases.h"
#include "lang/broad_lists.h"

enum broad broad_of(struct arena *a, str question)
{
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    if (phrase_find_any(&w, length_questions, NULL))
        return BROAD_NOT;
    if (phrase_find_any(&w, order_questions, NULL))
        return BROAD_ORDER;
    return phrase_find_any(&w, count_questions, NULL) ? BROAD_COUNT : BROAD_NOT;
}
