/* check.c - the invariants of a store: file, words, vectors, positions, counts. */
#include "store/sql/index/titles.h"
#include "store/sql/index/words.h"
#include "store/sql/state/reader.h"

/*
 * All rules run in one read transaction, so that a server that writes meanwhile is not reported as
 * damage. quick_check verifies the pages but not that indexes match their tables
 * (sqlite.org/pragma.html), which keeps it linear. The rules are our own invariants, as of counts.
 */

/* Findings that do not fit are dropped: the first ones say enough. */
enum { FINDINGS_MAX = 64 << 10, LINES_MAX = 20 };

static const char *const rules[] = {
#define BY(sqlite, postgres) sqlite
#define RULE(text) text,
#define ON_SQLITE(text) text,
#include "store/sql/read/check_rules.def"
};

#ifdef WITH_POSTGRES
static const char *const postgres_rules[] = {
#define BY(sqlite, postgres) postgres
#define RULE(text) text,
#define ON_SQLITE(text)
#include "store/sql/read/check_rules.def"
};
#endif

/* At most LINES_MAX findings of a rule: one cause can break thousands of rows. */
static enum status run_rule(struct ctx *ctx, struct db *db, const char *rule, struct buf *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->handle, rule, -1, &stmt, NULL);
    for (int i = 0; rc == SQLITE_OK && i < LINES_MAX && sqlite3_step(stmt) == SQLITE_ROW; i++)
        buf_printf(out, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
    rc = sqlite3_finalize(stmt);
    return rc == SQLITE_OK ? OK : db_failed(ctx, db, rc);
}

static enum status run_rules(struct ctx *ctx, struct db *db, struct buf *out)
{
#ifdef WITH_POSTGRES
    for (size_t i = 0; is_postgres(db) && i < sizeof postgres_rules / sizeof *postgres_rules; i++)
        TRY(pg_lines(ctx, db->pg, postgres_rules[i], LINES_MAX, out));
#endif
    for (size_t i = 0; !is_postgres(db) && i < sizeof rules / sizeof *rules; i++)
        TRY(run_rule(ctx, db, rules[i], out));
    return OK;
}

enum status store_check(struct ctx *ctx, struct store *s, str *findings)
{
    struct buf out = buf_make(&ctx->arena, FINDINGS_MAX);
    bool is_erasing = false;
    LONG_READER(r, ctx, s);
    TRY(run_rules(ctx, r.db, &out));
    TRY(titles_check(ctx, r.db, &out));
    TRY(words_check(ctx, r.db, &out));
    *findings = str_trim(buf_str(&out));
    TRY(SQL_ANY(ctx, r.db, &is_erasing, SQL_FACT_FORGETS));
    return is_erasing && !findings->n
               ? fail(ctx, TOO_BUSY, "an erasure is not complete; repeat it if it failed")
               : OK;
}

enum status store_check_pages(struct ctx *ctx, struct store *s, str *findings)
{
    if (store_is_postgres(s))
        return fail(ctx, UNSUPPORTED,
                    "the store in PostgreSQL has no 'check_pages' yet: use pg_amcheck");
    struct buf out = buf_make(&ctx->arena, FINDINGS_MAX);
    LONG_READER(r, ctx, s);
    TRY(run_rule(ctx, r.db, rules[0], &out)); /* as there, for what others wrote meanwhile */
    TRY(run_rule(ctx, r.db,
                 "SELECT 'file: ' || integrity_check FROM pragma_integrity_check"
                 " WHERE integrity_check <> 'ok'",
                 &out));
    *findings = str_trim(buf_str(&out));
    return OK;
}
