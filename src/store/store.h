/* store.h - the face of the store, where memories live: domain words in, plain structs out. */
#pragma once

#include "core/memory.h"
#include "store/people.h"
#include "store/qdrant.h"

struct store;
struct work;

/*
 * Every function may be called from any thread and may block (a read for microseconds to a few ms,
 * a write until it is durable). Results live in the ctx's arena. Reads of a pool that does not
 * exist find nothing. STORAGE is the disk's or the database's failure; it has been noted in words
 * and nothing of the call has been kept.
 */

enum { STORE_KEY_BYTES = 32 };

struct store_settings {
    str path;            /* the database file, or "postgresql://…" (UNSUPPORTED in this build) */
    const uint8_t *key;  /* STORE_KEY_BYTES of an encrypted store, which keeps its own copy; NULL:
                            the file is plain */
    size_t readers;      /* most reads at once; 0 takes a default */
    size_t vector_bytes; /* what vectors may take in memory; 0 takes a default (512 MiB) */
};

/* FORBIDDEN: the key is wrong, missing, or one too many; nothing has been touched. TOO_BUSY: the
 * file is being replaced. */
MUST_USE enum status store_open(struct ctx *ctx, const struct store_settings *settings,
                                struct store **out);
void store_close(struct store *s); /* writes what is queued first */

/* --- the file, while it is not open --- */

/* What a file is by its first bytes. An empty one is absent; what cannot be read is foreign. */
enum store_kind { STORE_ABSENT, STORE_PLAIN, STORE_ENCRYPTED, STORE_FOREIGN };
enum store_kind store_kind(struct ctx *ctx, str path);
/* Whether it opens the encrypted file. Nothing is written. */
bool store_key_fits(struct ctx *ctx, str path, const uint8_t *key);

/*
 * Copies a store as it is at one moment, under another key or none. The copy is made beside its
 * place, opened, compared and checked, made durable, and then put there in one step: whenever the
 * process is killed, what was there before is there, or the whole copy.
 */
struct store_copy {
    str from;
    const uint8_t *from_key; /* or NULL */
    str to;                  /* may be the same file */
    const uint8_t *to_key;   /* or NULL */
    bool replaces; /* to may be there, and goes; it then is open nowhere, or this is TOO_BUSY */
    /* May be NULL. what: "copying" (bytes), then "checking" and "done" (1 of 1). */
    void (*progress)(void *own, const char *what, int64_t done, int64_t all);
    void *own;
};
/* CONFLICT: to is there and is not to be replaced. TOO_LARGE: the disk has no room. */
MUST_USE enum status store_copy(struct ctx *ctx, const struct store_copy *copy);

/* --- writing --- */

/* What happens when a memory with the same key is there already (a memory without a key is always
 * new). */
enum put_rule {
    PUT_SUPERSEDE, /* other content: the old one is closed (valid_to, superseded_by); same content:
                      it is seen once more */
    PUT_REPLACE,   /* content, type, session, expiry are taken over in place, of what was distilled
                      tags and salience, too; metadata is merged; id and created stay */
    PUT_IMPORT,    /* what has the id already stays as it is, or is replaced when this was updated
                      later; under a key the one made later is true, whichever comes first */
    PUT_DISTILLED, /* episodes as with PUT_REPLACE, all else as with PUT_SUPERSEDE, but under a key
                      the one made later is true */
};

/*
 * What one turn, import or call writes, all or nothing. Messages and memories whose id is there
 * already are left as they are (messages) or count as said once more (memories), so that a retry is
 * harmless.
 */
