/* core_ask.h - one question to the core model: budget, breaker, deadline, meter and work log. */
#pragma once

#include "engine/state/state.h"

/* What a question is for; the work log has a kind of the same name. */
enum core_kind { CORE_DISTIL, CORE_GATE, CORE_REWRITE, CORE_SUMMARY, CORE_PROFILE, CORE_DEDUP };

/* How a question ended. */
enum core_why {
    CORE_ANSWERED,
    CORE_UNSET,       /* the settings name no core model */
    CORE_UNAVAILABLE, /* no upstream serves it */
    CORE_BUDGET,      /* the hourly token budget has no room */
    CORE_BREAKER,     /* the circuit is open */
    CORE_CANCELLED,   /* nobody wants the answer any more */
    CORE_LATE,        /* no answer in time */
    CORE_UNUSABLE,    /* the answer does not fit */
    CORE_FAILED       /* the server refused, broke or could not be reached */
};
/* "answered", "core_model_unset", "core_model_unavailable", "token_budget", "breaker_open", … */
const char *core_why_code(enum core_why why);

struct core_ask_in {
    enum core_kind kind;
    struct pool_ref pool; /* whose work it is */
    str instructions, prompt;
    const struct field *shape; /* of a JSON answer, read into out; NULL: the answer is text */
    /* Reads a text into out; fails when it cannot be used. */
    enum status (*read)(struct ctx *ctx, const struct llm_answer *answer, void *out);
    void *out;
    int64_t max_tokens; /* of the answer; 0: the setting core_max_tokens */
    int64_t wait_ms;    /* for all calls of the question; 0: the setting core_timeout_ms */
    bool keeps_work;    /* the caller writes answer.work together with what it makes of it */
};

struct core_answer {
    enum core_why why;
    enum status status; /* of the call, or of reading its answer */
    str words;          /* why there is no answer, else "" */
    str text;           /* the last answer, also one that does not fit */
    bool is_cut;        /* it ran into max_tokens */
    int64_t about;      /* tokens that the question was expected to cost */
    struct work work;   /* for the work log; took_ms 0: the model was not asked */
};

/* Asks, when the settings, the hourly token budget and the circuit breaker allow it. Waits until
 * ctx's deadline, wait_ms or ctx's cancellation. Every request is metered and logged, also a failed
 * one. The answer is in ctx's arena. ctx's own failure is unchanged. Returns out->why. */
enum core_why core_ask(struct ctx *ctx, struct engine *e, const struct core_ask_in *in,
                       struct core_answer *out);

/* Writes a line of the work log. A failure is only logged: the answer is as good without it. */
void core_log(struct ctx *ctx, struct engine *e, const struct work *work);

/* Whether the settings and the budget allow a question of about this many tokens: CORE_ANSWERED, or
 * why not, in *words too. The circuit is not checked. */
enum core_why core_may(struct ctx *ctx, const struct engine *e, int64_t about, str *words);
