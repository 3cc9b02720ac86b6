/* directive.c - Cues, runs and words of a text, and their sum for an order. */
#include "engine/judge/directive.h"

#include <math.h>
#include <utf8proc.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/judge/plain.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"

/* What an order is made of, in any language: who, whom, when, what. Two of them in a row say more
 * than any word, and what one language teaches the others have as well. */
enum cue {
#define LIST(name) name,
#include "lang/directive_lists.h"
    /* by their form */
    CUE_LINK,
    CUE_JSON,
    CUE_TAG,
    CUE_ROLE,
    CUE_QUOTE,
    CUES
};

static const struct cue_word {
    const char *text; /* a "." at its end is the end of the word */
    int cue;
} cue_words[] = {
#define IN_LIST(name, text) {text, name},
#include "lang/directive_lists.h"
};
enum { CUE_WORDS = sizeof cue_words / sizeof *cue_words };

/* Weights are whole numbers. */
static const struct directive_bar {
    enum directive kind;
    double scale, constant;
} bars[WHOSE_COUNT] = {
#include "engine/judge/directive.def"
};

/* Characters of a run; bytes of sentences that are judged together; cues that make pairs. */
enum { RUN_MOST = 5, RUN_LEAST = 3, RUN_WIDE = 2, JOINED = 120, CUES_READ = 60, PAIR_FAR = 6 };

/* By how much cues count for more than runs. */
static const double cues_count = 1.5;

struct marks {
    uint64_t bits[DIRECTIVE_SPACE / 64];
};

static void mark_at(struct marks *m, size_t at)
{
    m->bits[at / 64] |= (uint64_t)1 << (at % 64);
}

static void mark(struct marks *m, uint64_t hash)
{
    hash ^= hash >> 29;
    mark_at(m, hash * 0x9E3779B97F4A7C15U >> 48); /* 16 bits: DIRECTIVE_RUNS */
}

static uint64_t mix(uint64_t hash, uint64_t c)
{
    return (hash ^ c) * 0x100000001B3U;
}

enum { SEED_RUN = 1, SEED_WORD, SEED_PAIR, SEED_GAP, SEED_FIRST };

/* --- cues --- */

/* A text's letters without anything between them, and where its words begin. */
struct letters_alone {
    char *p;
    bool *begins;  /* a word may begin here */
    bool *is_word; /* it does */
    size_t n;
};

/* Some scripts part no words; Arabic joins "the" and "and" to the word behind them. */
static struct letters_alone letters_of(struct arena *a, const int32_t *v, size_t n)
{
    enum { JOINED_ON = 3, LONG = 20 };
    struct letters_alone l = {ROOM_N(a, char, 4 * n + 1), NEW_N(a, bool, 4 * n + 1),
                              NEW_N(a, bool, 4 * n + 1), 0};
    size_t in_word = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_letter = utf8_is_letter(v[i]) || utf8_is_digit(v[i]);
        if (!is_letter && v[i] != '\'' && v[i] != '-')
            in_word = 0;
        if (!is_letter)
            continue;
        bool is_dense = (v[i] >= 0x2E80 && v[i] < 0xAC00) || (v[i] >= 0x0E00 && v[i] <= 0x0E7F);
        bool is_arabic = v[i] >= 0x600 && v[i] <= 0x6FF;
        l.is_word[l.n] = !in_word;
        l.begins[l.n] =
            !in_word || is_dense || (is_arabic && in_word <= JOINED_ON) || in_word > LONG;
        in_word++;
        l.n += (size_t)utf8proc_encode_char(v[i], (uint8_t *)l.p + l.n);
    }
    l.begins[l.n] = l.is_word[l.n] = true;
    return l;
}

/* Whether a word, of which the first two bytes are there, is there as a whole. */
static bool cue_stands(const struct letters_alone *l, size_t at, const char *word)
{
    size_t i = 2;
    for (; word[i] && word[i] != '.'; i++)
        if (at + i >= l->n || l->p[at + i] != word[i])
            return false;
    return !word[i] || l->is_word[at + i] || (unsigned char)word[0] >= 0xE2;
}

/* A word's first two bytes, in the order of the list. */
static int pair_of(const char *p)
{
    return (unsigned char)p[0] << 8 | (unsigned char)p[1];
}

