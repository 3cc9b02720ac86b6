/* memories.c - adding, reading, changing and forgetting memories, and undoing it. */
#include "engine/state/state.h"

#include "base/audit.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/workers.h"
#include "engine/dedup/equivalence.h"
#include "engine/extract/secrets.h"
#include "engine/recall/tombstone_writer.h"
#include "engine/state/spool.h"
#include "engine/text.h"
#include "engine/text/content_key.h"

/*
 * The single doors for memories that a caller writes, changes or erases. Each change has two sides:
 * the row, and the messages and answers that state the same. If only the row went, a chat would be
 * told the old value by an old message. So what is corrected, superseded, expired or forgotten is
 * barred as well (recall/tombstone_writer.c), and forgetting bars first, so that a failure in
 * between hides too much rather than too little.
 */

static enum status check_importance(struct ctx *ctx, double importance)
{
    if (importance >= 0 && importance <= 1)
        return OK;
    return fail_field(ctx, "importance", "must be 0 to 1");
}

/* Answers have a size limit: a memory over it could never be shown. */
static enum status check_sizes(struct ctx *ctx, const struct memory *m)
{
    size_t tags = 0;
    for (size_t i = 0; i < m->tags.n; i++)
        tags += m->tags.v[i].n + 1;
    if (tags > METADATA_MAX)
        return fail_field(ctx, "tags", "must have at most %d bytes, have %zu", METADATA_MAX, tags);
    if (m->metadata.n > METADATA_MAX)
        return fail_field(ctx, "metadata", "must have at most %d bytes, has %zu", METADATA_MAX,
                          m->metadata.n);
    return OK;
}

/* The memory with that id says the same: it stays, with what the caller says of it now. */
static enum status say_again(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                             struct memory *m)
{
    struct change to = {
        .pool = pool, .id = id, .what = CHANGE_NOTHING, .to = *m, .keeps_old = true};
    to.what |= m->importance > 0 ? CHANGE_IMPORTANCE : 0;
    to.what |= m->category.n ? CHANGE_CATEGORY : 0;
    to.what |= m->metadata.n ? CHANGE_METADATA : 0;
    to.what |= m->tags.n ? CHANGE_TAGS : 0;
    to.what |= m->expires ? CHANGE_EXPIRES : 0;
    return engine_change(ctx, e, &to, m);
}

/* m is only changed on success. grows: it takes the place of none. Zero means "not given" for
 * importance, salience and times. */
static enum status add_memory(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              enum put_rule rule, bool grows, struct memory *m)
{
    int64_t now = clock_ms();
    struct memory kept = *m;
    assert(pool.user.n && pool.space.n);
    kept.content = str_trim(m->content);
    if (!kept.content.n)
        return fail_missing(ctx, "content");
    TRY(check_importance(ctx, kept.importance));
    TRY(check_sizes(ctx, &kept));
    if (kept.importance == 0)
        kept.importance = importance_by_rule(&ctx->arena, &kept);
    if (kept.salience == 0)
        kept.salience = kept.importance;
    /* An API call is not the user's own words in a chat. */
    if (kept.origin == ORIGIN_USER)
        kept.origin = ORIGIN_API;
    if (!kept.created)
        kept.created = now;
    if (!kept.updated)
        kept.updated = kept.created;
    if (!kept.last_used)
        kept.last_used = kept.created;
    struct bundle b = {
        .pool = pool, .asked = ctx->asked, .memories = &kept, .n_memories = 1, .rule = rule};
    TRY(engine_check_quota(ctx, e, pool,
                           (struct quota){.memories = grows,
                                          .bytes = quota_bytes(NULL, 0, &kept, 1)}));
    TRY(store_write(ctx, e->store, &b));
    if (rule == PUT_ONCE && !b.added) /* someone else has said it in this moment */
        return say_again(ctx, e, pool, kept.id, m);
    if (!kept.doc) /* the writer gives one to all that it keeps */
        return fail(ctx, CONFLICT, "it was erased while it was being stored");
    *m = kept;
    return OK;
}

/* In another layer or session the same text is another memory: a client lists it there. An id is
 * the caller's wish for a memory of its own. */
