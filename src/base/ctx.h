/* ctx.h - one call: its memory, its deadline, and why it failed. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* All zero is a ready ctx without a deadline. */
struct ctx {
    struct arena arena;
    char id[40];               /* request or job id, for logs and replies; may be empty */
    int64_t deadline_us;       /* clock_mono_us() after which work should stop; 0: none */
    const atomic_bool *is_cut; /* true: nobody wants the result any more; may be NULL */
    enum status failed;        /* of the first failure noted */
    char field[64];            /* the input field that broke a rule, or "" */
    char why[400];             /* the first failure in words, for the caller */
};

/* Notes why in words and gives s back; the first note wins. */
enum status fail(struct ctx *ctx, enum status s, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same for bad input, naming the field; the words say the rule, as in "must be 1 to 100". */
enum status fail_field(struct ctx *ctx, const char *field, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Forgets a failure that was dealt with. */
void ctx_clear_failure(struct ctx *ctx);

/* False once the deadline has passed, or nobody wants the result. */
bool ctx_has_time(const struct ctx *ctx);

void ctx_free(struct ctx *ctx);
