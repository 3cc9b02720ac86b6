/* feed.c - the last events of this process in a ring, and those who listen to them. */
#include "engine/events/feed.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/workers.h"
#include "engine/state/known_tokens.h"

/*
 * The store's writer adds to the ring, and streams look at it: both hold the lock for
 * microseconds, and nothing is called with it. A listener has a number, the next event that it will
 * look at, so it costs nothing while it is slow; when the ring has gone on without it, it hears a
 * reset.
 *
 * An id is EPOCH-NUMBER. The epoch is random for each process, so that the id of an earlier one is
 * known for what it is.
 *
 * A listener sees what is its user's and in a space that it reached when it began. When a token of
 * that user is made or revoked its reach may be another one, so it ends, and the client that comes
 * again is asked again.
 */

struct kept {
    struct event event; /* its texts follow in the same piece of memory */
    int64_t at;
};

struct listener {
    struct feed *feed;
    struct listen_in in;
    struct ctx own; /* the texts of in */
    uint64_t next;  /* the number of the event to look at */
    bool is_lost, is_ended;
    struct listener *later, **before;
};

struct feed {
    struct follower follower; /* first: the store knows the feed by it */
    struct engine *engine;
    pthread_mutex_t lock;
    pthread_mutex_t beginning; /* one thread at a time makes the feed follow */
    bool follows;
    uint32_t epoch;
    uint64_t told; /* the number of the last event */
    struct kept *ring[EVENTS_KEPT];
    struct listener *listeners;
};

/* --- telling --- */

static char *put_text(char *at, str *s)
{
    if (s->n)
        memcpy(at, s->p, s->n);
    s->p = at;
    return at + s->n;
}

/* One piece of memory for each event: it is freed when the ring comes round. */
static struct kept *kept_new(const struct event *v)
{
    struct kept *k = heap_alloc(sizeof *k + v->pool.user.n + v->pool.space.n + v->id.n);
    k->event = *v;
    k->at = clock_ms();
    char *at = put_text((char *)(k + 1), &k->event.pool.user);
    at = put_text(at, &k->event.pool.space);
    put_text(at, &k->event.id);
    return k;
}

/* A token of the user that the listener is, or of the one whose credential it showed; and any token
 * at all for someone who showed none, as the first one closes the server. The lock is held. */
static void end_listeners(struct feed *f, str user)
{
    for (struct listener *l = f->listeners; l; l = l->later)
        l->is_ended |= !user.n || !l->in.has_token || str_eq(user, l->in.pool.user) ||
                       str_eq(user, l->in.owner);
}

static void take_events(struct follower *follower, const struct event *v, size_t n)
{
    struct feed *f = (struct feed *)follower;
    HOLD(&f->lock);
    for (size_t i = 0; i < n; i++) {
        if (v[i].kind == EVENT_ACCESS) {
            if (v[i].pool.user.n) /* else of someone, whose others need not suffer for it */
                known_tokens_forget(f->engine, v[i].pool.user);
            end_listeners(f, v[i].pool.user);
            continue;
        }
        struct kept **at = &f->ring[++f->told % EVENTS_KEPT];
        free(*at);
        *at = kept_new(&v[i]);
    }
}

void feed_tell(struct feed *f, const struct event *v)
{
    take_events(&f->follower, v, 1);
}

/* --- hearing --- */

/* What is nobody's is for operators, but a reset is for all. */
static bool is_for(const struct listen_in *in, const struct event *v)
{
    if (!v->pool.user.n)
        return v->kind == EVENT_RESET || in->is_operator;
    if (!str_eq(v->pool.user, in->pool.user))
        return false;
    return !v->pool.space.n || str_eq(v->pool.space, in->pool.space) ||
           (!in->pool.space.n && !strs_have(&in->hidden, v->pool.space) &&
            (!in->spaces.n || names_have(in->spaces, v->pool.space)));
}

static str id_text(struct arena *a, const struct feed *f, uint64_t no)
{
    return str_printf(a, "%08x-%llu", f->epoch, (unsigned long long)no);
}

str engine_heard_so_far(struct listener *l, struct arena *a)
{
    HOLD(&l->feed->lock);
    return id_text(a, l->feed, l->next - 1);
}

/* Goes on to the next event that is for it, or to the end. The lock is held. */
static bool find_next(struct listener *l)
{
    struct feed *f = l->feed;
    if (l->is_lost || f->told >= l->next + EVENTS_KEPT)
        return l->is_lost = true;
    while (l->next <= f->told && !is_for(&l->in, &f->ring[l->next % EVENTS_KEPT]->event))
        l->next++;
    return l->next <= f->told;
}