bool engine_is_said(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct memory *m,
                    struct memory *like)
{
    return !m->id.n && same_is_kept(ctx, e, pool, m, like) && like->layer == m->layer &&
           str_eq(like->session, m->session);
}

/* One that is erased meanwhile is not said. */
static bool is_said_again(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct memory *m,
                          enum status *out)
{
    struct memory like;
    if (!engine_is_said(ctx, e, pool, m, &like))
        return false;
    *out = say_again(ctx, e, pool, like.id, m);
    return !soft_if(ctx, *out, NOT_FOUND);
}

/* --- what is changed or forgotten is barred --- */

static enum status bar_memory(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              enum bar_reason reason, const struct memory *m, int64_t at,
                              const struct undo_mark *undo)
{
    const struct barring_in in = {
        .pool = pool, .reason = reason, .at = at, .memories = m, .n = 1, .undo = undo};
    return bar_statements(ctx, e, &in, NULL);
}

/* Those with these ids; missing ones are left out, as they are when they are changed or erased. */
static enum status memories_there(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const str *ids, size_t n, struct memory **out, size_t *n_out)
{
    *out = NEW_N(&ctx->arena, struct memory, n + 1);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        enum status s = store_memory(ctx, e->store, pool, ids[i], &(*out)[*n_out]);
        *n_out += s == OK;
        TRY(soft_or(ctx, s, NOT_FOUND));
    }
    return OK;
}

/* With a key: the new memory supersedes the one with that key, which stays as history. Without, the
 * store adds one of several that say the same at once, here or in other servers. */
enum status engine_add(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct memory *m)
{
    struct memory old;
    enum status status;
    engine_catch_up(ctx, e, pool); /* what was said before is older than this */
    secrets_leave(e, &ctx->arena, m);
    const bool is_fact = m->layer == LAYER_FACT || m->layer == LAYER_IDENTITY;
    const enum put_rule rule = is_fact && !m->id.n && !m->key.n ? PUT_ONCE : PUT_SUPERSEDE;
    if (!m->key.n && is_said_again(ctx, e, pool, m, &status))
        return status;
    TRY(memory_with_key(ctx, e, pool, m->key, CLOSED_OUT, &old));
    if (!old.id.n) /* a summary may tell what was closed for it */
        TRY(memory_with_key(ctx, e, pool, m->key, CLOSED_ONLY, &old));
    status = add_memory(ctx, e, pool, rule, true, m);
    if (rule == PUT_ONCE && soft_if(ctx, status, NOT_FOUND)) /* erased meanwhile */
        status = add_memory(ctx, e, pool, PUT_SUPERSEDE, true, m);
    TRY(status);
    return bar_superseded(ctx, e, pool, &old, m);
}

/* Like engine_add, but the old text is not kept as history: a correction and not a change. */
enum status engine_replace(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           struct memory *m)
{
    struct memory old;
    enum status status;
    engine_catch_up(ctx, e, pool);
    secrets_leave(e, &ctx->arena, m);
    str content = str_trim(m->content), given = m->key;
    if (!given.n) {
        m->key = content_key(&ctx->arena, content);
        if (is_said_again(ctx, e, pool, m, &status))
            return status;
    }
    TRY(memory_with_key(ctx, e, pool, m->key, CLOSED_OUT, &old));
    /* A memory that was changed has the key of what it said. */
    if (!given.n && old.id.n && !str_eq(content_key(&ctx->arena, old.content), m->key)) {
        m->key = id_of(&ctx->arena, &content, 1);
        TRY(memory_with_key(ctx, e, pool, m->key, CLOSED_OUT, &old));
    }
    TRY(add_memory(ctx, e, pool, PUT_REPLACE, !old.id.n, m));
    return old.id.n && !str_eq(old.content, m->content)
               ? bar_memory(ctx, e, pool, BAR_CORRECTED, &old, m->updated, NULL)
               : OK;
}

/* A memory whose expiry was moved into the past has ended now. */
static bool ends_now(const struct change *change, int64_t expires)
{
    return (change->what & CHANGE_EXPIRES) && expires && expires <= clock_ms();
}

