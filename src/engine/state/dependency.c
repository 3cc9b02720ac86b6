/* dependency.c - two atomic numbers make the breaker; a table says what counts as a failure. */
#include "engine/state/dependency.h"

#include "base/clock.h"
#include "base/log.h"

/*
 * closed → (a failure) → open for DEPENDENCY_FIRST_MS → one caller may try → closed, or open for
 * twice as long, up to DEPENDENCY_MOST_MS. until_us says until when it is open, wait_ms how long
 * the last pause was; both are atomic, and no lock is taken. A try gets the pause that it began
 * with as its ticket, so that of ten calls that fail together only one doubles the pause.
 */

#define BIT(status) (1u << (status))

/* While a chat waits, only a late answer costs it time, so only TIMED_OUT opens those circuits. */
static const struct {
    const char *name;  /* in messages */
    const char *event; /* in the log */
    unsigned harmless; /* statuses that are not the server's fault */
} kinds[] = {
    [DEPENDENCY_EMBED_QUESTIONS] = {"the embedding source", "embed", BIT(OK)},
    [DEPENDENCY_EMBED_QUEUE] = {"the embedding source", "embed_queue", BIT(OK)},
    [DEPENDENCY_RERANK] = {"the reranker", "rerank", BIT(OK)},
    [DEPENDENCY_CORE_MODEL] = {"the core model", "core_model", BIT(OK) | BIT(BAD_INPUT)},
    [DEPENDENCY_SECTIONS] = {"the core model", "section_choice", ~BIT(TIMED_OUT)},
    [DEPENDENCY_REWRITE] = {"the core model", "rewrite", ~BIT(TIMED_OUT)},
    [DEPENDENCY_QDRANT] = {"Qdrant", "qdrant", BIT(OK) | BIT(STORAGE)},
};

/* --- the breaker --- */

/* The caller that may try keeps the others out for as long as the last pause. */
enum status dependency_begin(struct ctx *ctx, struct dependency *d, int64_t *ticket)
{
    int64_t now = clock_mono_us(), until = d->until_us, next;
    *ticket = d->wait_ms;
    next = now + *ticket * 1000;
    if (until && (now < until || !atomic_compare_exchange_strong(&d->until_us, &until, next))) {
        str why = dependency_why(&ctx->arena, d);
        return fail(ctx, UPSTREAM, S_FMT, S_ARG(why));
    }
    d->tried_us = clock_mono_us();
    return OK;
}

int64_t dependency_begin_now(struct dependency *d)
{
    d->tried_us = clock_mono_us();
    return d->wait_ms;
}

/* Both to 0: the next failure begins with the shortest pause. */
static void close_circuit(struct dependency *d)
{
    d->until_us = 0;
    d->wait_ms = 0;
}

static void log_change(const struct ctx *ctx, const struct dependency *d, enum status before,
                       enum status now)
{
    char event[40];
    snprintf(event, sizeof event, "%s.%s", kinds[d->kind].event,
             now == OK ? "recovered" : "failed");
    if (before == OK && now != OK)
        log_event(LOG_WARN, event, "id=%s status=%s why=\"%s\"", ctx->id, status_name(now),
                  ctx->why);
    if (before != OK && now == OK)
        log_event(LOG_INFO, event, "id=%s failed=%llu", ctx->id, (unsigned long long)d->failures);
}

void dependency_end(const struct ctx *ctx, struct dependency *d, int64_t ticket, enum status s)
{
    int64_t wait = ticket ? 2 * ticket : DEPENDENCY_FIRST_MS;
    assert(d->kind < sizeof kinds / sizeof *kinds && (unsigned)s < STATUS_COUNT);
    if (s != OK && ctx_is_cut(ctx))
        return;
    if (kinds[d->kind].harmless & BIT(s)) {
        s = OK;
        close_circuit(d);
    } else {
        atomic_fetch_add(&d->failures, 1);
        wait = wait < DEPENDENCY_MOST_MS ? wait : DEPENDENCY_MOST_MS;
        /* only one of several tries that failed together doubles the pause */
        if (atomic_compare_exchange_strong(&d->wait_ms, &ticket, wait))
            d->until_us = clock_mono_us() + wait * 1000;
    }
    log_change(ctx, d, (enum status)atomic_exchange(&d->last, (int)s), s);
}

void dependency_reset(struct dependency *d)
{
    close_circuit(d);
    d->tried_us = 0;
    d->last = OK;
}

/* --- status --- */

bool dependency_is_open(const struct dependency *d)
{
    return clock_mono_us() < d->until_us;
}

bool dependency_is_failing(const struct dependency *d)
{
    return d->until_us != 0;
}

int64_t dependency_seconds(const struct dependency *d)
{
    int64_t until = d->until_us, now = clock_mono_us();
    return !until ? 0 : until <= now ? 1 : (until - now + 999999) / 1000000;
}

str dependency_last(struct arena *a, const struct dependency *d)
{
    enum status s = (enum status)d->last;
    return str_printf(a, "%s %s", kinds[d->kind].name,
                      s == OK          ? "answered"
                      : s == TIMED_OUT ? "timed out"
                      : s == NO_AUTH   ? "refused the key"
                                       : "failed");
}

str dependency_retry(struct arena *a, const struct dependency *d, str what)
{
    return str_printf(a, S_FMT ": circuit open, not retried for %lld s", S_ARG(what),
                      (long long)dependency_seconds(d));
}

str dependency_why(struct arena *a, const struct dependency *d)
{
    return dependency_retry(a, d, dependency_last(a, d));
}
