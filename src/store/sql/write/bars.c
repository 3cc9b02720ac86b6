/* bars.c - bars of statements: written with what follows from them, and read with a pool. */
#include "store/sql/write/bars.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/undo_record.h"
#include "store/sql/state/reader.h"
#include "store/sql/write/eraser.h"
#include "store/sql/write/forget.h"

/*
 * A bar keeps a statement from being recalled again and holds only hashes of its terms, never its
 * text (store/bars.h). Putting one also erases the rows that repeat the statement, in the same
 * transaction: memories distilled from its sessions, summaries of these, and receipts that show it.
 */

/* --- writing --- */

static enum status add_bar(struct ctx *ctx, struct db *db, int64_t pool, const struct bar *bar)
{
    /* It covers everything before its time, so earlier bars say nothing more. */
    if (bar->kind == BAR_ALL) {
        TRY(SQL_DO(ctx, db, SQL_BAR_DELETE_BEFORE, pool, bar->at));
        TRY(SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SOME, pool, INT64_MAX));
    }
    str terms = {(const char *)bar->terms, bar->n * sizeof *bar->terms};
    return SQL_DO(ctx, db, SQL_BAR_ADD, pool, bar->kind, bar->reason, bar->at,
                  (int64_t)bar->message, blob_of(terms));
}

enum { BAR_HEAD = 4 }; /* kind, reason, time, message; its terms follow */

static str bar_pack(struct arena *a, const struct bar *bar)
{
    uint64_t *v = NEW_N(a, uint64_t, BAR_HEAD + bar->n);
    v[0] = bar->kind;
    v[1] = bar->reason;
    v[2] = (uint64_t)bar->at;
    v[3] = bar->message;
    if (bar->n)
        memcpy(v + BAR_HEAD, bar->terms, bar->n * sizeof *v);
    return (str){(const char *)v, (BAR_HEAD + bar->n) * sizeof *v};
}

enum status bar_unpack(struct ctx *ctx, struct db *db, int64_t pool, str packed, uint64_t *message)
{
    size_t n = packed.n / sizeof(uint64_t);
    const uint64_t *v = arena_dup(&ctx->arena, packed.p, packed.n, packed.n);
    if (n < BAR_HEAD || packed.n % sizeof *v)
        return fail(ctx, STORAGE, "a bar in the log of erasures is damaged");
    const struct bar bar = {(enum bar_kind)v[0], (enum bar_reason)v[1], (int64_t)v[2], v[3],
                            v + BAR_HEAD,        n - BAR_HEAD};
    *message = bar.message;
    return add_bar(ctx, db, pool, &bar);
}

/* The ids of the messages are noted like those of erased ones, for the receipts. */
enum status erase_what_shows(struct ctx *ctx, struct db *db, int64_t pool, const struct barring *b,
                             int64_t *erased)
{
    struct eraser e = {.ctx = ctx, .db = db, .pool = pool};
    TRY(SQL_DO(ctx, db, SQL_ERASED_CLEAR));
    for (size_t i = 0; i < b->n_messages; i++)
        TRY(SQL_DO(ctx, db, SQL_ERASED_ADD, b->messages[i], -1, S("")));
    for (size_t i = 0; i < b->n_sessions; i++)
        TRY(erase_distilled(&e, b->sessions[i]));
    TRY(eraser_end(&e, erased));
    TRY(undo_summaries(ctx, db, pool, erased));
    return SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SHOWN, pool);
}

/* What somebody forgot must stay so when an older copy comes back; a correction goes back with it.
 */
static enum status put_bars(struct ctx *ctx, struct db *db, const void *what)
{
    const struct barring *b = what;
    struct erasing_in note = {.pool = b->pool, .what = "bar", .undo = b->undo};
    bool is_forgotten = false;
    int64_t erased = 0;
    UNDO_RECORD(undo);
    POOL_ROW(pool, ctx, db, b->pool);
    if (!pool.no)
        return OK;
    TRY(undo_record_begin(ctx, db, b->undo, &undo));
    for (size_t i = 0; i < b->n; i++) {
        enum bar_reason why = b->bars[i].reason;
        TRY(add_bar(ctx, db, pool.no, &b->bars[i]));
        is_forgotten = why == BAR_FORGOTTEN || why == BAR_CLEARED;
        note.bar = bar_pack(&ctx->arena, &b->bars[i]);
        ERASING(e);
        if (is_forgotten)
            TRY(erasing_begin(ctx, db, &note, &e));
        TRY(erasing_end(ctx, &e));
    }
    note.bar = S(""); /* for older exports the rows that go are noted, too */
    if (b->n_messages + b->n_sessions) {
        ERASING(e);
        if (is_forgotten)
            TRY(erasing_begin(ctx, db, &note, &e));
        TRY(erase_what_shows(ctx, db, pool.no, b, &erased));
        TRY(erasing_end(ctx, &e));
    }
    return undo_record_end(ctx, db, pool.no, b->undo, undo);
}

enum status store_bar(struct ctx *ctx, struct store *s, const struct barring *what)
{
    return erase_by(ctx, s, what->pool, put_bars, what);
}

/* --- reading --- */

/* A row whose hashes are cut off would be read past its end, so only whole ones count. */
static void read_bar(struct query *q, struct bar *out)
{
    SQL_GET(q, out->kind, out->reason, out->at, out->message);
    str blob = sql_see_blob(q);
    out->n = blob.n / sizeof *out->terms;
    out->terms = arena_dup(&q->ctx->arena, blob.p, blob.n, blob.n);
}

enum status store_bars(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t now,
                       struct bars_read *out)
{
    int64_t known;
    *out = (struct bars_read){0};
    READER(r, ctx, s);
    TRY(pool_ahead(ctx, r.db, pool, &known));
    SQL_AHEAD(ctx, r.db, SQL_BAR_LIST, known);
    SQL_AHEAD(ctx, r.db, SQL_MEMORY_PAST, known, now);
    if (r.is_lent) /* a recall goes on with it */
        SQL_AHEAD(ctx, r.db, SQL_VECTOR_SET);
    POOL_ROW(row, ctx, r.db, pool);
    TRY(SQL_LIST(ctx, r.db, read_bar, &out->bars, &out->n, SQL_BAR_LIST, row.no));
    return SQL_LIST(ctx, r.db, read_memory, &out->expired, &out->n_expired, SQL_MEMORY_PAST, row.no,
                    now);
}

static void read_expired(struct query *q, struct expired *out)
{
    SQL_GET(q, out->pool.user, out->pool.space);
    read_memory(q, &out->memory);
}

enum status store_expired(struct ctx *ctx, struct store *s, int64_t now, size_t limit,
                          struct expired **out, size_t *n)
{
    READER(r, ctx, s);
    return SQL_LIST(ctx, r.db, read_expired, out, n, SQL_MEMORY_PAST_ALL, now, sql_limit(limit));
}
