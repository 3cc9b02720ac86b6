/* transfer.c - the parts of a copy of a space, put in unchanged. */
#include "ext/import/transfer.h"

#include "engine/extract/secrets.h"
#include "engine/state/state.h"

/*
 * A copy is not a new statement: nothing is estimated, distilled, barred or merged, as engine_add
 * and a chat do. What was derived (vectors, titles, counts) is made again from the rows.
 */

const char *const transfer_bar_kinds[] = {"statement", "sentences", "all", NULL};
const char *const transfer_bar_reasons[] = {"forgotten", "corrected",  "expired",
                                            "cleared",   "superseded", NULL};

enum status engine_transfer_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const struct memory *v, size_t n)
{
    struct quota more = {0};
    for (size_t i = 0; i < n; i++) {
        struct memory there = {0};
        enum status s = store_memory(ctx, e->store, pool, v[i].id, &there);
        if (!soft_if(ctx, s, NOT_FOUND))
            TRY(s);
        more.memories += s == NOT_FOUND && !v[i].valid_to;
        more.bytes += quota_bytes(NULL, 0, &v[i], 1) - quota_bytes(NULL, 0, &there, 1);
    }
    return quota_check(ctx, e, pool, more);
}

enum status engine_transfer_memories(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     struct memory *v, size_t n, int64_t *added)
{
    struct bundle b = {.pool = pool, .memories = v, .n_memories = n, .rule = PUT_IMPORT};
    for (size_t i = 0; i < n; i++)
        if (v[i].layer != LAYER_FILE) /* kept byte for byte (engine/files.c) */
            secrets_leave(e, &ctx->arena, &v[i]);
    TRY(engine_transfer_quota(ctx, e, pool, v, n));
    TRY(store_write(ctx, e->store, &b));
    *added += (int64_t)b.added;
    return OK;
}

/* A message that is there has its document already. */
static enum status count_new(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                             const struct message *v, size_t n, struct quota *out)
{
    struct message there;
    for (size_t i = 0; i < n; i++) {
        enum status s = store_message(ctx, e->store, pool, v[i].id, &there);
        if (s != OK && s != NOT_FOUND)
            return s;
        if (s == NOT_FOUND) {
            out->messages++;
            out->bytes += quota_bytes(&v[i], 1, NULL, 0);
        }
    }
    return OK;
}

/* As in a chat: a secret is one wherever it appears again in its conversation. */
static void leave_secrets(struct ctx *ctx, const struct engine *e, struct bundle *b)
{
    struct arena *a = &ctx->arena;
    struct strs found = {0};
    if (e->settings->keep_secrets)
        return;
    b->session.title = secrets_kept(e, a, b->session.title);
    b->session.metadata = secrets_kept_json(e, a, b->session.metadata);
    for (size_t i = 0; i < b->n_messages; i++)
        secrets_add(a, b->messages[i].text, &found);
    for (size_t i = 0; i < b->n_messages; i++) {
        b->messages[i].text = secrets_masked_with(a, b->messages[i].text, &found);
        b->messages[i].says = secrets_masked_with(a, b->messages[i].says, &found);
    }
}

enum status engine_transfer_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    const struct session *session, struct message *v, size_t n,
                                    int64_t *sessions, int64_t *messages)
{
    struct bundle b = {.pool = pool, .session = *session, .messages = v, .n_messages = n};
    struct quota more = {0};
    struct session there;
    assert(session->id.n);
    leave_secrets(ctx, e, &b);
    TRY(count_new(ctx, e, pool, v, n, &more));
    enum status s = store_session(ctx, e->store, pool, session->id, &there);
    if (!soft_if(ctx, s, NOT_FOUND))
        TRY(s);
    if (s == NOT_FOUND)
        more.bytes += (int64_t)(b.session.title.n + b.session.metadata.n);
    TRY(quota_check(ctx, e, pool, more));
    *sessions += s == NOT_FOUND;
    *messages += more.messages;
    return store_write(ctx, e->store, &b);
}

static bool is_same(const struct bar *a, const struct bar *b)
{
    return a->kind == b->kind && a->reason == b->reason && a->at == b->at &&
           a->message == b->message && a->n == b->n &&
           (!a->n || memcmp(a->terms, b->terms, a->n * sizeof *a->terms) == 0);
}

enum status engine_transfer_put_bars(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     const struct bar *v, size_t n, bool dry_run, int64_t *added)
{
    struct bars_read old;
    size_t missing = 0;
    struct bar *bars = NEW_N(&ctx->arena, struct bar, n + 1);
    TRY(store_bars(ctx, e->store, pool, 0, &old));
    for (size_t i = 0; i < n; i++) {
        bool is_there = SOME(k, old.n, is_same(&v[i], &old.bars[k]));
        if (!is_there)
            bars[missing++] = v[i];
    }
    if (!missing || dry_run) {
        *added += (int64_t)missing;
        return OK;
    }
    const struct barring b = {.pool = pool, .bars = bars, .n = missing};
    struct bundle makes_pool = {.pool = pool};
    TRY(store_write(ctx, e->store, &makes_pool));
    TRY(store_bar(ctx, e->store, &b));
    *added += (int64_t)missing;
    return OK;
}

enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                          const struct erased_ask *v, size_t n, bool again, bool *out,
                          int64_t *erased)
{
    struct erased_ask *back = NEW_N(&ctx->arena, struct erased_ask, n + 1);
    size_t n_back = 0;
    TRY(store_was_erased(ctx, e->store, pool, v, n, out));
    for (size_t i = 0; i < n; i++)
        if (out[i])
            back[n_back++] = v[i];
    *erased += again ? 0 : (int64_t)n_back;
    for (size_t i = 0; i < n && again; i++)
        out[i] = false;
    return again ? store_bring_again(ctx, e->store, pool, back, n_back) : OK;
}
