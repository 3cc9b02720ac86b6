/* commits.c - the count of committed groups, in the database and in a file beside it. */
#include "store/sql/state/commits.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/id.h"
#include "base/log.h"
#include "base/time_text.h"
#include "store/file.h"
#include "store/sql/db/file.h"
#include "store/sql/db/query.h"

/*
 * SQLite takes the end of its log for the end of history: when the log is removed, cut or damaged,
 * it opens what is left and says nothing. So each group that changes something is counted, in a row
 * of the database that is committed with it. The same line goes into a file beside the database
 * (-commits) when the group is durable and before anybody is told of it. At opening, a database
 * that counts fewer than the file has lost commits that were acknowledged.
 *
 * The file is never ahead of what is durable, and may be behind: it is not synced, and a crash may
 * come before it is written. It is written after fsync, so a power cut leaves an old line or the
 * new one. Behind is harmless. The lock of the file orders processes that have one store open.
 *
 * In the midst of a checkpoint the database is neither old nor new, and its count may be either. So
 * a second line says that one is running: then a log without anything is a lost one. It also says
 * which log was committed to or copied last, and how much of it there was. When that log has lost
 * its end, or an older one is in its place, its pages would be put over newer ones, and the count
 * is no help if none of them has it. A third line is the count of the last commit in that log:
 * behind a later one that has not been told there may be another log.
 *
 * A history has a name, as counts of different databases cannot be compared. It begins when a
 * database is made, or first opened by a version that counts.
 */

#define ROW_NAME "commits"

/* One line, always of the same length, as it is written over itself. */
enum { LINE = HISTORY_CHARS + 2 * 20 + 1, LINE_MAX_BYTES = LINE + 1 };

/* Places in the file: of the line that tells of a checkpoint, and of two locks. SALT_AT: of 8 bytes
 * in the log's header, which are others whenever a log begins
 * (sqlite.org/fileformat2.html#walformat). LOG_FRAMES: pages in the log from which on it is brought
 * into the database (16 MB), four times SQLite's default, so that bursts of writes share a
 * checkpoint. */
enum { COPIED_AT = LINE, LOCK_LINE = 0, LOCK_CHECKPOINT, SALT_AT = 16, LOG_FRAMES = 4000 };

/* The second line, and the third. */
struct marks {
    bool is_midway;
    struct log log;
    long long n; /* 0: not known */
};
enum { LOG_BYTES = 10 + 1 + 16 + 1, LAST_AT = COPIED_AT + 1 + LOG_BYTES, LAST_BYTES = 20 };

static void print_line(const struct commit_count *c, char line[LINE_MAX_BYTES])
{
    int n = snprintf(line, LINE_MAX_BYTES, "%-*s %019lld %019lld\n", HISTORY_CHARS, c->history,
                     (long long)c->n, (long long)c->at);
    assert(n == LINE);
}

static bool read_line(const char *line, struct commit_count *out)
{
    long long n, at;
    struct commit_count c = {0};
    static_assert(HISTORY_CHARS == 16, "the format below");
    if (sscanf(line, "%16s %lld %lld", c.history, &n, &at) != 3 || n <= 0)
        return false;
    c.n = n;
    c.at = at;
    *out = c;
    return true;
}

static bool is_same_history(const struct commit_count *a, const struct commit_count *b)
{
    return a->n && b->n && !strcmp(a->history, b->history);
}

/* --- the file --- */

static const char *path_of(struct ctx *ctx, const char *path)
{
    return str_printf(&ctx->arena, S_FMT "-commits", S_ARG(file_whole(&ctx->arena, path))).p;
}

/* Where the file system knows no such locks there is one process, or no way to tell. */
static void lock_file(int fd, int what, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = what, .l_len = 1};
    fcntl(fd, F_OFD_SETLKW, &lock);
}

/* Count 0 for a file without a line: nothing was acknowledged since it was made. */
static bool read_file(int fd, struct commit_count *out)
{
    char line[LINE_MAX_BYTES] = "";
    ssize_t n = pread(fd, line, LINE, 0);
    *out = (struct commit_count){0};
    return n == 0 || !*line || (n == LINE && read_line(line, out));
}

static enum status fail_open(struct ctx *ctx, const char *file)
{
    return fail_as(ctx, STORAGE, file_error_detail(errno), "cannot open '%s': %s", file,
                   strerror(errno));
}

