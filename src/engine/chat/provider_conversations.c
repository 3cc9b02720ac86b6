/* provider_conversations.c - conversations whose earlier messages the model's server keeps. */
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/utf8.h"
#include "engine/chat/turn.h"

/*
 * A client of such a server sends its new messages and the name of the answer that they follow.
 * The blocks of memory are stored there with the messages, so that nothing is put back; but what
 * they told must not be told again, and the new messages belong into the same session. So an answer
 * is kept under an id made of its name: that finds the session, and the session's messages find
 * their blocks, as those of a session that is kept here. No table of answers is needed. An answer
 * that only calls tools has no text; a note stands for it, which is never found.
 *
 * With the server's key all users are one account there, and an id is enough to go on from what
 * another user has said. So for clients without a key of their own it is noted whose an answer is:
 * two hashes, also of a turn without memory. They are kept for longer than OpenAI keeps a response;
 * a conversation has no end.
 */

enum { HELD_MAX = 1000, CALLS_MAX = 4000, OWNER_DAYS = 40 };

/* --- whose it is --- */

static str held_name(struct arena *a, enum held_kind kind, str id)
{
    static const char *const kinds[] = {"response", "item", "conversation"};
    return ID_OF(a, S("held"), str_of(kinds[kind]), id);
}

/* Of a server that counts its answers from the beginning after a restart the new one counts, so an
 * owner is replaced. One that is not noted can only cost its user an error. */
static void note_owner(struct ctx *ctx, struct engine *e, str user,
                       const struct answer_names *names)
{
    str rest = names->items, *v = NEW_N(&ctx->arena, str, names->items.n + 1);
    int64_t until = clock_ms() + OWNER_DAYS * DAY_MS;
    size_t n = 0;
    if (names->name.n)
        v[n++] = held_name(&ctx->arena, HELD_RESPONSE, names->name);
    while (rest.n)
        v[n++] = held_name(&ctx->arena, HELD_ITEM, str_cut(&rest, '\n'));
    if (!n)
        return;
    enum status s =
        store_note_owners(ctx, e->store, v, n, ID_OF(&ctx->arena, S("owner"), user), until);
    if (s != OK)
        log_event(LOG_WARN, "owner.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
    soft(ctx, s);
}

/* The answer may have been noted a moment ago, for another space of the user. */
enum status engine_may_follow(struct ctx *ctx, struct engine *e, str user, enum held_kind kind,
                              str id)
{
    str name = held_name(&ctx->arena, kind, id), owner;
    str mine = ID_OF(&ctx->arena, S("owner"), user);
    engine_catch_up(ctx, e, (struct pool_ref){.user = user});
    TRY(store_settle(ctx, e->store));
    TRY(store_owner(ctx, e->store, name, &owner));
    if (!owner.n && kind == HELD_CONVERSATION)
        return store_note_owners(ctx, e->store, &name, 1, mine, 0);
    return str_eq(owner, mine) ? OK : fail(ctx, NOT_FOUND, "not yours, or not known here");
}

/* --- going on --- */

/* The name belongs to a pool: that of another user finds nothing. */
static str named_id(struct arena *a, struct pool_ref pool, str name)
{
    return ID_OF(a, S("answer"), pool.user, pool.space, name);
}

void turn_name_answer(struct ctx *ctx, struct engine *e, struct turn *t,
                      const struct answer_names *names)
{
    struct message before;
    assert(!t->in.answer_id.n);
    if (t->in.notes_owner)
        note_owner(ctx, e, t->in.pool.user, names);
    if (!names->name.n || t->out.mode == MODE_OFF)
        return;
    str id = named_id(&ctx->arena, t->in.pool, names->name);
    if (soft(ctx, store_message(ctx, e->store, t->in.pool, id, &before)))
        return; /* of a server that counts its answers from the beginning after a restart */
    t->in.answer_id = id;
    t->calls = utf8_cut(str_trim(names->calls), CALLS_MAX);
}

/* Tools' results are nothing that a question refers to, and have no blocks. */
void engine_goes_on(struct ctx *ctx, struct engine *e, struct turn_in *t, str answer)
{
    struct message last, *v;
    str session = t->session;
    int64_t end = -1;
    size_t n;
    engine_catch_up(ctx, e, t->pool);
    str id = named_id(&ctx->arena, t->pool, answer);
    if (answer.n && soft(ctx, store_message(ctx, e->store, t->pool, id, &last))) {
        end = doc_position(last.doc) + 1; /* what came later belongs to another branch */
        session = last.session;
    }
    if (!session.n || !soft(ctx, messages_before(ctx, e, t->pool, session, HELD_MAX, &end, &v, &n)))
        return;
    t->is_found = !t->session.n;
    t->session = t->is_found ? session : t->session;
    t->window = v;
    t->n_window = 0;
    for (size_t i = 0; i < n; i++)
        if (str_is(v[i].role, "user") || str_is(v[i].role, "assistant"))
            v[t->n_window++] = v[i];
}
