/* session.h - one session on its way to memories, with what is known beside it. */
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
