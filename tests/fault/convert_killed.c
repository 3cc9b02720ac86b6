/* convert_killed.c - a store is encrypted, decrypted, rekeyed or restored, and on the way the
 * process is killed or the disk is full: there is the old store or the new one, whole. An opening
 * that upgrades or erases again is killed: nothing is lost, and a log that is lost then is told. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/backup_file.h"
#include "lib/damage.h"
#include "store/sql/db/schema.h"
#include "store/store.h"

enum { MESSAGES = 400, TIMED = 30 / FAULT_STEP, STRIDE = 9 * FAULT_STEP };

static const uint8_t one[STORE_KEY_BYTES] = {1}, two[STORE_KEY_BYTES] = {2};

/* Where the child dies: at a write of SQLite's, at a word of progress, or nowhere. */
static int writes_left = -1, words_left = -1;
/* After so many writes the disk is full; -1: never. */
static int room_left = -1;

static bool is_full(void)
{
    if (room_left < 0 || room_left-- > 0)
        return false;
    room_left = 0;
    errno = ENOSPC;
    return true;
}

static void count_down(int *left)
{
    if (*left >= 0 && (*left)-- == 0)
        raise(SIGKILL);
}

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);

static ssize_t counted_pwrite(int fd, const void *p, size_t n, off_t at)
{
    count_down(&writes_left);
    return is_full() ? -1 : real_pwrite(fd, p, n, at);
}

static ssize_t counted_write(int fd, const void *p, size_t n)
{
    count_down(&writes_left);
    return is_full() ? -1 : real_write(fd, p, n);
}

static void count_writes(void)
{
    static const char *const names[] = {"pwrite", "pwrite64"};
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    if (real_write)
        return;
    real_write = (ssize_t(*)(int, const void *, size_t))vfs->xGetSystemCall(vfs, "write");
    vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)counted_write);
    for (size_t i = 0; i < 2; i++) {
        sqlite3_syscall_ptr real = vfs->xGetSystemCall(vfs, names[i]);
        if (!real)
            continue;
        real_pwrite = (ssize_t(*)(int, const void *, size_t, off_t))real;
        vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)counted_pwrite);
    }
}

static void count_words(void *own, const char *what, int64_t done, int64_t all)
{
    (void)own, (void)what, (void)done, (void)all;
    count_down(&words_left);
}

/* --- a store with a log, as a killed server leaves it --- */

struct scene {
    const char *name;
    const uint8_t *before, *after;
    bool is_restore; /* of a backup with one message more */
};

static void fill(struct ctx *ctx, struct store *s, int from, int to)
{
    for (int i = from; i < to; i += 8) {
        struct message m[8];
        int n = 0;
        for (; n < 8 && i + n < to; n++)
            m[n] = (struct message){.id = str_printf(&ctx->arena, "m%d", i + n),
                                    .role = S("user"),
                                    .text = str_printf(&ctx->arena, "Ithaca says %d", i + n)};
        struct bundle b = {.pool = mine,
                           .session = {.id = S("s1")},
                           .messages = m,
                           .n_messages = (size_t)n};
        if (store_write(ctx, s, &b) != OK)
            _exit(3);
    }
}

