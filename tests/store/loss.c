/* loss.c - a log or a database that is missing, cut or damaged: nothing acknowledged is lost
 * without being told. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/damage.h"

enum { WRITES = 20 };

static const uint8_t some_key[STORE_KEY_BYTES] = {7, 7};

static str name_of(struct ctx *ctx, int i)
{
    return str_printf(&ctx->arena, "m%d", i);
}

static enum status open_at(struct ctx *ctx, const char *path, const uint8_t *key, bool accepts,
                           struct store **out)
{
    return store_open(ctx,
                      &(struct store_settings){
                          .path = str_of(path), .key = key, .readers = 2, .accepts_loss = accepts},
                      out);
}

/* A process that writes and is killed, so that all is in the log. */
static void write_and_die(struct ctx *ctx, const char *path, const uint8_t *key, int from, int to)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct store *s;
        if (open_at(ctx, path, key, false, &s) != OK)
            _exit(2);
        for (int i = from; i < to; i++) {
            struct memory m = fact(name_of(ctx, i).p, "", "likes tea");
            if (keep(ctx, s, mine, PUT_SUPERSEDE, &m) != OK)
                _exit(3);
        }
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
}

static int64_t memories_of(struct ctx *ctx, struct store *s)
{
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    return stats.memories;
}

static void check_opens(struct ctx *ctx, const char *path, const uint8_t *key, int64_t memories)
{
    struct store *s;
    CHECK_OK(open_at(ctx, path, key, false, &s));
    CHECK_INT(memories_of(ctx, s), memories);
    check_healthy(ctx, s);
    store_close(s);
}

static void check_refused(struct ctx *ctx, const char *path, const uint8_t *key, const char *why)
{
    struct store *s;
    CHECK_INT(open_at(ctx, path, key, false, &s), STORAGE);
    if (!holds(str_of(ctx->why), why))
        fail_msg("%s", ctx->why);
    CHECK(holds(str_of(ctx->why), "rememberd doctor --accept-loss"));
    ctx_clear_failure(ctx);
}

/* Fewer memories than before; whole, and from then on as ever. */
static void check_accepted(struct ctx *ctx, const char *path, const uint8_t *key)
{
    struct store *s;
    struct memory m = fact("later", "", "likes coffee");
    CHECK_OK(open_at(ctx, path, key, true, &s));
    int64_t left = memories_of(ctx, s);
    CHECK(left < WRITES);
    check_healthy(ctx, s);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    store_close(s);
    check_opens(ctx, path, key, left + 1);
}

static void write_file(const char *path, str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
    close(fd);
}

TEST(a_damaged_log_is_refused_and_left_alone_until_the_loss_is_accepted)
{
    for (int i = 0; i < 2 * DAMAGE_COUNT; i++) {
        PLACE(p);
        PLACE(whole);
        const uint8_t *key = i % 2 ? some_key : NULL;
        write_and_die(ctx, p.path, key, 0, WRITES);
        copy_store(ctx, p.path, whole.path);
        if (!damage_log(ctx, p.path, (enum damage)(i / 2), 0.5)) {
            check_opens(ctx, p.path, key, WRITES);
            continue;
        }
        str before = bytes_of_file(ctx, p.path);
        check_refused(ctx, p.path, key, "its log (-wal) was removed or damaged");
        check_refused(ctx, p.path, key, "lacks the last ");
        CHECK(str_eq(before, bytes_of_file(ctx, p.path)));
        /* A log that is put back is whole again. */
        str log = bytes_of_file(ctx, str_printf(&ctx->arena, "%s-wal", whole.path).p);
        write_file(str_printf(&ctx->arena, "%s-wal", p.path).p, log);
        check_opens(ctx, p.path, key, WRITES);
        copy_store(ctx, whole.path, p.path);
        CHECK(damage_log(ctx, p.path, (enum damage)(i / 2), 0.5));
        check_accepted(ctx, p.path, key);
    }
}

/* In other places than it was: each page of an older log is of another table then. */
static void rekey_in_place(struct ctx *ctx, const struct place *p, const uint8_t *from,
                           const uint8_t *to)
{
    CHECK_OK(store_copy(ctx, &(struct store_copy){.from = str_of(p->path),
                                                  .from_key = from,
                                                  .to = str_of(p->path),
                                                  .to_key = to,
                                                  .replaces = true}));
}

