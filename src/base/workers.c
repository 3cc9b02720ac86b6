/* workers.c - a ring of jobs, a few threads, one lock. */
#include "base/workers.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

/* An overloaded server refuses at once, which is better than a queue of requests that have long
 * timed out. The lock is never held while a job runs. */

struct job {
    void (*fn)(void *arg);
    void *arg;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t some;
    struct job *ring;
    size_t size, first, waiting, n_threads;
    bool ending;
    pthread_t threads[];
};

static void *run_worker(void *arg)
{
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->waiting && !p->ending)
            pthread_cond_wait(&p->some, &p->lock);
        if (!p->waiting)
            break;
        assert(p->waiting <= p->size);
        struct job job = p->ring[p->first];
        p->first = (p->first + 1) % p->size;
        p->waiting--;
        pthread_mutex_unlock(&p->lock); /* a job may take seconds, or queue another one */
        job.fn(job.arg);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct pool *pool_new(size_t threads, size_t queue)
{
    assert(threads && queue);
    struct pool *p = heap_alloc(sizeof *p + threads * sizeof p->threads[0]);
    p->ring = heap_alloc(queue * sizeof *p->ring);
    p->size = queue;
    p->n_threads = threads;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->some, NULL);
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&p->threads[i], NULL, run_worker, p) != 0)
            die_of_limits("cannot start a thread");
    return p;
}

enum status pool_run(struct pool *p, void (*fn)(void *arg), void *arg)
{
    HOLD(&p->lock);
    if (p->waiting == p->size || p->ending)
        return TOO_BUSY;
    p->ring[(p->first + p->waiting++) % p->size] = (struct job){fn, arg};
    pthread_cond_signal(&p->some);
    return OK;
}

/* May not be called from a job: it would join itself. */
void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_broadcast(&p->some);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->n_threads; i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->some);
    free(p->ring);
    free(p);
}
