/* vectors.c - what waits for its vector, what has one, and what goes with a text that goes. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/store.h"
#include "store/store.h"

enum { DIMENSIONS = 24 };

static const struct vector_set floats = {.signature = {"test:a:24", 9}, .dimensions = DIMENSIONS};
static const struct vector_set bytes = {.signature = {"test:a:24", 9},
                                        .dimensions = DIMENSIONS,
                                        .is_int8 = true};

static struct unembedded *waiting(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                  size_t *n)
{
    struct unembedded *v;
    CHECK_OK(store_unembedded(ctx, s, pool, 10000, &v, n));
    return v;
}

static size_t count_waiting(struct ctx *ctx, struct store *s)
{
    size_t n;
    waiting(ctx, s, NULL, &n);
    return n;
}

/* The vector of a text. */
static float *meaning(struct ctx *ctx, str text)
{
    return direction(ctx, str_hash(text), DIMENSIONS);
}

static void embed_all(struct ctx *ctx, struct store *s)
{
    size_t n;
    struct unembedded *v = waiting(ctx, s, NULL, &n);
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++)
        put[i] = (struct vector_put){v[i].no, v[i].doc, meaning(ctx, v[i].text), 0};
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, put, n));
}

static struct vector_hits near_text(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    const char *text, size_t nearest)
{
    struct vector_hits hits;
    struct vector_find f = {.pool = pool,
                            .signature = floats.signature,
                            .v = meaning(ctx, str_of(text)),
                            .dimensions = DIMENSIONS,
                            .nearest = nearest,
                            .messages = true,
                            .memories = true};
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    return hits;
}

/* Whether a vector of just this text is in the pool. */
static bool knows(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *text)
{
    struct vector_hits hits = near_text(ctx, s, pool, text, 1);
    return hits.n == 1 && hits.v[0].cosine > 0.99F;
}

static void say_text(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *id,
                     const char *text)
{
    struct message m = said(id, "user", text, 1000);
    CHECK_OK(say(ctx, s, pool, "s1", &m));
}

static void forget_id(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *id)
{
    int64_t erased;
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = pool, .id = str_of(id)}, &erased));
}

/* --- the set and the queue --- */

TEST(without_a_set_nothing_waits)
{
    PLACE(p);
    STORE(s, p);
    struct vector_set set;
    say_text(ctx, s, mine, "m1", "a dog");
    CHECK_OK(store_vector_set(ctx, s, &set));
    CHECK_INT(set.dimensions, 0);
    CHECK_STR(set.signature, S(""));
    CHECK_INT(count_waiting(ctx, s), 0);
    CHECK_INT(near_text(ctx, s, mine, "a dog", 5).n, 0);
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector_todo"), 0);
}

TEST(a_set_makes_everything_wait_and_what_comes_later)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "a dog", 1000), echo = said("m2", "assistant", "dog", 1);
    struct memory f = fact("f1", "pet", "has a dog");
    echo.is_echo = true;
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(say(ctx, s, mine, "s1", &echo));
    CHECK_OK(keep(ctx, s, other_user, PUT_SUPERSEDE, &f));
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    check_healthy(ctx, s);
    struct message part = said("m3", "assistant", "You have a dog. And a cat?", 1000);
    part.is_echo = true;
    part.says = S(" And a cat?\n");
    CHECK_OK(say(ctx, s, mine, "s1", &part));
    say_text(ctx, s, mine, "m4", " \t ");
    size_t n;
    struct unembedded *v = waiting(ctx, s, NULL, &n);
    CHECK_INT(n, 3);
    CHECK_INT(v[0].doc, m.doc);
    CHECK_STR(v[0].text, S("a dog"));
    CHECK_STR(v[0].pool.user, mine.user);
    CHECK_STR(v[0].pool.space, mine.space);
    CHECK_INT(v[1].doc, f.doc);
    CHECK_STR(v[1].text, S("has a dog"));
    CHECK_STR(v[2].text, S("And a cat?"));
    waiting(ctx, s, &mine, &n);
    CHECK_INT(n, 2);
    waiting(ctx, s, &other_space, &n);
    CHECK_INT(n, 0);
    CHECK_INT(near_text(ctx, s, mine, "a dog", 5).waiting, 2);
    embed_all(ctx, s);
    CHECK_INT(count_waiting(ctx, s), 0);
    struct vector_hits hits = near_text(ctx, s, mine, "And a cat?", 1);
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].doc, part.doc);
    CHECK_INT(hits.vectors, 2);
    CHECK_INT(hits.waiting, 0);
    check_healthy(ctx, s);
}

