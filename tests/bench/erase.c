/* erase.c - how long another user's write waits while one user's many messages are erased. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "bench.h"
#include "lib/store.h"
#include "store/store.h"

enum { WORDS = 12, SESSION = 100, WAITS_MAX = 1 << 20, BEFORE_MS = 2000, PAUSE_US = 1000 };

static const struct pool_ref anna = {{"anna", 4}, {"default", 7}}, ben = {{"ben", 3}, {"home", 4}};

static str some_text(struct arena *a)
{
    struct buf b = buf_make(a, 400);
    for (int i = 0; i < WORDS; i++)
        buf_printf(&b, "word%llu ", (unsigned long long)(next_random() % (i < 4 ? 200 : 20000)));
    return buf_str(&b);
}

/* --- what is erased --- */

/* All in one session, or in sessions of 100. */
static void add_messages(struct store *s, size_t n, size_t each)
{
    for (size_t i = 0; i < n; i += SESSION) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct message v[SESSION];
        for (size_t j = 0; j < SESSION; j++)
            v[j] = (struct message){.id = str_printf(&ctx.arena, "m%zu", i + j),
                                    .role = S("user"),
                                    .text = some_text(&ctx.arena),
                                    .created = 1700000000000};
        struct bundle b = {.pool = anna,
                           .session = {.id = str_printf(&ctx.arena, "s%zu", i / each)},
                           .messages = v,
                           .n_messages = SESSION};
        must(&ctx, store_write(&ctx, s, &b));
    }
}

static void add_memories(struct store *s, size_t n)
{
    for (size_t i = 0; i < n; i += SESSION) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct memory v[SESSION];
        for (size_t j = 0; j < SESSION; j++)
            v[j] = fact(str_printf(&ctx.arena, "f%zu", i + j).p, "", some_text(&ctx.arena).p);
        struct bundle b = {.pool = anna, .memories = v, .n_memories = SESSION};
        must(&ctx, store_write(&ctx, s, &b));
    }
}

static void add_receipts(struct store *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct receipt r = {.id = id_random(&ctx.arena), .created = 1700000000000};
        struct message m = {.id = id_random(&ctx.arena), .role = S("user"), .text = S("hello")};
        struct bundle b = {.pool = anna,
                           .session = {.id = S("receipts")},
                           .messages = &m,
                           .n_messages = 1,
                           .receipt = &r};
        write_queued(&ctx, s, &b);
    }
}

/* --- another user --- */

struct writing {
    struct store *s;
    atomic_bool is_ending;
    double *ms; /* of each write */
    atomic_size_t n;
};

static void *add_facts(void *arg)
{
    struct writing *w = arg;
    while (!atomic_load(&w->is_ending) && w->n < WAITS_MAX) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct memory m = fact("", "", "likes a walk after lunch");
        int64_t start = clock_mono_us();
        must(&ctx, keep(&ctx, w->s, ben, PUT_SUPERSEDE, &m));
        w->ms[w->n++] = (double)(clock_mono_us() - start) / 1000;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_US * 1000}, NULL);
    }
    return NULL;
}

static void show(const char *what, double *ms, size_t n)
{
    sort_ms(ms, n);
    printf("  %-34s p50 %8.2f ms  p99 %8.2f ms  most %8.2f ms  (%zu writes)\n", what, ms[n / 2],
           ms[n * 99 / 100], ms[n - 1], n);
}

static void erase(struct store *s, const char *what, const struct forget *forget)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct writing w = {.s = s, .ms = heap_alloc(WAITS_MAX * sizeof(double))};
    pthread_t thread;
    int64_t erased = 0;
    if (pthread_create(&thread, NULL, add_facts, &w) != 0)
        exit(1);
    nanosleep(&(struct timespec){.tv_sec = BEFORE_MS / 1000}, NULL);
    size_t before = atomic_load(&w.n);
    int64_t start = clock_mono_us();
    must(&ctx, store_forget(&ctx, s, forget, &erased));
    double took = (double)(clock_mono_us() - start) / 1e6;
    atomic_store(&w.is_ending, true);
    pthread_join(thread, NULL);
    printf("%s: %lld erased in %.2f s\n", what, (long long)erased, took);
    show("another user's write before", w.ms, before);
    show("another user's write meanwhile", w.ms + before, w.n - before);
    free(w.ms);
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    size_t receipts = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    PLACE(p);
    STORE(s, p);
    add_messages(s, n, 100);
    erase(s, "all of a user, sessions of 100 messages",
          &(struct forget){.pool = anna, .everything = true, .all_spaces = true});
    add_messages(s, n, n);
    add_receipts(s, receipts);
    erase(s, "one session", &(struct forget){.pool = anna, .session = S("s0")});
    add_memories(s, n);
    erase(s, "the memories of a space", &(struct forget){.pool = anna, .memories = true});
    return 0;
}
