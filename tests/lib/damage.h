/* damage.h - a database or its log, damaged as disks and people do it. */
#pragma once

#include "lib/store.h"

enum damage { DAMAGE_NONE, LOG_REMOVED, LOG_EMPTY, LOG_CUT, LOG_FLIPPED, DAMAGE_COUNT };

/* at: the place of a cut or a flipped bit, as a part of the log. False: there is no log. */
bool damage_log(struct ctx *ctx, const char *path, enum damage how, double at);

/* All files of a store, and nothing else, to another place; what the target has goes. */
void copy_store(struct ctx *ctx, const char *from, const char *to);
