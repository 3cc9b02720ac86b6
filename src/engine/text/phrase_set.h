/* phrase_set.h - a list of phrases, read once so that a text is compared with all of it at once. */
#pragma once

#include "base/str.h"

enum choice_kind { CHOICE_WORDS, CHOICE_ANY, CHOICE_DATE, CHOICE_MONTH, CHOICE_WEEKDAY };

struct phrase_literal {
    str text;
    uint64_t hash;
};

/* What may stand at one place of a phrase. */
struct phrase_choice {
    enum choice_kind kind;
    bool is_optional;
    const struct phrase_literal *words; /* one of these, for CHOICE_WORDS */
    size_t n;
};

struct phrase {
    const struct phrase_choice *choices;
    size_t n;
    bool is_opening; /* it must begin the text */
};

/* A word that a phrase needs, unless another of the same place stands there. */
struct phrase_anchor {
    uint64_t hash;
    uint32_t phrase;
    uint32_t next; /* anchor of the same slot, counted from 1; 0: none */
};

enum { PHRASES_MAX = 512 };

/* Which phrases of a list are worth a closer look: bit i is the ith. */
struct phrase_marks {
    uint64_t v[PHRASES_MAX / 64];
};

struct phrase_set {
    const struct phrase *v;
    size_t n;
    const struct phrase_anchor *anchors;
    const uint32_t *slots;          /* of anchors, counted from 1 */
    size_t last_slot;               /* one less than a power of two */
    struct phrase_marks unanchored; /* phrases of which no word is needed */
};
