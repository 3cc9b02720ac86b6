/* encryption.c - what encryption costs: a plain and an encrypted store of the same rows, in turns.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "engine/engine.h"
#include "store/store.h"

enum {
    VOCABULARY = 40000,
    SESSION = 20,
    ROUNDS = 10,     /* in which both take turns */
    QUESTIONS = 100, /* of a round */
    WRITES = 100,    /* of a round, each waited for */
};

static const uint8_t key[STORE_KEY_BYTES] = {7, 7, 7};
static const struct pool_ref pool = {{"local", 5}, {"default", 7}};
static double share[VOCABULARY]; /* Zipf's law, less the stop words */

struct figures {
    int64_t v[ROUNDS * QUESTIONS], cpu[ROUNDS * QUESTIONS];
    size_t n;
};

struct side {
    const char *name;
    const uint8_t *key;
    struct ctx ctx;
    str path;
    struct store *store;
    struct engine *engine;
    struct settings settings;
    uint64_t random;
    size_t sessions;
    int64_t bulk_us, bulk_cpu_us, open_us;
    struct figures recalls, writes;
};

static str sentence(struct side *s, struct arena *a, size_t words)
{
    struct buf text = buf_make(a, 4096);
    for (size_t i = 0; i < words; i++)
        add_plain_word(&text, zipf_word(share, VOCABULARY, draw_random(&s->random)));
    return str_trim(buf_str(&text));
}

/* --- writing --- */

static void write_turns(struct side *s, size_t n, bool waits)
{
    struct ctx work = {0};
    struct message messages[SESSION] = {{.id = {0}}};
    size_t no = s->sessions++;
    str session = str_printf(&work.arena, "session %zu", no);
    for (size_t i = 0; i < n; i++)
        messages[i] =
            (struct message){.id = str_printf(&work.arena, "%zu-%zu", no, i),
                             .role = i % 2 ? S("assistant") : S("user"),
                             .text = sentence(s, &work.arena, 8 + draw_random(&s->random) % 23),
                             .created = 1700000000000 + (int64_t)no * 3600000};
    struct bundle bundle = {.pool = pool,
                            .session = {.id = session},
                            .messages = messages,
                            .n_messages = n};
    if (waits)
        must(&work, store_write(&work, s->store, &bundle));
    else
        write_queued(&work, s->store, &bundle);
    ctx_free(&work);
}

static void write_bulk(struct side *s, size_t sessions)
{
    int64_t began = clock_mono_us(), cpu = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < sessions; i++)
        write_turns(s, SESSION, false);
    must(&s->ctx, store_flush(&s->ctx, s->store));
    s->bulk_us += clock_mono_us() - began;
    s->bulk_cpu_us += cpu_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

static void write_singly(struct side *s)
{
    struct figures *f = &s->writes;
    for (size_t i = 0; i < WRITES; i++, f->n++) {
        int64_t began = clock_mono_us(), cpu = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
        write_turns(s, 1, true);
        f->v[f->n] = clock_mono_us() - began;
        f->cpu[f->n] = cpu_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    }
}

static void recall(struct side *s)
{
    struct figures *f = &s->recalls;
    for (size_t i = 0; i < QUESTIONS; i++, f->n++) {
        struct ctx ctx = {0};
        str words = sentence(s, &ctx.arena, 3 + draw_random(&s->random) % 4);
        struct recall_in in = {.pool = pool,
                               .question =
                                   str_printf(&ctx.arena, "When did we " S_FMT "?", S_ARG(words)),
                               .gate = true};
        struct recall_out out;
        int64_t began = clock_mono_us(), cpu = cpu_us(CLOCK_THREAD_CPUTIME_ID);
        must(&ctx, engine_recall(&ctx, s->engine, &in, &out));
        f->v[f->n] = clock_mono_us() - began;
        f->cpu[f->n] = cpu_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
        ctx_free(&ctx);
    }
}

/* --- the two sides --- */

static void open_side(struct side *s)
{
    struct store_settings where = {.path = s->path, .key = s->key};
    int64_t began = clock_mono_us();
    must(&s->ctx, store_open(&s->ctx, &where, &s->store));
    s->open_us = clock_mono_us() - began;
    must(&s->ctx, engine_open(&s->ctx, s->store, &s->settings, &s->engine));
}