struct bundle {
    struct pool_ref pool;   /* made when it does not exist */
    struct session session; /* id and title; made when it does not exist. id "": no messages */
    bool goes_on; /* its session was there: store_write writes nothing when it is gone by now, and
                     gives NOT_FOUND */
    struct message *messages; /* in order, to the end of the session; store_write sets doc */
    size_t n_messages;
    struct memory *memories; /* id may be "" for a new one; store_write sets doc and id */
    size_t n_memories;
    enum put_rule rule;
    const struct receipt *receipt; /* or NULL; left out when it shows what is forgotten by now */
    size_t added, replaced;        /* memories; set by store_write */
    int64_t distil_at; /* not 0: each new message of the user becomes a signal, and its session
                          waits to be distilled from then on (unix ms); other sessions of the pool
                          that wait are due now, unless theirs or its own is over a day away */
    int64_t claim_ms;  /* with distil_at: who writes has claimed the session as store_due_sessions
                          would, and distils it */
    bool replaces; /* what stood in the session goes first, as if it were forgotten, all or nothing;
                      store_write alone. While someone else has claimed the session, claim_ms claims
                      nothing, and the same messages (by their ids) are left as they are */
    bool in_work;  /* set by store_write: someone else has claimed what was to be replaced */
    const int64_t *distilled; /* signals of the session that these memories came from: they are done
                                 with it. CONFLICT, and nothing is written, when one of them was
                                 forgotten or distilled meanwhile */
    size_t n_distilled;
    const struct work *work; /* is logged with it, by store_write alone; or NULL */
    const str *erase;        /* memories that go for good before the others come, closed or not, as
                                if forgotten by id; by store_write alone */
    size_t n_erase;
};

/* Returns when it is durable (fsync), together with whatever other threads write at the same time.
 */
MUST_USE enum status store_write(struct ctx *ctx, struct store *s, struct bundle *b);

/* Copies the bundle and returns; it is written with the next group. TOO_BUSY when the queue is full
 * (bytes and number). */
MUST_USE enum status store_write_later(struct ctx *ctx, struct store *s, const struct bundle *b);

/* Waits until everything queued so far is durable. Fails when anything that was to be written later
 * could not be since the last flush; the rest is kept. */
MUST_USE enum status store_flush(struct ctx *ctx, struct store *s);

/* Waits until the bundles queued so far can be read; at once when there are none. What could not be
 * written is told by the next flush, not here. */
MUST_USE enum status store_settle(struct ctx *ctx, struct store *s);

/*
 * Forgets. Erasing reaches the row, its words and vector, memories that came from it, summaries of
 * it and receipts that show it, in one transaction, and *erased counts memories and messages. What
 * else such a summary was made of is true again, or closed by the memory that has its key by now.
 * What was distilled from a whole session goes with any message of it, and so do episodes that were
 * merged with its own: what the user said in these sessions waits to be distilled anew. NOT_FOUND
 * when nothing matched.
 */
struct forget {
    struct pool_ref pool;
    str id;              /* a memory, message or session id; or "" */
    str session;         /* a whole session; or "" */
    bool keeps_memories; /* with session: what was learnt from it stays */
    bool everything;     /* the whole pool */
    bool all_spaces; /* with everything: the user's pools and its tokens' receipts, not its row */
    bool memories;   /* the pool's memories, closed ones too; messages stay */
    str type;        /* with memories: only of this type; "" for any */
    int64_t before;  /* with memories: only those made before (unix ms); 0 for any */
};
MUST_USE enum status store_forget(struct ctx *ctx, struct store *s, const struct forget *what,
                                  int64_t *erased);

/* The members of a memory that a change sets. */
enum {
    CHANGE_CONTENT = 1,
    CHANGE_KEY = 2,
    CHANGE_TYPE = 4,
    CHANGE_CATEGORY = 8,
    CHANGE_METADATA = 16,
    CHANGE_TAGS = 32,
    CHANGE_IMPORTANCE = 64,
    CHANGE_EXPIRES = 128,
    CHANGE_NOTHING = 256, /* but the time of its change */
};

struct change {
    struct pool_ref pool;
    str id;
    unsigned what;    /* CHANGE_… */
    struct memory to; /* only what is named by what is looked at */
};

/*
 * Changes one memory in place: its id, its age and what is not named stay as they are. NOT_FOUND;
 * CONFLICT when it has been superseded, or when another memory that is still true has the key.
 */
MUST_USE enum status store_change(struct ctx *ctx, struct store *s, const struct change *change,
                                  struct memory *out);

