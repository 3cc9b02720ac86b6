/* encoder.c - the encoder in the binary: its file, its kernels, its blocks, and what it finds. */
#include <math.h>
#include <pthread.h>

#include "base/buf.h"
#include "base/clock.h"
#include "embed/encoder/encoder_int.h"
#include "t.h"

TEST(letters_with_accents_are_latin)
{
    CHECK(encoder_reads(S("Hangi enstrümanı çalıyorum?")));
    CHECK(encoder_reads(S("öğüşçı"))); /* two bytes each */
    CHECK(encoder_reads(S("Tôi ở đâu?")) && encoder_reads(S("“Źdźbło” – żółć…")));
    CHECK(!encoder_reads(S("где моя мама")) && !encoder_reads(S("我的狗")));
    CHECK(!encoder_reads(S("สวัสดี")) && !encoder_reads(S("ゲーム、カメラ")));
    CHECK(encoder_reads(S("")) && encoder_reads(S("my dog is 我")));
}

/* --- the file --- */

static str copy_of_file(struct ctx *ctx)
{
    return str_dup(&ctx->arena, encoder_builtin());
}

TEST(the_file_is_whole_and_names_its_licence)
{
    struct encoder_file f;
    CHECK_OK(encoder_file_read(ctx, encoder_builtin(), &f));
    CHECK(holds(f.notice, "all-MiniLM-L6-v2"));
    CHECK(holds(f.notice, "Apache License, Version 2.0"));
    CHECK(holds(f.notice, "CC BY 4.0"));
}

TEST(a_changed_file_is_refused)
{
    static const struct {
        size_t at;
        const char *why;
    } changes[] = {
        {0, "not an encoder's file"},
        {8, "version"},
        {16, "bytes, and should have"},
        {40, "checksum"},
        {64, "checksum"},
        {2000, "checksum"},
        {5000000, "checksum"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct encoder_file f;
        str bytes = copy_of_file(ctx);
        ((char *)bytes.p)[changes[i].at] ^= 1;
        ctx_clear_failure(ctx);
        CHECK_STATUS(encoder_file_read(ctx, bytes, &f), BAD_INPUT);
        if (!holds(str_of(ctx->why), changes[i].why))
            fail_msg("byte %zu: '%s' does not say '%s'", changes[i].at, ctx->why, changes[i].why);
    }
    struct encoder_file f;
    str bytes = copy_of_file(ctx);
    ctx_clear_failure(ctx);
    CHECK_STATUS(encoder_file_read(ctx, str_sub(bytes, 0, bytes.n - 1), &f), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(encoder_file_read(ctx, str_sub(bytes, 0, 100), &f), BAD_INPUT);
}

/* --- kernels --- */

enum { INPUTS = 1536, OUTPUTS = 128, TOKENS = 13 };

/* Weights and values from a fixed sequence; extreme: the greatest there are, of either sign. */
struct factors {
    int8_t weights[INPUTS * OUTPUTS]; /* by output, not in the order of the kernels */
    uint8_t x[INPUTS * TOKENS];
};

static struct factors *some_factors(struct ctx *ctx, bool extreme)
{
    struct factors *f = NEW(&ctx->arena, struct factors);
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof f->weights; i++) {
        seed = seed * 1664525 + 1013904223;
        int v = (int)(seed >> 16) % (2 * PRODUCT_WEIGHT + 1) - PRODUCT_WEIGHT;
        f->weights[i] = (int8_t)(!extreme ? v : i / INPUTS % 2 ? PRODUCT_WEIGHT : -PRODUCT_WEIGHT);
    }
    for (size_t i = 0; i < sizeof f->x; i++) {
        seed = seed * 1664525 + 1013904223;
        f->x[i] = extreme ? (i / INPUTS % 2 ? 255 : 1) : (uint8_t)((seed >> 16) % 255 + 1);
    }
    return f;
}

static void check_products(struct ctx *ctx, const struct factors *f,
                           const struct encoder_kernels *k, size_t inputs, size_t n)
{
    int8_t *packed = NEW_N(&ctx->arena, int8_t, inputs * OUTPUTS);
    int32_t starts[OUTPUTS] = {0}, *out = NEW_N(&ctx->arena, int32_t, n * OUTPUTS);
    for (size_t o = 0; o < OUTPUTS; o++) {
        for (size_t i = 0; i < inputs; i++) {
            packed[product_place(inputs, o, i)] = f->weights[o * INPUTS + i];
            starts[o] -= PRODUCT_OFFSET * f->weights[o * INPUTS + i];
        }
    }
    const struct product p = {packed, starts, OUTPUTS, inputs};
    k->product(&p, f->x, n, out);
    for (size_t t = 0; t < n; t++) {
        for (size_t o = 0; o < OUTPUTS; o++) {
            int32_t want = 0;
            for (size_t i = 0; i < inputs; i++)
                want += (f->x[t * inputs + i] - PRODUCT_OFFSET) * f->weights[o * INPUTS + i];
            if (out[t * OUTPUTS + o] != want)
                fail_msg("%s: token %zu of %zu, output %zu: %d, not %d", k->name, t, n, o,
                         out[t * OUTPUTS + o], want);
        }
    }
}

TEST(products_are_exact_with_every_instruction_set)
{
    const struct factors *some = some_factors(ctx, false), *most = some_factors(ctx, true);
    for (const struct encoder_kernels *k = encoder_kernels; k->name; k++) {
        if (!k->can_run()) {
            printf("not on this processor: %s\n", k->name);
            continue;
        }
        for (size_t n = 1; n <= TOKENS; n++) {
            check_products(ctx, some, k, 384, n);
            check_products(ctx, most, k, INPUTS, n);
        }
        check_products(ctx, some, k, INPUTS, TOKENS);
    }
}

/* Values of either sign, and the greatest ones. */
static void some_tokens(int8_t *v, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n * ENCODER_KEPT; i++) {
        seed = seed * 1664525 + 1013904223;
        v[i] = (int8_t)(i % 97 ? (int)(seed >> 16) % 255 - 127 : 127);
    }
}