static void wait_for_kill(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void make_store(struct ctx *ctx, str path, const uint8_t *key, int n)
{
    struct store_settings settings = {.path = path, .key = key};
    pid_t child = fork();
    if (child == 0) {
        struct store *s;
        if (store_open(ctx, &settings, &s) != OK)
            _exit(2);
        fill(ctx, s, 0, n);
        raise(SIGKILL);
    }
    wait_for_kill(child);
}

static void copy_file(struct ctx *ctx, const char *from, const char *to, const char *end)
{
    char piece[1 << 16];
    ssize_t n;
    str target = str_printf(&ctx->arena, "%s%s", to, end);
    int in = open(str_printf(&ctx->arena, "%s%s", from, end).p, O_RDONLY), out;
    unlink(target.p);
    if (in < 0)
        return;
    out = open(target.p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while ((n = read(in, piece, sizeof piece)) > 0)
        CHECK(write(out, piece, (size_t)n) == n);
    close(in);
    close(out);
}

/* The store of the beginning, log and all. */
static void set_up(struct ctx *ctx, const struct place *p)
{
    static const char *const ends[] = {"",     "-wal",     "-journal", "-commits",
                                       ".new", ".new-wal", ".new-shm", ".new-commits"};
    str original = str_printf(&ctx->arena, "%s/original", p->folder);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        copy_file(ctx, original.p, p->path, ends[i]);
    unlink(str_printf(&ctx->arena, "%s-shm", p->path).p);
}

static enum status run_scene(struct ctx *ctx, const struct place *p, const struct scene *s)
{
    struct store_copy copy = {.from = s->is_restore
                                          ? str_printf(&ctx->arena, "%s/backup", p->folder)
                                          : str_of(p->path),
                              .from_key = s->before,
                              .to = str_of(p->path),
                              .to_key = s->after,
                              .replaces = true,
                              .progress = count_words};
    return store_copy(ctx, &copy);
}

/* True when it came to its end. */
static bool run_child(struct ctx *ctx, const struct place *p, const struct scene *s, int writes,
                      int words, useconds_t us)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        count_writes();
        writes_left = writes;
        words_left = words;
        _exit(run_scene(ctx, p, s) == OK ? 0 : 4);
    }
    if (us) {
        usleep(us); /* any moment will do */
        kill(child, SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status))
        CHECK_INT(WEXITSTATUS(status), 0);
    else
        CHECK_INT(WTERMSIG(status), SIGKILL);
    return WIFEXITED(status);
}

/* One of both, and all of it. */
static void check_whole(const struct place *p, const struct scene *s, bool came_to_its_end,
                        int *olds, int *news)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    struct store_settings before = {.path = str_of(p->path), .key = s->before},
                          after = {.path = str_of(p->path), .key = s->after};
    struct store *store = NULL;
    bool is_old = store_open(ctx, &before, &store) == OK;
    ctx_clear_failure(ctx);
    if (!is_old)
        CHECK_OK(store_open(ctx, &after, &store));
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, store, &stats));
    if (s->is_restore)
        is_old = stats.messages == MESSAGES;
    CHECK_INT(stats.messages, MESSAGES + (s->is_restore && !is_old));
    CHECK(!came_to_its_end || !is_old);
    CHECK_INT(find(ctx, store, mine, "ithaca").n, stats.messages);
    check_healthy(ctx, store);
    /* It is written to as ever, and what a killed one left is gone. */
    struct message m = said("after", "user", "Calypso", 1);
    CHECK_OK(say(ctx, store, mine, "s2", &m));
    store_close(store);
    CHECK(access(str_printf(&ctx->arena, "%s.new", p->path).p, F_OK) != 0);
    *(is_old ? olds : news) += 1;
}

static void kill_everywhere(struct ctx *ctx, const struct scene *s)
{
    PLACE(p);
    int olds = 0, news = 0, runs = 0;
    unsigned random = (unsigned)clock_mono_us();
    make_store(ctx, str_printf(&ctx->arena, "%s/original", p.folder), s->before, MESSAGES);
    if (s->is_restore)
        make_store(ctx, str_printf(&ctx->arena, "%s/backup", p.folder), s->before, MESSAGES + 1);
    for (int kind = 0; kind < 2; kind++) {
        bool done = false;
        for (int n = 0; !done; n += kind ? 1 : STRIDE, runs++) {
            set_up(ctx, &p);
            done = run_child(ctx, &p, s, kind ? -1 : n, kind ? n : -1, 0);
            check_whole(&p, s, done, &olds, &news);
        }
    }
    for (int i = 0; i < TIMED; i++, runs++) {
        set_up(ctx, &p);
        bool done = run_child(ctx, &p, s, -1, -1, 1 + (useconds_t)(rand_r(&random) % 150000));
        check_whole(&p, s, done, &olds, &news);
    }
    printf("%s: %d runs, %d times the old store and %d times the new one\n", s->name, runs, olds,
           news);
    CHECK(olds > 10 && news > 1);
}

