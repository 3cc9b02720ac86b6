/* many.c - many memories of many people in one store: how fast they are kept, recalled and written;
 * prints figures. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "bench.h"
#include "engine/engine.h"
#include "ext/import/export.h"
#include "store/store.h"

/*
 * bench_many fill PLACE MEMORIES POOLS    a file or a URL of PostgreSQL
 * bench_many ask PLACE POOLS              recall of pools that are asked for the first time and
 *                                         again, and single writes; of the same pools in each place
 */

/* Half of the words are stop words, the others are drawn by Zipf's law. */
enum { VOCABULARY = 40000, WORDS = 22, BUNDLE = 100, ASKED = 8 };

static double share[VOCABULARY];
static const char *const common[] = {"the", "and", "is",   "to",  "of", "my",
                                     "in",  "a",   "that", "was", "on", "we"};
static const char *const categories[] = {"", "", "preference", "home", "health", "work", "travel"};

static struct pool_ref pool_no(struct arena *a, size_t no)
{
    return (struct pool_ref){str_printf(a, "person-%zu", no), S("default")};
}

static str some_text(struct arena *a, size_t words)
{
    struct buf b = buf_make(a, 1 << 12);
    for (size_t i = 0; i < words; i++) {
        if (i % 2)
            buf_printf(&b, "%s ", common[next_random() % 12]);
        else
            add_plain_word(&b, zipf_word(share, VOCABULARY, next_random()));
    }
    return str_trim(buf_str(&b));
}

static struct memory some_memory(struct arena *a)
{
    int64_t created = 1700000000000 + (int64_t)(next_random() % 20) * DAY_MS;
    return (struct memory){.id = id_random(a),
                           .content = some_text(a, WORDS / 2 + next_random() % WORDS),
                           .category = str_of(categories[next_random() % 7]),
                           .type = TYPE_FACTUAL,
                           .origin = ORIGIN_USER,
                           .importance = 0.5,
                           .salience = 0.5,
                           .created = created,
                           .updated = created};
}

/* --- filling --- */

static void write_some(struct store *s, size_t pool, size_t n)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct memory v[BUNDLE];
    for (size_t i = 0; i < n; i++)
        v[i] = some_memory(&ctx.arena);
    struct bundle b = {.pool = pool_no(&ctx.arena, pool),
                       .memories = v,
                       .n_memories = n,
                       .rule = PUT_IMPORT};
    write_queued(&ctx, s, &b);
}

static void fill(struct store *s, size_t memories, size_t pools)
{
    struct ctx ctx = {0};
    int64_t began = clock_mono_us();
    for (size_t i = 0; i < pools; i++)
        for (size_t left = memories / pools; left;) {
            size_t n = left < BUNDLE ? left : BUNDLE;
            write_some(s, i, n);
            left -= n;
        }
    must(&ctx, store_flush(&ctx, s));
    printf("%zu memories of %zu people, %.0f a second\n", memories, pools,
           (double)memories * 1e6 / (double)(clock_mono_us() - began));
}

/* --- asking --- */

enum { PEOPLE = 400, ROUNDS = 5, THREADS = 16, SECONDS = 5 };

static void report(const char *what, int64_t *us, size_t n)
{
    sort_us(us, n);
    printf("%-34s p50 %7.2f ms   p99 %7.2f ms   (%zu)\n", what, (double)us[n / 2] / 1e3,
           (double)us[n * 99 / 100] / 1e3, n);
}

/* Every pool once, in an order that the disk does not know; then the same pools again. */
static void ask(struct engine *e, size_t pools)
{
    static int64_t took[PEOPLE * ROUNDS];
    size_t people[PEOPLE], n = 0, found = 0;
    for (size_t i = 0; i < PEOPLE; i++)
        people[i] = next_random() % pools;
    for (size_t round = 0; round <= ROUNDS; round++) {
        for (size_t i = 0; i < PEOPLE; i++) {
            CLEANUP(ctx_free) struct ctx ctx = {0};
            str words = some_text(&ctx.arena, ASKED);
            struct recall_in in = {.pool = pool_no(&ctx.arena, people[i]),
                                   .question = str_printf(&ctx.arena, "When did we " S_FMT "?",
                                                          S_ARG(words))};
            struct recall_out out;
            str block;
            int64_t start = clock_mono_us();
            must(&ctx, engine_context(&ctx, e, &in, &out, &block));
            took[n++] = clock_mono_us() - start;
            found += out.n;
        }
        if (round == 0 || round == ROUNDS)
            report(round ? "recall, the same pools again" : "recall, a pool's first", took, n);
        n = round ? n : 0;
    }
    printf("%.1f found each time\n", (double)found / (PEOPLE * (ROUNDS + 1)));
}

