/* user_profile.h - facts of a user, name by name: read, shown, changed and forgotten. */
#pragma once

#include "engine/engine.h"

/*
 * A profile's fact is a memory of the layer identity, category profile, key "profile.NAME" and
 * content "NAME: VALUE", a camelCase NAME in words ("dog name: Olivia") as people ask for it; so it
 * is recalled, listed, exported and forgotten like all others. What was true before is history. Of
 * a name, a home, an employer, a job or a school that the user states in a chat later than it was
 * set, the profile shows what he said, which is closed or forgotten with the fact.
 */
enum { PROFILE_NAME_MAX = 64, PROFILE_VALUE_MAX = 1000, PROFILE_MAX = 500 };
struct profile_fact {
    str name;
    const struct json *value; /* as it was given */
};
struct profile {
    struct profile_fact *v; /* by name */
    size_t n;
    int64_t updated; /* unix ms; 0: no profile */
};
MUST_USE enum status engine_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    struct profile *out);
/* Merges an object into it, all or nothing; null removes a name with its history, for good.
 * BAD_INPUT names what breaks the limits (characters, not bytes). */
MUST_USE enum status engine_change_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                           const struct json *facts, struct profile *out);
MUST_USE enum status engine_forget_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool);

struct profile_source {
    str text, raw;
    const struct json *data; /* an object, or NULL */
    bool keeps; /* merged into the profile of the pool, as far as that has room: origin distilled */
};
/*
 * What they say of the user, as an object of short camelCase names and texts: by the core model
 * where one is set and answers within core_timeout_ms, else by rules (data flattened, "name=value",
 * "my name is"). Never fails for what a model answers: at worst the object is empty. What looks
 * like a password, a key or a card's number is left out. *how: "model"; "pairs" (a model's answer
 * that held no object, but "name: value"); "rules" (no model is set), or "rules:" and why the model
 * gave no answer (unavailable, token_budget, breaker_open, timed_out, upstream, no_auth,
 * bad_input).
 */
MUST_USE enum status engine_read_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                         const struct profile_source *in, struct json **out,
                                         str *how);
