/* work.h - background work as people see it: what was done, what waits, what is stored. */
#pragma once

#include "core/memory.h"

/* One piece of background work, for people who ask what happened and what it cost. */
struct work {
    struct pool_ref pool;
    str kind;    /* distil, consolidate, gate, rewrite, summary, profile, dedup, compact, reindex,
                    prune */
    str status;  /* success, skipped, empty, error, dead */
    str details; /* in words; never a message's text */
    str model;
    int64_t tokens_in, tokens_out, took_ms, created;
};

/* Of what asked a model: model is not "". Forgetting a pool leaves its work without names. */
struct work_sum {
    int64_t calls, failures; /* not skipped; error or dead */
    int64_t tokens_in, tokens_out, took_ms;
};

/* Turns that wait to be distilled. */
struct signal_stats {
    int64_t signals, sessions, dead, failed; /* that wait; sessions that are dead, that failed */
    int64_t oldest;                          /* unix ms; 0: none */
    str error;                               /* the last one of what waits */
};

/* What a store holds and has done. */
struct store_stats {
    int64_t users, pools, sessions, messages, memories, receipts, bytes, wal_bytes;
    int64_t cache_bytes;                /* of what was read, in memory */
    int64_t queued;                     /* bundles waiting to be written */
    uint64_t writes, commits, failures; /* since open */
    int schema;                         /* version of the schema */
    bool is_shared;  /* another process has the file open now: a server or a command */
    char server[48]; /* "PostgreSQL 15.4", or "" for a file */
};
