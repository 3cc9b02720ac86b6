/* backup_file.h - backups as files: names that say when they were made, and those of a folder. */
#pragma once

#include <stdatomic.h>

#include "base/ctx.h"

struct backup_file {
    str name;       /* without a folder */
    int64_t at;     /* unix ms, of whole seconds */
    int64_t schema; /* made before an upgrade of that version; 0: any other backup */
    int64_t bytes;
    bool is_remote; /* an object of a storage, not a file */
};

/* What a server knows of its backups. The times are for its metrics. */
struct backup_state {
    atomic_int_least64_t remote_at; /* of the newest one in the storage, unix ms; 0: not known */
    atomic_int_least64_t failures;  /* since the start, in both places */
    int64_t look_us, pause_s;       /* when the storage is looked at next; after a failure */
};

/* "STEM-20261124T003000Z.db", before an upgrade "STEM-20261124T003000Z-schema16.db". */
str backup_name(struct arena *a, str stem, int64_t at, int64_t schema);
/* Of a name that backup_name makes with that stem; the bytes stay 0. */
bool backup_name_read(str stem, str name, struct backup_file *out);

/* Those of a folder, newest first; a folder that is not there has none. */
MUST_USE enum status backup_files(struct ctx *ctx, str folder, str stem, struct backup_file **out,
                                  size_t *n);
/* Those that servers make into a folder by themselves are called BACKUP_STEM. Newest first. */
#define BACKUP_STEM S("rememberd")
MUST_USE enum status backups_by_clock(struct ctx *ctx, str folder, struct backup_file **out,
                                      size_t *n);
/* All but the newest; what stays is logged, and tried again with the next. */
void backups_drop_old(struct ctx *ctx, str folder, int64_t keep);
/* "s3://bucket/a/b": the bucket, and "a/b" or "". False for anything else. */
#define S3_SCHEME "s3://"
bool s3_place_read(str text, str *bucket, str *prefix);
/* Newest first. */
void backup_files_sort(struct backup_file *v, size_t n);
