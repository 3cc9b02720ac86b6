/* namesake.h - names that look like words: "a bath bomb" is not about the town of Bath. */
#pragma once

#include "words/words.h"

/*
 * Whether everything that a question and a statement share is a name in the one and a plain word in
 * the other. Judged by case, place and neighbours: a capital within a sentence and no article
 * before it make a name, a small letter in a question that has capitals makes a word. Where a form
 * may be either (the first word of a sentence, a question all in small letters), it is no namesake.
 */
bool is_namesake(struct arena *a, const struct words *question, str question_text, str statement);
/* Whether the question is for the name of somebody of one's own ("What is my sister called?"), and
 * the statement tells the name of somebody else and shares nothing more with it. */
bool is_other_name(struct arena *a, const struct words *question, str statement);
