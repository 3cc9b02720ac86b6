/* secret_values.h - the value that a text gives for the name of a secret, if any. */
#pragma once

#include "engine/extract/secret_names.h"

struct spans;

/* Adds the values that a text gives for this name. Returns where to go on. */
size_t secret_values_add(str text, const struct secret_name *name, struct spans *out);