TEST(a_long_text_is_cut_between_characters)
{
    PLACE(p);
    STORE(s, p);
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    buf_byte(&b, 'x');
    for (int i = 0; i < 10000; i++)
        buf_add(&b, S("\xE2\x82\xAC"));
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    say_text(ctx, s, mine, "m1", str_c(&ctx->arena, buf_str(&b)));
    size_t n;
    struct unembedded *v = waiting(ctx, s, NULL, &n);
    CHECK_INT(n, 1);
    CHECK_INT(v[0].text.n, 1 + (8192 - 1) / 3 * 3);
}

TEST(another_set_begins_anew_and_the_same_does_nothing)
{
    PLACE(p);
    STORE(s, p);
    struct vector_set set, other = {.signature = S("test:b:24"), .dimensions = DIMENSIONS};
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    say_text(ctx, s, mine, "m1", "a dog");
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "a dog"));
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    CHECK_OK(store_vector_set(ctx, s, &set));
    CHECK_STR(set.signature, floats.signature);
    CHECK(set.begun > 0 && !set.is_int8);
    CHECK_INT(count_waiting(ctx, s), 0);
    CHECK_OK(store_begin_vectors(ctx, s, &floats, true));
    CHECK(!knows(ctx, s, mine, "a dog"));
    CHECK_INT(count_waiting(ctx, s), 1);
    embed_all(ctx, s);
    CHECK_OK(store_begin_vectors(ctx, s, &bytes, false));
    CHECK_INT(count_waiting(ctx, s), 1);
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "a dog"));
    CHECK_OK(store_begin_vectors(ctx, s, &other, false));
    embed_all(ctx, s);
    CHECK_INT(near_text(ctx, s, mine, "a dog", 5).vectors, 0);
    CHECK_INT(count_waiting(ctx, s), 1);
    check_healthy(ctx, s);
    CHECK_OK(store_begin_vectors(ctx, s, &(struct vector_set){.signature = S("")}, false));
    CHECK_INT(count_waiting(ctx, s), 0);
    say_text(ctx, s, mine, "m2", "a cat");
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector_todo"), 0);
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector"), 0);
    CHECK_STATUS(store_begin_vectors(ctx, s, &(struct vector_set){.signature = S("x")}, false),
                 BAD_INPUT);
}

TEST(what_cannot_be_embedded_is_tried_again_or_given_up)
{
    PLACE(p);
    STORE(s, p);
    struct vector_stats stats;
    size_t n;
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    say_text(ctx, s, mine, "m1", "a dog");
    struct unembedded *v = waiting(ctx, s, NULL, &n);
    struct vector_put later = {v[0].no, v[0].doc, NULL, clock_ms() + 60000};
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, &later, 1));
    CHECK_INT(count_waiting(ctx, s), 0);
    CHECK_OK(store_vector_stats(ctx, s, NULL, &stats));
    CHECK(stats.waiting == 1 && stats.failed == 0);
    later.again_at = 1;
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, &later, 1));
    v = waiting(ctx, s, NULL, &n);
    CHECK_INT(n, 1);
    CHECK_INT(v[0].tries, 2);
    later.again_at = 0;
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, &later, 1));
    CHECK_INT(count_waiting(ctx, s), 0);
    CHECK_OK(store_vector_stats(ctx, s, &mine, &stats));
    CHECK(stats.waiting == 0 && stats.failed == 1 && stats.rows == 0);
    check_healthy(ctx, s);
    /* Another text is another chance; a vector that is none is given up, too. */
    forget_id(ctx, s, mine, "m1");
    say_text(ctx, s, mine, "m2", "a cat");
    v = waiting(ctx, s, NULL, &n);
    float twice[DIMENSIONS] = {2}, nothing[DIMENSIONS] = {NAN};
    struct vector_put bad = {v[0].no, v[0].doc, twice, 0};
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, &bad, 1));
    say_text(ctx, s, mine, "m3", "a cow");
    v = waiting(ctx, s, NULL, &n);
    CHECK_INT(n, 1);
    bad = (struct vector_put){v[0].no, v[0].doc, nothing, 0};
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, &bad, 1));
    CHECK_OK(store_vector_stats(ctx, s, NULL, &stats));
    CHECK(stats.failed == 2 && stats.rows == 0 && stats.waiting == 0);
}