/* A damaged line is no reason to keep somebody from the data. */
static enum status look_into_file(struct ctx *ctx, const char *file, struct commit_count *out,
                                  struct marks *marks)
{
    char lines[1 + LOG_BYTES + LAST_BYTES + 1] = "";
    CLEANUP(fd_close) int fd = open(file, O_RDONLY | O_CLOEXEC);
    *out = (struct commit_count){0};
    *marks = (struct marks){0};
    if (fd < 0)
        return errno == ENOENT ? OK : fail_open(ctx, file);
    if (!read_file(fd, out))
        log_event(LOG_WARN, "store.commits_unread",
                  "file=\"%s\" why=\"it is damaged, so lost commits cannot be noticed now\"", file);
    if (pread(fd, lines, sizeof lines - 1, COPIED_AT) > 0)
        sscanf(lines + 1, "%d %llx %lld", &marks->log.frames, &marks->log.salt, &marks->n);
    marks->is_midway = *lines == '+';
    return OK;
}

/* Of a command that root runs, the file gets the owner of the database, as SQLite's own files do.
 */
static enum status open_file(struct ctx *ctx, const char *path, int *out)
{
    struct stat st;
    const char *file = path_of(ctx, path);
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_open(ctx, file);
    if (geteuid() == 0 && (stat(path, &st) != 0 || fchown(fd, st.st_uid, st.st_gid) != 0)) {
        close(fd);
        return fail_open(ctx, file);
    }
    *out = fd;
    return OK;
}

/* --- the row --- */

static void read_count(struct query *q, struct commit_count *out)
{
    read_line(str_c(&q->ctx->arena, sql_get_text(q)), out);
}

/* The database may be so short that it has no tables. */
enum status commits_read(struct ctx *ctx, struct db *db, struct commit_count *out)
{
    int64_t has_table = 0;
    *out = (struct commit_count){0};
    TRY(db_int(ctx, db, "SELECT count(*) FROM sqlite_schema WHERE name = 'fact'", &has_table));
    if (!has_table)
        return OK;
    return SQL_FIRST(ctx, db, read_count, out, SQL_FACT_GET, S(ROW_NAME));
}

static enum status put_row(struct ctx *ctx, struct db *db, const struct commit_count *c)
{
    char line[LINE_MAX_BYTES];
    print_line(c, line);
    return SQL_DO(ctx, db, SQL_FACT_PUT, S(ROW_NAME), str_of(line));
}

enum status commits_add(struct ctx *ctx, struct db *db, struct commits *c)
{
    struct commit_count *next = &c->group;
    *next = (struct commit_count){0};
    TRY(SQL_FIRST(ctx, db, read_count, next, SQL_FACT_GET, S(ROW_NAME)));
    if (!next->n)
        snprintf(next->history, sizeof next->history, S_FMT,
                 S_ARG(random_text(&ctx->arena, HISTORY_CHARS * 3 / 4)));
    next->n++;
    next->at = clock_ms();
    return put_row(ctx, db, next);
}

/* --- telling --- */

/* What was told before stays guarded. */
static void warn_untold(int error)
{
    log_event(LOG_WARN, "store.commits_untold",
              "why=\"the count of commits cannot be written: %s\"", strerror(error));
}

static void put_mark(const struct commits *c, off_t at, const char *text, size_t n)
{
    if (pwrite(c->fd, text, n, at) != (ssize_t)n)
        warn_untold(errno);
}

/* begun: "+" for a checkpoint, or "" */
static void mark_log(const struct commits *c, const char *begun, const struct log *log)
{
    char line[1 + LOG_BYTES + 1];
    int n =
        snprintf(line, sizeof line, "%s%010u %016llx\n", begun, (unsigned)log->frames, log->salt);
    put_mark(c, COPIED_AT + !*begun, line, (size_t)n);
}

static void mark_last(const struct commits *c, int64_t n)
{
    char line[LAST_BYTES + 1];
    snprintf(line, sizeof line, "%019lld\n", (long long)n);
    put_mark(c, LAST_AT, line, LAST_BYTES);
}

