/* loop_thread.c - the thread of an event loop: new clients, what wakes it, deadlines, its end. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/server/attempts.h"
#include "http/server/conn.h"
#include "http/server/exchange.h"

/*
 * ACCEPTS_AT_ONCE lets the first loop's own clients have their turn between two lots of new ones.
 * REFUSED_MAX is for connections over the limit that still get to read why.
 */
enum { ACCEPTS_AT_ONCE = 64, REFUSED_MAX = 64 };

/* --- new clients --- */

/* Closes as many as this loop was asked to. */
static void shed_idle(struct loop *l)
{
    assert(loop_is_here(l));
    for (size_t n = atomic_exchange(&l->sheds, 0); n && l->idle_conns.first; n--) {
        count_up(&l->count.shed_connections, 1);
        conn_close(container_of(l->idle_conns.first, struct conn, idle.link));
    }
}

/* False when no connection is idle. */
static bool make_room(struct server *s)
{
    struct loop *l = idle_choose(s);
    if (l == &s->loops[0])
        shed_idle(l);
    else if (l)
        loop_wake(l);
    return l != NULL;
}

/* A counted socket becomes a connection, also while the server stops: a proxy has sent a request as
 * soon as it is connected. */
static void open_socket(struct loop *l, int fd, bool is_refused)
{
    struct server *s = l->server;
    if (atomic_load(&s->phase) < CUTTING) {
        conn_open(l, fd, is_refused);
        return;
    }
    close(fd);
    atomic_fetch_sub(is_refused ? &s->refused : &s->connections, 1);
    server_changed(s);
}

/* A socket on its way from the accepting loop to another one. */
struct given {
    struct posted posted;
    int fd;
    bool is_refused;
};

static void take_given(struct loop *l, struct posted *p)
{
    struct given *given = container_of(p, struct given, posted);
    open_socket(l, given->fd, given->is_refused);
    free(given);
}

/* A client over the limit still reads why it is refused, but only REFUSED_MAX of them at once, and
 * no more than may connect: that would be a way around the limit. */
static void take_socket(struct server *s, int fd)
{
    int one = 1;
    bool is_refused = server_is_full(s) && !make_room(s);
    struct loop *first = &s->loops[0], *l = &s->loops[s->next_loop++ % s->n_loops];
    if (is_refused) {
        count_up(&first->count.rejected_connections, 1);
        size_t refused = atomic_load(&s->refused);
        if (refused >= REFUSED_MAX || refused >= s->settings.connections_max) {
            close(fd);
            return;
        }
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    atomic_fetch_add(is_refused ? &s->refused : &s->connections, 1);
    if (l == first) {
        open_socket(first, fd, is_refused);
        return;
    }
    struct given *given = heap_alloc(sizeof *given);
    *given = (struct given){.posted.take = take_given, .fd = fd, .is_refused = is_refused};
    loop_post(l, &given->posted);
}

/* On the first loop, when the listening socket is readable. True when more may be waiting. */
static bool accept_clients(struct server *s)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        int fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            take_socket(s, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* No descriptor is free. The socket stays readable, so without a pause the loop would
             * spin; the next sweep listens again. */
            log_event(LOG_WARN, "http.accept", "why=\"%s\"", strerror(errno));
            s->loops[0].accept_rests = true;
            uv_poll_stop(&s->loops[0].accept);
            loop_tick(&s->loops[0]);
        }
        return false;
    }
    return true;
}

/* --- what others put in --- */

/* The whole list at once, without the lock: what takes a thing may post, answer or open a
 * connection. */
static void take_posted(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    struct posted *p = l->inbox;
    l->inbox = NULL;
    l->inbox_end = &l->inbox;
    pthread_mutex_unlock(&l->lock);
    while (p) {
        struct posted *next = p->next;
        p->take(l, p);
        p = next;
    }
}

/* --- the server's phases --- */

/* In every phase from STOPPING on; only the first loop has something to close. The listener is
 * closed here and nowhere else, and closing it would reset those who are connected already. */
static void stop_accepting(struct loop *l)
{
    if (!l->accepts)
        return;
    while (accept_clients(l->server))
        ;
    l->accepts = false;
    uv_close((uv_handle_t *)&l->accept, NULL);
    listener_close(&l->server->listener); /* a client that connects now is refused at once */
}

