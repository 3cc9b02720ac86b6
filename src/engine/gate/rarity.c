/* rarity.c - how rare a word is in English, whatever a pool holds. */
#include "engine/gate/rarity.h"

/*
 * A pool cannot tell whether a word that it lacks says much: "Zanzibar" does, "mention" does not.
 * The lists hold the commonest words of English in five steps; what is in none of them is rare.
 */
static const struct step {
    double rarity;
    str words; /* in the order of bytes, with a blank between */
} steps[] = {
#define COMMON(rarity, words) {rarity, {words, sizeof words - 1}},
#include "engine/gate/common_words.def"
#undef COMMON
};

static const double rarest = 0.8;

enum { WORD_MAX = 24 }; /* bytes of the longest word that is looked up */

/* The word of the list that the byte at `at` belongs to. */
static str word_at(str list, size_t at)
{
    size_t from = at, to = at;
    while (from > 0 && list.p[from - 1] != ' ')
        from--;
    while (to < list.n && list.p[to] != ' ')
        to++;
    return str_sub(list, from, to);
}

/* Halves the list until a word is left. */
static bool has_word(str list, str word)
{
    size_t from = 0, to = list.n;
    while (from < to) {
        str middle = word_at(list, (from + to) / 2);
        int order = str_cmp(word, middle);
        if (order == 0)
            return true;
        if (order < 0)
            to = (size_t)(middle.p - list.p);
        else
            from = (size_t)(middle.p - list.p) + middle.n + 1;
        if (order < 0 && to > from)
            to--; /* the blank in front of it */
    }
    return false;
}

double word_rarity(str word)
{
    char lower[WORD_MAX];
    if (!word.n || word.n > WORD_MAX)
        return rarest;
    for (size_t i = 0; i < word.n; i++)
        lower[i] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] + 32 : word.p[i]);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (has_word(steps[i].words, (str){lower, word.n}))
            return steps[i].rarity;
    return rarest;
}

bool word_is_common(str word)
{
    return word_rarity(word) < rarest;
}
