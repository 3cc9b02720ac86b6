/* vectors.c - the table and the transformer give the vectors that the references give. */
#include <math.h>
#include <pthread.h>

#include "embed/common/kernels.h"
#include "ext/models/kinds.h"
#include "ext/models/onednn.h"
#include "lib/tiny_models.h"

/* --- kernels --- */

TEST(kernels_agree_with_the_c_library)
{
    enum { N = 4096 };
    const struct kernels *sets[] = {kernels_plain(), kernels_best()};
    const float bias[KERNEL_LANES] = {0};
    for (int set = 0; set < 2; set++) {
        static float v[N], w[N], norm[N];
        double sum = 0;
        for (int i = 0; i < N; i++) {
            v[i] = w[i] = norm[i] = (float)(i - N / 2) / 200;
            sum += exp(((double)v[i] - 10) * 0.5);
        }
        sets[set]->gelu(v, bias, N / KERNEL_LANES, KERNEL_LANES);
        sets[set]->softmax(w, 0.5f, N);
        for (int i = 0; i < N; i++) {
            double x = (double)norm[i];
            double gelu = 0.5 * x * (1 + erf(x * sqrt(0.5)));
            double share = exp((x - 10) * 0.5) / sum;
            if (fabs((double)v[i] - gelu) > 4e-7 * (1 + fabs(x)))
                fail_msg("gelu(%g) is %.9g, not %.9g", x, (double)v[i], gelu);
            if (fabs((double)w[i] - share) > 2e-6 * share + 1e-12)
                fail_msg("softmax(%g) is %.9g, not %.9g", x, (double)w[i], share);
        }
    }
}

TEST(infinity_has_no_share)
{
    float v[KERNEL_LANES] = {1,         1,         -INFINITY, -INFINITY,
                             -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    kernels_best()->softmax(v, 1, KERNEL_LANES);
    CHECK(fabsf(v[0] - 0.5f) < 1e-6f && fabsf(v[1] - 0.5f) < 1e-6f && v[2] < 1e-30f);
}

/* --- the table --- */

TEST(a_text_is_the_mean_of_its_known_tokens)
{
    void *t;
    str folder = folder_new(ctx);
    float v[TINY_STATIC];
    tiny_static(ctx, folder);
    CHECK_OK(local_static.open(ctx, folder, &t));
    CHECK_INT(local_static.dimensions(t), TINY_STATIC);
    CHECK_OK(local_static.embed(ctx, t, &S("The unknowable CATS"), 1, v));
    /* the 4, cat 5, ##s 8: the unknown word counts for nothing. */
    const float want[] = {3, 3 + 17, 3 + 34, 3 + 51};
    float length = sqrtf(3 * 3 + 20 * 20 + 37 * 37 + 54 * 54);
    for (int i = 0; i < TINY_STATIC; i++)
        CHECK(fabsf(v[i] - want[i] / length) < 1e-6f);
    CHECK_OK(local_static.embed(ctx, t, &S("unknowable"), 1, v));
    for (int i = 0; i < TINY_STATIC; i++)
        CHECK(v[i] == 0);
    local_static.close(t);
}

TEST(a_table_that_does_not_fit_its_tokens_is_refused)
{
    void *t;
    str folder = folder_new(ctx);
    static const char *const more[] = {"[UNK]", "a", "b", "c", "d", "e",
                                       "f",     "g", "h", "i", "j", NULL};
    tiny_static(ctx, folder);
    file_write(ctx, folder, "tokenizer.json", tokenizer_of(ctx, more));
    CHECK_STATUS(local_static.open(ctx, folder, &t), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "without a row"));
    ctx_clear_failure(ctx);
    file_write(ctx, folder, "tokenizer.json", S("{"));
    CHECK_STATUS(local_static.open(ctx, folder, &t), BAD_INPUT);
}

/* --- the transformer --- */

/* y = W x + b, then the layer's norm where asked; plain and in doubles. */
static void dense(const struct tiny_bert *b, const char *name, size_t outputs, size_t inputs,
                  const double *x, double *y)
{
    char weight[80], bias[80];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    const float *w = tiny_floats(b, weight), *shift = tiny_floats(b, bias);
    for (size_t o = 0; o < outputs; o++) {
        y[o] = (double)shift[o];
        for (size_t i = 0; i < inputs; i++)
            y[o] += (double)w[o * inputs + i] * x[i];
    }
}

