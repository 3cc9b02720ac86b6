/* sqlite_store.h - what the parts of the SQLite backend know of each other. */
#pragma once

#include <pthread.h>

#include "core/index.h"
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/store_int.h"
#include "store/vectors/shelf.h"

enum { READERS_MAX = 64 };

struct writer;

struct sqlite_store {
    struct store base;
    char *path;
    struct hold hold;
    uint8_t *key; /* in guarded memory; or NULL */
    struct writer *writer;
    pthread_mutex_t lock; /* of the readers */
    pthread_cond_t given; /* a reader was given back */
    struct db *idle[READERS_MAX];
    size_t n_idle, n_open, max_open;
    struct shelf shelf; /* vectors in memory */
    int64_t unreadable; /* vectors that were damaged; under the lock */
};

static inline struct sqlite_store *sqlite_of(struct store *s)
{
    return (struct sqlite_store *)s;
}

/* --- reader.c: connections that only read --- */

/* A read of one scope: one connection, one view of the store. */
struct reader {
    struct sqlite_store *s;
    struct db *db;
};

#define READER(r) CLEANUP(reader_end) struct reader r = {0}

MUST_USE enum status reader_begin(struct ctx *ctx, struct sqlite_store *s, struct reader *out);
void reader_end(struct reader *r);
void readers_close(struct sqlite_store *s);

/* A pool's row; no is 0 when it does not exist. */
struct pool_row {
    int64_t no, messages, memories;
};
MUST_USE enum status pool_find(struct ctx *ctx, struct db *db, struct pool_ref pool,
                               struct pool_row *out);

/* A session's number and a message's document in the pool, or 0. On any connection. */
MUST_USE enum status session_find(struct ctx *ctx, struct db *db, int64_t pool, str id,
                                  int64_t *no);
MUST_USE enum status message_find(struct ctx *ctx, struct db *db, int64_t pool, str id,
                                  doc_id *out);

/* --- rows.c: rows into structs --- */

void read_message(struct query *q, struct message *out);
void read_memory(struct query *q, struct memory *out);
/* The rows that are left, in the arena. */
MUST_USE enum status read_memories(struct query *q, struct memory **out, size_t *n);
str tags_text(struct arena *a, struct strs tags);

/* --- list.c: the functions tokens() and lowered(), on a connection --- */

MUST_USE enum status list_setup(struct ctx *ctx, struct db *db);

/* --- words.c: writing the words index --- */

enum { STEM_MAX = 64, TOKEN_MAX = 32 + 2 * STEM_MAX };

/* What every token of a pool begins with. */
struct word_prefix {
    char text[32];
    size_t n;
};

struct word_prefix word_prefix_of(int64_t pool);
/* The token of a stem; its length is given back. */
size_t word_token(char out[TOKEN_MAX], const struct word_prefix *prefix, str stem);
bool word_is_indexed(const struct word *word, bool in_label);

MUST_USE enum status words_add(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc,
                               const struct index_text *words);
/* The very words it was added with. */
MUST_USE enum status words_remove(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc,
                                  const struct index_text *words);

/* --- index.c: what can be found, and what follows it --- */

/* A document that can be found from now on, or no more. A change of one is both. */
struct index_change {
    int64_t pool;
    doc_id doc;
    bool is_removal;
    struct index_text words;
    str text; /* what its vector says; "" when it has none */
    size_t order;
};

/* Changes that wait for the end of a group, where they are made in the order of documents. */
struct index_changes {
    struct index_change *v;
    size_t n, cap;
};

void index_note_message(struct arena *a, struct index_changes *changes, int64_t pool,
                        bool is_removal, const struct message *m, struct index_text words);
void index_note_memory(struct arena *a, struct index_changes *changes, int64_t pool,
                       bool is_removal, const struct memory *m, struct index_text words);
MUST_USE enum status index_apply(struct ctx *ctx, struct db *db, struct index_changes *changes);

/* --- vectors.c: the set, the queue and the rows --- */

/* The set in force; no is 0 when there is none. */
struct vector_set_row {
    int64_t no;
    struct vector_set set;
};
MUST_USE enum status vector_set_find(struct ctx *ctx, struct db *db, struct vector_set_row *out);
/* What changed texts mean for their vectors; the changes are in the order of documents. */
MUST_USE enum status vectors_follow(struct ctx *ctx, struct db *db,
                                    const struct index_changes *changes);

/* Rows that vectors left behind go where there are many of them. */
MUST_USE enum status vectors_prune(struct ctx *ctx, struct db *db);

/* --- vector_copies.c: the copies in memory follow the rows --- */

