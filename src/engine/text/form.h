/* form.h - Sums of fitted weights: what the wording of a text alone says of it. */
#pragma once

#include "base/str.h"

/*
 * A logistic over a text's words, pairs of neighbours, first two words, length and marks; for
 * questions over its vector by the encoder, too. It sees no memory: "Which knee was it again?"
 * needs something that was told, "How does a knee work?" does not, whoever asks. The tables of
 * weights say what they were fitted to.
 */
enum form {
    FORM_PERSONAL, /* a question needs what its person told: data/lang/form.def */
    FORM_FORGET,   /* a message asks to forget: data/lang/forget.def */
    FORM_WISH,     /* a sentence wishes something of all answers: data/lang/wish.def */
    FORM_LIST,     /* a question asks for several things, or in two steps: data/lang/list.def */
    FORM_TELLS,    /* a sentence tells something: data/lang/tells.def */
    FORM_KNOWN,    /* a question asks for all that is known of its person: data/lang/known.def */
    FORM_REPLY,    /* a question asks what the assistant said before: data/lang/reply.def */
    FORM_IDLE,     /* an assistant's sentence states nothing: data/lang/idle.def */
    FORM_TOPIC,    /* a standing wish is for a topic: data/lang/topic.def */
    FORM_GIVEN,    /* a message's head asks for work on the text behind it: data/lang/given.def */
    FORMS
};
/* Words alone, or beside the vector; asks, or merely asks; wishes, or takes back; tells although
 * rules say that it asks, or asks although they say that it tells; else one. */
enum { FORM_COLUMNS = 2 };

/* Features of one text; the same one may come twice. As a text it is kind, before, " " where there
 * is one before, word; the hash is that text's str_hash. */
enum { FORM_WORDS = 60, FORM_FEATURES = 2 * FORM_WORDS + 16 };
struct form_feature {
    str kind; /* "w " word, "p " pair, "f " first words, "n " class of length, "m " mark */
    str before, word;
    uint64_t hash;
};
struct form_features {
    struct form_feature v[FORM_FEATURES];
    size_t n;
};
void form_features_of(struct arena *a, str text, struct form_features *out);
/* The places of a table by tools/make-forms that hold a feature of f, ascending, each once. size:
 * of the table, a power of 2; out has room for FORM_FEATURES. Returns how many. */
size_t form_slots(const uint64_t *keys, size_t size, const struct form_features *f, int *out);

/* Logarithms of the odds by each column, 0 where nothing of it is known. */
struct form_odds {
    double by[FORM_COLUMNS];
};
struct form_odds form_odds_of(enum form form, str text);
/* FORM_PERSONAL of a question. vector: the ENCODER_SPACE values by the encoder, or NULL. */
double form_of(str question, const float *vector);
