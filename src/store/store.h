/* store.h - the face of the store, where memories live: domain words in, plain structs out. */
#pragma once

#include "core/memory.h"

struct store;

/*
 * Every function may be called from any thread and may block (a read for microseconds to a few ms,
 * a write until it is durable). Results live in the ctx's arena. Reads of a pool that does not
 * exist find nothing. STORAGE is the disk's or the database's failure; it has been noted in words
 * and nothing of the call has been kept.
 */

struct store_settings {
    str path;            /* the database file, or "postgresql://…" (UNSUPPORTED in this build) */
    size_t readers;      /* most reads at once; 0 takes a default */
    size_t vector_bytes; /* what vectors may take in memory; 0 takes a default (512 MiB) */
};

MUST_USE enum status store_open(struct ctx *ctx, const struct store_settings *settings,
                                struct store **out);
void store_close(struct store *s); /* writes what is queued first */

/* --- writing --- */

/* What happens when a memory with the same key is there already (a memory without a key is always
 * new). */
enum put_rule {
    PUT_SUPERSEDE, /* other content: the old one is closed (valid_to, superseded_by); same content:
                      it is seen once more */
    PUT_REPLACE,   /* content, type, session, expiry are taken over in place; metadata is merged; id
                      and created stay */
    PUT_IMPORT,    /* what has the id already stays as it is, or is replaced when this was updated
                      later; under a key the one made later is true, whichever comes first */
};

/*
 * What one turn, import or call writes, all or nothing. Messages and memories whose id is there
 * already are left as they are (messages) or count as said once more (memories), so that a retry is
 * harmless.
 */
struct bundle {
    struct pool_ref pool;     /* made when it does not exist */
    struct session session;   /* id and title; made when it does not exist. id "": no messages */
    struct message *messages; /* in order, to the end of the session; store_write sets doc */
    size_t n_messages;
    struct memory *memories; /* id may be "" for a new one; store_write sets doc and id */
    size_t n_memories;
    enum put_rule rule;
    const struct receipt *receipt; /* or NULL; left out when it shows what is forgotten by now */
    size_t added, replaced;        /* memories; set by store_write */
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

/*
 * Forgets. Erasing reaches the row, its words and vector, memories that came from it, summaries of
 * it and receipts that show it, in one transaction, and *erased counts memories and messages. What
 * else such a summary was made of is true again, or closed by the memory that has its key by now.
 * NOT_FOUND when nothing matched.
 */
struct forget {
    struct pool_ref pool;
    str id;          /* a memory, message or session id; or "" */
    str session;     /* a whole session; or "" */
    bool everything; /* the whole pool */
    bool all_spaces; /* with everything: all pools of the user, and its tokens' receipts */
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
 * asked for as history. CONFLICT when one of them is closed already or gone. Fills *summary as it
 * was kept.
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
MUST_USE enum status store_sessions(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    size_t offset, size_t limit, struct session **out, size_t *n,
                                    int64_t *total);

struct memory_filter {
    struct pool_ref pool;        /* space "": every space of the user */
    str type, category, session; /* "" for any */
    str contains;                /* in content or key, ASCII case folded; "" for any */
    bool with_closed;            /* also superseded and expired ones */
    bool with_expired;           /* also expired ones */
    int64_t after, before;       /* created in [after, before), unix ms; 0: no such end */
    bool oldest_first;
    size_t offset, limit;
};
/* Newest first. total counts all that match, which looks at each of them; NULL: nobody asks. */
MUST_USE enum status store_list_memories(struct ctx *ctx, struct store *s,
                                         const struct memory_filter *f, struct memory **out,
                                         size_t *n, int64_t *total);

/* What all memories that match a filter come to; its offset and limit do not count. */
struct memory_totals {
    int64_t total, by_type[TYPE_COUNT];
    int64_t tokens; /* of their contents, as tokens_of counts */
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

/* --- Qdrant, beside the store: store/qdrant --- */

struct qdrant_settings {
    str url;          /* scheme, host and port; "" is not configured */
    str key;          /* sent as api-key; or "" */
    str collection;   /* made at the first write */
    str quantization; /* none, int8, binary */
    int64_t timeout_ms;
};
struct qdrant_point {
    struct pool_ref pool;
    const struct memory *memory;
    const float *v;
    size_t dimensions;
};
struct qdrant_find {
    struct pool_ref pool; /* space "": every space of the user */
    str session;          /* or "" */
    const float *v;
    size_t dimensions;
    size_t limit;
};
struct qdrant_hit {
    str id; /* of the memory */
    double score;
    str payload; /* as JSON */
};
/* A memory that is gone: what is left of it. */
struct qdrant_ref {
    struct pool_ref pool;
    str id; /* of the memory */
};
/* The URL of a host that may lack the scheme (http) and the port; "" without a host. */
str qdrant_url(struct arena *a, str host, int64_t port);
/* Each asks the server and waits. UPSTREAM or TIMED_OUT when it cannot be reached or refuses, with
 * its words (at most 300 characters) in ctx->why; UNSUPPORTED "not_configured" without a URL. */
MUST_USE enum status qdrant_health(struct ctx *ctx, const struct qdrant_settings *q,
                                   int64_t *took_us);
/* *made: the collection was not there. BAD_INPUT: the server is well and does not take one of these
 * points. */
MUST_USE enum status qdrant_put(struct ctx *ctx, const struct qdrant_settings *q,
                                const struct qdrant_point *points, size_t n, bool *made);
/* NOT_FOUND: there is no collection. */
MUST_USE enum status qdrant_search(struct ctx *ctx, const struct qdrant_settings *q,
                                   const struct qdrant_find *f, struct qdrant_hit **out, size_t *n);
MUST_USE enum status qdrant_delete(struct ctx *ctx, const struct qdrant_settings *q,
                                   const struct qdrant_ref *refs, size_t n);
/* What has expired or was made before `before` (unix ms) goes; *deleted counts it. */
MUST_USE enum status qdrant_cleanup(struct ctx *ctx, const struct qdrant_settings *q, str user,
                                    int64_t before, int64_t *deleted);

/* --- receipts, tokens, the store itself --- */

MUST_USE enum status store_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct receipt *out);
/* The last one of the user message with that chain; its id is "" when there is none. */
MUST_USE enum status store_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      uint64_t chain, struct receipt *out);

MUST_USE enum status store_put_token(struct ctx *ctx, struct store *s, const struct token *t);
/* By SHA-256 hex. NOT_FOUND also when revoked or expired. */
MUST_USE enum status store_find_token(struct ctx *ctx, struct store *s, str hash,
                                      struct token *out);
/* A user's, newest first; user "" lists everyone's. */
MUST_USE enum status store_tokens(struct ctx *ctx, struct store *s, str user, struct token **out,
                                  size_t *n);
MUST_USE enum status store_revoke_token(struct ctx *ctx, struct store *s, str user, str id);
/* True when any token exists: then requests must show one. Cheap. */
MUST_USE enum status store_has_tokens(struct ctx *ctx, struct store *s, bool *out);

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
