/* kept_list.h - the documents of one word, in memory. */
#pragma once

#include "core/memory.h"
#include "store/sql/db/functions.h"

struct word_lists;

/* v[0] to v[n - 1] never change while someone has the list: what it becomes is added behind them,
 * or is another list. */
struct kept_list {
    size_t users; /* the table is one; under the lock of lists */
    size_t n, room;
    struct word_lists *of;
    struct posting v[];
};

/* One word of a document that our writer adds or removes. */
struct word_change {
    uint64_t word;
    doc_id doc;
    uint32_t no; /* in the order of the transaction */
    uint8_t at;  /* enum word_column */
    bool is_removal;
};

static inline size_t kept_list_bytes(size_t room)
{
    return sizeof(struct kept_list) + room * sizeof(struct posting);
}

/* With one user. */
struct kept_list *kept_list_new(struct word_lists *of, const struct posting *v, size_t n,
                                size_t room);

/*
 * What a list (NULL: no documents) becomes by changes of its word, in the order of documents, then
 * of time: itself, with more behind its n; or a new one; or NULL. *n is how many it has then, which
 * the caller sets.
 */
struct kept_list *kept_list_changed(struct kept_list *list, struct word_lists *of,
                                    const struct word_change *v, size_t n_changes, size_t *n);
