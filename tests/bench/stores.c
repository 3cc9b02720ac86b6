/* stores.c - recalls and writes of SQLite and of PostgreSQL, on the same data and in turn. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sodium.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "bench.h"
#include "engine/engine.h"
#include "store/postgres/pipeline.h"

/* stores [POOLS MESSAGES]: in the environment of tests/lib/with_postgres. Words repeat as they do
 * in conversations: of 2,048, 4,096 and 8,192 words 35, 28 and 20 % are different; in those of
 * LoCoMo, without stop words, 33, 25 and 19 %. */
enum {
    VOCABULARY = 3000,
    SESSION = 20,
    QUESTIONS = 1000,
    WRITERS = 16,
    ROUNDS = 3,
    WRITE_US = 1500000
};

struct side {
    const char *name;
    struct store *store;
    struct engine *engine;
    int64_t took[QUESTIONS], cpu[QUESTIONS];
    double written[2]; /* a second, by one and by all writers: sums of the rounds */
};

struct bench {
    struct ctx ctx;
    struct settings settings;
    struct side sides[2];
    size_t pools;
    double share[VOCABULARY];
};

static str sentence(const struct bench *b, struct arena *a, uint64_t *random, size_t words)
{
    struct buf text = buf_make(a, 4096);
    for (size_t i = 0; i < words; i++)
        add_plain_word(&text, zipf_word(b->share, VOCABULARY, draw_random(random)));
    return str_trim(buf_str(&text));
}

static struct pool_ref pool_at(struct arena *a, size_t no)
{
    return (struct pool_ref){str_printf(a, "user %zu", no), S("default")};
}

static void fill(const struct bench *b, struct side *s, size_t messages)
{
    uint64_t random = 7;
    for (size_t i = 0; i < b->pools * messages / SESSION; i++) {
        struct ctx work = {0};
        struct message v[SESSION] = {{.id = {0}}};
        for (size_t k = 0; k < SESSION; k++)
            v[k] = (struct message){.id = id_random(&work.arena),
                                    .role = k % 2 ? S("assistant") : S("user"),
                                    .text = sentence(b, &work.arena, &random,
                                                     8 + draw_random(&random) % 23),
                                    .created = 1700000000000 + (int64_t)i * 3600000};
        struct bundle bundle = {.pool = pool_at(&work.arena, i % b->pools),
                                .session = {.id = str_printf(&work.arena, "session %zu", i)},
                                .messages = v,
                                .n_messages = SESSION};
        write_queued(&work, s->store, &bundle);
        ctx_free(&work);
    }
    struct ctx work = {0};
    must(&work, store_flush(&work, s->store));
    ctx_free(&work);
}

static void write_turn(const struct bench *b, struct side *s, uint64_t *random, size_t pool)
{
    struct ctx work = {0};
    int64_t now = clock_ms();
    struct message v[2] = {{.id = {0}}};
    for (size_t k = 0; k < 2; k++)
        v[k] = (struct message){.id = id_random(&work.arena),
                                .role = k ? S("assistant") : S("user"),
                                .text = sentence(b, &work.arena, random, 20),
                                .created = now};
    struct bundle bundle = {.pool = pool_at(&work.arena, pool),
                            .session = {.id = str_printf(&work.arena, "talk %zu", pool)},
                            .messages = v,
                            .n_messages = 2,
                            .distil_at = now + 3600000};
    must(&work, store_write(&work, s->store, &bundle));
    ctx_free(&work);
}

/* --- recall --- */

static void ask_one(const struct bench *b, struct side *s, size_t i)
{
    struct ctx ctx = {0};
    uint64_t random = 99 + i;
    struct recall_in in = {.pool = pool_at(&ctx.arena, i % b->pools), .gate = true};
    struct recall_out out;
    in.question = str_printf(&ctx.arena, "When did we " S_FMT "?",
                             S_ARG(sentence(b, &ctx.arena, &random, 3 + i % 4)));
    int64_t began = clock_mono_us(), cpu = cpu_us(CLOCK_THREAD_CPUTIME_ID);
    must(&ctx, engine_recall(&ctx, s->engine, &in, &out));
    s->cpu[i] = cpu_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    s->took[i] = clock_mono_us() - began;
    ctx_free(&ctx);
}

/* What a question costs that only waits. */
static int64_t empty_trip(struct side *s)
{
    static int64_t took[QUESTIONS];
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct ctx ctx = {0};
        bool any;
        int64_t began = clock_mono_us();
        must(&ctx, store_has_tokens(&ctx, s->store, &any));
        took[i] = clock_mono_us() - began;
        ctx_free(&ctx);
    }
    sort_us(took, QUESTIONS);
    return took[QUESTIONS / 2];
}