static enum status bar_changed(struct ctx *ctx, struct engine *e, const struct change *change,
                               const struct memory *old, const struct memory *now)
{
    if (ends_now(change, now->expires))
        TRY(bar_memory(ctx, e, change->pool, BAR_EXPIRED, now, tombstones_end_of(now),
                       change->undo));
    return (change->what & CHANGE_CONTENT) && !str_eq(old->content, now->content)
               ? bar_memory(ctx, e, change->pool, BAR_CORRECTED, old, now->updated, change->undo)
               : OK;
}

enum status engine_change(struct ctx *ctx, struct engine *e, const struct change *change,
                          struct memory *out)
{
    struct change wanted = *change;
    wanted.to.content = str_trim(change->to.content);
    if (!wanted.what)
        return fail(ctx, BAD_INPUT, "name at least one member to change");
    if ((wanted.what & CHANGE_CONTENT) && !wanted.to.content.n)
        return fail_field(ctx, "content", "must not be empty");
    if (wanted.what & CHANGE_IMPORTANCE)
        TRY(check_importance(ctx, wanted.to.importance));
    TRY(check_sizes(ctx, &wanted.to));
    struct memory old;
    engine_catch_up(ctx, e, change->pool); /* what was said before is older than this change */
    TRY(store_memory(ctx, e->store, change->pool, change->id, &old));
    wanted.to.key = wanted.what & CHANGE_KEY ? wanted.to.key : callers_key(&ctx->arena, &old);
    secrets_leave(e, &ctx->arena, &wanted.to);
    TRY(engine_check_quota(ctx, e, change->pool,
                           (struct quota){.bytes = quota_grown(&wanted, &old)}));
    TRY(store_change(ctx, e->store, &wanted, out));
    return bar_changed(ctx, e, &wanted, &old, out);
}

enum status engine_get(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                       struct memory *out)
{
    engine_catch_up(ctx, e, pool);
    return store_memory(ctx, e->store, pool, id, out);
}

/* Waits for turns that are being kept, so a client sees what its last answer has taught. */
enum status engine_list(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                        struct memory **out, size_t *n, int64_t *total)
{
    engine_catch_up(ctx, e, f->pool);
    return store_list_memories(ctx, e->store, f, out, n, total);
}

enum status engine_page(struct ctx *ctx, struct engine *e, const struct memory_page_in *in,
                        struct memory_page *out)
{
    for (size_t i = 0; i < in->select.n_pools; i++)
        engine_catch_up(ctx, e, in->select.pools[i]);
    return store_memory_page(ctx, e->store, in, out);
}

enum status engine_totals(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                          struct memory_totals *out)
{
    engine_catch_up(ctx, e, f->pool);
    return store_memory_totals(ctx, e->store, f, out);
}

enum status engine_spaces(struct ctx *ctx, struct engine *e, str user, struct pool_info **out,
                          size_t *n)
{
    engine_catch_up(ctx, e, (struct pool_ref){.user = user});
    return store_pools(ctx, e->store, user, out, n);
}

enum status engine_agents(struct ctx *ctx, struct engine *e, str user, struct pool_sum **out,
                          size_t *n)
{
    engine_catch_up(ctx, e, (struct pool_ref){.user = user});
    return store_pool_sums(ctx, e->store, (struct pool_ref){.user = user}, out, n);
}

enum status engine_agent(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         struct pool_sum *out)
{
    struct pool_sum *v;
    size_t n = 0;
    engine_catch_up(ctx, e, pool);
    if (pool.space.n)
        TRY(store_pool_sums(ctx, e->store, pool, &v, &n));
    if (!n)
        return fail(ctx, NOT_FOUND, "there is no agent '" S_FMT "'", S_ARG(pool.space));
    *out = *v;
    return OK;
}

/* The memories that were made of the message go with it; closed ones, too: they state the same. */
static enum status bar_message(struct ctx *ctx, struct engine *e, const struct forget *what,
                               const struct message *m, int64_t *barred)
{
    const struct memory_filter f = {.pool = what->pool,
                                    .session = m->session,
                                    .with_closed = true,
                                    .limit = SIZE_MAX};
    struct barring_in in = {.pool = what->pool,
                            .reason = BAR_FORGOTTEN,
                            .erased = m,
                            .undo = what->undo};
    struct memory *v;
    size_t n;
    TRY(store_list_memories(ctx, e->store, &f, &v, &n, NULL));
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].source, m->id))
            v[in.n++] = v[i];
    in.memories = v;
    return bar_statements(ctx, e, &in, barred);
}