struct writes {
    struct store *s;
    size_t pools, n;
    int64_t until_us;
    uint64_t seed;
};

static void *write_single(void *arg)
{
    struct writes *w = arg;
    random_begin(w->seed);
    while (clock_mono_us() < w->until_us) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct memory m = some_memory(&ctx.arena);
        struct bundle b = {.pool = pool_no(&ctx.arena, next_random() % w->pools),
                           .memories = &m,
                           .n_memories = 1,
                           .rule = PUT_IMPORT};
        must(&ctx, store_write(&ctx, w->s, &b));
        w->n++;
    }
    return NULL;
}

static void measure_writes(struct store *s, size_t pools, size_t threads)
{
    pthread_t thread[THREADS];
    struct writes w[THREADS];
    size_t all = 0;
    for (size_t i = 0; i < threads; i++) {
        w[i] = (struct writes){s, pools, 0, clock_mono_us() + SECONDS * 1000000, 1000 + i};
        if (pthread_create(&thread[i], NULL, write_single, &w[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        all += w[i].n;
    }
    printf("durable writes, %2zu at once          %7zu a second\n", threads, all / SECONDS);
}

static void print_memory(const char *when)
{
    char line[128];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            printf("memory of this process %s:%s", when, line + 6);
    if (f)
        fclose(f);
}

/* --- exports --- */

static size_t hash_export(struct engine *e, size_t pool, crypto_hash_sha256_state *hash)
{
    enum { PART = 1 << 20 };
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct pool_ref mine = pool_no(&ctx.arena, pool);
    struct export_order order = {.select = SELECT_ALL, .all = true};
    order.select.pools = &mine;
    order.select.n_pools = 1;
    struct exporting *x = engine_export_begin(&ctx, &order);
    size_t bytes = 0;
    for (bool is_last = false; !is_last;) {
        struct buf b = buf_make(&ctx.arena, 2 * PART);
        must(&ctx, engine_export_part(&ctx, e, x, PART, &b, &is_last));
        str part = buf_str(&b);
        crypto_hash_sha256_update(hash, (const unsigned char *)part.p, part.n);
        bytes += part.n;
    }
    return bytes;
}

static void hash_exports(struct engine *e, size_t pools)
{
    crypto_hash_sha256_state hash;
    unsigned char digest[crypto_hash_sha256_BYTES];
    char hex[2 * sizeof digest + 1];
    size_t bytes = 0;
    crypto_hash_sha256_init(&hash);
    for (size_t i = 0; i < pools; i++)
        bytes += hash_export(e, i, &hash);
    crypto_hash_sha256_final(&hash, digest);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    printf("exports of %zu people: %zu bytes, SHA-256 %s\n", pools, bytes, hex);
}

static void measure(struct engine *e, struct store *s, size_t pools)
{
    print_memory("at first");
    ask(e, pools);
    print_memory("behind these");
    measure_writes(s, pools, 1);
    measure_writes(s, pools, THREADS);
}

static void with_engine(struct store *s, bool exports, size_t pools)
{
    struct ctx ctx = {0};
    struct settings settings;
    struct engine *e;
    must(&ctx, settings_load(&ctx, NULL, 0, &settings));
    must(&ctx, engine_open(&ctx, s, &settings, &e));
    if (exports)
        hash_exports(e, pools);
    else
        measure(e, s, pools);
    engine_close(e);
    ctx_free(&ctx);
}

int main(int argc, char **argv)
{
    struct ctx ctx = {0};
    struct store *s;
    bool fills = argc == 5 && strcmp(argv[1], "fill") == 0;
    bool exports = argc == 4 && strcmp(argv[1], "export") == 0;
    bool asks = argc == 4 && strcmp(argv[1], "ask") == 0;
    if (sodium_init() < 0 || !(fills || exports || asks)) {
        fprintf(stderr, "usage: bench_many fill PLACE MEMORIES POOLS | ask|export PLACE POOLS\n");
        return 2;
    }
    zipf_make(share, VOCABULARY, 3);
    must(&ctx, store_open(&ctx, &(struct store_settings){.path = str_of(argv[2])}, &s));
    if (fills)
        fill(s, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    else
        with_engine(s, exports, strtoul(argv[3], NULL, 10));
    store_close(s);
    ctx_free(&ctx);
    return 0;
}
