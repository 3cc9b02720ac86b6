/* vector_search.c - the nearest are the nearest, whoever writes, and nobody else's. */
#include <math.h>
#include <pthread.h>

#include "lib/store.h"
#include "store/sql/state/sql_store.h"
#include "store/store.h"

enum { DIMENSIONS = 40, SESSION = 50 };

static const str signature = {"test:a:40", 9};

static const struct vector_set sets[] = {
    {.signature = {"test:a:40", 9}, .dimensions = DIMENSIONS},
    {.signature = {"test:a:40", 9}, .dimensions = DIMENSIONS, .is_int8 = true},
};

/* Documents and what is known of them beside the store. */
struct known {
    doc_id *docs;
    float **v;
    size_t n;
};

static double product(const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < DIMENSIONS; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static const float *vector_of(const struct known *k, doc_id doc)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->docs[i] == doc)
            return k->v[i];
    return NULL;
}

static void embed_all(struct ctx *ctx, struct store *s, struct known *k)
{
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, NULL, 10000, &v, &n));
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++) {
        const float *known = k ? vector_of(k, v[i].doc) : NULL;
        put[i] =
            (struct vector_put){v[i].no, v[i].doc,
                                known ? known : direction(ctx, str_hash(v[i].text), DIMENSIONS), 0};
    }
    CHECK_OK(store_put_vectors(ctx, s, signature, put, n));
}

/* n documents: sessions of 50 messages, and every tenth a memory. */
static struct known fill(struct ctx *ctx, struct store *s, struct pool_ref pool, size_t n)
{
    struct arena *a = &ctx->arena;
    struct known k = {NEW_N(a, doc_id, n), NEW_N(a, float *, n), 0};
    size_t memories = n / 10;
    while (k.n < n) {
        struct message m[SESSION] = {0};
        struct memory f[SESSION] = {0};
        struct bundle b = {.pool = pool, .session = {.id = str_printf(a, "s%zu", k.n)}};
        b.messages = m;
        b.memories = f;
        for (; k.n + b.n_messages + b.n_memories < n && b.n_messages + b.n_memories < SESSION;) {
            if (k.n + b.n_memories < memories)
                f[b.n_memories++] = fact("", "", "something");
            else
                m[b.n_messages++] = (struct message){.text = S("something"), .role = S("user")};
        }
        CHECK_OK(store_write(ctx, s, &b));
        for (size_t i = 0; i < b.n_messages; i++)
            k.docs[k.n++] = m[i].doc;
        for (size_t i = 0; i < b.n_memories; i++)
            k.docs[k.n++] = f[i].doc;
    }
    for (size_t i = 0; i < n; i++)
        k.v[i] = direction(ctx, (uint64_t)k.docs[i] * 77 + i, DIMENSIONS);
    return k;
}

static struct vector_find question(struct ctx *ctx, struct pool_ref pool, uint64_t seed,
                                   size_t nearest)
{
    return (struct vector_find){.pool = pool,
                                .signature = signature,
                                .v = direction(ctx, seed, DIMENSIONS),
                                .dimensions = DIMENSIONS,
                                .nearest = nearest,
                                .messages = true,
                                .memories = true};
}

static double exact_window(const struct known *k, const float *q, doc_id doc)
{
    float sum[DIMENSIONS] = {0};
    for (doc_id d = doc - 2; d <= doc + 1 && !doc_is_memory(doc); d++) {
        const float *v = doc_session(d) == doc_session(doc) ? vector_of(k, d) : NULL;
        for (size_t i = 0; v && i < DIMENSIONS; i++)
            sum[i] += v[i];
    }
    double length = sqrt(product(sum, sum));
    return length > 0 ? product(sum, q) / length : 0;
}

/* By brute force: every cosine is right, and nothing that was left out is nearer than what was
 * found, but for what the precision of the rows leaves open. */
