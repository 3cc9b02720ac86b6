/* reader.c - a few connections that only read, lent to one call at a time. */
#include "store/sqlite/state/reader.h"

#include <assert.h>

/*
 * In WAL mode readers neither wait for the writer nor for each other, but a connection serves one
 * thread at a time. Opening one reads the schema and prepares every statement, so connections are
 * kept.
 *
 * The pool of connections grows to max_open and never shrinks. When all are lent, a call waits for
 * the next one without regard to its deadline, so max_open should not be less than the number of
 * threads that read.
 */

static enum status reader_open(struct ctx *ctx, struct sqlite_store *s, struct db **out)
{
    struct db *db = heap_alloc(sizeof *db);
    enum status status = db_open(ctx, s->path, s->key, db);
    if (status == OK)
        status = db_exec(ctx, db, "PRAGMA query_only=ON");
    if (status == OK)
        status = db_prepare(ctx, db, READS);
    if (status != OK) {
        db_close(db);
        free(db);
        return status;
    }
    db->lists = s->lists;
    *out = db;
    return OK;
}

/* An idle reader, else a new one, else the next that is given back. */
static enum status take_reader(struct ctx *ctx, struct sqlite_store *s, struct db **out)
{
    pthread_mutex_lock(&s->lock);
    while (!s->n_idle && s->n_open == s->max_open)
        pthread_cond_wait(&s->given, &s->lock);
    bool is_new = !s->n_idle;
    /* The place is taken before the lock is left; opening happens without it. */
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

static void give_back(struct sqlite_store *s, struct db *db)
{
    pthread_mutex_lock(&s->lock);
    assert(s->n_idle < s->n_open);
    s->idle[s->n_idle++] = db;
    pthread_cond_signal(&s->given);
    pthread_mutex_unlock(&s->lock);
}

/* A transaction, so that all statements of a read see the same state. *out is set before the
 * transaction begins, so that READER gives the connection back also when that fails. The view
 * begins with the first statement that reads (BEGIN DEFERRED). */
enum status reader_begin(struct ctx *ctx, struct sqlite_store *s, struct reader *out)
{
    struct db *db;
    TRY(take_reader(ctx, s, &db));
    assert(!db_in_transaction(db));
    *out = (struct reader){s, db};
    return SQL_DO(ctx, db, SQL_BEGIN_READ);
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
    give_back(r->s, r->db);
    ctx_free(&quiet);
}

void readers_close(struct sqlite_store *s)
{
    assert(s->n_idle == s->n_open);
    while (s->n_idle) {
        struct db *db = s->idle[--s->n_idle];
        db_close(db);
        free(db);
    }
}
