/* receipts.c - what a recall did: a few columns to find it by, the rest as JSON. */
#include "store/sqlite/records/receipts.h"

#include <assert.h>

#include "base/clock.h"
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/state/reader.h"
#include "store/sqlite/state/writer.h"

/*
 * The columns are what receipts are found or deleted by; everything else is one JSON text, so that
 * a new member needs no schema step. Reading takes defaults for members that an older version did
 * not write.
 */

/* More than any recall shows; a receipt above it is refused as a whole. */
enum { BODY_MAX = 16 << 20 };

static const struct field receipt_body[] = {
    {STR(struct receipt, question)},
    {STR(struct receipt, decision)},
    {STR(struct receipt, reason)},
    {STR(struct receipt, block)},
    {INT(struct receipt, tokens)},
    {INT(struct receipt, took_us)},
    {0},
};

static const struct field receipt_line[] = {
    {STR(struct receipt_line, kind)},   {STR(struct receipt_line, id)},
    {STR(struct receipt_line, source)}, {NUM(struct receipt_line, score)},
    {INT(struct receipt_line, tokens)}, {BOOL(struct receipt_line, injected)},
    {STR(struct receipt_line, why)},    {0},
};

/* {"receipt":{…},"lines":[{…}]} */
static str body_of(struct arena *a, const struct receipt *r)
{
    struct buf b = buf_make(a, BODY_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "receipt");
    fields_write(&w, receipt_body, r);
    json_member_open(&w, "lines", '[');
    for (size_t i = 0; i < r->n; i++)
        fields_write(&w, receipt_line, &r->lines[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    return b.full ? S("") : buf_str(&b);
}

/* Ids of the shown memories and messages; with_sources: also of the messages that memories came
 * from. */
static str shown_of(struct arena *a, const struct receipt *r, bool with_sources)
{
    struct buf b = buf_make(a, BODY_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '[');
    for (size_t i = 0; i < r->n; i++) {
        json_str(&w, r->lines[i].id);
        if (with_sources && r->lines[i].source.n)
            json_str(&w, r->lines[i].source);
    }
    json_close(&w, ']');
    return b.full ? S("") : buf_str(&b);
}

/* A memory that was recalled for a chat may be forgotten while the model answers. */
static enum status shows_gone(struct ctx *ctx, struct db *db, int64_t pool, const struct receipt *r,
                              bool *out)
{
    SQL_RUN(q, ctx, db, SQL_RECEIPT_SHOWS_GONE, pool, shown_of(&ctx->arena, r, false));
    return sql_any(&q, out);
}

static str told_of(struct arena *a, const struct receipt *r)
{
    struct buf b = buf_make(a, BODY_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '[');
    for (size_t i = 0; i < r->told.n; i++)
        json_str(&w, r->told.v[i]);
    json_close(&w, ']');
    return buf_str(&b);
}

/* A receipt is written before the model answers and once more after it; its block may have been
 * taken back in between. */
static enum status put_replay(struct ctx *ctx, struct db *db, int64_t pool, const struct receipt *r)
{
    if (!r->chain)
        return OK;
    if (!r->block.n)
        return SQL_DO(ctx, db, SQL_REPLAY_DELETE, pool, r->id);
    return SQL_DO(ctx, db, SQL_REPLAY_ADD, pool, r->id, r->block, told_of(&ctx->arena, r));
}

/* Forgetting erases receipts that show the memory; a receipt that comes later is not kept. */
enum status receipt_put(struct ctx *ctx, struct db *db, int64_t pool, const struct receipt *r)
{
    bool is_late;
    str body = body_of(&ctx->arena, r), shown = shown_of(&ctx->arena, r, true);
    if (!body.n || !shown.n)
        return fail(ctx, TOO_LARGE, "a receipt is too large");
    assert(pool && db_in_transaction(db));
    TRY(shows_gone(ctx, db, pool, r, &is_late));
    if (is_late)
        return OK;
    TRY(SQL_DO(ctx, db, SQL_RECEIPT_ADD, pool, r->id, r->session, r->created, r->chain, shown,
               body));
    return put_replay(ctx, db, pool, r);
}

static enum status read_receipt(struct query *q, struct receipt *out)
{
    struct json *body;
    str id = sql_get_text(q), session = sql_get_text(q);
    int64_t created = sql_get_int(q);
    uint64_t chain = (uint64_t)sql_get_int(q);
    TRY(json_parse(q->ctx, sql_get_text(q), &body));
    struct receipt r = {0};
    TRY(fields_read(q->ctx, receipt_body, json_get(body, "receipt"), false, &r));
    const struct json *lines = json_get(body, "lines");
    r.lines = NEW_N(&q->ctx->arena, struct receipt_line, lines ? lines->n : 0);
    for (const struct json *line = lines ? lines->first : NULL; line; line = line->next)
        TRY(fields_read(q->ctx, receipt_line, line, false, &r.lines[r.n++]));
    r.id = id;
    r.session = session;
    r.created = created;
    r.chain = chain;
    *out = r;
    return OK;
}

static enum status find_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                struct receipt *out)
{
    struct pool_row row;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(pool_find(ctx, r.db, pool, &row));
    SQL_RUN(q, ctx, r.db, SQL_RECEIPT_GET, row.no, id);
    if (sql_row(&q))
        return read_receipt(&q, out);
    TRY(sql_end(&q));
    return fail(ctx, NOT_FOUND, "no receipt has the id '" S_FMT "'", S_ARG(id));
}

/* A receipt that is shown is a promise (docs/decisions/006): its turn is durable. */
enum status sqlite_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct receipt *out)
{
    TRY(find_receipt(ctx, s, pool, id, out));
    return writer_reach_disk(ctx, sqlite_of(s)->writer);
}

enum status sqlite_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              uint64_t chain, struct receipt *out)
{
    struct pool_row row;
    struct receipt receipt = {0};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(pool_find(ctx, r.db, pool, &row));
    SQL_RUN(q, ctx, r.db, SQL_RECEIPT_BY_CHAIN, row.no, chain);
    if (sql_row(&q))
        TRY(read_receipt(&q, &receipt));
    TRY(sql_end(&q));
    *out = receipt;
    return OK;
}

static enum status read_replay(struct query *q, struct replay *out)
{
    struct json *told;
    if (sql_row(q)) {
        out->block = sql_get_text(q);
        TRY(json_parse(q->ctx, sql_get_text(q), &told));
        out->told.v = NEW_N(&q->ctx->arena, str, told->n + 1);
        for (const struct json *one = told->first; one; one = one->next)
            out->told.v[out->told.n++] = json_string(one);
    }
    return sql_end(q);
}

enum status sqlite_replays(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                           struct replay *v, size_t n)
{
    struct pool_row row;
    int64_t now = clock_ms();
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(pool_find(ctx, r.db, pool, &row));
    for (size_t i = 0; i < n; i++) {
        SQL_RUN(q, ctx, r.db, SQL_REPLAY_GET, row.no, v[i].chain, session, now);
        v[i].block = S("");
        v[i].told = (struct strs){0};
        if (v[i].chain)
            TRY(read_replay(&q, &v[i]));
    }
    return OK;
}
