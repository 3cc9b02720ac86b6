/* store.c - a fresh store for a test, and the few things that every test writes and asks. */
#define _XOPEN_SOURCE 700
#include "lib/store.h"
#include "store/sql/db/db.h"
#include "words/words.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

const struct pool_ref mine = {{"anna", 4}, {"default", 7}};
const struct pool_ref other_space = {{"anna", 4}, {"work", 4}};
const struct pool_ref other_user = {{"ben", 3}, {"default", 7}};

static int remove_one(const char *path, __attribute__((unused)) const struct stat *st,
                      __attribute__((unused)) int kind, __attribute__((unused)) struct FTW *at)
{
    return remove(path);
}

void place_end(struct place *p)
{
    nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

bool is_on_postgres(void)
{
    return getenv("TEST_STORE") != NULL;
}

struct place place_begin(void)
{
    struct place p = {.folder = "/tmp/rememberd-test-XXXXXX"};
    if (!mkdtemp(p.folder))
        abort();
    snprintf(p.path, sizeof p.path, "%s/store.db", p.folder);
    const char *url = getenv("TEST_STORE");
    static int places;
    if (is_on_postgres())
        snprintf(p.path, sizeof p.path, "%s&schema=t%d_%d", url, (int)getpid(), places++);
    return p;
}

void store_closep(struct store **s)
{
    store_close(*s);
}

struct message said(const char *id, const char *role, const char *text, int64_t created)
{
    return (struct message){.id = str_of(id),
                            .role = str_of(role),
                            .text = str_of(text),
                            .created = created};
}

struct memory fact(const char *id, const char *key, const char *content)
{
    return (struct memory){.id = str_of(id),
                           .key = str_of(key),
                           .content = str_of(content),
                           .importance = 0.5,
                           .created = 1700000000000};
}

enum status say(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session,
                struct message *m)
{
    struct bundle b = {.pool = pool,
                       .session = {.id = str_of(session)},
                       .messages = m,
                       .n_messages = 1};
    return store_write(ctx, s, &b);
}

enum status keep(struct ctx *ctx, struct store *s, struct pool_ref pool, enum put_rule rule,
                 struct memory *m)
{
    struct bundle b = {.pool = pool, .memories = m, .n_memories = 1, .rule = rule};
    return store_write(ctx, s, &b);
}

enum status condense_to(struct ctx *ctx, struct store *s, struct pool_ref pool,
                        struct memory *summary, const str *ids, size_t n)
{
    struct condensing one = {*summary, ids, n};
    TRY(store_condense(ctx, s, pool, &one, 1));
    *summary = one.summary;
    return OK;
}

void write_session(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session,
                   const char *const *texts, int64_t created)
{
    struct message v[64];
    struct bundle b = {.pool = pool, .session = {.id = str_of(session)}, .messages = v};
    for (size_t i = 0; texts[i]; i++) {
        CHECK(i < sizeof v / sizeof *v);
        str id = str_printf(&ctx->arena, "%s-m%zu", session, i + 1);
        v[b.n_messages++] = said(id.p, i % 2 ? "assistant" : "user", texts[i], created);
    }
    CHECK_OK(store_write(ctx, s, &b));
}

struct word_hits find(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *text)
{
    struct word_hits hits = {0};
    struct words words = words_of(&ctx->arena, str_of(text), QUERY_WORDS_MAX);
    str stems[QUERY_WORDS_MAX];
    for (size_t i = 0; i < words.n; i++)
        stems[i] = words.v[i].stem;
    CHECK_OK(store_search_words(ctx, s, pool, stems, words.n, false, 1000, &hits));
    return hits;
}

void check_healthy(struct ctx *ctx, struct store *s)
{
    str findings;
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
}

float *direction(struct ctx *ctx, uint64_t seed, size_t n)
{
    float *v = NEW_N(&ctx->arena, float, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = 0;
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            x += (double)(seed >> 40) / (1 << 24) - 0.5;
        }
        v[i] = (float)x;
        sum += x * x;
    }
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(v[i] / sqrt(sum));
    return v;
}

str bytes_of_file(struct ctx *ctx, const char *path)
{
    struct buf b = buf_make(&ctx->arena, 64 << 20);
    char piece[1 << 16];
    ssize_t n;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return (str){0};
    while ((n = read(fd, piece, sizeof piece)) > 0)
        buf_add(&b, (str){piece, (size_t)n});
    close(fd);
    CHECK_INT(n, 0);
    return str_dup(&ctx->arena, buf_str(&b));
}

