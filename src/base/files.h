/* files.h - reads whole files, writes whole texts, and computes checksums. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"

/* All of it: a pipe or a disk may take a part at a time. False: errno says why. */
bool write_all(int fd, str text);
MUST_USE enum status file_read(struct ctx *ctx, const char *path, size_t max, str *out);

/* SHA-256 in lower-case hex, NUL-terminated. */
MUST_USE enum status file_sha256(struct ctx *ctx, const char *path, str *out);