/*
 * Closes memories of the pool in favour of one new one that says what they said, all or nothing: a
 * semantic summary, with an id of its own. They leave recall, lists and search, and can still be
 * asked for as history. CONFLICT when one of them is closed already or gone, or another memory
 * has the summary's key. Fills *summary as it was kept.
 */
MUST_USE enum status store_condense(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    struct memory *summary, const str *ids, size_t n);

/* --- reading --- */

/* The newest message of the pool with that chain, else (tail not 0) with that tail. NOT_FOUND
 * without a note. */
MUST_USE enum status store_find_chain(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      uint64_t chain, uint64_t tail, struct message *out);

/* Documents by number: out[i] belongs to docs[i]; one that is gone has an empty id. Another pool's
 * is gone, too. */
MUST_USE enum status store_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    const doc_id *docs, size_t n, struct message *out);
MUST_USE enum status store_memories(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    const doc_id *docs, size_t n, struct memory *out);
/* By id; with space "" in any space of the user (memory.space says which). */
MUST_USE enum status store_memory(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  struct memory *out);

/* One session's messages in order, from a position on; a negative one counts from the end. */
MUST_USE enum status store_session_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                            str session, int64_t from, size_t limit,
                                            struct message **out, size_t *n);
struct memory_filter {
    struct pool_ref pool;               /* space "": every space of the user */
    str layer, type, category, session; /* "" for any */
    str contains;                       /* in content or key, ASCII case folded; "" for any */
    bool with_closed;                   /* also superseded and expired ones */
    bool with_expired;                  /* also expired ones */
    int64_t after, before;              /* created in [after, before), unix ms; 0: no such end */
    str kind;                           /* of kind_names; "" for any */
    str priority;                       /* of priority_names; "" for any */
    bool oldest_first;
    bool by_use; /* last used first */
    size_t offset, limit;
};
/* Newest first. total counts all that match, which looks at each of them; NULL: nobody asks. */
MUST_USE enum status store_list_memories(struct ctx *ctx, struct store *s,
                                         const struct memory_filter *f, struct memory **out,
                                         size_t *n, int64_t *total);

/* What all memories that match a filter come to; its offset and limit do not count. */
struct memory_totals {
    int64_t total, by_type[TYPE_COUNT], by_kind[KIND_COUNT], by_priority[PRIORITY_COUNT];
    int64_t uses, oldest, newest; /* uses in all; times of making, unix ms, 0: there is none */
    int64_t tokens;               /* of their contents, as tokens_of counts */
};
MUST_USE enum status store_memory_totals(struct ctx *ctx, struct store *s,
                                         const struct memory_filter *f, struct memory_totals *out);

/* A user's pools, by name. */
struct pool_info {
    struct pool_ref pool;
    int64_t created, sessions, messages, memories;
};
MUST_USE enum status store_pools(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                                 size_t *n);
/* Everyone who has a pool, by name. */
MUST_USE enum status store_users(struct ctx *ctx, struct store *s, struct strs *out);

struct pool_sum {
    struct pool_info pool;
    int64_t facts, episodes, signals; /* facts and episodes that are still true; turns that wait */
    int64_t updated;                  /* when something came last, unix ms */
};
/* One pool's, or (space "") those of all of the user's, by name. Facts are not counted one by one.
 */
MUST_USE enum status store_pool_sums(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                     struct pool_sum **out, size_t *n);

/* --- the words index --- */

enum { QUERY_WORDS_MAX = 16 };

/* One document that holds at least one of the words. own and label count each word in the two
 * columns, up to 15 each. */
struct word_hit {
    doc_id doc;
    uint8_t counts[QUERY_WORDS_MAX]; /* low half: own words, high half: label */
};

struct word_hits {
    struct word_hit *v; /* ascending by doc: sessions stand together, neighbours in order */
    size_t n;
    int64_t messages, memories;      /* how many documents the pool has */
    uint32_t found[QUERY_WORDS_MAX]; /* documents per word; UINT32_MAX: left out for time */
};

/*
 * Every document of the pool that holds a word of the query; stems are as words_of gives them.
 * Superseded and expired memories are left out. When the words together stand in more than max
 * documents, the commonest words are left out (marked in found) rather than some documents.
 */
