/* files.h - whole files: read and summed. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"

MUST_USE enum status file_read(struct ctx *ctx, const char *path, size_t max, str *out);

/* SHA-256 in lower-case hex, with a NUL behind it. */
MUST_USE enum status file_sha256(struct ctx *ctx, const char *path, str *out);
