/* writer.h - the one thread that writes: a queue of tasks, committed in groups, synced by another.
 */
#pragma once

#include "store/sql/db/query.h"
#include "store/sql/state/sql_store.h"

/* What a task does, in the writer's transaction and, unless it is alone, in a savepoint of its own:
 * its failure undoes only its own changes. On PostgreSQL it may run again, behind a lost
 * connection: so what it leaves in memory must not add up. */
typedef enum status write_fn(struct ctx *ctx, struct db *db, const void *what);

struct task {
    struct ctx *ctx; /* lent by the thread that waits */
    write_fn *call;  /* NULL: nothing to write */
    const void *what;
    /* On PostgreSQL asks ahead what the call will ask. Then the call writes one pool, only notes
     * changes of the index, and does the same when it runs again. NULL: none of that. */
    void (*ask)(struct ctx *ctx, struct db *db, const void *what);
    struct pool_ref pool; /* the only one that it writes; without a user nobody knows */
    bool only_notes; /* changes the index only through db->changes, so a group shares the work */
    bool is_alone;   /* changes much: a group and a transaction of its own, without savepoint */
    bool erases;     /* ends when the log is emptied, so that nothing erased stays readable */
    bool is_touch;   /* may wait a little, and wakes nobody */
    bool is_early;   /* may be read before it is durable, though its thread waits for that */
    bool is_flush;   /* fails for what nobody waited for */
    bool is_probe;   /* the writer's own try, of the disk or to empty the log: counted nowhere */
    /* The writer's own. */
    size_t bytes;
    uint64_t no; /* its place in the queue */
    bool nobody_waits, is_done;
    int wait_ms;     /* for readers of the log, when that is not the usual time; or 0 */
    int left_in_log; /* it erased, and SQLite's code says why the log is not empty; or 0 */
    enum status result;
    struct task *next;
};

/* A task that nobody waits for, with the memory that it works on. */
struct later {
    struct task task;
    struct ctx ctx;
    uint64_t pool; /* writer_pool of what it writes; 0: writer_settle_pool waits for no such */
};

/* What several tasks are asked: of a pool, something by its id; and where their count goes. */
struct pool_call {
    struct pool_ref pool;
    str id;
    int64_t *n;
};

/* What opening takes besides the connection. */
struct writer_steps {
    enum status (*take_file)(struct ctx *ctx, struct store *s); /* before */
    /* On the connection, before an older version is upgraded. */
    enum status (*keep_old)(struct ctx *ctx, const struct store *s, struct db *db, int64_t version);
    /* On the connection; and behind a commit that has erased. */
    enum status (*prepare)(struct ctx *ctx, struct store *s, struct db *db);
    void (*erased)(struct ctx *ctx, struct store *s, struct db *db);
};

/* PostgreSQL cannot be reached: nobody waits for it. */
static inline bool store_is_away(const struct store *s)
{
    return store_is_postgres(s) && atomic_load(&s->files.state) == FILES_AWAY;
}

/* Opens the writer's connection and starts the thread. When the disk fails and the store may wait,
 * the thread opens it later. */
MUST_USE enum status writer_open(struct ctx *ctx, struct store *s, const struct writer_steps *steps,
                                 struct writer **out);
void writer_close(struct writer *w); /* writes what is queued first */

/* Runs the task on the writer and waits until it is durable. */
MUST_USE enum status writer_run(struct writer *w, struct task *t);
/* Of a task that ran and erased, asked when all else is done: TIMED_OUT when readers kept the log
 * from being emptied for 10 s, STORAGE when the disk did. */
MUST_USE enum status writer_erased(const struct task *t);
/* The same for a plain call. */
MUST_USE enum status writer_call(struct ctx *ctx, struct writer *w, write_fn *call,
                                 const void *what);

/* Makes a task with room in the queue for that many bytes: the caller copies its input into the
 * task's ctx and queues it. TOO_BUSY when the queue is full. */
MUST_USE enum status writer_reserve(struct ctx *ctx, struct writer *w, size_t bytes,
                                    struct later **out);
void writer_queue(struct writer *w, struct later *later, write_fn *call, const void *what);

uint64_t writer_pool(struct pool_ref pool);
/* The same for bundles of one pool (0: of any), at most so long: false when the time is over. */
bool writer_settle_pool(struct writer *w, uint64_t pool, int64_t ms);
/* Waits until what can be read now is durable; STORAGE when that failed. */
MUST_USE enum status writer_reach_disk(struct ctx *ctx, struct writer *w);

/* In PostgreSQL: a connection was lost or could not be opened, so the writer looks after its own.
 * is_silent: the server answers nobody, and until then nobody asks it. */
void writer_look_soon(struct writer *w, bool is_silent);

/* OK, or how and why the last write, or the opening, failed. */
enum status writer_failure(struct ctx *ctx, struct writer *w);

/* What is queued, and what was written. */
void writer_count(struct writer *w, struct store_stats *out);
