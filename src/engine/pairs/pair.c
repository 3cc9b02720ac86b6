/* pair.c - Signals of two texts, and the probabilities that they add up to. */
#include "engine/pairs/pair.h"

#include <math.h>

#include "words/words.h"

/* Words of a text that are looked at; times the length of a token's vector, squared: its product
 * with itself. */
enum { WORDS_MAX = 200 };
static const float whole = 127.0F * 127.0F;

/* A token that is so near to one of the other text has its match there. */
static const float matched = 0.8F;

/* A value of a mean is small beside the other signals. */
static const float vector_scale = 4;

/* Texts whose means are less near are not judged, as that saves half of the time: 4 % of the
 * replacements and 61 % of all pairs of the people that it was fitted to are so. */
static const float far_apart = 0.4F;

/* By words alone, and by vectors, too. */
static const struct pair_weights {
    struct pair_scale scale;
    struct pair_net net;
} weights[2] = {
#include "lang/pair.def"
};

/* From which probability on the later text may replace the earlier one (trial 086). */
static const double perhaps[2] = {0.29, 0.36};

#include "lang/pair_words.h" /* the keys of wordings, and their weights as above */

/* Spreads from its mean beyond which a signal says no more. */
static const float farthest = 6;

static void to_length_1(float *v)
{
    float length = 0;
    for (int k = 0; k < ENCODER_KEPT; k++)
        length += v[k] * v[k];
    for (int k = 0; k < ENCODER_KEPT && length > 0; k++)
        v[k] /= sqrtf(length);
}

static void read_tokens(struct arena *a, const int8_t *tokens, size_t n, struct pair_text *out)
{
    out->vectors = tokens;
    out->tokens = encoder_question(a, tokens, n);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < ENCODER_KEPT; k++)
            out->sum[k] += (float)tokens[i * ENCODER_KEPT + (size_t)k];
    memcpy(out->mean, out->sum, sizeof out->mean);
    to_length_1(out->mean);
}

static void read_wording(struct pair_text *out)
{
    if (out->wording)
        return;
    struct form_features *f = ROOM_N(out->a, struct form_features, 1);
    form_features_of(out->a, out->text, f);
    out->wording = ROOM_N(out->a, int, FORM_FEATURES);
    out->n_wording = form_slots(pair_words_keys, sizeof pair_words_keys / sizeof *pair_words_keys,
                                f, out->wording);
}

