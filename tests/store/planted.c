/* planted.c - a thousand sentences are looked for in every byte that reaches the disk. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/store.h"

enum { PLANTED = 1000, VECTORS = 100, WORD = 16, FLOATS = 16, HASHED = 1 << 14 };

static const uint8_t key[STORE_KEY_BYTES] = {9, 9, 9}, other_key[STORE_KEY_BYTES] = {8, 8};
static const struct vector_set vectors = {.signature = {"test:a:16", 9}, .dimensions = FLOATS};

/*
 * What is looked for: of each sentence a word of 16 letters that stands nowhere else, and of each
 * vector its first 16 bytes. The word also stands in the words index.
 */
static char needles[PLANTED + VECTORS][WORD + 1];
static int16_t first[HASHED], next[PLANTED + VECTORS]; /* by their first four bytes; from 1 */
static bool seen[PLANTED + VECTORS], is_watching;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Bytes are looked at under a lock, one by one through megabytes, which takes ThreadSanitizer a
 * minute. */
#define UNCHECKED __attribute__((no_sanitize("thread")))
UNCHECKED static unsigned hash_of(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return (v * 2654435761u) >> 18;
}

static void add_needle(int i)
{
    unsigned h = hash_of(needles[i]);
    next[i] = first[h];
    first[h] = (int16_t)(i + 1);
}

static const char *word(int i)
{
    return needles[i];
}

static void make_words(void)
{
    memset(first, 0, sizeof first);
    for (int i = 0; i < PLANTED; i++) {
        uint64_t x = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
        for (int k = 0; k < WORD; k++, x = x * 6364136223846793005u + 1442695040888963407u)
            needles[i][k] = "bcdfghjklmnpqrtvwxz"[(x >> 40) % 19];
        add_needle(i);
    }
}

/* As memcmp, of which ThreadSanitizer has its own. */
UNCHECKED static bool is_word(const char *word, const char *p)
{
    int n = 0;
    while (n < WORD && word[n] == p[n])
        n++;
    return n == WORD;
}

UNCHECKED static void look_at(const char *p, size_t n)
{
    pthread_mutex_lock(&lock);
    for (size_t at = 0; at + WORD <= n; at++)
        for (int i = first[hash_of(p + at)]; i; i = next[i - 1])
            seen[i - 1] |= is_word(needles[i - 1], p + at);
    pthread_mutex_unlock(&lock);
}

static int count_seen(int from, int to)
{
    int n = 0;
    for (int i = from; i < to; i++)
        n += seen[i];
    memset(seen + from, 0, sizeof *seen * (size_t)(to - from));
    return n;
}

/* --- where is looked --- */

static void look_at_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        fail_msg("%s cannot be read", path);
    char *bytes = heap_alloc((size_t)st.st_size + 1);
    CHECK(read(fd, bytes, (size_t)st.st_size) == st.st_size);
    look_at(bytes, (size_t)st.st_size);
    free(bytes);
    close(fd);
}

/* Every file there is; their names, in the order of the folder. */
static str look_at_folder(struct ctx *ctx, const struct place *p)
{
    str names = S("");
    DIR *dir = opendir(p->folder);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (*entry->d_name == '.')
            continue;
        look_at_file(str_printf(&ctx->arena, "%s/%s", p->folder, entry->d_name).p);
        names = str_printf(&ctx->arena, S_FMT " %s", S_ARG(names), entry->d_name);
    }
    closedir(dir);
    return names;
}

/* Temporary files lose their names when they are made, so what SQLite writes is looked at on its
 * way to the disk. */
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);

static ssize_t watch_pwrite(int fd, const void *p, size_t n, off_t at)
{
    if (is_watching)
        look_at(p, n);
    return real_pwrite(fd, p, n, at);
}

static ssize_t watch_write(int fd, const void *p, size_t n)
{
    if (is_watching)
        look_at(p, n);
    return real_write(fd, p, n);
}