static void norm(const struct tiny_bert *b, const char *name, double *x)
{
    char weight[80], bias[80];
    double mean = 0, square = 0;
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    for (int i = 0; i < TINY_HIDDEN; i++)
        mean += x[i] / TINY_HIDDEN;
    for (int i = 0; i < TINY_HIDDEN; i++)
        square += (x[i] - mean) * (x[i] - mean) / TINY_HIDDEN;
    for (int i = 0; i < TINY_HIDDEN; i++)
        x[i] = (x[i] - mean) / sqrt(square + 1e-12) * (double)tiny_floats(b, weight)[i] +
               (double)tiny_floats(b, bias)[i];
}

enum { MOST = 8, SIZE = TINY_HIDDEN / TINY_HEADS };

static void look(double (*q)[TINY_HIDDEN], double (*k)[TINY_HIDDEN], double (*v)[TINY_HIDDEN],
                 size_t n, size_t i, double *out)
{
    for (size_t h = 0; h < TINY_HEADS; h++) {
        double shares[MOST], sum = 0;
        for (size_t j = 0; j < n; j++) {
            double dot = 0;
            for (size_t d = h * SIZE; d < (h + 1) * SIZE; d++)
                dot += q[i][d] * k[j][d];
            sum += shares[j] = exp(dot / sqrt(SIZE));
        }
        for (size_t d = h * SIZE; d < (h + 1) * SIZE; d++) {
            out[d] = 0;
            for (size_t j = 0; j < n; j++)
                out[d] += shares[j] / sum * v[j][d];
        }
    }
}

/* The encoder as the paper has it, one token after the other. */
static void by_hand(const struct tiny_bert *b, const uint32_t *ids, size_t n, double *out)
{
    double x[MOST][TINY_HIDDEN], q[MOST][TINY_HIDDEN], k[MOST][TINY_HIDDEN], v[MOST][TINY_HIDDEN];
    double length = 0;
    for (size_t t = 0; t < n; t++) {
        for (size_t i = 0; i < TINY_HIDDEN; i++)
            x[t][i] = (double)tiny_floats(b, "word_embeddings.weight")[ids[t] * TINY_HIDDEN + i] +
                      (double)tiny_floats(b, "position_embeddings.weight")[t * TINY_HIDDEN + i] +
                      (double)tiny_floats(b, "token_type_embeddings.weight")[i];
        norm(b, "embeddings.LayerNorm", x[t]);
        dense(b, "query", TINY_HIDDEN, TINY_HIDDEN, x[t], q[t]);
        dense(b, "key", TINY_HIDDEN, TINY_HIDDEN, x[t], k[t]);
        dense(b, "value", TINY_HIDDEN, TINY_HIDDEN, x[t], v[t]);
    }
    memset(out, 0, TINY_HIDDEN * sizeof *out);
    for (size_t t = 0; t < n; t++) {
        double seen[TINY_HIDDEN], more[TINY_HIDDEN], wide[TINY_WIDE];
        look(q, k, v, n, t, seen);
        dense(b, "attention.output.dense", TINY_HIDDEN, TINY_HIDDEN, seen, more);
        for (int i = 0; i < TINY_HIDDEN; i++)
            x[t][i] += more[i];
        norm(b, "attention.output.LayerNorm", x[t]);
        dense(b, "intermediate.dense", TINY_WIDE, TINY_HIDDEN, x[t], wide);
        for (int i = 0; i < TINY_WIDE; i++)
            wide[i] *= 0.5 * (1 + erf(wide[i] * sqrt(0.5)));
        dense(b, "0.output.dense", TINY_HIDDEN, TINY_WIDE, wide, more);
        for (int i = 0; i < TINY_HIDDEN; i++)
            x[t][i] += more[i];
        norm(b, "0.output.LayerNorm", x[t]);
        for (int i = 0; i < TINY_HIDDEN; i++)
            out[i] += x[t][i];
    }
    for (int i = 0; i < TINY_HIDDEN; i++)
        length += out[i] * out[i];
    for (int i = 0; i < TINY_HIDDEN; i++)
        out[i] /= sqrt(length);
}

