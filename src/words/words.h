/* words.h - text into words as the index knows them: folded, stemmed, the same for every store. */
#pragma once

#include "words/unspaced_words.h"

/* One word of a text, in order. */
struct word {
    str stem;     /* folded, without accents, stemmed: what the index holds */
    str text;     /* as written in the text */
    uint32_t at;  /* byte offset in the text */
    bool is_stop; /* says nothing about the topic ("the", "did", "what") */
    bool is_name; /* starts with a capital and does not begin a sentence */
    bool is_number;
    bool is_unspaced; /* characters of a script without spaces */
    bool is_part;     /* another form of what stands in front of it, or a part of it */
};

struct words {
    struct word *v;
    size_t n;
};

/*
 * Splits on what is neither letter, digit nor mark (Unicode). Case is folded, accents are dropped,
 * English endings are stemmed (Snowball), irregular forms lead to their base ("went": "go");
 * Cyrillic, Arabic and Devanagari have the stems of their language (language.h). A number keeps its
 * inner dots ("3.12"). Runs of scripts without spaces (Han, Kana, Hangul, Thai, Lao, Khmer,
 * Myanmar) give overlapping pairs of characters, or the single one. At most max words are taken.
 */
struct words words_of(struct arena *a, str text, size_t max);

/*
 * TO_INDEX: the words of a text with all forms by which it may be found: as above, and in the stems
 * of its own language, with the parts of German compounds and the single characters of unspaced
 * scripts. The stop words are those of its language, too. TO_ASK: those of a question, in the form
 * in which TO_INDEX has what they ask for.
 */
struct words words_for(struct arena *a, str text, size_t max, enum word_use use);

/* The same words for who asks only how they are written: no stems, no stop words. */
struct words words_as_written(struct arena *a, str text, size_t max);

/* Whether the one at this place is that word, in any case (ASCII); behind the end is none. */
static inline bool words_are(const struct words *w, size_t i, const char *word)
{
    return i < w->n && str_eq_nocase(w->v[i].text, str_of(word));
}

/* Whether one of them is in a NULL-ended list, in any case (ASCII). */
bool words_have(const struct words *w, const char *const *list);
