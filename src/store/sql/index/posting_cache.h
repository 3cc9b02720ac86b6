/* posting_cache.h - documents of searched words, and messages that were read, until a write. */
#pragma once

#include "core/memory.h"
#include "store/sql/db/functions.h"

struct kept_list;

/* The documents of one word, ascending. */
struct word_docs {
    const struct posting *v;
    size_t n;
    bool is_over;           /* there are more than were asked for; v is not set */
    struct kept_list *kept; /* v is in it, until it is given back; NULL: v is the caller's */
};

struct word_lists;

/* most: bytes of lists, and as many of messages. */
struct word_lists *word_lists_new(size_t most);
void word_lists_free(struct word_lists *lists); /* NULL is fine */

/*
 * For readers. view is what words_view says of their transaction. Finds the documents from the
 * number `least` on, at most max; false: the index must be asked.
 */
bool word_lists_find(struct word_lists *lists, uint64_t view, str token, doc_id least, size_t max,
                     struct word_docs *out);
/* Gives back what was found; for other documents it does nothing. */
void word_docs_end(struct word_docs *docs);
/* Bytes that are kept now, of both. */
size_t word_lists_bytes(struct word_lists *lists);
/* What the index has answered, from the first document on, or of memories alone (least is
 * DOC_MEMORY). max is what was asked for. */
void word_lists_keep(struct word_lists *lists, uint64_t view, str token, doc_id least,
                     const struct word_docs *docs, size_t max);

/*
 * Messages that are kept of a pool: out[i] is that of docs[i], in the arena. pools: the number they
 * are kept under, and the one under which it is kept that there is none, which leaves out[i] empty.
 * Docs of which nothing is kept are written to missing, their places in docs to places. How many
 * those are.
 */
size_t word_lists_messages(struct word_lists *lists, uint64_t view, struct arena *a,
                           const int64_t pools[2], const doc_id *docs, size_t n,
                           struct message *out, doc_id *missing, size_t *places);
/* One that was read, as it is in that view. */
void word_lists_keep_message(struct word_lists *lists, uint64_t view, int64_t pool,
                             const struct message *m);

/* What was noted of messages of those views; what is of another view by now is left out. */
void word_lists_keep_notes(struct word_lists *lists, const struct text_annotations *first);

/* For the writer. Its transaction begins to change the index, which it sees as view. */
void word_lists_begin(struct word_lists *lists, uint64_t view);
bool word_lists_is_changing(struct word_lists *lists);
/* A document with this word is added or removed, once for each time it is there. The lists have it
 * from word_lists_end on. */
void word_lists_change(struct word_lists *lists, str token, doc_id doc, enum word_column at,
                       bool is_removal);
/* How many such changes are noted: at most so many from now on, as what came behind was undone. */
size_t word_lists_noted(struct word_lists *lists, size_t most);
/* A document is added or removed. */
void word_lists_drop_document(struct word_lists *lists, doc_id doc);
/* The view of the transaction that is about to be committed. */
void word_lists_seal(struct word_lists *lists, uint64_t view);
/* The transaction is over; all is dropped when it failed or was not sealed. */
void word_lists_end(struct word_lists *lists, bool is_committed);
