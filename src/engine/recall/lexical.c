/* lexical.c - from documents that hold a word of the question to the few worth a closer look. */
#include "engine/recall/lexical.h"

#include <endian.h>
#include <math.h>

#include "engine/gate/rarity.h"
#include "engine/text/rank.h"

/* A turn of a conversation is found by what is said around it more than by its own words, so each
 * document is scored with the words of its neighbours, weighted by distance. The weights of the
 * three scores in `base` only have to bring the right documents into the first hundred; the ranking
 * proper is learned. */
static const float one_before = 0.7f, two_before = 0.4f, one_after = 0.4f;
static const float label_weight = 0.18f, k_saturation = 1.2f;
static const double base_turn = 1, base_window = 1.5, base_session = 0.5;

/*
 * Documents of a session have consecutive numbers, so the list of hits, which is sorted by number,
 * has neighbours side by side: one pass scores each turn, its window and its session, without
 * another index and without reading a text. A count is one byte: the low four bits are how often
 * the word stands in the text, the high four how often in its label (label_weight), where the words
 * that a long text merely mentions stand, too (decisions/007).
 *
 * Example: of "What did the vet say?" the answer "Nothing broken, luckily." holds no word. It
 * becomes a candidate as the neighbour of the turn in front, which holds "vet".
 */

enum { WIDE = 5 };

/* Of a document that holds no word. */
static const uint8_t no_counts[QUERY_WORDS_MAX];

/* A hit or a neighbour of one. */
struct slot {
    doc_id doc;
    const uint8_t *counts; /* of the hit, or no_counts */
    float turn, window, session;
};

struct scanner {
    const struct word_hits *hits;
    const float *weights;
    size_t n_words;
    struct slot *slots;
    size_t n;
    float counts[256]; /* of the two counts of a hit */
    struct saturated {
        float turn, window;
    } saturated[256]; /* of four of them that are small */
    struct scan out;
};

/* Slots stay sorted by document, as spread adds them in order. */
static void push(struct scanner *s, doc_id doc, const uint8_t *counts)
{
    s->slots[s->n++] = (struct slot){.doc = doc, .counts = counts};
}

/* Hits and their neighbours, ascending: one before a hit and two behind it can see it. */
static void spread(struct scanner *s)
{
    const struct word_hit *v = s->hits->v;
    for (size_t i = 0; i < s->hits->n; i++) {
        doc_id doc = v[i].doc, last = s->n ? s->slots[s->n - 1].doc : -1;
        if (!doc_is_memory(doc) && doc_position(doc) > 0 && last < doc - 1)
            push(s, doc - 1, no_counts);
        push(s, doc, v[i].counts);
        doc_id next = i + 1 < s->hits->n ? v[i + 1].doc : INT64_MAX;
        for (doc_id d = doc + 1; !doc_is_memory(doc) && d <= doc + 2 && d < next; d++)
            push(s, d, no_counts);
    }
}

/* The counts of a document's words and of those around it: its own are in the middle. */
struct around {
    const uint8_t *counts[2 * WIDE + 1];
};

/* The search begins at slot i. */
static struct around look_around(const struct scanner *s, size_t i, doc_id doc)
{
    struct around out;
    for (int d = -WIDE; d <= WIDE; d++)
        out.counts[d + WIDE] = no_counts;
    while (i > 0 && s->slots[i - 1].doc >= doc - WIDE)
        i--;
    for (; i < s->n && s->slots[i].doc <= doc + WIDE; i++) {
        const struct slot *slot = &s->slots[i];
        bool is_seen = slot->doc == doc || !doc_is_memory(slot->doc);
        if (is_seen && slot->doc >= doc - WIDE)
            out.counts[slot->doc - doc + WIDE] = slot->counts;
    }
    return out;
}

/* A table of all 256 counts, so that no bit is taken apart in the inner loops. */
static float count_at(const struct scanner *s, const struct around *a, int distance, size_t word)
{
    return s->counts[a->counts[distance + WIDE][word]];
}

/* The counts of a slot, and those of its neighbours two and one before and one behind. */
struct near {
    const uint8_t *before2, *before, *own, *after;
};

