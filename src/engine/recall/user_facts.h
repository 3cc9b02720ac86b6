/* user_facts.h - lines about the user for every chat: facts, standing instructions. */
#pragma once

#include "engine/recall/candidates.h"
#include "engine/text/memory_intent.h"

/* "Who am I?", "do you remember me?": asks for what is known, whatever words it stands in. "How far
 * did I say it is?" asks for one thing, and does not. */
bool known_is_asked(const struct finder *f, struct gate gate);

/* The most important facts of the pool, identity first, the newer of two alike first. As many as
 * the context of an agent's chat takes: a sixtieth of the token budget, from 3 to 15. Their score
 * is their importance. after (unix ms): only those made since. */
MUST_USE enum status known_of(const struct finder *f, int64_t after, int64_t budget_tokens,
                              struct recalled **out, size_t *n);

/* The standing instructions that apply to the question, within an eighth of the token budget: those
 * without a condition, then those whose condition the question meets, the newest first. Where a
 * chat is given memory anyway (speaks), others as well, as a condition may be met in other words.
 * One that was taken back or replaced by a later one is none of them. */
MUST_USE enum status standing_of(const struct finder *f, bool speaks, int64_t budget_tokens,
                                 struct recalled **out, size_t *n);
/* Says ahead (store_ask_words) that they will be looked for. */
MUST_USE enum status standing_ask(struct ctx *ctx, struct engine *e, struct pool_ref pool);
