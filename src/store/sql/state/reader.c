/* reader.c - connections that only read, lent to one call at a time. */
#include "store/sql/state/reader.h"

#include <errno.h>

#include "base/clock.h"
#include "core/text_annotations.h"
#include "store/sql/db/schema.h"
#include "store/sql/index/posting_cache.h"
#include "store/sql/state/writer.h"

/*
 * In WAL mode readers neither wait for the writer nor for each other, but a connection serves one
 * thread at a time. Opening one reads the schema, and each prepares its statements, so connections
 * are kept.
 *
 * Before the store is open (the disk is full or cannot be written to), each read opens the file for
 * itself, without locks and without the log: nobody else can write there either. After the file was
 * lost no connection is opened, since it would open another file.
 */

enum { CACHE_KIB = 8000, CACHES_KIB = 512000 }; /* of one connection, and of all */

/* Looked at before and behind the opening: it must be the file that the writer has. When it was
 * lost meanwhile, what is at the path now may be another database beside the old log: closing its
 * only connection would bring that log into it. */
static enum status open_file(struct ctx *ctx, struct store *s, struct db *db)
{
    TRY(files_check(ctx, &s->files));
    size_t cache = CACHES_KIB / s->max_open < CACHE_KIB ? CACHES_KIB / s->max_open : CACHE_KIB;
    str pragmas = str_printf(&ctx->arena, "PRAGMA query_only=ON; PRAGMA cache_size=-%zu", cache);
    enum status status = db_open(ctx, s->path, s->key, db);
    status = status == OK ? db_exec(ctx, db, pragmas.p) : status;
    CLEANUP(ctx_free) struct ctx look = ctx_detached(ctx);
    if (files_check(&look, &s->files) != OK) {
        db_close_unsettled(db);
        ctx_clear_failure(ctx);
        status = files_check(ctx, &s->files);
    }
    return status;
}

/* Why there is no database; the writer may have opened it since. */
static enum status open_later(struct ctx *ctx, struct store *s)
{
    TRY(writer_failure(ctx, s->writer));
    return fail_as(ctx, STORAGE, STORAGE_AWAY, "the database is being opened");
}

/* The file as it is, while the store cannot be opened. A log holds newer pages, which cannot be
 * read without writing beside it. The failure is that of the opening, which says more. */
static enum status open_passing(struct ctx *ctx, struct store *s, struct db *db)
{
    struct stat log;
    int64_t version;
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    const char *path = str_printf(&own.arena, "%s-wal", s->path).p;
    bool has_log = stat(path, &log) == 0 && log.st_size > 0;
    enum status status = has_log ? STORAGE : db_open_to_read(&own, s->path, s->key, db);
    status = status == OK ? schema_check(&own, db, &version) : status;
    return status == OK && version == schema_version() ? OK : open_later(ctx, s);
}

static void close_reader(struct db *db)
{
    db_close(db);
    free(db);
}

static enum status reader_open(struct ctx *ctx, struct store *s, bool is_passing, struct db **out)
{
    struct db *db = heap_alloc(sizeof *db);
    enum status status = store_is_postgres(s) ? db_connect(ctx, s->path, db)
                         : is_passing         ? open_passing(ctx, s, db)
                                              : open_file(ctx, s, db);
    db->lists = s->lists;
    if (status == OK)
        *out = db;
    else
        close_reader(db);
    return status;
}

static bool may_open(const struct store *s)
{
    return s->n_open < s->max_open && atomic_load(&s->files.state) == FILES_OPEN;
}

/* Waits until a reader is idle or may be opened; false: PostgreSQL is away. The lock is held. */
static bool wait_for_reader(struct ctx *ctx, struct store *s)
{
    int64_t left_us = ctx->deadline_us ? ctx->deadline_us - clock_mono_us() : 0;
    struct timespec until = steady_in_ms(left_us > 0 ? left_us / 1000 + 1 : 0);
    int rc = 0;
    while (!s->n_idle && !may_open(s) && s->n_open && rc != ETIMEDOUT && !store_is_away(s))
        rc = ctx->deadline_us ? pthread_cond_timedwait(&s->given, &s->lock, &until)
                              : pthread_cond_wait(&s->given, &s->lock);
    return !store_is_away(s);
}

