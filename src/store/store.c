/* store.c - the face of the store: checks what comes in and hands it to the backend. */
#include "store/store.h"

#include <assert.h>

#include "store/store_int.h"
#include "store/vectors/row.h"

static const struct store_ops *const backends[] = {&sqlite_ops};

/* "scheme://…" names a backend; a path without one is a file. */
enum status store_open(struct ctx *ctx, const struct store_settings *settings, struct store **out)
{
    if (!settings->path.n)
        return fail(ctx, BAD_INPUT, "the store needs a path");
    size_t at = str_find(settings->path, S("://"));
    str scheme = at < settings->path.n ? str_sub(settings->path, 0, at) : S("");
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (str_is(scheme, backends[i]->scheme))
            return backends[i]->open(ctx, settings, out);
    return fail(ctx, UNSUPPORTED, "this build has no store for '" S_FMT "://'", S_ARG(scheme));
}

void store_close(struct store *s)
{
    if (s)
        s->ops->close(s);
}

static enum status check_pool(struct ctx *ctx, struct pool_ref pool)
{
    if (!pool.user.n || !pool.space.n)
        return fail(ctx, BAD_INPUT, "a pool needs a user and a space");
    return OK;
}

static enum status check_bundle(struct ctx *ctx, const struct bundle *b)
{
    TRY(check_pool(ctx, b->pool));
    if (b->n_messages && !b->session.id.n)
        return fail(ctx, BAD_INPUT, "messages need a session");
    if ((b->n_distilled || b->replaces) && !b->session.id.n)
        return fail(ctx, BAD_INPUT, "signals and what is replaced need a session");
    for (size_t i = 0; i < b->n_memories; i++)
        if (!b->memories[i].content.n)
            return fail_field(ctx, "content", "must not be empty");
    return OK;
}

enum status store_write(struct ctx *ctx, struct store *s, struct bundle *b)
{
    TRY(check_bundle(ctx, b));
    return s->ops->write(ctx, s, b);
}

enum status store_write_later(struct ctx *ctx, struct store *s, const struct bundle *b)
{
    TRY(check_bundle(ctx, b));
    assert(!b->replaces && !b->work);
    return s->ops->write_later(ctx, s, b);
}

enum status store_flush(struct ctx *ctx, struct store *s)
{
    return s->ops->flush(ctx, s);
}

enum status store_settle(struct ctx *ctx, struct store *s)
{
    return s->ops->settle(ctx, s);
}

static enum status check_type(struct ctx *ctx, str type)
{
    if (type.n && name_index(type_names, type, -1) < 0)
        return fail_field(ctx, "type", "must be factual, episodic, procedural or semantic");
    return OK;
}

static enum status check_filter(struct ctx *ctx, const struct memory_filter *f)
{
    if (f->layer.n && name_index(layer_names, f->layer, -1) < 0)
        return fail_field(ctx, "layer", "must be fact, episode, identity or summary");
    if (f->kind.n && name_index(kind_names, f->kind, -1) < 0)
        return fail_field(ctx, "kind",
                          "must be fact, preference, context, procedure, entity or relationship");
    if (f->priority.n && name_index(priority_names, f->priority, -1) < 0)
        return fail_field(ctx, "priority", "must be critical, high, medium or low");
    return check_type(ctx, f->type);
}

enum status store_forget(struct ctx *ctx, struct store *s, const struct forget *what,
                         int64_t *erased)
{
    int asked = (what->id.n > 0) + (what->session.n > 0) + what->everything + what->memories;
    if (asked != 1 || (what->all_spaces && !what->everything))
        return fail(ctx, BAD_INPUT, "say one of an id, a session, the memories or everything");
    if ((what->type.n || what->before) && !what->memories)
        return fail(ctx, BAD_INPUT, "only memories are forgotten by type or age");
    if (what->keeps_memories && !what->session.n)
        return fail(ctx, BAD_INPUT, "memories are kept where a session is forgotten");
    TRY(check_type(ctx, what->type));
    if (!what->pool.user.n || (!what->pool.space.n && !what->all_spaces))
        return fail(ctx, BAD_INPUT, "a pool needs a user and a space");
    return s->ops->forget(ctx, s, what, erased);
}

