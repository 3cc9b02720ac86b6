/* erase_words.c - erasing beside writers, readers and merges: no byte of it stays in the files. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

#include "lib/store.h"
#include "store/store.h"

/*
 * Words are "zq", a number in seven digits and "qz", at random places of the words index. The end
 * is there because a key of the index's pages is what a word begins with, and the page's number
 * comes behind it: two of its bytes may be digits, and look like a word that nobody wrote. Keys are
 * compared with the words that are there in check_keys. Pages of the
 * index are small here, so that few words are many pages, merges take many steps, and an erased
 * word is often the first of a page. In each round messages and memories are written, merges go on
 * while another user writes, and all that the round wrote is erased, one by one. Behind each
 * erasure the files are read, while others write and read.
 *
 * ROUNDS in the environment: more of it.
 */

enum { WORDS = 10000000, FILLED = 1500, PAGE = 200, EACH = 24, IN_CHAT = 6, MEANWHILE = 40 };

/* What all threads know. */
struct trial {
    struct store *store;
    char gone[WORDS]; /* by number: erased, and answered */
    atomic_int words, written;
    atomic_bool is_ending;
};

/* Neighbours in time are no neighbours in the index. */
static int next_word(struct trial *t)
{
    int n = atomic_fetch_add(&t->words, 1);
    CHECK(n < WORDS); /* no word twice */
    return (int)((int64_t)n * 6180339 % WORDS);
}

static struct message some_message(struct ctx *ctx, struct trial *t, int words)
{
    struct buf b = buf_make(&ctx->arena, 1000);
    for (int i = 0; i < words; i++)
        buf_printf(&b, "zq%07dqz ", next_word(t));
    str id = id_random(&ctx->arena);
    return (struct message){.id = id, .role = S("user"), .text = buf_str(&b), .created = 1000};
}

static void *write_on(void *arg)
{
    struct trial *t = arg;
    while (!atomic_load(&t->is_ending)) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct ctx *ctx = &own;
        struct message m = some_message(ctx, t, 12);
        CHECK_OK(say(ctx, t->store, other_user, "s", &m));
        atomic_fetch_add(&t->written, 1);
    }
    return NULL;
}

static void *read_on(void *arg)
{
    struct trial *t = arg;
    while (!atomic_load(&t->is_ending)) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct ctx *ctx = &own;
        struct message *v;
        size_t n;
        CHECK_OK(store_session_messages(ctx, t->store, mine, S("all"), 0, FILLED, &v, &n));
    }
    return NULL;
}

