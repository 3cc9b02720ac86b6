/* open.c - the store in either database: opening, closing, and what it says of itself. */
#include <sodium.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/postgres/schema.h"
#include "store/sql/db/schema.h"
#include "store/sql/index/posting_cache.h"
#include "store/sql/index/words.h"
#include "store/sql/move.h"
#include "store/sql/records/checks.h"
#include "store/sql/records/pending.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"
#include "store/sql/upgrade.h"
#include "store/sql/write/erasure_log.h"
#include "store/sql/write/forget_long.h"

/*
 * Two kinds of connections work on one file in WAL mode (sqlite.org/wal.html): the writer's, used
 * by its thread alone, and readers, lent to one call each. Reads run on the caller's thread; writes
 * are tasks for the writer. In memory are only the vectors (shelf) and what the words index has
 * answered (word_lists); all else is in SQLite's page caches.
 */

/* Readers are opened on demand. Together they take 512 MB of page cache at most. CACHE_DEFAULT is
 * that of the setting cache_max. */
enum { READERS_DEFAULT = 64, READERS_OF_POSTGRES = 8, CACHE_DEFAULT = 512 << 20 };

/* The writer first: queued tasks are still written. The hold last, since closing a descriptor of
 * the file drops all locks that SQLite has on it in this process. Works on a store that was opened
 * halfway. */
void store_close(struct store *s)
{
    if (!s)
        return;
    writer_close(s->writer);
    readers_close(s);
    shelf_close(&s->shelf);
    word_lists_free(s->lists);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->given);
    hold_leave(&s->hold);
    sodium_free(s->key);
    free(s->erasures);
    free(s->path);
    free(s);
}

/* Runs on the writer's connection before the first task. Sessions that a crashed process had
 * claimed are free again, words split by other rules, or behind an accepted loss, are indexed
 * again, and what a killed process had begun to erase is erased, as is what was erased since a copy
 * of the database was made. */
static enum status prepare_writer(struct ctx *ctx, struct store *s, struct db *db)
{
    if (!s->asked.is_move)
        TRY(refuse_half_copied(ctx, db));
    TRY(claims_free(ctx, db));
    TRY(words_renew(ctx, db, s->asked.accepts_loss));
    TRY(forgets_finish(ctx, s, db));
    return erasure_log_open(ctx, s, db);
}

/* A file that is missing or empty where one was is not made anew. What is left is looked for first:
 * a store that is being made has bytes before it leaves anything. */
static enum status refuse_missing(struct ctx *ctx, struct store *s)
{
    str left = store_remains(ctx, str_of(s->path));
    if (!left.n || store_kind(ctx, str_of(s->path)) != STORE_ABSENT)
        return OK;
    if (s->asked.accepts_loss) {
        log_event(LOG_WARN, "store.loss_accepted", "file=\"%s\" lost=\"all of it\"", s->path);
        return OK;
    }
    return fail(ctx, STORAGE,
                "the database '%s' is missing or empty, and '" S_FMT
                "' is left of it; put it back, restore a backup, or begin an empty one: rememberd "
                "doctor --accept-loss",
                s->path, S_ARG(left));
}

/* The hold keeps others from replacing the file, and the key is checked before anything is
 * written. Runs again when it has failed and the store may wait. */
static enum status take_file(struct ctx *ctx, struct store *s)
{
    hold_leave(&s->hold);
    s->hold = (struct hold){.fd = -1};
    TRY(file_make_folders(ctx, s->path));
    TRY(refuse_missing(ctx, s));
    TRY(hold_take(ctx, s->path, HOLD_SHARED, &s->hold));
    TRY(file_check_key(ctx, s->path, file_kind(s->hold.fd), s->key));
    file_remove_part(ctx, s->path);
    hold_mark(&s->hold);
    return OK;
}

/* The writer brings up the schema before a reader prepares its statements. */
static enum status open_parts(struct ctx *ctx, struct store *s)
{
    static const struct writer_steps steps = {take_file, upgrade_keep_old, prepare_writer,
                                              erasure_log_follow};
    TRY(writer_open(ctx, s, &steps, &s->writer));
    if (atomic_load(&s->files.state) == FILES_AWAY)
        return OK;
    READER_SCOPE(first);
    return reader_begin(ctx, s, &first);
}

/* Memory that is not swapped where the system allows, between guard pages, and wiped when freed. */
static uint8_t *keep_key(const uint8_t *key)
{
    if (!key)
        return NULL;
    uint8_t *kept = sodium_malloc(STORE_KEY_BYTES);
    if (!kept)
        die_of_limits("out of memory");
    memcpy(kept, key, STORE_KEY_BYTES);
    sodium_mprotect_readonly(kept);
    return kept;
}

/* Lists of words and messages have some of it each, vectors the rest. SQLite's own cache has what
 * they leave out; PostgreSQL has to be asked for it. */
static void open_caches(struct store *s, size_t bytes)
{
    enum { PART = 8, ENOUGH = 16 << 20 };
    size_t part = bytes / PART, some = part < ENOUGH || s->is_postgres ? part : ENOUGH;
    s->lists = word_lists_new(some);
    shelf_open(&s->shelf, bytes - 2 * some);
}