static void read_words(struct pair_text *out)
{
    struct arena *a = out->a;
    if (out->order)
        return;
    struct words w = words_of(a, out->text, WORDS_MAX);
    out->order = NEW_N(a, uint64_t, w.n + 1);
    out->telling = terms_with_room(a, w.n);
    out->length = log1p((double)w.n) / log1p(WORDS_MAX);
    for (size_t i = 0; i < w.n; i++) {
        uint64_t stem = out->order[out->n_order++] = str_hash(w.v[i].stem);
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
}

void pair_read(struct arena *a, str text, const int8_t *tokens, size_t n, struct pair_text *out)
{
    *out = (struct pair_text){.a = a, .text = text};
    if (n)
        read_tokens(a, tokens, n, out);
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

/* Where their words differ: how many each has alone, and the parts before and behind them. */
static void add_words(const struct pair_text *older, const struct pair_text *newer, size_t shared,
                      float *out)
{
    size_t head = 0, tail = 0, least = older->n_order;
    if (newer->n_order < least)
        least = newer->n_order;
    while (head < least && older->order[head] == newer->order[head])
        head++;
    while (tail < least - head &&
           older->order[older->n_order - 1 - tail] == newer->order[newer->n_order - 1 - tail])
        tail++;
    out[0] = log1pf((float)(older->telling.n - shared));
    out[1] = log1pf((float)(newer->telling.n - shared));
    out[2] = part_of(head, least);
    out[3] = part_of(tail, least);
}

/* How the tokens of one text find theirs in the other; those without a match are its rest. */
struct side {
    const struct pair_text *of;
    float mean, matched;
    float rest_mean[ENCODER_KEPT], same[ENCODER_KEPT]; /* of its rest, of its others: length 1 */
    size_t n;                                          /* of its rest */
    size_t at[ENCODER_TEXT];
    int8_t rest[ENCODER_TEXT * ENCODER_KEPT];
};

static void read_side(const struct pair_text *one, const struct pair_text *other, struct side *s)
{
    float n = (float)one->tokens.n;
    memset(s, 0, offsetof(struct side, at));
    s->of = one;
    encoder_compare(&one->tokens, other->vectors, other->tokens.n);
    for (size_t i = 0; i < one->tokens.n && i < ENCODER_TEXT; i++) {
        const int8_t *v = one->vectors + i * ENCODER_KEPT;
        float best = (float)one->tokens.best[i] / whole;
        s->mean += best / n;
        s->matched += (best >= matched) / n;
        if (best >= matched)
            continue;
        for (int k = 0; k < ENCODER_KEPT; k++)
            s->rest_mean[k] += (float)v[k];
        memcpy(s->rest + s->n * ENCODER_KEPT, v, ENCODER_KEPT);
        s->at[s->n++] = i;
    }
    for (int k = 0; k < ENCODER_KEPT; k++)
        s->same[k] = one->sum[k] - s->rest_mean[k];
    to_length_1(s->rest_mean);
    to_length_1(s->same);
}

/* Returns how near any two of their rests are. */
enum { OF_SIDE = 4 };
static float add_side(const struct side *s, const struct side *other, float *out)
{
    float most = 0, sum = 0;
    encoder_compare(&s->of->tokens, other->rest, other->n);
    for (size_t i = 0; i < s->n; i++) {
        float best = (float)s->of->tokens.best[s->at[i]] / whole;
        most = fmaxf(most, best);
        sum += best;
    }
    out[0] = s->mean;
    out[1] = s->matched;
    out[2] = log1pf((float)s->n);
    out[3] = s->n ? sum / (float)s->n : 1;
    return most;
}

static void add_vectors(const struct side *older, const struct side *newer, float *out)
{
    for (int k = 0; k < ENCODER_KEPT; k++) {
        float x = vector_scale * older->rest_mean[k], y = vector_scale * newer->rest_mean[k];
        out[k] = x * y / vector_scale;
        out[ENCODER_KEPT + k] = fabsf(x - y);
        out[2 * ENCODER_KEPT + k] = x;
        out[3 * ENCODER_KEPT + k] = y;
        out[4 * ENCODER_KEPT + k] = vector_scale * newer->same[k];
    }
}

void pair_signals(struct pair_text *older, struct pair_text *newer, const struct pair_scale *scale,
                  float *out)
{
    read_words(older);
    read_words(newer);
    size_t shared = terms_shared(&older->telling, &newer->telling);
    float *s = memset(out, 0, PAIR_SIGNALS * sizeof *out);
    s[0] = 1;
    s[1] = part_of(shared, older->telling.n);
    s[2] = part_of(shared, newer->telling.n);
    s[3] = (float)older->length;
    s[4] = (float)newer->length;
    s[5] = str_ends(str_trim(older->text), S("?"));
    s[6] = str_ends(str_trim(newer->text), S("?"));
    add_terms(s + 7, &older->names, &newer->names);
    add_terms(s + 11, &older->numbers, &newer->numbers);
    add_words(older, newer, shared, s + 15);
    if (older->tokens.n && newer->tokens.n) {
        struct side x, y;
        read_side(older, newer, &x);
        read_side(newer, older, &y);
        s[19] = cosine_of(older, newer);
        s[20] = add_side(&x, &y, s + 21);
        add_side(&y, &x, s + 21 + OF_SIDE);
        add_vectors(&x, &y, out + PAIR_BASE);
    }
    for (int i = 1; i < PAIR_BASE; i++)
        s[i] = fminf(fmaxf((s[i] - scale->mean[i]) / scale->spread[i], -farthest), farthest);
}

void pair_sums(const struct pair_net *net, const float *signals, float *hidden, float *sums)
{
    memset(hidden, 0, PAIR_HIDDEN * sizeof *hidden);
    memset(sums, 0, PAIR_LABELS * sizeof *sums);
    for (int i = 0; i < PAIR_SIGNALS; i++)
        for (int k = 0; k < PAIR_LABELS; k++)
            sums[k] += signals[i] * net->of[i][k];
    for (int i = 0; i < PAIR_BASE; i++)
        for (int h = 0; h < PAIR_HIDDEN; h++)
            hidden[h] += signals[i] * net->in[i][h];
    for (int h = 0; h < PAIR_HIDDEN; h++) {
        hidden[h] = fmaxf(hidden[h], 0);
        for (int k = 0; k < PAIR_LABELS; k++)
            sums[k] += hidden[h] * net->out[h][k];
    }
}

/* What the wordings say that only the newer text has. */
static void add_wording(struct pair_text *older, struct pair_text *newer, size_t first, float *sums)
{
    read_wording(older);
    read_wording(newer);
    for (size_t i = 0, k = 0; i < newer->n_wording; i++) {
        while (k < older->n_wording && older->wording[k] < newer->wording[i])
            k++;
        bool is_new = k == older->n_wording || older->wording[k] != newer->wording[i];
        for (size_t c = 0; is_new && c < PAIR_LABELS; c++)
            sums[c] += pair_words_weights[newer->wording[i]][first + c];
    }
}

struct pair_odds pair_judge(struct pair_text *older, struct pair_text *newer)
{
    float signals[PAIR_SIGNALS], hidden[PAIR_HIDDEN], sums[PAIR_LABELS];
    double most = -INFINITY, all = 0;
    struct pair_odds out;
    bool has_vectors = older->tokens.n && newer->tokens.n;
    pair_signals(older, newer, &weights[has_vectors].scale, signals);
    pair_sums(&weights[has_vectors].net, signals, hidden, sums);
    add_wording(older, newer, has_vectors ? PAIR_LABELS : 0, sums);
    for (int k = 0; k < PAIR_LABELS; k++)
        most = sums[k] > most ? sums[k] : most;
    for (int k = 0; k < PAIR_LABELS; k++)
        all += out.of[k] = exp((double)sums[k] - most);
    for (int k = 0; k < PAIR_LABELS; k++)
        out.of[k] /= all;
    out.may_replace = out.of[PAIR_REPLACES] >= perhaps[has_vectors];
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
