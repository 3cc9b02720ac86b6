/* sqlite.c - the SQLite backend: opening, closing, and its table of operations. */
#include <sodium.h>
#include <sys/stat.h>

#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

/* They are opened when they are needed; so many that nobody waits for one. */
enum { READERS_DEFAULT = 64, VECTOR_BYTES_DEFAULT = 512 << 20 };

static enum status bring_schema(struct ctx *ctx, const struct sqlite_store *s)
{
    struct db db;
    TRY(db_open(ctx, s->path, s->key, &db));
    enum status status = schema_bring(ctx, &db);
    db_close(&db);
    return status;
}

static void close_store(struct store *base)
{
    struct sqlite_store *s = sqlite_of(base);
    writer_close(s->writer);
    readers_close(s);
    shelf_close(&s->shelf);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->given);
    hold_leave(&s->hold);
    sodium_free(s->key);
    free(s->path);
    free(s);
}

static enum status open_parts(struct ctx *ctx, struct sqlite_store *s)
{
    TRY(file_make_folders(ctx, s->path));
    TRY(hold_take(ctx, s->path, HOLD_SHARED, &s->hold));
    TRY(file_check_key(ctx, s->path, file_kind(s->hold.fd), s->key));
    file_remove_part(ctx, s->path);
    TRY(bring_schema(ctx, s));
    hold_mark(&s->hold);
    TRY(writer_open(ctx, s->path, s->key, &s->hold, &s->writer));
    READER(first);
    return reader_begin(ctx, s, &first);
}

/* Memory that is not swapped out where the system allows, with walls around it; wiped when freed.
 */
static uint8_t *keep_key(const uint8_t *key)
{
    if (!key)
        return NULL;
    uint8_t *kept = sodium_malloc(STORE_KEY_BYTES);
    if (!kept)
        abort();
    memcpy(kept, key, STORE_KEY_BYTES);
    sodium_mprotect_readonly(kept);
    return kept;
}

static enum status open_store(struct ctx *ctx, const struct store_settings *settings,
                              struct store **out)
{
    struct sqlite_store *s = heap_alloc(sizeof *s);
    s->base.ops = &sqlite_ops;
    s->path = heap_alloc(settings->path.n + 1);
    memcpy(s->path, settings->path.p, settings->path.n);
    s->hold.fd = -1;
    s->key = keep_key(settings->key);
    s->max_open = settings->readers ? settings->readers : READERS_DEFAULT;
    if (s->max_open > READERS_MAX)
        s->max_open = READERS_MAX;
    shelf_open(&s->shelf, settings->vector_bytes ? settings->vector_bytes : VECTOR_BYTES_DEFAULT);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->given, NULL);
    enum status status = open_parts(ctx, s);
    if (status != OK) {
        close_store(&s->base);
        return status;
    }
    *out = &s->base;
    return OK;
}

/* --- what the writer does --- */

static enum status write_bundle(struct ctx *ctx, struct store *s, struct bundle *b)
{
    struct task t = {.kind = TASK_BUNDLE,
                     .ctx = ctx,
                     .bundle = b,
                     .words = bundle_words_of(&ctx->arena, b)};
    TRY(writer_run(sqlite_of(s)->writer, &t));
    if (b->replaces || b->n_erase)
        copies_follow(sqlite_of(s), &b->pool);
    return OK;
}

static enum status write_later(struct ctx *ctx, struct store *s, const struct bundle *b)
{
    return writer_later(ctx, sqlite_of(s)->writer, b);
}

static enum status flush(struct ctx *ctx, struct store *s)
{
    struct task t = {.kind = TASK_FLUSH, .ctx = ctx};
    return writer_run(sqlite_of(s)->writer, &t);
}

static enum status settle(struct ctx *ctx, struct store *s)
{
    return writer_settle(ctx, sqlite_of(s)->writer);
}

static enum status forget(struct ctx *ctx, struct store *s, const struct forget *what,
                          int64_t *erased)
{
    struct task t = {.kind = TASK_FORGET, .ctx = ctx, .forget = what};
    TRY(writer_run(sqlite_of(s)->writer, &t));
    copies_follow(sqlite_of(s), what->everything ? NULL : &what->pool);
    *erased = t.count;
    return OK;
}

static enum status change(struct ctx *ctx, struct store *s, const struct change *what,
                          struct memory *out)
{
    struct memory changed;
    struct task t = {.kind = TASK_CHANGE, .ctx = ctx, .change = what, .changed = &changed};
    TRY(writer_run(sqlite_of(s)->writer, &t));
    *out = changed;
    return OK;
}

static enum status condense(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            struct memory *summary, const str *ids, size_t n)
{
    struct memory kept = *summary;
    struct condense c = {pool, &kept, ids, n};
    TRY(writer_call(ctx, sqlite_of(s)->writer, memories_condense, &c));
    *summary = kept;
    return OK;
}

static enum status put_token(struct ctx *ctx, struct store *s, const struct token *token)
{
    struct task t = {.kind = TASK_TOKEN, .ctx = ctx, .token = token};
    return writer_run(sqlite_of(s)->writer, &t);
}

