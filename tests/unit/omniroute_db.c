/* omniroute_db.c - OmniRoute's file is read whole, as it stands, and nothing beside it changes. */
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../omniroute_schema.h"
#include "ext/import/omniroute_db.h"
#include "lib/store.h"

static sqlite3 *database(const char *path, const char *schema)
{
    sqlite3 *handle;
    CHECK_INT(sqlite3_open(path, &handle), SQLITE_OK);
    CHECK_INT(sqlite3_exec(handle, schema, NULL, NULL, NULL), SQLITE_OK);
    return handle;
}

static void run(sqlite3 *handle, const char *text)
{
    if (sqlite3_exec(handle, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(handle));
}

static const char *in_folder(struct ctx *ctx, const struct place *p, const char *name)
{
    return str_printf(&ctx->arena, "%s/%s", p->folder, name).p;
}

/* The names and bytes of all files of a folder. */
static str look_at(struct ctx *ctx, const struct place *p)
{
    struct dirent **names;
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    int n = scandir(p->folder, &names, NULL, alphasort);
    char *bytes = arena_alloc(&ctx->arena, 1 << 20);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        int fd = open(in_folder(ctx, p, names[i]->d_name), O_RDONLY | O_CLOEXEC);
        ssize_t size = read(fd, bytes, 1 << 20);
        str part = {bytes, size > 0 ? (size_t)size : 0};
        buf_printf(&b, "%s %zd %llx\n", names[i]->d_name, size,
                   (unsigned long long)hash64(&part, 1));
        close(fd);
        free(names[i]);
    }
    free(names);
    return buf_str(&b);
}

static void copy_file(struct ctx *ctx, const char *from, const char *to)
{
    enum { MOST = 4 << 20 };
    char *bytes = arena_alloc(&ctx->arena, MOST);
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ssize_t n = read(in, bytes, MOST);
    CHECK(n > 0 && n < MOST && write(out, bytes, (size_t)n) == n);
    close(in);
    close(out);
}

struct seen {
    struct ctx *ctx;
    struct omniroute_row rows[20];
    size_t n;
    int64_t all;
    enum status answer;
};

static enum status see(struct ctx *ctx, void *own, const struct omniroute_row *row, int64_t done,
                       int64_t all)
{
    struct seen *s = own;
    struct omniroute_row *out = &s->rows[s->n++];
    out->owner = str_dup(&ctx->arena, row->owner);
    out->memory = memory_copy(&ctx->arena, &row->memory);
    CHECK_INT(done, s->n);
    s->all = all;
    return s->answer == OK ? OK : fail(ctx, s->answer, "enough");
}

static struct seen read_file(struct ctx *ctx, const char *path)
{
    struct seen out = {.answer = OK};
    CHECK_OK(omniroute_db_read(ctx, str_of(path), see, &out));
    CHECK_INT(out.all, out.n);
    return out;
}

TEST(rows_come_by_owner_and_age_with_what_they_say)
{
    PLACE(p);
    sqlite3 *handle = database(p.path, OMNIROUTE_SCHEMA);
    run(handle,
        "INSERT INTO memories(id, api_key_id, session_id, type, key, content, metadata, created_at,"
        " updated_at, expires_at) VALUES"
        "('b', 'k2', NULL, 'semantic', NULL, 'two', NULL, '2025-01-02 10:00:00',"
        " '2025-01-02 10:00:00', NULL),"
        "('a', 'k2', 's1', 'episodic', 'decision:x', 'one', ' {\"category\":\"decision\"} ',"
        " '2025-01-02T09:59:59.250Z', '2025-01-03T00:00:00.500Z', '2030-01-01T00:00:00.000Z'),"
        "('c', '', '', 'procedural', '', '', '[1]', '2025-01-01 00:00:00', '2025-01-01 00:00:00',"
        " '')");
    sqlite3_close(handle);
    struct seen s = read_file(ctx, p.path);
    CHECK_INT(s.n, 3);
    CHECK_STR(s.rows[0].owner, S(""));
    CHECK_STR(s.rows[0].memory.content, S(""));
    CHECK_STR(s.rows[0].memory.metadata, S(""));
    CHECK_INT(s.rows[0].memory.expires, 0);
    const struct memory *a = &s.rows[1].memory, *b = &s.rows[2].memory;
    CHECK_STR(s.rows[1].owner, S("k2"));
    CHECK_STR(a->id, S("a"));
    CHECK_STR(a->session, S("s1"));
    CHECK_INT(a->type, TYPE_EPISODIC);
    CHECK_STR(a->key, S("decision:x"));
    CHECK_STR(a->content, S("one"));
    CHECK_STR(a->metadata, S("{\"category\":\"decision\"}"));
    CHECK_STR(a->category, S("decision"));
    CHECK_INT(a->created, 1735811999250);
    CHECK_INT(a->updated, 1735862400500);
    CHECK_INT(a->expires, 1893456000000);
    CHECK_STR(b->id, S("b"));
    CHECK_INT(b->created, 1735812000000);
    CHECK_STR(b->session, S(""));
    CHECK_STR(b->key, S(""));
}

