/* config_file.h - the file of settings that the command config changes. */
#pragma once

#include "core/settings.h"

/* The file that was read, or that would be: a new one has no text. BAD_INPUT for a file of JSON,
 * and where settings are to come from no file. */
MUST_USE enum status config_file_read(struct ctx *ctx, const struct settings *s, str *path,
                                      str *text);
/* Nobody ever reads half of it, and its mode and owner stay. */
MUST_USE enum status config_file_write(struct ctx *ctx, str path, str text);
