/* lexicon.h - the classes of words that rules ask for: months, pronouns, negations and so on. */
#pragma once

#include "words/words.h"

/* A word may have several; data/lang lists the words of each. */
enum word_class {
    LEX_MONTH = 1 << 0,              /* "january"; lexicon_month gives the number */
    LEX_MONTH_SHORT = 1 << 1,        /* "jan", "sept" */
    LEX_WEEKDAY = 1 << 2,            /* "monday" */
    LEX_DATE = 1 << 3,               /* other words that show a date: "yesterday", "next" */
    LEX_SPAN = 1 << 4,               /* stretches of time: "this year" points at no thing */
    LEX_NUMBER = 1 << 5,             /* "three", "twice": another number is another thing */
    LEX_QUANTITY = 1 << 6,           /* numbers that are vague: "few" */
    LEX_SELF = 1 << 7,               /* first person, as the ranking weights know it: "my" */
    LEX_SELF_TOO = 1 << 8,           /* the rest of the first person: "us", "mein" */
    LEX_PERSON = 1 << 9,             /* pronouns of one person: "she" */
    LEX_THING = 1 << 10,             /* pronouns of things and of several: "it", "they" */
    LEX_POINTING = 1 << 11,          /* "those" */
    LEX_USER = 1 << 12,              /* how models call the user */
    LEX_AUXILIARY = 1 << 13,         /* "does", "might" */
    LEX_PAST = 1 << 14,              /* auxiliaries of what has happened: "did" */
    LEX_QUESTION = 1 << 15,          /* "why" */
    LEX_PREPOSITION = 1 << 16,       /* "about" */
    LEX_JOINT = 1 << 17,             /* joins clauses: "because" */
    LEX_ARTICLE = 1 << 18,           /* "the" */
    LEX_DETERMINER = 1 << 19,        /* stands where an article may: "our", "some" */
    LEX_ORDINAL = 1 << 20,           /* picks one of several: "the other one" */
    LEX_REQUEST = 1 << 21,           /* opens a request or a reply: "describe" */
    LEX_REPLY = 1 << 22,             /* answers without a topic: "sure" */
    LEX_GREETING = 1 << 23,          /* "hi" */
    LEX_STRESS = 1 << 24,            /* only stresses: "really" */
    LEX_NEGATION = 1 << 25,          /* turns a statement round: "never", "avoids" */
    LEX_NEGATED = 1 << 26,           /* does so before "t": "don't" is two words */
    LEX_ABBREVIATION = 1 << 27,      /* its dot ends no sentence: "dr" */
    LEX_ABBREVIATION_LAST = 1 << 28, /* its dot ends one before a capital: "inc" */
    LEX_ASKING = 1 << 29,            /* stems of "do you remember", which say no topic */
    LEX_GENERAL = 1 << 30,           /* too general for a topic: "following" */
    LEX_LIMIT = 1u << 31             /* what suits somebody and what does not: "allergic", "love" */
};

/* The classes of a word in any case (ASCII); 0 when it has none. */
unsigned lexicon_classes(str word);
bool lexicon_is(str word, unsigned classes);
bool lexicon_in(const struct words *w, unsigned classes); /* one of the words */

/* Whether one of the words has this stem. */
static inline bool words_have_stem(const struct words *w, str stem)
{
    return SOME(i, w->n, str_eq(w->v[i].stem, stem));
}

/* The month of "May" or "sept": 0 to 11, or -1. */
int lexicon_month(str word);

/* Whether a word adds nothing to a line about the user: stop words, names for the user, and months
 * and weekdays, which models put in the place of "tomorrow". */
bool word_says_nothing(const struct word *w);
