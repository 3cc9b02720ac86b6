/* late.c - turns that are said while the store cannot keep them: noted in a spool, kept later. */
#include "engine/chat/late.h"

#include <unistd.h>

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
enum { LINE_MAX = 32 << 20, AT_ONCE = 64, TRIES = 5 };

bool late_is_due(struct engine *e, const struct turn *t)
{
    bool keeps = t->out.mode == MODE_FULL || t->out.mode == MODE_AFTER;
    return e->work.spool && keeps && !t->in.late &&
           (t->is_blind || spool_holds(e->work.spool, t->in.pool));
}

/* The members of turn_in that a line has as flags. */
#define LATE_FLAGS(X) X(stand_in) X(brings_all) X(is_found) X(has_tools) X(is_durable) X(goes_on)

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
    json_member_str(&w, "user", t->in.pool.user);
    json_member_str(&w, "space", t->in.pool.space);
    json_member_str(&w, "session", t->in.session);
    json_member_str(&w, "model", t->in.model);
    json_member_str(&w, "answer_id", t->in.answer_id);
    json_member_str(&w, "receipt", t->record.id);
    json_member_str(&w, "decision", t->record.decision);
    json_member_str(&w, "reason", t->record.reason);
    json_member_str(&w, "block", t->out.block);
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
    return s;
}

/* --- kept, now that the store can be reached --- */

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

/* The client may have gone on elsewhere meanwhile, and brought this turn with it. */
static bool is_kept(struct ctx *ctx, struct engine *e, const struct turn *t, str answer)
{
    struct message found;
    if (!str_trim(answer).n || !t->chain)
        return false;
    uint64_t chain = turn_answer(&ctx->arena, e, t, answer, false).chain;
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

/* What a database that is away, full or busy does not take waits for as long as that lasts. A line
 * that fails for another reason must not hold up the others. */
static bool drop_line(struct ctx *ctx, struct engine *e, enum status s)
{
    bool is_odd = s == STORAGE && !ctx->detail;
    if (late_may_help(s) && (!is_odd || ++e->work.late_tries < TRIES))
        return false;
    e->work.late_tries = 0;
    if (s != OK)
        log_event(LOG_ERROR, "turn.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
    count(&e->counters.dropped_turns, s != OK);
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
        enum status s = any ? keep_line(&own, e, line) : OK;
        goes_on = any && drop_line(&own, e, s);
        if (!goes_on && s != OK && own.detail != STORAGE_AWAY)
            return ctx_pass(ctx, &own, s);
    }
    *more = goes_on && spool_lines(e->work.spool);
    return OK;
}

/* Of several servers with one folder each takes the first file that is free, and with it what an
 * ended one has left in the others. */
enum status engine_open_spool(struct ctx *ctx, struct engine *e, str folder)
{
    enum { FILES = 9 };
    for (int i = 1; i <= FILES; i++) {
        const char *path = str_printf(&ctx->arena, S_FMT "/spool.%d", S_ARG(folder), i).p;
        CLEANUP(spool_close) struct spool *other = NULL;
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