static void close_side(struct side *s)
{
    engine_close(s->engine);
    store_close(s->store);
}

static void tell(const char *what, struct side sides[2], struct figures *a, struct figures *b)
{
    struct figures *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        struct figures *f = both[i];
        sort_us(f->v, f->n);
        sort_us(f->cpu, f->n);
        printf("  %-8s %-10s time p50 %5lld us, p99 %6lld us; cpu p50 %5lld us, p99 %6lld us\n",
               what, sides[i].name, (long long)f->v[f->n / 2], (long long)f->v[f->n * 99 / 100],
               (long long)f->cpu[f->n / 2], (long long)f->cpu[f->n * 99 / 100]);
    }
    printf("  %-8s encrypted takes %.2f times the cpu of plain (p50)\n", what,
           (double)b->cpu[b->n / 2] / (double)a->cpu[a->n / 2]);
}

static int64_t size_of(struct side *s)
{
    struct stat st = {0};
    stat(str_c(&s->ctx.arena, s->path), &st);
    return st.st_size;
}

static void convert(struct side *s, const uint8_t *to, const char *what)
{
    struct store_copy copy = {
        .from = s->path, .from_key = s->key, .to = s->path, .to_key = to, .replaces = true};
    int64_t began = clock_mono_us();
    double bytes = (double)size_of(s) / 1e6;
    must(&s->ctx, store_copy(&s->ctx, &copy));
    double seconds = (double)(clock_mono_us() - began) / 1e6;
    printf("  %s: %.1f MB in %.2f s, %.0f MB/s, proven\n", what, bytes, seconds, bytes / seconds);
    s->key = to;
}

static void run(size_t things)
{
    static struct side sides[2];
    char folder[] = "/tmp/encryption-bench-XXXXXX";
    memset(sides, 0, sizeof sides);
    if (!mkdtemp(folder))
        exit(1);
    for (int i = 0; i < 2; i++) {
        struct side *s = &sides[i];
        s->name = i ? "encrypted" : "plain";
        s->key = i ? key : NULL;
        s->random = 88172645463325252u;
        s->path = str_printf(&s->ctx.arena, "%s/%s.db", folder, s->name);
        must(&s->ctx, settings_load(&s->ctx, NULL, 0, &s->settings));
        open_side(s);
    }
    for (size_t round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++)
            write_bulk(&sides[(round + (size_t)i) % 2], things / SESSION / ROUNDS);
    for (int i = 0; i < 2; i++) {
        close_side(&sides[i]);
        open_side(&sides[i]);
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++)
            recall(&sides[(round + (size_t)i) % 2]);
        for (int i = 0; i < 2; i++)
            write_singly(&sides[(round + (size_t)i) % 2]);
    }
    printf("%zu messages, plain and encrypted in turns:\n", things);
    for (int i = 0; i < 2; i++) {
        struct side *s = &sides[i];
        printf("  %-10s queued %.0f a second, %.1f us of cpu each; opened in %.1f ms; %.1f MB\n",
               s->name, (double)things * 1e6 / (double)s->bulk_us,
               (double)s->bulk_cpu_us / (double)things, (double)s->open_us / 1e3,
               (double)size_of(s) / 1e6);
    }
    tell("write", sides, &sides[0].writes, &sides[1].writes);
    tell("recall", sides, &sides[0].recalls, &sides[1].recalls);
    for (int i = 0; i < 2; i++)
        close_side(&sides[i]);
    convert(&sides[0], key, "encrypt");
    convert(&sides[0], NULL, "decrypt");
    for (int i = 0; i < 2; i++) {
        unlink(str_c(&sides[i].ctx.arena, sides[i].path));
        ctx_free(&sides[i].ctx);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    if (sodium_init() < 0)
        return 2;
    zipf_make(share, VOCABULARY, 30);
    if (argc > 1) {
        run(strtoul(argv[1], NULL, 10));
        return 0;
    }
    run(10000);
    run(100000);
    return 0;
}
