/* loop.h - one thread's event loop: its connections, its transfers, and what others put in. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <curl/curl.h>
#include <uv.h>

#include "http/server/list.h"
#include "http/server/server.h"

enum { IDLE_HANDLES_MAX = 64, READ_BYTES = 64 << 10 };

struct exchange;
struct loop;
struct watch;

struct counters {
    _Atomic uint64_t requests, errors, relays, relays_cancelled, bytes_in, bytes_out, rejected_busy,
        rejected_connections, shed_connections;
};

/* What another thread gives to a loop: a member of it. */
struct posted {
    struct posted *next;
    void (*take)(struct loop *l, struct posted *p); /* on the loop */
};

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t sweep, curl_timer;
    uv_timer_cb on_sweep;
    uv_poll_t accept; /* of the first loop only */
    pthread_t thread;
    pthread_t self; /* the same, set by the thread for loop_is_here */
    struct server *server;
    pthread_mutex_t lock; /* of inbox */
    struct posted *inbox, **inbox_end;
    struct list conns, dirty; /* dirty: with output for conns_flush */
    struct list turns;        /* with requests sent ahead, in the order of their turns */
    struct list idle_conns;   /* longest idle first; idle_eviction.c */
    _Atomic size_t idle_count, sheds;
    _Atomic int64_t idle_from_us;
    struct exchange *owed;
    CURLM *multi;
    struct watch **watches; /* by file descriptor */
    size_t n_watches;
    bool multi_is_busy, multi_again;
    void (*flush)(struct loop *l); /* sends what curl's callbacks have added for clients */
    CURL *idle[IDLE_HANDLES_MAX];  /* kept for the next relay */
    size_t n_idle;
    enum server_phase seen;
    bool accepts, accept_rests;
    int64_t date_s;
    char date[32];
    uint64_t next_id, id_base;
    struct counters count;
    char read_buf[READ_BYTES];
};

void loop_wake(struct loop *l);
/* From any thread. */
void loop_post(struct loop *l, struct posted *p);
/* Starts the sweep if it rests. */
void loop_tick(struct loop *l);
/* Now, for a Date header; until the next call. */
str loop_date(struct loop *l);

/* --- loop_thread.c, for who starts and stops the server --- */

void loop_open(struct loop *l, struct server *s);
void loop_start(struct loop *l);
void loop_close(struct loop *l);

/* --- multi.c: curl's transfers inside a loop --- */

/* flush: called each time after curl, whose callbacks may have added output for clients. */
void multi_open(struct loop *l, void (*flush)(struct loop *l));
void multi_close(struct loop *l);
/* Lets curl act on a handle that was just added, without waiting for the next turn. */
void multi_kick(struct loop *l);
CURL *multi_handle(struct loop *l);
void multi_handle_back(struct loop *l, CURL *easy);

/* --- */

/* For asserts: connections, exchanges and transfers belong to the thread of their loop. */
static inline bool loop_is_here(const struct loop *l)
{
    return pthread_equal(l->self, pthread_self());
}

static inline void count_up(_Atomic uint64_t *n, uint64_t by)
{
    atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}
