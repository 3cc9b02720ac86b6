/* pair.c - Signals of two texts, and the probabilities that they add up to. */
#include "engine/pairs/pair.h"

#include <math.h>

#include "words/words.h"

/* Words of a text that are looked at; times the length of a token's vector, squared: its product
 * with itself. */
enum { WORDS_MAX = 200 };
static const float whole = 127.0F * 127.0F;

/* A token that is so near to one of the other text has its match there; one that is farther than
 * the second has none. */
static const float matched = 0.8F, unmatched = 0.5F;

/* A value of a mean is small beside the other signals. */
static const float vector_scale = 4;

/* Texts whose means are less near are not judged, as that saves half of the time: 8 % of the
 * replacements in people-open.json and 47 % of its other pairs are so. */
static const float far_apart = 0.35F;

/* By words alone, and by vectors, too. */
static const struct pair_weights {
    struct pair_scale scale;
    float of[PAIR_SIGNALS][PAIR_LABELS];
} weights[2] = {
#include "lang/pair.def"
};

static const struct pair_word {
    const char *wording;
    float of[2][PAIR_LABELS]; /* as above */
} pair_words[] = {
#define PAIR_WORD(wording, alone, with) {wording, {alone, with}},
#define PAIR_OF(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#include "lang/pair_words.def"
#undef PAIR_OF
#undef PAIR_WORD
};
enum { PAIR_WORDS = sizeof pair_words / sizeof *pair_words };

/* Spreads from its mean beyond which a signal says no more. */
static const float farthest = 6;

static void read_tokens(struct arena *a, const int8_t *tokens, size_t n, struct pair_text *out)
{
    float length = 0;
    out->vectors = tokens;
    out->tokens = encoder_question(a, tokens, n);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < ENCODER_KEPT; k++)
            out->mean[k] += (float)tokens[i * ENCODER_KEPT + (size_t)k];
    for (int k = 0; k < ENCODER_KEPT; k++)
        length += out->mean[k] * out->mean[k];
    for (int k = 0; k < ENCODER_KEPT && length > 0; k++)
        out->mean[k] /= sqrtf(length);
}

static int compare_word(const void *key, const void *row)
{
    return str_cmp(*(const str *)key, str_of(((const struct pair_word *)row)->wording));
}

/* Both are sorted, so the rows ascend. */
static void read_wording(struct arena *a, str text, struct pair_text *out)
{
    struct form_features *f = ROOM_N(a, struct form_features, 1);
    form_features_of(a, text, f);
    for (size_t i = 0; i < f->n; i++) {
        const struct pair_word *row =
            bsearch(&f->v[i], pair_words, PAIR_WORDS, sizeof *pair_words, compare_word);
        if (row)
            out->wording[out->n_wording++] = (int)(row - pair_words);
    }
}

static void read_words(struct pair_text *out)
{
    struct arena *a = out->a;
    if (out->is_read)
        return;
    struct words w = words_of(a, out->text, WORDS_MAX);
    out->is_read = true;
    out->telling = terms_with_room(a, w.n);
    out->length = log1p((double)w.n) / log1p(WORDS_MAX);
    out->asks = str_ends(str_trim(out->text), S("?"));
    for (size_t i = 0; i < w.n; i++) {
        uint64_t stem = str_hash(w.v[i].stem);
        if (!w.v[i].is_stop)
            terms_add(a, &out->telling, stem);
        if (str_has_digit(w.v[i].text))
            terms_add(a, &out->numbers, stem);
        else if (w.v[i].is_name && !w.v[i].is_stop)
            terms_add(a, &out->names, stem);
    }
    terms_sort(&out->telling);
    terms_sort(&out->names);
    terms_sort(&out->numbers);
    read_wording(a, out->text, out);
}

void pair_read(struct arena *a, str text, const int8_t *tokens, size_t n, struct pair_text *out)
{
    *out = (struct pair_text){.a = a, .text = text};
    if (n)
        read_tokens(a, tokens, n, out);
}

/* How the tokens of one text find theirs in the other. */
struct token_share {
    float mean, least, matched, unmatched;
};

static struct token_share share_of(const struct pair_text *one, const struct pair_text *other)
{
    struct token_share s = {.least = 1};
    float n = (float)one->tokens.n;
    encoder_compare(&one->tokens, other->vectors, other->tokens.n);
    for (size_t i = 0; i < one->tokens.n; i++) {
        float best = (float)one->tokens.best[i] / whole;
        s.mean += best / n;
        s.least = best < s.least ? best : s.least;
        s.matched += (best >= matched) / n;
        s.unmatched += (best < unmatched) / n;
    }
    return s;
}

static float cosine_of(const struct pair_text *one, const struct pair_text *other)
{
    float sum = 0;
    for (int k = 0; k < ENCODER_KEPT; k++)
        sum += one->mean[k] * other->mean[k];
    return sum;
}

