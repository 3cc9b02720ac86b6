/* files.h - reads whole files, and computes their checksums. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"

MUST_USE enum status file_read(struct ctx *ctx, const char *path, size_t max, str *out);

/* SHA-256 in lower-case hex, NUL-terminated. */
MUST_USE enum status file_sha256(struct ctx *ctx, const char *path, str *out);