TEST(encrypting_is_killed)
{
    kill_everywhere(ctx, &(struct scene){"encrypt", NULL, one, false});
}

TEST(changing_the_key_is_killed)
{
    kill_everywhere(ctx, &(struct scene){"rekey", one, two, false});
}

TEST(decrypting_is_killed)
{
    kill_everywhere(ctx, &(struct scene){"decrypt", one, NULL, false});
}

TEST(restoring_is_killed)
{
    kill_everywhere(ctx, &(struct scene){"restore", one, one, true});
}

/* --- an older store beside the log of erasures --- */

static bool keeps_old;            /* a copy of the older version */
static const uint8_t *key_of_old; /* NULL: it is plain */

static enum status open_older(struct ctx *ctx, const struct place *p, struct store **out)
{
    struct store_settings settings = {.path = str_of(p->path),
                                      .key = key_of_old,
                                      .keeps_old = keeps_old,
                                      .erasures =
                                          str_printf(&ctx->arena, "%s/erasures", p->folder)};
    return store_open(ctx, &settings, out);
}

/* Behind it, the store of the beginning lacks an erasure. */
static void erase_one(struct ctx *ctx, const struct place *p)
{
    struct store *s;
    int64_t erased;
    set_up(ctx, p);
    CHECK_OK(open_older(ctx, p, &s));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m7")}, &erased));
    store_close(s);
}

/* True when it came to its end. */
static bool kill_opening(struct ctx *ctx, const struct place *p, int writes)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct store *s;
        count_writes();
        writes_left = writes;
        _exit(open_older(ctx, p, &s) == OK ? 0 : 4);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFEXITED(status);
}

TEST(an_opening_that_erases_again_is_killed_and_its_log_is_lost)
{
    PLACE(p);
    struct store *s;
    int told = 0, whole = 0;
    struct store_settings original = {.path = str_printf(&ctx->arena, "%s/original", p.folder)};
    make_store(ctx, original.path, NULL, MESSAGES);
    CHECK_OK(store_open(ctx, &original, &s));
    store_close(s);
    erase_one(ctx, &p);
    for (bool done = false; !done;) {
        set_up(ctx, &p);
        done = kill_opening(ctx, &p, told + whole);
        unlink(str_printf(&ctx->arena, "%s-wal", p.path).p);
        enum status status = open_older(ctx, &p, &s);
        if (soft_if(ctx, status, STORAGE)) {
            told++;
            continue;
        }
        CHECK_OK(status);
        CHECK_INT(find(ctx, s, mine, "ithaca").n, MESSAGES - 1);
        check_healthy(ctx, s);
        store_close(s);
        whole++;
    }
    printf("%d openings: %d losses told\n", told + whole, told);
    CHECK(told > 0 && whole > 0);
}

/* Whole copies of the old version, at most so many, and nothing of one that was killed. */
static void check_copy(struct ctx *ctx, const struct place *p, int64_t version, size_t most)
{
    struct backup_file *v;
    size_t n;
    CHECK_OK(backup_files(ctx, str_of(p->folder), S("store"), &v, &n));
    CHECK(n >= 1 && n <= most);
    for (size_t i = 0; i < n; i++)
        CHECK_INT(v[i].schema, version);
    str part = str_printf(&ctx->arena, "%s/*.new*", p->folder);
    glob_t parts;
    CHECK_INT(glob(part.p, 0, NULL, &parts), GLOB_NOMATCH);
}

static int kill_upgrades(struct ctx *ctx, int stride)
{
    int n = 0;
    for (bool done = false; !done; n += stride) {
        PLACE(p);
        struct store_stats stats;
        write_old_store(ctx, p.path, NULL);
        done = kill_opening(ctx, &p, n);
        struct store *s;
        CHECK_OK(open_older(ctx, &p, &s));
        CHECK_OK(store_stats(ctx, s, &stats));
        CHECK_INT(stats.memories, OLD_MEMORIES);
        CHECK_INT(stats.messages, OLD_MESSAGES);
        check_healthy(ctx, s);
        store_close(s);
        if (keeps_old)
            check_copy(ctx, &p, OLD_SCHEMA, 1);
    }
    printf("%d writes\n", n);
    return n;
}

