/* change.c - one memory changed in place: its row and what is found of it. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

static enum status find(struct ctx *ctx, struct db *db, enum sql which, int64_t pool, str name,
                        struct memory *out)
{
    *out = (struct memory){0};
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, pool);
    sql_text(&q, name);
    if (sql_row(&q))
        read_memory(&q, out);
    return sql_end(&q);
}

static struct memory changed(const struct memory *old, const struct change *c)
{
    struct memory m = *old;
    if (c->what & CHANGE_CONTENT)
        m.content = c->to.content;
    if (c->what & CHANGE_KEY)
        m.key = c->to.key;
    if (c->what & CHANGE_TYPE)
        m.type = c->to.type;
    if (c->what & CHANGE_CATEGORY)
        m.category = c->to.category;
    if (c->what & CHANGE_METADATA)
        m.metadata = c->to.metadata;
    if (c->what & CHANGE_TAGS)
        m.tags = c->to.tags;
    if (c->what & CHANGE_IMPORTANCE)
        m.importance = c->to.importance;
    if (c->what & CHANGE_EXPIRES)
        m.expires = c->to.expires;
    m.updated = clock_ms();
    return m;
}

/* A key names one memory that is true. */
static enum status check_key(struct ctx *ctx, struct db *db, int64_t pool, const struct memory *m)
{
    struct memory other;
    if (!m->key.n)
        return OK;
    TRY(find(ctx, db, SQL_MEMORY_BY_KEY, pool, m->key, &other));
    if (!other.id.n || other.doc == m->doc)
        return OK;
    return fail(ctx, CONFLICT, "the memory " S_FMT " has this key", S_ARG(other.id));
}

static enum status write_row(struct ctx *ctx, struct db *db, int64_t pool, const struct memory *m)
{
    SQL_RUN(q, ctx, db, SQL_MEMORY_CHANGE);
    sql_int(&q, pool);
    sql_int(&q, m->doc & ~DOC_MEMORY);
    sql_text(&q, m->content);
    sql_text(&q, m->key);
    sql_int(&q, m->type);
    sql_text(&q, m->category);
    sql_text(&q, m->metadata);
    sql_text(&q, tags_text(&ctx->arena, m->tags));
    sql_real(&q, m->importance);
    sql_int(&q, m->expires);
    sql_int(&q, m->updated);
    return sql_do(&q);
}

enum status memory_change(struct ctx *ctx, struct db *db, const struct change *c,
                          struct index_changes *changes, struct memory *out)
{
    struct pool_row pool;
    struct memory old;
    TRY(pool_find(ctx, db, c->pool, &pool));
    TRY(find(ctx, db, SQL_MEMORY_BY_ID, pool.no, c->id, &old));
    if (!old.id.n)
        return fail(ctx, NOT_FOUND, "no memory '" S_FMT "'", S_ARG(c->id));
    if (old.valid_to)
        return fail(ctx, CONFLICT, "the memory has been superseded");
    struct memory now = changed(&old, c);
    if (!str_eq(old.key, now.key))
        TRY(check_key(ctx, db, pool.no, &now));
    TRY(write_row(ctx, db, pool.no, &now));
    struct arena *a = &ctx->arena;
    index_note_memory(a, changes, pool.no, true, &old, index_of_memory(a, &old));
    index_note_memory(a, changes, pool.no, false, &now, index_of_memory(a, &now));
    *out = now;
    return OK;
}
