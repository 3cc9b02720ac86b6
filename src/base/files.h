/* files.h - reads whole files, writes whole texts, makes folders, and computes checksums. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"

/* STORAGE: "'PATH' cannot be WHAT", and errno in words. */
enum status fail_file(struct ctx *ctx, const char *path, const char *what);
/* Where one is open. For CLEANUP(fd_close) int fd = open(…). */
void fd_close(int *fd);
/* All of it: a pipe or a disk may take a part at a time. False: errno says why. */
bool write_all(int fd, str text);
/* Makes each folder that a path names in front of a '/', for the owner alone. NULL, or the one that
 * could not be made: errno says why. */
const char *folders_make(struct arena *a, str path);

MUST_USE enum status file_read(struct ctx *ctx, const char *path, size_t max, str *out);

/* SHA-256 in lower-case hex, NUL-terminated. */
MUST_USE enum status file_sha256(struct ctx *ctx, const char *path, str *out);