/* Damaged rows that were come across; they wait anew once copies_mend was called. */
struct lost_row {
    int64_t seq, pool;
    doc_id doc;
};
struct lost_rows {
    struct lost_row *v;
    size_t n, cap;
};

/* A copy that nobody changes during a scope; held is NULL when another set has begun meanwhile. */
struct copy {
    struct sqlite_store *s;
    struct held *held;
};

#define COPY(c) CLEANUP(copy_end) struct copy c = {0}

/* A pool's, with all that db sees of it. */
MUST_USE enum status copy_begin(struct ctx *ctx, struct sqlite_store *s, struct db *db,
                                int64_t pool, const struct vector_set_row *set,
                                struct lost_rows *lost, struct copy *out);
void copy_end(struct copy *c);
/* Not while a reader or copy is in use. */
void copies_mend(struct ctx *ctx, struct sqlite_store *s, const struct lost_rows *lost);
/* What was erased goes from memory: of that pool, or of all that are held. */
void copies_follow(struct sqlite_store *s, const struct pool_ref *pool);

/* --- search.c: the function take() and its list, on a connection --- */

MUST_USE enum status words_setup(struct ctx *ctx, struct db *db);
void words_end(struct db *db);

/* --- words_renew.c --- */

/* Makes the index anew from the rows when it was made by other rules; at open, by the writer. */
MUST_USE enum status words_renew(struct ctx *ctx, struct db *db);

/* --- words_check.c --- */

/* Adds a line when the words index and the rows do not say the same. */
MUST_USE enum status words_check(struct ctx *ctx, struct db *db, struct buf *findings);

/* --- sessions.c --- */

/* A new one, with its times; its number is given back. */
MUST_USE enum status session_add(struct ctx *ctx, struct db *db, int64_t pool,
                                 const struct session *session, int64_t *no);
enum status sqlite_sessions(struct ctx *ctx, struct store *s, const struct session_filter *f,
                            struct session **out, size_t *n, int64_t *total);
enum status sqlite_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct session *out);
enum status sqlite_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const struct session *session);
enum status sqlite_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  const struct session_change *change, struct session *out);

/* --- titles.c --- */

/* As titles are compared. */
str title_folded(struct arena *a, str title);
/* A session has another title from now on, or ("") none, or is gone. */
MUST_USE enum status title_put(struct ctx *ctx, struct db *db, int64_t pool, int64_t no, str title);
/* Numbers of the sessions whose title has it, ascending. */
struct session_nos {
    int64_t *v;
    size_t n, cap;
};
MUST_USE enum status titles_find(struct ctx *ctx, struct db *db, int64_t pool, str folded,
                                 struct session_nos *out);
/* Adds a line when titles and sessions do not say the same. */
MUST_USE enum status titles_check(struct ctx *ctx, struct db *db, struct buf *findings);

/* --- people.c --- */

enum status sqlite_user(struct ctx *ctx, struct store *s, str id, struct user *out);
enum status sqlite_user_by_email(struct ctx *ctx, struct store *s, str email, struct user *out);
enum status sqlite_sealed_users(struct ctx *ctx, struct store *s, struct user **out, size_t *n);
enum status sqlite_put_user(struct ctx *ctx, struct store *s, const struct user *u, bool may_change,
                            const struct token *token);

/* --- put.c: one bundle --- */

/* The pool's number; it is made when it does not exist. */
MUST_USE enum status pool_make(struct ctx *ctx, struct db *db, struct pool_ref pool, int64_t now,
                               int64_t *no);

/* Words of the new messages and memories, made before the writer takes the bundle. */
struct bundle_words {
    struct index_text *messages, *memories;
};

struct bundle_words bundle_words_of(struct arena *a, const struct bundle *b);
MUST_USE enum status bundle_put(struct ctx *ctx, struct db *db, struct bundle *b,
                                const struct bundle_words *words, struct index_changes *changes);
struct condense {
    struct pool_ref pool;
    struct memory *summary;
    const str *ids;
    size_t n;
};
MUST_USE enum status memories_condense(struct ctx *ctx, struct db *db, const void *what);
MUST_USE enum status receipt_put(struct ctx *ctx, struct db *db, int64_t pool,
                                 const struct receipt *r);

/* --- change.c --- */

MUST_USE enum status memory_change(struct ctx *ctx, struct db *db, const struct change *change,
                                   struct index_changes *changes, struct memory *out);

/* --- erase.c --- */

/* Makes the table of what the erasing at work has erased; on the writer's connection. */
extern const char erased_table[];

MUST_USE enum status erase(struct ctx *ctx, struct db *db, const struct forget *what,
                           int64_t *erased);
/* Memories of a pool by their ids; what is not there is left out. Adds to *erased. */
MUST_USE enum status erase_each(struct ctx *ctx, struct db *db, int64_t pool, const str *ids,
                                size_t n, int64_t *erased);
