/* encryption.c - keys and files: what fits opens, what does not is refused and left as it was; a
 * store is converted as a whole. */
#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/store.h"

static const uint8_t one[STORE_KEY_BYTES] = {1, 2, 3}, two[STORE_KEY_BYTES] = {3, 2, 1};

static enum status open_with(struct ctx *ctx, const struct place *p, const uint8_t *key,
                             struct store **out)
{
    return store_open(ctx, &(struct store_settings){.path = str_of(p->path), .key = key}, out);
}

#define KEYED(s, p, k)                                                                             \
    CLEANUP(store_closep) struct store *s = NULL;                                                  \
    CHECK_OK(open_with(ctx, &(p), (k), &s))

static str beside(struct ctx *ctx, const struct place *p, const char *end)
{
    return str_printf(&ctx->arena, "%s%s", p->path, end);
}

static bool exists(str path)
{
    return access(path.p, F_OK) == 0;
}

static void fill(struct ctx *ctx, struct store *s, int n)
{
    for (int i = 0; i < n; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i),
                            .role = S("user"),
                            .text = str_printf(&ctx->arena, "Ithaca is number %d", i)};
        struct memory f = fact(m.id.p, "", m.text.p);
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    }
}

static void check_filled(struct ctx *ctx, const struct place *p, const uint8_t *key, size_t n)
{
    KEYED(s, *p, key);
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 2 * n);
    check_healthy(ctx, s);
}

/* Refused in these words, and nothing beside the file has changed. */
static void check_refused(struct ctx *ctx, const struct place *p, const uint8_t *key,
                          enum status want, const char *why)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".new"};
    enum { N = sizeof ends / sizeof *ends };
    struct store *s = NULL;
    str before[N];
    struct stat then, now;
    CHECK(stat(p->path, &then) == 0);
    for (int i = 0; i < N; i++)
        before[i] = bytes_of_file(ctx, beside(ctx, p, ends[i]).p);
    CHECK_STATUS(open_with(ctx, p, key, &s), want);
    CHECK(!s);
    if (!strstr(ctx->why, why))
        fail_msg("'%s' does not say '%s'", ctx->why, why);
    for (int i = 0; i < N; i++) {
        str after = bytes_of_file(ctx, beside(ctx, p, ends[i]).p);
        CHECK(str_eq(before[i], after));
        CHECK(!before[i].p == !after.p);
    }
    CHECK(stat(p->path, &now) == 0);
    CHECK(then.st_mtim.tv_sec == now.st_mtim.tv_sec && then.st_mtim.tv_nsec == now.st_mtim.tv_nsec);
    ctx_clear_failure(ctx);
}

TEST(an_encrypted_store_is_a_store)
{
    PLACE(p);
    {
        KEYED(s, p, one);
        fill(ctx, s, 50);
        CHECK_INT(find(ctx, s, mine, "ithaca").n, 100);
    }
    CHECK_INT(store_kind(ctx, str_of(p.path)), STORE_ENCRYPTED);
    CHECK(store_key_fits(ctx, str_of(p.path), one));
    CHECK(!store_key_fits(ctx, str_of(p.path), two));
    check_filled(ctx, &p, one, 50);
}

/* --- many connections at once --- */

TEST(many_threads_write_and_read_what_is_encrypted)
{
    PLACE(p);
    KEYED(s, p, one);
    check_many_threads(ctx, s);
}

TEST(a_key_that_does_not_fit_is_refused)
{
    PLACE(p);
    {
        KEYED(s, p, one);
        fill(ctx, s, 5);
    }
    check_refused(ctx, &p, two, FORBIDDEN, "not the key of the database");
    check_refused(ctx, &p, NULL, FORBIDDEN, "is encrypted, and no key");
    check_filled(ctx, &p, one, 5);
}

TEST(a_plain_store_refuses_a_key)
{
    PLACE(p);
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    check_refused(ctx, &p, one, FORBIDDEN, "is not encrypted, but a key is set");
    check_filled(ctx, &p, NULL, 5);
}

TEST(another_programs_file_is_refused_with_a_key_too)
{
    PLACE(p);
    int fd = open(p.path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 300; i++)
        CHECK(write(fd, "this is a shopping list\n", 24) == 24);
    close(fd);
    check_refused(ctx, &p, one, STORAGE, "not a rememberd database");
    check_refused(ctx, &p, NULL, STORAGE, "not a rememberd database");
    CHECK(truncate(p.path, 10) == 0);
    check_refused(ctx, &p, one, STORAGE, "not a rememberd database");
}

