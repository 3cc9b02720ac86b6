/* words.c - splitting, folding and stemming, by utf8proc and Snowball. */
#include "words/words.h"

#include <pthread.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "words/language.h"

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
 * Latin stems are English for comparing, as two texts may be of two languages; the index has the
 * stems of the text's own language beside them, and a question asks for those of its own.
 */

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

/* A mark, and a letter that is never seen (a filler), only go on with a word: they fold to nothing,
 * and the selector behind an emoji would be a word that all emojis have. */
static bool begins_word(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
           !utf8proc_get_property(c)->ignorable;
}

/* What a word is by its folded letters. Stemming takes longer than all else here, and the texts of
 * one recall or import repeat their words, so each thread keeps what it found last. */
enum { KNOWN_WORDS = 4096, KNOWN_LEAST = 3, KNOWN_MOST = 14 };
struct known_word {
    uint8_t n, stem_n; /* n is 0: free */
    uint8_t script;    /* by whose rules: a character that folds away may hide that of the rest */
    bool is_stop;
    char word[KNOWN_MOST], stem[KNOWN_MOST];
};

/* A stemmer is not for two threads at once; each has its own, given back when the thread ends. */
struct stemming {
    struct stemmers stemmers;
    struct known_word known[KNOWN_WORDS];
};

struct splitter {
    struct arena *a;
    struct stemming *stemming;
    str text;
    struct words out;
    size_t cap, max;
    enum word_use use;
    enum language language; /* of the words in Latin letters */
    bool is_japanese;
    bool is_plain;        /* nobody asks for the stems */
    bool sentence_begins; /* the next word begins a sentence */
};

/* Pointers to words before it are no longer good. */
static struct word *push_word(struct splitter *s, size_t from, size_t to)
{
    struct word *w = &ARENA_ADD(s->a, s->out.v, s->out.n, s->cap);
    *w = (struct word){.text = str_sub(s->text, from, to), .at = (uint32_t)from};
    return w;
}

/* The lists of function words are folded and not stemmed, so they are asked before stemming. */
static str stem_of(const struct splitter *s, str folded, enum language script, bool *is_stop)
{
    *is_stop = language_is_function_word(script, folded);
    if (*is_stop || folded.n < KNOWN_LEAST)
        return folded;
    return language_stem(s->a, &s->stemming->stemmers, script, folded);
}

static void keep_known(struct known_word *k, str folded, enum language script, str stem,
                       bool is_stop)
{
    if (stem.n > sizeof k->stem)
        return;
    *k =
        (struct known_word){(uint8_t)folded.n, (uint8_t)stem.n, (uint8_t)script, is_stop, {0}, {0}};
    memcpy(k->word, folded.p, folded.n);
    memcpy(k->stem, stem.p, stem.n);
}

static void stem_word(struct splitter *s, struct word *w, enum language script)
{
    str folded = script ? language_fold(s->a, w->text, script) : language_plain(s->a, w->text),
        stem;
    folded = utf8_cut(folded, STEM_MAX);
    bool is_kept = !w->is_number && folded.n >= KNOWN_LEAST && folded.n <= KNOWN_MOST;
    struct known_word *k = is_kept ? &s->stemming->known[str_hash(folded) % KNOWN_WORDS] : NULL;
    if (w->is_number) {
        stem = folded;
    } else if (k && k->script == script && str_eq(folded, (str){k->word, k->n})) {
        stem = (str){k->stem, k->stem_n};
        w->is_stop = k->is_stop;
    } else {
        stem = stem_of(s, folded, script, &w->is_stop);
        if (k)
            keep_known(k, folded, script, stem, w->is_stop);
    }
    bool is_front = str_starts(folded, stem); /* most stems are; then they need no copy */
    w->stem = is_front ? str_sub(folded, 0, stem.n) : str_dup(s->a, stem);
    if (w->is_stop && w->stem.n == 1 && w->text.p[0] == 'I')
        w->is_name = false;
}

/* Another form of the word in front, at the same place. */
static void add_form(struct splitter *s, str stem)
{
    struct word w = s->out.v[s->out.n - 1];
    if (s->out.n == s->max || str_eq(w.stem, stem))
        return;
    w.stem = stem;
    w.is_part = true;
    ARENA_ADD(s->a, s->out.v, s->out.n, s->cap) = w;
}

