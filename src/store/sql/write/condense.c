/* condense.c - memories closed in favour of a summary, listed, and open again in its place. */
#include "base/clock.h"
#include "base/id.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/erasure.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/forget.h"
#include "store/sql/write/put_memory.h"

/*
 * Members are not deleted but closed and name the summary as what superseded them, so that erasing
 * or reopening the summary can bring them back. All summaries of a call are one task: a member that
 * somebody else closed meanwhile makes all of them fail with CONFLICT.
 */

struct condense {
    struct pool_ref pool;
    struct condensing *v;
    size_t n;
};

static enum status close_for(struct put *p, str id, const struct memory *summary)
{
    struct memory old;
    TRY(memory_find(p->ctx, p->db, SQL_MEMORY_BY_ID, p->pool, id, &old));
    if (!old.id.n || old.valid_to)
        return fail(p->ctx, CONFLICT, "the memory '" S_FMT "' is %s", S_ARG(id),
                    old.id.n ? "archived already" : "gone");
    return memory_close(p, &old, summary);
}

/* The members are closed before the summary is added, as one of them may have its key. */
static enum status condense_one(struct put *p, struct condensing *c)
{
    struct memory *m = &c->summary, other;
    m->id = id_random(&p->ctx->arena);
    m->layer = LAYER_SUMMARY;
    m->type = TYPE_SEMANTIC;
    m->valid_to = 0;
    m->created = m->created ? m->created : p->now;
    for (size_t i = 0; i < c->n; i++)
        TRY(close_for(p, c->ids[i], m));
    TRY(memory_find(p->ctx, p->db, SQL_MEMORY_BY_KEY, p->pool, m->key, &other));
    if (other.id.n)
        return fail(p->ctx, CONFLICT, "a memory with the key '" S_FMT "' already", S_ARG(m->key));
    return memory_put(p, m, index_of_memory(&p->ctx->arena, m));
}

static enum status condense_memories(struct ctx *ctx, struct db *db, const void *what)
{
    const struct condense *c = what;
    struct index_changes changes = {0};
    struct put p = {
        .ctx = ctx, .db = db, .changes = &changes, .now = clock_ms(), .space = c->pool.space};
    TRY(pool_make(ctx, db, c->pool, p.now, &p.pool));
    for (size_t i = 0; i < c->n; i++)
        TRY(condense_one(&p, &c->v[i]));
    TRY(pool_count(ctx, db, p.pool, p.gain));
    return index_apply(ctx, db, &changes);
}

static enum status check_condense(struct ctx *ctx, struct pool_ref pool, const struct condensing *v,
                                  size_t n)
{
    TRY(pool_check(ctx, pool));
    if (!n || n > CONDENSED_MAX)
        return fail(ctx, BAD_INPUT, "1 to %d summaries are written at once", CONDENSED_MAX);
    for (size_t i = 0; i < n; i++) {
        if (!v[i].n)
            return fail(ctx, BAD_INPUT, "say which memories to condense");
        if (!v[i].summary.content.n)
            return fail_field(ctx, "content", "must not be empty");
    }
    return OK;
}

enum status store_condense(struct ctx *ctx, struct store *s, struct pool_ref pool,
                           struct condensing *v, size_t n)
{
    TRY(check_condense(ctx, pool, v, n));
    return writer_call(ctx, s->writer, condense_memories, &(struct condense){pool, v, n});
}

/* --- open again --- */

/* The summary is erased: nothing would take its words away with a member that is erased later. */
static enum status reopen_summary(struct ctx *ctx, struct db *db, const void *what)
{
    const struct pool_call *c = what;
    struct memory summary;
    int64_t erased = 0;
    POOL_ROW(pool, ctx, db, c->pool);
    TRY(memory_find(ctx, db, SQL_MEMORY_BY_ID, pool.no, c->id, &summary));
    if (!summary.id.n || summary.layer != LAYER_SUMMARY)
        return fail(ctx, NOT_FOUND, "no summary '" S_FMT "'", S_ARG(c->id));
    struct eraser e = {.ctx = ctx, .db = db, .pool = pool.no};
    MEMORIES_WITH(v, n, &e, SQL_MEMORY_BY_SUPERSEDER, c->id);
    if (summary.valid_to || !n)
        return fail(ctx, CONFLICT, "the summary '" S_FMT "' %s", S_ARG(c->id),
                    summary.valid_to ? "is archived already"
                                     : "names no memories that it replaced");
    /* For older exports alone: in an older backup its members are still closed. */
    struct erasure_names names = {0};
    ERASING_BEGUN(note, ctx, db, .pool = c->pool, .what = "bar");
    ERASURE_NAME(&names, &note.key, "reopened", c->pool.user, c->pool.space, c->id);
    TRY(erasing_names(ctx, &note, &names));
    TRY(erasing_end(ctx, &note));
    TRY(SQL_DO(ctx, db, SQL_ERASED_CLEAR));
    TRY(erase_memory(&e, &summary)); /* first, so no member meets its key */
    for (size_t i = 0; i < n; i++)
        TRY(memory_reopen(&e, &v[i]));
    *c->n = -e.gain.closed;
    TRY(eraser_end(&e, &erased));
    return SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SHOWN, pool.no);
}

enum status store_reopen(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                         int64_t *reopened)
{
    return erase_by(ctx, s, pool, reopen_summary, &(struct pool_call){pool, id, reopened});
}

enum status store_replaced(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct memory **out, size_t *n)
{
    CHECKED_READER(r, row, ctx, s, pool);
    return SQL_LIST(ctx, r.db, read_memory, out, n, SQL_MEMORY_BY_SUPERSEDER, row.no, id);
}
