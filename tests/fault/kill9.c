/* kill9.c - a writing process is killed at any moment; nothing it acknowledged is missing. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/store.h"
#include "store/store.h"

enum { ROUNDS = 50, THREADS = 4, TURNS = 3 };

/* Of the store; NULL: it is plain. */
static const uint8_t *key;

/* What the child says over the pipe once a write has returned: fewer bytes than a pipe can tear. */
struct ack {
    int32_t round, thread, n;
};

struct talker {
    struct store *s;
    int pipe;
    struct ack at;
};

/* The nth bundle of a thread: three turns with a word of their own, a memory that supersedes the
 * one before, and now and then one that nobody waits for. */
static enum status write_one(struct ctx *ctx, const struct talker *t)
{
    struct message m[TURNS];
    str name = str_printf(&ctx->arena, "r%dt%dn%d", t->at.round, t->at.thread, t->at.n);
    for (int i = 0; i < TURNS; i++)
        m[i] = (struct message){.id = str_printf(&ctx->arena, "%s-%d", name.p, i),
                                .role = S("user"),
                                .text = str_printf(&ctx->arena, "mark%s turn", name.p),
                                .created = 1683553000000};
    struct memory f = fact(name.p, "", str_printf(&ctx->arena, "fact%s", name.p).p);
    f.key = str_printf(&ctx->arena, "t%d", t->at.thread);
    struct bundle b = {.pool = mine,
                       .session = {.id = str_printf(&ctx->arena, "r%dt%d", t->at.round,
                                                    t->at.thread)},
                       .messages = m,
                       .n_messages = TURNS,
                       .memories = &f,
                       .n_memories = 1,
                       .distil_at = 1};
    return store_write(ctx, t->s, &b);
}

static void *talk(void *arg)
{
    struct talker *t = arg;
    for (t->at.n = 0;; t->at.n++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        if (write_one(&ctx, t) != OK)
            _exit(3);
        if (write(t->pipe, &t->at, sizeof t->at) != sizeof t->at)
            _exit(4);
    }
    return NULL;
}

static void child(const struct place *p, int pipe, int round)
{
    struct ctx ctx = {0};
    struct store *s;
    pthread_t threads[THREADS];
    struct talker talkers[THREADS];
    if (store_open(&ctx, &(struct store_settings){.path = str_of(p->path), .key = key}, &s) != OK)
        _exit(2);
    for (int i = 0; i < THREADS; i++) {
        talkers[i] = (struct talker){s, pipe, {round, i, 0}};
        if (pthread_create(&threads[i], NULL, talk, &talkers[i]) != 0)
            _exit(5);
    }
    for (;;)
        pause();
}

/* Every bundle up to the last acknowledged one of its thread is whole; one more may be. */
static void check_thread(struct ctx *ctx, struct store *s, int round, int thread, int acked)
{
    struct message *v;
    struct pending_signal *signals;
    size_t n, waiting;
    str session = str_printf(&ctx->arena, "r%dt%d", round, thread);
    CHECK_OK(store_session_messages(ctx, s, mine, session, 0, 1 << 20, &v, &n));
    CHECK_INT(n % TURNS, 0);
    CHECK(n / TURNS >= (size_t)acked && n / TURNS <= (size_t)acked + 1);
    CHECK_OK(store_signals(ctx, s, mine, session, 1 << 20, &signals, &waiting));
    CHECK_INT(waiting, n);
    for (int i = 0; i < (int)(n / TURNS); i++) {
        str name = str_printf(&ctx->arena,
                              "%s"
                              "n%d",
                              session.p, i);
        struct memory f;
        CHECK_OK(store_memory(ctx, s, mine, name, &f));
        CHECK_STR(v[i * TURNS].id, str_printf(&ctx->arena, "%s-0", name.p));
        CHECK_INT(find(ctx, s, mine, str_printf(&ctx->arena, "mark%s", name.p).p).n, TURNS);
    }
    if (n) {
        str last = str_printf(&ctx->arena, "fact%sn%zu", session.p, n / TURNS - 1);
        CHECK_INT(find(ctx, s, mine, last.p).n, 1);
    }
}

/* Kills the child after that many acknowledgements and counts them by thread. */
static void run_child(const struct place *p, int round, int kill_after, int acked[THREADS])
{
    int ends[2], status, n = 0;
    struct ack ack;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        child(p, ends[1], round);
    }
    close(ends[1]);
    while (read(ends[0], &ack, sizeof ack) == sizeof ack) {
        CHECK_INT(ack.n, acked[ack.thread]);
        acked[ack.thread]++;
        if (++n == kill_after)
            CHECK(kill(pid, SIGKILL) == 0);
    }
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void kill_often(struct ctx *ctx)
{
    PLACE(p);
    unsigned random = (unsigned)clock_mono_us();
    int all = 0;
    for (int round = 0; round < ROUNDS; round++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        int acked[THREADS] = {0};
        run_child(&p, round, 1 + rand_r(&random) % 120, acked);
        struct store *s;
        ctx = &own;
        CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p.path), .key = key}, &s));
        for (int i = 0; i < THREADS; i++) {
            check_thread(ctx, s, round, i, acked[i]);
            all += acked[i];
        }
        check_healthy(ctx, s);
        store_close(s);
    }
    printf("%d bundles acknowledged over %d kills, none missing\n", all, ROUNDS);
}

TEST(nothing_acknowledged_is_missing_after_kill_9)
{
    kill_often(ctx);
}

TEST(nothing_acknowledged_is_missing_from_an_encrypted_store)
{
    static const uint8_t some[STORE_KEY_BYTES] = {4, 2};
    key = some;
    kill_often(ctx);
    key = NULL;
}
