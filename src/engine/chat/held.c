/* held.c - conversations whose earlier messages the model's server keeps. */
#include <assert.h>

#include "base/id.h"
#include "base/words.h"
#include "engine/chat/turn.h"

/*
 * A client of such a server sends its new messages and the name of the answer that they follow.
 * The blocks of memory are stored there with the messages, so that nothing is put back; but what
 * they told must not be told again, and the new messages belong into the same session. So an answer
 * is kept under an id made of its name: that finds the session, and the session's messages find
 * their blocks, as those of a session that is kept here. No table of answers is needed. An answer
 * that only calls tools has no text; a note stands for it, which is never found.
 */

enum { HELD_MAX = 1000, CALLS_MAX = 4000 };

/* The name belongs to a pool: that of another user finds nothing. */
static str named_id(struct arena *a, struct pool_ref pool, str name)
{
    const str parts[] = {S("answer"), pool.user, pool.space, name};
    return id_of(a, parts, 4);
}

void turn_name_answer(struct ctx *ctx, struct engine *e, struct turn *t, str name, str calls)
{
    struct message before;
    assert(!t->in.answer_id.n);
    if (!name.n)
        return;
    str id = named_id(&ctx->arena, t->in.pool, name);
    if (soft(ctx, store_message(ctx, e->store, t->in.pool, id, &before)))
        return; /* of a server that counts its answers from the beginning after a restart */
    t->in.answer_id = id;
    t->calls = utf8_cut(str_trim(calls), CALLS_MAX);
}

/* Tools' results are nothing that a question refers to, and have no blocks. */
static size_t leave_talk(struct message *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (str_is(v[i].role, "user") || str_is(v[i].role, "assistant"))
            v[kept++] = v[i];
    return kept;
}

void engine_goes_on(struct ctx *ctx, struct engine *e, struct turn_in *t, str answer)
{
    struct message last, *v;
    str session = t->session;
    int64_t from = -HELD_MAX;
    size_t n, most = HELD_MAX;
    engine_catch_up(ctx, e, t->pool);
    str id = named_id(&ctx->arena, t->pool, answer);
    if (answer.n && soft(ctx, store_message(ctx, e->store, t->pool, id, &last))) {
        int64_t end = doc_position(last.doc) + 1; /* what came later belongs to another branch */
        session = last.session;
        from = end > HELD_MAX ? end - HELD_MAX : 0;
        most = (size_t)(end - from);
    }
    if (!session.n ||
        !soft(ctx, store_session_messages(ctx, e->store, t->pool, session, from, most, &v, &n)))
        return;
    if (!t->session.n)
        t->session = session;
    t->window = v;
    t->n_window = leave_talk(v, n);
}
