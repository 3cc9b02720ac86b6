/* foreign_db.c - a damaged database of another program: its import is refused with words, or ends.
 */
#include <assert.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../omniroute_schema.h"
#include "damage.h"
#include "engine/engine.h"
#include "ext/import/import.h"
#include "store/store.h"
#include "surface/common/auth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * An input says with three letters what is damaged, and how, of a small database of OmniRoute's:
 *
 *     'M' its table memories, in pages of 512 bytes; 'O' its older table memory, in pages of 4,096
 *     'D' the database alone, 'L' the log beside it, 'I' the log's index beside both
 *     'S' the rest is SQL, run on the database, with the log unless 'D' leaves it out
 *     'B' edits: see damage.h. 'T' as B, and the last one cuts the file there
 *     'P' pages are swapped; else the rest is the whole file
 */
enum { DATABASE, LOG, INDEX, FILES, SIDES = FILES + 1 };
static const char *const sides[SIDES] = {"", "-wal", "-shm", "-journal"};
static const char file_letters[] = "DLI", table_letters[] = "MO";
static const char *const tables[] = {"PRAGMA page_size=512;" OMNIROUTE_SCHEMA,
                                     OMNIROUTE_LEGACY_SCHEMA};
static const char *const rows[] = {
    "INSERT INTO memories(id, api_key_id, session_id, type, key, content, metadata, created_at,"
    " updated_at, expires_at)",
    "INSERT INTO memory(id, apiKeyId, sessionId, type, key, content, metadata, createdAt,"
    " updatedAt, expiresAt)"};

/* The log has the second half. Some contents fill pages of their own. */
#define HALF(from)                                                                                 \
    " WITH RECURSIVE c(n) AS (SELECT " from " UNION ALL SELECT n + 1 FROM c LIMIT 12)"             \
    " SELECT 'id-' || n, 'key-' || n % 3, iif(n % 2, 'session', NULL),"                            \
    " iif(n % 4, 'factual', 'episodic'), iif(n % 5, '', 'city'),"                                  \
    " 'Lives in number ' || n || hex(zeroblob(iif(n % 6, 0, 700))),"                               \
    " iif(n % 2, '{\"category\":\"home\"}', NULL), '2025-01-02 10:00:' || (n + 10),"               \
    " iif(n % 3, '2025-01-03T10:00:00.250Z', 1735812000 + n),"                                     \
    " iif(n % 7, NULL, '2031-01-01T00:00:00Z') FROM c"

/* In memory, as each import is synced. The store has a folder of its own. */
static char folder[] = "/dev/shm/fuzz-foreign-XXXXXX";
static struct file_bytes bases[2][FILES];

static str path_of(struct arena *a, int side)
{
    return str_printf(a, "%s/foreign.sqlite%s", folder, sides[side]);
}

