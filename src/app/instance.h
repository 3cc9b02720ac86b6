/* instance.h - the data folder, the store in it and the engine on it, opened for one command. */
#pragma once

#include "app/options.h"
#include "engine/engine.h"

struct instance {
    str folder, file;         /* the data folder, and the database in it */
    struct settings settings; /* with data set to the folder */
    str key_from;             /* where the key of an encrypted store is, in words; or "" */
    struct store *store;
    struct engine *engine;
};

/* Creates a missing data folder, private to its owner. */
MUST_USE enum status instance_open(struct ctx *ctx, const struct options *o, struct instance *out);
void instance_close(struct instance *h);

/* Creates the data folder only; instance_open does so as well. */
MUST_USE enum status instance_make_folder(struct ctx *ctx, const struct instance *instance);

/* Finds where the data is, or will be, and creates nothing. */
MUST_USE enum status instance_find(struct ctx *ctx, const struct settings *s, struct instance *out);

/* Gives the engine the key that encrypts model keys of users: the setting encryption_key, or else
 * DATA/seal.key, which is created when missing. FORBIDDEN: other users can read that file. */
MUST_USE enum status instance_take_seal(struct ctx *ctx, struct instance *instance);
/* Logs how many users have model keys that this key cannot decrypt. */
void instance_check_seal(struct ctx *ctx, struct instance *instance);

static inline struct pool_ref pool_of(const struct options *o)
{
    return (struct pool_ref){o->user, o->space};
}