TEST_NEEDS(an_encoder_gives_what_the_definition_gives, no_onednn)
{
    static const struct {
        const char *text;
        uint32_t ids[MOST];
        size_t n;
    } cases[] = {
        {"the cat", {2, 4, 5, 3}, 4},
        {"", {2, 3}, 2},
        {"the cats sat.", {2, 4, 5, 8, 6, 9, 3}, 7},
        {"the dog sat", {2, 4, 1, 6, 3}, 5},
        {"mat mat mat mat mat mat mat mat mat", {2, 7, 7, 7, 7, 7, 7, 7}, 8},
    };
    enum { N = sizeof cases / sizeof *cases };
    void *t;
    str texts[N], folder = folder_new(ctx);
    float got[N * TINY_HIDDEN];
    struct tiny_bert b = tiny_bert(ctx, folder);
    CHECK_OK(local_transformer.open(ctx, folder, &t));
    for (size_t i = 0; i < N; i++)
        texts[i] = str_of(cases[i].text);
    CHECK_OK(local_transformer.embed(ctx, t, texts, N, got));
    for (size_t i = 0; i < N; i++) {
        double want[TINY_HIDDEN];
        by_hand(&b, cases[i].ids, cases[i].n, want);
        for (size_t d = 0; d < TINY_HIDDEN; d++)
            if (fabs((double)got[i * TINY_HIDDEN + d] - want[d]) > 2e-6)
                fail_msg("'%s' at %zu: %g, not %g", cases[i].text, d,
                         (double)got[i * TINY_HIDDEN + d], want[d]);
    }
    local_transformer.close(t);
}

TEST_NEEDS(a_model_that_does_not_fit_is_refused, no_onednn)
{
    static const struct {
        const char *config;
        enum status status;
    } cases[] = {
        {"{\"model_type\":\"gpt2\",\"hidden_size\":16,\"num_hidden_layers\":1,"
         "\"num_attention_heads\":2,\"intermediate_size\":24,\"max_position_embeddings\":8}",
         UNSUPPORTED},
        {"{\"model_type\":\"bert\",\"hidden_size\":16,\"num_hidden_layers\":2,"
         "\"num_attention_heads\":2,\"intermediate_size\":24,\"max_position_embeddings\":8}",
         UNSUPPORTED},
        {"{\"model_type\":\"bert\",\"hidden_size\":16,\"num_hidden_layers\":1,"
         "\"num_attention_heads\":2,\"intermediate_size\":32,\"max_position_embeddings\":8}",
         BAD_INPUT},
        {"{\"model_type\":\"bert\",\"hidden_size\":16,\"num_hidden_layers\":1,"
         "\"num_attention_heads\":3,\"intermediate_size\":24,\"max_position_embeddings\":8}",
         UNSUPPORTED},
        {"{\"model_type\":\"bert\",\"hidden_size\":16,\"num_hidden_layers\":1000,"
         "\"num_attention_heads\":2,\"intermediate_size\":24,\"max_position_embeddings\":8}",
         BAD_INPUT},
        {"{\"model_type\":\"bert\",\"hidden_size\":16,\"num_hidden_layers\":1,"
         "\"num_attention_heads\":2,\"intermediate_size\":16384,"
         "\"max_position_embeddings\":1048576}",
         BAD_INPUT},
        {"{}", BAD_INPUT},
    };
    void *t;
    str folder = folder_new(ctx);
    tiny_bert(ctx, folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ctx_clear_failure(ctx);
        file_write(ctx, folder, "config.json", str_of(cases[i].config));
        CHECK_STATUS(local_transformer.open(ctx, folder, &t), cases[i].status);
        CHECK(ctx->why[0]);
    }
}

TEST(without_onednn_a_transformer_says_what_to_install)
{
    static const char *const names[] = {"libnothere.so.3", "libnothere.so.2", NULL};
    struct onednn onednn;
    CHECK_STATUS(onednn_load(ctx, names, &onednn), UNSUPPORTED);
    CHECK(holds(str_of(ctx->why), "libnothere.so.3"));
    CHECK(holds(str_of(ctx->why), "install the package libdnnl"));
}

