/* quota.c - limits on the storage of one user. */
#include "base/id.h"
#include "base/log.h"
#include "engine/state/state.h"

/*
 * Counted are a user's open memories and its messages, in all spaces. The store keeps both counts
 * for each space, so a check costs one row per space. Writes at the same time may pass
 * a limit by their number; it is there to keep one user from filling the disk of all.
 */

enum status quota_check(struct ctx *ctx, struct engine *e, str user, size_t memories,
                        size_t messages)
{
    const struct settings *s = e->settings;
    const struct {
        const char *setting, *what;
        int64_t most;
        size_t more;
    } limits[] = {
        {"user_memories_max", "memories", s->user_memories_max, memories},
        {"user_messages_max", "messages", s->user_messages_max, messages},
    };
    struct pool_info *v;
    size_t n;
    int64_t have[2] = {0};
    if (!s->user_memories_max && !s->user_messages_max)
        return OK;
    TRY(store_pools(ctx, e->store, user, &v, &n));
    for (size_t i = 0; i < n; i++) {
        have[0] += v[i].memories;
        have[1] += v[i].messages;
    }
    for (size_t i = 0; i < 2; i++)
        if (limits[i].most && limits[i].more && have[i] + (int64_t)limits[i].more > limits[i].most)
            return fail(ctx, FORBIDDEN,
                        "this user has %lld %s, and the limit is %lld (setting %s): delete some "
                        "before more are stored",
                        (long long)have[i], limits[i].what, (long long)limits[i].most,
                        limits[i].setting);
    return OK;
}

/* Once per user: a slot holds the last one of those that share it. */
void quota_note(struct engine *e, str user, const char *why)
{
    uint64_t hash = hash64(&user, 1);
    atomic_uint_least64_t *slot = &e->quota_noted[hash % QUOTA_SLOTS];
    if (atomic_exchange(slot, hash) != hash)
        log_event(LOG_WARN, "quota.reached", "user=\"" S_FMT "\" why=\"%s\"", S_ARG(user), why);
}