/* The lock is held. */
static enum status check_free(struct ctx *ctx, struct store *s)
{
    if (s->n_idle || may_open(s))
        return OK;
    return s->n_open ? fail(ctx, TIMED_OUT, "all %zu connections that read the database are in use",
                            s->n_open)
                     : files_check(ctx, &s->files);
}

/* An idle reader, else a new one, else the next that is given back. The writer takes this lock
 * within its own, so it is asked for its failure without. */
static enum status take_reader(struct ctx *ctx, struct store *s, struct db **out)
{
    pthread_mutex_lock(&s->lock);
    bool is_reached = wait_for_reader(ctx, s);
    enum status status = is_reached ? check_free(ctx, s) : STORAGE;
    bool is_new = status == OK && !s->n_idle;
    /* The place is taken before the lock is left; opening happens without it. */
    if (is_new)
        s->n_open++;
    else if (status == OK)
        *out = s->idle[--s->n_idle];
    pthread_mutex_unlock(&s->lock);
    if (!is_new)
        return is_reached ? status : open_later(ctx, s);
    status = reader_open(ctx, s, false, out);
    if (status != OK) {
        pthread_mutex_lock(&s->lock);
        s->n_open--;
        pthread_cond_signal(&s->given);
        pthread_mutex_unlock(&s->lock);
        if (store_is_postgres(s))
            writer_look_soon(s->writer, false);
    }
    return status;
}

/* One whose transaction could not be ended is closed: another is opened in its place. */
static void give_back(struct store *s, struct db *db)
{
    bool is_lost = is_postgres(db) && pg_is_lost(db->pg);
    bool is_silent = is_lost && pg_is_silent(db->pg);
    bool is_fit = !is_lost && !db_in_transaction(db);
    if (!is_fit)
        close_reader(db);
    if (is_lost)
        writer_look_soon(s->writer, is_silent);
    HOLD(&s->lock);
    assert(s->n_idle < s->n_open);
    if (is_fit)
        s->idle[s->n_idle++] = db;
    else
        s->n_open--;
    pthread_cond_signal(&s->given);
}

/* In PostgreSQL a statement ends with the time that is left, and a second for what is under way or
 * begins late: a connection that gives up is lost, and the next one costs milliseconds. */
static void limit_reader(struct ctx *ctx, struct db *db)
{
    enum { GRACE_US = 1000000 };
    int64_t now = clock_mono_us();
    int64_t end = ctx->deadline_us > now ? ctx->deadline_us : now;
    if (is_postgres(db))
        pg_limit(db->pg, ctx->deadline_us ? end + GRACE_US : 0);
}

/* A transaction, so that all statements of a read see the same state. *out is set before the
 * transaction begins, so that READER gives the connection back also when that fails. The view
 * begins with the first statement that reads (BEGIN DEFERRED). */
static enum status begin_read(struct ctx *ctx, struct store *s, struct reader *out)
{
    struct db *db = NULL;
    bool is_passing = atomic_load(&s->files.state) == FILES_AWAY;
    if (is_passing && store_is_postgres(s))
        return open_later(ctx, s);
    TRY(is_passing ? reader_open(ctx, s, true, &db) : take_reader(ctx, s, &db));
    assert(!db_in_transaction(db));
    *out = (struct reader){s, db, is_passing, false};
    limit_reader(ctx, db);
    enum status status = SQL_DO(ctx, db, SQL_BEGIN_READ);
    if (status != STORAGE || !is_postgres(db) || !pg_is_lost(db->pg))
        return status;
    /* Lost while it was idle: the next one, until one must be opened. */
    reader_end(out);
    *out = (struct reader){0};
    ctx_clear_failure(ctx);
    return begin_read(ctx, s, out);
}

/* --- one view for many reads --- */