MUST_USE enum status store_search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                        const str *stems, size_t n, size_t max,
                                        struct word_hits *out);
/* The same among memories alone: however many messages hold the words, they crowd out none. */
MUST_USE enum status store_search_memory_words(struct ctx *ctx, struct store *s,
                                               struct pool_ref pool, const str *stems, size_t n,
                                               size_t max, struct word_hits *out);

/* --- vectors --- */

/*
 * Every message and memory that is searched by words can have a vector, too. All vectors of a store
 * are made by one model: another signature, length or precision begins another set, and every
 * document waits for its vector anew. Without a set nothing waits and nothing is kept.
 */
struct vector_set {
    str signature; /* "static:potion-base-8M:256"; "" when there is no set */
    size_t dimensions;
    bool is_int8;  /* kept as int8, else as float32 */
    int64_t begun; /* unix ms; set by the store */
};
/* Cheap. dimensions 0: there is none. */
MUST_USE enum status store_vector_set(struct ctx *ctx, struct store *s, struct vector_set *out);
/* Begins a set, in one transaction: what there is of vectors goes and everything waits. When
 * that set is in force already and not anew, only what was given up waits again. signature "" ends
 * vectors. */
MUST_USE enum status store_begin_vectors(struct ctx *ctx, struct store *s,
                                         const struct vector_set *set, bool anew);

/* A text that waits for its vector. */
struct unembedded {
    int64_t no; /* of its place in the queue; another one when the text has changed */
    doc_id doc;
    struct pool_ref pool;
    str text;
    int64_t tries; /* that failed */
};
/* Those that are due, oldest first; pool NULL: of every pool. */
MUST_USE enum status store_unembedded(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                      size_t limit, struct unembedded **out, size_t *n);

struct vector_put {
    int64_t no;
    doc_id doc;
    const float *v;   /* length 1; NULL: it could not be made */
    int64_t again_at; /* without v: when to try again, unix ms; 0: never, it has no vector */
};
/* Keeps vectors of the set with that signature, in one transaction. What waits no more (changed,
 * erased, another set) is left out silently. */
MUST_USE enum status store_put_vectors(struct ctx *ctx, struct store *s, str signature,
                                       const struct vector_put *v, size_t n);

struct vector_find {
    struct pool_ref pool;
    str signature; /* of the question's vector */
    const float *v;
    size_t dimensions;
    size_t nearest;          /* how many to find */
    bool messages, memories; /* among which */
    const doc_id *also;      /* these are compared as well, near or not */
    size_t n_also;
};
struct vector_hit {
    doc_id doc;
    float cosine; /* with its vector; 0 when it has none */
    float window; /* of a message: with the unit sum of its own, the two before and the one after */
    bool is_near; /* one of the nearest */
};
struct vector_hits {
    struct vector_hit *v; /* ascending by doc, each once */
    size_t n;
    int64_t vectors; /* of the pool; 0 when the signature is not that of the set */
    int64_t waiting; /* of the pool; counted up to 1000 */
};
/*
 * Every vector of the pool is looked at and none of another. Kept as int8, cosines are off by
 * 0.0006 (at 256 dimensions, on average); kept as float32, those of the nearest are exact. A pool's
 * vectors are held in memory from its first search on, the least used go first. TIMED_OUT when half
 * of the time that is left does not do for reading them; the next search goes on from there.
 * Vectors that are damaged are left out and wait anew.
 */
MUST_USE enum status store_search_vectors(struct ctx *ctx, struct store *s,
                                          const struct vector_find *f, struct vector_hits *out);

/* Two documents of a list, by their places in it, the earlier one first. */
struct vector_pair {
    uint32_t one, other;
    float cosine;
};
struct vector_pairs {
    struct vector_pair *v;
    size_t n;
    bool *has_vector; /* of each document of the list */
};
/* Of each document of the pool the nearest behind it in the list, at most `each`, whose cosine is
 * at least least. Each is compared with each, by int8: 10,000 take a second. TIMED_OUT when the
 * deadline passes. */
