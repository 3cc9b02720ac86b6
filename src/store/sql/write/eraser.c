/* eraser.c - erasing rows with their words and vectors, what came from them, and in batches. */
#include "store/sql/write/eraser.h"

#include "base/clock.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/pending.h"
#include "store/sql/search/vector_cache.h"

/*
 * A forgotten text must not survive anywhere: not in the words index, as a vector, in a memory that
 * was extracted from it, in an episode or summary that repeats it, nor in a receipt that shows it.
 * What a summary replaced goes with it. Rows go in batches; the index follows at the end of each.
 *
 * Erased ids are noted in the temporary table erased (of the writer's connection), by which
 * receipts and summaries are found at the end; of a message with layer -1. SQL_ERASED_CLEAR comes
 * first.
 */

enum status erase_memory(struct eraser *e, const struct memory *m)
{
    assert(e->pool && db_in_transaction(e->db));
    TRY(SQL_DO(e->ctx, e->db, SQL_MEMORY_DELETE, e->pool, memory_no(m->doc)));
    TRY(SQL_LATER(e->ctx, e->db, SQL_ERASED_ADD, m->id, m->layer, m->superseded_by));
    TRY(erasing_memory(e->ctx, e->db, m));
    if (m->valid_to) {
        e->gain.closed--;
        return OK;
    }
    index_note_memory(&e->ctx->arena, &e->changes, e->pool, true, m, NULL);
    e->gain.memories--;
    return OK;
}

enum status erase_listed(struct eraser *e, const struct memory *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TRY(erase_memory(e, &v[i]));
    return OK;
}

enum status erase_memories_with(struct eraser *e, enum sql which, str text)
{
    MEMORIES_WITH(v, n, e, which, text);
    TRY(erase_listed(e, v, n));
    for (size_t i = 0; i < n && !e->keeps_replaced; i++)
        if (v[i].layer == LAYER_SUMMARY)
            TRY(erase_memories_with(e, SQL_MEMORY_BY_SUPERSEDER, v[i].id));
    return OK;
}

/* --- what was made of whole sessions --- */

/* Sessions to distil again; each is listed once. */
struct sessions {
    str *v;
    size_t n, cap;
};

static void note_session(struct eraser *e, struct sessions *all, str id)
{
    if (!SOME(i, all->n, str_eq(all->v[i], id)))
        ARENA_ADD(&e->ctx->arena, all->v, all->n, all->cap) = id;
}

/* The sessions of the episodes that `which` gives. */
static enum status note_episodes(struct eraser *e, struct sessions *all, enum sql which, str text)
{
    MEMORIES_WITH(v, n, e, which, text);
    for (size_t i = 0; i < n; i++)
        if (v[i].layer == LAYER_EPISODE && v[i].session.n)
            note_session(e, all, v[i].session);
    return OK;
}

/* Sessions whose episodes were merged with this one: each episode holds something of both. */
static enum status note_relatives(struct eraser *e, struct sessions *all, const struct memory *m)
{
    TRY(note_episodes(e, all, SQL_MEMORY_BY_SUPERSEDER, m->id));
    return m->superseded_by.n ? note_episodes(e, all, SQL_MEMORY_BY_ID, m->superseded_by) : OK;
}

/* Its episodes, and memories that were distilled from it without naming a message. */
static enum status erase_made_of(struct eraser *e, struct sessions *all, str session, bool *any)
{
    MEMORIES_WITH(v, n, e, SQL_MEMORY_BY_SESSION, session);
    *any = false;
    for (size_t i = 0; i < n; i++) {
        bool is_episode = v[i].layer == LAYER_EPISODE;
        bool is_written = v[i].origin != ORIGIN_DISTILLED;
        if (is_episode ? is_written && e->is_undo : is_written || v[i].source.n)
            continue;
        *any = true;
        if (is_episode)
            TRY(note_relatives(e, all, &v[i]));
        TRY(erase_memory(e, &v[i]));
    }
    return OK;
}

/* The list grows while it is walked. */
enum status erase_distilled(struct eraser *e, str session)
{
    struct sessions all = {0};
    struct session_ref ref = {.pool = e->pool};
    bool renews;
    note_session(e, &all, session);
    for (size_t i = 0; i < all.n; i++) {
        TRY(erase_made_of(e, &all, all.v[i], &renews));
        TRY(session_find(e->ctx, e->db, e->pool, all.v[i], &ref.no));
        if (ref.no)
            TRY(signals_renew(e->ctx, e->db, ref, renews));
    }
    return OK;
}

