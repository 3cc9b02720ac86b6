/* lexical.h - from documents that hold a word of the question to the few worth a closer look. */
#pragma once

#include "base/ctx.h"
#include "engine/vectors/token_match.h"
#include "store/store.h"

/* A document with what its place in the conversation says about it. */
struct candidate {
    doc_id doc;
    float turn;              /* how well its own words and label answer the question */
    float window;            /* the same with the words around it: two before, one after */
    float wide;              /* with five before and five after */
    float session;           /* of the whole session */
    float previous, next;    /* turn of the neighbours */
    double base;             /* what it was picked by */
    float share, share_near; /* of the question's weight: how much stands in it, in its window */
    uint8_t own[QUERY_WORDS_MAX];  /* how often each word stands in it … */
    uint8_t near[QUERY_WORDS_MAX]; /* … and in its window */
    struct token_match tokens;     /* of the encoder */
    float dense, dense_window;     /* cosines of its vector and its window's; 0 without vectors */
    float beside;                  /* Qdrant's cosine; 0: it did not find it */
};

/* The worth of each word among `all` documents, by how many hold it; one that was left out for time
 * has none. texts: the words, whose rarity in English counts where the documents are few; or NULL.
 * Gives the share of the weight of words that stand nowhere, less in a small pool: a sign that the
 * question is about something else. */
double scan_weigh(const struct word_hits *hits, const str *texts, size_t n_words, int64_t all,
                  float *weights);

struct scanner;

struct scan {
    struct candidate *v; /* best first */
    size_t n;
    float best_turn, best_window, best_session; /* of all documents, for scale */
    const struct scanner *of;                   /* for scan_candidate */
};

/* Scores are comparable only within one question, so each is a share of the best. */
static inline double scan_share(float score, float best)
{
    return best > 0 ? (double)score / (double)best : 0;
}

/* One pass over the hits, which outlive it, as do weights, the worth of each word. The documents
 * of a session are consecutive numbers, so neighbours are found in the list itself; neighbours
 * of hits that hold no word themselves take part. Some of them may not exist (behind the end of
 * a session). */
struct scan scan_hits(struct arena *a, const struct word_hits *hits, const float *weights,
                      size_t n_words, size_t most);

/* Any document of the pool with what stands around it, whether it was found by words or not. */
struct candidate scan_candidate(const struct scan *scan, doc_id doc);

/* The best scores, which others are measured by, of these alone. A question that was asked before
 * fits itself best, and where it may not be given, it shall not make the others look poor. */
void scan_measure(struct scan *scan, const struct candidate *v, size_t n);

/* Of a text that the encoder has not read yet: what texts with as much of the question mean of it
 * on average, so that what was told a moment ago is not behind all that was read. */
void candidate_guess_meaning(struct candidate *c);