/* Opens the store in a process of its own, fills it and is killed: its log stays. */
static void fill_and_die(struct ctx *ctx, const struct place *p, const uint8_t *key, int n)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct store *s;
        if (open_with(ctx, p, key, &s) != OK)
            _exit(2);
        fill(ctx, s, n);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(a_log_that_was_left_behind_is_not_touched_by_a_wrong_key)
{
    PLACE(p);
    fill_and_die(ctx, &p, one, 20);
    CHECK(exists(beside(ctx, &p, "-wal")));
    check_refused(ctx, &p, two, FORBIDDEN, "not the key");
    check_refused(ctx, &p, NULL, FORBIDDEN, "no key was found");
    check_filled(ctx, &p, one, 20);
}

TEST(a_plain_log_is_not_touched_by_a_key)
{
    PLACE(p);
    fill_and_die(ctx, &p, NULL, 20);
    check_refused(ctx, &p, one, FORBIDDEN, "is not encrypted");
    check_filled(ctx, &p, NULL, 20);
}

/* A power cut while the log is brought into the file: the first page is in the log, too. */
TEST(a_torn_first_page_is_no_wrong_key)
{
    PLACE(p);
    fill_and_die(ctx, &p, one, 200);
    int fd = open(p.path, O_WRONLY);
    char torn[1000];
    memset(torn, 7, sizeof torn);
    CHECK(pwrite(fd, torn, sizeof torn, 3000) == sizeof torn);
    close(fd);
    CHECK(store_key_fits(ctx, str_of(p.path), one));
    check_refused(ctx, &p, two, FORBIDDEN, "not the key");
    check_filled(ctx, &p, one, 200);
}

TEST(a_changed_byte_is_noticed)
{
    PLACE(p);
    {
        KEYED(s, p, one);
        fill(ctx, s, 50);
    }
    struct stat st;
    CHECK(stat(p.path, &st) == 0);
    int fd = open(p.path, O_RDWR);
    unsigned noticed = 0;
    for (off_t page = 1; page < st.st_size / 4096 && page <= 40; page++) {
        char byte, other;
        CHECK(pread(fd, &byte, 1, page * 4096 + 2000) == 1);
        other = (char)(byte ^ 1);
        CHECK(pwrite(fd, &other, 1, page * 4096 + 2000) == 1);
        struct store *s = NULL;
        str findings = S("");
        if (open_with(ctx, &p, one, &s) != OK || store_check(ctx, s, &findings) != OK || findings.n)
            noticed++;
        store_close(s);
        ctx_clear_failure(ctx);
        CHECK(pwrite(fd, &byte, 1, page * 4096 + 2000) == 1);
    }
    close(fd);
    CHECK(noticed > 20);
    check_filled(ctx, &p, one, 50);
}

/* --- converting --- */

static enum status convert(struct ctx *ctx, const struct place *p, const uint8_t *from,
                           const uint8_t *to)
{
    struct store_copy copy = {.from = str_of(p->path),
                              .from_key = from,
                              .to = str_of(p->path),
                              .to_key = to,
                              .replaces = true};
    return store_copy(ctx, &copy);
}

static void check_alone(struct ctx *ctx, const struct place *p)
{
    static const char *const ends[] = {"-wal",     "-shm",     "-journal",    ".new",
                                       ".new-wal", ".new-shm", ".new-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (exists(beside(ctx, p, ends[i])))
            fail_msg("%s is still there", ends[i]);
}

TEST(a_store_is_encrypted_rekeyed_and_decrypted)
{
    PLACE(p);
    struct stat st;
    fill_and_die(ctx, &p, NULL, 200);
    const uint8_t *keys[] = {NULL, one, two, NULL, one};
    for (size_t i = 1; i < sizeof keys / sizeof *keys; i++) {
        CHECK_OK(convert(ctx, &p, keys[i - 1], keys[i]));
        check_alone(ctx, &p);
        CHECK_INT(store_kind(ctx, str_of(p.path)), keys[i] ? STORE_ENCRYPTED : STORE_PLAIN);
        check_filled(ctx, &p, keys[i], 200);
        CHECK(stat(p.path, &st) == 0 && (st.st_mode & 0777) == 0600);
    }
    check_refused(ctx, &p, two, FORBIDDEN, "not the key");
}

TEST(a_conversion_with_a_wrong_key_is_refused)
{
    PLACE(p);
    {
        KEYED(s, p, one);
        fill(ctx, s, 5);
    }
    CHECK_STATUS(convert(ctx, &p, two, NULL), FORBIDDEN);
    ctx_clear_failure(ctx);
    CHECK_STATUS(convert(ctx, &p, NULL, two), FORBIDDEN);
    ctx_clear_failure(ctx);
    check_alone(ctx, &p);
    check_filled(ctx, &p, one, 5);
}

TEST(what_is_not_there_is_not_converted_or_made)
{
    PLACE(p);
    CHECK_STATUS(convert(ctx, &p, NULL, one), NOT_FOUND);
    CHECK(!exists(str_of(p.path)));
}

/* Another process has the file open by itself; it is told apart by a byte over the pipe. */
static pid_t open_elsewhere(struct ctx *ctx, const struct place *p, const uint8_t *key, int *stop)
{
    int ready[2], end[2];
    char c;
    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct store *s;
        close(end[1]);
        if (open_with(ctx, p, key, &s) != OK)
            _exit(2);
        if (write(ready[1], "!", 1) != 1 || read(end[0], &c, 1) != 0)
            _exit(3);
        store_close(s);
        _exit(0);
    }
    close(ready[1]);
    close(end[0]);
    CHECK(read(ready[0], &c, 1) == 1);
    close(ready[0]);
    *stop = end[1];
    return child;
}

