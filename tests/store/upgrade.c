/* upgrade.c - before its upgrade a database is copied as it is; without room nothing is changed. */
#include <sodium.h>
#include <sqlite3.h>
#include <sys/statvfs.h>

#include "base/id.h"
#include "core/backup_file.h"
#include "lib/damage.h"
#include "store/sql/db/schema.h"

static const uint8_t some_key[STORE_KEY_BYTES] = {7};

static enum status open_keeping(struct ctx *ctx, const struct place *p, const uint8_t *key,
                                struct store **out)
{
    return store_open(
        ctx, &(struct store_settings){.path = str_of(p->path), .key = key, .keeps_old = true}, out);
}

static size_t copies_in(struct ctx *ctx, const struct place *p, struct backup_file **v)
{
    size_t n;
    CHECK_OK(backup_files(ctx, str_of(p->folder), S("store"), v, &n));
    return n;
}

static void check_content(struct ctx *ctx, struct store *s)
{
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    CHECK_INT(stats.memories, OLD_MEMORIES);
    CHECK_INT(stats.messages, OLD_MESSAGES);
    check_healthy(ctx, s);
}

static int64_t version_of(struct ctx *ctx, const char *path, const uint8_t *key)
{
    CLEANUP(db_close) struct db db = {0};
    int64_t version;
    CHECK_OK(db_open_to_read(ctx, path, key, &db));
    CHECK_OK(db_int(ctx, &db, "PRAGMA user_version", &version));
    return version;
}

/* The copy is of the old version, and a restore of it brings everything. */
static void check_copied(struct ctx *ctx, const uint8_t *key)
{
    PLACE(p);
    struct backup_file *v;
    struct store *s;
    write_old_store(ctx, p.path, key);
    CHECK_OK(open_keeping(ctx, &p, key, &s));
    check_content(ctx, s);
    store_close(s);
    CHECK_INT(copies_in(ctx, &p, &v), 1);
    CHECK_INT(v[0].schema, OLD_SCHEMA);
    CHECK(v[0].at > 0 && v[0].bytes > 0);
    str copy = str_printf(&ctx->arena, "%s/" S_FMT, p.folder, S_ARG(v[0].name));
    CHECK_INT(version_of(ctx, copy.p, key), OLD_SCHEMA);
    CHECK_OK(open_keeping(ctx, &p, key, &s)); /* no upgrade, so no copy */
    store_close(s);
    CHECK_INT(copies_in(ctx, &p, &v), 1);
    struct store_copy back = {
        .from = copy, .from_key = key, .to = str_of(p.path), .to_key = key, .replaces = true};
    CHECK_OK(store_copy(ctx, &back));
    CHECK_OK(open_keeping(ctx, &p, key, &s));
    check_content(ctx, s);
    store_close(s);
}

TEST(a_database_is_copied_before_its_upgrade)
{
    check_copied(ctx, NULL);
}

TEST(an_encrypted_database_is_copied_before_its_upgrade_under_its_key)
{
    check_copied(ctx, some_key);
}

TEST(a_new_database_and_one_of_this_version_are_not_copied)
{
    PLACE(p);
    struct backup_file *v;
    for (int i = 0; i < 2; i++) {
        struct store *s;
        CHECK_OK(open_keeping(ctx, &p, NULL, &s));
        store_close(s);
    }
    CHECK_INT(copies_in(ctx, &p, &v), 0);
}

/* --- from each version --- */

/* What upgrade --check tells is true, and changes nothing. */
static void check_told(struct ctx *ctx, const struct place *p, const uint8_t *key, int64_t version)
{
    int64_t is, here;
    CHECK_OK(store_schema(ctx, str_of(p->path), key, &is, &here));
    CHECK_INT(is, version);
    CHECK_INT(here, schema_version());
    CHECK_INT(version_of(ctx, p->path, key), version);
}

static void upgrade_from(struct ctx *ctx, const uint8_t *key, int64_t version)
{
    PLACE(p);
    struct backup_file *v;
    struct store *s;
    write_version(ctx, p.path, key, version);
    check_told(ctx, &p, key, version);
    CHECK_OK(open_keeping(ctx, &p, key, &s));
    check_version(ctx, s);
    store_close(s);
    CHECK_INT(copies_in(ctx, &p, &v), 1);
    CHECK_INT(v[0].schema, version);
    check_told(ctx, &p, key, schema_version());
    str copy = str_printf(&ctx->arena, "%s/" S_FMT, p.folder, S_ARG(v[0].name));
    CHECK_INT(version_of(ctx, copy.p, key), version);
}

