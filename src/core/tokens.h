/* tokens.h - how many model tokens a text takes, estimated without a tokenizer. */
#pragma once

#include "base/str.h"

/* ceil(UTF-16 length / 4), the estimate that JavaScript clients make; 0 for an empty text. */
int64_t tokens_of(str text);
