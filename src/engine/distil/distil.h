/* distil.h - a session becomes memories: the core model is asked, its answer checked and kept. */
#pragma once

#include "base/words.h"
#include "engine/dedup/equivalence.h"
#include "engine/state/core_ask.h"
#include "engine/text/term_set.h"

/* A model's answer about a session. Without a salience a rule decides it. */
#define SALIENCE_UNSAID (-1)
struct said_episode {
    str summary;
    struct strs topics, decisions, action_items;
    double salience;
};
/* A fact, or a line about who the user is. */
struct said_fact {
    str content, type; /* type: of kind_names, or whatever the model wrote */
    double salience;
    struct strs tags, replaces; /* replaces: ids or texts of earlier facts that were shown */
    str from;                   /* the user's words for it, or "" */
};
struct said_of_session {
    struct said_episode episode;
    struct strs entities;
    const struct json *pinned_candidates, *identity_facts; /* arrays of said_fact */
};
extern const struct field said_of_session_fields[], said_fact_fields[];

/* One session, or a part of one, on its way to memories. */
struct distilling {
    struct engine *e;
    struct pool_ref pool;
    str session;
    struct pending_signal *signals; /* their texts without injected blocks */
    size_t n;
    int64_t date;            /* when its last turn was said */
    struct memory *identity; /* what is known of the user in the pool */
    size_t n_identity;
    struct memory *facts; /* that have to do with what is said */
    size_t n_facts;
    struct memory *episodes; /* of other sessions, the latest first */
    size_t n_episodes;
    const struct memory *before; /* the episode of what was distilled of it before, or NULL */
    bool was_asked;              /* an earlier answer about it could not be used */
};

/* The episode of a session always has this id. */
str episode_id(struct arena *a, str session);

/* --- known.c --- */

/* Fills in what is known: identity, facts, episodes. */
MUST_USE enum status distil_gather(struct ctx *ctx, struct distilling *d);
/* Facts of the pool that share words with the text, those with the most shared words first. */
MUST_USE enum status similar_facts(struct ctx *ctx, const struct distilling *d, str text,
                                   struct memory **out, size_t *n);
/* The memory that was shown and is named by its id ("f3", "u1") or its text; or NULL. */
const struct memory *shown_memory(const struct distilling *d, str name);

/* --- prompt.c --- */

/* Most turns of a part, and most of their characters. */
enum { PART_TURNS = 60, PART_CHARS = 64000, MESSAGE_MAX = 8000 };

str distil_instructions(void);
/* The conversation and what is known already, as lines of JSON: data, whatever they say. */
str distil_prompt(struct arena *a, const struct distilling *d);
/* How many of the first turns go into one question, when at most `most` may. */
size_t distil_part(const struct pending_signal *signals, size_t n, size_t most);
/* A summary without the pleasantries that models begin with. */
str distil_summary(struct arena *a, str text);

/* --- grounding.c --- */

/* The words of the user; those of questions to someone else, and of the assistant, apart. */
struct told_words {
    struct term_set said, asked, heard;
    struct term_set *each; /* said in each pending turn */
    str *plain;            /* each pending turn as " word word " */
    size_t n;
    struct strs stems; /* said; sorted */
    size_t cap;
    size_t english, german, romance; /* words that only these languages have */
};
struct told_words told_words_of(struct arena *a, const struct distilling *d);
/* How far the user's words support a line. */
enum support {
    SUPPORT_NONE, /* it is a question, or others said it and not the user */
    SUPPORT_WEAK, /* nothing shows that it is wrong, and too little that it is right */
    SUPPORT_FULL /* half of what tells in it is the user's, or a quote of the user; all names are */
};
enum support support_of(struct arena *a, const struct told_words *told, str line, str quote);
/* The index of the pending turn whose text shares most words with the line. */
size_t teller_of(struct arena *a, const struct told_words *told, size_t signals, str line);
enum summary_fit {
    SUMMARY_FITS,
    SUMMARY_DOUBTFUL, /* it has hardly a word of the conversation */
    SUMMARY_COPIED    /* from the instructions */
};
enum summary_fit summary_fit(struct arena *a, const struct distilling *d, str summary);

/* --- kinds.c --- */

/* The model's kind of a fact, or the rule's when the model names an unknown one. */
enum memory_kind distil_kind(struct arena *a, const struct memory *m, str said);

/* --- keep.c --- */

/* How many were kept and left out, and why. */
struct kept {
    int64_t pinned, identity;      /* of these: */
    int64_t unconfirmed;           /* kept, and not trusted */
    int64_t known, unsaid, secret; /* said before; not in the user's words; nothing to keep */
    int64_t replaced;              /* earlier facts that are closed */
};
/* Memories in the making. */
struct keeper {
    struct ctx *ctx;
    const struct distilling *d;
    struct bundle *b;
    struct kept *kept;
    struct told_words told;
    struct same_seeker seeker;
    int64_t now;
};
/* What is not confirmed weighs at most so much. */
#define UNCONFIRMED_MOST 0.3

/* Makes the bundle's memories. NOT_FOUND without a note when the answer has no summary; BAD_INPUT
 * when the summary is that of another conversation, and the model was not asked again yet. */
MUST_USE enum status distil_keep(struct ctx *ctx, const struct distilling *d,
                                 const struct said_of_session *said, struct bundle *b,
                                 struct kept *kept);
bool keeper_is_secret(const struct keeper *k, str text);
/* Adds a memory to the bundle. */
struct memory *keeper_add(struct keeper *k, enum layer layer, str key, str content);
/* Adds a text to a list, once, without secrets. */
void keeper_add_item(struct keeper *k, struct strs *list, str text);
/* The model's weight (0 to 1, or SALIENCE_UNSAID), or the rule's. */
void keeper_weigh(struct keeper *k, struct memory *m, double said, bool is_confirmed);

/* --- facts.c --- */

/* Keeps one fact of the layer; or nothing, which k->kept counts. */
MUST_USE enum status keep_fact(struct keeper *k, const struct said_fact *said, enum layer layer);

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
    bool has_more;      /* a part is done, and more of the session waits */
    enum core_why core; /* of DISTIL_WAITS: what the model's side lacks; else CORE_ANSWERED */
};
/* Distils what waits in a claimed session, or a part of it, and ends the claim; unless goes_on and
 * more waits, for which the caller calls again. Fails when the store does. */
MUST_USE enum status distil_session(struct ctx *ctx, struct engine *e,
                                    const struct waiting_session *w, bool goes_on,
                                    struct distil_outcome *out);

/* --- background.c --- */

/* When what a message of now says is due to be distilled, by the runtime settings. */
int64_t distil_due(const struct runtime *l, int64_t now);
/* How long a claim must last. */
int64_t distil_lease_ms(const struct engine *e);
