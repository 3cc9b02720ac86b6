/* change.c - memories changed in place: their rows and how they are found. */
#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/undo_record.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/put_memory.h"

/*
 * A person or a client corrects a memory: its id, its age and its uses stay. The words index gets
 * the removal of the old text and the addition of the new one; when both texts are equal, the
 * vector stays (vectors_follow).
 */

/* The members of a memory that a change may set, in the order of a revision. */
static const struct member {
    unsigned what;
    size_t size;
    struct field row;
} changeable[] = {
#define MEMBER(WHAT, KIND, M, ...)                                                                 \
    .what = CHANGE_##WHAT, .size = sizeof(((struct memory *)0)->M),                                \
    .row = {KIND(struct memory, M, ##__VA_ARGS__)}
    {MEMBER(CONTENT, STR, content)},
    {MEMBER(KEY, STR, key)},
    {MEMBER(TYPE, ENUM, type, .one_of = type_names)},
    {MEMBER(CATEGORY, STR, category)},
    {MEMBER(SESSION, STR, session)},
    {MEMBER(METADATA, RAW, metadata)},
    {MEMBER(TAGS, STRS, tags)},
    {MEMBER(IMPORTANCE, NUM, importance)},
    {MEMBER(EXPIRES, TIME, expires)},
#undef MEMBER
};
enum { MEMBERS = sizeof changeable / sizeof *changeable, REVISIONS_MAX = 50, OLD_MAX = 1 << 20 };

static struct memory changed_memory(const struct memory *old, const struct change *c)
{
    struct memory m = *old;
    for (const struct member *one = changeable; one < changeable + MEMBERS; one++)
        if (c->what & one->what)
            memcpy((char *)&m + one->row.at, (const char *)&c->to + one->row.at, one->size);
    /* Two changes of one millisecond are two versions. */
    int64_t now = clock_ms();
    m.updated = now > old->updated ? now : old->updated + 1;
    return m;
}

/* --- what it said before --- */

static str written(struct ctx *ctx, const struct field *row, const struct memory *m)
{
    const struct field table[] = {*row, {0}};
    struct json_out w = json_in(&ctx->arena, OLD_MAX);
    fields_write(&w, table, m);
    return buf_str(w.b);
}

/* The members that differ, as they were; "" when none does. */
static str old_of(struct ctx *ctx, unsigned what, const struct memory *old,
                  const struct memory *now)
{
    struct field table[MEMBERS + 1] = {{0}};
    struct json_out w = json_in(&ctx->arena, OLD_MAX);
    size_t n = 0;
    for (const struct member *one = changeable; one < changeable + MEMBERS; one++)
        if ((what & one->what) &&
            !str_eq(written(ctx, &one->row, old), written(ctx, &one->row, now)))
            table[n++] = one->row;
    if (n)
        fields_write(&w, table, old);
    assert(!w.b->full);
    return buf_str(w.b);
}

static enum status keep_revision(struct ctx *ctx, struct db *db, unsigned what,
                                 const struct memory *old, const struct memory *now)
{
    str members = old_of(ctx, what, old, now);
    if (!members.n)
        return OK;
    TRY(SQL_DO(ctx, db, SQL_REVISION_ADD, memory_no(old->doc), now->updated, members));
    return SQL_DO(ctx, db, SQL_REVISION_BOUND, memory_no(old->doc), REVISIONS_MAX);
}

/* --- changing --- */

static enum status change_row(struct ctx *ctx, struct db *db, int64_t pool, const struct change *c,
                              const struct memory *old, struct memory *out)
{
    struct memory now = changed_memory(old, c);
    if (!str_eq(old->key, now.key))
        TRY(memory_check_key(ctx, db, pool, &now));
    TRY(SQL_DO(ctx, db, SQL_MEMORY_CHANGE, pool, memory_no(now.doc), now.content, now.key, now.type,
               now.category, now.metadata, tags_text(&ctx->arena, now.tags), now.importance,
               now.expires, now.updated, now.session));
    if (c->keeps_old)
        TRY(keep_revision(ctx, db, c->what, old, &now));
    *out = now;
    if (!(c->what & (CHANGE_CONTENT | CHANGE_KEY | CHANGE_METADATA)))
        return OK; /* index_of_memory reads no other members that change */
    index_note_memory(&ctx->arena, db->changes, pool, true, old, NULL);
    index_note_memory(&ctx->arena, db->changes, pool, false, &now, NULL);
    return OK;
}

struct change_call {
    const struct change *change;
    const str *ids;
    size_t n;
    bool is_one;        /* it fails when that cannot be changed; of several it is left out */
    struct memory *now; /* the last one that was changed */
    int64_t *changed;
};

static enum status check_changeable(struct ctx *ctx, const struct change *c,
                                    const struct memory *old)
{
    if (!old->id.n)
        return fail(ctx, NOT_FOUND, "no memory '" S_FMT "'", S_ARG(c->id));
    if (old->valid_to)
        return fail(ctx, CONFLICT, "the memory is archived");
    return memory_unchanged(ctx, old, c->if_updated);
}

static enum status change_memories(struct ctx *ctx, struct db *db, const void *what)
{
    const struct change_call *call = what;
    const struct change *c = call->change;
    struct memory old;
    UNDO_RECORD(undo);
    assert(db->changes && db_in_transaction(db));
    *call->changed = 0;
    POOL_ROW(pool, ctx, db, c->pool);
    TRY(undo_record_begin(ctx, db, c->undo, &undo));
    for (size_t i = 0; i < call->n; i++) {
        TRY(memory_find(ctx, db, SQL_MEMORY_BY_ID, pool.no, call->ids[i], &old));
        if (call->is_one)
            TRY(check_changeable(ctx, c, &old));
        if (!old.id.n || old.valid_to)
            continue;
        TRY(change_row(ctx, db, pool.no, c, &old, call->now));
        ++*call->changed;
    }
    return undo_record_end(ctx, db, pool.no, c->undo, undo);
}

static enum status run_change(struct ctx *ctx, struct store *s, const struct change_call *c)
{
    const struct change *change = c->change;
    TRY(pool_check(ctx, change->pool));
    if ((change->what & CHANGE_CONTENT) && !change->to.content.n)
        return fail_field(ctx, "content", "must not be empty");
    struct task t = {
        .ctx = ctx, .call = change_memories, .what = c, .pool = change->pool, .only_notes = true};
    return writer_run(s->writer, &t);
}

enum status store_change(struct ctx *ctx, struct store *s, const struct change *change,
                         struct memory *out)
{
    int64_t n;
    return run_change(ctx, s, &(struct change_call){change, &change->id, 1, true, out, &n});
}

enum status store_change_each(struct ctx *ctx, struct store *s, const struct change *change,
                              const str *ids, size_t n, int64_t *changed)
{
    struct memory last;
    return run_change(ctx, s, &(struct change_call){change, ids, n, false, &last, changed});
}
