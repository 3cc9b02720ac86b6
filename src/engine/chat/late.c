/* late.c - turns that are said while the store cannot be reached, noted in the spool. */
#include "engine/chat/late.h"

#include "base/clock.h"
#include "engine/state/spool.h"

/*
 * What is noted is what the turn was begun with, and the answer: a line of JSON in the spool. When
 * the store is back, the same turn runs again without recall, so that it is kept by the same rules
 * as any other. Ids of messages follow from what was said, and the receipt keeps its id: a line
 * that runs twice, since its process was killed, adds nothing. While a line of a pool waits, later
 * turns of the pool wait behind it, so that their order stays.
 *
 * Secrets are masked as in the store. The conversation is found by hashes of what was said, so that
 * of a masked text the line has the hash, too.
 */
enum { LINE_MAX = 32 << 20 };

bool late_is_due(struct engine *e, const struct turn *t)
{
    bool keeps = t->out.mode == MODE_FULL || t->out.mode == MODE_AFTER;
    return e->work.spool && keeps && !t->in.late &&
           (t->is_blind || spool_holds(e->work.spool, t->in.pool));
}

/* The members of a line, which are texts; said and the flags are beside them. */
#define LATE_TEXTS(X)                                                                              \
    X(user, t->in.pool.user)                                                                       \
    X(space, t->in.pool.space)                                                                     \
    X(session, t->in.session)                                                                      \
    X(model, t->in.model)                                                                          \
    X(answer_id, t->in.answer_id)                                                                  \
    X(receipt, t->record.id)                                                                       \
    X(decision, t->record.decision)                                                                \
    X(reason, t->record.reason)                                                                    \
    X(block, t->out.block)

/* The text as it is kept; *own is its hash when that differs, else 0. */
static str masked_text(struct ctx *ctx, const struct engine *e, const struct turn *t, str role,
                       str text, int64_t *own)
{
    str kept = turn_masked(e, t, &ctx->arena, text);
    *own =
        str_eq(kept, text) ? 0 : (int64_t)turn_own(t, role, engine_strip_block(&ctx->arena, text));
    return kept;
}

static void write_line(struct ctx *ctx, const struct engine *e, struct buf *b, const struct turn *t,
                       str answer)
{
    int64_t own;
    struct json_out w = json_to(b);
    json_open(&w, '{');
    json_member_int(&w, "at", t->record.created);
#define X(name, value) json_member_str(&w, #name, value);
    LATE_TEXTS(X)
#undef X
#define X(name) json_member_bool(&w, #name, t->in.name);
    LATE_FLAGS(X)
#undef X
    json_member_str(&w, "answer", masked_text(ctx, e, t, S("assistant"), answer, &own));
    json_member_int(&w, "own", own);
    json_member_open(&w, "said", '[');
    for (size_t i = 0; i < t->in.n_said; i++) {
        const struct said *said = &t->in.said[i];
        json_open(&w, '[');
        json_str(&w, said->role);
        json_str(&w, masked_text(ctx, e, t, said->role, said->text, &own));
        json_str(&w, said->name);
        json_int(&w, own);
        json_close(&w, ']');
    }
    json_close(&w, ']');
    json_close(&w, '}');
}

enum status late_note(struct ctx *ctx, struct engine *e, struct turn *t, str answer)
{
    struct buf b = buf_make(NULL, LINE_MAX);
    write_line(ctx, e, &b, t, answer);
    enum status s = b.full ? fail(ctx, TOO_BUSY, "the conversation is too long for the spool")
                           : spool_add(ctx, e->work.spool, t->in.pool, buf_str(&b));
    buf_free(&b);
    if (s != OK) {
        count(&e->counters.dropped_turns, 1);
        log_event(LOG_WARN, "turn.dropped", "id=%s why=\"%s\"", ctx->id, ctx->why);
    }
    return s;
}