TEST(a_vector_that_comes_too_late_is_left_out)
{
    PLACE(p);
    STORE(s, p);
    size_t n;
    struct memory f = fact("f1", "", "likes tea"), back;
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    say_text(ctx, s, mine, "m1", "a dog");
    struct unembedded *v = waiting(ctx, s, NULL, &n);
    struct vector_put put[] = {{v[0].no, v[0].doc, meaning(ctx, v[0].text), 0},
                               {v[1].no, v[1].doc, meaning(ctx, v[1].text), 0}};
    struct change to = {.pool = mine, .id = S("f1"), .what = CHANGE_CONTENT};
    to.to.content = S("likes coffee");
    CHECK_OK(store_change(ctx, s, &to, &back));
    forget_id(ctx, s, mine, "m1");
    CHECK_OK(store_put_vectors(ctx, s, S("test:b:24"), put, 2));
    CHECK_OK(store_put_vectors(ctx, s, floats.signature, put, 2));
    CHECK_INT(near_text(ctx, s, mine, "likes tea", 5).n, 0);
    v = waiting(ctx, s, NULL, &n);
    CHECK_INT(n, 1);
    CHECK_STR(v[0].text, S("likes coffee"));
    CHECK(v[0].no != put[0].no);
    check_healthy(ctx, s);
}

/* --- what goes with its text --- */

TEST(a_vector_goes_when_its_text_does)
{
    PLACE(p);
    STORE(s, p);
    struct memory tea = fact("f1", "drink", "likes tea"), coffee = fact("f2", "drink", "coffee");
    int64_t erased;
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    say_text(ctx, s, mine, "m1", "a dog");
    say_text(ctx, s, mine, "m2", "a cat");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &tea));
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "a dog") && knows(ctx, s, mine, "likes tea"));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &coffee));
    CHECK(!knows(ctx, s, mine, "likes tea"));
    forget_id(ctx, s, mine, "m1");
    CHECK(!knows(ctx, s, mine, "a dog"));
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector WHERE v IS NOT NULL"), 1);
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "coffee") && knows(ctx, s, mine, "a cat"));
    check_healthy(ctx, s);
    struct forget all = {.pool = mine, .everything = true};
    struct vector_stats stats;
    CHECK_OK(store_forget(ctx, s, &all, &erased));
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector"), 0);
    CHECK_OK(store_vector_stats(ctx, s, NULL, &stats));
    CHECK(stats.rows == 0 && stats.waiting == 0 && stats.bytes == 0);
    CHECK_INT(near_text(ctx, s, mine, "a cat", 5).vectors, 0);
    say_text(ctx, s, mine, "m1", "a dog");
    CHECK_INT(count_waiting(ctx, s), 1);
    check_healthy(ctx, s);
}

/* Enough of a vector to be found among the bytes of a file. */
static str bytes_of(const float *v)
{
    return (str){(const char *)v, 8 * sizeof *v};
}

TEST(no_byte_of_a_forgotten_vector_stays_in_the_files)
{
    PLACE(p);
    STORE(s, p);
    const float *dog = meaning(ctx, S("a dog")), *cat = meaning(ctx, S("a cat"));
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    say_text(ctx, s, mine, "m1", "a dog");
    say_text(ctx, s, mine, "m2", "a cat");
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "a dog"));
    CHECK(place_holds(ctx, &p, bytes_of(dog)));
    forget_id(ctx, s, mine, "m1");
    CHECK(!place_holds(ctx, &p, bytes_of(dog)));
    CHECK(place_holds(ctx, &p, bytes_of(cat)));
}

TEST(a_change_that_leaves_the_text_leaves_the_vector)
{
    PLACE(p);
    STORE(s, p);
    struct memory f = fact("f1", "drink", "likes tea"), back;
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    embed_all(ctx, s);
    struct change c = {.pool = mine, .id = S("f1"), .what = CHANGE_IMPORTANCE | CHANGE_KEY};
    c.to = (struct memory){.importance = 0.9, .key = S("tea")};
    CHECK_OK(store_change(ctx, s, &c, &back));
    CHECK_INT(count_waiting(ctx, s), 0);
    CHECK(knows(ctx, s, mine, "likes tea"));
    c.what = CHANGE_CONTENT;
    c.to.content = S("likes coffee");
    CHECK_OK(store_change(ctx, s, &c, &back));
    CHECK(!knows(ctx, s, mine, "likes tea"));
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "likes coffee"));
    struct memory again = fact("", "tea", "likes water");
    CHECK_OK(keep(ctx, s, mine, PUT_REPLACE, &again));
    CHECK_INT(count_waiting(ctx, s), 1);
    CHECK(!knows(ctx, s, mine, "likes coffee"));
    check_healthy(ctx, s);
}

TEST(an_expired_memory_is_not_near)
{
    PLACE(p);
    STORE(s, p);
    struct memory f = fact("f1", "", "likes tea"), g = fact("f2", "", "likes rum");
    int64_t removed;
    f.expires = clock_ms() + 1000000;
    CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &g));
    embed_all(ctx, s);
    CHECK(knows(ctx, s, mine, "likes tea"));
    fake_clock_set(f.expires + 1);
    struct vector_hits hits = near_text(ctx, s, mine, "likes tea", 5);
    fake_clock_stop();
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].doc, g.doc);
    CHECK_OK(store_prune(ctx, s, 0, f.expires + 1, &removed));
    CHECK_INT(removed, 1);
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector WHERE v IS NOT NULL"), 1);
    check_healthy(ctx, s);
}

