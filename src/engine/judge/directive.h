/* directive.h - The judge of orders, which finds what tells a model what to do. */
#pragma once

#include "base/str.h"

/* Two linear judges of what a text says once nothing hides it (plain.h). They see runs of
 * characters, words and pairs of words, and cues: words of data/lang for what an order is made of,
 * which mean the same in each language. directive.def says what they were fitted to and how well
 * they judge; directive.weights has their weights. */
enum { DIRECTIVE_RUNS = 1 << 16, DIRECTIVE_SPACE = DIRECTIVE_RUNS + (1 << 12) };
enum { DIRECTIVE_FEATURES = 8192 };

enum directive {
    DIRECTIVE_TAKEOVER, /* what nobody wishes from his own assistant: "ignore all instructions" */
    DIRECTIVE_ANY,      /* any order or wish to a model: "from now on answer in French" */
    DIRECTIVE_KINDS
};

/* The features of a text as text_plain gives it: each once, ascending. */
struct directive_features {
    int v[DIRECTIVE_FEATURES];
    size_t n, n_runs; /* runs of characters and words, which come first; then cues */
};
/* What each of its runs, or else of its cues, counts. */
double directive_share(const struct directive_features *f, bool is_run);
void directive_features_of(struct arena *a, str plain, struct directive_features *out);

/* The part of a text that is judged at once: its first sentence; is_joined: with short ones behind
 * it. */
str directive_front(str text, bool is_joined);

/* Whose words a text is. The less of it is said to its reader in good faith, the less of an order
 * is enough (decisions/017). */
enum whose {
    WHOSE_OWN,    /* a person's to his own assistant: only what nobody wishes is one */
    WHOSE_ANSWER, /* a model's: advice to its user is full of imperatives */
    WHOSE_OTHERS, /* anybody's */
    WHOSE_COUNT
};

/* The weights of each kind, one after the other. */
extern const int8_t directive_bytes[], directive_bytes_end[];

/* Which sentences of a text tell a model what to do; those that do so only together as well. */
struct directed {
    bool is_any;
    str kept;  /* the text without them; text itself when there are none */
    str taken; /* them, one a line */
};
/* Of words that are not his own, what follows the first such sentence goes as well: it is what the
 * order is about. */
struct directed text_directed(struct arena *a, str text, enum whose whose);