/* The first word that begins with these two bytes, or one behind it. */
static size_t first_cue(int pair)
{
    size_t from = 0, to = CUE_WORDS;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (pair_of(cue_words[middle].text) < pair)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static size_t read_cues(const struct letters_alone *l, int *out)
{
    size_t n = 0;
    for (size_t at = 0; at + 1 < l->n && n < CUES_READ; at++) {
        if (!l->begins[at])
            continue;
        int pair = pair_of(l->p + at);
        for (size_t i = first_cue(pair);
             i < CUE_WORDS && pair_of(cue_words[i].text) == pair && n < CUES_READ; i++)
            if (cue_stands(l, at, cue_words[i].text) && (!n || out[n - 1] != cue_words[i].cue))
                out[n++] = cue_words[i].cue;
    }
    return n;
}

/* "http://", "{"name":", "<|", "system: …". */
static size_t read_forms(str plain, int *out)
{
    static const struct {
        const char *text;
        enum cue cue;
    } forms[] = {{"://", CUE_LINK}, {"www.", CUE_LINK},     {"@", CUE_LINK}, {"{\"", CUE_JSON},
                 {"\":", CUE_JSON}, {"<", CUE_TAG},         {"[", CUE_TAG},  {"###", CUE_TAG},
                 {"\"", CUE_QUOTE}, {"\xC2\xAB", CUE_QUOTE}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_find(plain, str_of(forms[i].text)) < plain.n &&
            (!n || out[n - 1] != (int)forms[i].cue))
            out[n++] = forms[i].cue;
    return n;
}

static void mark_cue(struct marks *m, size_t at)
{
    mark_at(m, DIRECTIVE_RUNS + at % (DIRECTIVE_SPACE - DIRECTIVE_RUNS));
}

static void mark_cues(struct arena *a, struct marks *m, str plain, const int32_t *v, size_t n)
{
    enum { HEAD_BYTES = 40 };
    int cues[CUES_READ + 10];
    struct letters_alone l = letters_of(a, v, n);
    size_t forms = read_forms(plain, cues), read = forms + read_cues(&l, cues + forms);
    size_t colon = str_find(plain, S(":"));
    if (colon < plain.n && colon < HEAD_BYTES && read < CUES_READ)
        cues[read++] = CUE_ROLE;
    for (size_t i = 0; i < read; i++) {
        mark_cue(m, (size_t)cues[i]);
        if (i - forms < 2)
            mark_cue(m, (size_t)(CUES + cues[i]));
        for (size_t k = i + 1; k < read && (k < i + PAIR_FAR || i < forms); k++)
            mark_cue(m, (size_t)(2 * CUES + cues[i] * CUES + cues[k]));
    }
    if (!read)
        mark_cue(m, 2 * CUES + CUES * CUES);
}

/* --- runs and words --- */

/* Runs that leave blanks out, so that words which are parted or joined have most of them, too. */
static void mark_runs(struct marks *m, const int32_t *v, size_t n)
{
    for (size_t from = 0; from < n; from++) {
        uint64_t hash = SEED_RUN;
        size_t taken = 0;
        for (size_t i = from; i < n && taken < RUN_MOST && v[from] != ' '; i++) {
            if (v[i] == ' ')
                continue;
            hash = mix(hash, (uint64_t)v[i]);
            taken++;
            if (taken >= RUN_LEAST || (taken == RUN_WIDE && v[from] >= 0x900))
                mark(m, hash);
        }
    }
}

static void mark_words(struct marks *m, const int32_t *v, size_t n)
{
    uint64_t last = 0, before = 0;
    size_t count = 0;
    for (size_t from = 0, to; from < n; from = to + 1) {
        uint64_t word = SEED_WORD;
        for (to = from; to < n && (utf8_is_letter(v[to]) || v[to] == '\''); to++)
            word = mix(word, (uint64_t)v[to]);
        if (to == from)
            continue;
        mark(m, word);
        mark(m, count ? mix(mix(SEED_PAIR, last), word) : mix(SEED_FIRST, word));
        if (count > 1)
            mark(m, mix(mix(SEED_GAP, before), word));
        before = last;
        last = word;
        count++;
    }
}

void directive_features_of(struct arena *a, str plain, struct directive_features *out)
{
    struct marks *m = NEW(a, struct marks);
    int32_t *v = ROOM_N(a, int32_t, plain.n + 1);
    size_t n = 0, took;
    for (size_t i = 0; i < plain.n; i += took)
        v[n++] = utf8_at(plain, i, &took);
    mark_runs(m, v, n);
    mark_words(m, v, n);
    mark_cues(a, m, plain, v, n);
    out->n = out->n_runs = 0;
    for (int i = 0; i < DIRECTIVE_SPACE / 64; i++)
        for (uint64_t left = m->bits[i]; left && out->n < DIRECTIVE_FEATURES; left &= left - 1) {
            out->v[out->n++] = 64 * i + __builtin_ctzll(left);
            out->n_runs += i < DIRECTIVE_RUNS / 64;
        }
}

/* By the root of how many there are, so that long texts do not add up. */
double directive_share(const struct directive_features *f, bool is_run)
{
    return is_run ? 1 / sqrt((double)f->n_runs + 1)
                  : cues_count / sqrt((double)(f->n - f->n_runs) + 1);
}

/* How far it is on the side of an order, by the weights in the binary; from 0 on it is one. */
static double directive_odds(enum whose whose, const struct directive_features *f)
{
    const struct directive_bar *bar = &bars[whose];
    const int8_t *of = directive_bytes + (size_t)bar->kind * DIRECTIVE_SPACE;
    int64_t sums[2] = {0}; /* of its cues, of its runs */
    for (size_t i = 0; i < f->n; i++)
        sums[i < f->n_runs] += of[f->v[i]];
    return bar->constant + bar->scale * ((double)sums[true] * directive_share(f, true) +
                                         (double)sums[false] * directive_share(f, false));
}

static bool is_part_directive(struct arena *scratch, str text, enum whose whose)
{
    bool is_own = whose == WHOSE_OWN;
    arena_reset(scratch);
    str plain = text_plain(scratch, text);
    bool is_plain = str_eq_nocase(str_trim(text), plain);
    if (sentence_instructs(scratch, text, is_own) ||
        (!is_plain && sentence_instructs(scratch, plain, is_own)))
        return true;
    struct directive_features *f = ROOM_N(scratch, struct directive_features, 1);
    directive_features_of(scratch, plain, f);
    return f->n && directive_odds(whose, f) >= 0;
}

/* A sentence without an end is judged by parts, each from the middle of the one before: no order
 * falls between two. By bytes, as an answer's need not be UTF-8: so each step goes on. */
static bool is_directive(struct arena *scratch, str text, enum whose whose)
{
    while (!is_part_directive(scratch, utf8_cut(text, PLAIN_MOST), whose)) {
        if (text.n <= PLAIN_MOST)
            return false;
        text = str_sub(text, PLAIN_MOST / 2, text.n);
    }
    return true;
}

str directive_front(str text, bool is_joined)
{
    struct sentence s;
    str rest = text;
    while (sentence_next(&rest, true, &s) && is_joined && text.n - rest.n < JOINED)
        ;
    return str_sub(text, 0, text.n - rest.n);
}

/* Joined: what is split over several short sentences or lines is found, too. */
static struct directed take_directed(struct arena *a, str text, enum whose whose, bool is_joined)
{
    struct buf kept = buf_make(a, text.n + 1), taken = buf_make(a, 2 * text.n + 1);
    CLEANUP(arena_free) struct arena scratch = {0};
    for (str rest = text; rest.n;) {
        str alone = directive_front(rest, false);
        str front = is_joined ? directive_front(rest, true) : alone;
        bool is_judged = is_joined && front.n == alone.n; /* before, as no order */
        bool is_one = !is_judged && is_directive(&scratch, front, whose);
        front = !is_one ? alone : whose == WHOSE_OWN ? front : rest;
        if (is_one && taken.n)
            buf_byte(&taken, '\n');
        buf_add(is_one ? &taken : &kept, is_one ? str_trim(front) : front);
        rest = str_sub(rest, front.n, rest.n);
    }
    if (!taken.n)
        return (struct directed){.kept = text};
    return (struct directed){true, str_trim(buf_str(&kept)), buf_str(&taken)};
}

struct directed text_directed(struct arena *a, str text, enum whose whose)
{
    struct directed d = take_directed(a, text, whose, false);
    return d.is_any ? d : take_directed(a, text, whose, true);
}