enum status sql_open(struct ctx *ctx, const struct store_settings *settings, bool is_postgres,
                     struct store **out)
{
    if (is_postgres && settings->key)
        return fail(ctx, UNSUPPORTED,
                    "a store in PostgreSQL is not encrypted by rememberd; its disk can be");
    struct store *s = heap_alloc(sizeof *s);
    s->is_postgres = is_postgres;
    s->path = heap_alloc(settings->path.n + 1);
    memcpy(s->path, settings->path.p, settings->path.n);
    if (settings->erasures.n) {
        s->erasures = heap_alloc(settings->erasures.n + 1);
        memcpy(s->erasures, settings->erasures.p, settings->erasures.n);
    }
    files_open(&s->files, s->path);
    s->hold.fd = -1;
    s->key = keep_key(settings->key);
    s->asked = *settings;
    s->asked.path = s->asked.erasures = S("");
    s->asked.key = NULL;
    s->max_open = settings->readers ? settings->readers
                  : s->is_postgres  ? READERS_OF_POSTGRES
                                    : READERS_DEFAULT;
    if (s->max_open > READERS_MAX)
        s->max_open = READERS_MAX;
    open_caches(s, settings->cache_bytes ? settings->cache_bytes : CACHE_DEFAULT);
    pthread_mutex_init(&s->lock, NULL);
    steady_cond_init(&s->given);
    enum status status = open_parts(ctx, s);
    if (status == OK)
        *out = s;
    else
        store_close(s);
    return status;
}

/* Of PostgreSQL's URLs: libpq knows both. */
static const char *const postgres_schemes[] = {
#ifdef WITH_POSTGRES
    "postgres",
    "postgresql",
#endif
    NULL,
};

/* "scheme://…" names a database; a path without one is a file. */
enum status store_open(struct ctx *ctx, const struct store_settings *settings, struct store **out)
{
    if (!settings->path.n)
        return fail(ctx, BAD_INPUT, "the store needs a path");
    size_t at = str_find(settings->path, S("://"));
    str scheme = at < settings->path.n ? str_sub(settings->path, 0, at) : S("");
    bool is_postgres = name_index(postgres_schemes, scheme, -1) >= 0;
    if (scheme.n && !is_postgres)
        return fail(ctx, UNSUPPORTED, "this build has no store for '" S_FMT "://'", S_ARG(scheme));
    return sql_open(ctx, settings, is_postgres, out);
}

/* --- waiting for the writer --- */

enum status store_flush(struct ctx *ctx, struct store *s)
{
    return writer_run(s->writer, &(struct task){.ctx = ctx, .is_flush = true});
}

enum status store_settle_pool(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t ms)
{
    TRY(pool_check_reach(ctx, pool));
    uint64_t which = pool.space.n ? writer_pool(pool) : 0;
    bool is_seen = writer_settle_pool(s->writer, which, ms);
    return is_seen ? OK : fail(ctx, TIMED_OUT, "what was queued cannot be read yet");
}

/* --- the store itself --- */

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

/* Of a database that is no file of this machine. */
static enum status read_server(struct ctx *ctx, struct db *db, struct store_stats *out)
{
    int64_t connections = 0;
    int version = pg_version(db->pg);
    snprintf(out->server, sizeof out->server, "PostgreSQL %d.%d", version / 10000, version % 10000);
    out->schema = pg_schema_version();
    SQL_RUN(q, ctx, db, SQL_DATABASE_STATS);
    TRY(SQL_GET_ROW(&q, out->bytes, connections));
    out->is_shared = connections > 1;
    return OK;
}

enum status store_stats(struct ctx *ctx, struct store *s, struct store_stats *out)
{
    struct store_stats found = {.schema = schema_version()};
    READER(r, ctx, s);
    SQL_RUN(q, ctx, r.db, SQL_STATS);
    TRY(SQL_GET_ROW(&q, found.users, found.pools, found.sessions, found.messages, found.memories,
                    found.receipts));
    if (store_is_postgres(s)) {
        TRY(read_server(ctx, r.db, &found));
    } else {
        found.bytes = size_of(s->path);
        found.wal_bytes = size_of(str_printf(&ctx->arena, "%s-wal", s->path).p);
        found.is_shared = atomic_load(&s->files.state) == FILES_OPEN && hold_is_shared(&s->hold);
    }
    found.cache_bytes = (int64_t)(shelf_bytes(&s->shelf, 0) + word_lists_bytes(s->lists));
    writer_count(s->writer, &found);
    *out = found;
    return OK;
}

/* Reads one row: a disk that cannot be read fails here. Writing is judged by the last group, which
 * the writer tries again from time to time when it has failed. */
enum status store_ping(struct ctx *ctx, struct store *s)
{
    bool any;
    TRY(store_has_tokens(ctx, s, &any));
    TRY(files_check(ctx, &s->files));
    return writer_failure(ctx, s->writer);
}