enum status store_change(struct ctx *ctx, struct store *s, const struct change *change,
                         struct memory *out)
{
    TRY(check_pool(ctx, change->pool));
    if ((change->what & CHANGE_CONTENT) && !change->to.content.n)
        return fail_field(ctx, "content", "must not be empty");
    return s->ops->change(ctx, s, change, out);
}

enum status store_condense(struct ctx *ctx, struct store *s, struct pool_ref pool,
                           struct memory *summary, const str *ids, size_t n)
{
    TRY(check_pool(ctx, pool));
    if (!n)
        return fail(ctx, BAD_INPUT, "say which memories to condense");
    if (!summary->content.n)
        return fail_field(ctx, "content", "must not be empty");
    return s->ops->condense(ctx, s, pool, summary, ids, n);
}

enum status store_find_chain(struct ctx *ctx, struct store *s, struct pool_ref pool, uint64_t chain,
                             uint64_t tail, struct message *out)
{
    return s->ops->find_chain(ctx, s, pool, chain, tail, out);
}

enum status store_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                           const doc_id *docs, size_t n, struct message *out)
{
    return s->ops->messages(ctx, s, pool, docs, n, out);
}

enum status store_memories(struct ctx *ctx, struct store *s, struct pool_ref pool,
                           const doc_id *docs, size_t n, struct memory *out)
{
    return s->ops->memories(ctx, s, pool, docs, n, out);
}

enum status store_memory(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                         struct memory *out)
{
    return s->ops->memory(ctx, s, pool, id, out);
}

enum status store_session_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                   str session, int64_t from, size_t limit, struct message **out,
                                   size_t *n)
{
    return s->ops->session_messages(ctx, s, pool, session, from, limit, out, n);
}

enum status store_sessions(struct ctx *ctx, struct store *s, const struct session_filter *f,
                           struct session **out, size_t *n, int64_t *total)
{
    return s->ops->sessions(ctx, s, f, out, n, total);
}

enum status store_list_memories(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                struct memory **out, size_t *n, int64_t *total)
{
    TRY(check_filter(ctx, f));
    return s->ops->list_memories(ctx, s, f, out, n, total);
}

enum status store_memory_totals(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                struct memory_totals *out)
{
    TRY(check_filter(ctx, f));
    return s->ops->memory_totals(ctx, s, f, out);
}

enum status store_pools(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                        size_t *n)
{
    return s->ops->pools(ctx, s, user, out, n);
}

enum status store_users(struct ctx *ctx, struct store *s, struct strs *out)
{
    return s->ops->users(ctx, s, out);
}

enum status store_pool_sums(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            struct pool_sum **out, size_t *n)
{
    return s->ops->pool_sums(ctx, s, pool, out, n);
}

enum status store_setting(struct ctx *ctx, struct store *s, str name, str *out)
{
    return s->ops->setting(ctx, s, name, out);
}

enum status store_put_setting(struct ctx *ctx, struct store *s, str name, str value)
{
    if (!name.n)
        return fail(ctx, BAD_INPUT, "a setting needs a name");
    return s->ops->put_setting(ctx, s, name, value);
}

enum status store_mirror(struct ctx *ctx, struct store *s, bool on)
{
    return s->ops->mirror(ctx, s, on);
}

enum status store_mirror_all(struct ctx *ctx, struct store *s)
{
    return s->ops->mirror_all(ctx, s);
}

enum status store_mirror_waiting(struct ctx *ctx, struct store *s, size_t limit,
                                 struct mirrored **out, size_t *n, int64_t *all)
{
    return s->ops->mirror_waiting(ctx, s, limit, out, n, all);
}