/* Columns that are missing, types nobody knows, texts that are none. */
TEST(what_is_odd_is_kept_as_far_as_it_goes)
{
    PLACE(p);
    sqlite3 *handle = database(p.path, "CREATE TABLE memories(api_key_id, type, content, metadata,"
                                       " created_at, access_count)");
    run(handle, "INSERT INTO memories VALUES('k', 'dream', CAST(x'61FF62' AS TEXT), '{\"a\":',"
                " 1735812000, 7), ('k', NULL, 12, '\"text\"', 1735812000001, NULL),"
                " ('k', 'semantic', 'x', '{}', '', NULL)");
    sqlite3_close(handle);
    struct seen s = read_file(ctx, p.path);
    CHECK_INT(s.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct memory *m = &s.rows[i].memory;
        CHECK_STR(m->id, S(""));
        if (str_is(m->content, "12")) {
            CHECK_INT(m->created, 1735812000001);
            CHECK_STR(m->metadata, S(""));
        } else if (str_is(m->content, "x")) {
            CHECK_INT(m->created, 0);
            CHECK_STR(m->metadata, S("{}"));
        } else {
            CHECK_STR(m->content, S("a\uFFFDb"));
            CHECK_INT(m->type, TYPE_FACTUAL);
            CHECK_INT(m->created, 1735812000000);
            CHECK_INT(m->uses, 7);
            CHECK_STR(m->metadata, S(""));
        }
    }
}

TEST(what_is_no_time_is_refused_before_any_row_is_given)
{
    PLACE(p);
    sqlite3 *handle = database(p.path, OMNIROUTE_SCHEMA);
    run(handle, "INSERT INTO memories(id, api_key_id, type, content, created_at, expires_at) VALUES"
                "('a', 'k', 'semantic', 'x', 1735812000, 0),"
                "('b', 'k', 'semantic', 'y', '2025-01-01', 'tomorrow')");
    sqlite3_close(handle);
    struct seen s = {0};
    CHECK_INT(omniroute_db_read(ctx, str_of(p.path), see, &s), BAD_INPUT);
    CHECK_INT(s.n, 0);
    CHECK(strstr(ctx->why, ": expires_at of the memory 'b' is not a time: 'tomorrow'"));
}

TEST(the_older_table_is_read_where_there_is_no_other)
{
    PLACE(p);
    sqlite3 *handle = database(p.path, OMNIROUTE_LEGACY_SCHEMA);
    run(handle, "INSERT INTO memory(id, apiKeyId, sessionId, type, key, content, metadata,"
                " createdAt, updatedAt) VALUES('a', 'k', 's', 'semantic', 'x', 'old one', '{}',"
                " '2025-01-02T10:00:00.000Z', '2025-01-02T10:00:00.000Z')");
    sqlite3_close(handle);
    struct seen s = read_file(ctx, p.path);
    CHECK_INT(s.n, 1);
    CHECK_STR(s.rows[0].owner, S("k"));
    CHECK_STR(s.rows[0].memory.session, S("s"));
    CHECK_STR(s.rows[0].memory.content, S("old one"));
    CHECK_INT(s.rows[0].memory.created, 1735812000000);
}

static const char add_one[] = "INSERT INTO memories(id, api_key_id, type, content, created_at)"
                              " VALUES('a', 'k', 'factual', 'in the log', '2025-01-02 10:00:00')";

/* Another program that has the file open: its second row is only in the log. */
struct owner {
    pid_t pid;
    int says[2], hears[2];
};

