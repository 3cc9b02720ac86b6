/* distil.h - a session becomes memories: the core model is asked, its answer checked and kept. */
#pragma once

#include "engine/state/core_ask.h"

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

/* Ends the claim of a session that keeps all its turns, and is due again at that time. */
MUST_USE enum status distil_postpone(struct ctx *ctx, struct engine *e,
                                     const struct waiting_session *w, int64_t at);

/* When what a message of now says is due to be distilled, by the runtime settings. */
int64_t distil_due(const struct settings *l, int64_t now);
/* How long a claim must last. */
int64_t distil_lease_ms(const struct engine *e);