static enum status revoke_token(struct ctx *ctx, struct store *s, str user, str id)
{
    struct task t = {.kind = TASK_REVOKE, .ctx = ctx, .user = user, .id = id};
    return writer_run(sqlite_of(s)->writer, &t);
}

/* In pieces, so that other writes come between. */
static enum status prune_all(struct ctx *ctx, struct store *s, int64_t receipts_before,
                             int64_t expired_before, int64_t *removed)
{
    int64_t all = 0;
    for (;;) {
        struct task t = {.kind = TASK_PRUNE,
                         .ctx = ctx,
                         .receipts_before = receipts_before,
                         .expired_before = expired_before};
        TRY(writer_run(sqlite_of(s)->writer, &t));
        all += t.count;
        if (!t.count)
            break;
    }
    copies_follow(sqlite_of(s), NULL);
    *removed = all;
    return OK;
}

static uint64_t wait_written(struct store *s, uint64_t seen, int64_t ms)
{
    return writer_wait(sqlite_of(s)->writer, seen, ms);
}

static void wake(struct store *s)
{
    writer_wake(sqlite_of(s)->writer);
}

/* --- the store itself --- */

static enum status read_counts(struct ctx *ctx, struct db *db, struct store_stats *out)
{
    SQL_RUN(q, ctx, db, SQL_STATS);
    if (sql_row(&q)) {
        out->users = sql_get_int(&q);
        out->pools = sql_get_int(&q);
        out->sessions = sql_get_int(&q);
        out->messages = sql_get_int(&q);
        out->memories = sql_get_int(&q);
        out->receipts = sql_get_int(&q);
    }
    return sql_end(&q);
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

static enum status stats(struct ctx *ctx, struct store *base, struct store_stats *out)
{
    struct sqlite_store *s = sqlite_of(base);
    struct store_stats found = {.schema = schema_version()};
    READER(r);
    TRY(reader_begin(ctx, s, &r));
    TRY(read_counts(ctx, r.db, &found));
    struct writer_state w = writer_state(s->writer);
    found.bytes = size_of(s->path);
    found.wal_bytes = size_of(str_printf(&ctx->arena, "%s-wal", s->path).p);
    found.queued = w.queued;
    found.writes = w.writes;
    found.commits = w.commits;
    found.failures = w.failures;
    *out = found;
    return OK;
}

static enum status ping(struct ctx *ctx, struct store *s)
{
    bool any;
    TRY(sqlite_has_tokens(ctx, s, &any));
    struct writer_state w = writer_state(sqlite_of(s)->writer);
    return w.last == OK ? OK : fail(ctx, w.last, "the last write failed");
}

const struct store_ops sqlite_ops = {
    .scheme = "",
    .open = open_store,
    .close = close_store,
    .write = write_bundle,
    .write_later = write_later,
    .flush = flush,
    .settle = settle,
    .forget = forget,
    .change = change,
    .condense = condense,
    .find_chain = sqlite_find_chain,
    .messages = sqlite_messages,
    .memories = sqlite_memories,
    .memory = sqlite_memory,
    .session_messages = sqlite_session_messages,
    .sessions = sqlite_sessions,
    .list_memories = sqlite_list_memories,
    .memory_totals = sqlite_memory_totals,
    .pools = sqlite_pools,
    .users = sqlite_users,
    .pool_sums = sqlite_pool_sums,
    .setting = sqlite_setting,
    .put_setting = sqlite_put_setting,
    .mirror = sqlite_mirror,
    .mirror_all = sqlite_mirror_all,
    .mirror_waiting = sqlite_mirror_waiting,
    .mirror_done = sqlite_mirror_done,
    .search_words = sqlite_search_words,
    .vector_set = sqlite_vector_set,
    .begin_vectors = sqlite_begin_vectors,
    .unembedded = sqlite_unembedded,
    .put_vectors = sqlite_put_vectors,
    .search_vectors = sqlite_search_vectors,
    .vector_pairs = sqlite_vector_pairs,
    .vector_stats = sqlite_vector_stats,
    .wait = wait_written,
    .wake = wake,
    .due_sessions = sqlite_due_sessions,
    .signals = sqlite_signals,
    .end_distil = sqlite_end_distil,
    .flush_signals = sqlite_flush_signals,
    .signal_stats = sqlite_signal_stats,
    .log_work = sqlite_log_work,
    .work_log = sqlite_work_log,
    .work_sum = sqlite_work_sum,
    .touch = sqlite_touch,
    .consolidate = sqlite_consolidate,
    .receipt = sqlite_receipt,
    .receipt_of = sqlite_receipt_of,
    .session = sqlite_session,
    .put_session = sqlite_put_session,
    .change_session = sqlite_change_session,
    .user = sqlite_user,
    .user_by_email = sqlite_user_by_email,
    .sealed_users = sqlite_sealed_users,
    .put_user = sqlite_put_user,
    .put_token = put_token,
    .find_token = sqlite_find_token,
    .tokens = sqlite_tokens,
    .revoke_token = revoke_token,
    .has_tokens = sqlite_has_tokens,
    .token_used = sqlite_token_used,
    .stats = stats,
    .ping = ping,
    .check = sqlite_check,
    .prune = prune_all,
};