/* The stem of the text's own language, and the parts of a compound. A text has them beside the
 * word; a question asks for them in its place, and for the parts of a compound alone, since a text
 * that has the whole has its parts. */
static void add_own_forms(struct splitter *s)
{
    struct word *w = &s->out.v[s->out.n - 1];
    str parts[PARTS_MAX], folded = utf8_cut(language_fold(s->a, w->text, s->language), STEM_MAX);
    bool is_function = language_is_function_word(s->language, folded);
    w->is_stop |= is_function;
    if (w->is_stop || w->is_number || folded.n < KNOWN_LEAST)
        return;
    str stem = language_stem(s->a, &s->stemming->stemmers, s->language, folded);
    size_t n = language_parts(s->a, &s->stemming->stemmers, s->language, folded, parts), first = 0;
    if (s->use == TO_ASK)
        w->stem = n ? parts[first++] : stem;
    else
        add_form(s, stem);
    for (size_t i = first; i < n; i++)
        add_form(s, parts[i]);
}

static void add_word(struct splitter *s, size_t from, size_t to, bool is_number)
{
    size_t n;
    struct word *w = push_word(s, from, to);
    int32_t first = utf8_at(s->text, from, &n);
    enum language script = language_of_script(first);
    w->is_number = is_number;
    w->is_name = !s->sentence_begins && utf8proc_category(first) == UTF8PROC_CATEGORY_LU;
    if (!s->is_plain)
        stem_word(s, w, script);
    if (s->use != TO_COMPARE && s->language != ENGLISH && script == ENGLISH)
        add_own_forms(s);
    s->sentence_begins = false;
}

/* A run without spaces: its pairs, and what else its use asks for. A longer one goes by pieces, so
 * that no more is read than max words take. */
static size_t add_run(struct splitter *s, size_t from)
{
    enum { PIECE = 3000 };
    size_t n, end = from;
    while (end < s->text.n && end - from < PIECE &&
           kind_of(utf8_at(s->text, end, &n)) == KIND_UNSPACED)
        end += n;
    struct run_tokens run =
        run_tokens_of(s->a, str_sub(s->text, from, end), s->use, s->is_japanese);
    for (size_t i = 0; i < run.n && s->out.n < s->max; i++) {
        const struct run_token *t = &run.v[i];
        struct word *w = push_word(s, from + t->from, from + t->from + t->text.n);
        w->is_part = t->is_part;
        w->is_unspaced = true;
        w->text = t->text;
        w->stem = s->is_plain ? S("") : language_fold(s->a, t->text, ENGLISH);
    }
    s->sentence_begins = false;
    return end;
}

/* The end of the word at i; a number keeps dots between digits. */
static size_t word_end(str t, size_t i, bool *is_number)
{
    size_t n;
    *is_number = true;
    while (i < t.n) {
        enum kind k = kind_of(utf8_at(t, i, &n));
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
    stemmers_close(&mine->stemmers);
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
        int32_t c = utf8_at(text, i, &n);
        enum kind k = kind_of(c);
        if (k == KIND_OTHER || (k == KIND_LETTER && c >= 0x80 && !begins_word(c))) {
            s.sentence_begins |= c == '.' || c == '!' || c == '?' || c == '\n';
            i += n;
        } else if (k == KIND_UNSPACED) {
            i = add_run(&s, i);
        } else {
            bool is_number;
            size_t end = word_end(text, i, &is_number);
            add_word(&s, i, end, is_number);
            i = end;
        }
    }
    return s.out;
}

static struct splitter splitter_of(struct arena *a, str text, size_t max)
{
    return (struct splitter){.a = a, .stemming = thread_stemming(), .text = text, .max = max};
}

struct words words_of(struct arena *a, str text, size_t max)
{
    return split_text(splitter_of(a, text, max));
}

struct words words_for(struct arena *a, str text, size_t max, enum word_use use)
{
    struct splitter s = splitter_of(a, text, max);
    s.use = use;
    s.language = language_of(a, text, false);
    s.is_japanese = has_kana(text);
    return split_text(s);
}

struct words words_as_written(struct arena *a, str text, size_t max)
{
    return split_text((struct splitter){.a = a, .is_plain = true, .text = text, .max = max});
}

bool words_have(const struct words *w, const char *const *list)
{
    return SOME(i, w->n, str_is_one_of(w->v[i].text, list));
}
