/* s3.h - a part of the face of http: backups as objects of an S3-compatible storage. */
#pragma once

#include "core/backup_file.h"
#include "core/settings.h"
#include "http/call.h"

struct s3 {
    str place;  /* "s3://bucket/prefix", for people */
    str url;    /* of the bucket */
    str prefix; /* of each object's name: "" or "prefix/" */
    struct call_key key;
};

/* Of settings whose backup_s3 is set. */
void s3_of(struct ctx *ctx, const struct settings *s, struct s3 *out);

/*
 * Calls that wait for their answer, as http_call. Any answer but a good one is UPSTREAM and says
 * the storage's code.
 */

/* Backups that are called BACKUP_STEM, newest first. */
MUST_USE enum status s3_list(struct ctx *ctx, const struct s3 *s, struct backup_file **out,
                             size_t *n);
/* Stores a file with its SHA-256, which the storage checks, and asks afterwards what is there.
 * TOO_LARGE above 5 GiB, the most that one call of S3 takes. */
MUST_USE enum status s3_put(struct ctx *ctx, const struct s3 *s, str name, const char *path);
/* Into a new file. STORAGE, and no file, when the object is not what s3_put has stored. */
MUST_USE enum status s3_get(struct ctx *ctx, const struct s3 *s, const struct backup_file *file,
                            const char *path);
/* Those of a server's folder and of its storage, newest first. A storage that fails hides none of
 * the folder: *why says it then, or is "". */
MUST_USE enum status backups_made(struct ctx *ctx, const struct settings *s,
                                  struct backup_file **out, size_t *n, str *why);
MUST_USE enum status s3_delete(struct ctx *ctx, const struct s3 *s, str name);