/* --- another connection --- */

struct beside {
    struct db db;
};

struct beside *beside_open(struct ctx *ctx, const struct place *p)
{
    struct beside *b = heap_alloc(sizeof *b);
#ifdef WITH_POSTGRES
    if (is_on_postgres()) {
        CHECK_OK(db_connect(ctx, p->path, &b->db));
        return b;
    }
#endif
    (void)ctx;
    CHECK_INT(sqlite3_open(p->path, &b->db.handle), SQLITE_OK);
    sqlite3_busy_timeout(b->db.handle, 5000);
    return b;
}

void beside_do(struct ctx *ctx, struct beside *b, const char *sql)
{
    CHECK_OK(db_exec(ctx, &b->db, sql));
}

int64_t beside_int(struct ctx *ctx, struct beside *b, const char *sql)
{
    int64_t n;
    CHECK_OK(db_int(ctx, &b->db, sql, &n));
    return n;
}

void beside_close(struct beside *b)
{
    db_close(&b->db);
    free(b);
}

void place_do(struct ctx *ctx, const struct place *p, const char *sql)
{
    struct beside *b = beside_open(ctx, p);
    beside_do(ctx, b, sql);
    beside_close(b);
}

int64_t place_int(struct ctx *ctx, const struct place *p, const char *sql)
{
    struct beside *b = beside_open(ctx, p);
    int64_t n = beside_int(ctx, b, sql);
    beside_close(b);
    return n;
}

/* Each row as text; bytes are written as hexadecimal digits there. */
static bool rows_hold(struct ctx *ctx, const struct place *p, str bytes)
{
    static const char tables[] =
        "DO $$DECLARE t text; n bigint; hits bigint := 0; BEGIN"
        " FOR t IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()"
        " LOOP EXECUTE 'SELECT count(*) FROM ' || t || ' AS r WHERE strpos(r::text, ''%s'') > 0"
        " OR strpos(encode(convert_to(r::text, ''UTF8''), ''hex''), ''%s'') > 0' INTO n;"
        " hits := hits + n; END LOOP; PERFORM set_config('test.hits', hits::text, false); END$$";
    str hex = hex_of(&ctx->arena, bytes.p, bytes.n);
    struct beside *b = beside_open(ctx, p);
    beside_do(ctx, b, str_printf(&ctx->arena, tables, hex.p, hex.p).p);
    int64_t hits = beside_int(ctx, b, "SELECT current_setting('test.hits')::bigint");
    beside_close(b);
    return hits > 0;
}

bool place_holds(struct ctx *ctx, const struct place *p, str bytes)
{
    if (is_on_postgres())
        return rows_hold(ctx, p, bytes);
    str file = bytes_of_file(ctx, p->path);
    str log = bytes_of_file(ctx, str_printf(&ctx->arena, "%s-wal", p->path).p);
    CHECK(file.p != NULL);
    return str_find(file, bytes) < file.n || str_find(log, bytes) < log.n;
}

enum { TALKERS = 8, TALKER_MESSAGES = 50 };

struct talker {
    struct store *s;
    int no, failed;
};

static void *talk(void *arg)
{
    struct talker *t = arg;
    for (int i = 0; i < TALKER_MESSAGES; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct word_hits hits;
        struct message m = {.id = str_printf(&ctx.arena, "%d-%d", t->no, i), .text = S("Ithaca")};
        str session = str_printf(&ctx.arena, "s%d", t->no % 3), stem = S("ithaca");
        t->failed += say(&ctx, t->s, mine, session.p, &m) != OK;
        t->failed += store_search_words(&ctx, t->s, mine, &stem, 1, false, 10000, &hits) != OK;
        t->failed += hits.n < (size_t)i + 1;
    }
    return NULL;
}

void check_many_threads(struct ctx *ctx, struct store *s)
{
    pthread_t threads[TALKERS];
    struct talker talkers[TALKERS];
    for (int i = 0; i < TALKERS; i++) {
        talkers[i] = (struct talker){s, i, 0};
        CHECK(pthread_create(&threads[i], NULL, talk, &talkers[i]) == 0);
    }
    for (int i = 0; i < TALKERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(talkers[i].failed, 0);
    }
    CHECK_INT(find(ctx, s, mine, "ithaca").n, TALKERS * TALKER_MESSAGES);
    check_healthy(ctx, s);
}
