/* receipts.c - records of recalls: a few columns to find one by, the rest as JSON. */
#include "store/sql/records/receipts.h"

#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/*
 * The columns are what receipts are found or deleted by; everything else is one JSON text, so that
 * a new member needs no schema step. Reading takes defaults for members that an older version did
 * not write.
 */

/* More than any recall shows; a receipt above it is refused as a whole. */
enum { BODY_MAX = 16 << 20 };

static FIELDS(receipt, (STR, question), (STR, decision), (STR, reason), (STR, block), (INT, tokens),
              (INT, took_us));
static FIELDS(receipt_line, (STR, kind), (STR, id), (STR, source), (NUM, score), (INT, tokens),
              (BOOL, injected), (STR, why));

/* {"receipt":{…},"lines":[{…}]} */
static str body_of(struct arena *a, const struct receipt *r)
{
    struct json_out w = json_in(a, BODY_MAX);
    json_open(&w, '{');
    json_key(&w, "receipt");
    fields_write(&w, receipt_fields, r);
    json_member_open(&w, "lines", '[');
    for (size_t i = 0; i < r->n; i++)
        fields_write(&w, receipt_line_fields, &r->lines[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    return w.b->full ? S("") : buf_str(w.b);
}

/* Ids of the memories and messages of its lines, as JSON: all, also those of the messages that
 * memories came from, or only what the model was given. */
enum which_ids { IDS_SHOWN, IDS_WITH_SOURCES, IDS_GIVEN };

static str ids_of(struct arena *a, const struct receipt *r, enum which_ids which)
{
    struct json_out w = json_in(a, BODY_MAX);
    json_open(&w, '[');
    for (size_t i = 0; i < r->n; i++) {
        if (which == IDS_GIVEN && !r->lines[i].injected)
            continue;
        json_str(&w, r->lines[i].id);
        if (which == IDS_WITH_SOURCES && r->lines[i].source.n)
            json_str(&w, r->lines[i].source);
    }
    json_close(&w, ']');
    return w.b->full ? S("") : buf_str(w.b);
}

/* A receipt is written before the model answers and once more after it; its block may have been
 * taken back in between. */
static enum status put_replay(struct ctx *ctx, struct db *db, int64_t pool, const struct receipt *r)
{
    if (!r->chain)
        return OK;
    if (!r->block.n)
        return SQL_LATER(ctx, db, SQL_REPLAY_DELETE, pool, r->id);
    str told = r->told.n ? tags_text(&ctx->arena, r->told) : S("[]");
    return SQL_LATER(ctx, db, SQL_REPLAY_ADD, pool, r->id, r->block, told);
}

/* Its row, if it is kept already: a turn with tools queues its receipt before the model is asked.
 */
struct kept_receipt {
    int64_t no, tokens;
    bool is_same;
};

static enum status note_given(struct ctx *ctx, struct db *db, int64_t pool, int64_t no,
                              const struct receipt *r, bool is_new)
{
    str given = ids_of(&ctx->arena, r, IDS_GIVEN);
    if (!is_new)
        TRY(SQL_LATER(ctx, db, SQL_GIVEN_CLEAR, pool, no));
    return given.n > 2 ? SQL_LATER(ctx, db, SQL_GIVEN_ADD, pool, no, given) : OK;
}

/* Each receipt is counted once; the block may have been dropped since it was queued. */
static enum status count_recall(struct ctx *ctx, struct db *db, int64_t pool,
                                const struct receipt *r, const struct kept_receipt *kept)
{
    TRY(days_add(ctx, db, pool, DAY_TOKENS, r->tokens - kept->tokens));
    if (kept->no)
        return OK;
    TRY(days_add(ctx, db, pool, DAY_DECISION + day_decision(r->decision), 1));
    if (!day_is_recall(r->decision))
        return OK;
    TRY(days_add(ctx, db, pool, DAY_RECALL_US, r->took_us));
    return days_add(ctx, db, pool, DAY_BUCKET + day_bucket(r->took_us), 1);
}

/* Forgetting, which may come while the model answers, erases receipts that show the memory; a
 * receipt that comes later is not kept. One that was queued, and is not there, was erased so, or
 * its write failed. */
enum status receipt_put(struct ctx *ctx, struct db *db, int64_t pool, const struct receipt *r,
                        bool was_queued)
{
    bool is_late, is_kept = false;
    struct kept_receipt kept = {0};
    if (was_queued)
        TRY(SQL_ANY(ctx, db, &is_kept, SQL_RECEIPT_THERE, pool, r->id));
    if (is_kept)
        return OK;
    str body = body_of(&ctx->arena, r), shown = ids_of(&ctx->arena, r, IDS_WITH_SOURCES);
    if (!body.n || !shown.n)
        return fail(ctx, TOO_LARGE, "a receipt is too large");
    assert(pool && db_in_transaction(db));
    SQL_AHEAD(ctx, db, SQL_RECEIPT_FIND, pool, r->id, body);
    TRY(SQL_ANY(ctx, db, &is_late, SQL_RECEIPT_SHOWS_GONE, pool,
                ids_of(&ctx->arena, r, IDS_SHOWN)));
    if (is_late)
        return OK;
    TRY(SQL_ALONE(SQL_GET_ROW(&q_, kept.no, kept.tokens, kept.is_same), ctx, db, SQL_RECEIPT_FIND,
                  pool, r->id, body));
    if (kept.is_same)
        return OK;
    TRY(kept.no ? SQL_LATER(ctx, db, SQL_RECEIPT_CHANGE, pool, kept.no, shown, body, r->decision,
                            r->tokens)
                : SQL_DO(ctx, db, SQL_RECEIPT_ADD, pool, r->id, r->session, r->created, r->chain,
                         shown, body, r->decision, r->tokens));
    int64_t no = kept.no ? kept.no : db_last_row(db);
    TRY(put_replay(ctx, db, pool, r));
    TRY(note_given(ctx, db, pool, no, r, !kept.no));
    return count_recall(ctx, db, pool, r, &kept);
}

static enum status read_receipt(struct query *q, struct receipt *out)
{
    struct json *body;
    struct receipt r = {0};
    SQL_GET(q, r.no, r.id, r.session, r.created, r.chain);
    TRY(json_parse(q->ctx, sql_get_text(q), &body));
    TRY(fields_read(q->ctx, receipt_fields, json_get(body, "receipt"), false, &r));
    const struct json *lines = json_get(body, "lines");
    r.lines = NEW_N(&q->ctx->arena, struct receipt_line, lines ? lines->n : 0);
    for (const struct json *line = lines ? lines->first : NULL; line; line = line->next)
        TRY(fields_read(q->ctx, receipt_line_fields, line, false, &r.lines[r.n++]));
    *out = r;
    return OK;
}

static enum status find_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                struct receipt *out)
{
    POOL_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, SQL_RECEIPT_GET, row.no, id);
    if (sql_row(&q))
        return read_receipt(&q, out);
    TRY(sql_end(&q));
    return fail(ctx, NOT_FOUND, "no receipt has the id '" S_FMT "'", S_ARG(id));
}

