/* quota.c - limits on the storage of one user. */
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "engine/state/state.h"

/*
 * Counted are a user's open memories, its messages, its spaces, and the bytes of its texts. The
 * store keeps the counts for each space, so a check reads a short row of each: 3 microseconds, and
 * 150 for a user with a thousand spaces, behind the answer of a chat. Writes at the same time may
 * pass a limit by their number; it is there to keep one user from filling the disk of all. The user
 * local is who runs the server, and is limited only where a setting says so.
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
                          .bytes = most_of(s->user_bytes_max, user, 1000000000),
                          .spaces = most_of(s->user_spaces_max, user, 1000),
                          .tokens = most_of(s->user_tokens_max, user, 50)};
}

static enum status check_one(struct ctx *ctx, const char *what, int64_t have, int64_t more,
                             int64_t most)
{
    if (!most || more <= 0 || have + more <= most)
        return OK;
    return fail(
        ctx, FORBIDDEN,
        "this user has %lld %s, and the limit is %lld (setting user_%s_max): no room for %lld "
        "more; delete some, or ask the operator for a higher limit",
        (long long)have, what, (long long)most, what, (long long)more);
}

int64_t quota_bytes(const struct message *messages, size_t n_messages,
                    const struct memory *memories, size_t n_memories)
{
    size_t n = 0;
    for (size_t i = 0; i < n_messages; i++)
        n += messages[i].text.n + messages[i].says.n;
    for (size_t i = 0; i < n_memories; i++) {
        const struct memory *m = &memories[i];
        n += m->content.n + m->metadata.n + m->tags.n;
        for (size_t k = 0; k < m->tags.n; k++)
            n += m->tags.v[k].n;
    }
    return (int64_t)n;
}

int64_t quota_grown(const struct change *change, const struct memory *old)
{
    struct memory to = *old;
    if (change->what & CHANGE_CONTENT)
        to.content = change->to.content;
    if (change->what & CHANGE_METADATA)
        to.metadata = change->to.metadata;
    if (change->what & CHANGE_TAGS)
        to.tags = change->to.tags;
    return quota_bytes(NULL, 0, &to, 1) - quota_bytes(NULL, 0, old, 1);
}

enum status engine_check_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               struct quota more)
{
    const struct quota most = engine_quota(e, pool.user);
    struct usage have;
    if (!most.memories && !most.messages && !most.bytes && !most.spaces)
        return OK;
    TRY(store_usage(ctx, e->store, pool, &have));
    TRY(check_one(ctx, "memories", have.memories, more.memories, most.memories));
    TRY(check_one(ctx, "messages", have.messages, more.messages, most.messages));
    TRY(check_one(ctx, "bytes", have.bytes, more.bytes, most.bytes));
    return check_one(ctx, "spaces", have.spaces, !have.has_space, most.spaces);
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
    if (atomic_exchange(&e->quota_noted[hash % QUOTA_SLOTS], hash) != hash)
        log_event(LOG_WARN, "quota.reached", "user=\"" S_FMT "\" why=\"%s\"", S_ARG(user), why);
}