TEST(tokens_are_compared_alike_with_every_instruction_set)
{
    enum { ASKED = 21, SAID = 33 };
    int8_t asked[ASKED * ENCODER_KEPT], said[SAID * ENCODER_KEPT];
    some_tokens(asked, ASKED, 1);
    some_tokens(said, SAID, 2);
    for (const struct encoder_kernels *k = encoder_kernels; k->name; k++) {
        struct encoder_question q = encoder_question(&ctx->arena, asked, ASKED);
        if (!k->can_run())
            continue;
        k->likeness(q.packed, q.blocks, said, SAID, q.best);
        for (size_t a = 0; a < ASKED; a++) {
            int32_t want = 0;
            for (size_t s = 0; s < SAID; s++) {
                int32_t sum = 0;
                for (size_t i = 0; i < ENCODER_KEPT; i++)
                    sum += asked[a * ENCODER_KEPT + i] * said[s * ENCODER_KEPT + i];
                want = sum > want ? sum : want;
            }
            if (q.best[a] != want)
                fail_msg("%s: token %zu: %d, not %d", k->name, a, q.best[a], want);
        }
    }
    struct encoder_question none = encoder_question(&ctx->arena, asked, 3);
    encoder_compare(&none, said, 0);
    CHECK(none.best[0] == 0 && none.best[2] == 0);
}

/* Ordinary words, by their numbers. */
static void some_ids(uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)(2000 + i * 7919 % 20000);
}

TEST(every_instruction_set_gives_the_same_floats)
{
    static const size_t lengths[] = {0, 1, 3, 14, 15, 100, ENCODER_BLOCK};
    enum { MOST = (ENCODER_BLOCK + 2) * ENCODER_HIDDEN };
    float *want = NEW_N(&ctx->arena, float, MOST), *got = NEW_N(&ctx->arena, float, MOST);
    uint32_t ids[ENCODER_BLOCK];
    some_ids(ids, ENCODER_BLOCK);
    struct encoder *best = encoder_new();
    for (const struct encoder_kernels *k = encoder_kernels; k->name; k++) {
        if (!k->can_run())
            continue;
        struct encoder *e = encoder_new_by(k);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            size_t n = (lengths[i] + 2) * ENCODER_HIDDEN;
            CHECK_OK(encoder_states(ctx, best, ids, lengths[i], want));
            CHECK_OK(encoder_states(ctx, e, ids, lengths[i], got));
            if (memcmp(got, want, n * sizeof *got))
                fail_msg("%s: other states of %zu tokens", k->name, lengths[i]);
        }
        encoder_free(e);
    }
    encoder_free(best);
}

/* --- texts --- */