MUST_USE enum status store_vector_pairs(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                        const doc_id *docs, size_t n, float least, size_t each,
                                        struct vector_pairs *out);

struct vector_stats {
    int64_t rows, waiting, failed; /* failed: given up, they have none */
    int64_t unreadable;            /* found since open; they were made anew */
    int64_t bytes;                 /* in memory */
};
/* pool NULL: of the whole store. */
MUST_USE enum status store_vector_stats(struct ctx *ctx, struct store *s,
                                        const struct pool_ref *pool, struct vector_stats *out);

/* --- work that waits --- */

/* Waits until anything was written since `seen` (0 at first), or ms are over, or store_wake; gives
 * the new number. Another process's writes are not noticed. */
uint64_t store_wait(struct store *s, uint64_t seen, int64_t ms);
/* Wakes all that wait, now and from now on. */
void store_wake(struct store *s);

/* A setting that was changed while the server ran, as text; "" when there is none, and to have none
 * any more. Cheap. */
MUST_USE enum status store_setting(struct ctx *ctx, struct store *s, str name, str *out);
MUST_USE enum status store_put_setting(struct ctx *ctx, struct store *s, str name, str value);

/*
 * The mirror: while it is on, every change of a memory queues its id, so that a second place can
 * follow. Turning it on queues all memories, once: it stays on when the store is opened again.
 * Turning it off empties the queue.
 */
MUST_USE enum status store_mirror(struct ctx *ctx, struct store *s, bool on);
/* Queues all memories again; what waits already, stays. */
MUST_USE enum status store_mirror_all(struct ctx *ctx, struct store *s);
struct mirrored {
    int64_t no;
    struct pool_ref pool;
    str id;      /* of the memory */
    bool exists; /* false: it is gone or closed, so it is to go there, too */
    struct memory memory;
    int64_t tries;
};
MUST_USE enum status store_mirror_waiting(struct ctx *ctx, struct store *s, size_t limit,
                                          struct mirrored **out, size_t *n, int64_t *all);
/* They have been followed; or (again_at not 0) they are tried again then. */
MUST_USE enum status store_mirror_done(struct ctx *ctx, struct store *s, const int64_t *no,
                                       size_t n, int64_t again_at);

/* --- signals: turns that wait to be distilled --- */

/* A session whose turns wait. */
struct waiting_session {
    struct pool_ref pool;
    str session;
    int64_t due, tries; /* tries that failed since the last success */
    str error;          /* of the last one, or "" */
};
/* Claims sessions that are due, longest waiting first: nobody else is given them before lease_ms
 * are over, in no process. The claims of a process of this machine that has ended are free again
 * when a store_open or store_flush_signals finds them. Cheap when none is due. */
MUST_USE enum status store_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms,
                                        size_t limit, struct waiting_session **out, size_t *n);

struct pending_signal {
    int64_t no;
    struct message message; /* of the user */
    str answer;             /* the assistant's message behind it, or "" */
};
/* What waits in a session, in order. */
MUST_USE enum status store_signals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                   str session, size_t limit, struct pending_signal **out,
                                   size_t *n);

/* Ends a claim without memories (bundle.distilled ends it with them). What came meanwhile waits on.
 */
struct distil_end {
    struct pool_ref pool;
    str session;
    const int64_t *done; /* signals that are not looked at again; what is gone is left out */
    size_t n_done;
    int64_t again_at; /* when the rest is due, unix ms; 0: now */
    str error;        /* not "": it failed, which counts as a try */
    bool is_dead;     /* it waits until it is asked for (store_flush_signals), whatever comes */
    const struct work *work; /* is logged with it; or NULL */
};
MUST_USE enum status store_end_distil(struct ctx *ctx, struct store *s,
                                      const struct distil_end *end);

/* What waits is due now, dead ones too; space "": in all spaces; session "": all. *n counts the
 * sessions. */
MUST_USE enum status store_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                         str session, int64_t *n);

