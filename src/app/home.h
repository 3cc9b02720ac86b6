/* home.h - the data folder, the store in it and the engine on it, opened for one command. */
#pragma once

#include "app/options.h"
#include "engine/engine.h"

struct home {
    str folder, file;         /* of the data; the file is the database */
    struct settings settings; /* with the folder that data stands for */
    struct store *store;
    struct engine *engine;
};

/* Makes the folder when it is missing, for its owner only. */
MUST_USE enum status home_open(struct ctx *ctx, const struct options *o, struct home *out);
void home_close(struct home *h);

/* Where the data is, or will be; nothing is made. */
MUST_USE enum status home_find(struct ctx *ctx, const struct settings *s, struct home *out);

static inline struct pool_ref pool_of(const struct options *o)
{
    return (struct pool_ref){o->user, o->space};
}
