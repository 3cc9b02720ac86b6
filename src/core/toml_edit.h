/* toml_edit.h - a file of TOML with one value changed, and all else as it was. */
#pragma once

#include "base/json.h"

/*
 * The text with a value, in TOML, for a key that is in no table: in the place of the value that the
 * key has, or in a new line behind the last such key. BAD_INPUT for a text that is not TOML, and
 * for a key that is a table.
 */
MUST_USE enum status toml_set(struct ctx *ctx, str text, const char *key, str value,
                              struct buf *out);