/* writes: a turn of the pool is written before each question. */
static void ask_all(struct bench *b, const char *what, bool writes)
{
    uint64_t random = 5;
    int64_t trips = 0;
    for (size_t i = 0; i < QUESTIONS; i++)
        for (size_t k = 0; k < 2; k++) {
            struct side *s = &b->sides[(i + k) % 2];
            if (writes)
                write_turn(b, s, &random, i % b->pools);
            trips -= pipeline_trips();
            ask_one(b, s, i);
            trips += pipeline_trips();
        }
    printf("%s:\n", what);
    for (size_t k = 0; k < 2; k++) {
        int64_t *us = b->sides[k].took, *cpu = b->sides[k].cpu;
        sort_us(us, QUESTIONS);
        sort_us(cpu, QUESTIONS);
        printf("  %-10s p50 %lld us, p99 %lld us, CPU of the server p50 %lld us\n",
               b->sides[k].name, (long long)us[QUESTIONS / 2], (long long)us[QUESTIONS * 99 / 100],
               (long long)cpu[QUESTIONS / 2]);
    }
    printf("  %.2f round trips, each %lld us\n", (double)trips / QUESTIONS,
           (long long)empty_trip(&b->sides[1]));
}

/* --- writes --- */

struct writing {
    const struct bench *b;
    struct side *s;
    uint64_t random;
    int64_t end_us, done;
};

static void *write_turns(void *arg)
{
    struct writing *w = arg;
    for (; clock_mono_us() < w->end_us; w->done++)
        write_turn(w->b, w->s, &w->random, draw_random(&w->random) % w->b->pools);
    return NULL;
}

static double write_some(const struct bench *b, struct side *s, size_t writers)
{
    pthread_t threads[WRITERS];
    struct writing w[WRITERS];
    int64_t began = clock_mono_us(), done = 0;
    for (size_t i = 0; i < writers; i++) {
        w[i] = (struct writing){b, s, 1000 + i, began + WRITE_US, 0};
        if (pthread_create(&threads[i], NULL, write_turns, &w[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < writers; i++) {
        pthread_join(threads[i], NULL);
        done += w[i].done;
    }
    return (double)done * 1e6 / (double)(clock_mono_us() - began);
}

static void write_all(struct bench *b)
{
    int64_t trips = pipeline_trips();
    uint64_t random = 3;
    for (size_t i = 0; i < QUESTIONS; i++)
        write_turn(b, &b->sides[1], &random, i % b->pools);
    printf("a turn that is kept: %.2f round trips\n",
           (double)(pipeline_trips() - trips) / QUESTIONS);
    for (size_t i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < 2; k++)
            for (size_t many = 0; many < 2; many++)
                b->sides[k].written[many] += write_some(b, &b->sides[k], many ? WRITERS : 1);
    for (size_t k = 0; k < 2; k++)
        printf("  %-10s %.0f durable turns/s by one, %.0f by %d\n", b->sides[k].name,
               b->sides[k].written[0] / ROUNDS, b->sides[k].written[1] / ROUNDS, WRITERS);
}

static void open_side(struct bench *b, struct side *s, const char *name, str path)
{
    s->name = name;
    must(&b->ctx, store_open(&b->ctx, &(struct store_settings){.path = path}, &s->store));
    must(&b->ctx, engine_open(&b->ctx, s->store, &b->settings, &s->engine));
}

int main(int argc, char **argv)
{
    static struct bench b = {.pools = 20};
    char folder[] = "/tmp/rememberd-bench-XXXXXX";
    const char *url = getenv("TEST_STORE");
    size_t messages = argc > 2 ? strtoul(argv[2], NULL, 10) : 4000;
    b.pools = argc > 1 ? strtoul(argv[1], NULL, 10) : b.pools;
    if (sodium_init() < 0 || !url || !mkdtemp(folder)) {
        fprintf(stderr, "TEST_STORE is not set: tests/lib/with_postgres sets it\n");
        return 2;
    }
    zipf_make(b.share, VOCABULARY, 1);
    must(&b.ctx, settings_load(&b.ctx, NULL, 0, &b.settings));
    str file = str_printf(&b.ctx.arena, "%s/bench.db", folder);
    open_side(&b, &b.sides[0], "SQLite", file);
    open_side(&b, &b.sides[1], "PostgreSQL", str_printf(&b.ctx.arena, "%s&schema=bench", url));
    for (size_t k = 0; k < 2; k++) {
        int64_t began = clock_mono_us();
        fill(&b, &b.sides[k], messages);
        printf("%zu pools of %zu messages in %s: %.1f s\n", b.pools, messages, b.sides[k].name,
               (double)(clock_mono_us() - began) / 1e6);
    }
    ask_all(&b, "recall, what it needs was never read", false);
    ask_all(&b, "recall, the same questions again", false);
    ask_all(&b, "recall behind a turn of the same pool", true);
    write_all(&b);
    for (size_t k = 0; k < 2; k++) {
        engine_close(b.sides[k].engine);
        store_close(b.sides[k].store);
    }
    unlink(str_c(&b.ctx.arena, file));
    rmdir(folder);
    ctx_free(&b.ctx);
    return 0;
}
