/* json_form.h - JSON written by its form: small objects that are seen as they will look. */
#pragma once

#include "base/json.h"

/* A text as a JSON string, in quotes; a number. */
str quote_json(struct arena *a, str text);
str number_json(struct arena *a, int64_t n);
/* JSON by its form, in which ' stands for ", and each % for the next of the values: JSON as well,
 * or text that needs no escapes. */
#define JSON_FORM(A, FORM, ...) json_by_form(A, FORM, (const str[]){__VA_ARGS__})
str json_by_form(struct arena *a, const char *form, const str *values);