/* Each of the memories that are named, or else those of a type or age. */
static enum status bar_memories(struct ctx *ctx, struct engine *e, const struct forget *what,
                                int64_t *barred)
{
    const struct memory_filter f = {.pool = what->pool,
                                    .type = what->type,
                                    .before = what->before,
                                    .with_closed = true,
                                    .limit = SIZE_MAX};
    struct barring_in in = {.pool = what->pool, .reason = BAR_FORGOTTEN, .undo = what->undo};
    struct memory *v;
    TRY(what->n_ids ? memories_there(ctx, e, what->pool, what->ids, what->n_ids, &v, &in.n)
                    : store_list_memories(ctx, e->store, &f, &v, &in.n, NULL));
    in.memories = v;
    return bar_statements(ctx, e, &in, barred);
}

/* The id is a memory's, a message's, or names nothing that states something. */
static enum status bar_id(struct ctx *ctx, struct engine *e, const struct forget *what,
                          int64_t *barred)
{
    struct forget memory = *what;
    struct message message;
    int64_t more = 0;
    memory.ids = &what->id;
    memory.n_ids = 1;
    TRY(bar_memories(ctx, e, &memory, barred));
    enum status s = store_message(ctx, e->store, what->pool, what->id, &message);
    if (soft_if(ctx, s, NOT_FOUND))
        return OK;
    TRY(s);
    TRY(bar_message(ctx, e, what, &message, &more));
    *barred += more;
    return OK;
}

/* First: when erasing fails, nothing is given that should be gone, and the call may be repeated. A
 * conversation that is erased is gone with what it states. Clearing all memories means everything
 * that was said. */
static enum status bar_forgotten(struct ctx *ctx, struct engine *e, const struct forget *what,
                                 int64_t *barred)
{
    struct pool_sum *v;
    size_t n;
    *barred = 0;
    if (what->keeps_statements || what->everything || what->session.n)
        return OK;
    if (what->id.n)
        return bar_id(ctx, e, what, barred);
    if (what->n_ids || what->type.n || what->before)
        return bar_memories(ctx, e, what, barred);
    TRY(store_pool_sums(ctx, e->store, what->pool, &v, &n));
    *barred = n ? v->pool.messages : 0;
    return bar_everything(ctx, e, what->pool);
}

static const char *forget_name(const struct forget *what)
{
    return what->all_spaces   ? "user"
           : what->everything ? "space"
           : what->session.n  ? "session"
           : what->memories   ? "memories"
                              : "rows";
}

/* *erased counts rows, what->barred the sentences that other messages lose; both if set. The cache
 * of embeddings is emptied as well. */
enum status engine_forget(struct ctx *ctx, struct engine *e, const struct forget *what,
                          int64_t *erased)
{
    if (!what->id.n && !what->n_ids && !what->session.n && !what->everything && !what->memories)
        return fail_field(ctx, "id", "must be an id, a session, or everything");
    if (what->everything || what->session.n)
        TRY(engine_all_kept(ctx, e, what->pool));
    else
        engine_catch_up(ctx, e, what->pool);
    int64_t barred, rows;
    str erasure;
    struct forget noted = *what;
    struct memory now;
    erased = erased ? erased : &rows;
    noted.erasure = what->erasure ? what->erasure : &erasure;
    if (what->if_updated) { /* before anything is barred; the store looks again */
        TRY(store_memory(ctx, e->store, what->pool, what->id, &now));
        TRY(memory_unchanged(ctx, &now, what->if_updated));
    }
    TRY(bar_forgotten(ctx, e, what, &barred));
    TRY(store_forget(ctx, e->store, &noted, erased));
    audit_note(ctx, "erased", what->pool.user, "what=%s rows=%lld erasure=" S_FMT " request=%s",
               forget_name(what), (long long)*erased, S_ARG(*noted.erasure), ctx->id);
    if (what->barred)
        *what->barred = barred;
    embed_forget(e->embed);
    return OK;
}