static void watch_writes(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    const char *const wide[] = {"pwrite", "pwrite64"};
    is_watching = true;
    if (real_write)
        return;
    real_write = (ssize_t(*)(int, const void *, size_t))vfs->xGetSystemCall(vfs, "write");
    CHECK_INT(vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)watch_write), SQLITE_OK);
    for (size_t i = 0; i < 2; i++) {
        sqlite3_syscall_ptr real = vfs->xGetSystemCall(vfs, wide[i]);
        if (!real)
            continue;
        real_pwrite = (ssize_t(*)(int, const void *, size_t, off_t))real;
        CHECK_INT(vfs->xSetSystemCall(vfs, wide[i], (sqlite3_syscall_ptr)watch_pwrite), SQLITE_OK);
    }
}

/* --- planting --- */

static str sentence(struct ctx *ctx, int i)
{
    return str_printf(&ctx->arena, "The word %s is a secret of Ithaca", word(i));
}

static void plant_message(struct ctx *ctx, struct store *s, int i)
{
    struct message m = {.id = str_printf(&ctx->arena, "m%d", i),
                        .role = S("user"),
                        .text = sentence(ctx, i)};
    CHECK_OK(say(ctx, s, mine, "s1", &m));
}

static void plant_memory(struct ctx *ctx, struct store *s, int i)
{
    struct memory f = fact(str_printf(&ctx->arena, "f%d", i).p, "", sentence(ctx, i).p);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
}

static void plant_metadata(struct ctx *ctx, struct store *s, int i)
{
    struct memory f = fact(str_printf(&ctx->arena, "f%d", i).p, "", "says little");
    f.metadata = str_printf(&ctx->arena, "{\"note\":\"%s\"}", sentence(ctx, i).p);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
}

static void plant_key(struct ctx *ctx, struct store *s, int i)
{
    struct memory f =
        fact(str_printf(&ctx->arena, "f%d", i).p, sentence(ctx, i).p, "says little, too");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
}

static void plant_setting(struct ctx *ctx, struct store *s, int i)
{
    CHECK_OK(store_put_setting(ctx, s, str_printf(&ctx->arena, "name%d", i), sentence(ctx, i)));
}

static void plant_receipt(struct ctx *ctx, struct store *s, int i)
{
    struct receipt r = {.id = str_printf(&ctx->arena, "r%d", i),
                        .question = S("what?"),
                        .block = sentence(ctx, i),
                        .created = 1700000000000};
    struct bundle b = {.pool = mine, .receipt = &r};
    CHECK_OK(store_write(ctx, s, &b));
}

static void plant_title(struct ctx *ctx, struct store *s, int i)
{
    struct message m = {.id = str_printf(&ctx->arena, "m%d", i),
                        .role = S("user"),
                        .text = S("hello")};
    struct bundle b = {.pool = mine,
                       .session = {.id = str_printf(&ctx->arena, "s%d", i),
                                   .title = sentence(ctx, i)},
                       .messages = &m,
                       .n_messages = 1};
    CHECK_OK(store_write(ctx, s, &b));
}

static void plant_vectors(struct ctx *ctx, struct store *s)
{
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, NULL, VECTORS, &v, &n));
    CHECK_INT(n, VECTORS);
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++) {
        float *floats = direction(ctx, 1000 + i, FLOATS);
        put[i] = (struct vector_put){v[i].no, v[i].doc, floats, 0};
        memcpy(needles[PLANTED + i], floats, WORD);
        add_needle(PLANTED + (int)i);
    }
    CHECK_OK(store_put_vectors(ctx, s, vectors.signature, put, n));
}

static void plant_all(struct ctx *ctx, struct store *s)
{
    static void (*const kinds[])(struct ctx *, struct store *, int) = {
        plant_message, plant_memory,  plant_metadata, plant_key,
        plant_setting, plant_receipt, plant_title,
    };
    CHECK_OK(store_begin_vectors(ctx, s, &vectors, false));
    for (int i = 0; i < PLANTED; i++)
        kinds[i % (int)(sizeof kinds / sizeof *kinds)](ctx, s, i);
    plant_vectors(ctx, s);
}

