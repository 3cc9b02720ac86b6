/* account.c - whether a token still lets its owner in. */
#include "core/account.h"

bool token_is_valid(const struct token *t, int64_t now)
{
    return !t->revoked && (!t->expires || t->expires > now);
}
