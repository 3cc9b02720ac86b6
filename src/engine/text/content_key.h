/* content_key.h - the key of a memory that was stored without one. */
#pragma once

#include "core/memory.h"

/* By the rule of extracted facts: lower case, "_" for characters that are no letter or digit, 40
 * characters. A key that loses something (by its length, or not ASCII) gets a hash of the content,
 * so that two contents never share a key by accident. */
str content_key(struct arena *a, str content);

/* The key that who stored a memory gave it; "" where it was made of the content, or by a rule. Two
 * of them mean that both memories are true. */
str callers_key(struct arena *a, const struct memory *m);

/* What a standing instruction is filed under, and how one begins that takes another back. */
#define STANDING_CATEGORY "instruction"
#define STANDING_TAKEN_BACK "takes an instruction back"
