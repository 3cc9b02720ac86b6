/* check.c - the invariants of a store: file, words, vectors, positions, counts. */
#include "store/sqlite/index/titles.h"
#include "store/sqlite/index/words.h"
#include "store/sqlite/state/reader.h"

/*
 * All rules run in one read transaction, so that a server that writes meanwhile is not reported as
 * damage. quick_check verifies the pages but not that indexes match their tables
 * (sqlite.org/pragma.html), which keeps it linear. The rules below are about our own invariants:
 * counts kept in rows, ranges of document numbers, and one vector or one queue entry for each text.
 */

/* Findings that do not fit are dropped: the first ones say enough. */
enum { FINDINGS_MAX = 64 << 10, LINES_MAX = 20 };

#define HAS_DOCUMENT(d)                                                                            \
    "(EXISTS (SELECT 1 FROM message AS m WHERE m.doc = " d ".doc AND m.pool = " d ".pool)"         \
    " OR EXISTS (SELECT 1 FROM memory AS f WHERE f.no = " d ".doc - (1 << 62)"                     \
    " AND f.pool = " d ".pool AND f.valid_to = 0))"
#define HAS_VECTOR(doc)                                                                            \
    "(EXISTS (SELECT 1 FROM vector AS v WHERE v.doc = " doc " AND v.v IS NOT NULL)"                \
    " OR EXISTS (SELECT 1 FROM vector_todo AS t WHERE t.doc = " doc "))"
#define SAYS_NOTHING(text) "trim(" text ", ' ' || char(9, 10, 11, 12, 13)) = ''"

