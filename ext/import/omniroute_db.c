/* omniroute_db.c - reads the memories in a database file of OmniRoute, changes nothing there. */
#include "ext/import/omniroute_db.h"

#include <errno.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "engine/text.h"
#include "store/file.h"

/*
 * The file is another program's, so SQLite is called directly: the store's connection would switch
 * the file to a log of its own, expect our schema, and may ask for a key. Nothing in the file is
 * run: only plain columns of one table are read, with limits of size, work and time.
 */

enum {
    ROW_MAX = 8 << 20,             /* bytes of a memory with all that belongs to it */
    ALL_MAX = 512 << 20,           /* of all memories, which SQLite sorts in memory */
    TEXT_MAX = 16 << 10,           /* of a statement, and so of one that made a table */
    WORK_MIN = 10 << 20,           /* instructions of SQLite */
    WORK_PER_BYTE = 64,            /* more of them, for each byte of the file */
    STEPS = 1000,                  /* instructions between two looks at the work and the time */
    ROW_TIME_MAX_US = 30 * 1000000 /* to the next row; the first one waits for the sorting */
};

/* As the table memories names them, and the older memory. */
#define EACH_COLUMN(X)                                                                             \
    X(ID, "id", "id")                                                                              \
    X(OWNER, "api_key_id", "apiKeyId")                                                             \
    X(SESSION, "session_id", "sessionId")                                                          \
    X(TYPE, "type", "type")                                                                        \
    X(KEY, "key", "key")                                                                           \
    X(CONTENT, "content", "content")                                                               \
    X(METADATA, "metadata", "metadata")                                                            \
    X(CREATED, "created_at", "createdAt")                                                          \
    X(UPDATED, "updated_at", "updatedAt")                                                          \
    X(EXPIRES, "expires_at", "expiresAt")                                                          \
    X(USES, "access_count", "accessCount")                                                         \
    X(LAST_USED, "last_accessed_at", "lastAccessedAt")
#define COLUMN_ENUM(id, now, older) id,
#define COLUMN_NAMES(id, now, older) {now, older},
enum column { EACH_COLUMN(COLUMN_ENUM) COLUMNS };
static const char *const names[COLUMNS][2] = {EACH_COLUMN(COLUMN_NAMES)};
static const char *const tables[] = {"memories", "memory", NULL};

static bool is_column(const char *name)
{
    return !*name || SOME(i, 2 * COLUMNS, !sqlite3_stricmp(name, names[i / 2][i % 2]));
}

struct source {
    struct ctx *ctx;
    const char *path;
    sqlite3 *handle;
    sqlite3_stmt *stmt;
    const char *table;
    const char *columns[COLUMNS]; /* NULL: the table has none */
    int64_t all;
    int64_t steps_left; /* instructions that SQLite may still run */
    int64_t row_end_us; /* when the next row has to be there */
    int rc;             /* of the last step */
    enum column bad;    /* of the row: it should hold a time; 0: none */
    struct ctx work;    /* of one row */
};

/* Also after a failure half way: stmt and handle may be NULL. */
static void close_source(struct source *s)
{
    sqlite3_finalize(s->stmt);
    sqlite3_close(s->handle);
    ctx_free(&s->work);
}

static enum status source_failed(struct source *s, int rc)
{
    if (rc == SQLITE_NOTADB)
        return fail(s->ctx, BAD_INPUT, "'%s' is not an SQLite database", s->path);
    if (rc == SQLITE_INTERRUPT)
        return fail(s->ctx, TOO_LARGE,
                    "'%s' takes more work than a database of its size may; it is damaged, or not "
                    "made by OmniRoute",
                    s->path);
    if (rc == SQLITE_AUTH)
        return fail(s->ctx, BAD_INPUT, "'%s' is not read: its tables may only hold plain columns",
                    s->path);
    return fail(s->ctx, STORAGE, "'%s' cannot be read: %s", s->path,
                s->handle ? sqlite3_errmsg(s->handle) : sqlite3_errstr(rc));
}

/* --- opening --- */

/* Of a file beside the database; -1: there is none. */
static int64_t size_of(struct source *s, const char *suffix)
{
    struct stat st;
    str path = str_printf(&s->ctx->arena, "%s%s", s->path, suffix);
    return stat(path.p, &st) == 0 ? st.st_size : -1;
}

