/* read.c - messages and memories of one pool. */
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/posting_cache.h"
#include "store/sql/index/words.h"
#include "store/sql/records/checks.h"
#include "store/sql/state/reader.h"

/* The chain names the whole conversation; the tail only its last two messages, so it comes second.
 */
enum status store_find_chain(struct ctx *ctx, struct store *s, struct pool_ref pool, uint64_t chain,
                             uint64_t tail, struct message *out)
{
    struct message found = {0};
    int64_t known;
    READER(r, ctx, s);
    TRY(pool_ahead(ctx, r.db, pool, &known));
    if (chain)
        SQL_AHEAD(ctx, r.db, SQL_MESSAGE_BY_CHAIN, known, chain);
    if (tail)
        SQL_AHEAD(ctx, r.db, SQL_MESSAGE_BY_TAIL, known, tail);
    POOL_ROW(row, ctx, r.db, pool);
    if (chain)
        TRY(SQL_FIRST(ctx, r.db, read_message, &found, SQL_MESSAGE_BY_CHAIN, row.no, chain));
    if (!found.id.n && tail)
        TRY(SQL_FIRST(ctx, r.db, read_message, &found, SQL_MESSAGE_BY_TAIL, row.no, tail));
    if (!found.id.n)
        return NOT_FOUND;
    *out = found;
    return OK;
}

enum status store_message(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct message *out)
{
    struct message found = {0};
    POOL_READER(r, row, ctx, s, pool);
    TRY(SQL_FIRST(ctx, r.db, read_message, &found, SQL_MESSAGE_BY_ID, row.no, id));
    if (!found.id.n)
        return NOT_FOUND;
    *out = found;
    return OK;
}

static void keep_empty(struct db *db, uint64_t view, const struct pool_row *pool, doc_id doc)
{
    const struct message none = {.doc = doc};
    word_lists_keep_message(db->lists, view, pool_empty_as(pool), &none);
}

/* One statement for all: to begin and end one costs a third of a look-up. places: of docs in out.
 * What was read is kept. */
static enum status read_messages(struct ctx *ctx, struct db *db, uint64_t view,
                                 const struct pool_row *pool, const doc_id *docs,
                                 const size_t *places, size_t n, struct message *out)
{
    size_t i = 0;
    SQL_RUN(q, ctx, db, SQL_MESSAGES_GET, pool->no);
    sql_list(&q, docs, n);
    for (; sql_row(&q); i++) {
        struct message m;
        read_message_ends(&q, &m);
        for (; i < n && docs[i] != m.doc; i++)
            keep_empty(db, view, pool, docs[i]);
        assert(i < n);
        out[places[i]] = m;
        word_lists_keep_message(db->lists, view, pool_kept_as(pool), &m);
    }
    TRY(sql_end(&q));
    for (; i < n; i++)
        keep_empty(db, view, pool, docs[i]);
    return OK;
}

/* A document that is gone leaves an empty place (its id is ""), so that out[i] always belongs to
 * docs[i]. */
enum status store_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                           const doc_id *docs, size_t n, struct message *out)
{
    if (!n)
        return OK;
    POOL_READER(r, row, ctx, s, pool);
    memset(out, 0, n * sizeof *out);
    if (!row.no)
        return OK;
    uint64_t view;
    TRY(words_view(ctx, r.db, &view));
    doc_id *missing = NEW_N(&ctx->arena, doc_id, n);
    size_t *places = NEW_N(&ctx->arena, size_t, n);
    const int64_t pools[] = {pool_kept_as(&row), pool_empty_as(&row)};
    size_t n_missing =
        word_lists_messages(r.db->lists, view, &ctx->arena, pools, docs, n, out, missing, places);
    if (n_missing)
        TRY(read_messages(ctx, r.db, view, &row, missing, places, n_missing, out));
    reader_give_notes(ctx, pool_kept_as(&row), view, out, n);
    return OK;
}

/* As read_messages. Documents that are no memories have empty places as well. */
enum status store_memories(struct ctx *ctx, struct store *s, struct pool_ref pool,
                           const doc_id *docs, size_t n, struct memory *out)
{
    if (!n)
        return OK;
    POOL_READER(r, row, ctx, s, pool);
    memset(out, 0, n * sizeof *out);
    int64_t *nos = NEW_N(&ctx->arena, int64_t, n);
    size_t n_nos = 0, i = 0;
    for (size_t k = 0; k < n; k++)
        if (doc_is_memory(docs[k]))
            nos[n_nos++] = memory_no(docs[k]);
    SQL_RUN(q, ctx, r.db, SQL_MEMORIES_GET, row.no);
    sql_list(&q, nos, n_nos);
    for (; sql_row(&q); i++) {
        struct memory m;
        read_memory(&q, &m);
        while (i < n && docs[i] != m.doc)
            i++;
        assert(i < n);
        out[i] = m;
    }
    return sql_end(&q);
}

enum status store_ids_after(struct ctx *ctx, struct store *s, struct pool_ref pool, str begin,
                            str *out, size_t *n)
{
    *n = 0;
    CHECKED_READER(r, row, ctx, s, pool);
    SQL_RUN(q, ctx, r.db, SQL_IDS_AFTER, row.no, begin);
    while (sql_row(&q))
        out[(*n)++] = sql_get_text(&q);
    return sql_end(&q);
}

/* In any space when the pool has none. */
enum status store_memory(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                         struct memory *out)
{
    struct memory found = {0};
    POOL_READER(r, row, ctx, s, pool);
    TRY(pool.space.n
            ? SQL_FIRST(ctx, r.db, read_memory, &found, SQL_MEMORY_BY_ID, row.no, id)
            : SQL_FIRST(ctx, r.db, read_memory, &found, SQL_MEMORY_BY_ID_OF_USER, pool.user, id));
    if (!found.id.n)
        return fail(ctx, NOT_FOUND, "no memory '" S_FMT "'", S_ARG(id));
    *out = found;
    return OK;
}

/* The document at a position counted from the end; the first one when there are fewer. */
static enum status from_end(struct ctx *ctx, struct db *db, int64_t pool, int64_t session,
                            int64_t from, doc_id *out)
{
    doc_id first = session_first(session);
    SQL_RUN(q, ctx, db, SQL_MESSAGE_LAST, pool, first, session_last(session));
    doc_id at = (sql_row(&q) ? sql_get_int(&q) : first) + 1 + from;
    *out = at > first ? at : first;
    return sql_end(&q);
}

/* A session is a range of document numbers, so this reads neighbouring rows. Positions of erased
 * messages are skipped: from counts positions, not messages. */
enum status store_session_messages(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                   str session, int64_t from, size_t limit, struct message **out,
                                   size_t *n)
{
    int64_t no;
    POOL_READER(r, row, ctx, s, pool);
    TRY(session_find(ctx, r.db, row.no, session, &no));
    doc_id begin = session_first(no) + from;
    if (from < 0)
        TRY(from_end(ctx, r.db, row.no, no, from, &begin));
    return SQL_LIST(ctx, r.db, read_message, out, n, SQL_MESSAGE_RANGE, row.no, begin,
                    session_last(no), sql_limit(limit));
}
