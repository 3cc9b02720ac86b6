/* message_blocks.c - where a block stands in chat completions and APIs with the same messages. */
#include "surface/proxy/message_blocks.h"

static const struct json *element_at(const struct json *array, size_t i)
{
    const struct json *v = array->first;
    while (v && i--)
        v = v->next;
    return v;
}

enum placement blocks_placement(const struct app *app, const struct model_request *m)
{
    return m->in.is_planned ? PLACE_USER_PREFIX : target_placement(app->settings, &m->to);
}

bool blocks_are_replayed(const struct app *app, const struct model_request *m)
{
    return m->to.up && placement_is_beside(blocks_placement(app, m));
}

/* The model's server then sees the prompt that it has cached. */
void blocks_put_earlier(struct ctx *ctx, const struct app *app, struct model_request *m)
{
    const struct turn_out *t = turn_out_of(m->turn);
    bool is_front = blocks_placement(app, m) == PLACE_USER_PREFIX;
    struct cut *cuts = NEW_N(&ctx->arena, struct cut, t->n_earlier + 1);
    const struct json *message = m->messages ? m->messages->first : NULL;
    size_t at = 0, n = 0;
    for (size_t i = 0; i < t->n_earlier; i++) {
        const struct earlier_block *b = &t->earlier[i];
        if (b->in_window)
            continue;
        for (; at < b->at; at++)
            message = message->next;
        n += splice_beside(&ctx->arena, message, is_front, b->block, &cuts[n]);
    }
    m->body.more = cuts;
    m->body.n_more = n;
}

void blocks_put(struct ctx *ctx, const struct app *app, struct model_request *m, bool is_front)
{
    assert(m->turn && m->body.body.n);
    const struct turn_out *t = turn_out_of(m->turn);
    const struct json *at = t->block.n ? element_at(m->messages, t->block_at) : NULL;
    const struct block block = {
        .text = t->block,
        .where = blocks_placement(app, m),
        .no_system = target_rejects_system(&ctx->arena, &m->to),
    };
    if (at && is_front == (block.where == PLACE_SYSTEM || block.where == PLACE_FIRST_USER))
        splice_block(&ctx->arena, &m->body, m->root, m->messages, at, &block);
}