enum status store_mirror_done(struct ctx *ctx, struct store *s, const int64_t *no, size_t n,
                              int64_t again_at)
{
    return s->ops->mirror_done(ctx, s, no, n, again_at);
}

static enum status search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const str *stems, size_t n, doc_id least, size_t max,
                                struct word_hits *out)
{
    if (n > QUERY_WORDS_MAX)
        return fail(ctx, BAD_INPUT, "at most %d words are searched at once", QUERY_WORDS_MAX);
    return s->ops->search_words(ctx, s, pool, stems, n, least, max, out);
}

enum status store_search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const str *stems, size_t n, size_t max, struct word_hits *out)
{
    return search_words(ctx, s, pool, stems, n, 0, max, out);
}

enum status store_search_memory_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      const str *stems, size_t n, size_t max, struct word_hits *out)
{
    return search_words(ctx, s, pool, stems, n, DOC_MEMORY, max, out);
}

enum status store_vector_set(struct ctx *ctx, struct store *s, struct vector_set *out)
{
    return s->ops->vector_set(ctx, s, out);
}

enum status store_begin_vectors(struct ctx *ctx, struct store *s, const struct vector_set *set,
                                bool anew)
{
    if (set->signature.n && (!set->dimensions || set->dimensions > VECTOR_DIMENSIONS_MAX))
        return fail(ctx, BAD_INPUT, "vectors have 1 to %d dimensions", VECTOR_DIMENSIONS_MAX);
    return s->ops->begin_vectors(ctx, s, set, anew);
}

enum status store_unembedded(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                             size_t limit, struct unembedded **out, size_t *n)
{
    return s->ops->unembedded(ctx, s, pool, limit, out, n);
}

enum status store_put_vectors(struct ctx *ctx, struct store *s, str signature,
                              const struct vector_put *v, size_t n)
{
    return n ? s->ops->put_vectors(ctx, s, signature, v, n) : OK;
}

enum status store_search_vectors(struct ctx *ctx, struct store *s, const struct vector_find *f,
                                 struct vector_hits *out)
{
    return s->ops->search_vectors(ctx, s, f, out);
}

enum status store_vector_pairs(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const doc_id *docs, size_t n, float least, size_t each,
                               struct vector_pairs *out)
{
    return s->ops->vector_pairs(ctx, s, pool, docs, n, least, each, out);
}

enum status store_vector_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                               struct vector_stats *out)
{
    return s->ops->vector_stats(ctx, s, pool, out);
}

uint64_t store_wait(struct store *s, uint64_t seen, int64_t ms)
{
    return s->ops->wait(s, seen, ms);
}

void store_wake(struct store *s)
{
    s->ops->wake(s);
}

enum status store_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms, size_t limit,
                               struct waiting_session **out, size_t *n)
{
    return s->ops->due_sessions(ctx, s, lease_ms, limit, out, n);
}

enum status store_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                          size_t limit, struct pending_signal **out, size_t *n)
{
    return s->ops->signals(ctx, s, pool, session, limit, out, n);
}

enum status store_end_distil(struct ctx *ctx, struct store *s, const struct distil_end *end)
{
    TRY(check_pool(ctx, end->pool));
    return s->ops->end_distil(ctx, s, end);
}

enum status store_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                                int64_t *n)
{
    return s->ops->flush_signals(ctx, s, pool, session, n);
}

enum status store_signal_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                               struct signal_stats *out)
{
    return s->ops->signal_stats(ctx, s, pool, out);
}

enum status store_log_work(struct ctx *ctx, struct store *s, const struct work *work)
{
    return s->ops->log_work(ctx, s, work);
}

enum status store_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool, str kind,
                           size_t limit, struct work **out, size_t *n)
{
    return s->ops->work_log(ctx, s, pool, kind, limit, out, n);
}

enum status store_work_sum(struct ctx *ctx, struct store *s, int64_t since, struct work_sum *out)
{
    return s->ops->work_sum(ctx, s, since, out);
}

