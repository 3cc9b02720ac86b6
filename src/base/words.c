/* words.c - splitting, folding and stemming, by utf8proc and Snowball. */
#include "base/words.h"

#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "base/word_index.h"

/*
 * One pass over the text: each character is a letter, a digit, of an unspaced script, or other;
 * runs of letters and digits become words, runs of unspaced script become pairs. A word is folded
 * (compatibility forms, case, marks), checked against the stop words, led from an irregular form to
 * its base, and stemmed. Numbers, stop words and words of up to two bytes are not stemmed.
 * Everything is O(length), and results are in the arena of the caller.
 */

/* Bytes. Longer "words" are mostly encoded data; their beginning is enough to find them again. */
enum { STEM_MAX = 64 };

/*
 * The index, questions and every comparison of texts split words here, so that they agree on what a
 * word is. A change of the rules means that the words index of every store must be made again.
 * Stems are English: words of other languages match as they are written.
 */

static const str stops[] = {
#define STOP(w) {w, sizeof w - 1},
#include "base/stop.def"
#undef STOP
};

/* Forms whose base another word spells the same ("saw", "left", "found") are not among them. */
static const struct irregular {
    str form, base;
} irregulars[] = {
#define IRREGULAR(form, base) {{form, sizeof form - 1}, {base, sizeof base - 1}},
#include "base/irregular.def"
#undef IRREGULAR
};

/* Scripts that are written without spaces between words: indexed by pairs of characters. */
static bool is_unspaced(int32_t c)
{
    static const struct {
        int32_t from, to;
    } ranges[] = {{0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF},
                  {0x3040, 0x30FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},
                  {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].from && c <= ranges[i].to)
            return true;
    return false;
}

enum kind { KIND_OTHER, KIND_LETTER, KIND_DIGIT, KIND_UNSPACED };

static enum kind kind_of(int32_t c)
{
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? KIND_LETTER
               : c >= '0' && c <= '9'                           ? KIND_DIGIT
                                                                : KIND_OTHER;
    if (is_unspaced(c))
        return utf8proc_category(c) == UTF8PROC_CATEGORY_PO ? KIND_OTHER : KIND_UNSPACED;
    return utf8_is_letter(c) ? KIND_LETTER : utf8_is_digit(c) ? KIND_DIGIT : KIND_OTHER;
}

/* What a word is by its folded letters. Stemming takes longer than all else here, and the texts of
 * one recall or import repeat their words, so each thread keeps what it found last. */
enum { KNOWN_WORDS = 1024, KNOWN_LEAST = 3, KNOWN_MOST = 14 };
struct known_word {
    uint8_t n, stem_n; /* n is 0: free */
    bool is_stop;
    char word[KNOWN_MOST], stem[KNOWN_MOST + 1];
};

/* A stemmer is not for two threads at once; each has its own, given back when the thread ends. */
struct stemming {
    struct sb_stemmer *stemmer;
    struct known_word known[KNOWN_WORDS];
};

struct splitter {
    struct arena *a;
    struct stemming *stemming;
    str text;
    struct words out;
    size_t cap, max;
    const struct word_index *stops, *irregulars;
    bool is_plain;        /* nobody asks for the stems */
    bool sentence_begins; /* the next word begins a sentence */
};

/* "went" is "go", "colour" is "color"; other words are themselves. */
static str regular_form(const struct splitter *s, str w)
{
    uint32_t at = word_index_find(s->irregulars, w);
    return at == NO_WORD ? w : irregulars[at].base;
}

/* The character at i and its length; an invalid byte is one character of KIND_OTHER. */
static int32_t char_at(str s, size_t i, size_t *n)
{
    if ((unsigned char)s.p[i] < 0x80) {
        *n = 1;
        return s.p[i];
    }
    utf8proc_int32_t c;
    utf8proc_ssize_t got =
        utf8proc_iterate((const utf8proc_uint8_t *)s.p + i, (utf8proc_ssize_t)(s.n - i), &c);
    *n = got > 0 ? (size_t)got : 1;
    return got > 0 ? c : -1;
}

