/* words.h - the words index: what a token is, documents added and removed, renewed, checked. */
#pragma once

#include "core/index.h"
#include "store/sql/db/db.h"

enum { STEM_MAX = 64, TOKEN_MAX = 32 + 2 * STEM_MAX };

/* What every token of a pool begins with. */
struct word_prefix {
    char text[32];
    size_t n;
};

/* Of a generation of the pool; 0: it has none. */
struct word_prefix word_prefix_of(int64_t pool, int64_t generation);
/* Writes the token of a stem and returns its length. */
size_t word_token(char out[TOKEN_MAX], const struct word_prefix *prefix, str stem);
/* A token without its pool. */
str word_of_stem(struct arena *a, str stem);
bool word_is_indexed(const struct word *word, bool in_label);

/* On SQLite: a document comes, or goes with the same words that it was added with. */
MUST_USE enum status words_follow(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc,
                                  const struct index_text *words, bool is_removal);

/* Names the state of the index that the connection sees, never 0: another after each change. */
MUST_USE enum status words_view(struct ctx *ctx, struct db *db, uint64_t *out);
/* Before a transaction that may have changed the index is committed (word_lists_seal). */
MUST_USE enum status words_seal(struct ctx *ctx, struct db *db);

/* Rebuilds the index from the rows when another version split words in another way. For the writer,
 * at open. */
MUST_USE enum status words_renew(struct ctx *ctx, struct db *db, bool is_mixed);

typedef enum status take_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                  const struct index_text *words);
/* Calls take for each document of the store, with its words: messages, then memories; on PostgreSQL
 * by their pools and numbers. ctx is given back behind each. */
MUST_USE enum status words_each(struct ctx *ctx, struct db *db, take_document *take, void *own);

/* A sum of hashes of a set, in any order. */
struct hash_sum {
    uint64_t hash;
    int64_t n;
};
void hash_add(struct hash_sum *sum, str word, int64_t a, int64_t b, int64_t c);

/* Adds a line to the findings when the words index and the rows differ. */
MUST_USE enum status words_check(struct ctx *ctx, struct db *db, struct buf *findings);
