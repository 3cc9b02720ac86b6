/* known.h - one session on its way to memories, with what is known beside it. */
#pragma once

#include "engine/state/state.h"

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

/* Fills in what is known: identity, facts, episodes. */
MUST_USE enum status distil_gather(struct ctx *ctx, struct distilling *d);
/* Facts of the pool that share words with the text, those with the most shared words first. */
MUST_USE enum status similar_facts(struct ctx *ctx, const struct distilling *d, str text,
                                   struct memory **out, size_t *n);
/* The memory that was shown and is named by its id ("f3", "u1") or its text; or NULL. */
const struct memory *shown_memory(const struct distilling *d, str name);
