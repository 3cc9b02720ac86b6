/* index.c - documents that can be found: their words and vectors follow each change. */
#include "store/sql/index/index.h"

#include "store/sql/db/query.h"
#include "store/sql/index/vector_set.h"
#include "store/sql/index/word_blocks.h"
#include "store/sql/index/words.h"

/*
 * The words index stores no texts, so a removal must name the words that were added. Changes
 * therefore carry the words of the old and of the new text.
 */

static void note_change(struct arena *a, struct index_changes *changes, struct index_change change)
{
    assert(change.pool);
    change.order = changes->n;
    ARENA_ADD(a, changes->v, changes->n, changes->cap) = change;
}

/* Of an echo only the new part is searched. */
void index_note_message(struct arena *a, struct index_changes *changes, int64_t pool,
                        bool is_removal, const struct message *m, const struct index_text *words)
{
    assert(m->doc && !doc_is_memory(m->doc));
    struct index_text all = words ? *words : index_of_message(a, m);
    str text = str_trim(m->is_echo ? m->says : m->text);
    note_change(a, changes, (struct index_change){pool, m->doc, is_removal, all, text, 0});
}

void index_note_memory(struct arena *a, struct index_changes *changes, int64_t pool,
                       bool is_removal, const struct memory *m, const struct index_text *words)
{
    assert(doc_is_memory(m->doc));
    struct index_text all = words ? *words : index_of_memory(a, m);
    str text = str_trim(m->content);
    note_change(a, changes, (struct index_change){pool, m->doc, is_removal, all, text, 0});
}

/* By document; changes of one document keep their order. */
ORDER(by_document, struct index_change, UP(doc) ?: UP(order));

/* FTS5 begins a new segment whenever document numbers decrease, so a group's changes are sorted.
 * Within the writer's transaction. On failure the changes stay noted, and the transaction that made
 * them is rolled back with them. */
enum status index_apply(struct ctx *ctx, struct db *db, struct index_changes *changes)
{
    const struct index_change *v = changes->v;
    if (!changes->n)
        return OK;
    assert(db_in_transaction(db));
    SQL_AHEAD(ctx, db, SQL_VECTOR_SET); /* for vectors_follow */
    qsort(changes->v, changes->n, sizeof *changes->v, by_document);
    if (is_postgres(db))
        TRY(word_blocks_apply(ctx, db, v, changes->n));
    for (size_t i = 0; !is_postgres(db) && i < changes->n; i++)
        TRY(words_follow(ctx, db, v[i].pool, v[i].doc, &v[i].words, v[i].is_removal));
    TRY(vectors_follow(ctx, db, changes));
    changes->n = 0;
    return OK;
}