/* One expired memory, with everything of it. */
MUST_USE enum status memory_prune(struct ctx *ctx, struct db *db, int64_t pool, int64_t no);

/* --- prune.c --- */

MUST_USE enum status prune(struct ctx *ctx, struct db *db, int64_t receipts_before,
                           int64_t expired_before, int64_t *removed);
MUST_USE enum status token_add(struct ctx *ctx, struct db *db, const struct token *t);
MUST_USE enum status token_revoke(struct ctx *ctx, struct db *db, str user, str id);

/* --- signals.c: what waits to be distilled, in the writer's transaction --- */

/* A session, by its number. */
struct session_ref {
    int64_t pool, no;
};

/* A message of the user waits; and its session does, while the pool's others are due. */
MUST_USE enum status signal_add(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc,
                                int64_t now);
MUST_USE enum status session_waits(struct ctx *ctx, struct db *db, struct session_ref session,
                                   int64_t due, int64_t now);
/* Nobody else is given it before then. */
MUST_USE enum status session_claim(struct ctx *ctx, struct db *db, struct session_ref session,
                                   int64_t until);
/* Whether someone has claimed it, by the clock. */
MUST_USE enum status session_is_claimed(struct ctx *ctx, struct db *db, struct session_ref session,
                                        bool *out);
/* Claims of processes that have ended hold no more. */
MUST_USE enum status claims_free(struct ctx *ctx, struct db *db);
/* These have become memories. CONFLICT when one of them waits no more. */
MUST_USE enum status work_add(struct ctx *ctx, struct db *db, const struct work *work);
MUST_USE enum status signals_distilled(struct ctx *ctx, struct db *db, struct session_ref session,
                                       const int64_t *no, size_t n);
MUST_USE enum status signal_erase(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc);
MUST_USE enum status signals_erase(struct ctx *ctx, struct db *db, struct session_ref session);
/* A session has lost a message: what waits in it gets new numbers, so that nothing that was made of
 * the old ones can be written; with all, all that the user said in it waits anew. */
MUST_USE enum status signals_renew(struct ctx *ctx, struct db *db, struct session_ref session,
                                   bool all);

/* --- writer.c: the one thread that writes --- */

MUST_USE enum status writer_open(struct ctx *ctx, const char *path, const uint8_t *key,
                                 const struct hold *hold, struct writer **out);
void writer_close(struct writer *w); /* writes what is queued first */

enum task_kind {
    TASK_BUNDLE,
    TASK_CHANGE,
    TASK_FLUSH,
    TASK_FORGET,
    TASK_PRUNE,
    TASK_TOKEN,
    TASK_REVOKE,
    TASK_CALL,
    TASK_TOUCH, /* a call that leaves the index alone and may wait a little */
};

/* One thing to write. The thread that waits for it lends its ctx meanwhile. */
struct task {
    enum task_kind kind;
    struct ctx *ctx;
    struct bundle *bundle;
    struct bundle_words words;
    const struct change *change;
    struct memory *changed;
    const struct forget *forget;
    const struct token *token;
    /* TASK_CALL: this, in the writer's transaction. */
    enum status (*call)(struct ctx *ctx, struct db *db, const void *what);
    const void *what;
    str user, id;
    int64_t receipts_before, expired_before, count;
    size_t bytes;
    bool nobody_waits, is_done;
    enum status result;
    struct task *next;
};

/* Runs the task on the writer and waits until it is durable. */
MUST_USE enum status writer_run(struct writer *w, struct task *t);
/* The same for a call. */
MUST_USE enum status writer_call(struct ctx *ctx, struct writer *w,
                                 enum status (*call)(struct ctx *ctx, struct db *db,
                                                     const void *what),
                                 const void *what);
MUST_USE enum status writer_later(struct ctx *ctx, struct writer *w, const struct bundle *b);
/* Waits for what writer_later was given so far, if any of it is not written yet. */
MUST_USE enum status writer_settle(struct ctx *ctx, struct writer *w);

/* Copies what was shown and returns. */
struct touch {
    struct pool_ref pool;
    const doc_id *docs;
    size_t n;
    int64_t now;
};
MUST_USE enum status writer_touch(struct ctx *ctx, struct writer *w, const struct touch *touch);
MUST_USE enum status memories_touch(struct ctx *ctx, struct db *db, const void *what);
/* The same for a token that was shown. */
struct token_use {
    str id;
    int64_t at;
};
MUST_USE enum status writer_token_use(struct ctx *ctx, struct writer *w,
                                      const struct token_use *use);
MUST_USE enum status token_use(struct ctx *ctx, struct db *db, const void *what);

