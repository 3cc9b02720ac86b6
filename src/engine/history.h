/* history.h - a part of the engine's face: a session's earlier messages, and follow-ups. */
#pragma once

#include "core/memory.h"
#include "engine/text.h"

struct engine;
struct said;

/* What a model reads, shared out: tokens. */
struct shares {
    int64_t total, system, history, chunks, generation;
    enum model_tier tier;
};
/* Divides a context window (in tokens) by the shares of the tier. A system text over its share
 * takes from history (at most half of it), then from chunks. */
struct shares shares_of(enum model_tier tier, int64_t window, int64_t system);

/* --- what a model is shown of the session --- */

struct window_in {
    struct pool_ref pool;
    str session;
    str model;             /* decides how many exchanges: 3, 6, 10, 15; "": 10 */
    int64_t system_tokens; /* of the system text */
    str asked;             /* the user's new message, or "": left out if the session ends with it */
};
struct window {
    struct message *v; /* in order: the last 2 · exchanges messages of the user and the assistant */
    size_t n;
    int64_t exchanges; /* most that are shown */
    int64_t tokens;    /* of v */
    struct shares shares;
};
/*
 * From the store, so a restart changes nothing. A turn that has just ended is included: queued
 * writes are waited for, which costs nothing when there are none. Answers whose question is not
 * shown are left out, and with session_budget the oldest messages until v fits into its share; two
 * messages stay in any case. An unanswered question at the end stays, unless it is asked again now.
 * A session that does not exist has an empty window.
 */
MUST_USE enum status engine_window(struct ctx *ctx, struct engine *e, const struct window_in *in,
                                   struct window *out);

/* --- follow-up questions --- */

struct rewrite_in {
    struct pool_ref pool;
    str question;
    const struct said *before; /* in order, without the question */
    size_t n;
    str model;       /* of the chat: from 9 on the core model may be asked */
    int64_t wait_ms; /* for the core model; 0: rules alone */
};
struct rewritten {
    str search; /* what recall searches: the question, or with words of the last exchange */
    str how;    /* none, rules, model */
    str why;    /* in words: why the question is a follow-up, or why no model was asked */
};
/* The question as recall searches it in this session: by the rules alone, and what was said there
 * last. The question itself where it needs nothing, or the session has nothing to give. */
str engine_question_in(struct ctx *ctx, struct engine *e, struct pool_ref pool, str session,
                       str question);
/* Never fails: at worst the question stays as it is. */
void engine_rewrite(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                    struct rewritten *out);
