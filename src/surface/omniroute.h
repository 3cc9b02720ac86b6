/* omniroute.h - what OmniRoute's endpoints share: a memory, who may ask, how a failure reads. */
#pragma once

#include "surface/dialect.h"

struct memory_shown {
    str id, api_key, session, type, key, content;
    const struct json *metadata;
    int64_t created, updated, expires;
};
extern const struct field memory_shown_fields[];
struct memory_shown show_memory(struct ctx *ctx, const struct memory *m);
/* Many of them, as an array. */
MUST_USE enum status show_memories(struct ctx *ctx, const struct memory *v, size_t n,
                                   const struct json **out);

/* Management is for admins; on loopback without tokens for everyone. */
enum status admit_manager(struct ctx *ctx, struct app *app, enum route_access needs,
                          struct request *in);
void word_omniroute_error(struct ctx *ctx, enum status s, const struct request *in,
                          struct reply *out);

/* The pool that a key's id names; without one every space of the user, which is what a manager
 * looks at. */
enum status managed_pool(struct ctx *ctx, struct app *app, const struct request *in, str key,
                         struct pool_ref *out);

/* The part behind "provider/", or all of it. */
str model_of(str provider_model);
