/* rewrite.h - what the two ways of rewriting a question share: its history, and what it lacks. */
#pragma once

#include "base/words.h"
#include "engine/engine_int.h"

enum { HISTORY_MAX = 6, FOLLOW_WORDS_MAX = 40 };

/* What was said before, as far as it is looked at: in order, the user's and the assistant's. */
struct history {
    struct said v[HISTORY_MAX];
    size_t n;
};

/* What a question needs of what was said before. */
struct follow {
    bool lacks_person, lacks_thing;
    size_t person; /* of its words, the pronoun that stands for one; with lacks_person */
    str because;   /* the word or opening that shows it, or "" */
};

/* By whole words; what the question's own words explain ("Ann and her dog") is not lacking. More
 * than FOLLOW_WORDS_MAX words explain themselves. */
struct follow follow_of(const struct words *w, str question);

bool word_is_any(str word, const char *const *list);

/* By rules: names in the place of pronouns, and what is to be searched. */
struct rewritten rewrite_by_rules(struct arena *a, str question, const struct words *w,
                                  const struct history *h, const struct follow *f);

/* By the core model, within wait_ms: false, and why, when it gave nothing that can be used. */
bool rewrite_by_model(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                      const struct history *h, str *question, str *why);