/* Without leaving early, so that the compiler takes many bytes at a time. */
static bool is_ascii(str s)
{
    bool ascii = true;
    for (size_t i = 0; i < s.n; i++)
        ascii &= (unsigned char)s.p[i] < 0x80;
    return ascii;
}

str utf8_lower(struct arena *a, str s)
{
    enum { LONGEST = 4 };
    if (is_ascii(s))
        return str_lower(a, s);
    /* The lower case of two bytes may have three. */
    str out = {arena_alloc(a, 2 * s.n + LONGEST), 0};
    utf8proc_uint8_t *to = (utf8proc_uint8_t *)out.p;
    for (size_t i = 0, n; i < s.n; i += n) {
        int32_t c = char_at(s, i, &n);
        if (c < 0)
            to[out.n++] = (utf8proc_uint8_t)s.p[i];
        else
            out.n += (size_t)utf8proc_encode_char(utf8proc_tolower(c), to + out.n);
    }
    return out;
}

/* Lower case without accents. "ﬁne" becomes "fine", "café" "cafe", "Straße" "strasse". Text that
 * utf8proc refuses stays as it is. */
static str fold_word(struct arena *a, str w)
{
    if (is_ascii(w))
        return str_lower(a, w);
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)w.p, (utf8proc_ssize_t)w.n, &folded,
                     UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK |
                         UTF8PROC_DECOMPOSE | UTF8PROC_IGNORE);
    if (n < 0)
        return w;
    str out = str_dup(a, (str){(const char *)folded, (size_t)n});
    free(folded);
    return out;
}

static struct word *push_word(struct splitter *s, size_t from, size_t to)
{
    s->out.v = arena_more(s->a, s->out.v, s->out.n, &s->cap, sizeof *s->out.v);
    struct word *w = &s->out.v[s->out.n++];
    *w = (struct word){.text = str_sub(s->text, from, to), .at = (uint32_t)from};
    return w;
}

/* The list of stop words holds folded, unstemmed words, so it is asked before stemming. */
static str stem_of(const struct splitter *s, str folded, bool is_number, bool *is_stop)
{
    *is_stop = word_index_find(s->stops, folded) != NO_WORD;
    if (is_number || *is_stop || folded.n < KNOWN_LEAST)
        return folded;
    str regular = regular_form(s, folded);
    struct sb_stemmer *stemmer = s->stemming->stemmer;
    const sb_symbol *stem = sb_stemmer_stem(stemmer, (const sb_symbol *)regular.p, (int)regular.n);
    return stem ? (str){(const char *)stem, (size_t)sb_stemmer_length(stemmer)} : regular;
}

static struct known_word *place_of(const struct splitter *s, str folded)
{
    return &s->stemming->known[str_hash(folded) % KNOWN_WORDS];
}

static void keep_known(struct known_word *k, str folded, str stem, bool is_stop)
{
    if (stem.n > sizeof k->stem)
        return;
    *k = (struct known_word){(uint8_t)folded.n, (uint8_t)stem.n, is_stop, {0}, {0}};
    memcpy(k->word, folded.p, folded.n);
    memcpy(k->stem, stem.p, stem.n);
}

static void stem_word(struct splitter *s, struct word *w)
{
    str folded = utf8_cut(fold_word(s->a, w->text), STEM_MAX), stem;
    bool is_kept = !w->is_number && folded.n >= KNOWN_LEAST && folded.n <= KNOWN_MOST;
    struct known_word *k = is_kept ? place_of(s, folded) : NULL;
    if (k && str_eq(folded, (str){k->word, k->n})) {
        stem = (str){k->stem, k->stem_n};
        w->is_stop = k->is_stop;
    } else {
        stem = stem_of(s, folded, w->is_number, &w->is_stop);
        if (k)
            keep_known(k, folded, stem, w->is_stop);
    }
    bool is_front = str_starts(folded, stem); /* most stems are; then they need no copy */
    w->stem = is_front ? str_sub(folded, 0, stem.n) : str_dup(s->a, stem);
    if (w->is_stop && w->stem.n == 1 && w->text.p[0] == 'I')
        w->is_name = false;
}

