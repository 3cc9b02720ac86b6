/* language.c - the language of a text, and its words without their endings. */
#include "words/language.h"

#include <libstemmer.h>
#include <utf8proc.h>

#include "base/once.h"
#include "base/utf8.h"
#include "lang/language_lists.h"
#include "words/stem_table.h"
#include "words/words.h"

/*
 * Most rules are Snowball's. Beside them stand three tables of lang/language.def: function words,
 * which tell the language of a text and say nothing about a topic; odd forms and their bases; nouns
 * that end German compounds. A text in Latin letters is of the language that has most of its
 * function words; a word that several languages have counts for each of them the less. Other
 * scripts tell their language at each word.
 */

enum { READ_WORDS = 80, READ_BYTES = 2000, WHOLE = 60, PROVES = 2 };

/* Beside the bits of the languages: one such word proves none of them. */
enum { WEAK_WORD = 1 << LANGUAGES };

struct odd_form {
    str form, base;
};

/* English forms whose base another word spells the same ("saw", "left", "found") are not among
 * them. */
static const struct odd_form irregulars[] = {
#define IRREGULAR(form, base) {{form, sizeof form - 1}, {base, sizeof base - 1}},
#include "lang/irregular.def"
};

/* What is made of lang/language.def at the first use. */
struct vocabulary {
    struct arena arena;
    struct stem_table functions; /* folded; a bit for each language */
    struct odd_form *odd[LANGUAGES];
    struct word_index odd_index[LANGUAGES];
    struct stem_table heads;
};

static const struct row {
    enum language language;
    const char *base, *words;
} rows[] = {
#define FUNCTION(language, words) {language, NULL, words},
#define BASE(language, base, forms) {language, base, forms},
#define HEAD(words) {GERMAN, "", words},
#include "lang/language.def"
};

static const char weak[] =
#define WEAK(words) words " "
#include "lang/language.def"
    ;

static const char *const english[] = {
#define STOP(w) w,
#include "lang/stop.def"
};

static const char *const stemmer_names[LANGUAGES] = {
    [ENGLISH] = "english",       [GERMAN] = "german",   [FRENCH] = "french", [SPANISH] = "spanish",
    [PORTUGUESE] = "portuguese", [RUSSIAN] = "russian", [HINDI] = "hindi"};

/* --- folding --- */

static str map_word(struct arena *a, str w, int options)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)w.p, (utf8proc_ssize_t)w.n, &folded,
                     (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                         UTF8PROC_IGNORE | options));
    if (n < 0)
        return w;
    str out = str_dup(a, (str){(const char *)folded, (size_t)n});
    free(folded);
    return out;
}

str language_plain(struct arena *a, str word)
{
    return utf8_is_ascii(word) ? str_lower(a, word)
                               : map_word(a, word, UTF8PROC_STRIPMARK | UTF8PROC_DECOMPOSE);
}

