/* write.h - writing: bundles of messages and memories, changes, forgetting, consolidation. */
#pragma once

#include "core/memory_ops.h"
#include "core/session.h"
#include "core/work.h"

struct store;

/* What happens when the pool has a memory with the same key (without a key each one is new). */
enum put_rule {
    PUT_SUPERSEDE, /* other content closes the old one (valid_to, superseded_by); same content
                      counts as said once more */
    PUT_ONCE,      /* without id and key: same content in the same layer and session counts as said
                      once more, where it was made within a minute of this one */
    PUT_NEW,       /* CONFLICT */
    PUT_REPLACE,   /* content, type, session and expiry change in place, tags and salience too when
                      it was distilled; metadata is merged; id and created stay */
    PUT_IMPORT,    /* by id: the later update wins. By key: the one created later is true, in
                      whichever order they are imported */
    PUT_DISTILLED, /* episodes as with PUT_REPLACE, dated by their last turn. Others as with
                      PUT_SUPERSEDE, but by key the one created later is true, and one with the id
                      and key of another changes it in place */
};

/* A memory that another one replaces. */
struct closing {
    str id;    /* of a true memory, which is closed */
    size_t by; /* in favour of this one of the bundle */
};

/*
 * What one turn, import or call writes, all or nothing. A retry is harmless: messages whose id
 * exists are skipped, memories count as said once more. What someone says again is as old as when
 * it was said last: a true memory's `created` moves to that of the one that came from a chat.
 */
struct bundle {
    struct pool_ref pool;     /* made when missing */
    struct session session;   /* id and title; made when missing. id "": no messages */
    bool goes_on;             /* the session must exist, or store_write gives NOT_FOUND */
    struct message *messages; /* in order, to the end of the session; store_write sets doc */
    size_t n_messages;
    struct memory *memories; /* id "" gets a new one; store_write sets doc and id */
    size_t n_memories;
    enum put_rule rule;
    const struct receipt *receipt; /* or NULL; skipped when it shows a forgotten memory */
    bool has_queued;               /* the same receipt was queued before: nothing is new in it */
    size_t added, replaced;        /* memories; set by store_write */
    int64_t asked;     /* not 0: nothing is kept when it was erased with its space, user or session
                          since then (unix ms) */
    int64_t distil_at; /* not 0: each new message of the user becomes a signal, and the session
                          waits to be distilled from then on (unix ms). Other waiting sessions of
                          the pool are due now, unless this or their time is over a day away */
    int64_t claim_ms;  /* with distil_at: the writer of the bundle distils it, and has claimed the
                          session as store_due_sessions would. With distilled: the claim goes on for
                          what else waits in the session */
    bool replaces;     /* the session's content is forgotten first, all or nothing; store_write
                          alone. When someone else has claimed the session, claim_ms is ignored, and
                          equal messages (by id) stay */
    bool hears;        /* nothing but this: those messages of the user that are there as echoes
                          without anything new are none any more; then memories, too, are added */
    bool in_work;      /* set by store_write: someone else has claimed the replaced session */
    const int64_t *distilled; /* signals of the session that became these memories, and are done.
                                 CONFLICT when one was forgotten or distilled meanwhile */
    size_t n_distilled;
    const struct work *work;      /* logged with it, by store_write alone; or NULL */
    const struct closing *closes; /* by store_write alone */
    size_t n_closes;
    const str *erase; /* ids of memories to erase first, as if forgotten; by store_write
                         alone */
    size_t n_erase;
};

/* Returns when it is durable (fsync); concurrent writes share one commit. */
MUST_USE enum status store_write(struct ctx *ctx, struct store *s, struct bundle *b);
/* Copies the bundle and returns; the next group writes it. TOO_BUSY when the queue is full. */
MUST_USE enum status store_write_later(struct ctx *ctx, struct store *s, const struct bundle *b);
/* Waits until all that was queued so far is durable. Fails when a bundle that was queued since the
 * last flush could not be written; the rest is kept. */
MUST_USE enum status store_flush(struct ctx *ctx, struct store *s);
/* Waits until the bundles queued so far can be read, which is before they are durable; at once when
 * there are none. The next flush reports failures, not this. */
