/* quota.c - limits on the storage of one user. */
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "engine/state/state.h"

/*
 * Counted are a user's open memories, its messages and its spaces. The store keeps the counts for
 * each space, so a check costs one row per space. Writes at the same time may pass a limit by their
 * number; it is there to keep one user from filling the disk of all. The user local is who runs the
 * server, and is limited only where a setting says so.
 */

static int64_t most_of(int64_t set, str user, int64_t otherwise)
{
    return set >= 0 ? set : str_is(user, LOCAL_USER) ? 0 : otherwise;
}

struct quota engine_quota(const struct engine *e, str user)
{
    const struct settings *s = e->settings;
    return (struct quota){.memories = most_of(s->user_memories_max, user, 100000),
                          .messages = most_of(s->user_messages_max, user, 1000000),
                          .spaces = most_of(s->user_spaces_max, user, 1000),
                          .tokens = most_of(s->user_tokens_max, user, 50)};
}

static enum status check_one(struct ctx *ctx, const char *what, int64_t have, size_t more,
                             int64_t most)
{
    if (!most || !more || have + (int64_t)more <= most)
        return OK;
    return fail(ctx, FORBIDDEN,
                "this user has %lld %s, and the limit is %lld (setting user_%s_max): delete some "
                "before more are stored, or ask the operator for a higher limit",
                (long long)have, what, (long long)most, what);
}

enum status quota_check(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t memories,
                        size_t messages)
{
    const struct quota most = engine_quota(e, pool.user);
    struct pool_info *v;
    size_t n;
    int64_t have_memories = 0, have_messages = 0;
    bool is_new = true;
    if (!most.memories && !most.messages && !most.spaces)
        return OK;
    TRY(store_pools(ctx, e->store, pool.user, &v, &n));
    for (size_t i = 0; i < n; i++) {
        have_memories += v[i].memories;
        have_messages += v[i].messages;
        is_new &= !str_eq(v[i].pool.space, pool.space);
    }
    TRY(check_one(ctx, "memories", have_memories, memories, most.memories));
    TRY(check_one(ctx, "messages", have_messages, messages, most.messages));
    return check_one(ctx, "spaces", (int64_t)n, is_new, most.spaces);
}

enum status quota_check_token(struct ctx *ctx, struct engine *e, str user)
{
    struct token *v;
    size_t n;
    int64_t have = 0, most = engine_quota(e, user).tokens;
    if (!most)
        return OK;
    TRY(store_tokens(ctx, e->store, user, &v, &n));
    for (size_t i = 0; i < n; i++)
        have += token_is_valid(&v[i], clock_ms());
    return check_one(ctx, "tokens", have, 1, most);
}

/* Once per user: a slot holds the last one of those that share it. */
void quota_note(struct engine *e, str user, const char *why)
{
    uint64_t hash = hash64(&user, 1);
    atomic_uint_least64_t *slot = &e->quota_noted[hash % QUOTA_SLOTS];
    if (atomic_exchange(slot, hash) != hash)
        log_event(LOG_WARN, "quota.reached", "user=\"" S_FMT "\" why=\"%s\"", S_ARG(user), why);
}