/* What stands for what in composed, case-folded text; 0: nothing. */
static int32_t letter_of(int32_t c)
{
    static const struct {
        int32_t from, to, becomes;
    } letters[] = {
        {0x0451, 0x0451, 0x0435},                           /* Cyrillic io: ie */
        {0x0621, 0x0621, 0},      {0x0622, 0x0623, 0x0627}, /* Arabic hamza; alef with marks */
        {0x0624, 0x0624, 0x0648}, {0x0625, 0x0625, 0x0627}, /* waw with hamza; alef with hamza */
        {0x0626, 0x0626, 0x064A}, {0x0629, 0x0629, 0x0647}, /* yeh with hamza; teh marbuta: heh */
        {0x0640, 0x0640, 0},      {0x0649, 0x0649, 0x064A}, /* tatweel; alef maksura: yeh */
        {0x064B, 0x065F, 0},      {0x0670, 0x0670, 0},      /* vowel signs */
        {0x0671, 0x0671, 0x0627}, {0x06A9, 0x06A9, 0x0643}, /* alef wasla; Persian kaf and yeh */
        {0x06CC, 0x06CC, 0x064A}, {0x0901, 0x0901, 0x0902}, /* candrabindu: anusvara */
        {0x093C, 0x093C, 0},                                /* nukta */
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (c >= letters[i].from && c <= letters[i].to)
            return letters[i].becomes;
    return c;
}

/* "हिन्दी" is also written "हिंदी": a nasal without a vowel, before a consonant of a class. */
static bool is_nasal_before(const int32_t *c, size_t left)
{
    enum { VIRAMA = 0x094D, KA = 0x0915, MA = 0x092E };
    bool is_nasal = *c == 0x0919 || *c == 0x091E || *c == 0x0923 || *c == 0x0928 || *c == MA;
    return is_nasal && left > 2 && c[1] == VIRAMA && c[2] >= KA && c[2] < MA && c[2] != 0x0928;
}

static str fold_letters(struct arena *a, str w)
{
    enum { ANUSVARA = 0x0902 };
    int32_t *c = NEW_N(a, int32_t, w.n + 1);
    size_t n = 0;
    for (size_t i = 0, bytes; i < w.n; i += bytes) {
        c[n] = letter_of(utf8_at(w, i, &bytes));
        if (c[n] < 0)
            return w;
        n += c[n] != 0;
    }
    str out = {arena_alloc(a, 4 * n + 1), 0};
    for (size_t i = 0; i < n; i++) {
        bool is_nasal = is_nasal_before(c + i, n - i);
        out.n += (size_t)utf8proc_encode_char(is_nasal ? ANUSVARA : c[i],
                                              (utf8proc_uint8_t *)out.p + out.n);
        i += is_nasal;
    }
    return n ? out : w;
}

str language_fold(struct arena *a, str word, enum language language)
{
    if (utf8_is_ascii(word))
        return str_lower(a, word);
    str folded = map_word(a, word, UTF8PROC_COMPOSE);
    return language >= RUSSIAN ? fold_letters(a, folded) : folded;
}

enum language language_of_script(int32_t c)
{
    return c < 0x0400                                                   ? ENGLISH
           : c < 0x0530                                                 ? RUSSIAN
           : c >= 0x0600 && c < 0x0780                                  ? ARABIC
           : (c >= 0xFB50 && c < 0xFE00) || (c >= 0xFE70 && c < 0xFF00) ? ARABIC
           : c >= 0x0900 && c < 0x0980                                  ? HINDI
                                                                        : ENGLISH;
}

/* --- the rules about endings --- */

/* As Snowball does it; the stem lasts until the next call. */
static str stem_with(struct stemmers *s, enum language language, str word)
{
    if (!stemmer_names[language])
        return word;
    if (!s->of[language])
        s->of[language] = sb_stemmer_new(stemmer_names[language], NULL);
    struct sb_stemmer *with = s->of[language];
    assert(with);
    const sb_symbol *stem = sb_stemmer_stem(with, (const sb_symbol *)word.p, (int)word.n);
    return stem ? (str){(const char *)stem, (size_t)sb_stemmer_length(with)} : word;
}

/* People leave accents out that the stemmers need. */
static str with_accents(struct arena *a, enum language language, str w)
{
    static const struct {
        enum language language;
        const char *typed, *means;
    } endings[] = {
#define ACCENT(language, typed, means) {language, typed, means},
#include "lang/language.def"
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        str typed = str_of(endings[i].typed);
        if (endings[i].language == language && w.n > typed.n + 2 && str_ends(w, typed))
            return str_printf(a, S_FMT "%s", S_ARG(str_sub(w, 0, w.n - typed.n)), endings[i].means);
    }
    return w;
}

/* Of separable verbs: "angemeldet" is "anmelden". */
static size_t separable_of(str w)
{
    for (const char *const *p = parted_prefixes; *p; p++)
        if (str_starts(w, str_of(*p)))
            return strlen(*p);
    return 0;
}

/* "Kuehlschrank" is "Kühlschrank", whose stem has no dots. */
static str without_digraphs(struct arena *a, str w)
{
    static const char vowels[] = "aeiouyq";
    str out = {arena_alloc(a, w.n + 1), 0};
    for (size_t i = 0; i < w.n; i++) {
        bool is_second = w.p[i] == 'e' && i && i + 1 < w.n && char_is_one_of(w.p[i - 1], "aou");
        if (is_second && !char_is_one_of(w.p[i + 1], vowels) &&
            (i == 1 || !char_is_one_of(w.p[i - 2], vowels)))
            continue;
        ((char *)out.p)[out.n++] = w.p[i];
    }
    return out;
}

/* "gekauft", "kaufte" and "kaufen" have one stem, and so have "Autos" and "Auto": Snowball leaves
 * "ge", "t" and "s". What it makes of nouns ("Gesicht": "sich") is made of all their forms. */
static str german_stem(struct arena *a, str stem)
{
    enum { SHORT = 5 };
    size_t prefix = separable_of(stem);
    str rest = str_sub(stem, prefix, stem.n);
    if (rest.n > SHORT && str_starts(rest, S("ge")) && str_ends(rest, S("t")))
        stem = prefix ? str_printf(a, S_FMT S_FMT, (int)prefix, stem.p,
                                   S_ARG(str_sub(rest, 2, rest.n)))
                      : str_sub(rest, 2, rest.n);
    if (stem.n > SHORT && (str_ends(stem, S("tet")) || str_ends(stem, S("det"))))
        stem.n -= 2;
    if (stem.n >= SHORT - 1 && str_ends(stem, S("s")) &&
        char_is_one_of(stem.p[stem.n - 2], "aeiouy"))
        stem.n--;
    if (stem.n >= SHORT && str_ends(stem, S("t")))
        stem.n--;
    return without_digraphs(a, stem);
}

/* Snowball leaves the vowel in front of an ending of verbs: "лежал" is "лежа", "лежат" "леж". */
static str russian_stem(struct arena *a, str stem)
{
    enum { LEAST = 6 };
    for (const char *const *end = russian_endings; *end; end++)
        if (stem.n >= LEAST + strlen(*end) && str_ends(stem, str_of(*end)))
            return str_dup(a, str_sub(stem, 0, stem.n - strlen(*end)));
    return str_dup(a, stem);
}

/* By the rules about endings alone. */
static str regular_stem(struct arena *a, struct stemmers *s, enum language language, str word)
{
    str folded = language_fold(a, word, language);
    str stem = stem_with(s, language, with_accents(a, language, folded));
    if (language == RUSSIAN)
        return russian_stem(a, stem);
    if (language >= RUSSIAN)
        return str_dup(a, stem);
    stem = language_plain(a, stem);
    return language == GERMAN ? german_stem(a, stem) : stem;
}

/* --- Arabic --- */

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

/* The first that fits, at the front of the word or at its end. */
static void cut_one(str *w, const struct cut *cuts, size_t n, bool at_end)
{
    for (size_t i = 0; i < n; i++) {
        str text = str_of(cuts[i].text);
        bool is_there = at_end ? str_ends(*w, text) : str_starts(*w, text);
        if (is_there && w->n >= text.n + LETTER * cuts[i].least) {
            *w = at_end ? str_sub(*w, 0, w->n - text.n) : str_sub(*w, text.n, w->n);
            return;
        }
    }
}

/* Long vowels behind the first letter, and the second of two equal letters. */
static str consonants_of(struct arena *a, str w)
{
    str out = {arena_alloc(a, w.n + 1), 0};
    for (size_t i = 0; i + LETTER <= w.n; i += LETTER) {
        str letter = str_sub(w, i, i + LETTER);
        bool is_again = out.n && memcmp(out.p + out.n - LETTER, letter.p, LETTER) == 0;
        bool is_vowel = str_is(letter, "ا") || str_is(letter, "و") || str_is(letter, "ي");
        if (i && (is_vowel || is_again))
            continue;
        memcpy((char *)out.p + out.n, letter.p, LETTER);
        out.n += LETTER;
    }
    return out;
}

/* "والحقائب" and "حقيبة" have one stem. */
static str arabic_stem(struct arena *a, str word)
{
    str w = word;
    if (SOME(i, w.n, (unsigned char)w.p[i] < 0x80 || (unsigned char)w.p[i] >= 0xE0))
        return word; /* other letters are among them */
    cut_one(&w, backs, sizeof backs / sizeof *backs, true);
    cut_one(&w, backs, sizeof backs / sizeof *backs, true);
    cut_one(&w, fronts, sizeof fronts / sizeof *fronts, false);
    str root = consonants_of(a, w);
    cut_one(&root, verbs, sizeof verbs / sizeof *verbs, false);
    return root.n >= 2 * LETTER ? root : w;
}

/* --- the vocabulary --- */

/* Stems in the making. */
struct stems {
    struct stem *v;
    size_t n, cap;
};

static void add_functions(struct arena *a, struct stems *out, int language, str words)
{
    while (words.n) {
        str word = str_cut(&words, ' ');
        if (word.n)
            ARENA_ADD(a, out->v, out->n, out->cap) =
                (struct stem){language_fold(a, word, (enum language)language), 1u << language};
    }
}

static struct stem_table make_functions(struct arena *a)
{
    struct stems s = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!rows[i].base)
            add_functions(a, &s, rows[i].language, str_of(rows[i].words));
    for (size_t i = 0; i < sizeof english / sizeof *english; i++)
        add_functions(a, &s, ENGLISH, str_of(english[i]));
    add_functions(a, &s, LANGUAGES, str_of(weak));
    return stem_table_made(s.v, s.n);
}