/* Each statement finds nothing in a healthy store; its first column is the finding. */
static const char *const rules[] = {
    /* FTS5 notices writes of other connections when it is read, not when it is checked. */
    "SELECT 'words: ' || rowid FROM words WHERE words MATCH '\"nothing\"'",
    "SELECT 'file: ' || quick_check FROM pragma_quick_check WHERE quick_check <> 'ok'",
    "SELECT 'session ' || s.no || ' says ' || s.messages || ' messages and has '"
    " || count(m.doc) FROM session AS s LEFT JOIN message AS m"
    " ON m.doc BETWEEN s.no << 20 AND (s.no + 1 << 20) - 1 GROUP BY s.no"
    " HAVING count(m.doc) <> s.messages",
    "SELECT 'session ' || s.no || ' has a position over ' || (s.messages + s.erased)"
    " FROM session AS s WHERE EXISTS (SELECT 1 FROM message AS m"
    " WHERE m.doc BETWEEN (s.no << 20) + s.messages + s.erased AND (s.no + 1 << 20) - 1)",
    "SELECT 'message ' || m.doc || ' has no session of its pool' FROM message AS m"
    " LEFT JOIN session AS s ON s.no = m.doc >> 20 WHERE s.pool IS NOT m.pool",
    "SELECT 'pool ' || p.id || ' says ' || p.messages || ' messages' FROM pool AS p"
    " WHERE p.messages <> (SELECT count(*) FROM message AS m WHERE m.pool = p.id)",
    "SELECT 'pool ' || p.id || ' says ' || p.sessions || ' sessions' FROM pool AS p"
    " WHERE p.sessions <> (SELECT count(*) FROM session AS s WHERE s.pool = p.id)",
    "SELECT 'pool ' || p.id || ' says ' || p.memories || ' memories' FROM pool AS p"
    " WHERE p.memories <>"
    " (SELECT count(*) FROM memory AS m WHERE m.pool = p.id AND m.valid_to = 0)"
    " OR p.closed <>"
    " (SELECT count(*) FROM memory AS m WHERE m.pool = p.id AND m.valid_to <> 0)",
    "SELECT 'pool ' || p.id || ' says ' || p.bytes || ' bytes' FROM pool AS p WHERE p.bytes <>"
    " (SELECT coalesce(sum(octet_length(m.text) + octet_length(m.says)), 0) FROM message AS m"
    " WHERE m.pool = p.id) + (SELECT coalesce(sum(octet_length(m.content) +"
    " octet_length(m.metadata) + octet_length(m.tags)), 0) FROM memory AS m WHERE m.pool = p.id)"
    " + (SELECT coalesce(sum(octet_length(s.title) + octet_length(s.metadata)), 0)"
    " FROM session AS s WHERE s.pool = p.id)",
    "SELECT 'pool ' || t.pool || ' counts ' || t.n || ' memories of a kind that has ' ||"
    " count(m.no) FROM memory_tally AS t LEFT JOIN memory AS m ON m.pool = t.pool"
    " AND m.layer = t.layer AND m.type = t.type AND m.category = t.category"
    " AND m.origin = t.origin AND (m.valid_to <> 0) = t.is_closed"
    " GROUP BY t.pool, t.layer, t.type, t.category, t.origin, t.is_closed"
    " HAVING count(m.no) <> t.n",
    "SELECT 'pool ' || p.id || ' has memories of a kind that is not counted' FROM pool AS p"
    " WHERE p.memories + p.closed <>"
    " (SELECT coalesce(sum(t.n), 0) FROM memory_tally AS t WHERE t.pool = p.id)",
    "SELECT 'pool ' || t.pool || ' counts ' || t.n || ' memories of a kind and day that has ' ||"
    " count(m.no) FROM memory_day AS t LEFT JOIN memory AS m ON m.pool = t.pool"
    " AND m.created >= t.day * 86400000 AND m.created < (t.day + 1) * 86400000"
    " AND m.layer = t.layer AND m.type = t.type AND m.category = t.category"
    " AND m.origin = t.origin AND (m.valid_to <> 0) = t.is_closed"
    " GROUP BY t.pool, t.day, t.layer, t.type, t.category, t.origin, t.is_closed"
    " HAVING count(m.no) <> t.n",
    "SELECT 'pool ' || p.id || ' has memories of a day that is not counted' FROM pool AS p"
    " WHERE p.memories + p.closed <>"
    " (SELECT coalesce(sum(t.n), 0) FROM memory_day AS t WHERE t.pool = p.id)",
    "SELECT 'revision ' || r.no || ' has no memory' FROM revision AS r"
    " WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.no = r.memory)",
    "SELECT 'memory ' || m.no || ' has no pool' FROM memory AS m"
    " WHERE NOT EXISTS (SELECT 1 FROM pool AS p WHERE p.id = m.pool)",
    "SELECT 'vector of ' || v.doc || ' has no document' FROM vector AS v"
    " WHERE v.v IS NOT NULL AND NOT " HAS_DOCUMENT("v"),
    "SELECT 'vector of ' || v.doc || ' has ' || length(v.v) || ' bytes' FROM vector AS v"
    " LEFT JOIN vector_set AS s WHERE v.v IS NOT NULL AND length(v.v) IS NOT"
    " CASE WHEN s.is_int8 THEN 4 + s.dimensions ELSE 4 * s.dimensions END",
    "SELECT 'vector of ' || v.doc || ' is there and waited for' FROM vector AS v"
    " JOIN vector_todo AS t ON t.doc = v.doc WHERE v.v IS NOT NULL",
    "SELECT t.doc || ' waits for a vector and is no document' FROM vector_todo AS t"
    " WHERE NOT " HAS_DOCUMENT("t"),
    "SELECT t.doc || ' waits for a vector of no set' FROM vector_todo AS t"
    " WHERE NOT EXISTS (SELECT 1 FROM vector_set)",
    "SELECT 'message ' || m.doc || ' has no vector and does not wait' FROM vector_set"
    " JOIN message AS m WHERE NOT " HAS_VECTOR("m.doc") " AND NOT " SAYS_NOTHING(
        "CASE WHEN m.is_echo THEN m.says ELSE m.text END"),
    "SELECT 'memory ' || m.no || ' has no vector and does not wait' FROM vector_set"
    " JOIN memory AS m WHERE m.valid_to = 0 AND NOT " HAS_VECTOR(
        "m.no + (1 << 62)") " AND NOT " SAYS_NOTHING("m.content"),
    "SELECT 'signal ' || g.no || ' has no message of its pool' FROM signal AS g"
    " LEFT JOIN message AS m ON m.doc = g.doc WHERE m.pool IS NOT g.pool",
    "SELECT 'signal ' || g.no || ' is of no session that waits' FROM signal AS g"
    " LEFT JOIN waiting AS w ON w.session = g.doc >> 20 WHERE w.pool IS NOT g.pool",
    "SELECT 'session ' || w.session || ' waits without signals' FROM waiting AS w"
    " WHERE NOT EXISTS (SELECT 1 FROM signal AS g"
    " WHERE g.doc BETWEEN w.session << 20 AND (w.session + 1 << 20) - 1)",
};

/* At most LINES_MAX findings of a rule: one cause can break thousands of rows. */
static enum status run_rule(struct ctx *ctx, struct db *db, const char *rule, struct buf *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->handle, rule, -1, &stmt, NULL);
    for (int i = 0; rc == SQLITE_OK && i < LINES_MAX; i++) {
        if (sqlite3_step(stmt) != SQLITE_ROW)
            break;
        buf_printf(out, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
    }
    rc = sqlite3_finalize(stmt);
    return rc == SQLITE_OK ? OK : db_failed(ctx, db, rc);
}

enum status sqlite_check(struct ctx *ctx, struct store *s, str *findings)
{
    struct buf out = buf_make(&ctx->arena, FINDINGS_MAX);
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        TRY(run_rule(ctx, r.db, rules[i], &out));
    TRY(titles_check(ctx, r.db, &out));
    TRY(words_check(ctx, r.db, &out));
    *findings = str_trim(buf_str(&out));
    return OK;
}

enum status sqlite_check_pages(struct ctx *ctx, struct store *s, str *findings)
{
    struct buf out = buf_make(&ctx->arena, FINDINGS_MAX);
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(run_rule(ctx, r.db,
                 "SELECT 'file: ' || integrity_check FROM pragma_integrity_check"
                 " WHERE integrity_check <> 'ok'",
                 &out));
    *findings = str_trim(buf_str(&out));
    return OK;
}
