/* toml.h - TOML read as the value that JSON of the same content would give. */
#pragma once

#include "base/json.h"

enum { TOML_DEPTH_MAX = 32, TOML_VALUES_MAX = 20000 };

/*
 * TOML 1.0 without dates, inf and nan, which no setting takes: those are failures, as is all that
 * is not TOML. The failure (BAD_INPUT) names the line. Names and strings point into the text unless
 * they hold an escape. source is a number or a truth as JSON writes it, of other values their bytes
 * in the text, and of a table its header.
 */
MUST_USE enum status toml_parse(struct ctx *ctx, str text, struct json **out);

/* The line of a place in the text, from 1; 0 for a place that is elsewhere. */
size_t text_line(str text, const char *at);
