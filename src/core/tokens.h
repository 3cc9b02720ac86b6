/* tokens.h - the number of model tokens in a text, estimated without a tokenizer. */
#pragma once

#include "base/utf8.h"

/* ceil(UTF-16 length / 4), the estimate that JavaScript clients make: the usual rule of thumb for
 * English, and budgets need no more. 0 for an empty text. */
static inline int64_t tokens_of(str text)
{
    return (int64_t)((utf16_length(text) + 3) / 4);
}
