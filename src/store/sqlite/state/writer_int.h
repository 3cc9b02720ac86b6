/* writer_int.h - the writer as a struct, which its thread and its queue share. */
#pragma once

#include <pthread.h>
#include <time.h>

#include "store/sqlite/index/index.h"
#include "store/sqlite/state/log_sync.h"
#include "store/sqlite/state/notes.h"
#include "store/sqlite/state/writer.h"

enum {
    QUEUE_MAX = 4096, /* tasks that nobody waits for */
    POOL_SLOTS = 256  /* pools of one slot wait for each other's writes */
};

struct writer {
    pthread_t thread, sync_thread;
    pthread_mutex_t lock;
    pthread_cond_t some, done, written, seen, committed;
    struct task *first, **last;
    struct task *unsynced, **last_unsynced; /* committed, and not durable yet */
    bool is_syncing;                        /* from a commit on until its sync has ended */
    bool is_full;                           /* the connection syncs as it commits */
    bool is_unsafe;                         /* a sync failed: the log may have a hole */
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
    enum status result;
    struct ctx lost; /* first failure of a task without a waiter, until a flush reports it */
    struct db db;
    struct log_sync log;
    struct index_changes changes; /* noted by the group */
    struct notes notes;           /* the same, for who follows; of the writing thread alone */
};

/* So long from now, by the clock of the writer's timed waits. */
struct timespec writer_in_ms(int64_t ms);
