/* read.h - reading messages, memories, pools and receipts. */
#pragma once

#include "core/memory_ops.h"
#include "core/memory_select.h"

struct store;

/* --- one view --- */

/*
 * From here to the end of the scope, what is read with this ctx (not with a child of it) is of one
 * state of the store, and no read begins a transaction of its own:
 *
 *     STORE_VIEW(view, ctx, store);
 *
 * It holds a connection from its first read on. So whoever is about to wait, for a model or another
 * server, lets it rest: the next read then begins a new one. A write of the same ctx does so, too,
 * and is seen by what is read after it. A view within a view is the outer one. Where beginning anew
 * costs more than some milliseconds with an older state, a pause changes nothing.
 */
struct store_view {
    struct ctx *ctx; /* NULL: it is within another, which ends it */
};
struct store_view store_view_begin(struct ctx *ctx, struct store *s);
void store_view_rest(struct ctx *ctx, struct store *s);
void store_view_pause(struct ctx *ctx, struct store *s);
void store_view_end(struct store_view *v);
#define STORE_VIEW(v, ctx, s)                                                                      \
    CLEANUP(store_view_end)                                                                        \
    UNUSED struct store_view v = store_view_begin((ctx), (s))

/* --- messages --- */

/* The pool's newest message with that chain, else (tail not 0) with that tail. NOT_FOUND without a
 * note. */
MUST_USE enum status store_find_chain(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      uint64_t chain, uint64_t tail, struct message *out);
/* By id. NOT_FOUND without a note. */
MUST_USE enum status store_message(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct message *out);
/* By number: out[i] belongs to docs[i], and its id is "" when the pool has no such document. Of a
 * text over 2 · LONG_TEXT_END bytes only its ends. */
MUST_USE enum status store_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    const doc_id *docs, size_t n, struct message *out);
/* One session's messages in order, from a position on; a negative one counts from the end. */
MUST_USE enum status store_session_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                            str session, int64_t from, size_t limit,
                                            struct message **out, size_t *n);

/* --- memories --- */

/* As store_messages. */
MUST_USE enum status store_memories(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    const doc_id *docs, size_t n, struct memory *out);
/* By id; with space "" in any space of the user (memory.space says which). */
MUST_USE enum status store_memory(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  struct memory *out);
/* Ids of messages and memories that begin so and go on: at most two, enough to know whether it is
 * one. out has room for them. */
MUST_USE enum status store_ids_after(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                     str begin, str *out, size_t *n);
/* The memory, what it replaced and what replaced it, and so on, oldest first; at most CHAIN_MAX.
 */
MUST_USE enum status store_history(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct history_item **out, size_t *n);
/* What a memory of the pool replaced: a summary its sources, a value of a key the one before.
 * Oldest first. */
MUST_USE enum status store_replaced(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                    struct memory **out, size_t *n);
/* Newest first, unless the filter says otherwise. total counts all matches, which takes a look at
 * each; it may be NULL. */
MUST_USE enum status store_list_memories(struct ctx *ctx, struct store *s,
                                         const struct memory_filter *f, struct memory **out,
                                         size_t *n, int64_t *total);
/* A page of the selected memories of some pools, in any order, and with counts how many there are.
 * total and tallies are of all pages. */
MUST_USE enum status store_memory_page(struct ctx *ctx, struct store *s,
                                       const struct memory_page_in *in, struct memory_page *out);
MUST_USE enum status store_memory_totals(struct ctx *ctx, struct store *s,
                                         const struct memory_filter *f, struct memory_totals *out);

/* --- pools --- */

/* A user's pools, by name. */
MUST_USE enum status store_pools(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                                 size_t *n);
/* Of the pool's user; whether it has the pool's space. Kept, so nothing is counted. */
MUST_USE enum status store_usage(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 struct usage *out);
/* One pool, or (space "") all of the user's, by name. Facts are not counted one by one. */
MUST_USE enum status store_pool_sums(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                     struct pool_sum **out, size_t *n);
/* Every user who has a pool, or (an id) a memory of that id, by name. */
MUST_USE enum status store_users(struct ctx *ctx, struct store *s, str memory, struct strs *out);

/* --- receipts --- */

/* One that is found is durable: it is waited for. */
MUST_USE enum status store_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct receipt *out);
/* The last one of the user message with that chain; its id is "" when there is none. */
MUST_USE enum status store_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      uint64_t chain, struct receipt *out);
/* Fills the blocks that the messages with these chains got in that session; a block that tells of
 * something forgotten or expired is none any more. */
MUST_USE enum status store_replays(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                   str session, struct replay *v, size_t n);
