/* loss_told.c - a process that writes, imports, erases, compacts, changes the key or upgrades is
 * killed in the midst of it, and in a third of the rounds the log is damaged then: nothing
 * acknowledged is lost without being told, and nothing erased is back, even when the loss is
 * accepted. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/damage.h"

/* ROUNDS and SEED in the environment: how many kills, and the choice of steps and damage.
 * STEPS_MAX bounds the steps in one place. */
enum { ROUNDS = 20, ROUNDS_OF_PLACE = 10, STEPS_MAX = 1 << 12, KILL_AFTER = 30, TURNS = 8 };

/* Memories that one summary replaces. */
enum { MEMBERS = 3 };

/* What an older version did: each fourth step erases, and each behind that imports. */
enum { OLD_STEPS = 16 };

/* A store goes from one key to the next: it is encrypted, gets another key, and is decrypted. */
static const uint8_t one[STORE_KEY_BYTES] = {1}, two[STORE_KEY_BYTES] = {2};
static const uint8_t *const keys[] = {NULL, one, two};

static int next_key(int key)
{
    return (key + 1) % (int)(sizeof keys / sizeof *keys);
}

/* A session and its memory are imported in one bundle; a compaction puts a summary in the place of
 * memories; a store is upgraded when it is opened. */
enum op { OP_WRITE, OP_IMPORT, OP_ERASE, OP_COMPACT, OP_REKEY, OP_UPGRADE, OP_COUNT };

/* Said by the child over the pipe, before a step (is_done 0) and when it was acknowledged. */
struct step {
    int32_t op, n, is_done;
};

/* Of the store in a place, by the numbers of steps. Parent and child follow the same steps, so that
 * both know what is erased and compacted next. LOST: it is not there, by a kill or an accepted
 * loss; an older log may bring it back. GONE: it was erased, and nothing may. */
struct known {
    bool is_old; /* nobody has upgraded it yet */
    int key;     /* of keys; after a killed rekey it may be the next one */
    int n;
    int erasing; /* the memory that the last step erases; 0: there is none */
    enum op op[STEPS_MAX];
    enum { NEVER, THERE, GONE, LOST, EITHER } memory[STEPS_MAX];
    int summary[STEPS_MAX]; /* the step that compacted the memory; or 0 */
};

struct tally {
    int kills, damaged, told, broken;
    struct {
        int done, killed; /* acknowledged; killed before it was */
        int64_t us;       /* that the last one took, or more when none came to its end since */
    } ops[OP_COUNT];
};

/* --- what is known --- */

/* The newest memory of a summary, for the id of that is known; others have their own. */
static int member_of(const struct known *k, int summary)
{
    int n = summary;
    while (n && !(k->summary[n] == summary && k->memory[n] != LOST))
        n--;
    return n;
}

static int newest_memory(const struct known *k, int below)
{
    int n = below - 1;
    while (n > 0 && !(k->memory[n] == THERE && (k->op[n] != OP_COMPACT || member_of(k, n))))
        n--;
    return n;
}

static void open_members(struct known *k, int summary)
{
    for (int i = 1; i < summary; i++)
        if (k->summary[i] == summary)
            k->summary[i] = 0;
}

/* A summary goes with any of its members. */
static void learn_erasing(struct known *k, const struct step *step)
{
    if (!step->is_done)
        k->erasing = newest_memory(k, step->n);
    int n = k->erasing, member = n && k->op[n] == OP_COMPACT ? member_of(k, n) : n;
    k->memory[n] = k->memory[member] = step->is_done ? GONE : EITHER;
    if (step->is_done && member != n)
        open_members(k, n);
    k->memory[0] = NEVER;
}

static void learn_compacting(struct known *k, const struct step *step)
{
    int found = 0;
    for (int i = step->n - 1; i > 0 && found < MEMBERS && !step->is_done; i--)
        if (k->memory[i] == THERE && !k->summary[i] && k->op[i] != OP_COMPACT) {
            k->summary[i] = step->n;
            found++;
        }
    k->memory[step->n] = step->is_done && member_of(k, step->n) ? THERE : EITHER;
}

static void learn_step(struct known *k, const struct step *step)
{
    k->n = step->n;
    k->op[step->n] = (enum op)step->op;
    if (step->op == OP_WRITE || step->op == OP_IMPORT)
        k->memory[step->n] = step->is_done ? THERE : EITHER;
    else if (step->op == OP_ERASE)
        learn_erasing(k, step);
    else if (step->op == OP_COMPACT)
        learn_compacting(k, step);
    else if (step->op == OP_REKEY && step->is_done)
        k->key = next_key(k->key);
    else if (step->op == OP_UPGRADE && step->is_done)
        k->is_old = false;
}

