/* kinds.h - the kinds of distilled facts. */
#pragma once

#include "core/memory.h"

/* The model's kind of a fact, or the rule's when the model names an unknown one. */
enum memory_kind distil_kind(struct arena *a, const struct memory *m, str said);
