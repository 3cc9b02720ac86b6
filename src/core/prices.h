/* prices.h - what a model's answer costs, by the setting prices. */
#pragma once

#include "base/ctx.h"

/* MODEL=ASKED/ANSWERED, separated by commas: dollars for a million tokens each. BAD_INPUT names the
 * part that is none. */
MUST_USE enum status prices_check(struct ctx *ctx, str prices);

/*
 * Dollars. A row is the model's when it names it, with or without the provider in front, or names
 * it but for a version ("gpt-4o" is also "gpt-4o-2024-08-06", and not "gpt-4o-mini"); of several
 * the longest. 0 without one.
 */
double price_of(str prices, str model, int64_t asked, int64_t answered);