TEST(a_library_that_is_not_onednn_is_refused)
{
    static const char *const names[] = {"libc.so.6", NULL};
    struct onednn onednn;
    CHECK_STATUS(onednn_load(ctx, names, &onednn), UNSUPPORTED);
    CHECK(holds(str_of(ctx->why), "dnnl_sgemm"));
}

/* --- from several threads --- */

struct worker {
    pthread_t thread;
    const void *t;
    const float *want;
    bool differs;
};

static const char *const said[] = {"the cat sat", "the mat.", "cats", "the cats sat mat"};
enum { SAID = 4, WORKERS = 4, ROUNDS = 20 };

static void *work(void *arg)
{
    struct worker *w = arg;
    struct ctx ctx = {0};
    str texts[SAID];
    for (int i = 0; i < SAID; i++)
        texts[i] = str_of(said[i]);
    for (int round = 0; round < ROUNDS; round++) {
        float got[SAID * TINY_HIDDEN];
        w->differs |= local_transformer.embed(&ctx, w->t, texts, SAID, got) != OK;
        for (int i = 0; i < SAID * TINY_HIDDEN; i++)
            w->differs |= fabsf(got[i] - w->want[i]) > 1e-6f;
    }
    ctx_free(&ctx);
    return NULL;
}

TEST_NEEDS(several_threads_use_one_model, no_onednn)
{
    struct worker workers[WORKERS] = {0};
    void *t;
    str folder = folder_new(ctx);
    float want[SAID * TINY_HIDDEN];
    tiny_bert(ctx, folder);
    CHECK_OK(local_transformer.open(ctx, folder, &t));
    for (int i = 0; i < SAID; i++) {
        str text = str_of(said[i]);
        CHECK_OK(local_transformer.embed(ctx, t, &text, 1, want + i * TINY_HIDDEN));
    }
    for (int i = 0; i < WORKERS; i++) {
        workers[i].t = t;
        workers[i].want = want;
        CHECK_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(!workers[i].differs);
    }
    local_transformer.close(t);
}

TEST_NEEDS(a_deadline_ends_a_batch, no_onednn)
{
    void *t;
    str folder = folder_new(ctx), text = S("the cat");
    float v[TINY_HIDDEN];
    tiny_bert(ctx, folder);
    CHECK_OK(local_transformer.open(ctx, folder, &t));
    ctx->deadline_us = 1;
    CHECK_STATUS(local_transformer.embed(ctx, t, &text, 1, v), TIMED_OUT);
    local_transformer.close(t);
}

/* --- the references --- */

static float farthest(const struct json *vector, const float *got)
{
    float most = 0;
    for (const struct json *v = vector->first; v; v = v->next, got++)
        most = fmaxf(most, fabsf(*got - (float)json_num_or(v, 9)));
    return most;
}

TEST_NEEDS(potion_is_the_references, missing_models)
{
    void *t;
    float v[256];
    CHECK_OK(local_static.open(ctx, model_path(ctx, "potion-base-8M"), &t));
    for (const struct json *c = reference(ctx, "potion-base-8M")->first; c; c = c->next) {
        str text = json_string(json_get(c, "text"));
        CHECK_OK(local_static.embed(ctx, t, &text, 1, v));
        CHECK(farthest(json_get(c, "vector"), v) < 1e-5f);
    }
    local_static.close(t);
}

static const char *missing_minilm(void)
{
    return no_onednn() ? no_onednn() : missing_models();
}

TEST_NEEDS(minilm_is_the_references, missing_minilm)
{
    enum { N = 73, D = 384 };
    void *t;
    str texts[N];
    size_t i = 0;
    const struct json *cases = reference(ctx, "all-MiniLM-L6-v2");
    float *v = NEW_N(&ctx->arena, float, N *D);
    CHECK_OK(local_transformer.open(ctx, model_path(ctx, "all-MiniLM-L6-v2"), &t));
    for (const struct json *c = cases->first; c; c = c->next)
        texts[i++] = json_string(json_get(c, "text"));
    CHECK_OK(local_transformer.embed(ctx, t, texts, N, v));
    i = 0;
    for (const struct json *c = cases->first; c; c = c->next, i++)
        if (farthest(json_get(c, "vector"), v + i * D) > 1e-3f)
            fail_msg("text %zu is off by %g", i,
                     (double)farthest(json_get(c, "vector"), v + i * D));
    local_transformer.close(t);
}