static str erasures_of(struct ctx *ctx, const struct place *p)
{
    return str_printf(&ctx->arena, "%s/erasures.jsonl", p->folder);
}

static enum status open_with(struct ctx *ctx, const struct place *p, int key, bool accepts,
                             struct store **out)
{
    return store_open(ctx,
                      &(struct store_settings){.path = str_of(p->path),
                                               .key = keys[key],
                                               .erasures = erasures_of(ctx, p),
                                               .readers = 2,
                                               .accepts_loss = accepts},
                      out);
}

/* --- an older store --- */

static void make_old_store(struct ctx *ctx, const struct place *p, struct known *k)
{
    write_old_store(ctx, p->path, keys[k->key]);
    for (int n = 1; n <= OLD_STEPS; n++)
        for (int is_done = 0; is_done < 2; is_done++)
            learn_step(k, &(struct step){n % 4 == 0   ? OP_ERASE
                                         : n % 4 == 1 ? OP_IMPORT
                                                      : OP_WRITE,
                                         n, is_done});
    k->is_old = true;
}

/* --- the child --- */

struct writing {
    struct store *s;
    const struct place *p;
    struct known *known; /* its own */
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

static enum status erase_memory(struct ctx *ctx, struct writing *w, int n)
{
    const struct known *k = w->known;
    int64_t erased;
    bool is_summary = k->op[k->erasing] == OP_COMPACT;
    struct forget what = {.pool = mine,
                          .id =
                              id_of_step(ctx, is_summary ? member_of(k, k->erasing) : k->erasing)};
    (void)n;
    return k->erasing ? store_forget(ctx, w->s, &what, &erased) : OK;
}

static enum status compact_memories(struct ctx *ctx, struct writing *w, int n)
{
    struct memory summary = {.content = mark_of_step(ctx, n), .importance = 0.5};
    str ids[MEMBERS];
    size_t found = 0;
    for (int i = 1; i < n; i++)
        if (w->known->summary[i] == n)
            ids[found++] = id_of_step(ctx, i);
    return found ? condense_to(ctx, w->s, mine, &summary, ids, found) : OK;
}

static enum status change_key(struct ctx *ctx, struct writing *w, int n)
{
    int key = next_key(w->known->key);
    struct store_copy copy = {.from = str_of(w->p->path),
                              .from_key = keys[w->known->key],
                              .to = str_of(w->p->path),
                              .to_key = keys[key],
                              .replaces = true};
    (void)n;
    store_close(w->s);
    TRY(store_copy(ctx, &copy));
    return open_with(ctx, w->p, key, false, &w->s);
}

static enum status open_store(struct ctx *ctx, struct writing *w, int n)
{
    (void)n;
    return open_with(ctx, w->p, w->known->key, false, &w->s);
}

static const struct {
    const char *name;
    int percent;
    enum status (*run)(struct ctx *ctx, struct writing *w, int n);
} ops[OP_COUNT] = {
    [OP_WRITE] = {"write", 60, write_memory},
    [OP_IMPORT] = {"import", 12, import_session},
    [OP_ERASE] = {"erase", 20, erase_memory},
    [OP_COMPACT] = {"compact", 5, compact_memories},
    [OP_REKEY] = {"encrypt, rekey, decrypt", 3, change_key},
    [OP_UPGRADE] = {"upgrade", 0, open_store},
};

static int some_op(unsigned *random)
{
    int left = rand_r(random) % 100, op = 0;
    while (left >= ops[op].percent)
        left -= ops[op++].percent;
    return op;
}

static void say_step(struct known *k, int pipe, struct step step)
{
    learn_step(k, &step);
    if (write(pipe, &step, sizeof step) != sizeof step)
        _exit(4);
}

static void take_step(struct ctx *ctx, struct writing *w, int pipe, int op)
{
    int n = w->known->n + 1;
    say_step(w->known, pipe, (struct step){op, n, 0});
    if (ops[op].run(ctx, w, n) != OK) {
        fprintf(stderr, "step %d (%s): %s\n", n, ops[op].name, ctx->why);
        _exit(3);
    }
    say_step(w->known, pipe, (struct step){op, n, 1});
    arena_reset(&ctx->arena);
}

/* What a child does, and where it is killed. */
struct plan {
    unsigned random;
    int after;      /* so many steps; an upgrade comes before any */
    enum op victim; /* the next one, which is killed */
};

static void write_until_killed(const struct place *p, struct known *known, int pipe,
                               struct plan plan)
{
    struct ctx ctx = {0};
    struct writing w = {.p = p, .known = known};
    if (known->is_old)
        take_step(&ctx, &w, pipe, OP_UPGRADE);
    else if (open_store(&ctx, &w, 0) != OK)
        _exit(2);
    for (int i = 0; known->n + 1 < STEPS_MAX; i++)
        take_step(&ctx, &w, pipe, i == plan.after ? (int)plan.victim : some_op(&plan.random));
    _exit(5);
}

/* --- the parent --- */

/* Some time after the victim has begun, mostly before it ends. */
static void kill_in_step(pid_t pid, unsigned *random, int64_t us)
{
    usleep((useconds_t)(rand_r(random) % (us + us / 4 + 1)));
    kill(pid, SIGKILL);
}

/* Follows the child to its end. */
static void follow_child(pid_t pid, int pipe, struct known *k, const struct plan *plan,
                         unsigned *random, struct tally *tally)
{
    struct step step = {0};
    int64_t began = 0;
    int done = 0;
    while (read(pipe, &step, sizeof step) == sizeof step) {
        learn_step(k, &step);
        if (step.is_done) {
            tally->ops[step.op].us = clock_mono_us() - began;
            tally->ops[step.op].done++;
            done++;
        } else {
            began = clock_mono_us();
            if (done >= plan->after && step.op == (int)plan->victim)
                kill_in_step(pid, random, tally->ops[step.op].us);
        }
    }
    if (step.is_done)
        return;
    tally->ops[step.op].killed++;
    tally->ops[step.op].us += tally->ops[step.op].us / 4 + 500;
}

/* A store that is to be upgraded is killed in that. */
static void kill_one(const struct place *p, struct known *k, unsigned *random, struct tally *tally)
{
    struct plan plan = {.random = (unsigned)rand_r(random),
                        .after = k->is_old ? -1 : rand_r(random) % KILL_AFTER,
                        .victim = k->is_old ? OP_UPGRADE : (enum op)(rand_r(random) % OP_UPGRADE)};
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        write_until_killed(p, k, ends[1], plan);
    }
    close(ends[1]);
    follow_child(pid, ends[0], k, &plan, random, tally);
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFSIGNALED(status))
        fail_msg("the child ended with %d", WEXITSTATUS(status));
}

