/* index.h - documents that can be found: changes noted one by one and applied together. */
#pragma once

#include "core/index.h"
#include "store/sql/db/db.h"

/* A document that can be found from now on, or no longer. Changing one is both, in this order. */
struct index_change {
    int64_t pool;
    doc_id doc;
    bool is_removal;
    struct index_text words;
    str text; /* that its vector is made of; "" when it gets none */
    size_t order;
};

/* Noted during a group, or a part of it, and applied in the order of documents. */
struct index_changes {
    struct index_change *v;
    size_t n, cap;
};

/* words: of the text, as index_of_message and index_of_memory give them; NULL: they are made here.
 */
void index_note_message(struct arena *a, struct index_changes *changes, int64_t pool,
                        bool is_removal, const struct message *m, const struct index_text *words);
void index_note_memory(struct arena *a, struct index_changes *changes, int64_t pool,
                       bool is_removal, const struct memory *m, const struct index_text *words);
/* The words and vectors of the documents follow; changes is empty then. */
MUST_USE enum status index_apply(struct ctx *ctx, struct db *db, struct index_changes *changes);
