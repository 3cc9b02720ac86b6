/* late_keep.c - turns that were noted while the store could not be reached, kept now it can be. */
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/chat/late.h"
#include "engine/state/spool.h"

enum { AT_ONCE = 64, TRIES = 5 };

static str text_at(const struct json *line, const char *name)
{
    return json_string(json_get(line, name));
}

static void read_said(struct ctx *ctx, const struct json *all, struct turn_in *in)
{
    struct said *v = NEW_N(&ctx->arena, struct said, all ? all->n + 1 : 1);
    in->said = v;
    for (const struct json *one = all ? all->first : NULL; one; one = one->next)
        v[in->n_said++] = (struct said){.role = json_string(json_at(one, "0")),
                                        .text = json_string(json_at(one, "1")),
                                        .name = json_string(json_at(one, "2")),
                                        .own = (uint64_t)json_int_or(json_at(one, "3"), 0)};
}

static enum status read_line(struct ctx *ctx, str text, struct turn_in *in, struct late *late,
                             str *answer)
{
    struct json *line;
    TRY(json_parse(ctx, text, &line));
    *in = (struct turn_in){.mode = MODE_AFTER,
                           .pool = {text_at(line, "user"), text_at(line, "space")},
                           .session = text_at(line, "session"),
                           .model = text_at(line, "model"),
                           .answer_id = text_at(line, "answer_id"),
                           .late = late};
#define X(name) in->name = json_is_true(json_get(line, #name));
    LATE_FLAGS(X)
#undef X
    *late = (struct late){json_int_or(json_get(line, "at"), clock_ms()),
                          text_at(line, "receipt"),
                          text_at(line, "decision"),
                          text_at(line, "reason"),
                          text_at(line, "block"),
                          (uint64_t)json_int_or(json_get(line, "own"), 0)};
    *answer = text_at(line, "answer");
    late->answer = engine_strip_block(&ctx->arena, *answer);
    read_said(ctx, json_get(line, "said"), in);
    return in->pool.user.n && in->pool.space.n ? OK : fail(ctx, BAD_INPUT, "it is of no pool");
}

/* Whether the same line may go well later. */
static bool is_later(enum status s)
{
    return s == STORAGE || s == TOO_BUSY || s == TIMED_OUT;
}

/* The client may have gone on elsewhere meanwhile, and brought this turn with it. */
static bool is_kept(struct ctx *ctx, struct engine *e, const struct turn *t, str answer)
{
    struct message found;
    if (!str_trim(answer).n || !t->chain)
        return false;
    uint64_t chain = turn_answer(&ctx->arena, t, answer).chain;
    return soft(ctx, store_find_chain(ctx, e->store, t->in.pool, chain, 0, &found));
}

static enum status keep_line(struct ctx *ctx, struct engine *e, str text)
{
    struct turn_in in;
    struct late late;
    str answer;
    TRY(read_line(ctx, text, &in, &late, &answer));
    struct turn *t = engine_begin_turn(ctx, e, &in);
    if (t->is_blind)
        return fail_as(ctx, STORAGE, STORAGE_AWAY, "the database cannot be reached");
    if (!late.is_brought && is_kept(ctx, e, t, late.answer))
        return OK;
    t->out.block = t->record.block = late.block;
    t->record.decision = late.decision;
    t->record.reason = late.reason;
    return turn_end_now(ctx, e, t, answer);
}

/* A line that cannot be kept for another reason than the database must not hold up the others. */
static bool drop_line(struct ctx *ctx, struct engine *e, enum status s)
{
    bool is_away = s == STORAGE && ctx->detail == STORAGE_AWAY;
    if (s != OK && is_later(s) && (is_away || ++e->work.late_tries < TRIES))
        return false;
    e->work.late_tries = 0;
    if (s != OK)
        log_event(LOG_ERROR, "turn.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
    spool_drop(e->work.spool);
    return true;
}

enum status engine_keep_late(struct ctx *ctx, struct engine *e, bool *more)
{
    bool goes_on = true;
    *more = false;
    for (int i = 0; i < AT_ONCE && goes_on && spool_lines(e->work.spool); i++) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        str line;
        bool any;
        TRY(spool_first(ctx, e->work.spool, &line, &any));
        goes_on = any && drop_line(&own, e, keep_line(&own, e, line));
    }
    *more = goes_on && spool_lines(e->work.spool);
    return OK;
}

static void spool_closep(struct spool **s)
{
    spool_close(*s);
}

/* Of several servers with one folder each takes the first file that is free, and with it what an
 * ended one has left in the others. */
enum status engine_open_spool(struct ctx *ctx, struct engine *e, str folder)
{
    enum { FILES = 9 };
    for (int i = 1; i <= FILES; i++) {
        const char *path = str_printf(&ctx->arena, S_FMT "/spool.%d", S_ARG(folder), i).p;
        CLEANUP(spool_closep) struct spool *other = NULL;
        if (e->work.spool && access(path, F_OK) != 0)
            continue;
        enum status s = spool_open(ctx, path, e->work.spool ? &other : &e->work.spool);
        if (soft_if(ctx, s, TOO_BUSY))
            continue;
        TRY(s);
        if (other)
            TRY(spool_take(ctx, e->work.spool, other));
    }
    return e->work.spool ? OK : fail(ctx, TOO_BUSY, "too many servers have one data folder");
}
