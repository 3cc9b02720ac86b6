/* loss_told.c - a process that writes, erases, imports, rekeys and compacts is killed,
 * and in a third of the rounds the log is damaged then: nothing acknowledged is lost without being
 * told, and nothing erased is back, even when the loss is accepted. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/damage.h"

/* ROUNDS and SEED in the environment: how many kills, and the choice of steps and damage.
 * STEPS_MAX bounds the steps in one place. */
enum { ROUNDS = 20, ROUNDS_OF_PLACE = 20, STEPS_MAX = 1 << 14, KILL_AFTER = 40, TURNS = 8 };

static const uint8_t keys[2][STORE_KEY_BYTES] = {{1}, {2}};

/* Said by the child over the pipe, before a step (is_done 0) and when it was acknowledged. */
struct step {
    int32_t op, n, is_done;
};

/* Of the store in a place: its key, and of each step whether its memory is there. LOST: it is not
 * there, by a kill or an accepted loss; an older log may bring it back. GONE: it was erased, and
 * nothing may. */
struct known {
    bool is_plain;
    int key; /* of keys; after a killed rekey it may be the other one */
    int n;
    enum { NEVER, THERE, GONE, LOST, EITHER } memory[STEPS_MAX];
    int sessions[STEPS_MAX]; /* messages that came with the memory */
};

struct tally {
    int kills, damaged, told, broken;
};

static const uint8_t *key_of(const struct known *k, int key)
{
    return k->is_plain ? NULL : keys[key];
}

static str erasures_of(struct ctx *ctx, const struct place *p)
{
    return str_printf(&ctx->arena, "%s/erasures.jsonl", p->folder);
}

static enum status open_with(struct ctx *ctx, const struct place *p, const uint8_t *key,
                             bool accepts, struct store **out)
{
    return store_open(ctx,
                      &(struct store_settings){.path = str_of(p->path),
                                               .key = key,
                                               .erasures = erasures_of(ctx, p),
                                               .readers = 2,
                                               .accepts_loss = accepts},
                      out);
}

/* --- the child --- */

struct writing {
    struct store *s;
    const struct place *p;
    const struct known *known;
    int key;
};

static str id_of_step(struct ctx *ctx, int n)
{
    return str_printf(&ctx->arena, "m%d", n);
}

/* In the text of the step's memory, and nowhere else. */
static str mark_of_step(struct ctx *ctx, int n)
{
    return str_printf(&ctx->arena, "zq%06dx", n);
}

static enum status write_memory(struct ctx *ctx, struct writing *w, int n)
{
    struct memory m = fact(id_of_step(ctx, n).p, "", mark_of_step(ctx, n).p);
    return keep(ctx, w->s, mine, PUT_SUPERSEDE, &m);
}

/* A session and a memory in one bundle. */
static enum status import_session(struct ctx *ctx, struct writing *w, int n)
{
    struct message v[TURNS];
    struct memory m = fact(id_of_step(ctx, n).p, "", mark_of_step(ctx, n).p);
    for (int i = 0; i < TURNS; i++)
        v[i] = said(str_printf(&ctx->arena, "%d-%d", n, i).p, "user", "Ithaca says nothing", 1);
    struct bundle b = {.pool = mine,
                       .session = {.id = str_printf(&ctx->arena, "s%d", n)},
                       .messages = v,
                       .n_messages = TURNS,
                       .memories = &m,
                       .n_memories = 1};
    return store_write(ctx, w->s, &b);
}

/* The memory of the step before. */
static enum status erase_memory(struct ctx *ctx, struct writing *w, int n)
{
    int64_t erased;
    struct forget what = {.pool = mine, .id = id_of_step(ctx, n - 1)};
    return soft_if(ctx, store_forget(ctx, w->s, &what, &erased), NOT_FOUND) ? OK : ctx->failed;
}

static enum status copy_in_place(struct ctx *ctx, struct writing *w, int key)
{
    struct store_copy copy = {.from = str_of(w->p->path),
                              .from_key = key_of(w->known, w->key),
                              .to = str_of(w->p->path),
                              .to_key = key_of(w->known, key),
                              .replaces = true};
    store_close(w->s);
    TRY(store_copy(ctx, &copy));
    w->key = key;
    return open_with(ctx, w->p, key_of(w->known, key), false, &w->s);
}

