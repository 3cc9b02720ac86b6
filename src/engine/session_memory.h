/* session_memory.h - a part of the engine's face: a session's earlier messages, and follow-ups. */
#pragma once

#include "store/store.h"

struct engine;
struct said;

/* --- how large a model is --- */

enum model_tier { TIER_TINY, TIER_SMALL, TIER_MEDIUM, TIER_LARGE, TIER_COUNT };
extern const char *const tier_names[]; /* tiny, small, medium, large */

/* Thousand millions of parameters, from the model's name; 3 when it does not tell. The names that
 * do not are in models.def. */
double model_billions(str model);
/* Below 3, 9 and 34, and from there on. */
enum model_tier tier_of_model(str model);

/* What a model reads, shared out: tokens. */
struct shares {
    int64_t total, system, history, chunks, generation;
    enum model_tier tier;
};
/* By the shares of the tier in a window of so many tokens: what the system's text takes over its
 * share comes from history (at most half of it), then from chunks; what the chunks (0: not known)
 * leave, half goes to history. */
struct shares shares_of(enum model_tier tier, int64_t window, int64_t system, int64_t chunks);

/* --- what a model is shown of the session --- */

struct window_in {
    struct pool_ref pool;
    str session;
    str model;             /* decides how many exchanges: 3, 6, 10, 15; "": 10 */
    int64_t system_tokens; /* of what stands before them */
    str asked;             /* what is said now, or "": left out where the session ends with it */
};
struct window {
    struct message *v; /* in order: the last 2 · exchanges messages of the user and the assistant */
    size_t n;
    int64_t exchanges; /* most that are shown */
    int64_t tokens;    /* of v */
    struct shares shares;
};
/*
 * From the store, so a restart changes nothing; what a turn that has just ended said is there:
 * turns that wait to be written are waited for, which costs nothing when none do. Answers whose
 * question is not shown any more go, and with session_budget the oldest until v fits into its
 * share; two messages stay. A question without an answer at the end stays, but for the one that is
 * asked now. A session that does not exist has an empty window.
 */
MUST_USE enum status engine_window(struct ctx *ctx, struct engine *e, const struct window_in *in,
                                   struct window *out);

/* --- questions that need what was said before --- */

struct rewrite_in {
    struct pool_ref pool;
    str question;
    const struct said *before; /* in order, without the question */
    size_t n;
    str model;       /* of the chat: from 9 on the core model may be asked */
    int64_t wait_ms; /* for the core model; 0: rules alone */
};
struct rewritten {
    str question; /* stands alone, or as it was */
    str search;   /* what recall searches for it: the question and what else was spoken of */
    str how;      /* none, rules, model */
    str why;      /* in words: what made it a follow-up, or why no model was asked */
};
/* Never fails: at worst the question stays as it is. */
void engine_rewrite(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                    struct rewritten *out);
