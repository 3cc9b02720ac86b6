/* known.h - known memories that concern a session which is about to be distilled. */
#pragma once

#include "engine/distil/session.h"

/* The episode of a session always has this id. */
str episode_id(struct arena *a, str session);

/* Fills in what is known: identity, facts, episodes. */
MUST_USE enum status distil_gather(struct ctx *ctx, struct distilling *d);
/* Facts of the pool that share words with the text, those with the most shared words first. */
MUST_USE enum status similar_facts(struct ctx *ctx, const struct distilling *d, str text,
                                   struct memory **out, size_t *n);
/* The memory that was shown and is named by its id ("f3", "u1") or its text; or NULL. */
const struct memory *shown_memory(const struct distilling *d, str name);
