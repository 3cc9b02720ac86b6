/* foreign.c - a file with anything in it that rememberd does not make is neither opened nor
 * restored. */
#include <sqlite3.h>

#include "lib/store.h"
#include "store/sql/db/schema.h"
#include "store/store.h"

static void tamper(const char *path, const char *text)
{
    sqlite3 *handle;
    CHECK_INT(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(handle));
    CHECK_INT(sqlite3_close(handle), SQLITE_OK);
}

static void check_refused(struct ctx *ctx, enum status s, const char *why, const char *tampered)
{
    if (s != STORAGE || !strstr(ctx->why, why))
        fail_msg("%s: '%s' does not say '%s'", tampered, ctx->why, why);
    ctx_clear_failure(ctx);
}

#define EDIT(set, name)                                                                            \
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET " set " WHERE name = '" name "'"
#define NEW_ROW(values)                                                                            \
    "PRAGMA writable_schema=ON; INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql)"    \
    " VALUES(" values ")"

static const struct {
    const char *text, *why;
} tampered[] = {
    {"CREATE TRIGGER zz2 AFTER INSERT ON token BEGIN UPDATE token SET is_admin = 1; END",
     "has the trigger 'zz2', which rememberd does not make"},
    {"CREATE TRIGGER zz AFTER INSERT ON memory BEGIN DELETE FROM memory; END",
     "has the trigger 'zz'"},
    {"CREATE VIEW aa AS SELECT * FROM token", "has the view 'aa'"},
    {"CREATE TABLE zz(a)", "has the table 'zz'"},
    {"CREATE TABLE \"a\nb\"(a)", "has the table 'a?b'"},
    {"CREATE INDEX zz ON memory(content)", "has the index 'zz'"},
    {"CREATE VIRTUAL TABLE zz USING fts5(a)", "has the table 'zz'"},
    {"DROP TRIGGER review_of_memory", "lacks the trigger 'review_of_memory' of rememberd"},
    {"DROP INDEX message_id", "lacks the index 'message_id'"},
    {"DROP TABLE bar", "lacks the index 'bar_pool'"},
    {"ALTER TABLE token ADD COLUMN x TEXT AS (id)", "has changed the table 'token' of rememberd"},
    {"DROP TABLE bar; CREATE VIEW bar AS SELECT 1", "lacks the index 'bar_pool'"},
    {"DROP TRIGGER review_of_memory; CREATE TRIGGER review_of_memory AFTER DELETE ON memory BEGIN"
     " DELETE FROM token; END",
     "has changed the trigger 'review_of_memory'"},
    {EDIT("sql = 'CREATE TABLE ''words_data''(id INTEGER PRIMARY KEY, block BLOB CHECK(1))'",
          "words_data"),
     "has changed the table 'words_data'"},
    {EDIT("sql = replace(sql, 'ascii', 'porter')", "words"), "has changed the table 'words'"},
    {EDIT("tbl_name = 'memory'", "review_of_message"), "malformed database schema"},
    {"ANALYZE;" EDIT("sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat CHECK(1))'", "sqlite_stat1"),
     "has the table 'sqlite_stat1'"},
    {NEW_ROW("'trigger', 'late', 'token', 0, 'CREATE TRIGGER late AFTER INSERT ON token BEGIN"
             " DELETE FROM token; END'"),
     "has the trigger 'late'"},
    {"CREATE TRIGGER zz AFTER INSERT ON token BEGIN DELETE FROM token; END; PRAGMA user_version=13",
     "has the index 'erasure_call'"},
    {"PRAGMA user_version=0", "has the index"},
};

TEST(what_rememberd_does_not_make_is_neither_opened_nor_restored)
{
    PLACE(empty);
    {
        STORE(s, empty);
    }
    for (size_t i = 0; i < sizeof tampered / sizeof *tampered; i++) {
        PLACE(p);
        struct store *s = NULL;
        str backup = str_printf(&ctx->arena, "%s/backup", p.folder);
        struct store_copy out = {.from = str_of(empty.path), .to = backup},
                          back = {.from = backup, .to = str_of(p.path), .replaces = true};
        struct store_settings opened = {.path = backup};
        CHECK_OK(store_copy(ctx, &out));
        tamper(backup.p, tampered[i].text);
        check_refused(ctx, store_copy(ctx, &back), tampered[i].why, tampered[i].text);
        CHECK_INT(store_kind(ctx, back.to), STORE_ABSENT);
        check_refused(ctx, store_open(ctx, &opened, &s), tampered[i].why, tampered[i].text);
        CHECK(!s);
    }
}

/* What ANALYZE leaves is SQLite's own. */
TEST(statistics_of_sqlite_are_no_strangers)
{
    PLACE(p);
    {
        STORE(s, p);
    }
    tamper(p.path, "ANALYZE");
    STORE(s, p);
    check_healthy(ctx, s);
}

/* The steps are never edited, so a file of each version since the first release still opens. */
TEST(files_of_all_earlier_versions_open)
{
    for (int version = 2; version <= schema_version(); version++) {
        PLACE(p);
        CLEANUP(db_close) struct db old = {0};
        CHECK_INT(sqlite3_open(p.path, &old.handle), SQLITE_OK);
        CHECK_OK(schema_run(ctx, &old, 0, version));
        CHECK_OK(
            db_exec(ctx, &old,
                    str_printf(&ctx->arena,
                               "PRAGMA application_id=0x524D4244; PRAGMA user_version=%d", version)
                        .p));
        db_close(&old);
        STORE(s, p);
        check_healthy(ctx, s);
    }
}