static void check_hits(const struct known *k, const struct vector_find *f,
                       const struct vector_hits *hits, double tolerance)
{
    size_t wanted = 0, near = 0;
    double worst = 2;
    for (size_t i = 0; i < hits->n; i++) {
        const struct vector_hit *hit = &hits->v[i];
        const float *v = vector_of(k, hit->doc);
        CHECK(v != NULL);
        CHECK(!i || hits->v[i - 1].doc < hit->doc);
        CHECK(fabs((double)hit->cosine - product(v, f->v)) < tolerance);
        CHECK(fabs((double)hit->window - exact_window(k, f->v, hit->doc)) < 0.006);
        near += hit->is_near;
        if (hit->is_near && (double)hit->cosine < worst)
            worst = (double)hit->cosine;
    }
    for (size_t i = 0; i < k->n; i++) {
        bool is_wanted = doc_is_memory(k->docs[i]) ? f->memories : f->messages, found = false;
        wanted += is_wanted;
        for (size_t j = 0; j < hits->n; j++)
            found |= hits->v[j].doc == k->docs[i] && hits->v[j].is_near;
        CHECK(!found || is_wanted);
        CHECK(found || !is_wanted || product(k->v[i], f->v) < worst + tolerance);
    }
    CHECK_INT(near, wanted < f->nearest ? wanted : f->nearest);
}

static void compare(struct ctx *ctx, const struct vector_set *set, size_t n)
{
    PLACE(p);
    STORE(s, p);
    struct vector_hits hits;
    CHECK_OK(store_begin_vectors(ctx, s, set, false));
    struct known k = fill(ctx, s, mine, n);
    embed_all(ctx, s, &k);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct vector_find f = question(ctx, mine, seed, seed * 5);
        f.messages = seed % 4 != 1;
        f.memories = seed % 4 != 2;
        CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
        CHECK_INT(hits.vectors, n);
        check_hits(&k, &f, &hits, set->is_int8 ? 0.005 : 1e-5);
    }
    check_healthy(ctx, s);
}

TEST(the_nearest_are_the_nearest)
{
    static const size_t sizes[] = {1, 2, 3, 33, 500, 3000};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++)
        compare(ctx, &sets[i % 2], sizes[i / 2]);
}

TEST(other_documents_are_compared_as_well)
{
    PLACE(p);
    STORE(s, p);
    struct vector_hits hits;
    CHECK_OK(store_begin_vectors(ctx, s, &sets[1], false));
    struct known k = fill(ctx, s, mine, 100), theirs = fill(ctx, s, other_space, 10);
    embed_all(ctx, s, &k);
    struct vector_find f = question(ctx, mine, 5, 3);
    /* One twice, one of another pool, one that is nowhere, and one with a window alone. */
    int64_t erased;
    struct message gone;
    CHECK_OK(store_messages(ctx, s, mine, &k.docs[60], 1, &gone));
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = gone.id}, &erased));
    doc_id also[] = {k.docs[70], k.docs[70], theirs.docs[9], 99999999, k.docs[0], k.docs[60]};
    f.also = also;
    f.n_also = 6;
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    size_t found = 0;
    for (size_t i = 0; i < hits.n; i++) {
        const struct vector_hit *hit = &hits.v[i];
        CHECK(!i || hits.v[i - 1].doc < hit->doc);
        if (hit->doc == theirs.docs[9] || hit->doc == 99999999) {
            CHECK(hit->cosine == 0 && hit->window == 0 && !hit->is_near);
        } else if (hit->doc == k.docs[60]) {
            CHECK(hit->cosine == 0 && hit->window != 0 && !hit->is_near);
        } else {
            CHECK(fabs((double)hit->cosine - product(vector_of(&k, hit->doc), f.v)) < 0.005);
        }
        for (size_t j = 0; j < 6; j++)
            found += hit->doc == also[j];
    }
    CHECK_INT(found, 6);
    /* Without vectors they are there all the same. */
    f.signature = S("another");
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    CHECK(hits.n == 5 && hits.vectors == 0);
}

TEST(nearer_ones_of_others_hide_nothing)
{
    PLACE(p);
    STORE(s, p);
    struct vector_hits hits;
    CHECK_OK(store_begin_vectors(ctx, s, &sets[1], false));
    struct vector_find f = question(ctx, mine, 5, 5);
    struct known theirs[] = {fill(ctx, s, other_user, 1000), fill(ctx, s, other_space, 1000)};
    for (size_t i = 0; i < 2000; i++)
        memcpy(theirs[i / 1000].v[i % 1000], f.v, DIMENSIONS * sizeof *f.v);
    embed_all(ctx, s, &theirs[0]);
    struct known k = fill(ctx, s, mine, 7);
    embed_all(ctx, s, &k);
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    CHECK_INT(hits.n, 5);
    check_hits(&k, &f, &hits, 0.005);
}

/* --- two that have the file open --- */