bool engine_hear(struct listener *l, struct arena *a, struct event_heard *out)
{
    struct feed *f = l->feed;
    HOLD(&f->lock);
    if (l->is_ended || !find_next(l))
        return false;
    if (l->is_lost) {
        l->is_lost = false;
        l->next = f->told + 1;
        *out = (struct event_heard){.kind = EVENT_RESET,
                                    .id = id_text(a, f, f->told),
                                    .at = clock_ms()};
        return true;
    }
    const struct kept *k = f->ring[l->next % EVENTS_KEPT];
    *out = (struct event_heard){k->event.kind, id_text(a, f, l->next), str_dup(a, k->event.id),
                                str_dup(a, k->event.pool.space), k->at};
    l->next++;
    return true;
}

/* The lock is held. */
static bool is_over(const struct listener *l)
{
    return l->is_ended || (l->in.until && clock_ms() >= l->in.until);
}

bool engine_has_heard(struct listener *l)
{
    HOLD(&l->feed->lock);
    return is_over(l) || find_next(l);
}

bool engine_may_listen(struct listener *l)
{
    HOLD(&l->feed->lock);
    return !is_over(l);
}

/* --- listening --- */

static void copy_in(struct listener *l, const struct listen_in *in)
{
    struct arena *a = &l->own.arena;
    l->in = *in;
    STRS_DUP(a, &l->in.pool.user, &l->in.pool.space, &l->in.owner, &l->in.spaces);
    l->in.hidden.v = NEW_N(a, str, in->hidden.n);
    for (size_t i = 0; i < in->hidden.n; i++)
        l->in.hidden.v[i] = str_dup(a, in->hidden.v[i]);
}

/* Behind the event that the client names, when the ring still has what came after it. The lock is
 * held. */
static void find_place(struct listener *l, str after)
{
    struct feed *f = l->feed;
    str number = after;
    int64_t no;
    l->next = f->told + 1;
    if (!after.n)
        return;
    str_cut(&number, '-');
    if (!str_int(number, &no) || no < 0 || (uint64_t)no > f->told ||
        !str_eq(after, id_text(&l->own.arena, f, (uint64_t)no)))
        l->is_lost = true;
    else
        l->next = (uint64_t)no + 1; /* too far back is noticed when it hears */
}

/* The lock is held. */
static enum status check_room(struct ctx *ctx, const struct feed *f, str user)
{
    size_t own = 0, all = 0;
    for (const struct listener *l = f->listeners; l; l = l->later, all++)
        own += str_eq(l->in.pool.user, user);
    if (own >= LISTENERS_OF_USER)
        return fail(ctx, TOO_BUSY, "this user has %d streams of events already", LISTENERS_OF_USER);
    if (all >= LISTENERS_MAX)
        return fail(ctx, TOO_BUSY, "the server has %d streams of events already", LISTENERS_MAX);
    return OK;
}

/* Without the lock, which the writer takes while it tells. */
static enum status begin_following(struct ctx *ctx, struct feed *f)
{
    HOLD(&f->beginning);
    if (!f->follows)
        TRY(store_follow(ctx, f->engine->store, &f->follower));
    f->follows = true;
    return OK;
}

enum status engine_listen(struct ctx *ctx, struct engine *e, const struct listen_in *in,
                          struct listener **out)
{
    struct feed *f = e->feed;
    assert(in->pool.user.n && in->owner.n);
    TRY(begin_following(ctx, f));
    HOLD(&f->lock);
    TRY(check_room(ctx, f, in->pool.user));
    struct listener *l = heap_alloc(sizeof *l);
    l->feed = f;
    copy_in(l, in);
    find_place(l, in->after);
    l->later = f->listeners;
    l->before = &f->listeners;
    if (l->later)
        l->later->before = &l->later;
    *out = f->listeners = l;
    return OK;
}

void engine_stop_listening(struct listener *l)
{
    pthread_mutex_lock(&l->feed->lock);
    *l->before = l->later;
    if (l->later)
        l->later->before = l->before;
    pthread_mutex_unlock(&l->feed->lock);
    ctx_free(&l->own);
    free(l);
}

/* --- life --- */

struct feed *feed_new(struct engine *e)
{
    struct feed *f = heap_alloc(sizeof *f);
    f->follower.take = take_events;
    f->engine = e;
    f->epoch = randombytes_random();
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->beginning, NULL);
    return f;
}

/* The store may go on without the engine, so it is told to forget the feed. */
void feed_free(struct feed *f)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    if (!f)
        return;
    assert(!f->listeners);
    if (f->follows)
        soft(&ctx, store_follow(&ctx, f->engine->store, NULL)); /* cannot fail */
    for (size_t i = 0; i < EVENTS_KEPT; i++)
        free(f->ring[i]);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->beginning);
    free(f);
}