/* --- what is there --- */

/* Of a memory: whether it is there, and the step whose summary took its place; -1: a summary that
 * is not there. */
struct found {
    bool is_there;
    int summary;
};

static int summary_of(struct ctx *ctx, struct store *s, str id)
{
    struct memory m;
    int64_t n = -1;
    enum status status = store_memory(ctx, s, mine, id, &m);
    if (soft_if(ctx, status, NOT_FOUND))
        return -1;
    CHECK_OK(status);
    CHECK(str_int(str_sub(m.content, 2, 8), &n));
    return (int)n;
}

static struct found find_step(struct ctx *ctx, struct store *s, const struct known *k, int n)
{
    struct memory m;
    struct message *v;
    size_t turns;
    enum status status = store_memory(ctx, s, mine, id_of_step(ctx, n), &m);
    if (soft_if(ctx, status, NOT_FOUND))
        return (struct found){0};
    CHECK_OK(status);
    struct found out = {true, m.valid_to ? summary_of(ctx, s, m.superseded_by) : 0};
    if (k->op[n] != OP_IMPORT)
        return out;
    CHECK_OK(store_session_messages(ctx, s, mine, str_printf(&ctx->arena, "s%d", n), 0, TURNS + 1,
                                    &v, &turns));
    CHECK_INT(turns, TURNS);
    return out;
}

/* Summaries are found by their members. */
static void find_all(struct ctx *ctx, struct store *s, const struct known *k, struct found *v)
{
    for (int n = 1; n <= k->n; n++)
        if (k->memory[n] != NEVER && k->op[n] != OP_COMPACT)
            v[n] = find_step(ctx, s, k, n);
    for (int n = 1; n <= k->n; n++)
        if (v[n].summary > 0)
            v[v[n].summary].is_there = true;
}

/* All is as it was acknowledged, or the loss was told: then what there is, is what is known. What
 * was erased is gone in any case. A memory is closed as long as its summary is there. */
