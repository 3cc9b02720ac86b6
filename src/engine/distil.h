/* distil.h - what a session leaves behind: asked of the core model, checked, kept. */
#pragma once

#include "base/words.h"
#include "engine/engine_int.h"

/* What a model says of a session. Where it does not say how much something matters, a rule does. */
#define SALIENCE_UNSAID (-1)
struct said_episode {
    str summary;
    struct strs topics, decisions, action_items;
    double salience;
};
struct said_pinned {
    str content;
    double salience;
    struct strs tags;
};
struct said_of_session {
    struct said_episode episode;
    struct strs entities;
    const struct json *pinned_candidates; /* an array of said_pinned */
    struct strs identity_facts;
};
extern const struct field said_of_session_fields[], said_pinned_fields[];

/* One session on its way to memories. */
struct distilling {
    struct engine *e;
    struct pool_ref pool;
    str session;
    struct pending_signal *signals; /* their texts without injected blocks */
    size_t n;
    int64_t date;            /* when its last turn was said */
    struct memory *identity; /* what is known of the user in the pool */
    size_t n_identity;
    struct memory *episodes; /* of other sessions, the latest first */
    size_t n_episodes;
    const struct memory *before; /* the episode of what was distilled of it before, or NULL */
};

/* The episode of a session always has this id. */
str episode_id(struct arena *a, str session);

/* --- distil_prompt.c --- */

str distil_instructions(void);
/* The conversation and what is known already, as lines of JSON: data, whatever they say. */
str distil_prompt(struct arena *a, const struct distilling *d);
/* A summary without the pleasantries that models begin with. */
str distil_summary(struct arena *a, str text);

/* --- distil_keep.c --- */

/* How many were kept and left out, and why. */
struct kept {
    int64_t pinned, identity;
    int64_t known, unsaid, secret; /* said before; not in the user's words; nothing to keep */
    int64_t slight;                /* it matters less than the setting importance_min */
};
/* Makes the bundle's memories. NOT_FOUND without a note when there is no summary to keep; BAD_INPUT
 * when it is another conversation's. */
MUST_USE enum status distil_keep(struct ctx *ctx, const struct distilling *d,
                                 const struct said_of_session *said, struct bundle *b,
                                 struct kept *kept);

/* --- distil_same.c --- */

/* Stems as hashes, ascending. */
struct stems {
    uint64_t *v;
    size_t n, cap;
};
/* Words that tell of the user; those of the questions to someone else stand apart. */
struct told_words {
    struct stems said, asked;
    struct words *each; /* said in each signal */
};
struct told_words told_words_of(struct arena *a, const struct distilling *d);
/* Whether a line is in the user's words: at least half of what tells in it, every name, and nothing
 * that was only asked about. */
bool is_told(struct arena *a, const struct told_words *told, str line);
/* Whether a summary can be one of this conversation: not made up for the most part, and not what
 * the model was told to do. */
bool is_of_conversation(struct arena *a, const struct distilling *d, str summary);
/* The number of the signal whose text shares most with the line. */
size_t teller_of(struct arena *a, const struct told_words *told, size_t signals, str line);

/* Shared words by all words: lower case, parted by blanks, without punctuation at their ends. */
double word_jaccard(struct arena *a, str one, str other);

/* What a new line is to one that is there. */
enum likeness {
    ANOTHER,  /* something else */
    THE_SAME, /* nothing new */
    NEWER     /* the same with a new detail, or the opposite: it takes its place */
};
enum likeness likeness_of(struct arena *a, str line, str there);

/* The thing that an identity line is about ("name", "employer") when it can be told, with what it
 * says of it; else "". */
str slot_of(str line, str *value);

/* --- distil.c --- */

enum distil_result {
    DISTIL_DONE,
    DISTIL_NOTHING, /* no signals */
    DISTIL_SKIPPED, /* too little was said: done */
    DISTIL_EMPTY,   /* there is nothing to keep: done */
    DISTIL_WAITS,   /* nothing has failed; it is not the time */
    DISTIL_FAILED
};
struct distil_outcome {
    enum distil_result result;
    str why;
    bool is_server; /* others would fail, too */
};
/* Distils what waits in a claimed session and ends the claim. Fails when the store does. */
MUST_USE enum status distil_session(struct ctx *ctx, struct engine *e,
                                    const struct waiting_session *w, struct distil_outcome *out);
/* When what a message of now says is due to be distilled, by the live settings. */
int64_t distil_due(const struct live *l, int64_t now);
/* How long a claim must last. */
int64_t distil_lease_ms(const struct engine *e);
