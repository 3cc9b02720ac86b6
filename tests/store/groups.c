/* groups.c - writes that share a transaction: their order, their failures, their waits, their
 * locks. */
#include <pthread.h>
#include <semaphore.h>

#include "lib/store.h"
#include "store/postgres/pipeline.h"
#include "store/sql/state/sql_store.h"
#include "store/sql/state/writer_int.h"

/* The writer is held by a task while others are queued, so these are one group. */
struct hold_up {
    struct store *s;
    sem_t begun, end;
    pthread_t thread;
};

static enum status wait_for_end(struct ctx *ctx, struct db *db, const void *what)
{
    struct hold_up *h = *(struct hold_up *const *)what;
    (void)ctx, (void)db;
    sem_post(&h->begun);
    sem_wait(&h->end);
    return OK;
}

static void *hold_writer(void *arg)
{
    struct hold_up *h = arg;
    struct ctx own = {0}, *ctx = &own;
    CHECK_OK(writer_call(ctx, h->s->writer, wait_for_end, &h));
    ctx_free(ctx);
    return NULL;
}

static void hold_begin(struct hold_up *h, struct store *s)
{
    h->s = s;
    sem_init(&h->begun, 0, 0);
    sem_init(&h->end, 0, 0);
    CHECK_INT(pthread_create(&h->thread, NULL, hold_writer, h), 0);
    sem_wait(&h->begun);
}

static void hold_end(struct hold_up *h)
{
    sem_post(&h->end);
    pthread_join(h->thread, NULL);
    sem_destroy(&h->begun);
    sem_destroy(&h->end);
}

static struct pool_ref pool_at(struct ctx *ctx, int no)
{
    return (struct pool_ref){str_printf(&ctx->arena, "user %d", no), S("default")};
}

/* A turn of one message, whose text is its id. */
static void queue_turn(struct ctx *ctx, struct store *s, int pool, str id, bool goes_on)
{
    struct message m = {.id = id, .role = S("user"), .text = id, .created = 1700000000000};
    struct bundle b = {.pool = pool_at(ctx, pool),
                       .session = {.id = goes_on ? S("nowhere") : S("talk")},
                       .messages = &m,
                       .n_messages = 1,
                       .goes_on = goes_on,
                       .distil_at = 1700000000000};
    CHECK_OK(store_write_later(ctx, s, &b));
}

/* The ids of a pool's session, each with a blank behind it. */
static str said_in(struct ctx *ctx, struct store *s, int pool)
{
    struct message *v;
    size_t n;
    struct buf b = buf_make(&ctx->arena, 1000);
    struct session session;
    CHECK_OK(store_session(ctx, s, pool_at(ctx, pool), S("talk"), &session));
    CHECK_OK(store_session_messages(ctx, s, pool_at(ctx, pool), S("talk"), 0, 100, &v, &n));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, S_FMT " ", S_ARG(v[i].id));
    CHECK_INT(session.messages, n);
    return buf_str(&b);
}

static void check_said(struct ctx *ctx, struct store *s, int pool, const char *ids)
{
    CHECK_STR(said_in(ctx, s, pool), str_of(ids));
}

TEST(a_group_keeps_the_order_of_each_pool_and_writes_once)
{
    PLACE(p);
    STORE(s, p);
    struct hold_up h;
    hold_begin(&h, s);
    for (int i = 0; i < 3; i++)
        for (int pool = 0; pool < 3; pool++)
            queue_turn(ctx, s, pool, str_printf(&ctx->arena, "m%d", i), false);
    queue_turn(ctx, s, 1, S("m1"), false); /* a retry */
    queue_turn(ctx, s, 0, S("m3"), false);
    hold_end(&h);
    CHECK_OK(store_flush(ctx, s));
    check_said(ctx, s, 0, "m0 m1 m2 m3 ");
    check_said(ctx, s, 1, "m0 m1 m2 ");
    check_said(ctx, s, 2, "m0 m1 m2 ");
    check_healthy(ctx, s);
}

/* Wherever it is among those that share a savepoint. */
TEST(a_write_that_fails_leaves_its_group)
{
    enum { POOLS = 4 };
    PLACE(p);
    STORE(s, p);
    for (int bad = 0; bad < POOLS; bad++) {
        struct hold_up h;
        str id = str_printf(&ctx->arena, "m%d", bad);
        hold_begin(&h, s);
        for (int pool = 0; pool < POOLS; pool++)
            queue_turn(ctx, s, pool, id, pool == bad);
        hold_end(&h);
        CHECK_INT(store_flush(ctx, s), NOT_FOUND);
        ctx_clear_failure(ctx);
    }
    check_said(ctx, s, 0, "m1 m2 m3 ");
    check_said(ctx, s, 1, "m0 m2 m3 ");
    check_said(ctx, s, 2, "m0 m1 m3 ");
    check_said(ctx, s, 3, "m0 m1 m2 ");
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM signal"), 12);
    check_healthy(ctx, s);
}