/* A receipt that is shown is a promise (docs/decisions/004): its turn is durable. */
enum status store_receipt(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct receipt *out)
{
    TRY(find_receipt(ctx, s, pool, id, out));
    return writer_reach_disk(ctx, s->writer);
}

enum status store_receipt_of(struct ctx *ctx, struct store *s, struct pool_ref pool, uint64_t chain,
                             struct receipt *out)
{
    *out = (struct receipt){0};
    POOL_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, SQL_RECEIPT_BY_CHAIN, row.no, chain);
    if (sql_row(&q))
        TRY(read_receipt(&q, out));
    return sql_end(&q);
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

enum status store_replays(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                          struct replay *v, size_t n)
{
    int64_t known, now = clock_ms();
    READER(r, ctx, s);
    TRY(pool_ahead(ctx, r.db, pool, &known));
    for (size_t i = 0; i < n; i++)
        if (v[i].chain)
            SQL_AHEAD(ctx, r.db, SQL_REPLAY_GET, known, v[i].chain, session, now);
    POOL_ROW(row, ctx, r.db, pool);
    for (size_t i = 0; i < n; i++) {
        SQL_RUN(q, ctx, r.db, SQL_REPLAY_GET, row.no, v[i].chain, session, now);
        v[i].block = S("");
        v[i].told = (struct strs){0};
        if (v[i].chain)
            TRY(read_replay(&q, &v[i]));
    }
    return OK;
}

/* --- lists --- */

/* A session or a document has an index of its own; see sql_inspect.def for the parameters. Of a
 * statement the three forms stand behind each other. */
static enum sql form_of(enum sql statement, const struct receipt_filter *f)
{
    enum { OF_POOL, OF_SESSION, OF_DOC };
    return statement + (f->doc ? OF_DOC : f->session.n ? OF_SESSION : OF_POOL);
}

static enum status count_receipts(struct ctx *ctx, struct db *db, int64_t pool,
                                  const struct receipt_filter *f, int64_t *out)
{
    SQL_RUN(q, ctx, db, form_of(SQL_RECEIPT_COUNT, f), pool, f->after ? f->after : INT64_MIN,
            f->before ? f->before : INT64_MAX, f->decision);
    if (f->doc || f->session.n)
        sql_text(&q, f->session);
    if (f->doc)
        sql_int(&q, f->doc);
    return sql_number(&q, out);
}

/* The count and the page come from one transaction and agree. */
static enum status list_receipts(struct ctx *ctx, struct store *s, const struct receipt_filter *f,
                                 struct receipt **out, size_t *n, int64_t *total)
{
    struct receipt *v = NULL;
    size_t have = 0, cap = 0;
    POOL_READER(r, row, ctx, s, f->pool);
    if (total)
        TRY(count_receipts(ctx, r.db, row.no, f, total));
    SQL_RUN(q, ctx, r.db, form_of(SQL_RECEIPT_LIST, f), row.no, f->after ? f->after : INT64_MIN,
            f->before ? f->before : INT64_MAX, f->decision, f->session, f->doc,
            f->no ? f->at : INT64_MAX, f->no ? f->no : INT64_MAX, sql_limit(f->limit));
    while (sql_row(&q))
        TRY(read_receipt(&q, &ARENA_ADD(&ctx->arena, v, have, cap)));
    *out = v;
    *n = have;
    return sql_end(&q);
}

enum status store_receipts(struct ctx *ctx, struct store *s, const struct receipt_filter *f,
                           struct receipt **out, size_t *n, int64_t *total)
{
    TRY(pool_check(ctx, f->pool));
    TRY(list_receipts(ctx, s, f, out, n, total));
    return *n ? writer_reach_disk(ctx, s->writer) : OK;
}
