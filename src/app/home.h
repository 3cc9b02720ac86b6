/* home.h - the data folder, the store in it and the engine on it, opened for one command. */
#pragma once

#include "app/options.h"
#include "engine/engine.h"

struct home {
    str folder, file;         /* of the data; the file is the database */
    struct settings settings; /* with the folder that data stands for */
    str key_from;             /* of an encrypted store, in words; or "" */
    struct store *store;
    struct engine *engine;
};

/* Makes the folder when it is missing, for its owner only. */
MUST_USE enum status home_open(struct ctx *ctx, const struct options *o, struct home *out);
void home_close(struct home *h);

/* The folder alone; home_open does it, too. */
MUST_USE enum status home_make_folder(struct ctx *ctx, const struct home *home);

/* Where the data is, or will be; nothing is made. */
MUST_USE enum status home_find(struct ctx *ctx, const struct settings *s, struct home *out);

/* Gives the engine what it seals model keys with: the setting encryption_key, else DATA/seal.key,
 * which is made when it is missing. FORBIDDEN: others can read that file. */
MUST_USE enum status home_take_seal(struct ctx *ctx, struct home *home);
/* Logs when there are model keys that this seal does not open. */
void home_check_seal(struct ctx *ctx, struct home *home);

static inline struct pool_ref pool_of(const struct options *o)
{
    return (struct pool_ref){o->user, o->space};
}
