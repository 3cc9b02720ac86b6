/* replay.c - blocks of memory that stand in a conversation already. */
#include "base/id.h"
#include "engine/chat/turn.h"

/*
 * A client does not know the block that was added to its message, so its next request comes without
 * it. Left out, everything behind that message would be another prompt than the one the provider
 * has cached, and models that sign their thinking refuse the conversation. So each block is put
 * back where it stood. It is found by the chain of its message, hence not after a client has
 * compacted the conversation or changed what was said; and it is gone with its receipt, which is
 * erased when something in the block is forgotten. It is also gone when a memory in it was
 * corrected or has expired; nothing else takes a block away, as that would change the prompt from
 * there on.
 *
 * What stands in the conversation already is not told again: a memory by its id, a message by its
 * id, or by the passage that was given of it. That also bounds the blocks of a conversation.
 */

/* The user's messages before the one that is answered now, in order. */
static size_t earlier_messages(const struct turn *t, struct replay *v, struct earlier_block *blocks)
{
    size_t n = 0;
    for (size_t i = 0; i < t->in.n_window; i++)
        if (t->in.window[i].chain && str_is(t->in.window[i].role, "user")) {
            v[n] = (struct replay){.chain = t->in.window[i].chain};
            blocks[n++] = (struct earlier_block){.at = i, .in_window = true};
        }
    for (size_t i = 0; i < t->n_spoken; i++)
        if (t->spoken[i].at < t->out.block_at) {
            v[n] = (struct replay){.chain = t->spoken[i].chain};
            blocks[n++] = (struct earlier_block){.at = t->spoken[i].at};
        }
    return n;
}

/* Some clients send the block back as a part of the message. */
static bool is_there(struct arena *a, const struct turn *t, const struct earlier_block *b)
{
    return !b->in_window &&
           engine_strip_block(a, t->in.said[b->at].text).n < t->in.said[b->at].text.n;
}

void replay_find(struct ctx *ctx, struct engine *e, struct turn *t)
{
    size_t most = t->in.n_window + t->n_spoken, n, kept = 0, cap = 0;
    struct replay *v = NEW_N(&ctx->arena, struct replay, most + 1);
    struct earlier_block *blocks = NEW_N(&ctx->arena, struct earlier_block, most + 1);
    assert(!t->out.n_earlier && !t->told.n);
    if (!t->in.replays)
        return;
    n = earlier_messages(t, v, blocks);
    if (!n || !soft(ctx, store_replays(ctx, e->store, t->in.pool, t->record.session, v, n)))
        return;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < v[i].told.n; k++)
            ARENA_ADD(&ctx->arena, t->told.v, t->told.n, cap) = v[i].told.v[k];
        if (!v[i].block.n || is_there(&ctx->arena, t, &blocks[i]))
            continue;
        blocks[kept] = blocks[i];
        blocks[kept++].block = v[i].block;
    }
    t->out.earlier = blocks;
    t->out.n_earlier = kept;
}

/* --- what is told --- */

/* A memory is told as a whole; of a long message only a passage may be. */
static str told_mark(struct arena *a, const struct recalled *r)
{
    str passage = r->text.n ? r->text : r->part.quotable.n ? r->part.quotable : r->message.text;
    if (r->is_memory)
        return r->memory.id;
    if (str_eq(str_trim(passage), str_trim(r->message.text)))
        return r->message.id;
    return str_printf(a, S_FMT "#%016llx", S_ARG(r->message.id),
                      (unsigned long long)hash64(&passage, 1));
}

/* A memory is told, too, where the whole message that it came from stands. */
void replay_leave_told(const struct turn *t, struct recalled *v, size_t n)
{
    for (struct recalled *r = v; r < v + n && t->told.n; r++)
        if (r->state == LINE_INJECTED &&
            (strs_have(&t->told, told_mark(t->arena, r)) ||
             (r->is_memory && r->memory.source.n && strs_have(&t->told, r->memory.source)))) {
            r->state = LINE_QUOTABLE;
            r->why = S("it was inserted earlier in this conversation");
        }
}

struct strs replay_told(struct arena *a, const struct recalled *v, size_t n)
{
    struct strs told = {NEW_N(a, str, n + 1), 0};
    for (size_t i = 0; i < n; i++)
        if (v[i].state == LINE_INJECTED)
            told.v[told.n++] = str_dup(a, told_mark(a, &v[i]));
    return told;
}
