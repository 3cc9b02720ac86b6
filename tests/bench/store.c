/* store.c - how fast the store takes turns in and finds words again; prints figures. */
#include <pthread.h>
#include <sodium.h>

#include "bench.h"
#include "lib/store.h"
#include "store/store.h"
#include "words/words.h"

/* Turns look like English in what matters here: half of the words are stop words, the others are
 * drawn by Zipf's law from a vocabulary. */
enum { VOCABULARY = 20000, TURN_WORDS = 26, SESSION_TURNS = 30, THREADS = 16 };

static const char *const common[] = {"the", "and", "is",   "to", "of",
                                     "a",   "in",  "that", "it", "was"};
static str vocabulary[VOCABULARY];
static double weight[VOCABULARY];

static void make_vocabulary(struct arena *a)
{
    for (size_t i = 0; i < VOCABULARY; i++)
        vocabulary[i] = word_of_syllables(a, i);
    zipf_make(weight, VOCABULARY, 3);
}

static str some_word(void)
{
    return vocabulary[zipf_word(weight, VOCABULARY, next_random())];
}

static str some_turn(struct arena *a)
{
    struct buf b = buf_make(a, 4096);
    for (int i = 0; i < TURN_WORDS; i++) {
        if (i % 2)
            buf_printf(&b, "%s ", common[next_random() % 10]);
        else
            buf_add(&b, some_word()), buf_byte(&b, ' ');
    }
    return buf_str(&b);
}

static double seconds_since(int64_t start)
{
    return (double)(clock_mono_us() - start) / 1e6;
}

/* Writes turns in sessions, one bundle each, into one pool; with distil_at they wait then. */
static void fill(struct store *s, struct pool_ref pool, int64_t turns, bool later,
                 int64_t distil_at, const char *what)
{
    int64_t start = clock_mono_us(), words_us = 0;
    for (int64_t done = 0; done < turns; done += SESSION_TURNS) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct message m[SESSION_TURNS] = {0};
        int64_t made = clock_mono_us();
        for (int i = 0; i < SESSION_TURNS; i++)
            m[i] = (struct message){.id = id_random(&ctx.arena),
                                    .role = i % 2 ? S("assistant") : S("user"),
                                    .speaker = S("Anna"),
                                    .text = some_turn(&ctx.arena),
                                    .created = 1683553000000 + done * 60000,
                                    .chain = 0,
                                    .tail = 0};
        words_us += clock_mono_us() - made;
        struct bundle b = {.pool = pool,
                           .session = {.id = id_random(&ctx.arena)},
                           .messages = m,
                           .distil_at = distil_at,
                           .n_messages = SESSION_TURNS < turns - done ? SESSION_TURNS
                                                                      : (size_t)(turns - done)};
        if (later)
            write_queued(&ctx, s, &b);
        else
            must(&ctx, store_write(&ctx, s, &b));
    }
    struct ctx ctx = {0};
    must(&ctx, store_flush(&ctx, s));
    double took = seconds_since(start) - (double)words_us / 1e6;
    if (what)
        printf("%-44s %10.0f turns/s\n", what, (double)turns / took);
}

/* --- single turns --- */

struct writes {
    struct store *s;
    int64_t until;
    int64_t done;
    uint64_t seed;
    bool distils;
};

static void *write_turns(void *arg)
{
    struct writes *w = arg;
    random_begin(w->seed);
    while (clock_mono_us() < w->until) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct message m = {.id = id_random(&ctx.arena),
                            .role = S("user"),
                            .text = some_turn(&ctx.arena),
                            .created = 1683553000000};
        struct bundle b = {.pool = mine,
                           .session = {.id = str_printf(&ctx.arena, "t%d", (int)w->seed)},
                           .messages = &m,
                           .n_messages = 1,
                           .distil_at = w->distils ? clock_ms() + 60000 : 0};
        must(&ctx, store_write(&ctx, w->s, &b));
        w->done++;
    }
    return NULL;
}

static void bench_single(struct store *s, int threads, bool distils)
{
    pthread_t thread[THREADS];
    struct writes w[THREADS];
    int64_t start = clock_mono_us(), done = 0;
    for (int i = 0; i < threads; i++) {
        w[i] = (struct writes){s, start + 2000000, 0, 1000 + (uint64_t)i, distils};
        if (pthread_create(&thread[i], NULL, write_turns, &w[i]) != 0)
            abort();
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        done += w[i].done;
    }
    char what[64];
    snprintf(what, sizeof what, "single turns, %d threads, each fsynced%s", threads,
             distils ? ", to distil" : "");
    printf("%-44s %10.0f writes/s\n", what, (double)done / seconds_since(start));
}

