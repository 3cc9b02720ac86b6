/* rarity.c - the rarity of a word in English, whatever a pool holds. */
#include "engine/gate/rarity.h"

#include "base/once.h"
#include "words/word_index.h"

/* A pool cannot tell whether a word that it lacks says much: "Zanzibar" does, "mention" does not.
 * The lists hold the commonest words of English in five steps; what is in none of them is rare. */
static const struct step {
    double rarity;
    str words; /* in the order of bytes, with a blank between */
} steps[] = {
#define COMMON(rarity, words) {rarity, {words, sizeof words - 1}},
#include "lang/common_words.def"
};

static const double rarest = 0.8;

struct common_word {
    str word;
    double rarity;
};

struct common_words {
    struct common_word *v;
    struct word_index index;
};

static void *make_words(const void *key, size_t n, size_t size)
{
    const struct step *all = key;
    (void)size;
    size_t bytes = 0, words = 0;
    for (size_t i = 0; i < n; i++)
        bytes += all[i].words.n;
    struct common_words *made = heap_alloc(sizeof *made);
    made->v = heap_alloc(bytes / 2 * sizeof *made->v); /* a letter and a blank each at least */
    for (size_t i = 0; i < n; i++)
        for (str rest = all[i].words; rest.n;)
            made->v[words++] = (struct common_word){str_cut(&rest, ' '), all[i].rarity};
    made->v = heap_grow(made->v, words * sizeof *made->v);
    made->index = word_index_make(made->v, words, sizeof *made->v);
    return made;
}

double word_rarity(str word)
{
    const struct common_words *known =
        once_of(steps, sizeof steps / sizeof *steps, sizeof *steps, make_words);
    uint32_t at = word_index_find_lower(&known->index, word);
    return at == NO_WORD ? rarest : known->v[at].rarity;
}

bool word_is_common(str word)
{
    return word_rarity(word) < rarest;
}
