/* prices.h - the price of a model's answer, by the setting prices. */
#pragma once

#include "base/ctx.h"

/* MODEL=ASKED/ANSWERED, separated by commas: dollars for a million tokens each. BAD_INPUT names the
 * first invalid part. */
MUST_USE enum status prices_check(struct ctx *ctx, str prices);

/*
 * Dollars, by the row with the longest name that fits. A name fits a model with or without its
 * provider, and in each version ("gpt-4o" fits "gpt-4o-2024-08-06", but not "gpt-4o-mini"). 0
 * without a row.
 */
double price_of(str prices, str model, int64_t asked, int64_t answered);
