/* multi.c - curl's transfers inside the loop that owns the clients. */
#include <sys/socket.h>

#include "http/curl/libcurl.h"
#include "http/server/loop.h"
#include "http/server/transfer.h"

enum { CONNECT_MS = 15000 }; /* for an upstream to take a connection */

/*
 * curl knows sockets by their numbers, and so do the watches: one is made for each number that curl
 * has ever used, and serves whatever socket has the number next. It holds nothing of the kernel's
 * while curl does not wait for the socket. That must not depend on the closing of a socket, since
 * not every libcurl reports it of connections that were given up before they were made.
 */
struct watch {
    uv_poll_t poll;
    struct loop *loop;
    curl_socket_t fd;
    int events; /* that libuv watches; 0: none */
};

/* t->over may start another transfer while this goes on: multi_info_read is asked until it is
 * empty. */
static void end_transfers(struct loop *l)
{
    int left;
    for (CURLMsg *m = libcurl.multi_info_read(l->multi, &left); m;
         m = libcurl.multi_info_read(l->multi, &left)) {
        struct transfer *t = NULL;
        CURLcode result = m->data.result;
        if (m->msg != CURLMSG_DONE)
            continue;
        libcurl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
        assert(t);
        t->over(t, result);
    }
}

/* curl's functions must not be called from within each other. A relay that ends in a callback and
 * asks again only marks that curl has more to do. Output for clients goes out after curl returned,
 * one write for all pieces of a turn. */
static void run_curl(struct loop *l, curl_socket_t fd, int what)
{
    int running;
    assert(l->multi);
    if (l->multi_is_busy) {
        l->multi_again = true;
        return;
    }
    l->multi_is_busy = true;
    do {
        l->multi_again = false;
        libcurl.multi_socket_action(l->multi, fd, what, &running);
        end_transfers(l);
        l->flush(l);
        fd = CURL_SOCKET_TIMEOUT;
        what = 0;
    } while (l->multi_again);
    l->multi_is_busy = false;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *w = poll->data;
    int what = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
               (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);
    run_curl(w->loop, w->fd, status < 0 ? CURL_CSELECT_ERR : what);
}

/* Descriptors are small numbers that the kernel uses again, so an array by number finds a watch
 * faster than any table. */
static struct watch *watch_of(struct loop *l, curl_socket_t fd)
{
    return (size_t)fd < l->n_watches ? l->watches[fd] : NULL;
}

static struct watch *watch_new(struct loop *l, curl_socket_t fd)
{
    struct watch *w = heap_alloc(sizeof *w);
    if ((size_t)fd >= l->n_watches) {
        size_t n = (size_t)fd * 2 + 64;
        l->watches = heap_grow(l->watches, n * sizeof(struct watch *));
        memset(l->watches + l->n_watches, 0, (n - l->n_watches) * sizeof(struct watch *));
        l->n_watches = n;
    }
    assert(!l->watches[fd]);
    *w = (struct watch){.loop = l, .fd = fd};
    w->poll.data = w;
    if (uv_poll_init(&l->uv, &w->poll, fd) != 0) {
        free(w);
        return NULL;
    }
    l->watches[fd] = w;
    return w;
}

/* CURLMOPT_SOCKETFUNCTION: curl says which sockets it waits for, and for what; libuv does the
 * waiting. CURL_POLL_REMOVE has neither bit. */
static int on_socket(UNUSED CURL *easy, curl_socket_t fd, int what, void *arg,
                     UNUSED void *socket_arg)
{
    struct watch *w = watch_of(arg, fd);
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (!w && events)
        w = watch_new(arg, fd);
    if (!w)
        return events ? -1 : 0;
    if (events && events != w->events)
        uv_poll_start(&w->poll, events, on_poll);
    else if (!events)
        uv_poll_stop(&w->poll);
    w->events = events;
    return 0;
}

/* Opened here for the flags that keep it out of child processes. A watch that curl has not ended is
 * of a closed socket with this number; curl takes it for the new one's. */
static curl_socket_t on_open(void *arg, UNUSED curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *t = arg;
    int fd = egress_socket(t->barred, address, SOCK_NONBLOCK);
    struct watch *w = fd < 0 ? NULL : watch_of(t->loop, fd);
    if (w && w->events)
        uv_poll_start(&w->poll, w->events, on_poll);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

void multi_kick(struct loop *l)
{
    run_curl(l, CURL_SOCKET_TIMEOUT, 0);
}

static void on_time(uv_timer_t *t)
{
    multi_kick(t->data);
}

/* CURLMOPT_TIMERFUNCTION: ms until curl wants to be called again, -1 for never. */
static int on_timer(UNUSED CURLM *multi, long ms, void *arg)
{
    struct loop *l = arg;
    if (ms < 0)
        uv_timer_stop(&l->curl_timer);
    else
        uv_timer_start(&l->curl_timer, on_time, (uint64_t)ms, 0);
    return 0;
}

void multi_open(struct loop *l, void (*flush)(struct loop *l))
{
    l->flush = flush;
    uv_timer_init(&l->uv, &l->curl_timer);
    l->curl_timer.data = l;
}

/* Begins with the first call of a loop, because curl's own tables and caches take memory. */
static void multi_start(struct loop *l)
{
    assert(loop_is_here(l) && libcurl_is_open());
    l->multi = libcurl.multi_init();
    if (!l->multi)
        die_of_limits("out of memory");
    libcurl.multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    libcurl.multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    libcurl.multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    libcurl.multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
    libcurl.multi_setopt(l->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    libcurl.multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, 256L);
}

static void on_watch_closed(uv_handle_t *h)
{
    free(h->data);
}

/* Watches end last, since curl may still ask for one while it closes its sockets. */
void multi_close(struct loop *l)
{
    while (l->n_idle)
        libcurl.easy_cleanup(l->idle[--l->n_idle]);
    if (l->multi)
        libcurl.multi_cleanup(l->multi);
    for (size_t i = 0; i < l->n_watches; i++)
        if (l->watches[i])
            uv_close((uv_handle_t *)&l->watches[i]->poll, on_watch_closed);
    uv_close((uv_handle_t *)&l->curl_timer, NULL);
}

/* A handle serves one relay after another: the options that never change are set once. */
CURL *multi_handle(struct loop *l)
{
    if (l->n_idle)
        return l->idle[--l->n_idle];
    if (!l->multi)
        multi_start(l);
    CURL *easy = libcurl.easy_init();
    if (!easy)
        die_of_limits("out of memory");
    libcurl_set_route(easy);
    libcurl_set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    libcurl_set(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    libcurl_set(easy, CURLOPT_BUFFERSIZE, 16384L);
    libcurl_set(easy, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
    libcurl_set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    libcurl_set(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    return easy;
}

void multi_handle_back(struct loop *l, CURL *easy)
{
    libcurl_set(easy, CURLOPT_HTTPHEADER, NULL);
    if (l->n_idle < IDLE_HANDLES_MAX)
        l->idle[l->n_idle++] = easy;
    else
        libcurl.easy_cleanup(easy);
}
