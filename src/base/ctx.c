/* ctx.c - noting why a call failed, once. */
#include "base/ctx.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * A ctx belongs to one thread at a time and carries no lock; only what is_cut and first point to
 * may be written by another thread. The first note of a failure wins, because it is the one nearest
 * to the cause: callers that add a note on the way up cannot hide it. So a caller that recovers
 * from a failure has to clear it (soft and its kin), or the next failure would be reported under
 * the old reason.
 */

/* Words of a file or a client may be in it: a control character drives the terminal that shows it.
 */
static void blank_controls(char *text)
{
    str all = str_of(text);
    for (size_t i = 0; i < all.n; i++)
        if (text[i] != '\n')
            memset(text + i, ' ', control_bytes(all, i));
}

enum status fail_note(struct ctx *ctx, enum status s, int detail, const char *field,
                      const char *fmt, ...)
{
    va_list args;
    assert(s != OK);
    if (ctx->failed != OK)
        return s;
    ctx->failed = s;
    ctx->detail = detail;
    snprintf(ctx->field, sizeof ctx->field, "%s", field);
    va_start(args, fmt);
    vsnprintf(ctx->why, sizeof ctx->why, fmt, args);
    va_end(args);
    blank_controls(ctx->field);
    blank_controls(ctx->why);
    return s;
}

enum status fail_missing(struct ctx *ctx, const char *field)
{
    ctx->is_missing |= ctx->failed == OK;
    return fail_field(ctx, field, "is required");
}

void ctx_clear_failure(struct ctx *ctx)
{
    ctx->failed = OK;
    ctx->detail = 0;
    ctx->is_missing = false;
    ctx->field[0] = ctx->why[0] = 0;
}

bool soft(struct ctx *ctx, enum status s)
{
    if (s != OK)
        ctx_clear_failure(ctx);
    return s == OK;
}

bool soft_if(struct ctx *ctx, enum status s, enum status expected)
{
    if (s == expected)
        ctx_clear_failure(ctx);
    return s == expected;
}

enum status soft_or(struct ctx *ctx, enum status s, enum status expected)
{
    return soft_if(ctx, s, expected) ? OK : s;
}

str ctx_take_why(struct ctx *ctx)
{
    str why = str_dup(&ctx->arena, str_of(ctx->why));
    ctx_clear_failure(ctx);
    return why;
}

struct ctx ctx_child(const struct ctx *parent, int64_t ms)
{
    struct ctx child = ctx_detached(parent);
    int64_t until = ms ? clock_mono_us() + ms * 1000 : 0, latest = parent->deadline_us;
    child.deadline_us = !until || (latest && latest < until) ? latest : until;
    child.is_cut = parent->is_cut;
    return child;
}

enum status ctx_pass(struct ctx *parent, const struct ctx *child, enum status s)
{
    return s == OK ? OK : fail_as(parent, s, child->detail, "%s", child->why);
}

/* Id and actor are copied and not shared: the child may outlive its parent. */
struct ctx ctx_detached(const struct ctx *parent)
{
    struct ctx child = {0};
    memcpy(child.id, parent->id, sizeof child.id);
    memcpy(child.actor, parent->actor, sizeof child.actor);
    child.asked = parent->asked;
    return child;
}

int64_t ctx_half_ms(const struct ctx *ctx)
{
    int64_t half = (ctx->deadline_us - clock_mono_us()) / 2000;
    return !ctx->deadline_us ? 0 : half > 1 ? half : 1;
}

bool ctx_is_cut(const struct ctx *ctx)
{
    return ctx->is_cut && *ctx->is_cut;
}

bool ctx_has_time(const struct ctx *ctx)
{
    return !ctx_is_cut(ctx) && (!ctx->deadline_us || clock_mono_us() < ctx->deadline_us);
}

void ctx_give_way(const struct ctx *ctx)
{
    while (ctx->first && *ctx->first && clock_mono_us() < ctx->yields_until_us && !ctx_is_cut(ctx))
        usleep(500);
}

void ctx_free(struct ctx *ctx)
{
    arena_free(&ctx->arena);
}