static void use_small_pages(const struct place *p)
{
    char sql[100];
    sqlite3 *db;
    snprintf(sql, sizeof sql, "INSERT INTO words(words, rank) VALUES('pgsz', %d)", PAGE);
    CHECK_INT(sqlite3_open(p->path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

static void fill(struct ctx *ctx, struct trial *t)
{
    struct message *v = NEW_N(&ctx->arena, struct message, FILLED);
    for (int i = 0; i < FILLED; i++)
        v[i] = some_message(ctx, t, 6);
    CHECK_OK(store_write(ctx, t->store,
                         &(struct bundle){.pool = mine,
                                          .session = {.id = S("all")},
                                          .messages = v,
                                          .n_messages = FILLED}));
}

/* What is around it, and of a log the frame's page: to see what wrote it. */
static const char *near(struct ctx *ctx, str bytes, size_t at)
{
    enum { AROUND = 150, LOG_HEAD = 32, FRAME_HEAD = 24, PAGE_BYTES = 4096 };
    struct buf b = buf_make(&ctx->arena, 4000);
    size_t frame = at < LOG_HEAD ? 0 : (at - LOG_HEAD) / (FRAME_HEAD + PAGE_BYTES);
    const unsigned char *head =
        (const unsigned char *)bytes.p + LOG_HEAD + frame * (FRAME_HEAD + PAGE_BYTES);
    buf_printf(&b, "frame %zu of page %u, ", frame, (head[2] << 8 | head[3]) + (head[1] << 16));
    for (size_t i = at < AROUND ? 0 : at - AROUND; i < at + AROUND && i < bytes.n; i++)
        buf_printf(&b, bytes.p[i] >= ' ' && bytes.p[i] <= '~' ? "%c" : "\\%02x",
                   (unsigned char)bytes.p[i]);
    return str_c(&ctx->arena, buf_str(&b));
}

/* No byte of what is erased. */
static void check_bytes(const struct place *p, const struct trial *t)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    const char *const paths[] = {p->path, str_printf(&ctx->arena, "%s-wal", p->path).p};
    for (int k = 0; k < 2; k++) {
        str bytes = bytes_of_file(ctx, paths[k]);
        for (size_t at = 0; at + 11 <= bytes.n; at++) {
            int64_t i;
            const char *z = memchr(bytes.p + at, 'z', bytes.n - at);
            at = z ? (size_t)(z - bytes.p) : bytes.n;
            if (at + 11 <= bytes.n && bytes.p[at + 1] == 'q' && bytes.p[at + 9] == 'q' &&
                bytes.p[at + 10] == 'z' && str_int(str_sub(bytes, at + 2, at + 9), &i) && i >= 0 &&
                t->gone[i])
                fail_msg("%s holds zq%07d, which is erased, at %zu: %s", paths[k], (int)i, at,
                         near(ctx, bytes, at));
        }
    }
}

static void forget(struct ctx *ctx, struct trial *t, str id)
{
    int64_t erased;
    CHECK_OK(store_forget(ctx, t->store, &(struct forget){.pool = mine, .id = id}, &erased));
}

static str chat_of(struct ctx *ctx, int i)
{
    return str_printf(&ctx->arena, "chat%d", i / IN_CHAT);
}

/* Each word is in a memory and in a message. */
static void write_words(struct ctx *ctx, struct trial *t, int *words)
{
    for (int i = 0; i < EACH; i++) {
        words[i] = next_word(t);
        str id = str_printf(&ctx->arena, "f%d", i);
        struct memory fact_of = fact(id.p, "", str_printf(&ctx->arena, "zq%07dqz", words[i]).p);
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i),
                            .text = fact_of.content,
                            .role = S("user"),
                            .created = 1000};
        CHECK_OK(keep(ctx, t->store, mine, PUT_IMPORT, &fact_of));
        CHECK_OK(say(ctx, t->store, mine, chat_of(ctx, i).p, &m));
    }
}

