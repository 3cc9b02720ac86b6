/* consolidate.c - what a consolidation changes in a pool, and the marks that use leaves. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

struct pass {
    struct ctx *ctx;
    struct db *db;
    int64_t pool, seen, now, closed, changed;
    doc_id *kept; /* what has taken over others in this pass */
    size_t n_kept;
    struct index_changes changes;
};

static bool is_own(const struct pass *p, const struct memory *m)
{
    size_t i = 0;
    while (i < p->n_kept && p->kept[i] != m->doc)
        i++;
    return i < p->n_kept;
}

/* A memory that is still true and as it was read, but for what this pass did; else its id is empty.
 */
static enum status find(struct pass *p, str id, struct memory *out)
{
    *out = (struct memory){0};
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_BY_ID);
    sql_int(&q, p->pool);
    sql_text(&q, id);
    if (sql_row(&q))
        read_memory(&q, out);
    bool is_other = p->seen && out->updated > p->seen && !is_own(p, out);
    if (out->valid_to || is_other)
        out->id = S("");
    return sql_end(&q);
}

static int64_t number_of(const struct memory *m)
{
    return m->doc & ~DOC_MEMORY;
}

static enum status close_memory(struct pass *p, const struct memory *m, str by)
{
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_CLOSE);
    sql_int(&q, p->pool);
    sql_int(&q, number_of(m));
    sql_int(&q, p->now);
    sql_text(&q, by);
    sql_int(&q, p->now);
    TRY(sql_do(&q));
    struct arena *a = &p->ctx->arena;
    index_note_memory(a, &p->changes, p->pool, true, m, index_of_memory(a, m));
    p->closed++;
    p->changed++;
    return OK;
}

static enum status evict(struct pass *p, str id)
{
    struct memory m;
    TRY(find(p, id, &m));
    bool is_used = p->seen && m.last_used > p->seen;
    return m.id.n && !is_used ? close_memory(p, &m, S("")) : OK;
}

static enum status merge(struct pass *p, const struct merged *merged)
{
    struct memory keep, drop;
    TRY(find(p, merged->keep, &keep));
    TRY(find(p, merged->drop, &drop));
    if (!keep.id.n || !drop.id.n || keep.doc == drop.doc)
        return OK;
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_MERGE);
    sql_int(&q, p->pool);
    sql_int(&q, number_of(&keep));
    sql_text(&q, merged->metadata);
    sql_int(&q, p->now);
    TRY(sql_do(&q));
    p->kept[p->n_kept++] = keep.doc;
    return close_memory(p, &drop, keep.id);
}

static enum status raise(struct pass *p, const struct raised *raised)
{
    struct memory m;
    TRY(find(p, raised->id, &m));
    if (!m.id.n)
        return OK;
    SQL_RUN(q, p->ctx, p->db, SQL_MEMORY_RAISE);
    sql_int(&q, p->pool);
    sql_int(&q, number_of(&m));
    sql_real(&q, raised->salience);
    p->changed++;
    return sql_do(&q);
}

static enum status count_pool(struct pass *p)
{
    SQL_RUN(q, p->ctx, p->db, SQL_POOL_COUNT);
    sql_int(&q, p->pool);
    sql_int(&q, 0);
    sql_int(&q, 0);
    sql_int(&q, -p->closed);
    sql_int(&q, p->closed);
    return sql_do(&q);
}

struct consolidate {
    const struct consolidation *what;
    int64_t *changed;
};

static enum status consolidate(struct ctx *ctx, struct db *db, const void *what)
{
    const struct consolidate *own = what;
    const struct consolidation *c = own->what;
    struct pass p = {.ctx = ctx, .db = db, .seen = c->seen, .now = clock_ms()};
    struct pool_row row;
    TRY(pool_find(ctx, db, c->pool, &row));
    p.pool = row.no;
    p.kept = NEW_N(&ctx->arena, doc_id, c->n_merges + 1);
    for (size_t i = 0; i < c->n_evict; i++)
        TRY(evict(&p, c->evict[i]));
    for (size_t i = 0; i < c->n_merges; i++)
        TRY(merge(&p, &c->merges[i]));
    for (size_t i = 0; i < c->n_raises; i++)
        TRY(raise(&p, &c->raises[i]));
    if (p.closed)
        TRY(count_pool(&p));
    TRY(index_apply(ctx, db, &p.changes));
    TRY(erase_each(ctx, db, p.pool, c->erase, c->n_erase, &p.changed));
    *own->changed = p.changed;
    return OK;
}

enum status sqlite_consolidate(struct ctx *ctx, struct store *s, const struct consolidation *c,
                               int64_t *changed)
{
    int64_t n = 0;
    TRY(writer_call(ctx, sqlite_of(s)->writer, consolidate, &(struct consolidate){c, &n}));
    *changed = n;
    return OK;
}

/* --- what was shown --- */

static enum status touch_one(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc, int64_t now)
{
    SQL_RUN(q, ctx, db, SQL_MEMORY_TOUCH);
    sql_int(&q, pool);
    sql_int(&q, doc & ~DOC_MEMORY);
    sql_int(&q, now);
    return sql_do(&q);
}

enum status memories_touch(struct ctx *ctx, struct db *db, const void *what)
{
    const struct touch *t = what;
    struct pool_row row;
    TRY(pool_find(ctx, db, t->pool, &row));
    for (size_t i = 0; i < t->n; i++)
        if (doc_is_memory(t->docs[i]))
            TRY(touch_one(ctx, db, row.no, t->docs[i], t->now));
    return OK;
}

enum status sqlite_touch(struct ctx *ctx, struct store *s, struct pool_ref pool, const doc_id *docs,
                         size_t n, int64_t now)
{
    return writer_touch(ctx, sqlite_of(s)->writer, &(struct touch){pool, docs, n, now});
}