static enum status open_with(struct ctx *ctx, const struct place *p, const uint8_t *with,
                             struct store **out)
{
    return store_open(ctx, &(struct store_settings){.path = str_of(p->path), .key = with}, out);
}

/* In a process of its own, which is killed with its log full. What it saw it says by its own end:
 * the parent has no part in its memory. */
static void plant_and_die(struct ctx *ctx, const struct place *p, const uint8_t *with, int want)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct store *s;
        watch_writes();
        if (open_with(ctx, p, with, &s) != OK)
            _exit(2);
        plant_all(ctx, s);
        if (count_seen(0, PLANTED + VECTORS) != want)
            _exit(3);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (int i = 0; i < VECTORS; i++) {
        memcpy(needles[PLANTED + i], direction(ctx, 1000 + (uint64_t)i, FLOATS), WORD);
        add_needle(PLANTED + i);
    }
}

static void check_seen(struct ctx *ctx, const struct place *p, int sentences, int of_vectors)
{
    str names = look_at_folder(ctx, p);
    int a = count_seen(0, PLANTED), b = count_seen(PLANTED, PLANTED + VECTORS);
    if (a != sentences || b != of_vectors)
        fail_msg("%d sentences and %d vectors are in" S_FMT, a, b, S_ARG(names));
}

/* --- what is found --- */

TEST(a_plain_store_shows_every_sentence)
{
    PLACE(p);
    make_words();
    plant_and_die(ctx, &p, NULL, PLANTED + VECTORS);
    check_seen(ctx, &p, PLANTED, VECTORS); /* the log */
    {
        STORE(s, p);
        check_healthy(ctx, s);
    }
    check_seen(ctx, &p, PLANTED, VECTORS); /* the file */
}

TEST(an_encrypted_store_shows_none)
{
    PLACE(p);
    make_words();
    plant_and_die(ctx, &p, key, 0);
    CHECK(access(str_printf(&ctx->arena, "%s-wal", p.path).p, F_OK) == 0);
    CHECK(access(str_printf(&ctx->arena, "%s-shm", p.path).p, F_OK) == 0);
    check_seen(ctx, &p, 0, 0);
    watch_writes();
    {
        struct store *s;
        struct receipt r;
        CHECK_OK(open_with(ctx, &p, key, &s));
        check_seen(ctx, &p, 0, 0);
        CHECK_INT(find(ctx, s, mine, word(0)).n, 1); /* it is all there */
        CHECK_OK(store_receipt(ctx, s, mine, S("r5"), &r));
        CHECK_STR(r.block, sentence(ctx, 5));
        check_healthy(ctx, s);
        store_close(s);
    }
    check_seen(ctx, &p, 0, 0);
    struct store_copy backup = {.from = str_of(p.path),
                                .from_key = key,
                                .to = str_printf(&ctx->arena, "%s/backup", p.folder),
                                .to_key = key};
    CHECK_OK(store_copy(ctx, &backup));
    is_watching = false;
    CHECK_INT(count_seen(0, PLANTED + VECTORS), 0); /* on their way */
    check_seen(ctx, &p, 0, 0);
}

