/* ctx.c - noting why a call failed, once. */
#include "base/ctx.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

static void note(struct ctx *ctx, enum status s, const char *field, const char *fmt, va_list args)
{
    if (ctx->failed != OK)
        return;
    ctx->failed = s;
    snprintf(ctx->field, sizeof ctx->field, "%s", field);
    vsnprintf(ctx->why, sizeof ctx->why, fmt, args);
}

enum status fail(struct ctx *ctx, enum status s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    note(ctx, s, "", fmt, args);
    va_end(args);
    return s;
}

enum status fail_field(struct ctx *ctx, const char *field, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    note(ctx, BAD_INPUT, field, fmt, args);
    va_end(args);
    return BAD_INPUT;
}

void ctx_clear_failure(struct ctx *ctx)
{
    ctx->failed = OK;
    ctx->field[0] = ctx->why[0] = 0;
}

bool ctx_has_time(const struct ctx *ctx)
{
    if (ctx->is_cut && *ctx->is_cut)
        return false;
    return !ctx->deadline_us || clock_mono_us() < ctx->deadline_us;
}

void ctx_free(struct ctx *ctx)
{
    arena_free(&ctx->arena);
}