/* A memory has no neighbours. */
static inline struct near look_near(const struct scanner *s, size_t i)
{
    const struct slot *at = &s->slots[i];
    struct near out = {no_counts, no_counts, at->counts, no_counts};
    doc_id doc = at->doc;
    if (doc_is_memory(doc))
        return out;
    if (i + 1 < s->n && at[1].doc == doc + 1)
        out.after = at[1].counts;
    size_t k = i >= 1 && at[-1].doc == doc - 1 ? 1 : 0;
    if (k)
        out.before = at[-1].counts;
    if (i > k && at[-1 - (ptrdiff_t)k].doc == doc - 2)
        out.before2 = at[-1 - (ptrdiff_t)k].counts;
    return out;
}

/* The counts of eight words; the first one's is the lowest byte. */
static inline uint64_t eight_of(const uint8_t *counts, size_t from)
{
    uint64_t eight;
    memcpy(&eight, counts + from, sizeof eight);
    return le64toh(eight);
}

/* The place of the first of them that is not 0, which becomes 0. */
static inline size_t next_of(uint64_t *eight)
{
    unsigned bit = (unsigned)__builtin_ctzll(*eight) & ~7u;
    *eight &= ~((uint64_t)0xFF << bit);
    return bit / 8;
}

/* Which of eight words stand in the slot or near it: a byte of each, not 0. */
static inline uint64_t any_of_eight(const struct near *n, size_t from)
{
    return eight_of(n->own, from) | eight_of(n->before, from) | eight_of(n->before2, from) |
           eight_of(n->after, from);
}

/* Most counts are 0 to 3, and of those all combinations are worked out before. */
enum { FEW = 4, FEW_BITS = 2 };

/* What a word adds to the scores of a slot, before its weight: to the turn's and the window's. */
static inline struct saturated saturate(const struct scanner *s, unsigned own, unsigned before,
                                        unsigned before2, unsigned after)
{
    float near = s->counts[own] + one_before * s->counts[before] + two_before * s->counts[before2] +
                 one_after * s->counts[after];
    return (struct saturated){rank_saturate(s->counts[own], k_saturation),
                              rank_saturate(near, k_saturation)};
}

static inline void score_word(const struct scanner *s, struct slot *slot, const struct near *n,
                              size_t w)
{
    unsigned own = n->own[w], before = n->before[w], before2 = n->before2[w], after = n->after[w];
    float weight = s->weights[w];
    unsigned all = own | before << FEW_BITS | before2 << 2 * FEW_BITS | after << 3 * FEW_BITS;
    bool is_few = (own | before | before2 | after) < FEW;
    struct saturated add = is_few ? s->saturated[all] : saturate(s, own, before, before2, after);
    slot->turn += weight * add.turn;
    slot->window += weight * add.window;
}

/* The hot loop of recall: it runs for each hit and its neighbours. Of most words nothing is near,
 * which is seen for eight of them at once. */
static void score_slot(struct scanner *s, size_t i)
{
    struct slot *slot = &s->slots[i];
    struct near n = look_near(s, i);
    static_assert(QUERY_WORDS_MAX % sizeof(uint64_t) == 0, "words are looked at in eights");
    for (size_t from = 0; from < s->n_words; from += sizeof(uint64_t))
        for (uint64_t any = any_of_eight(&n, from); any;)
            score_word(s, slot, &n, from + next_of(&any));
    s->out.best_turn = slot->turn > s->out.best_turn ? slot->turn : s->out.best_turn;
    s->out.best_window = slot->window > s->out.best_window ? slot->window : s->out.best_window;
}

/* A session's score is that of all its own words; a memory is a session of its own. */
static void score_session(struct scanner *s, size_t from, size_t to)
{
    float score = 0;
    unsigned all[QUERY_WORDS_MAX] = {0};
    for (size_t i = from; i < to; i++) {
        const uint8_t *counts = s->slots[i].counts;
        for (size_t at = 0; at < s->n_words && counts != no_counts; at += sizeof(uint64_t))
            for (uint64_t eight = eight_of(counts, at); eight;) {
                size_t w = at + next_of(&eight);
                all[w] += counts[w] & 15u;
            }
    }
    for (size_t w = 0; w < s->n_words; w++)
        if (all[w])
            score += s->weights[w] * rank_saturate((float)all[w], k_saturation);
    for (size_t i = from; i < to; i++)
        s->slots[i].session = score;
    s->out.best_session = score > s->out.best_session ? score : s->out.best_session;
}

static void score_sessions(struct scanner *s)
{
    for (size_t from = 0, to; from < s->n; from = to) {
        doc_id doc = s->slots[from].doc;
        for (to = from + 1;
             to < s->n && !doc_is_memory(doc) && doc_session(s->slots[to].doc) == doc_session(doc);)
            to++;
        score_session(s, from, to);
    }
}

