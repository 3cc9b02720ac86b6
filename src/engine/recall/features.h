/* features.h - features of a candidate as numbers, and their weighted sums. */
#pragma once

#include "engine/engine.h"
#include "engine/gate/weights.h"
#include "engine/questions/query.h"
#include "engine/recall/lexical.h"
#include "engine/text/lexicon.h"

/* What goes in beside the best needs this share of the score that the best needs. */
#define GATE_BESIDE 0.25
/* The share of that for a question for all that was said of something. */
#define GATE_OF_BROAD 0.4
/* By meaning alone a score is a cosine, and what lines need is so many times as much. */
#define GATE_COSINE 5
/* A phrase that asks for memory ("do you remember") lowers the threshold to the first share; one
 * that names a time ("in June") to the second, where the gate decides. One that only speaks of the
 * user ("mein Garten") lowers it to the third, where the wording is not asked. */
#define GATE_ASKED 0.1
#define GATE_OF_TIME 0.6
#define GATE_OF_USER 0.2

enum signal {
#define SIGNAL(name, sets, fit, help, ...) SIGNAL_##name,
#include "engine/recall/feature_weights.def"
#undef SIGNAL
    SIGNAL_COUNT
};

/* What holds for all candidates of a question. */
struct asked_of {
    struct arena *a;
    const struct query *query;
    const struct scan *scan;
    double rarest;  /* weight of a word that stands in one document */
    double unknown; /* share of the weight of words that nobody says, less in a small pool */
    bool is_chat;   /* what was found was said in chats with an assistant */
    str person;     /* the one speaker whom the question names, or "" */
};

/* The only speaker of the messages whom the question names; with two it names none. */
str speaker_asked(const struct query *q, const struct message *m, size_t n);

/* previous is the text of the message before, or "". Exactly one of message and memory is there.
 * out has SIGNALS_MAX places. */
void signals_of(const struct asked_of *q, const struct candidate *c, const struct message *message,
                const struct memory *memory, str previous, double *out);

/* Puts the candidates that promise most in front, at most `most`, by what is known without reading
 * their texts; gives their number. */
size_t signals_most_promising(struct arena *a, const struct asked_of *q, enum weights weights,
                              struct candidate *v, size_t n, size_t most);

struct weighed {
    double rank; /* what candidates of one question are ordered by */
    double sure; /* 0 to 1: how probable it is that it helps to answer, for receipts and the gate */
};
struct weighed signals_weigh(enum weights weights, const double *signals);