/* --- damage --- */

TEST(damaged_vectors_are_left_out_and_wait_anew)
{
    static const char *const damage[][2] = {
        {"substr(v, 1, 7)", "substr(v, 1, 7)"},
        {"x''", "''"},
        {"zeroblob(length(v))", "decode(repeat('00', length(v)), 'hex')"},
        {"cast(x'0000C07F' || substr(v, 5) AS BLOB)", "'\\x0000C07F' || substr(v, 5)"},
        {"cast(x'0000803F' || substr(v, 5) AS BLOB)", "'\\x0000803F' || substr(v, 5)"},
    };
    const struct vector_set *sets[] = {&floats, &bytes};
    for (size_t i = 0; i < 2 * sizeof damage / sizeof *damage; i++) {
        PLACE(p);
        STORE(s, p);
        struct vector_stats stats;
        CHECK_OK(store_begin_vectors(ctx, s, sets[i % 2], false));
        say_text(ctx, s, mine, "m1", "a dog");
        say_text(ctx, s, mine, "m2", "a cat");
        say_text(ctx, s, mine, "m3", "a cow");
        embed_all(ctx, s);
        place_do(ctx, &p,
                 str_printf(&ctx->arena, "UPDATE vector SET v = %s WHERE seq = 2",
                            damage[i / 2][is_on_postgres()])
                     .p);
        struct vector_hits hits = near_text(ctx, s, mine, "a cat", 5);
        CHECK_INT(hits.n, 2);
        CHECK_INT(hits.vectors, 2);
        CHECK_INT(count_waiting(ctx, s), 1);
        CHECK_OK(store_vector_stats(ctx, s, NULL, &stats));
        CHECK(stats.rows == 2 && stats.waiting == 1);
        embed_all(ctx, s);
        CHECK(knows(ctx, s, mine, "a cat"));
        check_healthy(ctx, s);
    }
}

TEST(a_check_finds_what_does_not_fit)
{
    static const char *const wrong[] = {
        "DELETE FROM vector WHERE seq = 1",
        "UPDATE vector SET v = NULL WHERE seq = 1",
        "UPDATE vector SET v = substr(v, 1, 1) WHERE seq = 1",
        "UPDATE vector SET pool = 77 WHERE seq = 1",
        "INSERT INTO vector_todo(doc, pool) SELECT doc, pool FROM vector WHERE seq = 1",
        "INSERT INTO vector_todo(doc, pool) VALUES(5, 1)",
        "DELETE FROM vector_set",
        "DELETE FROM vector_todo",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        PLACE(p);
        STORE(s, p);
        struct memory f = fact("f1", "", "likes tea");
        str findings;
        CHECK_OK(store_begin_vectors(ctx, s, &floats, false));
        say_text(ctx, s, mine, "m1", "a dog");
        embed_all(ctx, s);
        CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
        check_healthy(ctx, s);
        place_do(ctx, &p, wrong[i]);
        CHECK_OK(store_check(ctx, s, &findings));
        CHECK(findings.n > 0);
    }
}

struct beginning {
    struct store *s;
    atomic_bool is_over;
};

static void *begin_floats(void *arg)
{
    struct beginning *b = arg;
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    CHECK_OK(store_begin_vectors(ctx, b->s, &floats, false));
    b->is_over = true;
    return NULL;
}

static const char *one_server_only(void)
{
    return is_on_postgres() ? NULL : "a file has one server";
}

/* The other server has erased a memory and not committed yet. */
TEST_NEEDS(what_another_server_erases_is_not_queued_for_the_next_model, one_server_only)
{
    PLACE(p);
    STORE(s, p);
    struct memory m = fact("f1", "", "has a boat"), kept = fact("f2", "", "has a cat");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &kept));
    struct beside *other = beside_open(ctx, &p);
    beside_do(ctx, other, "BEGIN; UPDATE pool SET memories = memories - 1");
    beside_do(ctx, other, "DELETE FROM memory WHERE id = 'f1'");
    struct beginning b = {.s = s};
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, begin_floats, &b), 0);
    while (!b.is_over && !place_int(ctx, &p, "SELECT count(*) FROM pg_locks WHERE NOT granted"))
        usleep(1000);
    beside_do(ctx, other, "COMMIT");
    beside_close(other);
    pthread_join(thread, NULL);
    CHECK_INT(place_int(ctx, &p, "SELECT count(*) FROM vector_todo"), 1);
}