static double base_of(const struct scanner *s, const struct slot *slot)
{
    return base_turn * scan_share(slot->turn, s->out.best_turn) +
           base_window * scan_share(slot->window, s->out.best_window) +
           base_session * scan_share(slot->session, s->out.best_session);
}

/* The greatest base_of is the last of these steps. */
enum { STEPS = 1024 };

static size_t step_of(double base)
{
    const double step = (base_turn + base_window + base_session) / (STEPS - 1);
    return (size_t)(base / step);
}

/* Scores are counted by their steps, so that only those that may be among the best `most`, a few
 * more than these, are sorted. Of equals the first document comes first. */
static struct ranked *pick_best(struct arena *a, const struct scanner *s, size_t most, size_t *n)
{
    uint32_t counts[STEPS] = {0};
    size_t least = s->n > most ? STEPS : 0, cap = 2 * most;
    double *bases = ROOM_N(a, double, s->n + 1);
    struct ranked *best = ROOM_N(a, struct ranked, cap);
    for (size_t i = 0; i < s->n; i++) {
        bases[i] = base_of(s, &s->slots[i]);
        counts[step_of(bases[i])]++;
    }
    for (size_t reached = 0; least && reached < most;)
        reached += counts[--least];
    for (size_t i = *n = 0; i < s->n; i++)
        if (step_of(bases[i]) >= least)
            ARENA_ADD(a, best, *n, cap) = (struct ranked){bases[i], (int64_t)i, i};
    rank_sort(best, *n);
    *n = *n < most ? *n : most;
    return best;
}

static void add_counts(const struct scanner *s, const uint8_t *more, uint8_t *counts)
{
    for (size_t w = 0; w < s->n_words && more != no_counts; w++) {
        unsigned all = counts[w] + (more[w] & 15u) + (more[w] >> 4);
        counts[w] = all < UINT8_MAX ? (uint8_t)all : UINT8_MAX;
    }
}

/* How much of the question stands in it or its window: each word once, a mention counts less. */
static float share_of(const struct scanner *s, const struct around *a, int from, int to)
{
    float has = 0, all = 0;
    for (size_t w = 0; w < s->n_words; w++) {
        float most = 0;
        all += s->weights[w];
        for (int d = from; d <= to; d++) {
            float count = count_at(s, a, d, w);
            most = count > most ? count : most;
        }
        has += s->weights[w] * (most < 1 ? most : 1);
    }
    return all > 0 ? has / all : 0;
}

/* Five turns to either side, all with the same weight. */
static float wide_score(const struct scanner *s, const struct around *a)
{
    float score = 0;
    for (size_t w = 0; w < s->n_words; w++) {
        float all = 0;
        for (int d = -WIDE; d <= WIDE; d++)
            all += count_at(s, a, d, w);
        score += s->weights[w] * rank_saturate(all, k_saturation);
    }
    return score;
}

/* The score of a neighbour that is in the slots, else 0. */
static float turn_at(const struct scanner *s, size_t i, int distance)
{
    size_t at = i + (size_t)distance;
    bool there = !doc_is_memory(s->slots[i].doc) && (distance > 0 ? at < s->n : i > 0) &&
                 s->slots[at].doc == s->slots[i].doc + distance;
    return there ? s->slots[at].turn : 0;
}

static struct candidate candidate_of(const struct scanner *s, size_t at, double base)
{
    const struct slot *slot = &s->slots[at];
    struct around a = look_around(s, at, slot->doc);
    struct candidate c = {
        .doc = slot->doc,
        .turn = slot->turn,
        .window = slot->window,
        .wide = wide_score(s, &a),
        .session = slot->session,
        .previous = turn_at(s, at, -1),
        .next = turn_at(s, at, 1),
        .base = base,
        .share = share_of(s, &a, 0, 0),
        .share_near = share_of(s, &a, -2, 1),
    };
    add_counts(s, a.counts[WIDE], c.own);
    for (int d = -2; d <= 1; d++)
        add_counts(s, a.counts[d + WIDE], c.near);
    return c;
}

