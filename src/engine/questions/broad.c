/* broad.c - questions whose answer is spread over many places: in which order, how many, all. */
#include "engine/questions/broad.h"

#include "engine/text/phrases.h"

#define TALKS                                                                                      \
    "conversation|conversations|chat|chats|session|sessions|messages|talks|requests|questions"

static const char *const orders[] = {
    "in order",
    "the order in which",
    "order of events",
    "in what|which order",
    "chronological|chronologically",
    "timeline",
    "walk me through",
    "came|come|happened|was|were|is|did|said first",
    "say|tell|mention|talk|ask ?you first about",
    "first|last time i|we",
    "first say|said|mention|mentioned|tell|told|talk|talked|bring|brought",
    "what happened|came after|next|before|then",
    "what did i|we do after|next|before|then",
    "how did * ?* ?* ?* change|develop|evolve|progress",
    "how has|have * ?* ?* ?* changed|developed|evolved|progressed",
    "summarise|summarize|summary",
    "der reihe nach",
    "reihenfolge",
    "chronologisch",
    "was|wer|welche|welches|welcher kam|war|ist zuerst|zuletzt",
    "zum ersten|letzten mal",
    "habe ich zuerst|zuletzt",
    "was geschah|passierte danach|nach|vor|dann",
    NULL};

static const char *const counts[] = {"how many",
                                     "how often",
                                     "how many|much ?* in total",
                                     "number of times",
                                     "list|name ?me all|every|each",
                                     "all ?of ?the|my|our * ?* i|we|that",
                                     "which|what ?* have|did i|we ever",
                                     "across|throughout|in ?all my|our " TALKS,
                                     "wie viele|oft|vieles",
                                     "liste|nenne ?mir alle",
                                     "alle * ?* die ich|wir",
                                     NULL};

/* "How many days until …" counts the time between two days, and not what was said. */
static const char *const lengths[] = {"how many days|weeks|months|years|hours|minutes|people|of",
                                      "wie viele tage|wochen|monate|jahre|stunden|minuten", NULL};

enum broad broad_of(struct arena *a, str question)
{
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    if (phrase_find_any(&w, lengths, NULL))
        return BROAD_NOT;
    if (phrase_find_any(&w, orders, NULL))
        return BROAD_ORDER;
    return phrase_find_any(&w, counts, NULL) ? BROAD_COUNT : BROAD_NOT;
}
