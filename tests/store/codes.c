/* codes.c - vectors in memory: the arithmetic, the table of documents, and a great pool. */
#include <float.h>
#include <math.h>

#include "lib/store.h"
#include "store/vectors/by_signs.h"
#include "store/vectors/kernels.h"
#include "store/vectors/nearest.h"
#include "store/vectors/row.h"
#include "store/vectors/token_store.h"

static uint64_t seed = 42;

static uint32_t some(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

TEST(all_kernels_say_the_same)
{
    const struct vector_kernels *a = vector_kernels_best(), *b = vector_kernels_plain();
    enum { ROWS = 13, LANES_MAX = 1024 };
    uint8_t upper[ROWS * LANES_MAX / 2], lower[ROWS * LANES_MAX / 2];
    int16_t x[LANES_MAX], y[LANES_MAX];
    int8_t question[LANES_MAX];
    float scales[ROWS];
    for (int round = 0; round < 300; round++) {
        size_t lanes = CODE_LANES * (1 + some(LANES_MAX / CODE_LANES)), n = 1 + some(ROWS);
        bool greatest = round % 10 == 0;
        for (size_t i = 0; i < ROWS * lanes / 2; i++)
            upper[i] = (uint8_t)(greatest ? 255 : some(256)), lower[i] = (uint8_t)some(256);
        for (size_t i = 0; i < lanes; i++)
            question[i] = (int8_t)(greatest ? 127 : (int)some(255) - 127);
        for (size_t i = 0; i < ROWS; i++)
            scales[i] = (float)(1 + some(9));
        struct plane p = {upper, scales, lanes, n, question, 3};
        struct estimate all[2][ROWS], some_of[2][ROWS];
        CHECK_INT(a->above(&p, -FLT_MAX, all[0]), n);
        CHECK_INT(b->above(&p, -FLT_MAX, all[1]), n);
        assert_memory_equal(all[0], all[1], n * sizeof all[0][0]);
        size_t found = a->above(&p, all[0][0].value, some_of[0]);
        CHECK_INT(b->above(&p, all[0][0].value, some_of[1]), found);
        assert_memory_equal(some_of[0], some_of[1], found * sizeof some_of[0][0]);
        CHECK(found < n);
        a->unpack(upper, lower, lanes, x);
        b->unpack(upper, lower, lanes, y);
        assert_memory_equal(x, y, lanes * sizeof *x);
        b->unpack(upper + lanes / 2, lower, lanes, y);
        CHECK_INT(a->product(x, y, lanes), b->product(x, y, lanes));
    }
}

TEST(all_kernels_give_signs_the_same_score)
{
    const struct vector_kernels *a = vector_kernels_best(), *b = vector_kernels_plain();
    enum { ROWS = 5 * SIGN_ROWS, LANES_MAX = 1024 };
    static uint8_t blocks[ROWS * LANES_MAX / 8], tables[LANES_MAX / SIGN_LANES * SIGN_STEP];
    for (int round = 0; round < 300; round++) {
        size_t lanes = CODE_LANES * (1 + some(LANES_MAX / CODE_LANES)), n = 1 + some(ROWS);
        for (size_t i = 0; i < sizeof blocks; i++)
            blocks[i] = (uint8_t)some(256);
        for (size_t i = 0; i < sizeof tables; i++)
            tables[i] = (uint8_t)(round % 10 ? some(SIGN_MAX + 1) : SIGN_MAX);
        struct signs s = {blocks, tables, lanes, n};
        struct score all[2][ROWS], some_of[2][ROWS];
        CHECK_INT(a->scored(&s, 0, all[0]), n);
        CHECK_INT(b->scored(&s, 0, all[1]), n);
        assert_memory_equal(all[0], all[1], n * sizeof all[0][0]);
        uint16_t least = (uint16_t)all[0][0].score;
        size_t found = a->scored(&s, least, some_of[0]);
        CHECK_INT(b->scored(&s, least, some_of[1]), found);
        CHECK(found && (found == n || round % 10));
        assert_memory_equal(some_of[0], some_of[1], found * sizeof some_of[0][0]);
    }
}

/* The greatest numbers there can be do not overflow. */
TEST(long_vectors_of_equal_numbers_have_cosine_one)
{
    static const size_t lengths[] = {1, 2, 31, 32, 33, 384, 1024, 4096, VECTOR_DIMENSIONS_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        struct codes c = {0};
        float *v = NEW_N(&ctx->arena, float, n);
        int8_t *row = NEW_N(&ctx->arena, int8_t, vector_lanes(n));
        for (size_t k = 0; k < n; k++)
            v[k] = (float)(1 / sqrt((double)n));
        codes_begin(&c, n);
        codes_put(&c, 1, row, vector_codes(v, n, row));
        struct question q = question_of(&ctx->arena, &c, v);
        CHECK(fabsf(cosine_of(&c, &q, 0) - 1) < 1e-3F);
        CHECK(fabsf(window_of(&c, &q, 1) - 1) < 1e-3F);
        codes_free(&c);
    }
}

TEST(rows_come_back_as_they_were_written)
{
    for (size_t n = 1; n < 70; n++) {
        char row[4 * 70];
        float *v = direction(ctx, n, n), back[70], room[70], scale;
        int8_t codes[96] = {0};
        CHECK(vector_row_write(v, n, false, row));
        CHECK(vector_row_read((str){row, vector_row_size(n, false)}, n, back));
        assert_memory_equal(v, back, n * sizeof *v);
        CHECK(vector_row_write(v, n, true, row));
        CHECK(vector_row_codes((str){row, vector_row_size(n, true)}, n, true, room, codes, &scale));
        for (size_t i = 0; i < n; i++)
            CHECK(fabsf(v[i] - scale * codes[i]) <= scale * 0.5001F);
        v[0] = 2;
        CHECK(!vector_row_write(v, n, true, row));
    }
}

/* --- the table of documents --- */

enum { DOCS = 3000 };

static void check_same(const struct codes *c, const int8_t *is)
{
    size_t n = 0;
    for (doc_id doc = 0; doc < DOCS; doc++) {
        size_t at = codes_find(c, doc);
        CHECK((at != SIZE_MAX) == (is[doc] != 0));
        if (at == SIZE_MAX)
            continue;
        int16_t row[CODE_LANES];
        codes_row(c, at, row);
        CHECK(at < c->n && c->docs[at] == doc);
        CHECK(row[0] == is[doc] && row[1] == 1 && row[2] == -1 && row[3] == 0);
        n++;
    }
    CHECK_INT(c->n, n);
}

TEST(documents_come_and_go)
{
    static int8_t is[DOCS];
    struct codes c = {0};
    codes_begin(&c, 3);
    CHECK(codes_find(&c, 5) == SIZE_MAX);
    codes_remove(&c, 5);
    for (int i = 0; i < 60000; i++) {
        doc_id doc = some(DOCS);
        bool removes = some(30000) < (i < 30000 ? 10000U : 20000U);
        is[doc] = (int8_t)(removes ? 0 : (int)some(127) + 1);
        is[doc] = (int8_t)(some(2) ? is[doc] : -is[doc]);
        int8_t row[CODE_LANES] = {is[doc], 1, -1};
        if (removes)
            codes_remove(&c, doc);
        else
            codes_put(&c, doc, row, 0.5F);
        if (i % 5000 == 0)
            check_same(&c, is);
    }
    check_same(&c, is);
    for (doc_id doc = 0; doc < DOCS; doc++)
        codes_remove(&c, doc);
    CHECK_INT(c.n, 0);
    for (size_t i = 0; i < 1000; i++)
        CHECK(c.upper[i] == 0 && c.lower[i] == 0 && c.signs[i] == 0);
    codes_free(&c);
}

/* --- a great pool --- */

enum { MANY = 60000, LENGTH = 64, LARGE = 220000, LONGER = 256, TOPICS = 300 };

/* Texts have topics: a vector is its topic's and something of its own. */
static float *vector_about(struct ctx *ctx, size_t n, uint64_t topic, uint64_t own)
{
    float *v = direction(ctx, topic * 31 + 1, n), *w = direction(ctx, own * 77 + 5, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        v[i] += w[i] * 0.7F;
        sum += (double)v[i] * (double)v[i];
    }
    for (size_t i = 0; i < n; i++)
        v[i] = (float)((double)v[i] / sqrt(sum));
    return v;
}

static struct codes great_pool(size_t rows, size_t length)
{
    struct codes c = {0};
    codes_begin(&c, length);
    codes_reserve(&c, rows);
    for (uint64_t i = 0; i < rows; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        int8_t row[LONGER] = {0};
        float scale = vector_codes(vector_about(&own, length, i % TOPICS, i), length, row);
        codes_put(&c, (doc_id)i | (i % 3 ? 0 : DOC_MEMORY), row, scale);
    }
    return c;
}

/* How many of the n nearest there are among those that were found. */
static size_t found_of(struct ctx *ctx, const struct codes *c, const struct question *q,
                       const struct among *among, const struct near *v, size_t n)
{
    float *cosines = NEW_N(&ctx->arena, float, c->n);
    size_t found = 0;
    for (size_t at = 0; at < c->n; at++)
        cosines[at] = among_wants(among, c->docs[at]) ? cosine_of(c, q, at) : -2;
    for (size_t i = 0; i < n; i++) {
        size_t nearer = 0;
        for (size_t at = 0; at < c->n; at++)
            nearer += cosines[at] > v[i].cosine;
        CHECK(doc_is_memory(c->docs[v[i].at]) ? among->memories : among->messages);
        CHECK(fabsf(v[i].cosine - cosines[v[i].at]) < 1e-6F);
        found += nearer < n;
    }
    return found;
}

static void check_found(struct ctx *ctx, const struct codes *c)
{
    size_t found = 0;
    for (uint64_t round = 0; round < 6; round++) {
        struct near v[20];
        struct among among = {.messages = round % 3 != 1, .memories = round % 3 != 2};
        float *about = vector_about(ctx, c->dimensions, round * 7, 1000000 + round);
        struct question q = question_of(&ctx->arena, c, about);
        CHECK_INT(nearest(&ctx->arena, c, &q, &among, 20, v), 20);
        found += found_of(ctx, c, &q, &among, v, 20);
    }
    CHECK(found >= 6 * 20 * 99 / 100);
}

TEST(of_a_great_pool_the_nearest_are_found)
{
    struct codes c = great_pool(MANY, LENGTH);
    CHECK(!signs_are_enough(&c, 20));
    check_found(ctx, &c);
    codes_free(&c);
}

/* By signs first, also after rows have gone: what they leave is filled by others. */
TEST(of_a_large_pool_the_nearest_are_found_by_their_signs)
{
    struct codes c = great_pool(LARGE, LONGER);
    CHECK(signs_are_enough(&c, 20));
    check_found(ctx, &c);
    for (doc_id i = 0; i < LARGE / 20; i++)
        codes_remove(&c, i * 7 | (i * 7 % 3 ? 0 : DOC_MEMORY));
    CHECK_INT(c.n, LARGE - LARGE / 20);
    CHECK(signs_are_enough(&c, 20));
    check_found(ctx, &c);
    codes_free(&c);
}

/* Where all are alike, some of them are found, and what must not be is not. */
static void check_equal(struct ctx *ctx, doc_id rows)
{
    struct codes c = {0};
    struct near v[20];
    doc_id *without = NEW_N(&ctx->arena, doc_id, (size_t)rows);
    float *about = vector_about(ctx, LENGTH, 1, 1);
    int8_t row[LENGTH];
    float scale = vector_codes(about, LENGTH, row);
    codes_begin(&c, LENGTH);
    for (doc_id i = 0; i < rows; i++) {
        codes_put(&c, i, row, scale);
        without[i] = i;
    }
    struct question q = question_of(&ctx->arena, &c, about);
    struct among among = {.messages = true, .without = without, .n_without = (size_t)rows - 5};
    CHECK_INT(nearest(&ctx->arena, &c, &q, &among, 20, v), 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(c.docs[v[i].at] >= rows - 5 && v[i].cosine > 0.99F);
    among.n_without = 0;
    CHECK_INT(nearest(&ctx->arena, &c, &q, &among, 20, v), 20);
    among.messages = false;
    CHECK_INT(nearest(&ctx->arena, &c, &q, &among, 20, v), 0);
    codes_free(&c);
}

TEST(of_many_that_are_equal_enough_are_found)
{
    check_equal(ctx, MANY);
    check_equal(ctx, LARGE);
}

/* --- vectors of tokens --- */

static bool is_kept(struct token_store *t, doc_id doc, str *row)
{
    return !token_store_find(t, &doc, 1, row);
}

TEST(rows_of_tokens_are_kept_until_they_are_removed)
{
    struct token_store t;
    str row;
    token_store_open(&t);
    CHECK(!is_kept(&t, 1, &row));
    token_store_remove(&t, 1);
    for (doc_id doc = 1; doc <= 5000; doc++)
        token_store_add(&t, doc, str_printf(&ctx->arena, "row %lld", (long long)doc));
    token_store_add(&t, 7, S("another reader's"));
    token_store_add(&t, 5001, S("")); /* it has none, which is known, too */
    CHECK(is_kept(&t, 7, &row));
    CHECK_STR(row, S("row 7"));
    CHECK(is_kept(&t, 5001, &row) && !row.n);
    token_store_remove(&t, 7);
    CHECK(!is_kept(&t, 7, &row) && is_kept(&t, 8, &row) && is_kept(&t, 5000, &row));
    CHECK_STR(row, S("row 5000"));
    token_store_empty(&t);
    CHECK(!is_kept(&t, 8, &row));
    CHECK_INT(token_store_bytes(&t), 0);
    token_store_close(&t);
}

TEST(rows_of_tokens_have_a_limit)
{
    enum { ROWS = 1000, BYTES = 100000, MOST = 48 << 20 };
    struct token_store t;
    str row = {arena_alloc(&ctx->arena, BYTES), BYTES};
    token_store_open(&t);
    for (doc_id doc = 1; doc <= ROWS; doc++)
        token_store_add(&t, doc, row);
    CHECK(atomic_load(&t.is_full));
    CHECK(token_store_bytes(&t) < MOST + (64 << 10) && token_store_bytes(&t) > MOST - 2 * BYTES);
    CHECK(is_kept(&t, 1, &row) && !is_kept(&t, ROWS, &row));
    token_store_empty(&t);
    CHECK(!atomic_load(&t.is_full));
    token_store_add(&t, ROWS, S("row"));
    CHECK(is_kept(&t, ROWS, &row));
    token_store_close(&t);
}
