/* plain.h - a text as a model reads it, whatever hides its words from a rule. */
#pragma once

#include "base/str.h"

enum { PLAIN_MOST = 8000 }; /* bytes of a text that are looked at */

/*
 * For judging alone; nothing is stored or shown so. In small letters, compatibility forms folded
 * (NFKC), without hidden characters and accents, with one blank for each space or line break.
 * Letters of other alphabets and digits that stand for Latin letters ("Ignоre", "1gn0r3") become
 * those, letters that stand alone ("i g n o r e") a word, and base64 that reads as text follows
 * decoded.
 */
str text_plain(struct arena *a, str text);
