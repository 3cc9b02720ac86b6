/* groups.c - writes that share a transaction: their order, their failures, their waits, their
 * locks. */
#include <pthread.h>
#include <sched.h>
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

/* --- tasks that are run again, or undone --- */

/* A call of its own thread, which waits in the queue when call_begin returns. */
struct call {
    struct store *s;
    enum status (*run)(struct ctx *ctx, struct call *c);
    struct ctx ctx;
    enum status status;
    struct waiting_session *due;
    size_t n_due;
    struct follower follower;
    size_t heard;
    atomic_bool is_over;
    pthread_t thread;
};

static void *run_call(void *arg)
{
    struct call *c = arg;
    c->status = c->run(&c->ctx, c);
    return NULL;
}

static int64_t queued_in(struct store *s)
{
    HOLD(&s->writer->lock);
    return s->writer->queued;
}

static void call_begin(struct call *c)
{
    int64_t before = queued_in(c->s);
    CHECK_INT(pthread_create(&c->thread, NULL, run_call, c), 0);
    while (queued_in(c->s) == before)
        sched_yield();
}

static enum status call_end(struct call *c)
{
    pthread_join(c->thread, NULL);
    ctx_free(&c->ctx);
    return c->status;
}

/* The connection breaks within the group, once. */
static enum status lose_once(struct ctx *ctx, struct db *db, const void *what)
{
    bool *is_lost = *(bool *const *)what;
    int64_t n;
    if (*is_lost)
        return OK;
    *is_lost = true;
    return db_int(ctx, db, "SELECT pg_terminate_backend(pg_backend_pid())::int", &n);
}

static enum status run_loss(struct ctx *ctx, struct call *c)
{
    bool is_lost = false, *at = &is_lost;
    return writer_call(ctx, c->s->writer, lose_once, &at);
}

static enum status claim_sessions(struct ctx *ctx, struct call *c)
{
    TRY(store_due_sessions(ctx, c->s, 60000, 1, &c->due, &c->n_due));
    CHECK_INT(c->n_due, 1);
    CHECK_STR(c->due->session, S("talk"));
    CHECK_STR(c->due->pool.user, S("user 0"));
    return OK;
}

TEST(a_claim_is_made_once_more_behind_a_lost_connection)
{
    PLACE(p);
    STORE(s, p);
    struct hold_up h;
    struct call claim = {.s = s, .run = claim_sessions}, loss = {.s = s, .run = run_loss};
    if (!is_on_postgres())
        return;
    queue_turn(ctx, s, 0, S("m0"), false);
    CHECK_OK(store_flush(ctx, s));
    hold_begin(&h, s);
    call_begin(&claim);
    call_begin(&loss);
    hold_end(&h);
    CHECK_OK(call_end(&claim));
    CHECK_OK(call_end(&loss));
}

/* What was left of the user's is not what is found then. */
static enum status go_on_talking(struct ctx *ctx, struct call *c)
{
    for (int i = 0; !atomic_load(&c->is_over); i++) {
        struct message m = said(str_printf(&ctx->arena, "m%d", i).p, "user", "Troy", 1000);
        TRY(say(ctx, c->s, mine, "s1", &m));
    }
    return OK;
}

/* The 100th row takes the connection with it, once: a sequence knows no transactions. */
static void erase_behind_loss(struct ctx *ctx, bool talks)
{
    enum { MANY = 300 };
    PLACE(p);
    STORE(s, p);
    struct call talk = {.s = s, .run = go_on_talking};
    int64_t erased;
    struct memory *v = NEW_N(&ctx->arena, struct memory, MANY);
    for (int i = 0; i < MANY; i++)
        v[i] = fact(str_printf(&ctx->arena, "f%03d", i).p, "", "a boat");
    struct bundle b = {.pool = mine, .memories = v, .n_memories = MANY};
    CHECK_OK(store_write(ctx, s, &b));
    place_do(ctx, &p,
             "CREATE SEQUENCE cuts; CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS"
             " $$BEGIN IF nextval('cuts') = 100 THEN PERFORM pg_terminate_backend("
             "pg_backend_pid()); END IF; RETURN NULL; END$$; CREATE TRIGGER cut AFTER DELETE ON"
             " memory FOR EACH ROW EXECUTE FUNCTION cut()");
    if (talks)
        call_begin(&talk);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .memories = true}, &erased));
    atomic_store(&talk.is_over, true);
    if (talks)
        CHECK_OK(call_end(&talk));
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM memory"), 0);
    CHECK_INT(erased, MANY);
    CHECK_INT(place_int(ctx, &p, "SELECT sum(memories) FROM erasure"), MANY);
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM fact WHERE name LIKE 'forget:%'"), 0);
    check_healthy(ctx, s);
}

