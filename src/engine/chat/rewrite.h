/* rewrite.h - the common part of both ways of rewriting a question: its history and its gaps. */
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

/* By rules: names in the place of pronouns, and what is to be searched. */
struct rewritten rewrite_by_rules(struct arena *a, str question, const struct words *w,
                                  const struct history *h, const struct follow *f);

/* By the core model, within wait_ms: false, and why, when it gave nothing that can be used. */
bool rewrite_by_model(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                      const struct history *h, str *question, str *why);