static size_t all_near(struct ctx *ctx, struct store *s, struct pool_ref pool)
{
    struct vector_hits hits;
    struct vector_find f = question(ctx, pool, 1, 100000);
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    CHECK_INT(hits.vectors, hits.n);
    return hits.n;
}

TEST(what_another_process_writes_is_seen)
{
    PLACE(p);
    STORE(s, p);
    STORE(other, p);
    struct message m = said("m1", "user", "a dog", 1000), n = said("m2", "user", "a cat", 1000);
    int64_t erased;
    CHECK_OK(store_begin_vectors(ctx, s, &sets[0], false));
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    embed_all(ctx, other, NULL);
    CHECK_INT(all_near(ctx, s, mine), 1);
    CHECK_INT(all_near(ctx, other, mine), 1);
    CHECK_OK(say(ctx, other, mine, "s1", &n));
    embed_all(ctx, s, NULL);
    CHECK_INT(all_near(ctx, s, mine), 2);
    CHECK_INT(all_near(ctx, other, mine), 2);
    CHECK_OK(store_forget(ctx, other, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
    CHECK_INT(all_near(ctx, s, mine), 1);
    CHECK_OK(store_begin_vectors(ctx, other, &sets[1], false));
    CHECK_INT(all_near(ctx, s, mine), 0);
    embed_all(ctx, other, NULL);
    CHECK_INT(all_near(ctx, s, mine), 1);
    struct forget all = {.pool = mine, .everything = true};
    struct vector_stats stats;
    CHECK_OK(store_forget(ctx, other, &all, &erased));
    CHECK_INT(all_near(ctx, s, mine), 0);
    /* What is not searched any more goes with the next clean-up. */
    CHECK_OK(store_prune(ctx, s, 0, 0, &erased));
    CHECK_OK(store_vector_stats(ctx, s, NULL, &stats));
    CHECK_INT(stats.bytes, 0);
}

TEST(many_that_went_are_seen_after_their_rows_are_gone)
{
    PLACE(p);
    STORE(s, p);
    STORE(other, p);
    int64_t erased;
    CHECK_OK(store_begin_vectors(ctx, s, &sets[1], false));
    struct known k = fill(ctx, s, mine, 3000);
    embed_all(ctx, s, &k);
    CHECK_INT(all_near(ctx, other, mine), 3000);
    struct forget memories = {.pool = mine, .memories = true};
    CHECK_OK(store_forget(ctx, s, &memories, &erased));
    for (int i = 300; i < 1300; i += SESSION) {
        struct forget session = {.pool = mine};
        session.session = str_printf(&ctx->arena, "s%d", i);
        CHECK_OK(store_forget(ctx, s, &session, &erased));
    }
    CHECK_OK(store_prune(ctx, s, 0, 0, &erased));
    CHECK_INT(erased, 0);
    CHECK_INT(all_near(ctx, other, mine), 1700);
    CHECK_INT(all_near(ctx, s, mine), 1700);
    struct message m = said("m1", "user", "a dog", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    embed_all(ctx, s, NULL);
    CHECK_INT(all_near(ctx, other, mine), 1701);
    CHECK_INT(all_near(ctx, s, mine), 1701);
    check_healthy(ctx, s);
}

TEST(a_great_pool_is_read_in_several_searches_when_time_is_short)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    struct vector_hits hits;
    struct vector_find f = question(ctx, mine, 3, 10);
    CHECK_OK(store_begin_vectors(ctx, s, &sets[1], false));
    struct known k = fill(ctx, s, mine, 2500);
    embed_all(ctx, s, &k);
    /* With a row among them that says to read everything anew. */
    for (int i = 300; i < 1350; i += SESSION) {
        struct forget session = {.pool = mine};
        session.session = str_printf(&ctx->arena, "s%d", i);
        CHECK_OK(store_forget(ctx, s, &session, &erased));
    }
    CHECK_OK(store_prune(ctx, s, 0, 0, &erased));
    k = fill(ctx, s, mine, 1000);
    embed_all(ctx, s, &k);
    for (int i = 0; i < 2; i++) {
        CLEANUP(ctx_free) struct ctx own = {.deadline_us = 1};
        CHECK_INT(store_search_vectors(&own, s, &f, &hits), TIMED_OUT);
        CHECK(own.why[0]);
    }
    CLEANUP(ctx_free) struct ctx own = {.deadline_us = 1};
    CHECK_INT(store_search_vectors(&own, s, &f, &hits), OK);
    CHECK(hits.n == 10 && hits.vectors == 2450);
    CHECK_INT(all_near(ctx, s, mine), 2450);
}

/* Reads a pool for as long as the barrier holds it. */
struct reading {
    struct held *held;
    pthread_barrier_t begun, end;
};

static void *read_long(void *arg)
{
    struct reading *r = arg;
    pthread_rwlock_wrlock(&r->held->lock);
    pthread_barrier_wait(&r->begun);
    pthread_barrier_wait(&r->end);
    pthread_rwlock_unlock(&r->held->lock);
    return NULL;
}

TEST(who_has_little_time_does_not_wait_for_another_to_read_a_great_pool)
{
    PLACE(p);
    STORE(s, p);
    pthread_t thread;
    struct reading r;
    struct vector_hits hits;
    struct vector_find f = question(ctx, mine, 3, 10);
    CHECK_OK(store_begin_vectors(ctx, s, &sets[1], false));
    struct known k = fill(ctx, s, mine, 100);
    embed_all(ctx, s, &k);
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    size_t n;
    int64_t *pools = shelf_pools(&ctx->arena, &s->shelf, &n);
    CHECK_INT(n, 1);
    r.held = shelf_take(&s->shelf, pools[0]);
    pthread_barrier_init(&r.begun, NULL, 2);
    pthread_barrier_init(&r.end, NULL, 2);
    CHECK_INT(pthread_create(&thread, NULL, read_long, &r), 0);
    pthread_barrier_wait(&r.begun);
    CLEANUP(ctx_free) struct ctx own = {.deadline_us = clock_mono_us() + 20000};
    CHECK_INT(store_search_vectors(&own, s, &f, &hits), TIMED_OUT);
    pthread_barrier_wait(&r.end);
    pthread_join(thread, NULL);
    shelf_give(&s->shelf, r.held);
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    CHECK_INT(hits.n, 10);
    pthread_barrier_destroy(&r.begun);
    pthread_barrier_destroy(&r.end);
}

TEST(the_least_used_go_from_memory_first)
{
    PLACE(p);
    CLEANUP(store_closep) struct store *s = NULL;
    /* Three quarters are for vectors: 100,000 bytes. */
    struct store_settings settings = {.path = str_of(p.path), .cache_bytes = 133334};
    struct vector_stats stats;
    CHECK_OK(store_open(ctx, &settings, &s));
    CHECK_OK(store_begin_vectors(ctx, s, &sets[1], false));
    struct pool_ref pools[30];
    for (int i = 0; i < 30; i++) {
        pools[i] = (struct pool_ref){str_printf(&ctx->arena, "user%d", i), S("default")};
        struct known k = fill(ctx, s, pools[i], 100);
        embed_all(ctx, s, &k);
    }
    for (int i = 0; i < 90; i++) {
        CHECK_INT(all_near(ctx, s, pools[i % 30]), 100);
        CHECK_INT(all_near(ctx, s, pools[0]), 100);
        CHECK_OK(store_vector_stats(ctx, s, NULL, &stats));
        CHECK(stats.bytes > 0 && stats.bytes <= 100000);
        CHECK_OK(store_vector_stats(ctx, s, &pools[0], &stats));
        CHECK(stats.bytes > 0);
    }
    CHECK_OK(store_vector_stats(ctx, s, &pools[1], &stats));
    CHECK_INT(stats.bytes, 0);
}

/* Words, messages and vectors of many people: what is kept of them fills the setting, and no more.
 */
TEST(all_that_was_read_stays_within_the_setting)
{
    enum { MOST = 1 << 20, PEOPLE = 60, EACH = 60 };
    PLACE(p);
    CLEANUP(store_closep) struct store *s = NULL;
    struct store_settings settings = {.path = str_of(p.path), .cache_bytes = MOST};
    struct store_stats stats;
    int64_t most = 0;
    CHECK_OK(store_open(ctx, &settings, &s));
    CHECK_OK(store_begin_vectors(ctx, s, &sets[0], false));
    struct pool_ref pools[PEOPLE];
    for (int i = 0; i < PEOPLE; i++) {
        pools[i] = (struct pool_ref){str_printf(&ctx->arena, "user%d", i), S("default")};
        for (int k = 0; k < EACH; k++) {
            str text = str_printf(&ctx->arena, "shelf%d holds %1000d", k, i * EACH + k);
            struct message m = {.id = text, .text = text, .role = S("user")};
            CHECK_OK(say(ctx, s, pools[i], "s1", &m));
        }
    }
    embed_all(ctx, s, NULL);
    for (int i = 0; i < PEOPLE; i++) {
        for (int k = 0; k < EACH; k++) {
            struct word_hits found =
                find(ctx, s, pools[i], str_printf(&ctx->arena, "shelf%d", k).p);
            struct message m;
            CHECK_INT(found.n, 1);
            CHECK_OK(store_messages(ctx, s, pools[i], &found.v[0].doc, 1, &m));
            CHECK(m.text.n > 1000);
        }
        CHECK_INT(all_near(ctx, s, pools[i]), EACH);
        CHECK_OK(store_stats(ctx, s, &stats));
        CHECK(stats.cache_bytes <= MOST);
        most = stats.cache_bytes > most ? stats.cache_bytes : most;
    }
    CHECK(most > MOST / 2);
}

/* --- several at once --- */

enum { THREADS = 4, ROUNDS = 60 };

struct worker {
    struct store *s;
    int no;
    bool ok;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    w->ok = true;
    for (int i = 0; i < ROUNDS; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct ctx *ctx = &own;
        struct vector_hits hits;
        struct unembedded *v;
        size_t n;
        int64_t erased;
        struct pool_ref pool = i % 2 ? mine : other_space;
        str id = str_printf(&own.arena, "w%d-%d", w->no, i);
        struct message m = {.id = id, .text = id, .role = S("user")};
        w->ok &= say(ctx, w->s, pool, "s1", &m) == OK;
        w->ok &= store_unembedded(ctx, w->s, NULL, 20, &v, &n) == OK;
        for (size_t k = 0; k < n; k++) {
            struct vector_put put = {v[k].no, v[k].doc,
                                     direction(ctx, str_hash(v[k].text), DIMENSIONS), 0};
            w->ok &= store_put_vectors(ctx, w->s, signature, &put, 1) == OK;
        }
        struct vector_find f = question(ctx, pool, (uint64_t)i, 10);
        w->ok &= store_search_vectors(ctx, w->s, &f, &hits) == OK && hits.n <= 10;
        struct forget what = {.pool = pool, .id = id};
        if (i % 3 == 0)
            w->ok &= store_forget(ctx, w->s, &what, &erased) == OK;
        if (w->no == 0 && i == ROUNDS / 2)
            w->ok &= store_begin_vectors(ctx, w->s, &sets[1], false) == OK;
    }
    return NULL;
}

TEST(threads_write_search_and_forget_at_once)
{
    PLACE(p);
    CLEANUP(store_closep) struct store *s = NULL;
    /* 4,050 bytes of vectors. */
    struct store_settings settings = {.path = str_of(p.path), .cache_bytes = 5400};
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    CHECK_OK(store_open(ctx, &settings, &s));
    CHECK_OK(store_begin_vectors(ctx, s, &sets[0], false));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){s, i, false};
        CHECK_INT(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(workers[i].ok);
    }
    embed_all(ctx, s, NULL);
    CHECK_INT(all_near(ctx, s, mine) + all_near(ctx, s, other_space), THREADS * ROUNDS * 2 / 3);
    check_healthy(ctx, s);
}

/* --- waiting for work --- */

static void *say_something(void *arg)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct message m = {.id = S("m1"), .text = S("a dog"), .role = S("user")};
    (void)!say(&own, arg, mine, "s1", &m);
    return NULL;
}

static void *wake(void *arg)
{
    store_wake(arg);
    return NULL;
}

TEST(who_waits_wakes_when_something_was_written)
{
    PLACE(p);
    STORE(s, p);
    pthread_t thread;
    uint64_t seen = store_wait(s, 0, 60000);
    CHECK(seen != 0);
    CHECK_OK(store_flush(ctx, s));
    CHECK(store_wait(s, seen, 10) == seen);
    CHECK_INT(pthread_create(&thread, NULL, say_something, s), 0);
    uint64_t now = store_wait(s, seen, 60000);
    CHECK(now != seen);
    pthread_join(thread, NULL);
    int64_t began = clock_mono_us();
    CHECK(store_wait(s, now, 20) == now);
    CHECK(clock_mono_us() - began >= 20000);
    CHECK_INT(pthread_create(&thread, NULL, wake, s), 0);
    CHECK(store_wait(s, now, 60000) == now);
    CHECK(store_wait(s, now, 60000) == now);
    pthread_join(thread, NULL);
}