/* A key of the index's pages is what a word begins with. */
static void check_keys(const struct place *p)
{
    static const char of_no_word[] =
        "BEGIN;" /* others write */
        "CREATE TEMP TABLE word(term BLOB PRIMARY KEY) WITHOUT ROWID;"
        "INSERT OR IGNORE INTO word SELECT CAST('0' || term AS BLOB) FROM word_list;"
        "CREATE TEMP VIEW lost AS SELECT 1 FROM words_idx AS i WHERE i.term IS NOT"
        " (SELECT substr(w.term, 1, length(i.term)) FROM word AS w WHERE w.term >= i.term LIMIT 1)";
    sqlite3 *db;
    sqlite3_stmt *q;
    CHECK_INT(sqlite3_open(p->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, of_no_word, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    CHECK_INT(sqlite3_prepare_v2(db, "SELECT count(*) FROM lost", -1, &q, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(q), SQLITE_ROW);
    CHECK_INT(sqlite3_column_int(q, 0), 0);
    CHECK_INT(sqlite3_finalize(q), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

static void erase_round(const struct place *p, struct trial *t)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    int words[EACH];
    write_words(ctx, t, words);
    for (int until = atomic_load(&t->written) + MEANWHILE; atomic_load(&t->written) < until;)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < EACH; i++) {
        forget(ctx, t, str_printf(&ctx->arena, "f%d", i));
        if (i % IN_CHAT != IN_CHAT - 1)
            continue;
        forget(ctx, t, chat_of(ctx, i));
        for (int k = i - IN_CHAT + 1; k <= i; k++)
            t->gone[words[k]] = true;
        check_bytes(p, t);
    }
    check_keys(p);
}

static void run_rounds(struct ctx *ctx, const struct place *p, struct trial *t, int rounds)
{
    pthread_t writer, reader;
    STORE(s, *p);
    t->store = s;
    fill(ctx, t);
    CHECK_INT(pthread_create(&writer, NULL, write_on, t), 0);
    CHECK_INT(pthread_create(&reader, NULL, read_on, t), 0);
    for (int round = 0; round < rounds; round++)
        erase_round(p, t);
    atomic_store(&t->is_ending, true);
    CHECK_INT(pthread_join(writer, NULL), 0);
    CHECK_INT(pthread_join(reader, NULL), 0);
    check_healthy(ctx, s);
}

TEST(nothing_erased_stays_beside_writers_readers_and_merges)
{
    const char *rounds = getenv("ROUNDS");
    PLACE(p);
    struct trial *t = heap_alloc(sizeof *t);
    memset(t, 0, sizeof *t);
    {
        STORE(s, p);
    }
    use_small_pages(&p);
    run_rounds(ctx, &p, t, rounds ? (int)strtol(rounds, NULL, 10) : 3);
    check_bytes(&p, t);
    check_keys(&p);
    free(t);
}

/* --- a reader that began before --- */

struct erasing {
    struct store *store;
    atomic_bool is_done;
};

static void *erase_one(void *arg)
{
    struct erasing *e = arg;
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    int64_t erased;
    const struct forget what = {.pool = mine, .id = S("f1")};
    CHECK_OK(store_forget(ctx, e->store, &what, &erased));
    atomic_store(&e->is_done, true);
    return NULL;
}

/* It needs the erased row, in the file or in the log. */
TEST(an_erasure_is_answered_when_no_reader_needs_it_and_others_write)
{
    PLACE(p);
    STORE(s, p);
    pthread_t thread;
    sqlite3 *reader;
    struct erasing e = {.store = s};
    struct memory f = fact("f1", "", "zq000001");
    CHECK_OK(keep(ctx, s, mine, PUT_IMPORT, &f));
    CHECK_INT(sqlite3_open(p.path, &reader), SQLITE_OK);
    CHECK_INT(sqlite3_exec(reader, "BEGIN; SELECT * FROM memory", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(pthread_create(&thread, NULL, erase_one, &e), 0);
    for (int i = 0; i < 5; i++) {
        struct message m = {.id = str_printf(&ctx->arena, "m%d", i), .role = S("user")};
        m.text = S("walks after lunch");
        CHECK_OK(say(ctx, s, other_user, "s", &m));
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        CHECK(!atomic_load(&e.is_done));
    }
    CHECK_INT(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(reader), SQLITE_OK);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(!place_holds(ctx, &p, S("zq000001")));
}

/* --- a merge that is not complete --- */

static int int_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(q), SQLITE_ROW);
    int n = sqlite3_column_int(q, 0);
    CHECK_INT(sqlite3_finalize(q), SQLITE_OK);
    return n;
}

/* The first segment has one word, before all others, so that a step of the merge reads it to its
 * end, and the second segment's words are left. */
TEST(a_segment_that_a_merge_has_read_to_its_end_holds_no_erased_word)
{
    static const char merged[] =
        "CREATE VIRTUAL TABLE w USING fts5(t);"
        "INSERT INTO w(w, rank) VALUES('secure-delete', 1), ('pgsz', 64), ('automerge', 0);"
        "INSERT INTO w(rowid, t) VALUES(1, 'aazqonlyqz');"
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
        " INSERT INTO w(rowid, t) SELECT i, printf('mm%05dqz', i * 7919 % 99991) FROM n;"
        "INSERT INTO w(w, rank) VALUES('merge', -4);";
    static const char pages[] =
        "SELECT count(*) FROM w_data WHERE instr(block, CAST('aazqonly' AS BLOB))";
    sqlite3 *db;
    CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, merged, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    CHECK(int_of(db, "SELECT count(DISTINCT segid) FROM w_idx") > 1); /* it is not complete */
    CHECK(int_of(db, pages) > 0);
    CHECK_INT(sqlite3_exec(db, "DELETE FROM w WHERE rowid = 1", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(int_of(db, pages), 0);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}
