/* index.c - what can be found and what no more: the words and vectors of documents follow it. */
#include "store/sqlite/sqlite_store.h"

static void note(struct arena *a, struct index_changes *changes, struct index_change change)
{
    changes->v = arena_more(a, changes->v, changes->n, &changes->cap, sizeof *changes->v);
    change.order = changes->n;
    changes->v[changes->n++] = change;
}

void index_note_message(struct arena *a, struct index_changes *changes, int64_t pool,
                        bool is_removal, const struct message *m, struct index_text words)
{
    str text = str_trim(m->is_echo ? m->says : m->text);
    note(a, changes, (struct index_change){pool, m->doc, is_removal, words, text, 0});
}

void index_note_memory(struct arena *a, struct index_changes *changes, int64_t pool,
                       bool is_removal, const struct memory *m, struct index_text words)
{
    str text = str_trim(m->content);
    note(a, changes, (struct index_change){pool, m->doc, is_removal, words, text, 0});
}

/* By document; changes of one document stay in the order they were noted in. */
static int compare(const void *a, const void *b)
{
    const struct index_change *x = a, *y = b;
    if (x->doc != y->doc)
        return x->doc < y->doc ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* FTS5 writes a segment whenever document numbers go back, so a group's changes go in sorted. */
enum status index_apply(struct ctx *ctx, struct db *db, struct index_changes *changes)
{
    if (!changes->n)
        return OK;
    qsort(changes->v, changes->n, sizeof *changes->v, compare);
    for (size_t i = 0; i < changes->n; i++) {
        const struct index_change *c = &changes->v[i];
        TRY(c->is_removal ? words_remove(ctx, db, c->pool, c->doc, &c->words)
                          : words_add(ctx, db, c->pool, c->doc, &c->words));
    }
    TRY(vectors_follow(ctx, db, changes));
    changes->n = 0;
    return OK;
}