struct writer_state {
    int64_t queued;
    uint64_t writes, commits, failures;
    enum status last;
};
struct writer_state writer_state(struct writer *w);

/* store_wait and store_wake. */
uint64_t writer_wait(struct writer *w, uint64_t seen, int64_t ms);
void writer_wake(struct writer *w);

/* --- copy.c --- */

/* A deep copy of a bundle in another arena. */
struct bundle *bundle_copy(struct arena *a, const struct bundle *b);
/* What it holds, about. */
size_t bundle_bytes(const struct bundle *b);

/* --- the operations of the face that read --- */

enum status sqlite_find_chain(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              uint64_t chain, uint64_t tail, struct message *out);
enum status sqlite_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            const doc_id *docs, size_t n, struct message *out);
enum status sqlite_memories(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            const doc_id *docs, size_t n, struct memory *out);
enum status sqlite_memory(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct memory *out);
enum status sqlite_session_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    str session, int64_t from, size_t limit, struct message **out,
                                    size_t *n);
enum status sqlite_list_memories(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total);
enum status sqlite_memory_totals(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory_totals *out);
enum status sqlite_pools(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                         size_t *n);
enum status sqlite_users(struct ctx *ctx, struct store *s, struct strs *out);
enum status sqlite_pool_sums(struct ctx *ctx, struct store *s, struct pool_ref pool,
                             struct pool_sum **out, size_t *n);
enum status sqlite_setting(struct ctx *ctx, struct store *s, str name, str *out);
enum status sqlite_put_setting(struct ctx *ctx, struct store *s, str name, str value);
enum status sqlite_mirror(struct ctx *ctx, struct store *s, bool on);
enum status sqlite_mirror_all(struct ctx *ctx, struct store *s);
enum status sqlite_mirror_waiting(struct ctx *ctx, struct store *s, size_t limit,
                                  struct mirrored **out, size_t *n, int64_t *all);
enum status sqlite_mirror_done(struct ctx *ctx, struct store *s, const int64_t *no, size_t n,
                               int64_t again_at);
enum status sqlite_search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const str *stems, size_t n, doc_id least, size_t max,
                                struct word_hits *out);
enum status sqlite_due_sessions(struct ctx *ctx, struct store *s, int64_t lease_ms, size_t limit,
                                struct waiting_session **out, size_t *n);
enum status sqlite_signals(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                           size_t limit, struct pending_signal **out, size_t *n);
enum status sqlite_end_distil(struct ctx *ctx, struct store *s, const struct distil_end *end);
enum status sqlite_flush_signals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 str session, int64_t *n);
enum status sqlite_signal_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                struct signal_stats *out);
enum status sqlite_log_work(struct ctx *ctx, struct store *s, const struct work *work);
enum status sqlite_work_log(struct ctx *ctx, struct store *s, const struct pool_ref *pool, str kind,
                            size_t limit, struct work **out, size_t *n);
enum status sqlite_work_sum(struct ctx *ctx, struct store *s, int64_t since, struct work_sum *out);
enum status sqlite_touch(struct ctx *ctx, struct store *s, struct pool_ref pool, const doc_id *docs,
                         size_t n, int64_t now);
enum status sqlite_consolidate(struct ctx *ctx, struct store *s, const struct consolidation *c,
                               int64_t *changed);
enum status sqlite_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct receipt *out);
enum status sqlite_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              uint64_t chain, struct receipt *out);
enum status sqlite_find_token(struct ctx *ctx, struct store *s, str hash, struct token *out);
enum status sqlite_tokens(struct ctx *ctx, struct store *s, str user, struct token **out,
                          size_t *n);
enum status sqlite_has_tokens(struct ctx *ctx, struct store *s, bool *out);
enum status sqlite_token_used(struct ctx *ctx, struct store *s, str id, int64_t at);
enum status sqlite_vector_set(struct ctx *ctx, struct store *s, struct vector_set *out);
enum status sqlite_begin_vectors(struct ctx *ctx, struct store *s, const struct vector_set *set,
                                 bool anew);
enum status sqlite_unembedded(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                              size_t limit, struct unembedded **out, size_t *n);
enum status sqlite_put_vectors(struct ctx *ctx, struct store *s, str signature,
                               const struct vector_put *v, size_t n);
enum status sqlite_search_vectors(struct ctx *ctx, struct store *s, const struct vector_find *f,
                                  struct vector_hits *out);
enum status sqlite_vector_pairs(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const doc_id *docs, size_t n, float least, size_t each,
                                struct vector_pairs *out);
enum status sqlite_vector_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                struct vector_stats *out);
enum status sqlite_check(struct ctx *ctx, struct store *s, str *findings);
