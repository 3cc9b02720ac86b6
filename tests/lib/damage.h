/* damage.h - a database or its log, damaged as disks and people do it, or of an older version. */
#pragma once

#include "lib/store.h"

enum damage {
    DAMAGE_NONE,
    LOG_REMOVED,
    LOG_EMPTY,
    LOG_CUT,
    LOG_FLIPPED,
    LOG_OLDER, /* the one that keep_log() kept is in its place */
    DAMAGE_COUNT
};

/* Keeps a copy of the log for LOG_OLDER, if there is a log. */
void keep_log(struct ctx *ctx, const char *path);

/* at: the place of a cut or a flipped bit, as a part of the log. False: there is no log, or no
 * older one. */
bool damage_log(struct ctx *ctx, const char *path, enum damage how, double at);

/* A database that a killed server of schema 13 left, all of it in the log: OLD_MEMORIES memories
 * and OLD_MESSAGES messages. */
enum { OLD_SCHEMA = 13, OLD_MEMORIES = 8, OLD_MESSAGES = 32 };
void write_old_store(struct ctx *ctx, const char *path, const uint8_t *key);

/* A database of any version: two memories and two messages. Then of a store: they are all there. */
enum { FIRST_SCHEMA = 2 };
void write_version(struct ctx *ctx, const char *path, const uint8_t *key, int64_t version);
void check_version(struct ctx *ctx, struct store *s);

/* All files of a store, and nothing else, to another place; what the target has goes. */
void copy_store(struct ctx *ctx, const char *from, const char *to);