/* One that no word is near: its session may hold some. */
static struct candidate far_from_words(const struct scanner *s, size_t at, doc_id doc)
{
    struct candidate c = {.doc = doc};
    for (size_t i = at ? at - 1 : 0; i <= at && !doc_is_memory(doc); i++)
        if (!doc_is_memory(s->slots[i].doc) && doc_session(s->slots[i].doc) == doc_session(doc))
            c.session = s->slots[i].session;
    struct around a = look_around(s, at, doc);
    c.wide = c.session > 0 ? wide_score(s, &a) : 0;
    c.base = base_session * scan_share(c.session, s->out.best_session);
    return c;
}

struct candidate scan_candidate(const struct scan *scan, doc_id doc)
{
    const struct scanner *s = scan->of;
    if (!s->n)
        return (struct candidate){.doc = doc};
    size_t at = doc_place(s->slots, s->n - 1, sizeof *s->slots, doc); /* or the last */
    if (s->slots[at].doc != doc)
        return far_from_words(s, at, doc);
    return candidate_of(s, at, base_of(s, &s->slots[at]));
}

/* How rare a word is in few texts is chance: where "get" stands in one of thirty, what is known of
 * English says more. 0 to 1, of its weight. */
static double rarity_share(str word, int64_t all)
{
    enum { HALF_SMALL = 100 };       /* texts of a pool that says as much as English does */
    static const double rare = 0.55; /* from here on a word is as rare as any */
    double small = (double)HALF_SMALL / (double)(HALF_SMALL + all);
    return 1 - small + small * fmin(word_rarity(word) / rare, 1);
}

double scan_weigh(const struct word_hits *hits, const str *texts, size_t n_words, int64_t all,
                  float *weights)
{
    double unknown = 0, known = 0;
    for (size_t w = 0; w < n_words; w++) {
        bool left_out = hits->found[w] == UINT32_MAX;
        double idf = left_out ? 0 : rank_idf(all, hits->found[w]);
        weights[w] = (float)(idf * (texts && idf > 0 ? rarity_share(texts[w], all) : 1));
        known += idf;
        unknown += hits->found[w] == 0 ? rank_idf(all, 1) : 0;
    }
    /* A small pool lacks most words whatever it is about. */
    double says = (double)all / ((double)all + 50);
    return known + unknown > 0 ? unknown / (known + unknown) * says : 0;
}

/* A hit has at most three neighbours, so 4 n slots are enough. */
struct scan scan_hits(struct arena *a, const struct word_hits *hits, const float *weights,
                      size_t n_words, size_t most)
{
    assert(n_words <= QUERY_WORDS_MAX);
    struct scanner *s = NEW(a, struct scanner);
    *s = (struct scanner){.hits = hits, .weights = weights, .n_words = n_words};
    s->slots = ROOM_N(a, struct slot, 4 * hits->n + 1);
    for (unsigned c = 0; c < 256; c++)
        s->counts[c] = (float)(c & 15) + (c >> 4 ? label_weight : 0);
    for (unsigned c = 0; c < FEW * FEW * FEW * FEW; c++)
        s->saturated[c] =
            saturate(s, c % FEW, c / FEW % FEW, c / FEW / FEW % FEW, c / FEW / FEW / FEW);
    spread(s);
    assert(s->n <= 4 * hits->n);
    for (size_t i = 0; i < s->n; i++)
        score_slot(s, i);
    score_sessions(s);
    s->out.of = s;
    const struct ranked *best = pick_best(a, s, most, &s->out.n);
    s->out.v = ROOM_N(a, struct candidate, s->out.n + 1);
    for (size_t i = 0; i < s->out.n; i++)
        s->out.v[i] = candidate_of(s, best[i].at, best[i].rank);
    return s->out;
}

void scan_measure(struct scan *scan, const struct candidate *v, size_t n)
{
    scan->best_turn = scan->best_window = scan->best_session = 0;
    for (size_t i = 0; i < n; i++) {
        scan->best_turn = fmaxf(scan->best_turn, v[i].turn);
        scan->best_window = fmaxf(scan->best_window, v[i].window);
        scan->best_session = fmaxf(scan->best_session, v[i].session);
    }
}

/* Measured over 1,155 questions of conversations (decisions/007). */
void candidate_guess_meaning(struct candidate *c)
{
    c->tokens = (struct token_match){.own = 0.48F + 0.2F * c->share,
                                     .own_rare = 0.39F + 0.4F * c->share,
                                     .near = 0.53F + 0.14F * c->share_near,
                                     .near_rare = 0.44F + 0.3F * c->share_near};
    c->dense = 0.36F + 0.13F * c->share;
    c->dense_window = 0.38F + 0.1F * c->share_near;
}