enum status store_touch(struct ctx *ctx, struct store *s, struct pool_ref pool, const doc_id *docs,
                        size_t n, int64_t now)
{
    return n ? s->ops->touch(ctx, s, pool, docs, n, now) : OK;
}

enum status store_consolidate(struct ctx *ctx, struct store *s, const struct consolidation *c,
                              int64_t *changed)
{
    TRY(check_pool(ctx, c->pool));
    return s->ops->consolidate(ctx, s, c, changed);
}

enum status store_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct receipt *out)
{
    return s->ops->receipt(ctx, s, pool, id, out);
}

enum status store_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool, uint64_t chain,
                             struct receipt *out)
{
    return s->ops->receipt_of(ctx, s, pool, chain, out);
}

enum status store_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct session *out)
{
    return s->ops->session(ctx, s, pool, id, out);
}

enum status store_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              const struct session *session)
{
    TRY(check_pool(ctx, pool));
    if (!session->id.n)
        return fail(ctx, BAD_INPUT, "a session needs an id");
    return s->ops->put_session(ctx, s, pool, session);
}

enum status store_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                 const struct session_change *change, struct session *out)
{
    return s->ops->change_session(ctx, s, pool, id, change, out);
}

enum status store_user(struct ctx *ctx, struct store *s, str id, struct user *out)
{
    return s->ops->user(ctx, s, id, out);
}

enum status store_user_by_email(struct ctx *ctx, struct store *s, str email, struct user *out)
{
    return s->ops->user_by_email(ctx, s, email, out);
}

enum status store_sealed_users(struct ctx *ctx, struct store *s, struct user **out, size_t *n)
{
    return s->ops->sealed_users(ctx, s, out, n);
}

static enum status check_token(struct ctx *ctx, const struct token *t)
{
    TRY(check_pool(ctx, t->pool));
    return t->id.n && t->hash.n ? OK : fail(ctx, BAD_INPUT, "a token needs an id and a hash");
}

enum status store_put_user(struct ctx *ctx, struct store *s, const struct user *u, bool may_change,
                           const struct token *token)
{
    if (!u->id.n)
        return fail(ctx, BAD_INPUT, "a user needs an id");
    if (token)
        TRY(check_token(ctx, token));
    if (token && !str_eq(token->pool.user, u->id))
        return fail(ctx, BAD_INPUT, "the token is another user's");
    return s->ops->put_user(ctx, s, u, may_change, token);
}

enum status store_put_token(struct ctx *ctx, struct store *s, const struct token *t)
{
    TRY(check_token(ctx, t));
    return s->ops->put_token(ctx, s, t);
}

enum status store_find_token(struct ctx *ctx, struct store *s, str hash, struct token *out)
{
    return s->ops->find_token(ctx, s, hash, out);
}

enum status store_tokens(struct ctx *ctx, struct store *s, str user, struct token **out, size_t *n)
{
    return s->ops->tokens(ctx, s, user, out, n);
}

enum status store_revoke_token(struct ctx *ctx, struct store *s, str user, str id)
{
    return s->ops->revoke_token(ctx, s, user, id);
}

enum status store_has_tokens(struct ctx *ctx, struct store *s, bool *out)
{
    return s->ops->has_tokens(ctx, s, out);
}

enum status store_token_used(struct ctx *ctx, struct store *s, str id, int64_t at)
{
    return s->ops->token_used(ctx, s, id, at);
}

enum status store_stats(struct ctx *ctx, struct store *s, struct store_stats *out)
{
    return s->ops->stats(ctx, s, out);
}

enum status store_ping(struct ctx *ctx, struct store *s)
{
    return s->ops->ping(ctx, s);
}

enum status store_check(struct ctx *ctx, struct store *s, str *findings)
{
    return s->ops->check(ctx, s, findings);
}

enum status store_prune(struct ctx *ctx, struct store *s, int64_t receipts_before,
                        int64_t expired_before, int64_t *removed)
{
    return s->ops->prune(ctx, s, receipts_before, expired_before, removed);
}
