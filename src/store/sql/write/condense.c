/* condense.c - many memories closed in favour of one summary. */
#include "base/clock.h"
#include "base/id.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/put_memory.h"

/*
 * Members are not deleted but closed and name the summary as what superseded them, so that erasing
 * or reopening the summary can bring them back (reopen.c). All summaries of a call are one task: a
 * member that somebody else closed meanwhile makes all of them fail with CONFLICT.
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

enum status sql_condense(struct ctx *ctx, struct store *s, struct pool_ref pool,
                         struct condensing *v, size_t n)
{
    struct condense c = {pool, v, n};
    return writer_call(ctx, sql_of(s)->writer, condense_memories, &c);
}