/* The form that comes first in the table wins where two have one stem. */
static void make_odd_forms(struct vocabulary *v, struct stemmers *s, enum language language)
{
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].base || !*rows[i].base || rows[i].language != language)
            continue;
        str base = regular_stem(&v->arena, s, language, str_of(rows[i].base));
        for (str words = str_of(rows[i].words); words.n;) {
            str form = regular_stem(&v->arena, s, language, str_cut(&words, ' '));
            if (!str_eq(form, base) && !SOME(k, n, str_eq(v->odd[language][k].form, form)))
                ARENA_ADD(&v->arena, v->odd[language], n, cap) = (struct odd_form){form, base};
        }
    }
    v->odd_index[language] = word_index_make(v->odd[language], n, sizeof *v->odd[language]);
}

static struct stem_table make_heads(struct arena *a, struct stemmers *s)
{
    struct stems heads = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str words = str_of(rows[i].base && !*rows[i].base ? rows[i].words : NULL);
        while (words.n) {
            str stem = stem_with(s, GERMAN, language_fold(a, str_cut(&words, ' '), GERMAN));
            ARENA_ADD(a, heads.v, heads.n, heads.cap) = (struct stem){language_plain(a, stem), 1};
        }
    }
    return stem_table_made(heads.v, heads.n);
}

