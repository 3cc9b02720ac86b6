/* rewrite.h - the earlier messages of a question, and how the core model rewrites it. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/followup.h"
#include "words/words.h"

enum { HISTORY_MAX = 6 };

/* What was said before, as far as it is looked at: in order, the user's and the assistant's. */
struct history {
    struct said v[HISTORY_MAX];
    size_t n;
};

/* By the core model, within wait_ms: false, and why, when it gave nothing that can be used. */
bool rewrite_by_model(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                      const struct history *h, str *question, str *why);
