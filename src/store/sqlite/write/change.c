/* change.c - one memory changed in place: its row and how it is found. */
#include <assert.h>

#include "base/clock.h"
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/db/rows.h"
#include "store/sqlite/index/index.h"
#include "store/sqlite/state/writer.h"

/*
 * A person or a client corrects a memory: its id, its age and its uses stay. The words index gets
 * the removal of the old text and the addition of the new one; when both texts are equal, the
 * vector stays (vectors_follow).
 */

static struct memory changed_memory(const struct memory *old, const struct change *c)
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

/* A key names one true memory. */
static enum status check_key(struct ctx *ctx, struct db *db, int64_t pool, const struct memory *m)
{
    struct memory other;
    TRY(memory_find(ctx, db, SQL_MEMORY_BY_KEY, pool, m->key, &other));
    if (!other.id.n || other.doc == m->doc)
        return OK;
    return fail(ctx, CONFLICT, "the memory " S_FMT " has this key", S_ARG(other.id));
}

static enum status write_row(struct ctx *ctx, struct db *db, int64_t pool, const struct memory *m)
{
    return SQL_DO(ctx, db, SQL_MEMORY_CHANGE, pool, memory_no(m->doc), m->content, m->key, m->type,
                  m->category, m->metadata, tags_text(&ctx->arena, m->tags), m->importance,
                  m->expires, m->updated);
}

struct change_call {
    const struct change *change;
    struct memory *out;
};

static enum status change_memory(struct ctx *ctx, struct db *db, const void *what)
{
    const struct change_call *call = what;
    const struct change *c = call->change;
    struct pool_row pool;
    struct memory old;
    assert(db->changes && db_in_transaction(db));
    TRY(pool_find(ctx, db, c->pool, &pool));
    TRY(memory_find(ctx, db, SQL_MEMORY_BY_ID, pool.no, c->id, &old));
    if (!old.id.n)
        return fail(ctx, NOT_FOUND, "no memory '" S_FMT "'", S_ARG(c->id));
    if (old.valid_to)
        return fail(ctx, CONFLICT, "the memory is closed");
    struct memory now = changed_memory(&old, c);
    if (!str_eq(old.key, now.key))
        TRY(check_key(ctx, db, pool.no, &now));
    TRY(write_row(ctx, db, pool.no, &now));
    struct arena *a = &ctx->arena;
    index_note_memory(a, db->changes, pool.no, true, &old, index_of_memory(a, &old));
    index_note_memory(a, db->changes, pool.no, false, &now, index_of_memory(a, &now));
    *call->out = now;
    return OK;
}

enum status sqlite_change(struct ctx *ctx, struct store *s, const struct change *change,
                          struct memory *out)
{
    struct memory changed;
    struct change_call c = {change, &changed};
    struct task t = {.ctx = ctx, .call = change_memory, .what = &c, .only_notes = true};
    TRY(writer_run(sqlite_of(s)->writer, &t));
    *out = changed;
    return OK;
}
