/* word_lists.h - the documents of words that were searched, kept until a write changes them. */
#pragma once

#include "store/sqlite/db/functions.h"

struct kept_list;

/* The documents of one word, ascending. */
struct word_docs {
    const struct posting *v;
    size_t n;
    bool is_over;           /* there are more than were asked for; v is not set */
    struct kept_list *kept; /* v is in it, until it is given back; NULL: v is the caller's */
};

struct word_lists;

struct word_lists *word_lists_new(void);
void word_lists_free(struct word_lists *lists); /* NULL is fine */

/*
 * For readers. view is what words_view says of their transaction. Finds the documents from the
 * number `least` on, at most max; false: the index must be asked.
 */
bool word_lists_find(struct word_lists *lists, uint64_t view, str token, doc_id least, size_t max,
                     struct word_docs *out);
/* Gives back what was found; for other documents it does nothing. */
void word_docs_end(struct word_docs *docs);
/* Bytes that are kept now. */
size_t word_lists_bytes(struct word_lists *lists);
/* What the index has answered, from the first document on. max is what was asked for. */
void word_lists_keep(struct word_lists *lists, uint64_t view, str token,
                     const struct word_docs *docs, size_t max);

/* For the writer. Its transaction begins to change the index, which it sees as view. */
void word_lists_begin(struct word_lists *lists, uint64_t view);
bool word_lists_is_changing(struct word_lists *lists);
/* A document with this word is added or removed. */
void word_lists_drop(struct word_lists *lists, str token);
/* The view of the transaction that is about to be committed. */
void word_lists_seal(struct word_lists *lists, uint64_t view);
/* The transaction is over; all is dropped when it failed or was not sealed. */
void word_lists_end(struct word_lists *lists, bool is_committed);
