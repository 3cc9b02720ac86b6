/* tokens.c - the estimate: four UTF-16 units are a token. */
#include "core/tokens.h"

#include "base/utf8.h"

/* The usual rule of thumb for English, four characters for a token. Budgets need no more. */
int64_t tokens_of(str text)
{
    return (int64_t)((utf16_length(text) + 3) / 4);
}
