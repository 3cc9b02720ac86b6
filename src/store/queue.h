/* queue.h - work for the background: turns to distil, memories to sync; the log of work. */
#pragma once

#include "core/memory.h"
#include "core/work.h"

struct store;

/* Waits until this process has written since `seen` (0 at first), or ms are over, or store_wake.
 * Returns the new number. */
uint64_t store_wait(struct store *s, uint64_t seen, int64_t ms);
/* Wakes every waiting thread, now and from now on. */
void store_wake(struct store *s);

/* --- signals: turns that wait to be distilled --- */

/* A session with such turns. */
struct waiting_session {
    struct pool_ref pool;
    str session;
    int64_t due, tries;   /* tries that failed since the last success */
    bool is_answer_fault; /* the last try failed as the model's answer did not fit */
};
/* Claims sessions that are due, longest waiting first: no other caller, in any process, gets them
 * before lease_ms are over. When a process of this machine has ended, store_open and
 * store_flush_signals free its claims. Cheap when none is due. */
MUST_USE enum status store_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms,
                                        size_t limit, struct waiting_session **out, size_t *n);

struct pending_signal {
    int64_t no;
    struct message message; /* of the user */
    str answer;             /* the assistant's message behind it, or "" */
};
/* The signals of a session, in order. */
MUST_USE enum status store_signals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                   str session, size_t limit, struct pending_signal **out,
                                   size_t *n);

/* Ends a claim without memories (bundle.distilled ends it with them). Signals that came meanwhile
 * wait on. */
struct distil_end {
    struct pool_ref pool;
    str session;
    const int64_t *done; /* signals to drop; missing ones are skipped */
    size_t n_done;
    int64_t again_at;        /* when the rest is due, unix ms; 0: now */
    str error;               /* not "": it failed, which counts as a try */
    bool is_answer_fault;    /* it failed as the model's answer did not fit */
    int64_t claim_ms;        /* with done: the claim goes on for what else waits */
    bool is_dead;            /* waits until store_flush_signals, whatever comes */
    const struct work *work; /* logged with it; or NULL */
};
MUST_USE enum status store_end_distil(struct ctx *ctx, struct store *s,
                                      const struct distil_end *end);

/* Waiting sessions are due now, dead ones too; space "": in all spaces; session "": all. *n counts
 * them. */
MUST_USE enum status store_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                         str session, int64_t *n);
/* pool NULL: of the whole store; space "": in all spaces. */
MUST_USE enum status store_signal_stats(struct ctx *ctx, struct store *s,
                                        const struct pool_ref *pool, struct signal_stats *out);

/* --- the log of background work --- */

MUST_USE enum status store_log_work(struct ctx *ctx, struct store *s, const struct work *work);
/* Newest first; pool NULL: of all, space "": of every space; kind "": any. store_prune removes
 * entries older than 30 days. */
MUST_USE enum status store_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                    str kind, size_t limit, struct work **out, size_t *n);
MUST_USE enum status store_work_sum(struct ctx *ctx, struct store *s, int64_t since,
                                    struct work_sum *out);

/* --- sync: memories that a second place has yet to follow --- */

/* While sync is on, every change of a memory queues its id. Turning it on queues all memories,
 * once: it stays on when the store is opened again. Turning it off empties the queue. */
MUST_USE enum status store_sync(struct ctx *ctx, struct store *s, bool on);
/* Queues all memories again; waiting ones keep their place. */
MUST_USE enum status store_sync_all(struct ctx *ctx, struct store *s);
struct sync_item {
    int64_t no;
    struct pool_ref pool;
    str id;      /* of the memory */
    bool exists; /* false: it was erased or closed, so the second place removes it, too */
    struct memory memory;
    int64_t tries;
};
/* Those that are due; *all counts the whole queue. */
MUST_USE enum status store_sync_waiting(struct ctx *ctx, struct store *s, size_t limit,
                                        struct sync_item **out, size_t *n, int64_t *all);
/* They have been followed; or (again_at not 0) are due again then. */
MUST_USE enum status store_sync_done(struct ctx *ctx, struct store *s,
                                     const struct sync_item *const *v, size_t n, int64_t again_at);