static void add_word(struct splitter *s, size_t from, size_t to, bool is_number)
{
    size_t n;
    struct word *w = push_word(s, from, to);
    int32_t first = char_at(s->text, from, &n);
    w->is_number = is_number;
    w->is_name = !s->sentence_begins && utf8proc_category(first) == UTF8PROC_CATEGORY_LU;
    if (!s->is_plain)
        stem_word(s, w);
    s->sentence_begins = false;
}

/* A run without spaces: each pair of neighbours, or the one character. */
static size_t add_pairs(struct splitter *s, size_t from)
{
    size_t n, next = from, first = from;
    size_t count = 0;
    while (next < s->text.n && kind_of(char_at(s->text, next, &n)) == KIND_UNSPACED &&
           s->out.n < s->max) {
        size_t after = next + n;
        if (count++) {
            struct word *w = push_word(s, first, after);
            w->stem = s->is_plain ? S("") : fold_word(s->a, w->text);
        }
        first = next;
        next = after;
    }
    if (count == 1) {
        struct word *w = push_word(s, from, next);
        w->stem = s->is_plain ? S("") : fold_word(s->a, w->text);
    }
    s->sentence_begins = false;
    return next;
}

/* The end of the word at i; a number keeps dots between digits. */
static size_t word_end(str t, size_t i, bool *is_number)
{
    size_t n;
    *is_number = true;
    while (i < t.n) {
        enum kind k = kind_of(char_at(t, i, &n));
        if (k == KIND_LETTER)
            *is_number = false;
        else if (k != KIND_DIGIT && !(*is_number && t.p[i] == '.' && i + 1 < t.n &&
                                      t.p[i + 1] >= '0' && t.p[i + 1] <= '9'))
            break;
        i += n;
    }
    return i;
}

static pthread_key_t stemming_key;
static pthread_once_t stemming_once = PTHREAD_ONCE_INIT;

static void end_stemming(void *p)
{
    struct stemming *mine = p;
    sb_stemmer_delete(mine->stemmer);
    free(mine);
}

static void make_key(void)
{
    pthread_key_create(&stemming_key, end_stemming);
}

static struct stemming *thread_stemming(void)
{
    pthread_once(&stemming_once, make_key);
    struct stemming *mine = pthread_getspecific(stemming_key);
    if (!mine) {
        mine = heap_alloc(sizeof *mine);
        mine->stemmer = sb_stemmer_new("english", NULL);
        pthread_setspecific(stemming_key, mine);
    }
    return mine;
}

/* Takes the splitter by value, as it is used up by one text. The first word of a text, and one
 * after a full stop, "!", "?" or a newline, begins a sentence: its capital says nothing about a
 * name. */
static struct words split_text(struct splitter s)
{
    str text = s.text;
    size_t i = 0, n;
    s.sentence_begins = true;
    while (i < text.n && s.out.n < s.max) {
        int32_t c = char_at(text, i, &n);
        enum kind k = kind_of(c);
        if (k == KIND_OTHER) {
            s.sentence_begins |= c == '.' || c == '!' || c == '?' || c == '\n';
            i += n;
        } else if (k == KIND_UNSPACED) {
            i = add_pairs(&s, i);
        } else {
            bool is_number;
            size_t end = word_end(text, i, &is_number);
            add_word(&s, i, end, is_number);
            i = end;
        }
    }
    return s.out;
}

struct words words_of(struct arena *a, str text, size_t max)
{
    return split_text((struct splitter){
        .a = a,
        .stemming = thread_stemming(),
        .stops = word_index_of(stops, sizeof stops / sizeof *stops, sizeof *stops),
        .irregulars =
            word_index_of(irregulars, sizeof irregulars / sizeof *irregulars, sizeof *irregulars),
        .text = text,
        .max = max});
}

struct words words_as_written(struct arena *a, str text, size_t max)
{
    return split_text((struct splitter){.a = a, .is_plain = true, .text = text, .max = max});
}
