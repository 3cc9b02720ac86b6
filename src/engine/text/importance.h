/* importance.h - the kind of memory that a sentence makes, by rule. */
#pragma once

#include "engine/text.h"

/* Whether a sentence speaks of likings, of plans, or else states a fact. */
enum memory_kind kind_by_rule(struct arena *a, const struct memory *m);