static float part_of(size_t some, size_t all)
{
    return all ? (float)some / (float)all : 0;
}

/* Whether both have some, in both, in one alone. */
static void add_terms(float *out, const struct term_set *older, const struct term_set *newer)
{
    size_t shared = terms_shared(older, newer);
    out[0] = shared > 0;
    out[1] = older->n > shared;
    out[2] = newer->n > shared;
    out[3] = older->n && newer->n && !shared;
}

static void add_vectors(const struct pair_text *older, const struct pair_text *newer, float *out)
{
    for (int k = 0; k < ENCODER_KEPT; k++) {
        out[k] = vector_scale * older->mean[k] * newer->mean[k];
        out[ENCODER_KEPT + k] = vector_scale * fabsf(older->mean[k] - newer->mean[k]);
        out[2 * ENCODER_KEPT + k] = vector_scale * older->mean[k];
        out[3 * ENCODER_KEPT + k] = vector_scale * newer->mean[k];
    }
}

static float held(float x)
{
    return fminf(fmaxf(x, -farthest), farthest);
}

void pair_signals(struct pair_text *older, struct pair_text *newer, const struct pair_scale *scale,
                  float *out)
{
    read_words(older);
    read_words(newer);
    float *s = out, *products = out + PAIR_BASE;
    size_t shared = terms_shared(&older->telling, &newer->telling);
    memset(out, 0, PAIR_SIGNALS * sizeof *out);
    s[0] = 1;
    s[1] = part_of(shared, older->telling.n);
    s[2] = part_of(shared, newer->telling.n);
    s[3] = shared > 2 ? 1 : (float)shared / 3;
    add_terms(s + 4, &older->names, &newer->names);
    add_terms(s + 8, &older->numbers, &newer->numbers);
    s[12] = (float)older->length;
    s[13] = (float)newer->length;
    s[14] = older->asks;
    s[15] = newer->asks;
    if (older->tokens.n && newer->tokens.n) {
        struct token_share x = share_of(older, newer), y = share_of(newer, older);
        s[16] = cosine_of(older, newer);
        s[17] = x.mean;
        s[18] = y.mean;
        s[19] = x.least;
        s[20] = y.least;
        s[21] = x.matched;
        s[22] = y.matched;
        s[23] = x.unmatched;
        add_vectors(older, newer, products + PAIR_PRODUCTS);
    }
    for (int i = 1; i < PAIR_BASE; i++)
        s[i] = held((s[i] - scale->mean[i]) / scale->spread[i]);
    for (int i = 1; i < PAIR_BASE; i++)
        for (int k = i; k < PAIR_BASE; k++)
            *products++ = held(s[i] * s[k]);
    assert(products == out + PAIR_BASE + PAIR_PRODUCTS);
}

size_t pair_wording(struct pair_text *older, struct pair_text *newer, int *out)
{
    size_t n = 0, k = 0;
    read_words(older);
    read_words(newer);
    for (size_t i = 0; i < newer->n_wording; i++) {
        while (k < older->n_wording && older->wording[k] < newer->wording[i])
            k++;
        if (k == older->n_wording || older->wording[k] != newer->wording[i])
            out[n++] = newer->wording[i];
    }
    return n;
}

struct pair_odds pair_judge(struct pair_text *older, struct pair_text *newer)
{
    float signals[PAIR_SIGNALS], sums[PAIR_LABELS] = {0};
    int wording[FORM_FEATURES];
    double most = -INFINITY, all = 0;
    struct pair_odds out;
    bool has_vectors = older->tokens.n && newer->tokens.n;
    const struct pair_weights *w = &weights[has_vectors];
    pair_signals(older, newer, &w->scale, signals);
    for (int i = 0; i < PAIR_SIGNALS; i++)
        for (int k = 0; k < PAIR_LABELS; k++)
            sums[k] += signals[i] * w->of[i][k];
    size_t n = pair_wording(older, newer, wording);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < PAIR_LABELS; k++)
            sums[k] += pair_words[wording[i]].of[has_vectors][k];
    for (int k = 0; k < PAIR_LABELS; k++)
        most = sums[k] > most ? sums[k] : most;
    for (int k = 0; k < PAIR_LABELS; k++)
        all += out.of[k] = exp((double)sums[k] - most);
    for (int k = 0; k < PAIR_LABELS; k++)
        out.of[k] /= all;
    return out;
}

bool pair_may_be(struct pair_text *older, struct pair_text *newer)
{
    if (older->tokens.n && newer->tokens.n)
        return cosine_of(older, newer) >= far_apart;
    read_words(older);
    read_words(newer);
    return terms_shared(&older->telling, &newer->telling);
}
