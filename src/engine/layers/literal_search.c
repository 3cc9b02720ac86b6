/* literal_search.c - one layer of memory looked through for a text as it stands. */
#include "base/clock.h"
#include "base/utf8.h"
#include "core/tokens.h"
#include "engine/layers/context.h"
#include "engine/recall/candidates.h"

/* Sessions and messages that are read at a time; of memories: how many more than are wanted, as
 * some may stand in front of the reader; how long a transcript is looked through. */
enum { SESSIONS = 100, MESSAGES = 1000, MORE = 100, LOOK_MS = 1000 };

static struct recalled found_as_it_stands(struct recalled r)
{
    r.text = found_text(&r);
    r.tokens = tokens_of(r.text);
    r.why = S("holds the query as it stands");
    return r;
}

/* Whether the text is in what may be shown. A memory may have it in its key alone. */
static bool holds_still(const struct finder *f, str wanted, struct recalled *r)
{
    if (!find_shows(f, r))
        return false;
    str text = utf8_lower(&f->ctx->arena, found_text(r));
    return (r->is_memory && !r->part.is_cut) || str_find(text, wanted) < text.n;
}

static enum status find_memories(struct ctx *ctx, struct engine *e, const struct layer_search *in,
                                 const struct recall_in *ask, struct scope_out *out)
{
    struct memory *v;
    struct finder finder;
    size_t found;
    int64_t total;
    TRY(find_open(ctx, e, ask, &finder));
    const struct memory_filter f = {.pool = in->pool,
                                    .layer = ask->only.layer,
                                    .contains = in->query,
                                    .limit = in->limit + MORE};
    TRY(store_list_memories(ctx, e->store, &f, &v, &found, &total));
    str wanted = utf8_lower(&ctx->arena, in->query);
    for (size_t i = 0; i < found && out->n < in->limit; i++) {
        struct recalled r = {.is_memory = true, .memory = v[i]};
        if (holds_still(&finder, wanted, &r))
            out->v[out->n++] = found_as_it_stands(r);
    }
    return OK;
}

/* --- the transcript --- */

/* From the newest session to the oldest, in each from the last message to the first. */
struct look {
    struct ctx *ctx;
    struct engine *e;
    const struct layer_search *in;
    str wanted;
    struct finder finder;
    int64_t deadline_us;
    struct scope_out *out;
};

/* Enough found, or no time left. */
static bool is_over(const struct look *l)
{
    return l->out->n == l->in->limit || l->out->is_cut;
}

static void look_at(struct look *l, struct ctx *own, const struct message *m)
{
    struct recalled r = {.message = *m};
    struct finder one = l->finder;
    one.ctx = own;
    if (!holds_still(&one, l->wanted, &r))
        return;
    struct recalled kept = {.message = message_copy(&l->ctx->arena, &r.message)};
    l->out->v[l->out->n++] = found_as_it_stands(kept);
}

/* What stands before a place of a session, or (before < 0) at its end. *before is where the next
 * page ends; 0: there is none. */
static enum status look_at_page(struct look *l, str session, int64_t *before)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(l->ctx, 0);
    struct message *v;
    size_t n;
    int64_t end = *before, from = end < 0 ? -MESSAGES : end > MESSAGES ? end - MESSAGES : 0;
    enum status s =
        store_session_messages(&own, l->e->store, l->in->pool, session, from, MESSAGES, &v, &n);
    if (s != OK && s != NOT_FOUND) /* a session may have been forgotten meanwhile */
        return fail(l->ctx, s, "%s", own.why);
    *before = s != OK ? 0 : from >= 0 ? from : n ? doc_position(v[0].doc) : 0;
    for (size_t i = s == OK ? n : 0; i-- > 0 && !is_over(l);)
        if (end < 0 || doc_position(v[i].doc) < end)
            look_at(l, &own, &v[i]);
    l->out->is_cut = !is_over(l) && (clock_mono_us() > l->deadline_us || !ctx_has_time(l->ctx));
    return OK;
}

static enum status look_at_sessions(struct look *l, size_t *offset)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(l->ctx, 0);
    struct session *v;
    size_t n;
    const struct session_filter newest = {.pool = l->in->pool,
                                          .offset = *offset,
                                          .limit = SESSIONS};
    TRY(ctx_pass(l->ctx, &own, store_sessions(&own, l->e->store, &newest, &v, &n, NULL)));
    for (size_t i = 0; i < n && !is_over(l); i++)
        for (int64_t before = -1; before && !is_over(l);)
            TRY(look_at_page(l, v[i].id, &before));
    *offset = n == SESSIONS ? *offset + n : 0;
    return OK;
}

/* Newest first, for at most LOOK_MS: a scan has no index to help it. is_cut is only reported when
 * nothing was found in that time, for then "nothing" may be wrong. */
static enum status find_turns(struct ctx *ctx, struct engine *e, const struct layer_search *in,
                              const struct recall_in *ask, struct scope_out *out)
{
    struct look l = {.ctx = ctx,
                     .e = e,
                     .in = in,
                     .wanted = utf8_lower(&ctx->arena, in->query),
                     .deadline_us = clock_mono_us() + (int64_t)LOOK_MS * 1000,
                     .out = out};
    size_t offset = 0;
    TRY(find_open(ctx, e, ask, &l.finder));
    for (bool more = true; more; more = offset && !is_over(&l))
        TRY(look_at_sessions(&l, &offset));
    out->is_cut &= !out->n;
    return OK;
}

enum status plan_find_literal(struct ctx *ctx, struct engine *e, const struct layer_search *in,
                              struct scope_out *out)
{
    const struct recall_in ask = plan_ask(e, in);
    struct scope_out found = {.v = NEW_N(&ctx->arena, struct recalled, in->limit + 1)};
    TRY((in->scope == PLAN_TRANSCRIPT ? find_turns : find_memories)(ctx, e, in, &ask, &found));
    *out = found;
    return OK;
}
