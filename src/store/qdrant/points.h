/* points.h - a memory as a point: its vector and payload. */
#pragma once

#include "base/json.h"
#include "core/memory.h"

/* The payload member "kind" of our points: the name that collections of memories already use. */
#define QDRANT_KIND "omniroute_memory"

/* Whether a point's payload names this owner; space "": any space of the user. */
bool qdrant_is_of(const struct json *point, struct pool_ref pool);

/* The array of a vector. */
void qdrant_vector(struct json_out *w, const float *v, size_t dimensions);
