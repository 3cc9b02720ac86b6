/* key_file.h - a secret key in a file of its own, made when it is needed first. */
#pragma once

#include "base/ctx.h"

enum { KEY_FILE_BYTES = 32 };

/*
 * Reads the key of a file that its owner alone can read. makes: a missing one is made from random
 * bytes, and *is_new is set; otherwise that is NOT_FOUND. The file is locked, for writers against
 * everyone else, until the caller closes *fd, which is -1 after a failure to open.
 */
MUST_USE enum status key_file_take(struct ctx *ctx, const char *path, bool makes,
                                   uint8_t key[KEY_FILE_BYTES], bool *is_new, int *fd);