TEST(an_older_log_is_refused_and_nothing_is_written)
{
    for (int i = 0; i < 3; i++) {
        static const uint8_t other[STORE_KEY_BYTES] = {9};
        const uint8_t *key = i ? some_key : NULL, *then = i == 2 ? other : key;
        PLACE(p);
        struct store *s;
        write_and_die(ctx, p.path, key, 0, WRITES);
        keep_log(ctx, p.path);
        check_opens(ctx, p.path, key, WRITES);
        rekey_in_place(ctx, &p, key, then);
        write_and_die(ctx, p.path, then, WRITES, 2 * WRITES);
        str log_path = str_printf(&ctx->arena, "%s-wal", p.path);
        str right = bytes_of_file(ctx, log_path.p), before = bytes_of_file(ctx, p.path);
        CHECK(damage_log(ctx, p.path, LOG_OLDER, 0));
        str older = bytes_of_file(ctx, log_path.p);
        CHECK_INT(open_at(ctx, p.path, then, false, &s), STORAGE);
        CHECK(holds(str_of(ctx->why), "log (-wal)") && holds(str_of(ctx->why), "restore a backup"));
        ctx_clear_failure(ctx);
        CHECK(str_eq(before, bytes_of_file(ctx, p.path)));
        CHECK(str_eq(older, bytes_of_file(ctx, log_path.p)));
        write_file(log_path.p, right);
        check_opens(ctx, p.path, then, 2 * WRITES);
    }
}

/* As a server leaves it that is killed while it copies its log. */
static void mark_midway(struct ctx *ctx, const char *path)
{
    int fd = open(str_printf(&ctx->arena, "%s-commits", path).p, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, "+", 1, 57) == 1);
    close(fd);
}

/* The file alone has more than with that log. i 1: a server was killed in the midst of copying its
 * log, and an older one is in the place of that. */
TEST(an_older_log_is_left_when_the_loss_is_accepted)
{
    for (int i = 0; i < 2; i++) {
        PLACE(p);
        struct store *s;
        int64_t erased, left = WRITES - 1;
        str log = str_printf(&ctx->arena, "%s-wal", p.path);
        write_and_die(ctx, p.path, NULL, 0, WRITES);
        str older = bytes_of_file(ctx, log.p);
        CHECK_OK(open_at(ctx, p.path, NULL, false, &s));
        CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
        store_close(s);
        write_and_die(ctx, p.path, NULL, WRITES, 2 * WRITES);
        if (i) {
            left += WRITES;
            check_opens(ctx, p.path, NULL, left);
            mark_midway(ctx, p.path);
        }
        write_file(log.p, older);
        check_refused(ctx, p.path, NULL, "lacks the last ");
        CHECK_OK(open_at(ctx, p.path, NULL, true, &s));
        CHECK_INT(memories_of(ctx, s), left);
        check_healthy(ctx, s);
        store_close(s);
        check_opens(ctx, p.path, NULL, left);
    }
}

/* Pages of a mixture of times: keys of the words index whose segment the index does not know.
 * Neither of the checks sees them, and FTS5 takes the same number for its next segment. */