static struct encoded encode_one(struct ctx *ctx, struct encoder *e, const char *text)
{
    struct encoded out;
    str s = str_of(text);
    CHECK_OK(encoder_texts(ctx, e, S(""), &s, 1, &out));
    return out;
}

static void check_same(const struct encoded *a, const struct encoded *b)
{
    CHECK_INT(a->n, b->n);
    CHECK(a->n == 0 || !memcmp(a->ids, b->ids, a->n * sizeof *a->ids));
    CHECK(a->n == 0 || !memcmp(a->tokens, b->tokens, a->n * ENCODER_KEPT));
    CHECK(!memcmp(a->pooled, b->pooled, sizeof a->pooled));
}

/* n words of one token each, which begin with the given one. */
static str words(struct ctx *ctx, size_t from, size_t n)
{
    static const char *const list[] = {"cat",    "house", "river", "music", "bread",
                                       "doctor", "green", "seven", "winter"};
    struct buf b = buf_make(&ctx->arena, 4096);
    for (size_t i = from; i < from + n; i++)
        buf_printf(&b, "%s ", list[i * i % (sizeof list / sizeof *list)]);
    return buf_str(&b);
}

/* Known values, which another compiler or processor may round otherwise by one. */
TEST(texts_have_the_vectors_that_they_had)
{
    static const struct {
        const char *text;
        size_t n;
        int first[8], last[8]; /* values of the first and the last token */
        double pooled[4];
    } cases[] = {
        {"bread",
         1,
         {-29, 44, 13, -11, -2, -19, -1, 15},
         {-29, 44, 13, -11, -2, -19, -1, 15},
         {-0.1810, 0.2752, 0.0810, -0.0686}},
        {"Ann: I moved to Lisbon last spring.",
         9,
         {-28, 12, 18, -6, 6, 20, -36, 24},
         {43, 19, -4, -32, 44, -3, -3, -1},
         {-0.0105, -0.0090, 0.0012, -0.1684}},
        {"What is the name of Bob's sister, who works as a nurse?",
         16,
         {-4, -4, -45, -10, 22, -11, -26, -7},
         {20, 36, -18, -5, 37, 12, -27, -19},
         {-0.0851, 0.1262, -0.1160, -0.0532}},
        {"Caf\u00e9, 3.5 \u4e2d \U0001F600!",
         8,
         {-20, 23, 19, 0, 16, -15, 0, -10},
         {14, 19, -1, -19, 36, -10, -18, 1},
         {-0.0655, 0.1061, 0.1550, -0.0195}},
    };
    struct encoder *e = encoder_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct encoded got = encode_one(ctx, e, cases[i].text);
        CHECK_INT(got.n, cases[i].n);
        const int8_t *last = got.tokens + (got.n - 1) * ENCODER_KEPT;
        for (int k = 0; k < 8; k++) {
            CHECK(abs(got.tokens[k] - cases[i].first[k]) <= 1);
            CHECK(abs(last[k] - cases[i].last[k]) <= 1);
        }
        for (int k = 0; k < 4; k++)
            CHECK(fabs((double)got.pooled[k] - cases[i].pooled[k]) < 0.005);
    }
    encoder_free(e);
}

TEST(vectors_have_length_one)
{
    struct encoder *e = encoder_new();
    struct encoded got = encode_one(ctx, e, "Ann: My sister's dog ran away from the vet.");
    CHECK_INT(got.n, 13);
    for (size_t t = 0; t < got.n; t++) {
        int sum = 0;
        for (size_t i = 0; i < ENCODER_KEPT; i++)
            sum += got.tokens[t * ENCODER_KEPT + i] * got.tokens[t * ENCODER_KEPT + i];
        CHECK(fabs(sqrt(sum) - 127) < 4);
    }
    double square = 0;
    for (size_t i = 0; i < ENCODER_SPACE; i++)
        square += (double)got.pooled[i] * (double)got.pooled[i];
    CHECK(fabs(square - 1) < 1e-5);
    encoder_free(e);
}

TEST(a_text_without_tokens_has_no_vectors)
{
    struct encoder *e = encoder_new();
    str texts[] = {S(""), S(" \n"), S("bread"), S("")};
    struct encoded out[4];
    CHECK_OK(encoder_texts(ctx, e, S(""), texts, 4, out));
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(out[i].n, i == 2);
    for (size_t i = 0; i < ENCODER_SPACE; i++)
        CHECK(out[0].pooled[i] == 0 && out[3].pooled[i] == 0);
    struct encoded alone = encode_one(ctx, e, "bread");
    check_same(&alone, &out[2]);
    CHECK_OK(encoder_texts(ctx, e, S(""), NULL, 0, NULL));
    encoder_free(e);
}