/* --- searches --- */

static void bench_search(struct store *s, struct pool_ref pool, const char *what)
{
    enum { ROUNDS = 500 };
    static double ms[ROUNDS];
    size_t hits_all = 0;
    for (int i = -20; i < ROUNDS; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct word_hits hits;
        str stems[5];
        struct buf b = buf_make(&ctx.arena, 1024);
        for (int k = 0; k < 5; k++)
            buf_add(&b, some_word()), buf_byte(&b, ' ');
        struct words words = words_of(&ctx.arena, buf_str(&b), 5);
        for (size_t k = 0; k < words.n; k++)
            stems[k] = words.v[k].stem;
        int64_t start = clock_mono_us();
        must(&ctx, store_search_words(&ctx, s, pool, stems, words.n, false, 20000, &hits));
        if (i < 0)
            continue;
        ms[i] = (double)(clock_mono_us() - start) / 1000;
        hits_all += hits.n;
    }
    sort_ms(ms, ROUNDS);
    printf("%-44s %8.3f ms p50 %8.3f ms p99 %8zu hits\n", what, ms[ROUNDS / 2],
           ms[ROUNDS * 99 / 100], hits_all / ROUNDS);
}

/* --- blocks that are put back --- */

enum { TALKS = 500, TALK_BLOCKS = 200 };

static void write_blocks(struct ctx *ctx, struct store *s, struct pool_ref pool, uint64_t talk,
                         str session)
{
    str told[] = {S("m1"), S("m2"), S("m3")};
    for (uint64_t i = 1; i <= TALK_BLOCKS; i++) {
        struct receipt r = {.id = id_random(&ctx->arena),
                            .session = session,
                            .created = 1,
                            .block = some_turn(&ctx->arena),
                            .told = {told, 3},
                            .chain = talk * TALK_BLOCKS + i};
        struct bundle b = {.pool = pool, .receipt = &r};
        must(ctx, store_write_later(ctx, s, &b));
        if (i % 100 == 0)
            must(ctx, store_settle(ctx, s));
    }
}

static void bench_replay_of(struct store *s, struct pool_ref pool, str session, size_t n)
{
    enum { ROUNDS = 500 };
    static double ms[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct replay v[TALK_BLOCKS];
        for (size_t k = 0; k < n; k++)
            v[k] = (struct replay){.chain = (uint64_t)(TALKS / 2) * TALK_BLOCKS + 1 + k};
        int64_t start = clock_mono_us();
        must(&ctx, store_replays(&ctx, s, pool, session, v, n));
        ms[i] = (double)(clock_mono_us() - start) / 1000;
        if (!v[n - 1].block.n)
            abort();
    }
    char what[64];
    sort_ms(ms, ROUNDS);
    snprintf(what, sizeof what, "blocks of a talk with %zu of them", n);
    printf("%-44s %8.3f ms p50 %8.3f ms p99\n", what, ms[ROUNDS / 2], ms[ROUNDS * 99 / 100]);
}

static void bench_replays(struct store *s)
{
    struct pool_ref pool = {S("talks"), S("default")};
    for (uint64_t talk = 0; talk < TALKS; talk++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        write_blocks(&ctx, s, pool, talk,
                     str_printf(&ctx.arena, "talk-%llu", (unsigned long long)talk));
    }
    CLEANUP(ctx_free) struct ctx ctx = {0};
    str session = str_printf(&ctx.arena, "talk-%d", TALKS / 2);
    bench_replay_of(s, pool, session, 10);
    bench_replay_of(s, pool, session, 50);
    bench_replay_of(s, pool, session, 200);
}

/* --- turns that wait to be distilled --- */

enum { WAITING = 10000, CLAIM = 64 };

