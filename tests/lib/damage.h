/* damage.h - a database or its log, damaged as disks and people do it. */
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

/* All files of a store, and nothing else, to another place; what the target has goes. */
void copy_store(struct ctx *ctx, const char *from, const char *to);