struct read_view {
    struct store *s;
    struct reader r; /* its db is NULL while it rests */
    struct text_annotations *notes;
    struct seen seen; /* since r began */
};

struct store_view store_view_begin(struct ctx *ctx, struct store *s)
{
    if (ctx->view)
        return (struct store_view){NULL};
    ctx->view = NEW(&ctx->arena, struct read_view);
    ctx->view->s = s;
    return (struct store_view){ctx};
}

void store_view_rest(struct ctx *ctx, UNUSED struct store *s)
{
    if (!ctx->view)
        return;
    struct reader *r = &ctx->view->r;
    if (r->db)
        r->db->seen = NULL;
    reader_end(r);
    *r = (struct reader){0};
}

void store_view_pause(struct ctx *ctx, struct store *s)
{
    if (!store_is_postgres(s))
        store_view_rest(ctx, s);
}

void store_view_end(struct store_view *v)
{
    struct ctx *ctx = v->ctx;
    if (!ctx)
        return;
    store_view_rest(ctx, ctx->view->s);
    if (ctx->view->notes)
        word_lists_keep_notes(ctx->view->s->lists, ctx->view->notes);
    ctx->view = NULL;
}

void reader_give_notes(struct ctx *ctx, int64_t pool, uint64_t words, struct message *v, size_t n)
{
    for (size_t i = 0; i < n && ctx->view; i++) {
        struct text_annotations *notes = v[i].notes;
        if (!v[i].id.n)
            continue;
        v[i].notes = notes = notes ? notes : NEW(&ctx->arena, struct text_annotations);
        notes->pool = pool;
        notes->doc = v[i].doc;
        notes->view = words;
        notes->next = ctx->view->notes;
        ctx->view->notes = notes;
    }
}

/* A view that cannot begin is none: the failed read reports it, and the next one tries again. */
static enum status begin_in_view(struct ctx *ctx, struct reader *out)
{
    struct read_view *view = ctx->view;
    struct reader *r = &view->r;
    if (!r->db) {
        enum status status = begin_read(ctx, view->s, r);
        if (status != OK) {
            store_view_rest(ctx, view->s);
            return status;
        }
        view->seen = (struct seen){.words = 0};
        r->db->seen = &view->seen;
    }
    limit_reader(ctx, r->db);
    *out = *r;
    out->is_lent = true;
    return OK;
}

enum status reader_begin(struct ctx *ctx, struct store *s, struct reader *out)
{
    if (atomic_load(&s->files.state) == FILES_LOST)
        return files_check(ctx, &s->files);
    return ctx->view && ctx->view->s == s ? begin_in_view(ctx, out) : begin_read(ctx, s, out);
}

/* PostgreSQL ends a statement of others after half a minute, and joins no whole tables. */
enum status reader_begin_long(struct ctx *ctx, struct store *s, struct reader *out)
{
    TRY(reader_begin(ctx, s, out));
    static const char set[] = "SET LOCAL statement_timeout TO 0; SET LOCAL enable_seqscan TO on";
    return is_postgres(out->db) ? db_exec(ctx, out->db, set) : OK;
}

enum status reader_begin_access(struct ctx *ctx, struct store *s, struct reader *out,
                                bool *is_empty)
{
    *is_empty = !store_is_postgres(s) && atomic_load(&s->files.state) == FILES_AWAY &&
                store_kind(ctx, str_of(s->path)) == STORE_ABSENT;
    return *is_empty ? OK : begin_read(ctx, s, out);
}

/* What was read is read, also when the transaction cannot be ended. */
void reader_end(struct reader *r)
{
    CLEANUP(ctx_free) struct ctx quiet = {0};
    if (!r->db || r->is_lent)
        return;
    if (db_in_transaction(r->db))
        soft(&quiet, SQL_DO(&quiet, r->db, SQL_COMMIT));
    if (r->is_passing)
        close_reader(r->db);
    else
        give_back(r->s, r->db);
}

void readers_close(struct store *s)
{
    assert(s->n_idle == s->n_open);
    while (s->n_idle)
        close_reader(s->idle[--s->n_idle]);
}
