/* distil.h - a session becomes memories: the core model is asked, its answer checked and kept. */
#pragma once

#include "base/words.h"
#include "engine/state/core_ask.h"
#include "engine/text/slots.h"
#include "engine/text/term_set.h"

/* A model's answer about a session. Without a salience a rule decides it. */
#define SALIENCE_UNSAID (-1)
struct said_episode {
    str summary;
    struct strs topics, decisions, action_items;
    double salience;
};
struct said_pinned {
    str content, type; /* type: of kind_names, or whatever the model wrote */
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

/* --- prompt.c --- */

str distil_instructions(void);
/* The conversation and what is known already, as lines of JSON: data, whatever they say. */
str distil_prompt(struct arena *a, const struct distilling *d);
/* A summary without the pleasantries that models begin with. */
str distil_summary(struct arena *a, str text);

/* --- keep.c --- */

/* How many were kept and left out, and why. */
struct kept {
    int64_t pinned, identity;
    int64_t known, unsaid, secret; /* said before; not in the user's words; nothing to keep */
    int64_t slight;                /* it matters less than the setting importance_min */
};
/* Makes the bundle's memories. NOT_FOUND without a note when the answer has no summary; BAD_INPUT
 * when the summary is that of another conversation. */
MUST_USE enum status distil_keep(struct ctx *ctx, const struct distilling *d,
                                 const struct said_of_session *said, struct bundle *b,
                                 struct kept *kept);

/* --- grounding.c --- */

/* Stems of the words that tell of the user; those of questions to someone else apart. */
struct told_words {
    struct term_set said, asked;
    struct term_set *each; /* said in each pending turn */
};
struct told_words told_words_of(struct arena *a, const struct distilling *d);
/* Whether a line is in the user's words: at least half of what tells in it, every name, and nothing
 * that was only asked about. */
bool is_told(struct arena *a, const struct told_words *told, str line);
/* Whether a summary can be one of this conversation: mostly in its words, and not a copy of the
 * instructions. */
bool is_of_conversation(struct arena *a, const struct distilling *d, str summary);
/* The index of the pending turn whose text shares most words with the line. */
size_t teller_of(struct arena *a, const struct told_words *told, size_t signals, str line);

/* --- distil.c --- */

enum distil_result {
    DISTIL_DONE,
    DISTIL_NOTHING, /* no pending turns */
    DISTIL_SKIPPED, /* too few characters: done */
    DISTIL_EMPTY,   /* the model found nothing worth keeping: done */
    DISTIL_WAITS,   /* nothing has failed; see core */
    DISTIL_FAILED
};
struct distil_outcome {
    enum distil_result result;
    str why;
    bool is_server;     /* others would fail, too */
    enum core_why core; /* of DISTIL_WAITS: what the model's side lacks; else CORE_ANSWERED */
};
/* Distils what waits in a claimed session and ends the claim. Fails when the store does. */
MUST_USE enum status distil_session(struct ctx *ctx, struct engine *e,
                                    const struct waiting_session *w, struct distil_outcome *out);
/* When what a message of now says is due to be distilled, by the runtime settings. */
int64_t distil_due(const struct runtime *l, int64_t now);
/* How long a claim must last. */
int64_t distil_lease_ms(const struct engine *e);