static void plant_keys(const char *path)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    for (int segment = 1; segment < 20; segment++) {
        char sql[100];
        snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO words_idx VALUES(%d, x'', 2)", segment);
        CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

TEST(an_accepted_loss_makes_the_words_index_anew)
{
    PLACE(p);
    struct store *s;
    struct memory m = fact("later", "", "likes coffee");
    write_and_die(ctx, p.path, NULL, 0, WRITES);
    check_opens(ctx, p.path, NULL, WRITES);
    plant_keys(p.path);
    mark_midway(ctx, p.path);
    check_refused(ctx, p.path, NULL, "a checkpoint was cut short");
    CHECK_OK(open_at(ctx, p.path, NULL, true, &s));
    check_healthy(ctx, s);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    check_healthy(ctx, s);
    store_close(s);
    check_opens(ctx, p.path, NULL, WRITES + 1);
}

/* An opening may change pages without a count, and so does a program of somebody else's. */
static str write_uncounted(struct ctx *ctx, const char *path)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    CHECK_INT(sqlite3_exec(db, "INSERT INTO setting VALUES('theme', 'dark')", NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(db);
    return bytes_of_file(ctx, str_printf(&ctx->arena, "%s-wal", path).p);
}

static void check_theme(struct ctx *ctx, struct store *s, str theme)
{
    str now;
    CHECK_OK(store_setting(ctx, s, S("theme"), &now));
    CHECK_STR(now, theme);
}

/* As a version left it that did not note the log of the last count. */
static void cut_third_line(struct ctx *ctx, const char *path)
{
    CHECK_INT(truncate(str_printf(&ctx->arena, "%s-commits", path).p, 86), 0);
}

/* What is there of a log is older than the database, and has no count. i 0: it lost its end; 1: it
 * is of an earlier time. */
TEST(a_log_without_a_count_that_is_older_than_the_database_is_refused)
{
    for (int i = 0; i < 2; i++) {
        PLACE(p);
        struct store *s;
        write_and_die(ctx, p.path, NULL, 0, WRITES);
        check_opens(ctx, p.path, NULL, WRITES);
        str beginning = write_uncounted(ctx, p.path);
        CHECK(beginning.n > 0);
        cut_third_line(ctx, p.path);
        CHECK_OK(open_at(ctx, p.path, NULL, false, &s));
        CHECK_OK(store_put_setting(ctx, s, S("theme"), S("light")));
        store_close(s);
        if (i)
            check_opens(ctx, p.path, NULL, WRITES);
        write_file(str_printf(&ctx->arena, "%s-wal", p.path).p, beginning);
        check_refused(ctx, p.path, NULL, "lacks the last commits: its log");
        CHECK_OK(open_at(ctx, p.path, NULL, true, &s));
        check_theme(ctx, s, S("light"));
        check_healthy(ctx, s);
        store_close(s);
    }
}

/* A program that keeps the database open, as one that copies its log elsewhere, begins logs with
 * writes of its own, and a crash may leave such a log. */
TEST(a_log_that_another_program_began_behind_ours_is_taken)
{
    PLACE(p);
    struct store *s;
    sqlite3 *other;
    CHECK_OK(open_at(ctx, p.path, NULL, false, &s));
    CHECK_OK(store_put_setting(ctx, s, S("theme"), S("light")));
    CHECK_INT(sqlite3_open(p.path, &other), SQLITE_OK);
    sqlite3_db_config(other, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    CHECK_INT(sqlite3_exec(other, "SELECT count(*) FROM setting", NULL, NULL, NULL), SQLITE_OK);
    store_close(s);
    CHECK_INT(sqlite3_exec(other, "UPDATE setting SET value = 'dark'", NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(other);
    CHECK_OK(open_at(ctx, p.path, NULL, false, &s));
    check_theme(ctx, s, S("dark"));
    store_close(s);
}

/* After a close everything is in the database: a log is needed no more. */
TEST(a_store_that_was_closed_needs_no_log)
{
    PLACE(p);
    write_and_die(ctx, p.path, NULL, 0, WRITES);
    check_opens(ctx, p.path, NULL, WRITES);
    CHECK(!damage_log(ctx, p.path, LOG_REMOVED, 0));
    check_opens(ctx, p.path, NULL, WRITES);
}

TEST(a_database_that_is_missing_or_empty_is_not_made_anew)
{
    for (int i = 0; i < 2; i++) {
        PLACE(p);
        struct store *s;
        write_and_die(ctx, p.path, NULL, 0, WRITES);
        CHECK_INT(i ? truncate(p.path, 0) : unlink(p.path), 0);
        check_refused(ctx, p.path, NULL, "is missing or empty");
        CHECK_OK(open_at(ctx, p.path, NULL, true, &s));
        CHECK_INT(memories_of(ctx, s), 0);
        store_close(s);
        check_opens(ctx, p.path, NULL, 0);
    }
}

/* What a first start that was killed leaves, and what somebody touched. */
TEST(an_empty_file_alone_is_a_new_store)
{
    PLACE(p);
    close(open(p.path, O_WRONLY | O_CREAT, 0600));
    check_opens(ctx, p.path, NULL, 0);
}

/* A crash before the count is written, a power cut, or a copy of the database alone. */
TEST(a_count_that_is_behind_missing_or_damaged_keeps_nobody_out)
{
    PLACE(p);
    str file = str_printf(&ctx->arena, "%s-commits", p.path);
    write_and_die(ctx, p.path, NULL, 0, 1);
    str early = bytes_of_file(ctx, file.p);
    CHECK(early.n);
    write_and_die(ctx, p.path, NULL, 1, WRITES);
    const str texts[] = {early, S("nonsense\n"), S("")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int fd = open(file.p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        CHECK(write(fd, texts[i].p, texts[i].n) == (ssize_t)texts[i].n);
        close(fd);
        check_opens(ctx, p.path, NULL, WRITES);
    }
    CHECK_INT(unlink(file.p), 0);
    write_and_die(ctx, p.path, NULL, WRITES, WRITES + 1);
    CHECK(damage_log(ctx, p.path, LOG_REMOVED, 0));
    check_refused(ctx, p.path, NULL, "lacks the last ");
}

TEST(an_older_copy_in_the_place_is_refused_and_another_database_is_not)
{
    PLACE(p);
    PLACE(older);
    PLACE(other);
    write_and_die(ctx, p.path, NULL, 0, 2);
    check_opens(ctx, p.path, NULL, 2);
    copy_store(ctx, p.path, older.path);
    write_and_die(ctx, p.path, NULL, 2, WRITES);
    check_opens(ctx, p.path, NULL, WRITES);
    CHECK_INT(rename(older.path, p.path), 0);
    check_refused(ctx, p.path, NULL, "or the database is an older one");
    write_and_die(ctx, other.path, NULL, 0, 1);
    check_opens(ctx, other.path, NULL, 1);
    CHECK_INT(rename(other.path, p.path), 0);
    check_opens(ctx, p.path, NULL, 1);
}

/* A copy of what has lost commits would be as short, and nobody would be told. A restore is what
 * mends it, and has a count of its own. */
TEST(a_short_store_is_not_copied_but_may_be_replaced)
{
    PLACE(p);
    PLACE(backup);
    write_and_die(ctx, p.path, NULL, 0, 2);
    struct store_copy out = {.from = str_of(p.path), .to = str_of(backup.path)};
    CHECK_OK(store_copy(ctx, &out));
    CHECK(access(str_printf(&ctx->arena, "%s-commits", backup.path).p, F_OK) != 0);
    write_and_die(ctx, p.path, NULL, 2, WRITES);
    CHECK(damage_log(ctx, p.path, LOG_REMOVED, 0));
    struct store_copy again = {.from = str_of(p.path),
                               .to = str_printf(&ctx->arena, "%s.2", backup.path)};
    struct store_copy encrypts = {.from = str_of(p.path),
                                  .to = str_of(p.path),
                                  .to_key = some_key,
                                  .replaces = true};
    const struct store_copy *const copies[] = {&again, &encrypts};
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(store_copy(ctx, copies[i]), STORAGE);
        CHECK(holds(str_of(ctx->why), "lacks the last "));
        ctx_clear_failure(ctx);
        check_refused(ctx, p.path, NULL, "lacks the last ");
    }
    struct store_copy back = {.from = str_of(backup.path), .to = str_of(p.path), .replaces = true};
    CHECK_OK(store_copy(ctx, &back));
    check_opens(ctx, p.path, NULL, 2);
    write_and_die(ctx, p.path, NULL, 2, 4);
    copy_store(ctx, p.path, again.to.p);
    CHECK(damage_log(ctx, p.path, LOG_EMPTY, 0));
    check_refused(ctx, p.path, NULL, "lacks the last ");
    /* A log whose database is gone is not that of the backup. */
    copy_store(ctx, again.to.p, p.path);
    CHECK_INT(unlink(p.path), 0);
    CHECK_OK(store_copy(ctx, &back));
    check_opens(ctx, p.path, NULL, 2);
}

/* Each acknowledges what it wrote; the count is that of both. */
TEST(two_that_write_share_a_count)
{
    PLACE(p);
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct store *s[2];
        for (int i = 0; i < 2; i++)
            if (open_at(ctx, p.path, NULL, false, &s[i]) != OK)
                _exit(2);
        for (int i = 0; i < WRITES; i++) {
            struct memory m = fact(name_of(ctx, i).p, "", "likes tea");
            if (keep(ctx, s[i % 2], mine, PUT_SUPERSEDE, &m) != OK)
                _exit(3);
        }
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    PLACE(whole);
    copy_store(ctx, p.path, whole.path);
    check_opens(ctx, p.path, NULL, WRITES);
    copy_store(ctx, whole.path, p.path);
    CHECK(damage_log(ctx, p.path, LOG_CUT, 0.99)); /* the last group alone */
    check_refused(ctx, p.path, NULL, "lacks the last 1 commit,");
}

/* Looks at the marks take long, so that others write and empty the log between two looks. */
static atomic_bool looks_slowly;

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    enum { MARKS_MAX = 100, LOOK_US = 2000 };
    ssize_t got = syscall(SYS_pread64, fd, to, n, at);
    if (atomic_load(&looks_slowly) && n < MARKS_MAX)
        usleep(LOOK_US);
    return got;
}

/* Each erasure empties the log, and the next write begins another. It ends with its parent. */
static void write_and_erase(struct ctx *ctx, const char *path)
{
    struct store *s;
    pid_t parent = getppid();
    if (open_at(ctx, path, NULL, false, &s) != OK)
        _exit(2);
    while (getppid() == parent) {
        int64_t erased;
        struct memory m = fact("goes", "", "likes tea");
        if (keep(ctx, s, mine, PUT_SUPERSEDE, &m) != OK ||
            store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("goes")}, &erased) != OK)
            _exit(3);
    }
    _exit(4);
}

TEST(what_another_process_erases_meanwhile_is_no_loss)
{
    enum { OPENINGS = 40 };
    PLACE(p);
    int status;
    check_opens(ctx, p.path, NULL, 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        write_and_erase(ctx, p.path);
    for (int i = 0; i < OPENINGS; i++) {
        struct store *s;
        atomic_store(&looks_slowly, true);
        CHECK_OK(open_at(ctx, p.path, NULL, false, &s));
        atomic_store(&looks_slowly, false);
        store_close(s);
    }
    CHECK_INT(kill(child, SIGKILL), 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
}