static _Noreturn void own(const struct owner *o, const char *path)
{
    sqlite3 *handle;
    char byte = 0;
    close(o->says[0]);
    close(o->hears[1]);
    bool ok = sqlite3_open(path, &handle) == SQLITE_OK &&
              sqlite3_exec(handle,
                           "PRAGMA journal_mode=WAL;" OMNIROUTE_SCHEMA
                           "INSERT INTO memories(id, api_key_id, type, content, created_at)"
                           " VALUES('b', 'k', 'factual', 'in the file', '2025-01-03 10:00:00');"
                           "PRAGMA wal_checkpoint(TRUNCATE);",
                           NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_exec(handle, add_one, NULL, NULL, NULL) == SQLITE_OK;
    /* It ends without closing the file when nobody is left to say when. */
    if (ok && write(o->says[1], "x", 1) == 1)
        (void)!read(o->hears[0], &byte, 1);
    _exit(0);
}

static struct owner begin_owner(const char *path)
{
    struct owner o;
    char byte = 0;
    CHECK(pipe(o.says) == 0 && pipe(o.hears) == 0);
    o.pid = fork();
    if (o.pid == 0)
        own(&o, path);
    CHECK(o.pid > 0);
    close(o.says[1]);
    close(o.hears[0]);
    CHECK_INT(read(o.says[0], &byte, 1), 1);
    return o;
}

static void end_owner(const struct owner *o)
{
    int how;
    close(o->says[0]);
    close(o->hears[1]);
    CHECK_INT(waitpid(o->pid, &how, 0), o->pid);
}

static void check_read(struct ctx *ctx, const struct place *p)
{
    str before = look_at(ctx, p);
    struct seen s = read_file(ctx, p->path);
    CHECK_INT(s.n, 2);
    CHECK_STR(s.rows[0].memory.content, S("in the log"));
    CHECK_STR(look_at(ctx, p), before);
}

TEST(a_file_with_a_log_is_read_with_it_and_nothing_changes)
{
    PLACE(live);
    PLACE(copy);
    PLACE(whole);
    struct owner o = begin_owner(live.path);
    str seen = look_at(ctx, &live);
    CHECK(str_find(seen, S("-shm")) < seen.n);
    check_read(ctx, &live);
    copy_file(ctx, live.path, copy.path);
    copy_file(ctx, in_folder(ctx, &live, "store.db-wal"), in_folder(ctx, &copy, "store.db-wal"));
    check_read(ctx, &copy);
    copy_file(ctx, live.path, whole.path);
    copy_file(ctx, in_folder(ctx, &live, "store.db-wal"), in_folder(ctx, &whole, "store.db-wal"));
    copy_file(ctx, in_folder(ctx, &live, "store.db-shm"), in_folder(ctx, &whole, "store.db-shm"));
    check_read(ctx, &whole);
    end_owner(&o);
    /* What the owner left behind when it died. */
    check_read(ctx, &live);
}

TEST(a_file_alone_stays_alone)
{
    PLACE(p);
    const char *path = in_folder(ctx, &p, "50% of it? #1.db");
    sqlite3 *handle = database(path, "PRAGMA journal_mode=WAL;" OMNIROUTE_SCHEMA);
    run(handle, add_one);
    sqlite3_close(handle);
    str before = look_at(ctx, &p);
    CHECK_INT(read_file(ctx, path).n, 1);
    CHECK_STR(look_at(ctx, &p), before);
}

static void refused(struct ctx *ctx, const char *path, enum status status)
{
    struct seen seen = {.answer = OK};
    CHECK_STATUS(omniroute_db_read(ctx, str_of(path), see, &seen), status);
    CHECK(str_find(str_of(ctx->why), str_of(path)) < strlen(ctx->why));
    ctx_clear_failure(ctx);
}

TEST(what_is_not_omniroutes_is_refused_by_name)
{
    PLACE(p);
    const char *text = in_folder(ctx, &p, "text.sqlite"), *other = in_folder(ctx, &p, "o.sqlite");
    int fd = open(text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 200; i++)
        CHECK(write(fd, "no database\n", 12) == 12);
    close(fd);
    sqlite3_close(database(other, "CREATE TABLE memories(id, text)"));
    refused(ctx, text, BAD_INPUT);
    refused(ctx, other, NOT_FOUND);
    refused(ctx, p.folder, BAD_INPUT);
    refused(ctx, in_folder(ctx, &p, "none"), NOT_FOUND);
    {
        STORE(s, p);
        struct memory m = fact("f1", "", "our own");
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    }
    refused(ctx, p.path, NOT_FOUND);
}

/* Each with the words of its refusal. Whatever a file says, none of it is run. */
static const struct {
    const char *text;
    enum status status;
    const char *why;
} hostile[] = {
    {"CREATE VIEW memories AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
     " SELECT n AS id, 'k' AS api_key_id, 'x' AS content FROM c",
     NOT_FOUND, "neither of OmniRoute's tables"},
    {"CREATE VIEW memories AS SELECT 'k' AS api_key_id, zeroblob(900000000) AS content", NOT_FOUND,
     "neither of OmniRoute's tables"},
    {"CREATE VIRTUAL TABLE memories USING fts5(api_key_id, content)", NOT_FOUND,
     "neither of OmniRoute's tables"},
    {"CREATE TABLE memories(id, api_key_id, content AS (zeroblob(900000000)));"
     "INSERT INTO memories VALUES(1, 'k')",
     NOT_FOUND, "neither of OmniRoute's tables"},
    {"CREATE TABLE memories(id PRIMARY KEY, api_key_id, content) WITHOUT ROWID;"
     "INSERT INTO memories VALUES(1, 'k', 'in an index')",
     NOT_FOUND, "neither of OmniRoute's tables"},
    {"CREATE TABLE memories(id, api_key_id, content);"
     "INSERT INTO memories VALUES(1, 'k', 'fine'), (2, 'k', zeroblob(9000000))",
     TOO_LARGE, "one memory has 9.0 MB, and an import takes at most 8.4 MB"},
    {"CREATE TABLE memories(id, api_key_id, content);"
     "CREATE TABLE memory(id, content);" /* a name that no column has */
     "INSERT INTO memories VALUES(1, 'k', zeroblob(100000000))",
     TOO_LARGE, "nothing was imported"},
};

TEST(nothing_in_a_file_is_run_or_larger_than_stated)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        PLACE(p);
        struct seen seen = {.answer = OK};
        sqlite3_close(database(p.path, hostile[i].text));
        CHECK_STATUS(omniroute_db_read(ctx, str_of(p.path), see, &seen), hostile[i].status);
        if (!strstr(ctx->why, hostile[i].why))
            fail_msg("'%s' does not say '%s'", ctx->why, hostile[i].why);
        CHECK_INT(seen.n, 0);
        ctx_clear_failure(ctx);
    }
}