/* A connection that has sent a part of a request may still finish it; those between two requests
 * have nothing to lose, unless they were opened or answered a moment ago. */
static void close_idle(struct loop *l)
{
    for (struct link *at = l->conns.first, *next; at; at = next) {
        struct conn *c = container_of(at, struct conn, all);
        next = at->next;
        if (c->state != CONN_IDLE)
            continue;
        c->deadline_us += (UNDERWAY_MS - l->server->settings.idle_ms) * 1000;
        conn_sweep(c, clock_mono_us());
    }
}

static void cut_all(struct loop *l)
{
    while (l->conns.first) {
        struct conn *c = container_of(l->conns.first, struct conn, all);
        if (c->state == CONN_ANSWERING)
            atomic_fetch_add(&l->server->cut, 1);
        conn_close(c);
    }
}

/* uv_run returns when no handle is left. curl ends before them: closing it closes its sockets,
 * whose watches must still be there. */
static void end_loop(struct loop *l)
{
    take_posted(l); /* a worker may have posted an exchange after this waking took the others */
    cut_all(l);
    multi_close(l);
    uv_close((uv_handle_t *)&l->sweep, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
}

/* Each loop passes through the phases in order and confirms each one exactly once; lifecycle.c
 * waits for the count in seen. */
static void enter_phase(struct loop *l)
{
    enum server_phase phase = (enum server_phase)atomic_load(&l->server->phase);
    assert(loop_is_here(l) && phase >= l->seen);
    if (phase == l->seen)
        return;
    if (phase >= STOPPING)
        stop_accepting(l);
    l->seen = phase;
    if (phase == STOPPING)
        close_idle(l);
    else if (phase == CUTTING)
        cut_all(l);
    else if (phase == ENDING)
        end_loop(l);
    atomic_fetch_add(&l->server->seen, 1);
    server_changed(l->server);
}

/* Wakings are not counted: libuv may make one call of several, so each looks at everything. */
static void on_wake(uv_async_t *wake)
{
    struct loop *l = wake->data;
    take_posted(l);
    conns_take_turns(l);
    shed_idle(l);
    enter_phase(l);
}

/* --- deadlines --- */

static void on_accept(uv_poll_t *poll, UNUSED int status, UNUSED int events)
{
    (void)accept_clients(((struct loop *)poll->data)->server);
}

/* One timer looks at every deadline ten times a second: a timer for each connection would be set
 * and cleared with every request. */
static void on_sweep(uv_timer_t *t)
{
    struct loop *l = t->data;
    int64_t now = clock_mono_us();
    for (struct link *at = l->conns.first, *next; at; at = next) {
        next = at->next;
        conn_sweep(container_of(at, struct conn, all), now);
    }
    exchanges_owed(l);
    conns_take_turns(l);
    attempts_log(l->server->attempts, now);
    if (l->accepts && l->accept_rests) {
        l->accept_rests = false;
        uv_poll_start(&l->accept, UV_READABLE, on_accept);
    }
    if (!l->conns.first && !l->owed)
        uv_timer_stop(t);
}

/* --- life --- */

/* Before any thread runs. Only the first loop accepts: two would wake up for each new client. */
void loop_open(struct loop *l, struct server *s)
{
    l->server = s;
    l->inbox_end = &l->inbox;
    list_open(&l->conns);
    list_open(&l->dirty);
    list_open(&l->turns);
    idle_open(l);
    l->on_sweep = on_sweep;
    pthread_mutex_init(&l->lock, NULL);
    if (uv_loop_init(&l->uv) != 0)
        die_of_limits("cannot make an event loop");
    uv_async_init(&l->uv, &l->wake, on_wake);
    uv_timer_init(&l->uv, &l->sweep);
    l->wake.data = l->sweep.data = l;
    uv_unref((uv_handle_t *)&l->sweep);
    multi_open(l, conns_flush);
    if (l != &s->loops[0])
        return;
    l->accepts = true;
    uv_poll_init(&l->uv, &l->accept, s->listener.fd);
    l->accept.data = l;
    uv_poll_start(&l->accept, UV_READABLE, on_accept);
}

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
        die_of_limits("cannot start a thread");
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