TEST(a_long_erasure_leaves_nothing_behind_a_lost_connection)
{
    for (int talks = 0; is_on_postgres() && talks < 2; talks++)
        erase_behind_loss(ctx, talks != 0);
}

static void import_memory(struct ctx *ctx, struct store *s, int pool, struct memory m)
{
    struct bundle b = {.pool = pool_at(ctx, pool),
                       .memories = &m,
                       .n_memories = 1,
                       .rule = PUT_IMPORT};
    CHECK_OK(store_write_later(ctx, s, &b));
}

TEST(what_is_written_once_more_is_the_same)
{
    PLACE(p);
    STORE(s, p);
    struct hold_up h;
    struct memory m = fact("f1", "town", "Ithaca"), found;
    m.updated = m.created;
    import_memory(ctx, s, 0, m);
    CHECK_OK(store_flush(ctx, s));
    hold_begin(&h, s);
    m.updated++;
    m.valid_to = m.created + 1000;
    import_memory(ctx, s, 0, m);
    queue_turn(ctx, s, 1, S("m1"), true); /* it fails, and with it those of its savepoint */
    hold_end(&h);
    CHECK_INT(store_flush(ctx, s), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(store_memory(ctx, s, pool_at(ctx, 0), S("f1"), &found));
    CHECK_INT(found.valid_to, m.valid_to);
    check_healthy(ctx, s);
}

static enum status write_in_vain(struct ctx *ctx, struct call *c)
{
    struct memory m = fact("f3", "town", "Sparta");
    str gone = S("f1");
    struct bundle b = {.pool = mine,
                       .memories = &m,
                       .n_memories = 1,
                       .rule = PUT_NEW,
                       .erase = &gone,
                       .n_erase = 1};
    return store_write(ctx, c->s, &b);
}

TEST(what_a_write_that_failed_had_erased_is_found_by_its_words)
{
    PLACE(p);
    STORE(s, p);
    struct hold_up h;
    struct memory boat = fact("f1", "boat", "Ithaca"), town = fact("f2", "town", "Troy");
    struct call vain = {.s = s, .run = write_in_vain};
    CHECK_OK(keep(ctx, s, mine, PUT_NEW, &boat));
    CHECK_OK(keep(ctx, s, mine, PUT_NEW, &town));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    hold_begin(&h, s);
    queue_turn(ctx, s, 0, S("m0"), false);
    call_begin(&vain);
    hold_end(&h);
    CHECK_INT(call_end(&vain), CONFLICT);
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(find(ctx, s, mine, "ithaca").n, 1);
    CHECK_INT(find(ctx, s, mine, "troy").n, 1);
    CHECK_INT(find(ctx, s, mine, "sparta").n, 0);
    check_healthy(ctx, s);
}

static void note_events(struct follower *f, const struct event *v, size_t n)
{
    struct call *c = (struct call *)((char *)f - offsetof(struct call, follower));
    (void)v;
    c->heard += n;
}

static enum status follow_store(struct ctx *ctx, struct call *c)
{
    return store_follow(ctx, c->s, &c->follower);
}

/* As SQLite does where the disk is full. */
static enum status end_transaction(struct ctx *ctx, struct db *db, const void *what)
{
    (void)what;
    TRY(db_exec(ctx, db, "ROLLBACK"));
    return fail(ctx, STORAGE, "the transaction is gone");
}

static enum status run_end(struct ctx *ctx, struct call *c)
{
    return writer_call(ctx, c->s->writer, end_transaction, NULL);
}

TEST(who_could_not_follow_can_try_again)
{
    PLACE(p);
    STORE(s, p);
    struct hold_up h;
    struct memory m = fact("f1", "town", "Ithaca");
    struct call follow = {.s = s, .run = follow_store, .follower = {.take = note_events}};
    struct call other = {.s = s, .run = is_on_postgres() ? run_loss : run_end};
    hold_begin(&h, s);
    call_begin(&follow);
    call_begin(&other);
    hold_end(&h);
    CHECK_INT(call_end(&follow), is_on_postgres() ? OK : STORAGE);
    CHECK_INT(call_end(&other), is_on_postgres() ? OK : STORAGE);
    if (!is_on_postgres())
        CHECK_OK(store_follow(ctx, s, &follow.follower));
    follow.heard = 0;
    CHECK_OK(keep(ctx, s, mine, PUT_NEW, &m));
    CHECK(follow.heard > 0);
    CHECK_OK(store_follow(ctx, s, NULL));
}