static void check_memories(struct ctx *ctx, struct store *s, struct known *k, bool was_told)
{
    struct found *v = NEW_N(&ctx->arena, struct found, STEPS_MAX);
    find_all(ctx, s, k, v);
    for (int n = 1; n <= k->n; n++) {
        bool there = v[n].is_there, may_differ = was_told || k->memory[n] == EITHER;
        if (k->memory[n] == GONE ? there : !may_differ && there != (k->memory[n] == THERE))
            fail_msg("step %d of %d is %s", n, k->n, there ? "there" : "lost");
        int known = k->summary[n], summary = known > 0 && !v[known].is_there ? 0 : known;
        if (there && !was_told && v[n].summary != summary)
            fail_msg("step %d of %d is in the summary %d, not %d", n, k->n, v[n].summary, summary);
    }
    for (int n = 1; n <= k->n; n++) {
        if (k->memory[n] != GONE && k->memory[n] != NEVER)
            k->memory[n] = v[n].is_there ? THERE : LOST;
        k->summary[n] = v[n].summary;
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

/* The next key when a rekey was killed behind its rename. */
static enum status open_after(struct ctx *ctx, const struct place *p, struct known *k, bool accepts,
                              struct store **out)
{
    enum status status = open_with(ctx, p, k->key, accepts, out);
    if (!soft_if(ctx, status, FORBIDDEN))
        return status;
    k->key = next_key(k->key);
    return open_with(ctx, p, k->key, accepts, out);
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

/* About every second kill leaves a log; two thirds of these are damaged, and others are kept for
 * later. What an older version wrote is counted from the upgrade on: before it no loss is told. */
static bool damage_some(struct ctx *ctx, const struct place *p, const struct known *k,
                        unsigned *random)
{
    int some = rand_r(random) % 3, how = LOG_REMOVED + rand_r(random) % (DAMAGE_COUNT - 1);
    double at = rand_r(random) / (RAND_MAX + 1.0);
    if (!some)
        keep_log(ctx, p->path);
    return some && !k->is_old && damage_log(ctx, p->path, (enum damage)how, at);
}

static bool run_round(const struct place *p, struct known *k, unsigned *random, struct tally *tally)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    struct store *s;
    kill_one(p, k, random, tally);
    bool is_damaged = damage_some(ctx, p, k, random);
    tally->kills++;
    tally->damaged += is_damaged;
    enum status status = open_after(ctx, p, k, false, &s);
    bool was_told = is_damaged && status == STORAGE;
    if (!was_told)
        CHECK_OK(status);
    else if (!accept_loss(ctx, p, k, tally, &s))
        return false;
    k->is_old = false;
    check_memories(ctx, s, k, was_told);
    check_bytes(ctx, p, k);
    check_healthy(ctx, s);
    store_close(s);
    return true;
}

static void run_place(struct ctx *ctx, unsigned *random, int rounds, struct tally *tally)
{
    PLACE(p);
    struct known *k = NEW(&ctx->arena, struct known);
    k->key = rand_r(random) % (int)(sizeof keys / sizeof *keys);
    make_old_store(ctx, &p, k);
    bool goes_on = true;
    for (int i = 0; goes_on && i < ROUNDS_OF_PLACE && tally->kills < rounds; i++)
        goes_on = run_round(&p, k, random, tally);
}

static void print_tally(const struct tally *t)
{
    printf("%-24s %12s %14s\n", "", "acknowledged", "killed in it");
    for (size_t i = 0; i < OP_COUNT; i++)
        printf("%-24s %12d %14d\n", ops[i].name, t->ops[i].done, t->ops[i].killed);
    printf("%d kills, %d logs damaged: %d losses told, of which %d leave a broken file; the others "
           "lost nothing\n",
           t->kills, t->damaged, t->told, t->broken);
}

TEST(nothing_acknowledged_is_lost_without_being_told)
{
    const char *seed = getenv("SEED"), *said_rounds = getenv("ROUNDS");
    int rounds = said_rounds ? (int)strtol(said_rounds, NULL, 10) : ROUNDS;
    unsigned random = seed ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)clock_mono_us();
    struct tally tally = {0};
    printf("seed %u\n", random);
    while (tally.kills < rounds)
        run_place(ctx, &random, rounds, &tally);
    print_tally(&tally);
    CHECK(tally.told > 0 || rounds < 100);
    for (size_t i = 0; i < OP_COUNT && rounds >= 100; i++)
        CHECK(tally.ops[i].killed > 0);
}
