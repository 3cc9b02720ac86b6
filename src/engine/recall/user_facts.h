/* user_facts.h - what is known about the user, for questions that name nothing of it. */
#pragma once

#include "engine/recall/candidates.h"
#include "engine/text/memory_intent.h"

/* "Who am I?", "do you remember me?": asks for what is known, whatever words it stands in. */
bool known_is_asked(struct gate gate);

/*
 * The most important facts of the pool, identity first, the newer of two alike first. As many as
 * the context of an agent's chat takes: a sixtieth of the token budget, from 3 to 15. Their score
 * is their importance. after (unix ms): only those made since.
 */
MUST_USE enum status known_of(const struct finder *f, int64_t after, int64_t budget_tokens,
                              struct recalled **out, size_t *n);
