/* arabic.c - Arabic words without article, particles, endings and long vowels. */
#include "words/arabic.h"

/*
 * A word is written together with "and", "the", "for" in front and with pronouns behind, and its
 * plural or its tense changes vowels within. So particles and endings are cut as long as enough is
 * left, and long vowels behind the first letter are dropped; what is left are mostly the consonants
 * of the root. Letters have two bytes each here.
 */
enum { LETTER = 2 };

struct cut {
    const char *text;
    size_t least; /* letters that must be left */
};

/* The longest first. */
static const struct cut fronts[] = {
#define FRONT(text, least) {text, least},
#include "lang/arabic.def"
};
static const struct cut backs[] = {
#define BACK(text, least) {text, least},
#include "lang/arabic.def"
};
/* Of verbs in the present and of derived nouns; the consonants that must be left are three. */
static const struct cut verbs[] = {
#define VERB(text, least) {text, least},
#include "lang/arabic.def"
};

static bool cut_front(str *w, const struct cut *cuts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        str front = str_of(cuts[i].text);
        if (str_starts(*w, front) && w->n >= front.n + LETTER * cuts[i].least) {
            *w = str_sub(*w, front.n, w->n);
            return true;
        }
    }
    return false;
}

static bool cut_back(str *w)
{
    for (size_t i = 0; i < sizeof backs / sizeof *backs; i++) {
        str back = str_of(backs[i].text);
        if (str_ends(*w, back) && w->n >= back.n + LETTER * backs[i].least) {
            w->n -= back.n;
            return true;
        }
    }
    return false;
}

static bool is_vowel(str letter)
{
    return str_is(letter, "ا") || str_is(letter, "و") || str_is(letter, "ي");
}

/* Long vowels behind the first letter, and the second of two equal letters. */
static str consonants_of(struct arena *a, str w)
{
    str out = {arena_alloc(a, w.n + 1), 0};
    for (size_t i = 0; i + LETTER <= w.n; i += LETTER) {
        str letter = str_sub(w, i, i + LETTER);
        bool is_again = out.n && memcmp(out.p + out.n - LETTER, letter.p, LETTER) == 0;
        if (i && (is_vowel(letter) || is_again))
            continue;
        memcpy((char *)out.p + out.n, letter.p, LETTER);
        out.n += LETTER;
    }
    return out;
}

str arabic_stem(struct arena *a, str word)
{
    str w = word;
    for (size_t i = 0; i < w.n; i++)
        if ((unsigned char)w.p[i] < 0x80 || (unsigned char)w.p[i] >= 0xE0)
            return word; /* other letters are among them */
    cut_back(&w);
    cut_back(&w);
    cut_front(&w, fronts, sizeof fronts / sizeof *fronts);
    str root = consonants_of(a, w);
    cut_front(&root, verbs, sizeof verbs / sizeof *verbs);
    return root.n >= 2 * LETTER ? root : w;
}
