/* rule.h - Switches one rule off in a build that measures what each rule brings (./dev ablate). */
#pragma once

#include <stdbool.h>

/*
 * RULE("standing") is true in each build but those with -Dablate=true. There the environment's
 * ABLATE_OFF may name the rule, as in "standing,intent". It stands at the one door of a rule.
 */
#ifdef ABLATE
#include <stdlib.h>
#include <string.h>

static inline bool rule_is_on(const char *name)
{
    const char *off = getenv("ABLATE_OFF"), *at = off;
    size_t n = strlen(name);
    while (at && (at = strstr(at, name))) {
        if ((at == off || at[-1] == ',') && (at[n] == ',' || !at[n]))
            return false;
        at += n;
    }
    return true;
}
#define RULE(name) rule_is_on(name)
#else
#define RULE(name) true
#endif