/* Sorts and statements that are undone write temporary files, where they are allowed to. */
TEST(temporary_files_show_none)
{
    PLACE(p);
    make_words();
    plant_and_die(ctx, &p, key, 0);
    struct store *s;
    CHECK_OK(open_with(ctx, &p, key, &s));
    watch_writes();
    struct message again[64];
    for (int i = 0; i < 64; i++)
        again[i] = (struct message){.id = str_printf(&ctx->arena, "again%d", i),
                                    .role = S("user"),
                                    .text = sentence(ctx, i)};
    struct memory broken = fact("broken", "k", sentence(ctx, 3).p);
    broken.metadata = S("{broken");
    struct bundle fails = {.pool = mine,
                           .session = {.id = S("s9")},
                           .messages = again,
                           .n_messages = 64,
                           .memories = &broken,
                           .n_memories = 1,
                           .rule = PUT_REPLACE};
    (void)!store_write(ctx, s, &fails);
    ctx_clear_failure(ctx);
    struct memory *listed;
    size_t n;
    int64_t total, erased;
    struct memory_filter all = {.pool = mine, .contains = S("ithaca"), .limit = 500};
    CHECK_OK(store_list_memories(ctx, s, &all, &listed, &n, &total));
    CHECK(n > 100);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &erased));
    store_close(s);
    is_watching = false;
    CHECK_INT(count_seen(0, PLANTED + VECTORS), 0);
    check_seen(ctx, &p, 0, 0);
}

/* --- on the way from one to the other --- */

struct looker {
    struct ctx *ctx;
    const struct place *p;
    int64_t looks;
    bool dies;
};

/* The part is looked at whenever there is news; the old file says what it says. */
static void look_at_part(void *own, const char *what, int64_t done, int64_t all)
{
    struct looker *l = own;
    str part = str_printf(&l->ctx->arena, "%s.new", l->p->path);
    (void)all;
    if (access(part.p, F_OK) == 0)
        look_at_file(part.p);
    l->looks++;
    if (l->dies && !strcmp(what, "checking") && !done)
        raise(SIGKILL);
}

static enum status convert(struct ctx *ctx, const struct place *p, const uint8_t *from,
                           const uint8_t *to, bool dies, int64_t *looks)
{
    struct looker l = {ctx, p, 0, dies};
    struct store_copy copy = {.from = str_of(p->path),
                              .from_key = from,
                              .to = str_of(p->path),
                              .to_key = to,
                              .replaces = true,
                              .progress = look_at_part,
                              .own = &l};
    enum status status = store_copy(ctx, &copy);
    *looks = l.looks;
    return status;
}

TEST(what_is_encrypted_shows_none_from_its_first_byte_on)
{
    PLACE(p);
    int64_t looks;
    make_words();
    plant_and_die(ctx, &p, NULL, PLANTED + VECTORS);
    CHECK_OK(convert(ctx, &p, NULL, key, false, &looks));
    CHECK(looks > 3);
    CHECK_INT(count_seen(0, PLANTED + VECTORS), 0); /* the part */
    check_seen(ctx, &p, 0, 0);
    watch_writes();
    CHECK_OK(convert(ctx, &p, key, other_key, false, &looks));
    is_watching = false;
    check_seen(ctx, &p, 0, 0);
    CHECK_OK(convert(ctx, &p, other_key, NULL, false, &looks));
    CHECK_INT(count_seen(0, PLANTED), PLANTED); /* the part */
    check_seen(ctx, &p, PLANTED, VECTORS);
}

static void convert_and_die(struct ctx *ctx, const struct place *p, const uint8_t *from,
                            const uint8_t *to)
{
    int status;
    int64_t looks;
    pid_t child = fork();
    if (child == 0) {
        (void)!convert(ctx, p, from, to, true, &looks);
        _exit(2);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(access(str_printf(&ctx->arena, "%s.new", p->path).p, F_OK) == 0);
}

TEST(a_change_of_keys_that_is_killed_shows_none)
{
    PLACE(p);
    make_words();
    plant_and_die(ctx, &p, key, 0);
    convert_and_die(ctx, &p, key, other_key);
    check_seen(ctx, &p, 0, 0);
}

/* The half-made plain copy goes when the store is opened next. */
TEST(a_decryption_that_is_killed_leaves_nothing_for_long)
{
    PLACE(p);
    struct store *s;
    make_words();
    plant_and_die(ctx, &p, key, 0);
    convert_and_die(ctx, &p, key, NULL);
    check_seen(ctx, &p, PLANTED, VECTORS);
    CHECK_OK(open_with(ctx, &p, key, &s));
    check_seen(ctx, &p, 0, 0);
    store_close(s);
}
