/* consolidate.c - memories evicted, merged, raised and erased by a consolidation of their pool. */
#include "base/clock.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"
#include "store/sql/records/checks.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/eraser.h"
#include "store/sql/write/put_memory.h"

/*
 * The decisions were made outside a transaction, from a state read earlier. So each memory is
 * looked up again: a memory that was changed, closed or erased since `seen` is left out, and the
 * others are worked on. A consolidation therefore never fails for being late; it does less.
 */

struct pass {
    struct put to;
    int64_t seen, changed;
    doc_id *kept; /* memories that have taken over others in this pass */
    size_t n_kept, max_kept;
};

/* A memory that is true and unchanged since it was read, except by this pass; else its id is "". */
static enum status find_open(struct pass *p, str id, struct memory *out)
{
    TRY(memory_find(p->to.ctx, p->to.db, SQL_MEMORY_BY_ID, p->to.pool, id, out));
    bool is_own = SOME(i, p->n_kept, p->kept[i] == out->doc);
    bool is_other = p->seen && out->updated > p->seen && !is_own;
    if (out->valid_to || is_other)
        out->id = S("");
    return OK;
}

static enum status close_memory(struct pass *p, const struct memory *m, str by)
{
    p->changed++;
    return memory_close(&p->to, m, &(struct memory){.id = by});
}

/* A memory that was used meanwhile has shown its worth. */
static enum status evict_memory(struct pass *p, str id)
{
    struct memory m;
    TRY(find_open(p, id, &m));
    bool is_used = p->seen && m.last_used > p->seen;
    return m.id.n && !is_used ? close_memory(p, &m, S("")) : OK;
}

static enum status merge_memories(struct pass *p, const struct merged *merged)
{
    struct memory keep, drop;
    TRY(find_open(p, merged->keep, &keep));
    TRY(find_open(p, merged->drop, &drop));
    if (!keep.id.n || !drop.id.n || keep.doc == drop.doc)
        return OK;
    const struct put *to = &p->to;
    TRY(SQL_DO(to->ctx, to->db, SQL_MEMORY_MERGE, to->pool, memory_no(keep.doc), merged->metadata,
               to->now));
    struct memory now = keep;
    now.metadata = merged->metadata;
    index_note_memory(&to->ctx->arena, to->changes, to->pool, true, &keep, NULL);
    index_note_memory(&to->ctx->arena, to->changes, to->pool, false, &now, NULL);
    assert(p->n_kept < p->max_kept);
    p->kept[p->n_kept++] = keep.doc;
    return close_memory(p, &drop, keep.id);
}

static enum status raise_salience(struct pass *p, const struct raised *raised)
{
    struct memory m;
    TRY(find_open(p, raised->id, &m));
    if (!m.id.n)
        return OK;
    p->changed++;
    return SQL_DO(p->to.ctx, p->to.db, SQL_MEMORY_RAISE, p->to.pool, memory_no(m.doc),
                  raised->salience);
}

struct consolidate {
    const struct consolidation *what;
    int64_t *changed;
};

/* Evictions first: a merge must not keep a memory that goes. */
static enum status consolidate_pool(struct ctx *ctx, struct db *db, const void *what)
{
    const struct consolidate *own = what;
    const struct consolidation *c = own->what;
    struct index_changes changes = {0};
    struct pass p = {.to = {.ctx = ctx, .db = db, .changes = &changes, .now = clock_ms()},
                     .seen = c->seen};
    POOL_ROW(row, ctx, db, c->pool);
    p.to.pool = row.no;
    p.max_kept = c->n_merges;
    p.kept = NEW_N(&ctx->arena, doc_id, p.max_kept + 1);
    for (size_t i = 0; i < c->n_evict; i++)
        TRY(evict_memory(&p, c->evict[i]));
    for (size_t i = 0; i < c->n_merges; i++)
        TRY(merge_memories(&p, &c->merges[i]));
    for (size_t i = 0; i < c->n_raises; i++)
        TRY(raise_salience(&p, &c->raises[i]));
    TRY(pool_count(ctx, db, row.no, p.to.gain));
    TRY(index_apply(ctx, db, &changes));
    TRY(erase_each(ctx, db, row.no, &(struct forget){.ids = c->erase, .n_ids = c->n_erase},
                   &p.changed));
    *own->changed = p.changed;
    return OK;
}

enum status store_consolidate(struct ctx *ctx, struct store *s, const struct consolidation *c,
                              int64_t *changed)
{
    TRY(pool_check(ctx, c->pool));
    const struct consolidate own = {c, changed};
    struct task t = {.ctx = ctx, .call = consolidate_pool, .what = &own, .erases = c->n_erase > 0};
    TRY(writer_run(s->writer, &t));
    if (t.erases)
        vector_cache_follow(s, &c->pool);
    return OK;
}
