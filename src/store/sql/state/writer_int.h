/* writer_int.h - the writer as a struct, which its thread and its queue share. */
#pragma once

#include <stdatomic.h>

#include "base/workers.h"
#include "store/sql/index/index.h"
#include "store/sql/state/change_events.h"
#include "store/sql/state/commits.h"
#include "store/sql/state/writer.h"

enum {
    QUEUE_MAX = 4096,  /* tasks that nobody waits for */
    POOL_SLOTS = 256,  /* pools of one slot wait for each other's writes */
    LOOK_MS = 2000,    /* between two looks at the disk when nothing is written */
    EMPTY_LOG_MS = 100 /* wait for readers of the log; then others write first */
};

/* A connection that does nothing but sync the write-ahead log. */
struct log_sync {
    struct db db;
    sqlite3_file *log; /* of the connection */
};
/* Everything that any connection committed before the call is durable when it returns OK. */
MUST_USE enum status log_sync_run(struct ctx *ctx, struct log_sync *l);
void log_sync_close(struct log_sync *l);

struct writer {
    pthread_t thread, sync_thread;
    pthread_mutex_t lock;
    pthread_cond_t some, done, written, seen, committed;
    struct task *first, **last;
    struct task *unsynced; /* committed, and not durable yet */
    bool is_syncing;       /* from a commit on until its sync has ended */
    bool awaits_sync;      /* the writing thread waits for that end */
    bool is_full;          /* the connection syncs as it commits */
    atomic_bool is_unsafe; /* a sync failed: the log may have a hole */
    bool is_sync_ending;
    /* Tasks have numbers, from 1 on: of the last one queued, committed, synced or given up, and the
     * last one that somebody waits to read. */
    uint64_t queued_no, seen_no, ended_no, wanted_no;
    uint64_t last_later, last_of_pool[POOL_SLOTS]; /* the last bundle of all, of a pool's slot */
    size_t n_later, later_bytes;
    int64_t queued, touches;
    bool is_ending, is_woken;
    uint64_t groups; /* groups that wrote something, from 1 on */
    uint64_t writes, commits, failures;
    enum status result; /* of the last group, or of opening */
    char why[400];      /* it failed */
    struct store *s;
    const struct writer_steps *steps;
    bool is_open;    /* db and log; set by the thread alone, under the lock */
    bool has_left;   /* a lost file: the log is empty */
    bool is_stale;   /* the log could not be emptied behind an erasure */
    int64_t look_us; /* of the next look */
    /* Of PostgreSQL. */
    int64_t pause_ms;      /* between two tries to reach it; 0: it is reached */
    bool has_doubt;        /* a reader has lost it */
    bool has_late;         /* a task was queued while it was away, and somebody waits */
    int64_t xid;           /* of the last group's transaction */
    struct task *doubtful; /* of that group when the connection was lost: nobody waits for them */
    struct ctx lost;       /* first failure of a task without a waiter, until a flush reports it */
    struct db db;
    struct log_sync log;
    struct commits counted;       /* its latest is under the lock */
    struct index_changes changes; /* noted by the group */
    struct notes notes;           /* the same, for who follows; of the writing thread alone */
};

/* Opens the connections; on failure none is open. */
MUST_USE enum status writer_connect(struct ctx *ctx, struct writer *w);
/* Runs a task within the transaction of its group. */
MUST_USE enum status writer_task(struct writer *w, struct task *t, bool is_only);
/* The result of a group, or of opening. The lock is held. */
void writer_note_result(struct writer *w, const struct ctx *ctx, enum status result);
/* Whether it is time for a look: when nothing is written, or the store is not open yet. */
bool writer_is_due(const struct writer *w);
/* Looks whether the files are in their places; after a failure writes a row, or opens the store.
 * The lock is held. */
void writer_look(struct writer *w, struct ctx *ctx);
/* No connection can be opened: whoever waits for one, or for the writer, need not. The lock of the
 * writer is held. */
void writer_open_circuit(struct writer *w);
/* Whether the connection is lost; then reads and writes fail until there is one again. */
bool writer_lost_postgres(struct writer *w, struct ctx *ctx);
void writer_leave_postgres(struct writer *w);
/* Keeps the tasks of a group that nobody waits for until there is a connection, and gives the
 * others. */
struct task *writer_put_aside(struct writer *w, struct task *first);
/* Puts tasks before all others. The lock is held. */
void writer_put_back(struct writer *w, struct task *first);
/* Ends tasks with the results that they have. */
void writer_end(struct writer *w, struct task *first);

/* Takes the tasks that somebody waits for out of a list. */
struct task *writer_take_waited(struct task **list);
/* Brings the log into the file, or says by SQLite's code why not, and it is tried again later. */
int writer_empty_log(struct writer *w, int wait_ms);
/* Writes a group of tasks and ends them. */
void writer_write(struct writer *w, struct ctx *ctx, struct task *first);

/* On PostgreSQL: the connection opened with its tables, and a group of tasks run. */
MUST_USE enum status writer_open_on_postgres(struct ctx *ctx, struct writer *w);
MUST_USE enum status writer_group_on_postgres(struct ctx *ctx, struct writer *w,
                                              struct task *first);
/* Behind a new connection: whether the last group of the one before was written. */
MUST_USE enum status writer_settle_on_postgres(struct ctx *ctx, struct writer *w);
