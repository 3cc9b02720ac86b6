/* ctx.h - one call: its memory, its deadline, and why it failed. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* All zero is a ready ctx without a deadline. */
struct ctx {
    struct arena arena;
    char id[56];               /* request or job id, for logs and replies; may be empty */
    char actor[64];            /* who asks, for the audit log; "": the process itself */
    int64_t asked;             /* unix ms when its credential was looked at; 0: by no caller */
    int64_t deadline_us;       /* clock_mono_us() after which work should stop; 0: none */
    const atomic_bool *is_cut; /* true: nobody wants the result any more; may be NULL */
    const atomic_int *first;   /* how many calls go before this one; may be NULL */
    int64_t yields_until_us;   /* it does not give way to them for longer */
    enum status failed;        /* of the first failure noted */
    int detail;                /* the failing room's own code for it (enum embed_failure), or 0 */
    char field[64];            /* the input field that broke a rule, or "" */
    bool is_missing;           /* it broke the rule that it must be given */
    char why[400];             /* the first failure in words, for the caller */
    struct read_view *view;    /* the store's, for the reads of this call; NULL: each has its own */
};

/* The detail of a STORAGE failure whose cause is that there is no database for now, or no space on
 * its disk: in HTTP 503 and 507. */
enum { STORAGE_AWAY = 101, STORAGE_FULL = 102 };

/* Notes why in words and gives s back; the first note wins. */
#define fail(ctx, s, ...) fail_note((ctx), (s), 0, "", __VA_ARGS__)
/* The same with a code of the failing room, for callers that treat kinds of one status apart. */
#define fail_as(ctx, s, detail, ...) fail_note((ctx), (s), (detail), "", __VA_ARGS__)
/* The same for bad input, naming the field; the words say the rule, as in "must be 1 to 100". */
#define fail_field(ctx, field, ...) fail_note((ctx), BAD_INPUT, 0, (field), __VA_ARGS__)
/* The same for a value that this caller may not ask for. */
#define fail_forbidden(ctx, field, ...) fail_note((ctx), FORBIDDEN, 0, (field), __VA_ARGS__)
enum status fail_note(struct ctx *ctx, enum status s, int detail, const char *field,
                      const char *fmt, ...) PRINTF_LIKE(5, 6);

/* The same for a field that must be given and was not. */
enum status fail_missing(struct ctx *ctx, const char *field);

/* Clears the noted failure, for the next round of a loop. After a call, use one of those below. */
void ctx_clear_failure(struct ctx *ctx);

/*
 * Whether a call went well that its caller can do without: soft(ctx, store_touch(ctx, …)). A
 * failure is cleared, so that a later one is noted. Only an expected failure may be cleared: text
 * that may not be JSON, a row that may be gone, an extra such as a vector or a line of the work
 * log. A failure that changes what the caller promised is returned instead (TRY).
 */
bool soft(struct ctx *ctx, enum status s);
/* Whether s is that one failure, such as NOT_FOUND, which is then cleared; others stay noted. */
bool soft_if(struct ctx *ctx, enum status s, enum status expected);
/* The same as a status: OK in place of that one failure. */
MUST_USE enum status soft_or(struct ctx *ctx, enum status s, enum status expected);
/* The noted failure in words, in the arena, or ""; it is cleared. For a caller that reports the
 * failure elsewhere, or fails in its own words. */
str ctx_take_why(struct ctx *ctx);

/*
 * A call inside this one, with an arena and a failure of its own: the parent's id, actor and
 * cancellation, and as its deadline the parent's or ms from now, whichever comes first (ms 0: the
 * parent's). ctx_free frees it.
 */
struct ctx ctx_child(const struct ctx *parent, int64_t ms);
/* Gives s back; a failure of the child is the parent's, too, with its detail. */
enum status ctx_pass(struct ctx *parent, const struct ctx *child, enum status s);
/* The same for what must be finished whatever became of the parent, such as the work log of a call
 * that ran out of time: id and actor alone, no deadline and no cancellation. */
struct ctx ctx_detached(const struct ctx *parent);

/* Half of the time left, at least 1 ms, for a child whose result the parent can do without; 0
 * without a deadline. */
int64_t ctx_half_ms(const struct ctx *ctx);

/* Whether nobody wants the result any more. */
bool ctx_is_cut(const struct ctx *ctx);
/* False once the deadline has passed, or nobody wants the result. */
bool ctx_has_time(const struct ctx *ctx);

/* Waits while there are calls that go first. Long work in the background does so between its parts:
 * a thread of low priority leaves its core only some milliseconds after another wants it. */
void ctx_give_way(const struct ctx *ctx);

void ctx_free(struct ctx *ctx);