static void *make_vocabulary(const void *key, size_t n, size_t size)
{
    assert(key == rows && n && size == sizeof *rows);
    struct vocabulary *v = heap_alloc(sizeof *v);
    struct stemmers s = {{NULL}};
    v->functions = make_functions(&v->arena);
    for (int i = GERMAN; i < LANGUAGES; i++)
        make_odd_forms(v, &s, (enum language)i);
    v->heads = make_heads(&v->arena, &s);
    stemmers_close(&s);
    return v;
}

static const struct vocabulary *vocabulary(void)
{
    return once_of(rows, sizeof rows / sizeof *rows, sizeof *rows, make_vocabulary);
}

/* --- which language --- */

bool language_is_function_word(enum language language, str folded)
{
    return stem_bits(&vocabulary()->functions, folded) >> language & 1;
}

/* A word of several languages counts for none of them as much as one of a single language. */
static void count_word(unsigned languages, unsigned scores[LANGUAGES], unsigned proofs[LANGUAGES])
{
    unsigned of = languages & (WEAK_WORD - 1), worth = languages & WEAK_WORD ? 1 : PROVES;
    unsigned share = of ? WHOLE * worth / PROVES / (unsigned)__builtin_popcount(of) : 0;
    for (int i = 0; i < LANGUAGES; i++) {
        scores[i] += of >> i & 1 ? share : 0;
        proofs[i] += of >> i & 1 ? worth : 0;
    }
}