MUST_USE enum status store_settle(struct ctx *ctx, struct store *s);
/* The same for the bundles of one pool, or (space "") of any, that this process has queued:
 * TIMED_OUT when ms are over. */
MUST_USE enum status store_settle_pool(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                       int64_t ms);

/*
 * Erases rows with their words and vectors, memories that came from them, their summaries and the
 * receipts that show them; *erased counts memories and messages. Little is erased in one
 * transaction. Much (over 64 documents) is erased in pieces, between which others write; when the
 * process is killed, the next store_open finishes. After STORAGE a part may be gone, and the rest
 * stays until it is forgotten again. Other members
 * of an erased summary are open again, or closed by the memory that has their key by now.
 * Forgetting a message also erases what was distilled from its whole session, and episodes merged
 * with that; the user's messages in these sessions are distilled again. NOT_FOUND when nothing
 * matched.
 */
MUST_USE enum status store_forget(struct ctx *ctx, struct store *s, const struct forget *what,
                                  int64_t *erased);

/* Puts back what the deletion or change with that mark erased and changed, all or nothing: ids,
 * times and uses are as they were. *restored counts memories and messages that are back, of a
 * change the memories. NOT_FOUND when there is no such mark or its time is over; CONFLICT when an
 * id or a key is in use by now. */
MUST_USE enum status store_undo(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                int64_t *restored);
/* Erases what can be undone no more. */
MUST_USE enum status store_undo_prune(struct ctx *ctx, struct store *s, int64_t now);

/* Changes one memory in place: its id, its age and members that `change` does not name stay.
 * NOT_FOUND; CONFLICT when it was superseded, or another true memory has the key. */
MUST_USE enum status store_change(struct ctx *ctx, struct store *s, const struct change *change,
                                  struct memory *out);

/* The same of several, all or nothing; those that are missing or closed are left out. */
MUST_USE enum status store_change_each(struct ctx *ctx, struct store *s,
                                       const struct change *change, const str *ids, size_t n,
                                       int64_t *changed);

enum { CONDENSED_MAX = 32 };
struct condensing {
    struct memory summary; /* filled */
    const str *ids;
    size_t n;
};
/*
 * Closes memories of the pool in favour of new semantic summaries, all or nothing. The closed ones
 * leave recall, lists and search, and can still be read as history. CONFLICT when one of them is
 * closed or missing, or another memory has a summary's key. At most CONDENSED_MAX at once, which a
 * writer waits for less.
 */
MUST_USE enum status store_condense(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    struct condensing *v, size_t n);
/* The way back: closes the summary and opens the memories again that it replaced, all or
 * nothing. One whose key another memory has by now stays closed, in favour of that one. NOT_FOUND;
 * CONFLICT when the summary is closed, or replaced nothing. */
MUST_USE enum status store_reopen(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  int64_t *reopened);

/* Notes that these memories were shown: uses + 1, last used now. Messages are skipped. Written
 * later, together with other writes. TOO_BUSY when the queue is full. */
MUST_USE enum status store_touch(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 const doc_id *docs, size_t n, int64_t now);

/* What a consolidation changes in a pool, all or nothing; ids are of memories. Missing, closed and
 * meanwhile changed memories are skipped, and those used meanwhile are not evicted. */
struct consolidation {
    struct pool_ref pool;
    int64_t seen; /* when the memories were read, unix ms; 0: none counts as changed */
    str *evict;   /* closed, and superseded by none */
    size_t n_evict;
    struct merged {
        str keep, drop; /* drop is closed in favour of keep */
        str metadata;   /* of keep from now on */
    } * merges;
    size_t n_merges;
    struct raised {
        str id;
        double salience; /* from now on, as of last_used */
    } * raises;
    size_t n_raises;
    str *erase; /* closed or not, as if forgotten by id */
    size_t n_erase;
};
/* *changed counts memories that were closed, raised or erased. */
MUST_USE enum status store_consolidate(struct ctx *ctx, struct store *s,
                                       const struct consolidation *c, int64_t *changed);

/* Removes older receipts and memories that expired before (unix ms), and the old log of work. */
MUST_USE enum status store_prune(struct ctx *ctx, struct store *s, int64_t receipts_before,
                                 int64_t expired_before, int64_t *removed);
