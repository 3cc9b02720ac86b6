/* unspaced_words.h - words of scripts that part none, and Korean, whose words have particles. */
#pragma once

#include "base/str.h"

/* Han, kana, Hangul, Thai, Lao, Khmer, Myanmar. */
bool is_unspaced(int32_t c);

/* What the tokens of a run of such characters are for. */
enum word_use {
    TO_COMPARE, /* overlapping pairs of characters, or the single one */
    TO_INDEX,   /* and by what else the run may be found */
    TO_ASK      /* only what says something about a topic, as the index has it */
};

struct run_token {
    str text; /* in the run, or in the arena where a form of it is meant */
    size_t from;
    bool is_part; /* beside the pair at the same place */
};

struct run_tokens {
    struct run_token *v;
    size_t n;
};

/* is_japanese: the text has kana; then Han characters are read as Japanese. */
struct run_tokens run_tokens_of(struct arena *a, str run, enum word_use use, bool is_japanese);

/* Whether the text holds kana. */
bool has_kana(str text);