enum language language_of(struct arena *a, str text, bool is_guess)
{
    const struct stem_table *functions = &vocabulary()->functions;
    unsigned scores[LANGUAGES] = {0}, proofs[LANGUAGES] = {0};
    struct words w = words_as_written(a, utf8_cut(text, READ_BYTES), READ_WORDS);
    for (size_t i = 0; i < w.n; i++)
        count_word(stem_bits(functions, language_fold(a, w.v[i].text, GERMAN)), scores, proofs);
    enum language best = ENGLISH;
    for (int i = GERMAN; i < RUSSIAN; i++)
        if (scores[i] > scores[best] && proofs[i] >= (is_guess ? 1 : PROVES))
            best = (enum language)i;
    return best;
}

/* --- stems --- */

str language_stem(struct arena *a, struct stemmers *s, enum language language, str folded)
{
    assert(language < LANGUAGES);
    if (language == ENGLISH) { /* "went" is "go", "colour" is "color" */
        uint32_t at = word_index_find(WORD_INDEX(irregulars), folded);
        return stem_with(s, ENGLISH, at == NO_WORD ? folded : irregulars[at].base);
    }
    if (language == ARABIC)
        return arabic_stem(a, folded);
    const struct vocabulary *v = vocabulary();
    str stem = regular_stem(a, s, language, folded);
    uint32_t odd = word_index_find(&v->odd_index[language], stem);
    return odd == NO_WORD ? stem : v->odd[language][odd].base;
}

/* Where the last part of a compound begins: at the longest noun that other words end with. */
static size_t head_of(const struct vocabulary *v, str stem)
{
    enum { FRONT = 3, HEAD = 2 };
    for (size_t at = FRONT; at + HEAD <= stem.n; at++)
        if (stem_bits(&v->heads, str_sub(stem, at, stem.n)))
            return at;
    return 0;
}

size_t language_parts(struct arena *a, struct stemmers *s, enum language language, str folded,
                      str parts[PARTS_MAX])
{
    enum { LEAST = 7, FRONT_LEAST = 4 };
    const struct vocabulary *v = vocabulary();
    size_t n = 0;
    if (language != GERMAN || folded.n < LEAST)
        return 0;
    str rest = language_plain(a, stem_with(s, GERMAN, folded));
    for (size_t at; n + 1 < PARTS_MAX && rest.n >= LEAST - 1 && (at = head_of(v, rest));) {
        parts[n++] = german_stem(a, str_sub(rest, at, rest.n));
        rest = str_sub(rest, 0, at);
        rest.n -= at > FRONT_LEAST && str_ends(rest, S("s")); /* it joins the parts: "Wohnungs-" */
        rest = language_plain(a, stem_with(s, GERMAN, rest));
    }
    if (n)
        parts[n++] = german_stem(a, rest);
    return n;
}

void stemmers_close(struct stemmers *s)
{
    for (int i = 0; i < LANGUAGES; i++)
        if (s->of[i])
            sb_stemmer_delete(s->of[i]);
}
