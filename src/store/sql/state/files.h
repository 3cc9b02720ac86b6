/* files.h - a check that the open files are still the ones at their paths. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/ctx.h"

enum files_state {
    FILES_AWAY, /* nothing is open yet: the disk failed when the store was to be opened */
    FILES_OPEN,
    FILES_LOST, /* a file was deleted or replaced; to the end of the process */
};

enum { STORE_FILES = 3 }; /* the database, its log, and the log's index */

struct store_files {
    const char *path;                 /* of the store */
    char open[STORE_FILES][PATH_MAX]; /* SQLite puts the log beside the file of a link */
    _Atomic(enum files_state) state;
    struct stat files[STORE_FILES]; /* st_ino 0: it was not there */
};

void files_open(struct store_files *p, const char *path);
/* The files are open: those that are at the paths now. */
void files_take(struct ctx *ctx, struct store_files *p);
/* In PostgreSQL: the server cannot be reached, until files_take. */
void files_leave(struct store_files *p);
/* Whether the index of the log is still the one that other processes see. */
bool files_has_log_index(const struct store_files *p);
/* A look at the disk. STORAGE from the first time on that one of the files was another one or
 * missing: what is written now would be lost. OK while nothing is open. */
MUST_USE enum status files_check(struct ctx *ctx, struct store_files *p);
