/* cross_encoder.c - the scores of question and passage are those of the reference, within limits.
 */
#include <math.h>

#include "base/clock.h"
#include "cross_reference.h"
#include "ext/models/kinds.h"
#include "lib/tiny_cross.h"

enum { CASES = sizeof cross_reference / sizeof *cross_reference };

static void *tiny_opened(struct ctx *ctx)
{
    void *c = NULL;
    str folder = folder_new(ctx);
    cross_write(ctx, folder, &tiny_cross_sizes);
    CHECK_OK(local_cross_encoder.open(ctx, folder, &c));
    return c;
}

static double score_of(struct ctx *ctx, const void *c, str question, str text)
{
    double score;
    size_t done;
    CHECK_OK(local_cross_encoder.score(ctx, c, question, &text, 1, &score, &done));
    CHECK_INT(done, 1);
    return score;
}

static void must_be(double got, double want, const char *what)
{
    if (!(fabs(got - want) < 1e-4))
        fail_msg("%s: %.9g, not %.9g", what, got, want);
}

TEST_NEEDS(scores_are_those_of_the_reference, no_onednn)
{
    void *c = tiny_opened(ctx);
    for (size_t i = 0; i < CASES; i++)
        must_be(score_of(ctx, c, str_of(cross_reference[i].question),
                         str_of(cross_reference[i].passage)),
                cross_reference[i].logit, cross_reference[i].passage);
    local_cross_encoder.close(c);
}

/* Of several batches, so that the passages of one stand beside those of others. */
TEST_NEEDS(a_score_does_not_depend_on_the_batch, no_onednn)
{
    enum { MANY = 60 };
    void *c = tiny_opened(ctx);
    str texts[MANY], question = str_of(cross_reference[0].question);
    double scores[MANY];
    size_t done;
    for (size_t i = 0; i < MANY; i++)
        texts[i] = str_of(cross_reference[i * 7 % CASES].passage);
    CHECK_OK(local_cross_encoder.score(ctx, c, question, texts, MANY, scores, &done));
    CHECK_INT(done, MANY);
    for (size_t i = 0; i < MANY; i++)
        must_be(scores[i], score_of(ctx, c, question, texts[i]), texts[i].p);
    CHECK_OK(local_cross_encoder.score(ctx, c, question, texts, 0, scores, &done));
    CHECK_INT(done, 0);
    local_cross_encoder.close(c);
}

/* 24 positions: three marks, four tokens of the question, and 17 of the passage. */
TEST_NEEDS(a_passage_is_cut_and_the_question_kept, no_onednn)
{
    void *c = tiny_opened(ctx);
    str whole = S("a a a a a a a a a a a a a a a a the cat sleeps");
    str cut = S("a a a a a a a a a a a a a a a a the");
    str other = S("a a a a a a a a a a a a a a a a dog");
    must_be(score_of(ctx, c, S("what is my name"), whole),
            score_of(ctx, c, S("what is my name"), cut), "cut");
    CHECK(fabs(score_of(ctx, c, S("what is my name"), whole) -
               score_of(ctx, c, S("what is my name"), other)) > 1e-2);
    CHECK(fabs(score_of(ctx, c, S("what is my name"), whole) -
               score_of(ctx, c, S("what is my dog"), whole)) > 1e-2);
    local_cross_encoder.close(c);
}

/* --- time --- */

TEST_NEEDS(a_call_that_is_late_or_cut_says_what_it_did, no_onednn)
{
    const atomic_bool is_cut = true;
    struct ctx late = {.deadline_us = clock_mono_us() - 1}, cut = {.is_cut = &is_cut};
    void *c = tiny_opened(ctx);
    str text = S("the cat");
    double score;
    size_t done = 7;
    CHECK_STATUS(local_cross_encoder.score(&late, c, text, &text, 1, &score, &done), TIMED_OUT);
    CHECK_INT(done, 0);
    CHECK_STATUS(local_cross_encoder.score(&cut, c, text, &text, 1, &score, &done), TIMED_OUT);
    ctx_free(&late);
    ctx_free(&cut);
    local_cross_encoder.close(c);
}

/* More than fits into the time: what was read has the right score, in the order of the texts. */
TEST_NEEDS(as_many_as_the_time_allows, no_onednn)
{
    enum { MANY = 200000 };
    void *c = tiny_opened(ctx);
    str *texts = NEW_N(&ctx->arena, str, MANY), question = str_of(cross_reference[0].question);
    double *scores = NEW_N(&ctx->arena, double, MANY);
    size_t done;
    for (size_t i = 0; i < MANY; i++)
        texts[i] = str_of(cross_reference[i % 4].passage);
    struct ctx own = {.deadline_us = clock_mono_us() + 300000};
    CHECK_STATUS(local_cross_encoder.score(&own, c, question, texts, MANY, scores, &done),
                 TIMED_OUT);
    CHECK(done > 0 && done < MANY);
    for (size_t i = 0; i < done && i < 1000; i++)
        must_be(scores[i], score_of(ctx, c, question, texts[i]), "in time");
    ctx_free(&own);
    local_cross_encoder.close(c);
}

/* --- broken files --- */

