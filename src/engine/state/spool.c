/* spool.c - lines that wait on this machine's disk until the store can be reached. */
#include "engine/state/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/workers.h"

/*
 * The file begins with the place of the first line that waits. Each line begins with the slot of
 * its pool, so that a new process counts them without parsing them. A line that a crash cut has no
 * end, and is cut off. The place is synced: after a crash the line that was kept last may come
 * again, which adds nothing, but none before it, as its conversation has gone on. With the last
 * line the file is emptied.
 */
enum { SPOOL_MAX = 256 << 20, HEAD = 21, SLOTS = 256, MARK = 4 };

struct spool {
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t dropped;
    int64_t first, end;     /* places in the file */
    size_t first_bytes;     /* of the line that spool_first has given, */
    size_t first_slot;      /* and of its pool */
    int64_t waiting[SLOTS]; /* lines of the pools of a slot */
    atomic_int_least64_t n; /* looked at without the lock */
};

static size_t slot_of(struct pool_ref pool)
{
    return hash64(STR_LIST(pool.user, pool.space)) % SLOTS;
}

static enum status fail_file(struct ctx *ctx, const char *what)
{
    return fail(ctx, STORAGE, "the spool cannot be %s: %s", what, strerror(errno));
}

/* --- the file --- */

static bool put_first(struct spool *s, int64_t first)
{
    char head[HEAD + 1];
    snprintf(head, sizeof head, "%020lld\n", (long long)first);
    return pwrite(s->fd, head, HEAD, 0) == HEAD;
}

/* Counts the whole lines behind the first one. */
static void count_lines(struct spool *s, str all)
{
    str rest = str_sub(all, (size_t)s->first, all.n);
    s->end = s->first;
    while (str_find(rest, S("\n")) < rest.n) {
        str line = str_cut(&rest, '\n');
        s->end += (int64_t)line.n + 1;
        s->waiting[strtoul(str_is(line, "") ? "0" : line.p, NULL, 10) % SLOTS]++;
        s->n++;
    }
}

static enum status read_file(struct ctx *ctx, struct spool *s)
{
    off_t n = lseek(s->fd, 0, SEEK_END);
    char *all = n > 0 ? arena_alloc(&ctx->arena, (size_t)n + 1) : NULL;
    if (n < 0 || (n > 0 && pread(s->fd, all, (size_t)n, 0) != n))
        return fail_file(ctx, "read");
    s->first = n >= HEAD ? strtoll(all, NULL, 10) : 0;
    if (s->first < HEAD || s->first > n)
        s->first = HEAD;
    if (n >= HEAD)
        count_lines(s, (str){all, (size_t)n});
    if (s->end < HEAD)
        s->end = HEAD;
    if (!put_first(s, s->first) || ftruncate(s->fd, s->end) != 0)
        return fail_file(ctx, "written");
    return OK;
}

enum status spool_open(struct ctx *ctx, const char *path, struct spool **out)
{
    struct spool *s = heap_alloc(sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    steady_cond_init(&s->dropped);
    s->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    enum status status = s->fd < 0 ? fail_file(ctx, "opened") : OK;
    if (status == OK && flock(s->fd, LOCK_EX | LOCK_NB) != 0)
        status = fail(ctx, TOO_BUSY, "another process has the spool '%s'", path);
    if (status == OK)
        status = read_file(ctx, s);
    if (status == OK)
        *out = s;
    else
        spool_close(&s);
    return status;
}

void spool_close(struct spool **held)
{
    struct spool *s = *held;
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->dropped);
    free(s);
}

/* --- lines --- */

/* What was written in part is overwritten by the next line. */
static enum status add_line(struct ctx *ctx, struct spool *s, size_t slot, str line)
{
    struct buf b = buf_make(&ctx->arena, line.n + MARK + 2);
    buf_printf(&b, "%03zu ", slot);
    buf_add(&b, line);
    buf_byte(&b, '\n');
    str all = buf_str(&b);
    pthread_mutex_lock(&s->lock);
    bool is_full = s->end + (int64_t)all.n > SPOOL_MAX;
    bool is_written = !is_full && pwrite(s->fd, all.p, all.n, s->end) == (ssize_t)all.n;
    if (is_written) {
        s->end += (int64_t)all.n;
        s->waiting[slot]++;
        s->n++;
    }
    pthread_mutex_unlock(&s->lock);
    if (is_full)
        return fail(ctx, TOO_BUSY, "the spool is full");
    return is_written && fdatasync(s->fd) == 0 ? OK : fail_file(ctx, "written");
}

enum status spool_add(struct ctx *ctx, struct spool *s, struct pool_ref pool, str line)
{
    return add_line(ctx, s, slot_of(pool), line);
}

/* The length of a line is not known: it is read in pieces, each twice as long. */
enum status spool_first(struct ctx *ctx, struct spool *s, str *line, bool *any)
{
    pthread_mutex_lock(&s->lock);
    int64_t first = s->first, left = s->end - first;
    pthread_mutex_unlock(&s->lock);
    *any = left > 0;
    for (int64_t n = 4096; *any; n *= 2) {
        n = n < left ? n : left;
        char *p = arena_alloc(&ctx->arena, (size_t)n);
        if (pread(s->fd, p, (size_t)n, first) != n)
            return fail_file(ctx, "read");
        const char *end = memchr(p, '\n', (size_t)n);
        if (!end && n < left)
            continue;
        s->first_bytes = end ? (size_t)(end - p) + 1 : (size_t)n;
        s->first_slot = strtoul(p, NULL, 10) % SLOTS;
        *line = str_sub((str){p, s->first_bytes - 1}, MARK, s->first_bytes - 1);
        return OK;
    }
    return OK;
}

enum status spool_take(struct ctx *ctx, struct spool *s, struct spool *from)
{
    while (spool_lines(from)) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        str line;
        bool any;
        TRY(ctx_pass(ctx, &own, spool_first(&own, from, &line, &any)));
        TRY(ctx_pass(ctx, &own, add_line(&own, s, from->first_slot, line)));
        spool_drop(from);
    }
    return OK;
}

void spool_drop(struct spool *s)
{
    bool is_done = true;
    HOLD(&s->lock);
    s->waiting[s->first_slot]--;
    s->n--;
    s->first += (int64_t)s->first_bytes;
    if (s->first == s->end) {
        s->first = s->end = HEAD;
        is_done &= ftruncate(s->fd, HEAD) == 0;
    }
    is_done &= put_first(s, s->first) && fdatasync(s->fd) == 0;
    pthread_cond_broadcast(&s->dropped);
    if (!is_done)
        log_event(LOG_ERROR, "spool.failed", "why=\"%s\"", strerror(errno));
}

/* --- looking --- */

/* User "": of anyone; space "": of all spaces, whose slots are not known. The lock is held. */
static bool is_waiting(const struct spool *s, struct pool_ref pool)
{
    return pool.user.n && pool.space.n ? s->waiting[slot_of(pool)] > 0 : s->n > 0;
}

bool spool_holds(struct spool *s, struct pool_ref pool)
{
    if (!s || !s->n)
        return false;
    HOLD(&s->lock);
    return is_waiting(s, pool);
}

void spool_wait(struct spool *s, struct pool_ref pool, int64_t ms)
{
    struct timespec until = steady_in_ms(ms);
    int rc = 0;
    if (!s || !s->n)
        return;
    HOLD(&s->lock);
    while (is_waiting(s, pool) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&s->dropped, &s->lock, &until);
}

int64_t spool_lines(struct spool *s)
{
    return s ? s->n : 0;
}