TEST(an_open_store_is_not_converted)
{
    PLACE(p);
    int stop, status;
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    pid_t child = open_elsewhere(ctx, &p, NULL, &stop);
    CHECK_STATUS(convert(ctx, &p, NULL, one), TOO_BUSY);
    CHECK(strstr(ctx->why, "another process has the database"));
    ctx_clear_failure(ctx);
    close(stop);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(convert(ctx, &p, NULL, one));
    check_filled(ctx, &p, one, 5);
}

/* A program that knows SQLite's locks and no others. */
TEST(a_file_that_a_strangers_program_reads_is_not_converted)
{
    PLACE(p);
    int ready[2], end[2], status;
    char c;
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *handle;
        close(end[1]);
        if (sqlite3_open(p.path, &handle) != SQLITE_OK ||
            sqlite3_exec(handle, "SELECT count(*) FROM message", NULL, NULL, NULL) != SQLITE_OK ||
            write(ready[1], "!", 1) != 1 || read(end[0], &c, 1) != 0)
            _exit(2);
        _exit(0);
    }
    close(end[0]);
    CHECK(read(ready[0], &c, 1) == 1);
    CHECK_STATUS(convert(ctx, &p, NULL, one), TOO_BUSY);
    ctx_clear_failure(ctx);
    close(end[1]);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(convert(ctx, &p, NULL, one));
    check_filled(ctx, &p, one, 5);
}

/* What would be written to the old file then would be lost. */
struct opener {
    const struct place *p;
    int asked, refused;
};

static void try_to_open(void *own, const char *what, int64_t done, int64_t all)
{
    struct opener *o = own;
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct store *s = NULL;
    (void)done, (void)all;
    if (!strcmp(what, "done"))
        return;
    o->asked++;
    o->refused += open_with(&ctx, o->p, NULL, &s) == TOO_BUSY;
}

TEST(nobody_opens_a_store_while_it_is_replaced)
{
    PLACE(p);
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    struct opener o = {&p, 0, 0};
    struct store_copy copy = {.from = str_of(p.path),
                              .to = str_of(p.path),
                              .to_key = one,
                              .replaces = true,
                              .progress = try_to_open,
                              .own = &o};
    CHECK_OK(store_copy(ctx, &copy));
    CHECK(o.asked > 2);
    CHECK_INT(o.asked, o.refused);
    check_filled(ctx, &p, one, 5);
}

