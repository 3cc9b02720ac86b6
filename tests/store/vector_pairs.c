/* vector_pairs.c - the pairs of near vectors are those that comparing each with each by hand gives.
 */
#include <math.h>

#include "lib/store.h"
#include "store/store.h"
#include "store/vectors/nearest.h"

enum { D = 96, N = 400, CLUSTERS = 25 };
static const str signature = {"test:a:96", 9};

static float next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*seed >> 32) / 2147483648.0F;
}

/* Some directions, and texts around them. */
static void make(float v[N][D])
{
    uint64_t seed = 7;
    static float of[CLUSTERS][D];
    for (size_t i = 0; i < CLUSTERS; i++)
        for (size_t k = 0; k < D; k++)
            of[i][k] = next(&seed);
    for (size_t i = 0; i < N; i++) {
        float sum = 0, spread = 0.2F + 0.02F * (float)(i % 30);
        for (size_t k = 0; k < D; k++) {
            v[i][k] = of[i % CLUSTERS][k] + spread * next(&seed);
            sum += v[i][k] * v[i][k];
        }
        for (size_t k = 0; k < D; k++)
            v[i][k] /= sqrtf(sum);
    }
}

static double product(const float *a, const float *b)
{
    double sum = 0;
    for (size_t k = 0; k < D; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

/* Every third has no vector yet; of each pool's list only its own are found. */
static void fill(struct ctx *ctx, struct store *s, float v[N][D], doc_id *docs)
{
    struct memory m[N] = {0};
    struct unembedded *u;
    size_t n;
    for (size_t i = 0; i < N; i++)
        m[i].content = str_printf(&ctx->arena, "text %zu", i);
    struct bundle b = {.pool = mine, .memories = m, .n_memories = N};
    CHECK_OK(store_write(ctx, s, &b));
    for (size_t i = 0; i < N; i++)
        docs[i] = m[i].doc;
    CHECK_OK(store_unembedded(ctx, s, NULL, N, &u, &n));
    CHECK_INT(n, N);
    struct vector_put *put = NEW_N(&ctx->arena, struct vector_put, n);
    size_t made = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < N; k++)
            if (u[i].doc == docs[k] && k % 3)
                put[made++] = (struct vector_put){.no = u[i].no, .doc = u[i].doc, .v = v[k]};
    CHECK_OK(store_put_vectors(ctx, s, signature, put, made));
}

static void check(struct ctx *ctx, struct store *s, float v[N][D], const doc_id *docs, float least)
{
    struct vector_pairs got;
    static bool found[N][N];
    size_t near = 0;
    memset(found, 0, sizeof found);
    CHECK_OK(store_vector_pairs(ctx, s, mine, docs, N, least, N, &got));
    for (size_t i = 0; i < N; i++)
        CHECK(got.has_vector[i] == (i % 3 != 0));
    for (size_t i = 0; i < got.n; i++) {
        const struct vector_pair *p = &got.v[i];
        CHECK(p->one < p->other && !found[p->one][p->other]);
        found[p->one][p->other] = true;
        CHECK(fabs((double)p->cosine - product(v[p->one], v[p->other])) < 0.01);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = i + 1; k < N; k++) {
            double cosine = product(v[i], v[k]);
            bool is_near = i % 3 && k % 3 && cosine >= (double)least;
            near += is_near;
            if (fabs(cosine - (double)least) > 0.01)
                CHECK(found[i][k] == is_near);
        }
    CHECK(near > 20);
}

TEST(each_is_compared_with_each)
{
    static float v[N][D];
    doc_id docs[N];
    struct vector_pairs got;
    make(v);
    for (int is_int8 = 0; is_int8 < 2; is_int8++) {
        PLACE(p);
        STORE(s, p);
        const struct vector_set set = {signature, D, is_int8, 0};
        CHECK_OK(store_vector_pairs(ctx, s, mine, docs, 0, 0.5F, 5, &got));
        CHECK_INT(got.n, 0);
        CHECK_OK(store_begin_vectors(ctx, s, &set, false));
        fill(ctx, s, v, docs);
        check(ctx, s, v, docs, 0.9F);
        check(ctx, s, v, docs, 0.7F);
        CHECK_OK(store_vector_pairs(ctx, s, other_space, docs, N, 0.1F, N, &got));
        CHECK_INT(got.n, 0);
        CHECK_OK(store_vector_pairs(ctx, s, mine, docs, N, 0.7F, 2, &got));
        size_t of[N] = {0};
        for (size_t i = 0; i < got.n; i++)
            CHECK(++of[got.v[i].one] <= 2);
        ctx->deadline_us = clock_mono_us() - 1;
        CHECK_STATUS(store_vector_pairs(ctx, s, mine, docs, N, 0.7F, 2, &got), TIMED_OUT);
        ctx->deadline_us = 0;
        ctx_clear_failure(ctx);
    }
}
