/* history.c - earlier texts of a memory: its corrections, and the memories that it replaced. */
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"

/*
 * The chain of a memory is what has its key, what it replaced, what replaced it, and so on from
 * each of these. It is followed from the memory outwards, newest first, to CHAIN_MAX memories.
 */

struct chain {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    struct history_item *v;
    size_t n;
};

static enum status add_row(struct chain *c, int64_t no)
{
    if (c->n == CHAIN_MAX || SOME(i, c->n, memory_no(c->v[i].memory.doc) == no))
        return OK;
    SQL_RUN(q, c->ctx, c->db, SQL_MEMORY_GET, c->pool, no);
    if (sql_row(&q))
        read_memory(&q, &c->v[c->n++].memory);
    return sql_end(&q);
}

/* The numbers first: a statement is not run again while it is read. */
static enum status add_each(struct chain *c, enum sql which, str name)
{
    if (!name.n)
        return OK;
    SQL_ALL(int64_t, nos, n, c->ctx, c->db, sql_read_int, which, c->pool, name, CHAIN_MAX);
    for (size_t i = 0; i < n; i++)
        TRY(add_row(c, nos[i]));
    return OK;
}

SQL_READER(read_revision, struct revision, out->at, out->old);
ORDER(by_age, struct history_item, UP(memory.created) ?: UP(memory.doc));

/* The list grows while it is walked. */
enum status store_history(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct history_item **out, size_t *n)
{
    CHECKED_READER(r, row, ctx, s, pool);
    struct chain c = {ctx, r.db, row.no, NEW_N(&ctx->arena, struct history_item, CHAIN_MAX), 0};
    TRY(add_each(&c, SQL_MEMORY_NO, id));
    if (!c.n)
        return fail(ctx, NOT_FOUND, "no memory '" S_FMT "'", S_ARG(id));
    for (size_t i = 0; i < c.n; i++) {
        struct memory *m = &c.v[i].memory;
        TRY(add_each(&c, SQL_MEMORY_OF_KEY, m->key));
        TRY(add_each(&c, SQL_MEMORY_CLOSED_BY, m->id));
        TRY(add_each(&c, SQL_MEMORY_NO, m->superseded_by));
        TRY(SQL_LIST(ctx, r.db, read_revision, &c.v[i].v, &c.v[i].n, SQL_REVISION_LIST,
                     memory_no(m->doc)));
    }
    qsort(c.v, c.n, sizeof *c.v, by_age);
    *out = c.v;
    *n = c.n;
    return OK;
}