TEST(a_link_leads_to_the_file_that_is_replaced)
{
    PLACE(p);
    struct place link = p;
    struct stat st;
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    snprintf(link.path, sizeof link.path, "%s/link.db", p.folder);
    CHECK(symlink("store.db", link.path) == 0);
    CHECK_OK(convert(ctx, &link, NULL, one));
    CHECK(lstat(link.path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK_INT(store_kind(ctx, str_of(p.path)), STORE_ENCRYPTED);
    check_alone(ctx, &p);
    check_filled(ctx, &link, one, 5);
}

TEST(a_file_with_two_names_is_not_replaced)
{
    PLACE(p);
    str other = beside(ctx, &p, ".other");
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    CHECK(link(p.path, other.p) == 0);
    CHECK_STATUS(convert(ctx, &p, NULL, one), CONFLICT);
    CHECK(strstr(ctx->why, "hard link"));
    ctx_clear_failure(ctx);
    CHECK(unlink(other.p) == 0);
    CHECK_OK(convert(ctx, &p, NULL, one));
    check_filled(ctx, &p, one, 5);
}

TEST(a_copy_belongs_to_whom_the_old_one_belonged)
{
    PLACE(p);
    struct stat st;
    {
        STORE(s, p);
        fill(ctx, s, 5);
    }
    if (geteuid() != 0)
        return; /* nobody else can give a file away */
    CHECK(chown(p.path, 4711, 4712) == 0);
    CHECK_OK(convert(ctx, &p, NULL, one));
    CHECK(stat(p.path, &st) == 0);
    CHECK_INT(st.st_uid, 4711);
    CHECK_INT(st.st_gid, 4712);
}

/* --- the disk is full --- */

static double room = -1;

/* In front of the system's own. */
int statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    *out = (struct statvfs){.f_frsize = 4096,
                            .f_bavail = room < 0 ? 1 << 30 : (fsblkcnt_t)(room / 4096)};
    return 0;
}

TEST(a_disk_without_room_is_said_before_anything_is_done)
{
    PLACE(p);
    {
        STORE(s, p);
        fill(ctx, s, 50);
    }
    room = 1e6;
    CHECK_STATUS(convert(ctx, &p, NULL, one), TOO_LARGE);
    room = -1;
    CHECK(strstr(ctx->why, "1.0 MB free"));
    ctx_clear_failure(ctx);
    check_alone(ctx, &p);
    check_filled(ctx, &p, NULL, 50);
}

/* --- backups --- */

static enum status back_up(struct ctx *ctx, const struct place *p, const uint8_t *key, str to)
{
    struct store_copy copy = {.from = str_of(p->path), .from_key = key, .to = to, .to_key = key};
    return store_copy(ctx, &copy);
}

static enum status restore(struct ctx *ctx, const struct place *p, const uint8_t *key, str from)
{
    struct store_copy copy = {
        .from = from, .from_key = key, .to = str_of(p->path), .to_key = key, .replaces = true};
    return store_copy(ctx, &copy);
}

TEST(a_backup_is_made_while_the_store_is_used_and_brought_back)
{
    const uint8_t *keys[] = {NULL, one};
    for (size_t i = 0; i < 2; i++) {
        PLACE(p);
        str to = beside(ctx, &p, ".backup");
        {
            KEYED(s, p, keys[i]);
            fill(ctx, s, 50);
            CHECK_OK(back_up(ctx, &p, keys[i], to));
            struct message m = said("late", "user", "Ithaca again", 1);
            CHECK_OK(say(ctx, s, mine, "s2", &m));
        }
        CHECK_INT(store_kind(ctx, to), keys[i] ? STORE_ENCRYPTED : STORE_PLAIN);
        CHECK_STATUS(back_up(ctx, &p, keys[i], to), CONFLICT);
        ctx_clear_failure(ctx);
        CHECK(chmod(to.p, 0400) == 0);
        str whole = bytes_of_file(ctx, to.p);
        CHECK_OK(restore(ctx, &p, keys[i], to));
        check_filled(ctx, &p, keys[i], 50);
        CHECK(str_eq(whole, bytes_of_file(ctx, to.p)));
        CHECK(unlink(p.path) == 0);
        CHECK_OK(restore(ctx, &p, keys[i], to));
        check_filled(ctx, &p, keys[i], 50);
        check_alone(ctx, &p);
    }
}

TEST(a_backup_of_another_key_is_not_brought_back)
{
    PLACE(p);
    str to = beside(ctx, &p, ".backup");
    {
        KEYED(s, p, one);
        fill(ctx, s, 5);
    }
    CHECK_OK(back_up(ctx, &p, one, to));
    CHECK_OK(convert(ctx, &p, one, two));
    CHECK_STATUS(restore(ctx, &p, two, to), FORBIDDEN);
    ctx_clear_failure(ctx);
    check_filled(ctx, &p, two, 5);
    CHECK(unlink(p.path) == 0);
    CHECK_STATUS(restore(ctx, &p, two, to), FORBIDDEN);
    ctx_clear_failure(ctx);
    CHECK(!exists(str_of(p.path)));
}

TEST(a_damaged_backup_is_not_brought_back)
{
    PLACE(p);
    str to = beside(ctx, &p, ".backup");
    {
        STORE(s, p);
        fill(ctx, s, 50);
    }
    CHECK_OK(back_up(ctx, &p, NULL, to));
    sqlite3 *handle;
    CHECK_INT(sqlite3_open(to.p, &handle), SQLITE_OK);
    CHECK_INT(sqlite3_exec(handle, "DELETE FROM message WHERE id = 'm7'", NULL, NULL, NULL), 0);
    sqlite3_close(handle);
    CHECK_STATUS(restore(ctx, &p, NULL, to), STORAGE);
    CHECK(strstr(ctx->why, "damaged"));
    ctx_clear_failure(ctx);
    check_alone(ctx, &p);
    check_filled(ctx, &p, NULL, 50);
}