static void empty_folder(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static void run_text(sqlite3 *db, const char *one, const char *other)
{
    char *text = sqlite3_mprintf("%s%s", one, other);
    assert(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_free(text);
}

/* Taken while it is open, as its end would empty the log. */
static void make_base(int table)
{
    struct ctx ctx = {0};
    sqlite3 *db;
    empty_folder(folder);
    assert(sqlite3_open(path_of(&ctx.arena, DATABASE).p, &db) == SQLITE_OK);
    run_text(db, tables[table], "PRAGMA journal_mode=WAL");
    run_text(db, rows[table], HALF("1"));
    run_text(db, "PRAGMA wal_checkpoint(TRUNCATE)", "");
    run_text(db, rows[table], HALF("13"));
    for (int i = 0; i < FILES; i++) {
        bases[table][i] = get_file(path_of(&ctx.arena, i).p);
        assert(bases[table][i].n);
    }
    sqlite3_close(db);
    ctx_free(&ctx);
}

/* --- the store --- */

static struct engine *engine;
static struct store *store;

static str store_folder(struct arena *a)
{
    return str_printf(a, "%s/store", folder);
}

static void close_store(void)
{
    struct ctx ctx = {0};
    if (engine) {
        engine_close(engine);
        store_close(store);
    }
    engine = NULL;
    empty_folder(store_folder(&ctx.arena).p);
    ctx_free(&ctx);
}

static void open_store(void)
{
    static struct settings settings;
    static struct ctx ctx;
    const struct store_settings where = {
        .path = str_printf(&ctx.arena, S_FMT "/memory.db", S_ARG(store_folder(&ctx.arena)))};
    close_store();
    assert(settings_load(&ctx, NULL, 0, &settings) == OK);
    assert(store_open(&ctx, &where, &store) == OK);
    assert(engine_open(&ctx, store, &settings, &engine) == OK);
}

static void remove_all(void)
{
    struct ctx ctx = {0};
    close_store();
    rmdir(store_folder(&ctx.arena).p);
    empty_folder(folder);
    rmdir(folder);
    for (int i = 0; i < 2 * FILES; i++)
        free(bases[i / FILES][i % FILES].v);
    ctx_free(&ctx);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct ctx ctx = {0};
    (void)argc, (void)argv;
    assert(mkdtemp(folder) && mkdir(store_folder(&ctx.arena).p, 0700) == 0 &&
           atexit(remove_all) == 0);
    make_base(0);
    make_base(1);
    ctx_free(&ctx);
    return 0;
}

/* --- one input --- */

static void damage(struct arena *a, const struct file_bytes *base, int file, const uint8_t *data,
                   size_t size)
{
    const struct file_bytes *f = &base[file];
    uint8_t *copy = arena_alloc(a, f->n);
    memcpy(copy, f->v, f->n);
    size_t n = f->n;
    if (*data == 'B' || *data == 'T')
        n = edit(copy, n, data + 1, size - 1, *data == 'T');
    else if (*data == 'P')
        swap_pages(copy, n, data + 1, size - 1);
    empty_folder(folder);
    for (int i = 0; i < file; i++)
        put_file(path_of(a, i).p, base[i].v, base[i].n);
    if (strchr("BTPS", *data))
        put_file(path_of(a, file).p, copy, n);
    else
        put_file(path_of(a, file).p, data + 1, size - 1);
    if (*data == 'S')
        run_sql(path_of(a, DATABASE).p, data + 1, size - 1);
}

static void look_at(struct arena *a, struct file_bytes out[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        out[i] = get_file(path_of(a, i).p);
}

/* Reading another program's file changes nothing beside it. */
static void check_unchanged(struct arena *a, const struct file_bytes before[SIDES])
{
    struct file_bytes after[SIDES];
    look_at(a, after);
    for (int i = 0; i < SIDES; i++) {
        assert(!before[i].v == !after[i].v && before[i].n == after[i].n);
        assert(!before[i].n || memcmp(before[i].v, after[i].v, before[i].n) == 0);
        free(after[i].v);
    }
}

static int64_t n_rows;

static void note_row(int64_t done, int64_t all)
{
    assert(done <= all);
    n_rows = all;
}

static bool import_all(str user, struct omniroute_report *r)
{
    struct ctx ctx = {0};
    str path = path_of(&ctx.arena, DATABASE);
    n_rows = 0;
    *r = (struct omniroute_report){0};
    enum status s = engine_import_omniroute(&ctx, engine, user, S(""), path, false, note_row, r);
    assert(s == OK || strstr(ctx.why, path.p));
    assert(r->memories + r->updated + r->skipped + r->erased <= n_rows);
    ctx_free(&ctx);
    return s == OK;
}

/* Whatever names the keys have, each space can be named by a user. */
static void check_spaces(struct ctx *ctx, str user)
{
    struct pool_info *v;
    size_t n;
    assert(engine_spaces(ctx, engine, user, &v, &n) == OK);
    for (size_t i = 0; i < n; i++)
        assert(v[i].pool.space.n <= SPACE_NAME_MAX && !str_is(v[i].pool.space, SPACE_ALL));
}

/* Each input has a user of its own, so that it meets nothing of those before it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { INPUTS_PER_STORE = 500, BYTES_MAX = 1 << 20 };
    static int64_t no;
    struct ctx ctx = {0};
    struct file_bytes before[SIDES];
    struct omniroute_report first, second;
    const char *table = size > 2 ? memchr(table_letters, data[0], sizeof table_letters - 1) : NULL;
    const char *file = table ? memchr(file_letters, data[1], sizeof file_letters - 1) : NULL;
    if (!file)
        return 0;
    if (no++ % INPUTS_PER_STORE == 0)
        open_store();
    str user = str_printf(&ctx.arena, "user %lld", (long long)no);
    damage(&ctx.arena, bases[table - table_letters], (int)(file - file_letters), data + 2,
           size - 2);
    look_at(&ctx.arena, before);
    /* SQL makes much of little, whose import would only be slow. */
    bool is_small = before[DATABASE].n + before[LOG].n < BYTES_MAX;
    if (is_small && import_all(user, &first) && n_rows)
        assert(import_all(user, &second) && second.memories == 0);
    check_unchanged(&ctx.arena, before);
    check_spaces(&ctx, user);
    for (int i = 0; i < SIDES; i++)
        free(before[i].v);
    ctx_free(&ctx);
    return 0;
}