/* Between two layers, too, so that a chat waits for one of them at most. */
TEST(it_stops_for_what_goes_first)
{
    static const atomic_int one = 1;
    struct encoder *e = encoder_new();
    encode_one(ctx, e, "bread"); /* loads it */
    ctx->first = &one;
    ctx->yields_until_us = clock_mono_us() + 40000;
    encode_one(ctx, e, "butter");
    CHECK(clock_mono_us() >= ctx->yields_until_us);
    ctx->first = NULL;
    encoder_free(e);
}

/* --- blocks --- */

TEST(a_block_is_read_with_the_text_before_it)
{
    struct encoder *e = encoder_new();
    str texts[] = {words(ctx, 0, 50), words(ctx, 7, 100), words(ctx, 3, 60), words(ctx, 1, 20)};
    struct encoded all[4], pair[2], one;
    CHECK_OK(encoder_texts(ctx, e, S(""), texts, 4, all));
    CHECK_OK(encoder_texts(ctx, e, S(""), texts, 2, pair)); /* 150 tokens: one block */
    check_same(&all[0], &pair[0]);
    check_same(&all[1], &pair[1]);
    CHECK_OK(encoder_texts(ctx, e, texts[0], texts + 1, 1, &one));
    check_same(&all[1], &one); /* the same tokens in the same places */
    CHECK_OK(encoder_texts(ctx, e, texts[1], texts + 2, 2, pair)); /* 60 before, 60 and 20 */
    check_same(&all[2], &pair[0]);
    check_same(&all[3], &pair[1]);
    CHECK_OK(encoder_texts(ctx, e, words(ctx, 47, 60), texts + 2, 2, pair));
    check_same(&all[2], &pair[0]); /* only the last 60 before count */
    CHECK_OK(encoder_texts(ctx, e, S(""), texts + 2, 1, &one));
    CHECK(memcmp(one.tokens, all[2].tokens, one.n * ENCODER_KEPT)); /* what is before counts */
    encoder_free(e);
}

TEST(a_block_holds_as_many_texts_as_fit)
{
    struct encoder *e = encoder_new();
    str texts[] = {words(ctx, 0, 53), words(ctx, 7, 53), words(ctx, 3, 54), words(ctx, 1, 5)};
    struct encoded all[4], one;
    CHECK_OK(encoder_texts(ctx, e, S(""), texts, 4, all));
    CHECK_OK(encoder_texts(ctx, e, texts[1], texts + 2, 1, &one));
    CHECK(memcmp(one.tokens, all[2].tokens, one.n * ENCODER_KEPT)); /* the first is read, too */
    CHECK_OK(encoder_texts(ctx, e, texts[2], texts + 3, 1, &one));
    check_same(&all[3], &one); /* 160 are full */
    encoder_free(e);
}

TEST(long_texts_are_cut_and_leave_room_for_less_before_them)
{
    struct encoder *e = encoder_new();
    str more = words(ctx, 0, 300), text = words(ctx, 0, ENCODER_TEXT);
    struct encoded cut, whole, before;
    CHECK_OK(encoder_texts(ctx, e, more, &more, 1, &cut));
    CHECK_INT(cut.n, ENCODER_TEXT);
    CHECK_OK(encoder_texts(ctx, e, text, &text, 1, &whole));
    check_same(&cut, &whole);
    CHECK_OK(encoder_texts(ctx, e, words(ctx, ENCODER_TEXT - 40, 40), &text, 1, &before));
    check_same(&cut, &before); /* 160 - 120 */
    encoder_free(e);
}

TEST(many_texts_are_as_many_results)
{
    enum { N = 60 };
    struct encoder *e = encoder_new();
    str texts[N];
    struct encoded out[N], one;
    for (size_t i = 0; i < N; i++)
        texts[i] = words(ctx, i, i * 37 % 50);
    CHECK_OK(encoder_texts(ctx, e, S(""), texts, N, out));
    for (size_t i = 0; i < N; i++) {
        CHECK_INT(out[i].n, i * 37 % 50);
        CHECK_OK(encoder_texts(ctx, e, S(""), &texts[i], 1, &one));
        CHECK(one.n == 0 || !memcmp(one.ids, out[i].ids, one.n * sizeof *one.ids));
    }
    encoder_free(e);
}