struct signal_stats {
    int64_t signals, sessions, dead; /* that wait; sessions that are dead */
    int64_t oldest;                  /* unix ms; 0: none */
    str error;                       /* the last one of what waits */
};
/* pool NULL: of the whole store. */
MUST_USE enum status store_signal_stats(struct ctx *ctx, struct store *s,
                                        const struct pool_ref *pool, struct signal_stats *out);

/* One piece of background work, for people who ask what happened and what it cost. */
struct work {
    struct pool_ref pool;
    str kind;    /* distil, consolidate, gate, rewrite, summary, profile, dedup */
    str status;  /* success, skipped, empty, error, dead */
    str details; /* in words; never a message's text */
    str model;
    int64_t tokens_in, tokens_out, took_ms, created;
};
MUST_USE enum status store_log_work(struct ctx *ctx, struct store *s, const struct work *work);
/* Newest first; pool NULL: of all, space "": of every space; kind "": any. store_prune removes what
 * is older than 30 days. */
MUST_USE enum status store_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                    str kind, size_t limit, struct work **out, size_t *n);
/* Of what asked a model: model is not "". Forgetting a pool leaves its work without names. */
struct work_sum {
    int64_t calls, failures; /* not skipped; error or dead */
    int64_t tokens_in, tokens_out, took_ms;
};
MUST_USE enum status store_work_sum(struct ctx *ctx, struct store *s, int64_t since,
                                    struct work_sum *out);

/* These memories were shown: uses + 1, last used now; messages are left out. Written later with
 * others, nobody waits. TOO_BUSY when the queue is full. */
MUST_USE enum status store_touch(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 const doc_id *docs, size_t n, int64_t now);

/* What a consolidation changes in a pool, all or nothing; ids are of memories. What is gone, closed
 * or changed meanwhile is left out, and what was used meanwhile is not evicted. *changed counts
 * what was closed, raised or erased. */
struct consolidation {
    struct pool_ref pool;
    int64_t seen;     /* when the memories were read, unix ms; 0: nothing is left out as changed */
    const str *evict; /* closed, and superseded by none */
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
    const str *erase; /* gone for good, closed or not, as if forgotten by id */
    size_t n_erase;
};
MUST_USE enum status store_consolidate(struct ctx *ctx, struct store *s,
                                       const struct consolidation *c, int64_t *changed);

/* --- OmniRoute's file --- */

/* What one row of OmniRoute's table memories (or its older memory) says; it may lack its content or
 * id. owner is its key's id, or "". */
struct omniroute_row {
    str owner;
    struct memory memory;
};
/*
 * Reads a database file of OmniRoute, owner by owner and the oldest first, without changing
 * anything in its folder. row is called for each, which lives until it returns; its failure ends
 * the reading. NOT_FOUND: there is no such file, or it holds neither table.
 */
MUST_USE enum status store_read_omniroute(struct ctx *ctx, str path,
                                          enum status (*row)(struct ctx *ctx, void *own,
                                                             const struct omniroute_row *row,
                                                             int64_t done, int64_t all),
                                          void *own);

/* --- receipts, the store itself --- */

MUST_USE enum status store_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct receipt *out);
/* The last one of the user message with that chain; its id is "" when there is none. */
MUST_USE enum status store_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      uint64_t chain, struct receipt *out);

struct store_stats {
    int64_t users, pools, sessions, messages, memories, receipts, bytes, wal_bytes;
    int64_t queued;                     /* bundles waiting to be written */
    uint64_t writes, commits, failures; /* since open */
    int schema;                         /* version of the schema */
};
MUST_USE enum status store_stats(struct ctx *ctx, struct store *s, struct store_stats *out);
/* Cheap: one read, and the writer's last result. */
MUST_USE enum status store_ping(struct ctx *ctx, struct store *s);
/* Checks invariants: the file's integrity, words against rows, positions without holes. Findings as
 * lines; "" is healthy. */
MUST_USE enum status store_check(struct ctx *ctx, struct store *s, str *findings);
/* Removes receipts and expired memories older than these times (unix ms); for the background. */
MUST_USE enum status store_prune(struct ctx *ctx, struct store *s, int64_t receipts_before,
                                 int64_t expired_before, int64_t *removed);