/* A failure is logged once. */
void commits_tell(struct commits *c, const struct commit_count *count)
{
    struct commit_count told;
    char line[LINE_MAX_BYTES];
    if (!count->n)
        return;
    lock_file(c->fd, LOCK_LINE, F_WRLCK);
    bool is_behind =
        !read_file(c->fd, &told) || !is_same_history(&told, count) || told.n < count->n;
    print_line(count, line);
    if (is_behind && count->log.salt) {
        mark_log(c, "", &count->log);
        mark_last(c, count->n);
    }
    bool has_failed = is_behind && pwrite(c->fd, line, LINE, 0) != LINE;
    int why = errno;
    lock_file(c->fd, LOCK_LINE, F_UNLCK);
    if (has_failed && !c->has_failed)
        warn_untold(why);
    c->has_failed = has_failed;
}

void commits_close(struct commits *c)
{
    fd_close(&c->fd);
}

/* --- checkpoints --- */

/* 0: there is no log. */
static unsigned long long salt_of_log(sqlite3 *db)
{
    uint64_t salt = 0;
    const char *log = sqlite3_filename_wal(sqlite3_db_filename(db, "main"));
    CLEANUP(fd_close) int fd = open(log, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && pread(fd, &salt, sizeof salt, SALT_AT) == sizeof salt ? salt : 0;
}

/* SQLITE_BUSY: readers need a part of the log; the database is that of an earlier commit. The log
 * is emptied by a second call, when nothing is left to copy: a crash behind it leaves no log. */
int commits_checkpoint(struct commits *c, sqlite3 *db, int how)
{
    int frames = 0, copied = 0;
    bool empties = how == SQLITE_CHECKPOINT_TRUNCATE;
    lock_file(c->fd, LOCK_CHECKPOINT, F_WRLCK);
    int rc = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_NOOP, &frames, &copied);
    if (rc == SQLITE_OK && frames > copied) {
        mark_log(c, "+", &(struct log){frames, salt_of_log(db)});
        rc = sqlite3_wal_checkpoint_v2(db, "main", empties ? SQLITE_CHECKPOINT_FULL : how, NULL,
                                       NULL);
        if (rc == SQLITE_OK || rc == SQLITE_BUSY)
            put_mark(c, COPIED_AT, "-", 1);
    }
    if (rc == SQLITE_OK && empties)
        rc = sqlite3_wal_checkpoint_v2(db, "main", how, NULL, NULL);
    lock_file(c->fd, LOCK_CHECKPOINT, F_UNLCK);
    return rc;
}

/* A log that cannot be copied now will be later. */
static int note_log(void *own, sqlite3 *db, __attribute__((unused)) const char *name, int frames)
{
    struct commits *c = own;
    c->group.log = (struct log){frames, salt_of_log(db)};
    if (frames >= LOG_FRAMES)
        commits_checkpoint(c, db, SQLITE_CHECKPOINT_PASSIVE);
    return SQLITE_OK;
}

enum status commits_settle(struct ctx *ctx, struct db *db, const char *path, int how)
{
    struct commits c = {0};
    TRY(open_file(ctx, path, &c.fd));
    mark_last(&c, 0); /* behind it a log may begin that has no count yet */
    int rc = commits_checkpoint(&c, db->handle, how);
    commits_close(&c);
    return rc == SQLITE_OK || rc == SQLITE_BUSY ? OK : db_failed(ctx, db, rc);
}

/* --- opening --- */

/* A log that begins in the place of another has the other's first salt and one more, as long as the
 * database is open somewhere: other programs that keep it so (replication) begin logs, too. */
static bool is_later(unsigned long long salt, unsigned long long than)
{
    enum { LOGS_AT_MOST = 1 << 16 };
    uint32_t first, other;
    memcpy(&first, &salt, sizeof first);
    memcpy(&other, &than, sizeof other);
    return be32toh(first) - be32toh(other) - 1 < LOGS_AT_MOST;
}

/* Whether the log that an unfinished checkpoint needs is gone, has lost its end, or is older than
 * the last commit: what there is of it is older than the database. */
static bool lacks_log(const struct log *log, const struct marks *marks, int64_t found)
{
    if (log->frames <= 0)
        return marks->is_midway && !log->frames;
    if (log->salt == marks->log.salt)
        return log->frames < marks->log.frames;
    return (marks->is_midway || marks->n == found) && !is_later(log->salt, marks->log.salt);
}

/* The file, the log, the database, in this order: what is committed in between is no loss. */
struct look {
    struct commit_count told, found;
    struct log log;
    struct marks marks;
};