TEST(the_deadline_ends_it)
{
    struct encoder *e = encoder_new();
    str text = S("bread");
    struct encoded out;
    ctx->deadline_us = clock_mono_us() - 1;
    CHECK_STATUS(encoder_texts(ctx, e, S(""), &text, 1, &out), TIMED_OUT);
    encoder_free(e);
}

/* --- threads --- */

static void *encode_apart(void *e)
{
    struct ctx ctx = {0};
    struct encoded *out = heap_alloc(sizeof *out);
    str text = S("Where does she live now?");
    out->n = encoder_texts(&ctx, e, S(""), &text, 1, out) == OK ? out->n : 0;
    out->ids = NULL;
    out->tokens = NULL;
    ctx_free(&ctx);
    return out;
}

TEST(first_texts_of_several_threads_give_the_same)
{
    enum { N = 4 };
    pthread_t threads[N];
    struct encoder *e = encoder_new();
    for (int i = 0; i < N; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, encode_apart, e), 0);
    struct encoded want = encode_one(ctx, e, "Where does she live now?");
    for (int i = 0; i < N; i++) {
        void *got;
        CHECK_INT(pthread_join(threads[i], &got), 0);
        CHECK_INT(((struct encoded *)got)->n, want.n);
        CHECK(!memcmp(((struct encoded *)got)->pooled, want.pooled, sizeof want.pooled));
        free(got);
    }
    encoder_free(e);
}

/* --- what it is for --- */

static double cosine(const struct encoded *a, const struct encoded *b)
{
    double sum = 0;
    for (size_t i = 0; i < ENCODER_SPACE; i++)
        sum += (double)a->pooled[i] * (double)b->pooled[i];
    return sum;
}

/* The mean over the question's tokens of the likest token of the text. */
static double max_sim(const struct encoded *question, const struct encoded *text)
{
    double sum = 0;
    for (size_t q = 0; q < question->n; q++) {
        int best = INT32_MIN;
        for (size_t t = 0; t < text->n; t++) {
            int dot = 0;
            for (size_t i = 0; i < ENCODER_KEPT; i++)
                dot += question->tokens[q * ENCODER_KEPT + i] * text->tokens[t * ENCODER_KEPT + i];
            best = dot > best ? dot : best;
        }
        sum += best;
    }
    return sum / (double)question->n;
}

/* A question and its answer have no word in common but the smallest. */
TEST(questions_find_answers_in_other_words)
{
    static const char *const pairs[][2] = {
        {"Which instrument does he play?", "Tom: I practise the violin every evening."},
        {"What is her job?", "Tom: She works as a nurse at a clinic."},
        {"Where did they go on holiday?", "Tom: We spent two weeks at the beach in Spain."},
        {"Does he have any pets?", "Tom: My kitten sleeps on the sofa."},
        {"What food can he not eat?", "Tom: Peanuts give me an allergic reaction."},
        {"Which car does he own?", "Tom: I bought a used Toyota last month."},
        {"How did the exam end?", "Tom: I passed my chemistry test with top marks."},
        {"What sport does she do?", "Tom: Maria swims in the lake on Sundays."},
    };
    enum { N = sizeof pairs / sizeof *pairs };
    struct encoder *e = encoder_new();
    struct encoded questions[N], answers[N];
    int by_cosine = 0, by_tokens = 0;
    for (size_t i = 0; i < N; i++) {
        questions[i] = encode_one(ctx, e, pairs[i][0]);
        answers[i] = encode_one(ctx, e, pairs[i][1]);
    }
    for (size_t q = 0; q < N; q++) {
        size_t best = 0, likest = 0;
        for (size_t a = 1; a < N; a++) {
            best = cosine(&questions[q], &answers[a]) > cosine(&questions[q], &answers[best])
                       ? a
                       : best;
            likest = max_sim(&questions[q], &answers[a]) > max_sim(&questions[q], &answers[likest])
                         ? a
                         : likest;
        }
        by_cosine += best == q;
        by_tokens += likest == q;
    }
    printf("of %d: %d by the pooled vector, %d by tokens\n", N, by_cosine, by_tokens);
    CHECK(by_cosine >= 7 && by_tokens >= 6);
    encoder_free(e);
}