/* Reads of the tables by their columns ("" is any, for counting) outside views and triggers, a few
 * functions, and the pragmas that describe a table. */
static int authorize(UNUSED void *own, int action, const char *first, const char *second,
                     UNUSED const char *db, const char *inside)
{
    static const char *const functions[] = {"coalesce",     "count", "julianday", "max",
                                            "octet_length", "sum",   NULL};
    static const char *const pragmas[] = {"table_info", "table_list", NULL};
    bool is_allowed =
        action == SQLITE_SELECT ||
        (action == SQLITE_FUNCTION && name_index(functions, str_of(second), -1) >= 0) ||
        (action == SQLITE_PRAGMA && name_index(pragmas, str_of(first), -1) >= 0) ||
        (action == SQLITE_READ && name_index(tables, str_of(first), -1) >= 0 && is_column(second));
    return is_allowed && !inside ? SQLITE_OK : SQLITE_DENY;
}

static int watch_work(void *own)
{
    struct source *s = own;
    s->steps_left -= STEPS;
    return s->steps_left < 0 || clock_mono_us() > s->row_end_us || !ctx_has_time(s->ctx);
}

static void set_limits(struct source *s)
{
    static const int configs[][2] = {{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
                                     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                     {SQLITE_DBCONFIG_DEFENSIVE, 1},
                                     {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        sqlite3_db_config(s->handle, configs[i][0], configs[i][1], NULL);
    sqlite3_limit(s->handle, SQLITE_LIMIT_LENGTH, 2 * ROW_MAX);
    sqlite3_limit(s->handle, SQLITE_LIMIT_SQL_LENGTH, TEXT_MAX);
    s->steps_left = WORK_MIN + WORK_PER_BYTE * (size_of(s, "") + size_of(s, "-wal"));
    s->row_end_us = clock_mono_us() + ROW_TIME_MAX_US;
    sqlite3_progress_handler(s->handle, STEPS, watch_work, s);
}

/*
 * Opening a database with a log makes files beside it and may write to them. Not here: without a
 * log that holds anything the file is all there is. With one, and the shared memory of a program
 * that may be running, that memory is only read; and for a copy without it the log's index is made
 * in our own memory.
 */
static enum status open_source(struct source *s)
{
    bool is_live = size_of(s, "-wal") >= 0 && size_of(s, "-shm") >= 0;
    bool is_copy = !is_live && size_of(s, "-wal") > 0;
    bool has_journal = size_of(s, "-journal") > 0;
    const char *how = is_live                  ? "mode=ro&readonly_shm=1"
                      : is_copy || has_journal ? "mode=ro"
                                               : "mode=ro&immutable=1";
    str uri = file_uri(&s->ctx->arena, s->path, how);
    int rc = sqlite3_open_v2(uri.p, &s->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                             is_copy ? "unix-none" : NULL);
    const char *begin = is_copy ? "PRAGMA cell_size_check=ON; PRAGMA locking_mode=EXCLUSIVE; BEGIN"
                                : "PRAGMA cell_size_check=ON; BEGIN";
    if (rc != SQLITE_OK)
        return source_failed(s, rc);
    sqlite3_busy_timeout(s->handle, 5000);
    set_limits(s);
    rc = sqlite3_exec(s->handle, begin, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_set_authorizer(s->handle, authorize, NULL);
    return rc == SQLITE_OK ? OK : source_failed(s, rc);
}

/* --- what the table has --- */

static enum status prepare_text(struct source *s, str text)
{
    sqlite3_finalize(s->stmt);
    s->stmt = NULL;
    int rc = sqlite3_prepare_v2(s->handle, text.p, (int)text.n, &s->stmt, NULL);
    return rc == SQLITE_OK ? OK : source_failed(s, rc);
}

/* The next row; false at the end and after a failure, which end_rows returns. */
static bool next_row(struct source *s)
{
    s->row_end_us = clock_mono_us() + ROW_TIME_MAX_US;
    s->rc = sqlite3_step(s->stmt);
    return s->rc == SQLITE_ROW;
}

static enum status end_rows(struct source *s)
{
    return s->rc == SQLITE_ROW || s->rc == SQLITE_DONE ? OK : source_failed(s, s->rc);
}

/* Memories without owner and content are another program's. Generated columns are not listed. A
 * view or a virtual table would run what the file says, and WITHOUT ROWID is read by an index. */
static enum status find_table(struct source *s)
{
    for (size_t i = 0; tables[i]; i++) {
        memset(s->columns, 0, sizeof s->columns);
        TRY(prepare_text(s, str_printf(&s->ctx->arena, "PRAGMA table_list(%s)", tables[i])));
        bool is_there = next_row(s) && !sqlite3_column_int(s->stmt, 4) &&
                        str_is(str_of((const char *)sqlite3_column_text(s->stmt, 2)), "table");
        TRY(end_rows(s));
        if (!is_there)
            continue;
        TRY(prepare_text(s, str_printf(&s->ctx->arena, "PRAGMA table_info(%s)", tables[i])));
        while (next_row(s)) {
            const char *name = (const char *)sqlite3_column_text(s->stmt, 1);
            for (int k = 0; k < 2 * COLUMNS; k++)
                if (sqlite3_stricmp(name, names[k / 2][k % 2]) == 0)
                    s->columns[k / 2] = names[k / 2][k % 2];
        }
        TRY(end_rows(s));
        s->table = tables[i];
        if (s->columns[OWNER] && s->columns[CONTENT])
            return OK;
    }
    return fail(s->ctx, NOT_FOUND,
                "'%s' has neither of OmniRoute's tables: memories with api_key_id and content, or"
                " memory with apiKeyId and content",
                s->path);
}

static enum status refuse_size(struct source *s, const char *what, int64_t is, int64_t most)
{
    return fail(s->ctx, TOO_LARGE,
                "'%s': %s %.1f MB, and an import takes at most %.1f MB; nothing was imported",
                s->path, what, (double)is / 1e6, (double)most / 1e6);
}

static void add_columns(const struct source *s, struct buf *b, const char *before,
                        const char *after, const char *between)
{
    for (int i = 0; i < COLUMNS; i++)
        buf_printf(b, "%s%s%s%s", i ? between : "", before, s->columns[i] ? s->columns[i] : "NULL",
                   after);
}

/* Counts, and measures without reading the texts, so that nothing is imported of a file that is
 * refused half way. No index is used: it could hold other rows than the table. */
static enum status count_rows(struct source *s)
{
    struct buf b = buf_make(&s->ctx->arena, 1 << 16);
    buf_printf(&b, "SELECT count(n), max(n), sum(n) FROM (SELECT ");
    add_columns(s, &b, "coalesce(octet_length(", "), 0)", " + ");
    buf_printf(&b, " AS n FROM %s NOT INDEXED)", s->table);
    TRY(prepare_text(s, buf_str(&b)));
    (void)next_row(s);
    TRY(end_rows(s));
    int64_t largest = sqlite3_column_int64(s->stmt, 1), sum = sqlite3_column_int64(s->stmt, 2);
    s->all = sqlite3_column_int64(s->stmt, 0);
    if (largest > ROW_MAX)
        return refuse_size(s, "one memory has", largest, ROW_MAX);
    return sum > ALL_MAX ? refuse_size(s, "all memories have", sum, ALL_MAX) : OK;
}

/* Its dates come as texts of two kinds, which only a function of dates puts in order. */
static enum status select_rows(struct source *s)
{
    struct buf b = buf_make(&s->ctx->arena, 1 << 16);
    buf_printf(&b, "SELECT ");
    add_columns(s, &b, "", "", ", ");
    buf_printf(&b, " FROM %s NOT INDEXED ORDER BY coalesce(%s, '')", s->table, s->columns[OWNER]);
    if (s->columns[CREATED])
        buf_printf(&b, ", julianday(%s)", s->columns[CREATED]);
    buf_add(&b, s->columns[ID] ? S(", id") : S(""));
    return prepare_text(s, buf_str(&b));
}

/* --- one row --- */

/* Invalid UTF-8 and zero bytes become U+FFFD. */
static str text_at(struct source *s, enum column c)
{
    const char *p = (const char *)sqlite3_column_text(s->stmt, (int)c);
    str text = {p, p ? (size_t)sqlite3_column_bytes(s->stmt, (int)c) : 0};
    if (!text.n || (utf8_is_valid(text) && !memchr(text.p, 0, text.n)))
        return text;
    struct json *j;
    struct json_out w = json_in(&s->work.arena, text.n * 6 + 2);
    json_str(&w, text);
    return json_parse(&s->work, buf_str(w.b), &j) == OK ? json_string(j) : S("");
}

/* Also a number of seconds or milliseconds; 0 for nothing, and for what is no time. */
static int64_t time_at(struct source *s, enum column c)
{
    static const double first_ms = 1e11;
    int64_t v = 0;
    bool is_text = sqlite3_column_type(s->stmt, (int)c) == SQLITE_TEXT;
    double number = sqlite3_column_double(s->stmt, (int)c);
    str text = text_at(s, c);
    if (is_text && time_read(text, &v))
        return v;
    bool is_number = !is_text || str_num(text, &number);
    if (is_number && number > 0 && number < 1e15)
        return (int64_t)(number < first_ms ? number * 1000 : number);
    if (str_trim(text).n && !(is_number && number == 0))
        s->bad = c;
    return 0;
}

/* Its category as well: OmniRoute's extraction leaves it there. */
static void read_metadata(struct source *s, struct memory *m)
{
    enum { CATEGORY_MAX = 128 };
    struct json *j;
    str text = str_trim(text_at(s, METADATA));
    if (!text.n || !soft(&s->work, json_parse(&s->work, text, &j)) || j->type != JSON_OBJECT)
        return;
    m->metadata = text;
    str category = str_trim(json_string(json_get(j, "category")));
    m->category = category.n > CATEGORY_MAX ? S("") : category;
}

static void read_row(struct source *s, struct omniroute_row *out)
{
    *out = (struct omniroute_row){.owner = str_trim(text_at(s, OWNER))};
    struct memory *m = &out->memory;
    m->id = str_trim(text_at(s, ID));
    m->session = text_at(s, SESSION);
    m->type = (enum memory_type)name_index(type_names, text_at(s, TYPE), TYPE_FACTUAL);
    m->key = text_at(s, KEY);
    m->content = text_at(s, CONTENT);
    read_metadata(s, m);
    m->created = time_at(s, CREATED);
    m->updated = time_at(s, UPDATED);
    m->created = m->created ? m->created : m->updated;
    m->updated = m->updated ? m->updated : m->created;
    m->expires = time_at(s, EXPIRES);
    m->uses = sqlite3_column_int64(s->stmt, USES);
    m->last_used = time_at(s, LAST_USED);
}

static enum status refuse_time(struct source *s, const struct memory *m)
{
    enum { SHOWN = 60 };
    struct arena *a = &s->ctx->arena;
    str id = engine_line(a, m->id, SHOWN), text = engine_line(a, text_at(s, s->bad), SHOWN);
    return fail(s->ctx, BAD_INPUT, "'%s': %s of the memory '" S_FMT "' is not a time: '" S_FMT "'",
                s->path, s->columns[s->bad], S_ARG(id), S_ARG(text));
}

/* row NULL: only looks at the times, so that nothing is imported of a file that is refused. */
static enum status read_rows(struct source *s, omniroute_row_fn *row, void *own)
{
    int64_t done = 0;
    sqlite3_reset(s->stmt);
    while (next_row(s)) {
        struct omniroute_row one;
        read_row(s, &one);
        if (s->bad)
            return refuse_time(s, &one.memory);
        TRY(row ? row(s->ctx, own, &one, ++done, s->all) : OK);
        arena_reset(&s->work.arena);
    }
    return end_rows(s);
}

enum status omniroute_db_read(struct ctx *ctx, str path, omniroute_row_fn *row, void *own)
{
    CLEANUP(close_source)
    struct source s = {.ctx = ctx, .path = str_c(&ctx->arena, path), .work = ctx_child(ctx, 0)};
    struct stat st;
    if (stat(s.path, &st) != 0)
        return fail(ctx, NOT_FOUND, "'%s': %s", s.path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(ctx, BAD_INPUT, "'%s' is not a file", s.path);
    TRY(open_source(&s));
    TRY(find_table(&s));
    TRY(count_rows(&s));
    TRY(select_rows(&s));
    TRY(read_rows(&s, NULL, NULL));
    return read_rows(&s, row, own);
}