enum status erase_message(struct eraser *e, const struct message *m, bool keeps)
{
    assert(e->pool && !doc_is_memory(m->doc));
    TRY(SQL_LATER(e->ctx, e->db, SQL_RECEIPT_DELETE_CHAIN, e->pool, m->doc)); /* by its row */
    TRY(SQL_LATER(e->ctx, e->db, SQL_MESSAGE_DELETE, e->pool, m->doc));
    TRY(SQL_LATER(e->ctx, e->db, SQL_ERASED_ADD, m->id, -1, S("")));
    TRY(erasing_message(e->ctx, e->db, m));
    index_note_message(&e->ctx->arena, &e->changes, e->pool, true, m, NULL);
    TRY(keeps ? SQL_DO(e->ctx, e->db, SQL_MEMORY_LEAVE_MESSAGE, e->pool, m->id)
              : erase_memories_with(e, SQL_MEMORY_BY_SOURCE, m->id));
    e->gain.messages--;
    return OK;
}

/* --- batches: the memory of one is given back before the next --- */

enum status eraser_end(struct eraser *e, int64_t *erased)
{
    int64_t gone = -(e->gain.memories + e->gain.closed);
    *(e->is_expiry ? &e->gain.expired : &e->gain.forgotten) = gone;
    TRY(index_apply(e->ctx, e->db, &e->changes));
    TRY(pool_count(e->ctx, e->db, e->pool, e->gain));
    *erased += gone - e->gain.messages;
    return OK;
}

bool time_is_spent(struct forgetting *f)
{
    f->is_spent = f->is_spent || (f->until_us && clock_mono_us() >= f->until_us);
    return f->is_spent;
}

/* With a limit batches are small: the words of a row may take half a millisecond. */
enum status erase_in_batches(struct forgetting *f, int64_t pool, struct part work,
                             enum status (*step)(struct eraser *e, struct part *w, size_t *n))
{
    work.f = f;
    /* On PostgreSQL each batch rewrites the rows of its words. */
    work.batch = is_postgres(f->db) ? f->until_us ? ERASE_FEW_BLOCKS : ERASE_BLOCKS
                 : f->until_us      ? ERASE_FEW
                                    : ERASE_BATCH;
    for (size_t n = work.batch; n == work.batch && !time_is_spent(f);) {
        CLEANUP(ctx_free) struct ctx mine = ctx_child(f->ctx, 0);
        struct eraser e = {.ctx = &mine, .db = f->db, .pool = pool};
        enum status status = step(&e, &work, &n);
        assert(n <= work.batch);
        status = status == OK ? eraser_end(&e, f->erased) : status;
        TRY(ctx_pass(f->ctx, &mine, status));
    }
    return OK;
}

/* --- by id --- */

static enum status erase_ids(struct eraser *e, struct part *w, size_t *n)
{
    e->keeps_replaced = w->f->what->keeps_memories;
    *n = w->n_ids < w->batch ? w->n_ids : w->batch;
    for (size_t i = 0; i < *n; i++)
        TRY(erase_memories_with(e, SQL_MEMORY_BY_ID, w->ids[i]));
    w->ids += *n;
    w->n_ids -= *n;
    return OK;
}

enum status erase_each(struct ctx *ctx, struct db *db, int64_t pool, const struct forget *what,
                       int64_t *erased)
{
    struct forgetting f = {.ctx = ctx, .db = db, .what = what, .erased = erased};
    struct part all = {.ids = what->ids, .n_ids = what->n_ids};
    TRY(SQL_DO(ctx, db, SQL_ERASED_CLEAR));
    if (!all.n_ids)
        return OK;
    TRY(erase_in_batches(&f, pool, all, erase_ids));
    return SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SHOWN, pool);
}

enum status erase_by(struct ctx *ctx, struct store *s, struct pool_ref pool, write_fn *call,
                     const void *what)
{
    TRY(pool_check(ctx, pool));
    struct task t = {.ctx = ctx, .call = call, .what = what, .erases = true};
    TRY(writer_run(s->writer, &t));
    vector_cache_follow(s, &pool);
    return writer_erased(&t);
}
