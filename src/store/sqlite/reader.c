/* reader.c - a few connections that only read, lent to one call at a time. */
#include "store/sqlite/sqlite_store.h"

static enum status reader_open(struct ctx *ctx, struct sqlite_store *s, struct db **out)
{
    struct db *db = heap_alloc(sizeof *db);
    enum status status = db_open(ctx, s->path, s->key, db);
    if (status == OK)
        status = db_exec(ctx, db, "PRAGMA query_only=ON");
    if (status == OK)
        status = words_setup(ctx, db);
    if (status == OK)
        status = list_setup(ctx, db);
    if (status == OK)
        status = db_prepare(ctx, db, READS);
    if (status != OK) {
        words_end(db);
        db_close(db);
        free(db);
        return status;
    }
    *out = db;
    return OK;
}

/* An idle one, else a new one, else the next that is given back. */
static enum status take(struct ctx *ctx, struct sqlite_store *s, struct db **out)
{
    pthread_mutex_lock(&s->lock);
    while (!s->n_idle && s->n_open == s->max_open)
        pthread_cond_wait(&s->given, &s->lock);
    bool is_new = !s->n_idle;
    if (is_new)
        s->n_open++;
    else
        *out = s->idle[--s->n_idle];
    pthread_mutex_unlock(&s->lock);
    if (!is_new)
        return OK;
    enum status status = reader_open(ctx, s, out);
    if (status != OK) {
        pthread_mutex_lock(&s->lock);
        s->n_open--;
        pthread_cond_signal(&s->given);
        pthread_mutex_unlock(&s->lock);
    }
    return status;
}

static void give(struct sqlite_store *s, struct db *db)
{
    pthread_mutex_lock(&s->lock);
    s->idle[s->n_idle++] = db;
    pthread_cond_signal(&s->given);
    pthread_mutex_unlock(&s->lock);
}

enum status reader_begin(struct ctx *ctx, struct sqlite_store *s, struct reader *out)
{
    struct db *db;
    TRY(take(ctx, s, &db));
    *out = (struct reader){s, db};
    SQL_RUN(q, ctx, db, SQL_BEGIN_READ);
    return sql_do(&q);
}

void reader_end(struct reader *r)
{
    struct ctx quiet = {0};
    if (!r->db)
        return;
    if (!sqlite3_get_autocommit(r->db->handle)) {
        SQL_RUN(q, &quiet, r->db, SQL_COMMIT);
        (void)!sql_do(&q);
    }
    give(r->s, r->db);
    ctx_free(&quiet);
}

void readers_close(struct sqlite_store *s)
{
    while (s->n_idle) {
        struct db *db = s->idle[--s->n_idle];
        words_end(db);
        db_close(db);
        free(db);
    }
}

enum status pool_find(struct ctx *ctx, struct db *db, struct pool_ref pool, struct pool_row *out)
{
    *out = (struct pool_row){0};
    SQL_RUN(q, ctx, db, SQL_POOL_FIND);
    sql_text(&q, pool.user);
    sql_text(&q, pool.space);
    if (sql_row(&q)) {
        out->no = sql_get_int(&q);
        out->messages = sql_get_int(&q);
        out->memories = sql_get_int(&q);
    }
    return sql_end(&q);
}

static enum status number_by_id(struct ctx *ctx, struct db *db, enum sql which, int64_t pool,
                                str id, int64_t *out)
{
    *out = 0;
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, pool);
    sql_text(&q, id);
    if (sql_row(&q))
        *out = sql_get_int(&q);
    return sql_end(&q);
}

enum status session_find(struct ctx *ctx, struct db *db, int64_t pool, str id, int64_t *no)
{
    return number_by_id(ctx, db, SQL_SESSION_FIND, pool, id, no);
}

enum status message_find(struct ctx *ctx, struct db *db, int64_t pool, str id, doc_id *out)
{
    return number_by_id(ctx, db, SQL_MESSAGE_FIND, pool, id, out);
}
