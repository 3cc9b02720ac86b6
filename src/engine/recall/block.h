/* block.h - The text that carries recalled lines beside a message. */
#pragma once

#include "engine/recall.h"

/* The text that carries recalled things beside a message: those marked injected, the best first
 * until the budget is full, then in the order of their dates. What does not fit loses its mark and
 * says why. "" when nothing is left. now and budget_tokens as in recall; budget < 0 has no end. */
str block_render(struct arena *a, struct recalled *v, size_t n, int64_t budget_tokens, int64_t now);
