/* file.h - the database file as a file: whose it is now, what it is, and whether a key opens it. */
#pragma once

#include <sys/stat.h>

#include "store/file.h"

/*
 * SQLite's own locks protect a transaction, not the file. So whoever has a store open holds its
 * file together with others (flock, which those locks do not see), and whoever replaces the file
 * holds it alone. Closing a descriptor drops every lock that SQLite has on the file in this
 * process, so a hold is left after the last connection.
 */
struct hold {
    int fd;
    struct stat st;
    int64_t mark; /* 0: none */
};

#define FILE_HOLD(h) CLEANUP(hold_leave) struct hold h = {.fd = -1}

enum hold_how { HOLD_SHARED, HOLD_ALONE };

/* Makes the file when it is missing, for its owner only. TOO_BUSY when another process stands in
 * the way. */
MUST_USE enum status hold_take(struct ctx *ctx, const char *path, enum hold_how how,
                               struct hold *out);
void hold_leave(struct hold *h); /* fd -1 is fine */

/* Marks the file with a number that nobody else has, until the hold is left or its process ends,
 * however it does. Without a mark where the file system knows no such locks. */
void hold_mark(struct hold *h);
/* Whether the mark stands; true when that cannot be told. */
bool hold_has_mark(const struct hold *h, int64_t mark);
/* Whether another process has marked the file; false when that cannot be told. */
bool hold_is_shared(const struct hold *h);

/* STORE_DISK_FAILED for errors of the disk, as against those of a name or of rights; else 0. */
int file_error_detail(int error);

/* By the first bytes: an empty file is STORE_ABSENT. */
enum store_kind file_kind(int fd);

/* Whether the key (or NULL) opens what the file is; every refusal in its own words. Nothing is
 * written and nothing is made beside it. */
MUST_USE enum status file_check_key(struct ctx *ctx, const char *path, enum store_kind kind,
                                    const uint8_t *key);

/* Where links lead: a file is replaced where it is. */
str file_whole(struct arena *a, const char *path);
/* A copy that is being made, beside the file; and one that was cut short, removed. */
str file_part(struct arena *a, const char *path);
void file_remove_part(struct ctx *ctx, const char *path);

/* The folders above a file, for the owner only where they are missing. */
MUST_USE enum status file_make_folders(struct ctx *ctx, const char *path);
