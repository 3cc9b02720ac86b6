/* language.h - the language of a text, and its words without their endings. */
#pragma once

#include "base/str.h"

/* English stands for every language without rules of its own, too. */
enum language {
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    PORTUGUESE,
    RUSSIAN, /* from here on the script tells the language of a word */
    ARABIC,
    HINDI,
    LANGUAGES
};

/* Of a text in Latin letters: by its function words. ENGLISH in doubt. is_guess: little is at
 * stake, so one word may be enough that English has, too. */
enum language language_of(struct arena *a, str text, bool is_guess);

/* Of a word by its first character: RUSSIAN for Cyrillic and so on, else ENGLISH. */
enum language language_of_script(int32_t c);

/* Lower case without accents. "ﬁne" becomes "fine", "café" "cafe", "Straße" "strasse". Text that
 * utf8proc refuses stays as it is. */
str language_plain(struct arena *a, str word);

/* A word as the rules of its language compare it: lower case, without the marks that people leave
 * out when they type. */
str language_fold(struct arena *a, str word, enum language language);

/* "the", "ich", "от": of a folded word. */
bool language_is_function_word(enum language language, str folded);

/* Stemmers are not for two threads at once: each thread has its own, made when they are needed. */
struct stemmers {
    struct sb_stemmer *of[LANGUAGES];
};
void stemmers_close(struct stemmers *s);

/* Without its ending: "работал" and "работаю" are the same. Latin stems have no accents. An English
 * one lasts until the next call. */
str language_stem(struct arena *a, struct stemmers *s, enum language language, str folded);

/* The stems of the parts of a compound, the last first; 0 for any other word. */
enum { PARTS_MAX = 6 };
size_t language_parts(struct arena *a, struct stemmers *s, enum language language, str folded,
                      str parts[PARTS_MAX]);
