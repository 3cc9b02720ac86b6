/* damage.c - a database or its log, damaged as disks and people do it, or of an older version. */
#include "lib/damage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sql/db/schema.h"

static void flip_bit(const char *file, off_t at)
{
    unsigned char byte = 0;
    int fd = open(file, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 4;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static void copy_file(struct ctx *ctx, const char *from, const char *to)
{
    str bytes = bytes_of_file(ctx, from);
    unlink(to);
    if (!bytes.p)
        return;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
    close(fd);
}

static const char *older_log(struct ctx *ctx, const char *path)
{
    return str_printf(&ctx->arena, "%s-wal.older", path).p;
}

void keep_log(struct ctx *ctx, const char *path)
{
    const char *log = str_printf(&ctx->arena, "%s-wal", path).p;
    struct stat st;
    if (stat(log, &st) == 0 && st.st_size)
        copy_file(ctx, log, older_log(ctx, path));
}

bool damage_log(struct ctx *ctx, const char *path, enum damage how, double at)
{
    const char *log = str_printf(&ctx->arena, "%s-wal", path).p;
    struct stat st;
    if (how == DAMAGE_NONE || stat(log, &st) != 0 || !st.st_size)
        return false;
    if (how == LOG_OLDER && access(older_log(ctx, path), F_OK) != 0)
        return false;
    off_t place = (off_t)((double)st.st_size * at);
    if (how == LOG_REMOVED)
        CHECK_INT(unlink(log), 0);
    else if (how == LOG_FLIPPED)
        flip_bit(log, place);
    else if (how == LOG_OLDER)
        copy_file(ctx, older_log(ctx, path), log);
    else
        CHECK_INT(truncate(log, how == LOG_EMPTY ? 0 : place), 0);
    return true;
}

void copy_store(struct ctx *ctx, const char *from, const char *to)
{
    static const char *const ends[] = {"", "-wal", "-commits"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        copy_file(ctx, str_printf(&ctx->arena, "%s%s", from, ends[i]).p,
                  str_printf(&ctx->arena, "%s%s", to, ends[i]).p);
    unlink(str_printf(&ctx->arena, "%s-shm", to).p);
}

/* The steps of the schema are never edited, so they make that version's. Its server wrote the rows.
 */
static enum status write_old_rows(struct ctx *ctx, struct db *db)
{
    str rows = bytes_of_file(ctx, SOURCE_ROOT "/tests/lib/schema_13.sql");
    TRY(schema_run(ctx, db, 0, OLD_SCHEMA));
    TRY(db_exec(ctx, db, rows.p));
    return db_exec(ctx, db,
                   str_printf(&ctx->arena,
                              "PRAGMA user_version=%d; PRAGMA application_id=0x524D4244",
                              OLD_SCHEMA)
                       .p);
}

/* DEFENSIVE keeps the words index's own tables from being written. */
void write_old_store(struct ctx *ctx, const char *path, const uint8_t *key)
{
    CLEANUP(db_close_unsettled) struct db db = {0};
    close(open(path, O_WRONLY | O_CREAT, 0600));
    CHECK_OK(db_open(ctx, path, key, &db));
    sqlite3_db_config(db.handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    CHECK_OK(write_old_rows(ctx, &db));
}

/* The steps of the schema are never edited, so they make each version's tables; rows in the columns
 * that all versions have. The words index is made when the store is opened. */
static enum status write_common_rows(struct ctx *ctx, struct db *db, int64_t version)
{
    static const char rows[] =
        "INSERT INTO pool(id, user, space, sessions, messages, memories, created)"
        " VALUES(1, 'anna', 'default', 1, 2, 2, 1700000000000);"
        "INSERT INTO session(no, pool, id, title, metadata, created, updated, messages)"
        " VALUES(1, 1, 's1', '', '', 1700000000000, 1700000000000, 2);"
        "INSERT INTO message(doc, pool, id, role, speaker, text, ref, origin, created, chain, tail,"
        " is_echo, says) VALUES"
        " (1048576, 1, 'd1', 'user', '', 'The tortoise is called Gottlob.', '', 0, 1700000000000,"
        " 0, 0, 0, ''),"
        " (1048577, 1, 'd2', 'assistant', '', 'Understood.', '', 0, 1700000000000, 0, 0, 0, '');"
        "INSERT INTO memory(no, pool, id, session, layer, type, category, key, content, metadata,"
        " tags, importance, salience, uses, last_used, origin, source, created, updated, expires,"
        " valid_from, valid_to, superseded_by) VALUES"
        " (1, 1, 'f1', 's1', 0, 0, '', '', 'Plays the theorbo.', '', '', 0.5, 0, 0, 0, 0, '',"
        " 1700000000000, 1700000000000, 0, 0, 0, ''),"
        " (2, 1, 'f2', '', 0, 0, '', 'city', 'Lives in Ljubljana.', '', '', 0.5, 0, 0, 0, 0, '',"
        " 1700000000000, 1700000000000, 0, 0, 0, '');";
    TRY(schema_run(ctx, db, 0, version));
    TRY(db_exec(ctx, db, rows));
    return db_exec(ctx, db,
                   str_printf(&ctx->arena,
                              "PRAGMA user_version=%lld; PRAGMA application_id=0x524D4244",
                              (long long)version)
                       .p);
}

void write_version(struct ctx *ctx, const char *path, const uint8_t *key, int64_t version)
{
    CLEANUP(db_close) struct db db = {0};
    close(open(path, O_WRONLY | O_CREAT, 0600));
    CHECK_OK(db_open(ctx, path, key, &db));
    sqlite3_db_config(db.handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    CHECK_OK(write_common_rows(ctx, &db, version));
}

void check_version(struct ctx *ctx, struct store *s)
{
    struct memory m;
    CHECK_OK(store_memory(ctx, s, mine, S("f2"), &m));
    CHECK_STR(m.content, S("Lives in Ljubljana."));
    CHECK_STR(m.key, S("city"));
    CHECK_INT(find(ctx, s, mine, "tortoise").n, 1);
    CHECK_INT(find(ctx, s, mine, "theorbo").n, 1);
    check_healthy(ctx, s);
}