static enum status look(struct ctx *ctx, struct db *db, const char *path, struct look *out)
{
    struct log *log = &out->log;
    TRY(look_into_file(ctx, path_of(ctx, path), &out->told, &out->marks));
    log->salt = salt_of_log(db->handle);
    if (sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_NOOP, &log->frames, NULL) !=
        SQLITE_OK)
        log->frames = -1;
    return commits_read(ctx, db, &out->found);
}

static bool is_same_look(const struct look *a, const struct look *b)
{
    return a->found.n == b->found.n && a->log.salt == b->log.salt &&
           a->log.frames == b->log.frames && a->marks.log.salt == b->marks.log.salt &&
           a->marks.log.frames == b->marks.log.frames;
}

/* What is missing, or "". */
static str loss_of(struct ctx *ctx, const struct look *l)
{
    long long n = l->told.n - l->found.n;
    if (!l->told.n || (l->found.n && !is_same_history(&l->told, &l->found)))
        return S("");
    const char *half =
        l->marks.is_midway ? "; the rest may be damaged, as a checkpoint was cut short" : "";
    if (n <= 0)
        return lacks_log(&l->log, &l->marks, l->found.n)
                   ? str_printf(&ctx->arena, "the last commits%s", half)
                   : S("");
    str since = time_utc(&ctx->arena, l->found.at, ", all since %Y-%m-%d %H:%M:%S UTC");
    return str_printf(&ctx->arena, "the last %lld commit%s" S_FMT "%s", n, n > 1 ? "s" : "",
                      S_ARG(since), half);
}

/* Closing the last connection would bring what is left of the log into the database, and remove
 * it. */
static enum status refuse_loss(struct ctx *ctx, struct db *db, const char *path, str loss)
{
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return fail(ctx, STORAGE,
                "the database '%s' lacks " S_FMT
                ": its log (-wal) was removed or damaged, or the database is an older one; put the "
                "right file back, restore a backup, or go on without: rememberd doctor "
                "--accept-loss",
                path, S_ARG(loss));
}

/* Another process may empty the log and begin the next in the midst of a look, so a loss is one
 * that is seen twice alike. A database of another history was put there by somebody. One without
 * any is what a lost log leaves of a new one. */
enum status commits_check(struct ctx *ctx, struct db *db, const char *path, bool accepts_loss,
                          struct commits *out)
{
    struct look l = {0}, before;
    str loss;
    *out = (struct commits){.fd = -1};
    do {
        before = l;
        TRY(look(ctx, db, path, &l));
        loss = loss_of(ctx, &l);
    } while (loss.n && !is_same_look(&l, &before));
    if (l.told.n && l.found.n && !is_same_history(&l.told, &l.found))
        log_event(LOG_WARN, "store.other_history",
                  "file=\"%s\" why=\"another database was here before\"", path);
    /* A checkpoint is finished at once, since closing the last connection would do it without
     * saying so. Where the file can only be read nothing is closed that way. */
    if (!loss.n && l.marks.is_midway && !sqlite3_db_readonly(db->handle, "main"))
        return commits_settle(ctx, db, path, SQLITE_CHECKPOINT_PASSIVE);
    if (!loss.n)
        return OK;
    if (!accepts_loss)
        return refuse_loss(ctx, db, path, loss);
    log_event(LOG_WARN, "store.loss_accepted", "file=\"%s\" lost=\"" S_FMT "\"", path, S_ARG(loss));
    out->has_lost = !l.marks.is_midway || l.log.salt != l.marks.log.salt;
    return OK;
}

/* A count of its own, so that the file may tell of it: what was found may not be durable yet, and
 * what an opening changes without counting is behind the count of every older log. Behind an
 * accepted loss the counting goes on above what was lost. */
static enum status join_history(struct ctx *ctx, struct db *db, struct commits *c)
{
    struct commit_count told;
    TXN(t);
    TRY(txn_begin(ctx, db, &t));
    TRY(commits_add(ctx, db, c));
    if (read_file(c->fd, &told) && is_same_history(&told, &c->group) && told.n >= c->group.n) {
        c->group.n = told.n + 1;
        TRY(put_row(ctx, db, &c->group));
    }
    TRY(txn_commit(&t));
    commits_tell(c, &c->group);
    return OK;
}

enum status commits_open(struct ctx *ctx, struct db *db, const char *path, struct commits *c)
{
    TRY(open_file(ctx, path, &c->fd));
    sqlite3_wal_hook(db->handle, note_log, c);
    return join_history(ctx, db, c);
}
