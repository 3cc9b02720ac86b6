/* loop.c - the parts of an event loop that other threads and its own connections use. */
#include "http/server/loop.h"

#include <time.h>

#include "base/clock.h"

enum { SWEEP_MS = 100 }; /* how often deadlines are looked at */

/*
 * The loop's own thread alone touches its connections, exchanges and transfers (loop_is_here).
 * Others post to it: workers exchanges that have run, the accepting loop sockets. They only add to
 * a list under the lock and wake the loop. Nothing is called with the lock held, so that it has no
 * order with other locks.
 */

void loop_wake(struct loop *l)
{
    uv_async_send(&l->wake);
}

void loop_post(struct loop *l, struct posted *p)
{
    pthread_mutex_lock(&l->lock);
    p->next = NULL;
    *l->inbox_end = p;
    l->inbox_end = &p->next;
    pthread_mutex_unlock(&l->lock);
    loop_wake(l);
}

void loop_tick(struct loop *l)
{
    if (!uv_is_active((uv_handle_t *)&l->sweep) && !uv_is_closing((uv_handle_t *)&l->sweep))
        uv_timer_start(&l->sweep, l->on_sweep, SWEEP_MS, SWEEP_MS);
}

/* Made once a second for all replies of a loop. */
str loop_date(struct loop *l)
{
    time_t now = (time_t)(clock_ms() / 1000);
    if (now != l->date_s) {
        struct tm t;
        gmtime_r(&now, &t);
        strftime(l->date, sizeof l->date, "%a, %d %b %Y %H:%M:%S GMT", &t);
        l->date_s = now;
    }
    return str_of(l->date);
}
