/* commits.h - the count of committed groups, in the database and in a file beside it. */
#pragma once

#include "store/sql/db/db.h"

enum { HISTORY_CHARS = 16 };

struct log {
    int frames;
    unsigned long long salt; /* of its header; 0: there is none, or it is not known */
};

struct commit_count {
    char history[HISTORY_CHARS + 1]; /* the random name of what the database has been through */
    int64_t n;                       /* groups that changed something; 0: not known */
    int64_t at;                      /* time of the last one */
    struct log log;                  /* that it went into, if it was committed here */
};

/* Of an open store. */
struct commits {
    int fd;
    bool has_failed, has_lost;  /* the file could not be written; a loss was accepted */
    struct commit_count group;  /* of the group that is committed now; n 0: it changes nothing */
    struct commit_count latest; /* of the last one that can be read */
};

/* Before anything is written, and on a new connection: STORAGE when the database has fewer commits
 * than were acknowledged. Then it stays as it is, log and all. */
MUST_USE enum status commits_check(struct ctx *ctx, struct db *db, const char *path,
                                   bool accepts_loss, struct commits *out);
/* What the database itself has counted. */
MUST_USE enum status commits_read(struct ctx *ctx, struct db *db, struct commit_count *out);
/* Opens the file on the writer's connection, and counts the opening. */
MUST_USE enum status commits_open(struct ctx *ctx, struct db *db, const char *path,
                                  struct commits *c);
void commits_close(struct commits *c);

/* Counts the group, as a part of its transaction. */
MUST_USE enum status commits_add(struct ctx *ctx, struct db *db, struct commits *c);
/* Brings the log into the database, as sqlite3_wal_checkpoint_v2 does; every checkpoint is made
 * here. SQLite's result. */
int commits_checkpoint(struct commits *c, sqlite3 *db, int how);
/* The same for a database whose count is not open. */
MUST_USE enum status commits_settle(struct ctx *ctx, struct db *db, const char *path, int how);

/* All commits up to that one are durable, and none has been acknowledged yet. */
void commits_tell(struct commits *c, const struct commit_count *count);