TEST(each_version_is_upgraded_with_all_that_it_holds)
{
    for (int64_t version = FIRST_SCHEMA; version < schema_version(); version++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        upgrade_from(&own, NULL, version);
        upgrade_from(&own, some_key, version);
    }
}

/* SHA-256, as SQLite keeps the tables: what the steps make must stay, or samples of older versions
 * would not be what their servers made. A new version adds a line. */
TEST(the_tables_of_each_version_are_frozen)
{
    static const char *const sums[] = {
        "b6990dafd443bab3", "b6990dafd443bab3", "65f2d3c0a8501dfc", "0805e9ad60d4a511",
        "8028645ef78604d2", "34aa1d6fd1098f60", "d17c67a64974324e", "246fcabd5d1ea91f",
        "b76e0d66858cbc9a", "79934c879d6e26d7", "3efe9abfb2c66d99", "d16d03f177491f3b",
        "0e08a47d9b348422", "678f0bc734f2c3fb", "672e4b7adafe48f6", "fe435c006b5bfdb6",
    };
    static const char all[] = "SELECT group_concat(type || char(10) || name || char(10) || tbl_name"
                              " || char(10) || coalesce(sql, ''), char(10)) FROM"
                              " (SELECT * FROM sqlite_schema ORDER BY type, name)";
    CHECK_INT(sizeof sums / sizeof *sums, schema_version() - FIRST_SCHEMA + 1);
    for (int64_t version = FIRST_SCHEMA; version <= schema_version(); version++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        CLEANUP(db_close) struct db db = {0};
        unsigned char sum[crypto_hash_sha256_BYTES];
        sqlite3_stmt *stmt;
        CHECK_INT(sqlite3_open(":memory:", &db.handle), SQLITE_OK);
        CHECK_OK(schema_run(&own, &db, 0, version));
        CHECK_INT(sqlite3_prepare_v2(db.handle, all, -1, &stmt, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        crypto_hash_sha256(sum, sqlite3_column_text(stmt, 0),
                           (unsigned long long)sqlite3_column_bytes(stmt, 0));
        sqlite3_finalize(stmt);
        CHECK_STR(hex_of(&ctx->arena, sum, 8), str_of(sums[version - FIRST_SCHEMA]));
    }
}

/* --- a disk that is full for the copy --- */

static bool is_full;

int statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    *out = (struct statvfs){.f_bavail = is_full ? 100 : 1 << 20, .f_frsize = 4096, .f_bsize = 4096};
    return 0;
}

TEST(without_room_for_the_copy_nothing_is_changed)
{
    PLACE(p);
    struct backup_file *v;
    struct store *s = NULL;
    write_old_store(ctx, p.path, NULL);
    is_full = true;
    enum status status = open_keeping(ctx, &p, NULL, &s);
    is_full = false;
    CHECK_STATUS(status, TOO_LARGE);
    CHECK(!s && strstr(ctx->why, "nothing was changed. Remove the cause"));
    CHECK_INT(copies_in(ctx, &p, &v), 0);
    ctx_clear_failure(ctx);
    CHECK_OK(open_keeping(ctx, &p, NULL, &s));
    check_content(ctx, s);
    store_close(s);
    CHECK_INT(copies_in(ctx, &p, &v), 1);
}

/* --- names --- */

TEST(a_name_of_a_backup_says_when_and_which_version)
{
    static const char *const others[] = {"store.db", "store-20261324T003000Z.db",
                                         "store-20261124T003000Z.db.new",
                                         "other-20261124T003000Z.db",
                                         "store-20261124T003000Z-schema0.db"};
    struct backup_file f;
    str name = backup_name(&ctx->arena, S("store"), 1795480200000, 16);
    CHECK_STR(name, S("store-20261124T003000Z-schema16.db"));
    CHECK(backup_name_read(S("store"), name, &f));
    CHECK_INT(f.at, 1795480200000);
    CHECK_INT(f.schema, 16);
    CHECK(backup_name_read(S("store"), S("store-20261124T003000Z.db"), &f) && f.schema == 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!backup_name_read(S("store"), str_of(others[i]), &f));
}
