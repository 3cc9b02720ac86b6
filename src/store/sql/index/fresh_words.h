/* fresh_words.h - documents whose words are in a row of their own, not yet in blocks. */
#pragma once

#include "core/index.h"
#include "store/postgres/posting_block.h"
#include "store/sql/db/query.h"
#include "store/sql/index/posting_cache.h"

/*
 * A document that comes has one row of the table posting, with all its words: `word` is empty,
 * `first` is its number, and `n` says how many words it has. That is one row to write, and not one
 * to read and one to write for each word. When the rows of a pool hold more words than this, all go
 * into the blocks. A search reads the fresh rows of the pool as well: at most some 40 kilobytes.
 * With more words writers keep more, and a recall takes longer.
 */
enum { FRESH_WORDS_MAX = 4096 };

/* The words that are indexed of a document, each once, in order. */
struct doc_words {
    struct block_word *v;
    size_t n;
};
struct doc_words doc_words_of(struct arena *a, const struct index_text *text);

/* Documents of a word, ascending. */
struct found_docs {
    struct posting *v;
    size_t n, cap;
};
/* What the fresh rows, ascending by document, have of some words. */
struct fresh_search {
    const str *words;
    struct found_docs *found; /* of each word */
    uint16_t *slots;          /* places of words by their hashes, from 1 on */
    size_t mask;
};
struct fresh_search fresh_search_of(struct arena *a, const str *words, size_t n);
/* Adds a row; fails when it is damaged. */
MUST_USE enum status fresh_search_row(struct ctx *ctx, struct fresh_search *s, doc_id doc,
                                      str packed);
/* Adds what the blocks have of the word, ascending as well; no document is in both. */
struct word_docs fresh_search_join(struct arena *a, const struct found_docs *fresh,
                                   const struct posting *v, size_t n);

/* A row of the words index cannot be read. */
MUST_USE enum status refuse_posting(struct ctx *ctx);