static void must_refuse(struct ctx *ctx, str folder, enum status want, const char *says)
{
    void *c = NULL;
    CHECK_STATUS(local_cross_encoder.open(ctx, folder, &c), want);
    if (!holds(str_of(ctx->why), says))
        fail_msg("\"%s\" does not say \"%s\"", ctx->why, says);
    ctx_clear_failure(ctx);
}

/* The tiny model with a part of a file replaced. */
static str changed_folder(struct ctx *ctx, const char *name, const char *from, const char *to)
{
    str folder = folder_new(ctx);
    cross_write(ctx, folder, &tiny_cross_sizes);
    str bytes = file_bytes(ctx, folder, name);
    size_t at = str_find(bytes, str_of(from));
    CHECK(at < bytes.n);
    str rest = str_sub(bytes, at + strlen(from), bytes.n);
    struct buf b = buf_make(&ctx->arena, bytes.n + 1000);
    buf_add(&b, str_sub(bytes, 0, at));
    buf_add(&b, str_of(to));
    buf_add(&b, rest);
    file_write(ctx, folder, name, buf_str(&b));
    return folder;
}

/* Changes of model.safetensors keep the length, as the header's length stands in front of it. */
TEST_NEEDS(a_broken_file_is_named, no_onednn)
{
    static const struct {
        const char *name, *from, *to;
        enum status status;
        const char *says;
    } cases[] = {
        {"config.json", "ForSequence", "ForToken", UNSUPPORTED, "BertForSequenceClassification"},
        {"config.json", "\"architectures\":[", "\"other\":[", UNSUPPORTED, "architectures"},
        {"config.json", "{", "", BAD_INPUT, ""},
        {"config.json", "\"hidden_size\":32", "\"hidden_size\":64", UNSUPPORTED, "64 floats"},
        {"config.json", "\"gelu\"", "\"relu\"", UNSUPPORTED, "gelu"},
        {"config.json", "embeddings\":24", "embeddings\":5", BAD_INPUT, "position_embeddings"},
        {"config.json", "layers\":2", "layers\":3", UNSUPPORTED, "encoder.layer.2"},
        {"model.safetensors", "pooler.dense.weight", "pooler.dense.weighs", UNSUPPORTED,
         "bert.pooler.dense.weight"},
        {"model.safetensors", "\"classifier.weight", "\"classifier.weighs", UNSUPPORTED,
         "classifier.weight"},
        {"model.safetensors", "classifier.bias", "classifier.bios", UNSUPPORTED, "classifier.bias"},
        {"model.safetensors", "token_type", "token_typo", UNSUPPORTED, "token type"},
        {"vocab.txt", "[UNK]\n", "", BAD_INPUT, "unknown words"},
        {"vocab.txt", "[SEP]\n", "", UNSUPPORTED, "[SEP]"},
        {"vocab.txt", "day\n", "day\nmore\n", BAD_INPUT, "without a row"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        must_refuse(ctx, changed_folder(ctx, cases[i].name, cases[i].from, cases[i].to),
                    cases[i].status, cases[i].says);
}

TEST_NEEDS(a_missing_or_short_file_is_named, no_onednn)
{
    static const char *const names[] = {"config.json", "vocab.txt", "model.safetensors"};
    static const char *const says[] = {"config.json", "vocab.txt", "model.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        str folder = folder_new(ctx);
        cross_write(ctx, folder, &tiny_cross_sizes);
        CHECK_INT(remove(str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), names[i]).p), 0);
        must_refuse(ctx, folder, NOT_FOUND, says[i]);
    }
    str folder = folder_new(ctx);
    cross_write(ctx, folder, &tiny_cross_sizes);
    str bytes = file_bytes(ctx, folder, "model.safetensors");
    file_write(ctx, folder, "model.safetensors", str_sub(bytes, 0, bytes.n / 2));
    must_refuse(ctx, folder, BAD_INPUT, "outside the file");
}

TEST_NEEDS(a_classifier_of_several_outputs_is_refused, no_onednn)
{
    struct cross_sizes sizes = tiny_cross_sizes;
    str folder = folder_new(ctx);
    sizes.outputs = 3;
    cross_write(ctx, folder, &sizes);
    must_refuse(ctx, folder, UNSUPPORTED, "3 outputs");
    sizes = tiny_cross_sizes;
    sizes.positions = 7;
    cross_write(ctx, folder, &sizes);
    must_refuse(ctx, folder, UNSUPPORTED, "at least 8");
}

TEST_NEEDS(numbers_that_are_none_are_no_scores, no_onednn)
{
    void *c = NULL;
    str folder = folder_new(ctx), text = S("the cat");
    double score;
    size_t done;
    cross_write(ctx, folder, &tiny_cross_sizes);
    str bytes = file_bytes(ctx, folder, "model.safetensors");
    char *broken = arena_alloc(&ctx->arena, bytes.n);
    memcpy(broken, bytes.p, bytes.n);
    memset(broken + bytes.n - 4, 0xFF, 4); /* the bias of the classifier */
    file_write(ctx, folder, "model.safetensors", (str){broken, bytes.n});
    CHECK_OK(local_cross_encoder.open(ctx, folder, &c));
    CHECK_STATUS(local_cross_encoder.score(ctx, c, text, &text, 1, &score, &done), UNSUPPORTED);
    CHECK(holds(str_of(ctx->why), "not numbers"));
    local_cross_encoder.close(c);
}