static enum status compact_store(struct ctx *ctx, struct writing *w, int n)
{
    (void)n;
    return copy_in_place(ctx, w, w->key);
}

static enum status rekey_store(struct ctx *ctx, struct writing *w, int n)
{
    (void)n;
    return copy_in_place(ctx, w, !w->key);
}

enum { OP_WRITE, OP_IMPORT, OP_ERASE, OP_COMPACT, OP_REKEY, OP_COUNT };

static const struct {
    int percent;
    enum status (*run)(struct ctx *ctx, struct writing *w, int n);
} ops[OP_COUNT] = {
    [OP_WRITE] = {62, write_memory}, [OP_IMPORT] = {12, import_session},
    [OP_ERASE] = {20, erase_memory}, [OP_COMPACT] = {3, compact_store},
    [OP_REKEY] = {3, rekey_store},
};

static int some_op(unsigned *random)
{
    int left = rand_r(random) % 100, op = 0;
    while (left >= ops[op].percent)
        left -= ops[op++].percent;
    return op;
}

static void write_until_killed(const struct place *p, const struct known *known, int pipe,
                               unsigned random)
{
    struct ctx ctx = {0};
    struct writing w = {.p = p, .known = known, .key = known->key};
    if (open_with(&ctx, p, key_of(known, w.key), false, &w.s) != OK)
        _exit(2);
    for (int n = known->n + 1; n < STEPS_MAX; n++) {
        struct step step = {some_op(&random), n, 0};
        if (write(pipe, &step, sizeof step) != sizeof step)
            _exit(4);
        if (ops[step.op].run(&ctx, &w, n) != OK)
            _exit(3);
        step.is_done = 1;
        if (write(pipe, &step, sizeof step) != sizeof step)
            _exit(4);
        arena_reset(&ctx.arena);
    }
    _exit(5);
}

/* --- the parent --- */

static void learn_step(struct known *k, const struct step *step)
{
    k->n = step->n;
    if (step->op == OP_WRITE || step->op == OP_IMPORT) {
        k->memory[step->n] = step->is_done ? THERE : EITHER;
        k->sessions[step->n] = step->op == OP_IMPORT ? TURNS : 0;
    } else if (step->op == OP_ERASE && k->memory[step->n - 1] == (step->is_done ? EITHER : THERE)) {
        k->memory[step->n - 1] = step->is_done ? GONE : EITHER;
    } else if (step->op == OP_REKEY && step->is_done) {
        k->key = !k->key;
    }
}

static void kill_one(const struct place *p, struct known *k, unsigned *random)
{
    int ends[2], status, after = rand_r(random) % KILL_AFTER, n = 0;
    unsigned seed = (unsigned)rand_r(random);
    struct step step;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        write_until_killed(p, k, ends[1], seed);
    }
    close(ends[1]);
    while (read(ends[0], &step, sizeof step) == sizeof step) {
        learn_step(k, &step);
        n += step.is_done;
        if (n >= after) {
            usleep((useconds_t)(rand_r(random) % 3000));
            kill(pid, SIGKILL);
        }
    }
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFSIGNALED(status))
        fail_msg("the child ended with %d", WEXITSTATUS(status));
}

static bool is_there(struct ctx *ctx, struct store *s, const struct known *k, int n)
{
    struct memory m;
    struct message *v;
    size_t turns;
    enum status status = store_memory(ctx, s, mine, id_of_step(ctx, n), &m);
    if (soft_if(ctx, status, NOT_FOUND))
        return false;
    CHECK_OK(status);
    if (!k->sessions[n])
        return true;
    CHECK_OK(store_session_messages(ctx, s, mine, str_printf(&ctx->arena, "s%d", n), 0, TURNS + 1,
                                    &v, &turns));
    CHECK_INT(turns, TURNS);
    return true;
}

/* All is as it was acknowledged, or the loss was told: then what there is, is what is known. What
 * was erased is gone in any case. */
static void check_memories(struct ctx *ctx, struct store *s, struct known *k, bool was_told)
{
    for (int n = 0; n <= k->n; n++) {
        if (k->memory[n] == NEVER)
            continue;
        bool there = is_there(ctx, s, k, n), may_differ = was_told || k->memory[n] == EITHER;
        if (k->memory[n] == GONE ? there : !may_differ && there != (k->memory[n] == THERE))
            fail_msg("step %d of %d is %s", n, k->n, there ? "there" : "lost");
        if (k->memory[n] != GONE)
            k->memory[n] = there ? THERE : LOST;
    }
}