/* What one session's pending turns become. */
static void distil(struct ctx *ctx, struct store *s, const struct waiting_session *w)
{
    struct pending_signal *v;
    size_t n;
    must(ctx, store_signals(ctx, s, w->pool, w->session, 100, &v, &n));
    int64_t *no = NEW_N(&ctx->arena, int64_t, n);
    for (size_t i = 0; i < n; i++)
        no[i] = v[i].no;
    struct memory m = {.id = id_random(&ctx->arena),
                       .key = w->session,
                       .content = some_turn(&ctx->arena),
                       .session = w->session,
                       .layer = LAYER_EPISODE};
    struct bundle b = {.pool = w->pool,
                       .session = {.id = w->session},
                       .memories = &m,
                       .n_memories = 1,
                       .rule = PUT_REPLACE,
                       .distilled = no,
                       .n_distilled = n};
    must(ctx, store_write(ctx, s, &b));
}

static void bench_claims(struct store *s)
{
    static double ms[WAITING / CLAIM + 1];
    int64_t start = clock_mono_us();
    size_t rounds = 0, done = 0;
    for (size_t n = 1; n;) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct waiting_session *v;
        int64_t asked = clock_mono_us();
        must(&ctx, store_due_sessions(&ctx, s, 60000, CLAIM, &v, &n));
        if (n)
            ms[rounds++] = (double)(clock_mono_us() - asked) / 1000;
        for (size_t i = 0; i < n; i++)
            distil(&ctx, s, &v[i]);
        done += n;
    }
    sort_ms(ms, rounds);
    printf("%-44s %8.3f ms p50 %8.3f ms p99\n", "claim 64 of 10,000 that wait", ms[rounds / 2],
           ms[rounds * 99 / 100]);
    printf("%-44s %10.0f sessions/s\n", "distil one after another, each fsynced",
           (double)done / seconds_since(start));
}

static void bench_signals(struct ctx *ctx, struct store *s)
{
    struct pool_ref pool = {S("waiting"), S("default")};
    struct signal_stats stats;
    int64_t n, turns = WAITING * SESSION_TURNS / 10;
    fill(s, pool, turns, true, 0, "ingest, sessions of 30, queued");
    fill(s, pool, turns, true, 1, "ingest, sessions of 30, queued, to distil");
    for (int i = 0; i < WAITING - WAITING / 10; i++) {
        struct message m = {.role = S("user"), .text = some_turn(&ctx->arena), .created = 1};
        struct bundle b = {.pool = pool,
                           .session = {.id = id_random(&ctx->arena)},
                           .messages = &m,
                           .n_messages = 1,
                           .distil_at = 1};
        write_queued(ctx, s, &b);
    }
    must(ctx, store_flush(ctx, s));
    must(ctx, store_flush_signals(ctx, s, mine, S(""), &n));
    bench_single(s, THREADS, true);
    int64_t start = clock_mono_us();
    must(ctx, store_signal_stats(ctx, s, NULL, &stats));
    printf("%-44s %8.3f ms, %lld signals of %lld sessions\n", "what waits, counted",
           (double)(clock_mono_us() - start) / 1000, (long long)stats.signals,
           (long long)stats.sessions);
    bench_claims(s);
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    int64_t big = argc > 1 ? strtoll(argv[1], NULL, 10) : 100000;
    if (sodium_init() < 0)
        return 2;
    make_vocabulary(&ctx.arena);
    PLACE(p);
    CLEANUP(store_closep) struct store *s = NULL;
    must(&ctx, store_open(&ctx, &(struct store_settings){.path = str_of(p.path)}, &s));
    struct pool_ref small = {S("small"), S("default")}, ten = {S("ten"), S("default")};
    fill(s, ten, 10000, false, 0, "ingest, sessions of 30, a new file");
    fill(s, small, 100, false, 0, NULL);
    fill(s, other_user, big / 2, false, 0, "ingest, sessions of 30, each waited for");
    fill(s, other_user, big / 2, true, 0, "ingest, sessions of 30, queued");
    bench_search(s, small, "5 words, pool of 100 in this file");
    bench_search(s, ten, "5 words, pool of 10,000");
    bench_search(s, other_user, "5 words, the large pool");
    bench_single(s, 1, false);
    bench_single(s, THREADS, false);
    bench_single(s, 1, true);
    bench_single(s, THREADS, true);
    bench_signals(&ctx, s);
    bench_replays(s);
    struct store_stats stats;
    must(&ctx, store_stats(&ctx, s, &stats));
    printf("%lld messages, %.1f MB, log %.1f MB\n", (long long)stats.messages,
           (double)stats.bytes / 1e6, (double)stats.wal_bytes / 1e6);
    return 0;
}