TEST(an_upgrade_is_killed_at_each_write)
{
    CHECK(kill_upgrades(ctx, FAULT_STEP) > 10);
}

TEST(an_upgrade_with_a_copy_is_killed)
{
    keeps_old = true;
    CHECK(kill_upgrades(ctx, 5 * FAULT_STEP) > 10);
    keeps_old = false;
}

/* True when it was killed. Behind it everything is there, and a copy of the old version, too. */
static bool kill_upgrade_from(int64_t version, int writes)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    struct store *s;
    PLACE(p);
    write_version(ctx, p.path, key_of_old, version);
    bool was_killed = !kill_opening(ctx, &p, writes);
    CHECK_OK(open_older(ctx, &p, &s));
    check_version(ctx, s);
    store_close(s);
    /* A version that did not count its commits cannot know its copy again. */
    check_copy(ctx, &p, version, 2);
    return was_killed;
}

/* At a moment that is another one in each run; ROUNDS says how often. */
TEST(an_upgrade_from_each_version_is_killed)
{
    enum { MOMENTS = 180 };
    const char *asked = getenv("ROUNDS");
    unsigned random = (unsigned)clock_mono_us();
    int killed = 0, n = 0;
    int64_t rounds = 2;
    CHECK(!asked || str_int(str_of(asked), &rounds));
    keeps_old = true;
    for (int round = 0; round < rounds; round++)
        for (int64_t version = FIRST_SCHEMA; version < schema_version(); version++, n++) {
            key_of_old = round % 2 ? one : NULL;
            killed += kill_upgrade_from(version, rand_r(&random) % MOMENTS);
        }
    keeps_old = false;
    key_of_old = NULL;
    printf("%d of %d upgrades were killed\n", killed, n);
    CHECK(killed > n / 3);
}

/* The log stays where it is: a checkpoint that nobody was told of could be killed. */
TEST(a_backup_of_what_a_killed_server_left_changes_nothing)
{
    PLACE(p);
    str log = str_printf(&ctx->arena, "%s-wal", p.path);
    struct store_copy copy = {.from = str_of(p.path),
                              .to = str_printf(&ctx->arena, "%s/backup", p.folder)};
    make_store(ctx, copy.from, NULL, MESSAGES);
    str before = bytes_of_file(ctx, p.path), log_before = bytes_of_file(ctx, log.p);
    CHECK_OK(store_copy(ctx, &copy));
    CHECK(log_before.n && str_eq(log_before, bytes_of_file(ctx, log.p)));
    CHECK(str_eq(before, bytes_of_file(ctx, p.path)));
}

/* The failure is reported, and the old store goes on. */
static void fill_everywhere(struct ctx *ctx, const struct scene *s)
{
    PLACE(p);
    int olds = 0, news = 0;
    make_store(ctx, str_printf(&ctx->arena, "%s/original", p.folder), s->before, MESSAGES);
    count_writes();
    bool done = false;
    for (int n = 0; !done; n += STRIDE) {
        CLEANUP(ctx_free) struct ctx own = {0};
        set_up(ctx, &p);
        room_left = n;
        enum status status = run_scene(&own, &p, s);
        room_left = -1;
        done = status == OK;
        CHECK(done || (status == STORAGE && own.why[0]));
        CHECK(access(str_printf(&ctx->arena, "%s.new", p.path).p, F_OK) != 0);
        check_whole(&p, s, done, &olds, &news);
    }
    CHECK(olds > 10 / FAULT_STEP);
    CHECK_INT(news, 1);
}

TEST(the_disk_is_full_on_the_way)
{
    fill_everywhere(ctx, &(struct scene){"encrypt", NULL, one, false});
    fill_everywhere(ctx, &(struct scene){"rekey", one, two, false});
    fill_everywhere(ctx, &(struct scene){"decrypt", one, NULL, false});
}
