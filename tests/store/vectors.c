/* vectors.c - what waits for its vector, what has one, and what is nearest. */
#include <math.h>

#include "fixture.h"

enum { DIMENSIONS = 16 };

static const struct vector_set set_of_16 = {.signature = {"test:a:16", 9},
                                            .dimensions = DIMENSIONS};

/* A direction that follows from the seed. */
static float *direction(struct ctx *ctx, uint64_t seed, size_t n)
{
    float *v = NEW_N(&ctx->arena, float, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = 0;
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            x += (double)(seed >> 40) / (1 << 24) - 0.5;
        }
        v[i] = (float)x;
        sum += x * x;
    }
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(v[i] / sqrt(sum));
    return v;
}

static size_t waiting(struct ctx *ctx, struct store *s, const struct pool_ref *pool)
{
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, pool, 10000, &v, &n));
    return n;
}

/* Every document that waits gets the vector that follows from its text. */
static void embed_all(struct ctx *ctx, struct store *s, const struct vector_set *set)
{
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, NULL, 10000, &v, &n));
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    for (size_t i = 0; i < n; i++)
        put[i] = (struct vector_put){v[i].no, v[i].doc,
                                     direction(ctx, str_hash(v[i].text), set->dimensions), 0};
    CHECK_OK(store_put_vectors(ctx, s, set->signature, put, n));
}

static struct vector_hits near(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const struct vector_set *set, const char *text, size_t nearest)
{
    struct vector_hits hits;
    struct vector_find f = {.pool = pool,
                            .signature = set->signature,
                            .v = direction(ctx, str_hash(str_of(text)), set->dimensions),
                            .dimensions = set->dimensions,
                            .nearest = nearest,
                            .messages = true,
                            .memories = true};
    CHECK_OK(store_search_vectors(ctx, s, &f, &hits));
    return hits;
}

TEST(without_a_set_nothing_waits)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "a dog", 1000);
    struct vector_set set;
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(store_vector_set(ctx, s, &set));
    CHECK_INT(set.dimensions, 0);
    CHECK_STR(set.signature, S(""));
    CHECK_INT(waiting(ctx, s, NULL), 0);
    CHECK_INT(near(ctx, s, mine, &set_of_16, "a dog", 5).n, 0);
}

TEST(a_set_makes_everything_wait_and_what_comes_later)
{
    PLACE(p);
    STORE(s, p);
    struct message m = said("m1", "user", "a dog", 1000), echo = said("m2", "assistant", "dog", 1);
    struct message later = said("m3", "user", "  a cat\n", 1000),
                   blank = said("m4", "user", " ", 1);
    struct memory f = fact("f1", "pet", "has a dog");
    echo.is_echo = true;
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(say(ctx, s, mine, "s1", &echo));
    CHECK_OK(keep(ctx, s, other_user, PUT_SUPERSEDE, &f));
    CHECK_OK(store_begin_vectors(ctx, s, &set_of_16, false));
    CHECK_OK(say(ctx, s, mine, "s1", &later));
    CHECK_OK(say(ctx, s, mine, "s1", &blank));
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_unembedded(ctx, s, NULL, 10, &v, &n));
    CHECK_INT(n, 3);
    CHECK_INT(v[0].doc, m.doc);
    CHECK_STR(v[0].text, S("a dog"));
    CHECK_STR(v[0].pool.user, mine.user);
    CHECK_INT(v[1].doc, f.doc);
    CHECK_STR(v[1].text, S("has a dog"));
    CHECK_STR(v[2].text, S("a cat"));
    CHECK_INT(waiting(ctx, s, &mine), 2);
    CHECK_INT(waiting(ctx, s, &other_user), 1);
    CHECK_INT(waiting(ctx, s, &other_space), 0);
    embed_all(ctx, s, &set_of_16);
    CHECK_INT(waiting(ctx, s, NULL), 0);
    struct vector_hits hits = near(ctx, s, mine, &set_of_16, "a cat", 1);
    CHECK_INT(hits.n, 1);
    CHECK_INT(hits.v[0].doc, later.doc);
    CHECK(fabsf(hits.v[0].cosine - 1) < 1e-3);
    CHECK_INT(hits.vectors, 2);
}