/* No byte of what was erased. */
static void check_bytes(struct ctx *ctx, const struct place *p, const struct known *k)
{
    const char *const paths[] = {p->path, str_printf(&ctx->arena, "%s-wal", p->path).p,
                                 erasures_of(ctx, p).p};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        str bytes = bytes_of_file(ctx, paths[i]);
        for (size_t at = 0; at + 9 <= bytes.n; at++) {
            int64_t n;
            if (bytes.p[at] == 'z' && bytes.p[at + 1] == 'q' && bytes.p[at + 8] == 'x' &&
                str_int(str_sub(bytes, at + 2, at + 8), &n) && n >= 0 && n <= k->n &&
                k->memory[n] == GONE)
                fail_msg("%s holds the erased words of step %d", paths[i], (int)n);
        }
    }
}

/* The other key when a rekey was killed behind its rename. */
static enum status open_after(struct ctx *ctx, const struct place *p, struct known *k, bool accepts,
                              struct store **out)
{
    enum status status = open_with(ctx, p, key_of(k, k->key), accepts, out);
    if (!soft_if(ctx, status, FORBIDDEN))
        return status;
    k->key = !k->key;
    return open_with(ctx, p, key_of(k, k->key), accepts, out);
}

/* A log that lost its end may be older than the file that it partly went into. Whoever accepts the
 * loss is told that, too: doctor makes both checks then. */
static bool is_whole(struct ctx *ctx, struct store *s)
{
    str findings;
    return soft(ctx, store_check(ctx, s, &findings)) && !findings.n &&
           soft(ctx, store_check_pages(ctx, s, &findings)) && !findings.n;
}

/* False: what was refused, or what is left, is broken, and only a backup helps. */
static bool accept_loss(struct ctx *ctx, const struct place *p, struct known *k,
                        struct tally *tally, struct store **out)
{
    bool is_short = holds(str_of(ctx->why), " lacks the last ");
    if (!is_short && !holds(str_of(ctx->why), "restore a backup"))
        fail_msg("refused without saying what to do: %s", ctx->why);
    ctx_clear_failure(ctx);
    tally->told++;
    if (is_short && open_after(ctx, p, k, true, out) == OK) {
        if (is_whole(ctx, *out))
            return true;
        store_close(*out);
    }
    tally->broken++;
    return false;
}

static bool run_round(const struct place *p, struct known *k, unsigned *random, struct tally *tally)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    struct store *s;
    bool is_damaged = false;
    kill_one(p, k, random);
    if (tally->kills++ % 3 == 2)
        is_damaged = damage_log(ctx, p->path, LOG_REMOVED + tally->kills / 3 % (DAMAGE_COUNT - 1),
                                rand_r(random) / (RAND_MAX + 1.0));
    else if (tally->kills % 3 == 1)
        keep_log(ctx, p->path);
    tally->damaged += is_damaged;
    enum status status = open_after(ctx, p, k, false, &s);
    bool was_told = is_damaged && status == STORAGE;
    if (!was_told)
        CHECK_OK(status);
    else if (!accept_loss(ctx, p, k, tally, &s))
        return false;
    check_memories(ctx, s, k, was_told);
    check_bytes(ctx, p, k);
    check_healthy(ctx, s);
    store_close(s);
    return true;
}

TEST(nothing_acknowledged_is_lost_without_being_told)
{
    const char *seed = getenv("SEED"), *said_rounds = getenv("ROUNDS");
    int rounds = said_rounds ? (int)strtol(said_rounds, NULL, 10) : ROUNDS;
    unsigned random = seed ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)clock_mono_us();
    struct tally tally = {0};
    printf("seed %u\n", random);
    while (tally.kills < rounds) {
        PLACE(p);
        struct known *k = NEW(&ctx->arena, struct known);
        k->is_plain = tally.kills / ROUNDS_OF_PLACE % 2;
        bool goes_on = true;
        for (int i = 0; goes_on && i < ROUNDS_OF_PLACE && tally.kills < rounds; i++)
            goes_on = run_round(&p, k, &random, &tally);
    }
    printf("%d kills, %d logs damaged: %d losses told, of which %d leave a broken file; the others "
           "lost nothing\n",
           tally.kills, tally.damaged, tally.told, tally.broken);
    CHECK(tally.told > 0 || rounds < 100);
}