/* The index of one table has the pages of another's: what is counted is what is read. */
TEST(an_index_adds_no_rows_to_its_table)
{
    PLACE(p);
    sqlite3 *handle =
        database(p.path,
                 "CREATE TABLE other(a, b, c, d);"
                 "CREATE INDEX theirs ON other(coalesce(a, ''), julianday(b), c, a, b, d);"
                 "INSERT INTO other VALUES('k', '2025-01-01', 1, 'x'), ('k', '2025-01-01', 2, 'y');"
                 "CREATE TABLE memories(id, api_key_id, content, created_at);"
                 "CREATE INDEX ours ON memories(coalesce(api_key_id, ''), julianday(created_at),"
                 " id, api_key_id, created_at, content);"
                 "INSERT INTO memories VALUES(7, 'k', 'ours', '2025-01-01');"
                 "PRAGMA writable_schema=ON;"
                 "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema"
                 " WHERE name = 'theirs') WHERE name = 'ours'");
    sqlite3_close(handle);
    struct seen s = read_file(ctx, p.path);
    CHECK_INT(s.n, 1);
    CHECK_STR(s.rows[0].memory.content, S("ours"));
}

/* Each inner page of a table (type 5) has 12 bytes in front of the places of its cells, each of
 * which begins with the number of the page below. All cells of one lead to the next inner page now,
 * for ten pages: about 60 to the power of ten rows. */
static void tie_pages(const char *path)
{
    enum { PAGE = 512, INNER = 5, HEAD = 12, TIED = 10 };
    unsigned char page[PAGE];
    off_t found[TIED + 1];
    int n = 0, fd = open(path, O_RDWR | O_CLOEXEC);
    for (off_t at = PAGE; n <= TIED && pread(fd, page, PAGE, at) == PAGE; at += PAGE)
        if (page[0] == INNER)
            found[n++] = at;
    CHECK_INT(n, TIED + 1);
    for (int k = 0; k < TIED; k++) {
        const unsigned char *places = page + HEAD;
        off_t next = found[k + 1] / PAGE + 1;
        CHECK_INT(pread(fd, page, PAGE, found[k]), PAGE);
        for (int i = 0; i < page[3] * 256 + page[4]; i++)
            memcpy(page + places[2 * i] * 256 + places[2 * i + 1],
                   (unsigned char[]){0, 0, (unsigned char)(next >> 8), (unsigned char)next}, 4);
        CHECK_INT(pwrite(fd, page, PAGE, found[k]), PAGE);
    }
    close(fd);
}

TEST(a_tree_without_end_takes_the_work_of_its_size)
{
    PLACE(p);
    struct seen seen = {.answer = OK};
    sqlite3_close(database(p.path,
                           "PRAGMA page_size=512; CREATE TABLE memories(api_key_id, content);"
                           "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT"
                           " 4000) INSERT INTO memories SELECT 'k', hex(zeroblob(200)) FROM c"));
    tie_pages(p.path);
    CHECK_STATUS(omniroute_db_read(ctx, str_of(p.path), see, &seen), TOO_LARGE);
    CHECK(strstr(ctx->why, "more work than a database of its size"));
    CHECK_INT(seen.n, 0);
    ctx_clear_failure(ctx);
}

TEST(a_failure_of_the_caller_ends_the_reading)
{
    PLACE(p);
    sqlite3 *handle = database(p.path, OMNIROUTE_SCHEMA);
    run(handle, add_one);
    run(handle, "INSERT INTO memories(id, api_key_id, type, content) VALUES('b', 'k', 'factual',"
                " 'two')");
    sqlite3_close(handle);
    struct seen seen = {.answer = CONFLICT};
    CHECK_STATUS(omniroute_db_read(ctx, str_of(p.path), see, &seen), CONFLICT);
    CHECK_INT(seen.n, 1);
}