/* An import, say, notes what is wrong with a line, and then writes that it has failed. */
TEST(a_write_that_succeeds_leaves_what_its_caller_has_noted)
{
    PLACE(p);
    STORE(s, p);
    struct message m = {.id = S("m1"), .role = S("user"), .text = S("a boat")};
    struct bundle b = {.pool = mine, .session = {.id = S("talk")}, .messages = &m, .n_messages = 1};
    CHECK_INT(fail_field(ctx, "content", "is missing"), BAD_INPUT);
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_STR(str_of(ctx->field), S("content"));
    ctx_clear_failure(ctx);
}

/* For what all of them ask, their savepoint, their words, the commit; and what holds the writer,
 * the flush, and once a second a look for other servers. */
TEST(turns_of_a_group_wait_together)
{
    enum { POOLS = 24, TRIES = 6, MOST = 10 };
    PLACE(p);
    STORE(s, p);
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        struct hold_up h;
        hold_begin(&h, s);
        for (int pool = 0; pool < POOLS; pool++)
            queue_turn(ctx, s, pool, str_printf(&ctx->arena, "m%d", i), false);
        int64_t before = pipeline_trips();
        hold_end(&h);
        CHECK_OK(store_flush(ctx, s));
        int64_t trips = pipeline_trips() - before;
        least = trips < least ? trips : least;
    }
    CHECK(is_on_postgres() ? least > 0 && least <= MOST : least == 0);
}

/* --- two servers --- */

struct other_way {
    struct store *s;
    bool is_back;
};

static void *write_groups_of_all(void *arg)
{
    enum { POOLS = 8, GROUPS = 25 };
    const struct other_way *o = arg;
    for (int i = 0; i < GROUPS; i++) {
        struct ctx own = {0}, *ctx = &own;
        struct hold_up h;
        hold_begin(&h, o->s);
        for (int pool = 0; pool < POOLS; pool++)
            queue_turn(ctx, o->s, o->is_back ? POOLS - 1 - pool : pool,
                       str_printf(&ctx->arena, "%s%d", o->is_back ? "b" : "a", i), false);
        hold_end(&h);
        CHECK_OK(store_flush(ctx, o->s));
        ctx_free(ctx);
    }
    return NULL;
}

TEST(servers_that_write_the_same_pools_do_not_stop_each_other)
{
    PLACE(p);
    STORE(s, p);
    struct store *other = NULL;
    pthread_t thread;
    if (!is_on_postgres())
        return;
    for (int pool = 0; pool < 8; pool++)
        queue_turn(ctx, s, pool, S("first"), false);
    CHECK_OK(store_flush(ctx, s));
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p.path)}, &other));
    struct other_way forth = {s, false}, back = {other, true};
    CHECK_INT(pthread_create(&thread, NULL, write_groups_of_all, &back), 0);
    write_groups_of_all(&forth);
    pthread_join(thread, NULL);
    for (int pool = 0; pool < 8; pool++) {
        struct session session;
        CHECK_OK(store_session(ctx, s, pool_at(ctx, pool), S("talk"), &session));
        CHECK_INT(session.messages, 51);
    }
    store_close(other);
    CHECK_INT(place_int(ctx, &p,
                        "SELECT deadlocks FROM pg_stat_database WHERE datname ="
                        " current_database()"),
              0);
    check_healthy(ctx, s);
}

/* PostgreSQL is open again, and what the last group had to do is not settled yet. A chat goes on
 * without memory only when there is no database. */
TEST(a_failure_before_the_new_connection_is_that_postgresql_is_away)
{
    PLACE(p);
    STORE(s, p);
    struct writer *w = s->writer;
    pthread_mutex_lock(&w->lock);
    CHECK(w->is_open);
    w->result = STORAGE;
    snprintf(w->why, sizeof w->why, "the connection was lost");
    pthread_mutex_unlock(&w->lock);
    CHECK_STATUS(writer_failure(ctx, w), STORAGE);
    CHECK_INT(ctx->detail == STORAGE_AWAY, is_on_postgres());
    ctx_clear_failure(ctx);
    struct message m = said("m1", "user", "Ithaca", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(writer_failure(ctx, w));
}
