/* loop.c - one thread's event loop: what wakes it, its deadlines, its end. */
#include "http/loop.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/conn.h"
#include "http/crowd.h"
#include "http/exchange.h"
#include "http/multi.h"

enum { SWEEP_MS = 100 }; /* how often deadlines are looked at */

/*
 * The loop's own thread alone touches its connections, exchanges and transfers (loop_is_here).
 * Others give it work in two ways: workers post exchanges that have run, and the accepting loop
 * gives it sockets. Both only add to a list under the lock and wake the loop. Nothing is called
 * with the lock held, so that it has no order with other locks.
 */

/* --- what others put in --- */

void loop_wake(struct loop *l)
{
    uv_async_send(&l->wake);
}

void loop_post(struct loop *l, struct exchange *x)
{
    pthread_mutex_lock(&l->lock);
    x->next = NULL;
    *l->inbox_end = x;
    l->inbox_end = &x->next;
    pthread_mutex_unlock(&l->lock);
    loop_wake(l);
}

bool loop_give_socket(struct loop *l, int fd, bool is_refused)
{
    pthread_mutex_lock(&l->lock);
    bool has_room = l->n_sockets < SOCKETS_MAX;
    if (has_room) {
        l->sockets[l->n_sockets].fd = fd;
        l->sockets[l->n_sockets++].is_refused = is_refused;
    }
    pthread_mutex_unlock(&l->lock);
    if (has_room)
        loop_wake(l);
    return has_room;
}

/* The lock is not held while a connection is opened, since that may call back into the loop. */
static void take_sockets(struct loop *l)
{
    for (;;) {
        pthread_mutex_lock(&l->lock);
        bool is_any = l->n_sockets > 0;
        int fd = is_any ? l->sockets[l->n_sockets - 1].fd : -1;
        bool is_refused = is_any && l->sockets[l->n_sockets - 1].is_refused;
        l->n_sockets -= is_any;
        pthread_mutex_unlock(&l->lock);
        if (!is_any)
            return;
        server_take(l, fd, is_refused);
    }
}

/* The whole list at once, because exchange_ran may post or answer, which takes time. */
static void take_exchanges(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    struct exchange *x = l->inbox;
    l->inbox = NULL;
    l->inbox_end = &l->inbox;
    pthread_mutex_unlock(&l->lock);
    while (x) {
        struct exchange *next = x->next;
        exchange_ran(x);
        x = next;
    }
}

/* --- the server's phases --- */

/* In every phase after SERVING; only the first loop has something to close. The listener is closed
 * here and nowhere else. */
static void stop_accepting(struct loop *l)
{
    if (!l->accepts)
        return;
    l->accepts = false;
    uv_close((uv_handle_t *)&l->accept, NULL);
    listener_close(&l->server->listener); /* a client that connects now is refused at once */
}

/* A connection that has sent a part of a request may still finish it; only those between two
 * requests have nothing to lose. */
static void close_idle(struct loop *l)
{
    for (struct conn *c = l->conns, *next; c; c = next) {
        next = c->next;
        if (c->state == CONN_IDLE)
            conn_close(c);
    }
}

static void cut_all(struct loop *l)
{
    while (l->conns) {
        struct conn *c = l->conns;
        if (c->state == CONN_ANSWERING)
            atomic_fetch_add(&l->server->cut, 1);
        conn_close(c);
    }
}

/* uv_run returns when no handle is left. curl ends before them: closing it closes its sockets,
 * whose watches must still be there. */
static void end_loop(struct loop *l)
{
    take_exchanges(l); /* a worker may have posted one after this waking took the others */
    cut_all(l);
    multi_close(l);
    uv_close((uv_handle_t *)&l->sweep, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
}

/* Each loop passes through the phases in order and confirms each one exactly once; server.c waits
 * for the count in seen. */
static void enter_phase(struct loop *l)
{
    enum server_phase phase = (enum server_phase)atomic_load(&l->server->phase);
    assert(loop_is_here(l) && phase >= l->seen);
    if (phase == l->seen)
        return;
    l->seen = phase;
    stop_accepting(l);
    if (phase == STOPPING)
        close_idle(l);
    else if (phase == CUTTING)
        cut_all(l);
    else
        end_loop(l);
    atomic_fetch_add(&l->server->seen, 1);
    server_changed(l->server);
}

/* Wakings are not counted: libuv may make one call of several, so each looks at everything. */
static void on_wake(uv_async_t *wake)
{
    struct loop *l = wake->data;
    take_sockets(l);
    take_exchanges(l);
    crowd_shed(l);
    enter_phase(l);
}

/* --- deadlines --- */

static void on_accept(uv_poll_t *poll, __attribute__((unused)) int status,
                      __attribute__((unused)) int events)
{
    server_accept(((struct loop *)poll->data)->server);
}

/* One timer looks at every deadline ten times a second: a timer for each connection would be set
 * and cleared with every request. */
static void on_sweep(uv_timer_t *t)
{
    struct loop *l = t->data;
    int64_t now = clock_mono_us();
    for (struct conn *c = l->conns, *next; c; c = next) {
        next = c->next;
        conn_sweep(c, now);
    }
    exchanges_owed(l);
    if (l->accepts && l->accept_rests) {
        l->accept_rests = false;
        uv_poll_start(&l->accept, UV_READABLE, on_accept);
    }
    if (!l->conns && !l->owed)
        uv_timer_stop(t);
}

void loop_tick(struct loop *l)
{
    if (!uv_is_active((uv_handle_t *)&l->sweep) && !uv_is_closing((uv_handle_t *)&l->sweep))
        uv_timer_start(&l->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
}

/* --- life --- */

/* Before any thread runs. Only the first loop accepts: two would wake up for each new client. */
void loop_open(struct loop *l, struct server *s)
{
    l->server = s;
    l->inbox_end = &l->inbox;
    crowd_open(l);
    pthread_mutex_init(&l->lock, NULL);
    if (uv_loop_init(&l->uv) != 0)
        abort();
    uv_async_init(&l->uv, &l->wake, on_wake);
    uv_timer_init(&l->uv, &l->sweep);
    l->wake.data = l->sweep.data = l;
    uv_unref((uv_handle_t *)&l->sweep);
    multi_open(l);
    if (l != &s->loops[0])
        return;
    l->accepts = true;
    uv_poll_init(&l->uv, &l->accept, s->listener.fd);
    l->accept.data = l;
    uv_poll_start(&l->accept, UV_READABLE, on_accept);
}

/* Returns when end_loop has closed the last handle. */
static void *run_loop(void *arg)
{
    struct loop *l = arg;
    l->self = pthread_self();
    uv_run(&l->uv, UV_RUN_DEFAULT);
    return NULL;
}

/* The main thread handles the signals. SIGPIPE, too, is blocked here: writing to a client that has
 * gone must not end the process. */
void loop_start(struct loop *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&l->thread, NULL, run_loop, l) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The thread has ended, so the done calls that found no worker run here. */
void loop_close(struct loop *l)
{
    pthread_join(l->thread, NULL);
    while (l->owed) {
        struct exchange *x = l->owed;
        l->owed = x->next;
        exchange_run_done(x);
    }
    uv_loop_close(&l->uv);
    pthread_mutex_destroy(&l->lock);
    free(l->watches);
}