enum status engine_whole_id(struct ctx *ctx, struct engine *e, const struct pool_ref *pools,
                            size_t n_pools, str id, str *out)
{
    size_t found = 0;
    for (size_t i = 0; i < n_pools && id.n == SHORT_ID; i++) {
        str v[2];
        size_t n;
        TRY(store_ids_after(ctx, e->store, pools[i], id, v, &n));
        for (size_t k = 0; k < n; k++)
            if (id_is_uuid(v[k])) {
                found++;
                *out = v[k];
            }
    }
    if (found > 1)
        return fail_field(ctx, "id", "begins the ids of several; give the whole one");
    return found ? OK
                 : fail(ctx, NOT_FOUND, "no memory, message or session has the id '" S_FMT "'",
                        S_ARG(id));
}

/* A memory is barred before it is removed. */
enum status engine_prune(struct ctx *ctx, struct engine *e, int64_t receipts_before, int64_t now,
                         int64_t *removed)
{
    struct expired *v;
    size_t n;
    TRY(store_expired(ctx, e->store, now, SIZE_MAX, &v, &n));
    for (size_t i = 0; i < n; i++)
        TRY(bar_memory(ctx, e, v[i].pool, BAR_EXPIRED, &v[i].memory,
                       tombstones_end_of(&v[i].memory), NULL));
    return store_prune(ctx, e->store, receipts_before, now, removed);
}

enum status engine_receipt(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           struct receipt *out)
{
    engine_catch_up(ctx, e, pool);
    return store_receipt(ctx, e->store, pool, id, out);
}

enum status engine_work_log(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                            str kind, size_t limit, struct work **out, size_t *n)
{
    return store_work_log(ctx, e->store, pool, kind, limit, out, n);
}

/* --- many at once, what they said before, and undoing --- */

/* Those that end with it: what messages state of them is barred, as when they end by themselves. */
static enum status bar_ended(struct ctx *ctx, struct engine *e, const struct change *change,
                             const str *ids, size_t n)
{
    struct barring_in in = {.pool = change->pool,
                            .reason = BAR_EXPIRED,
                            .at = change->to.expires,
                            .undo = change->undo};
    struct memory *v;
    size_t there;
    TRY(memories_there(ctx, e, change->pool, ids, n, &v, &there));
    for (size_t i = 0; i < there; i++)
        if (!v[i].valid_to)
            v[in.n++] = v[i];
    in.memories = v;
    return bar_statements(ctx, e, &in, NULL);
}

static enum status check_grown(struct ctx *ctx, struct engine *e, const struct change *change,
                               const str *ids, size_t n)
{
    struct quota more = {0};
    struct memory *old;
    size_t there;
    TRY(memories_there(ctx, e, change->pool, ids, n, &old, &there));
    for (size_t i = 0; i < there; i++)
        more.bytes += quota_grown(change, &old[i]);
    return engine_check_quota(ctx, e, change->pool, more);
}

enum status engine_change_each(struct ctx *ctx, struct engine *e, const struct change *change,
                               const str *ids, size_t n, int64_t *changed)
{
    if (change->what & (CHANGE_CONTENT | CHANGE_KEY))
        return fail_field(ctx, "change", "must not set content or key, which are of one memory");
    engine_catch_up(ctx, e, change->pool); /* what was said before is older than this change */
    struct change wanted = *change;
    secrets_leave(e, &ctx->arena, &wanted.to);
    TRY(check_sizes(ctx, &wanted.to));
    TRY(check_grown(ctx, e, &wanted, ids, n));
    TRY(store_change_each(ctx, e->store, &wanted, ids, n, changed));
    return ends_now(change, change->to.expires) ? bar_ended(ctx, e, change, ids, n) : OK;
}

struct undo_mark engine_undo_mark(struct ctx *ctx)
{
    return (struct undo_mark){id_random(&ctx->arena), clock_ms() + UNDO_MS};
}

/* A turn that is being kept would come behind it. */
enum status engine_undo(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                        int64_t *restored)
{
    engine_catch_up(ctx, e, pool);
    return store_undo(ctx, e->store, pool, id, restored);
}

enum status engine_undo_prune(struct ctx *ctx, struct engine *e)
{
    return store_undo_prune(ctx, e->store, clock_ms());
}

enum status engine_history(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           struct history_item **out, size_t *n)
{
    engine_catch_up(ctx, e, pool);
    return store_history(ctx, e->store, pool, id, out, n);
}
