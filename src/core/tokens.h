/* tokens.h - the number of model tokens in a text, estimated without a tokenizer. */
#pragma once

#include "base/str.h"

/* ceil(UTF-16 length / 4), the estimate that JavaScript clients make; 0 for an empty text. */
int64_t tokens_of(str text);
