/* reranker.c - the model of this machine: loaded once, replaced, dropped, and short of time. */
#include "embed/reranker.h"

#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cross_reference.h"
#include "lib/tiny_cross.h"

static void must_say(struct ctx *ctx, const char *says)
{
    if (!holds(str_of(ctx->why), says))
        fail_msg("\"%s\" does not say \"%s\"", ctx->why, says);
    ctx_clear_failure(ctx);
}

TEST_NEEDS(it_is_used_once_it_is_loaded, no_onednn)
{
    str folder = folder_new(ctx), question = str_of(cross_reference[0].question);
    str text = str_of(cross_reference[0].passage);
    double score;
    tiny_cross(ctx, folder, "tiny");
    struct reranker *r = reranker_new(folder);
    CHECK_STATUS(reranker_ready(ctx, r, S("tiny")), UNSUPPORTED);
    must_say(ctx, "not loaded yet");
    CHECK_STATUS(reranker_score(ctx, r, S("tiny"), question, &text, 1, &score), UNSUPPORTED);
    must_say(ctx, "not loaded yet");
    CHECK_OK(reranker_load(ctx, r, S("tiny")));
    CHECK_OK(reranker_ready(ctx, r, S("tiny")));
    CHECK_OK(reranker_score(ctx, r, S("tiny"), question, &text, 1, &score));
    CHECK(fabs(score - cross_reference[0].logit) < 1e-4);
    CHECK_STATUS(reranker_score(ctx, r, S("other"), question, &text, 1, &score), UNSUPPORTED);
    must_say(ctx, "not loaded yet");
    CHECK_OK(reranker_load(ctx, r, S("")));
    CHECK_STATUS(reranker_ready(ctx, r, S("tiny")), UNSUPPORTED);
    must_say(ctx, "not loaded yet");
    reranker_free(r);
}

TEST_NEEDS(a_failure_is_kept_until_it_is_tried_anew, no_onednn)
{
    str folder = folder_new(ctx);
    struct reranker *r = reranker_new(folder);
    CHECK_STATUS(reranker_load(ctx, r, S("tiny")), UNSUPPORTED);
    must_say(ctx, "config.json");
    tiny_cross(ctx, folder, "tiny");
    CHECK_STATUS(reranker_load(ctx, r, S("tiny")), UNSUPPORTED);
    must_say(ctx, "config.json");
    CHECK_STATUS(reranker_ready(ctx, r, S("tiny")), UNSUPPORTED);
    must_say(ctx, "config.json");
    reranker_retry(r);
    CHECK_OK(reranker_load(ctx, r, S("tiny")));
    CHECK_OK(reranker_ready(ctx, r, S("tiny")));
    /* Another one that fails does not take the place of what works. */
    CHECK_STATUS(reranker_load(ctx, r, S("missing")), UNSUPPORTED);
    ctx_clear_failure(ctx);
    CHECK_OK(reranker_ready(ctx, r, S("tiny")));
    reranker_free(r);
}

TEST(a_name_stays_in_the_folder)
{
    static const char *const names[] = {"../tiny", "a/tiny", ".tiny", "/tiny"};
    str folder = folder_new(ctx);
    struct reranker *r = reranker_new(folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_STATUS(reranker_load(ctx, r, str_of(names[i])), UNSUPPORTED);
        must_say(ctx, "not a valid model name");
    }
    reranker_free(r);
}

TEST_NEEDS(texts_without_time_have_no_score, no_onednn)
{
    enum { MANY = 200000 };
    const atomic_bool is_cut = true;
    str folder = folder_new(ctx), question = str_of(cross_reference[0].question);
    str *texts = NEW_N(&ctx->arena, str, MANY);
    double *scores = NEW_N(&ctx->arena, double, MANY);
    tiny_cross(ctx, folder, "tiny");
    struct reranker *r = reranker_new(folder);
    CHECK_OK(reranker_load(ctx, r, S("tiny")));
    for (size_t i = 0; i < MANY; i++)
        texts[i] = str_of(cross_reference[i % 4].passage);
    struct ctx own = {.deadline_us = clock_mono_us() + 300000};
    CHECK_OK(reranker_score(&own, r, S("tiny"), question, texts, MANY, scores));
    CHECK(isfinite(scores[0]) && isnan(scores[MANY - 1]));
    for (size_t i = 1; i < MANY; i++)
        CHECK(!isnan(scores[i - 1]) || isnan(scores[i]));
    ctx_free(&own);
    struct ctx late = {.deadline_us = clock_mono_us() - 1};
    CHECK_STATUS(reranker_score(&late, r, S("tiny"), question, texts, 1, scores), TIMED_OUT);
    ctx_free(&late);
    struct ctx cut = {.is_cut = &is_cut};
    CHECK_STATUS(reranker_score(&cut, r, S("tiny"), question, texts, 1, scores), TIMED_OUT);
    ctx_free(&cut);
    reranker_free(r);
}

/* --- threads --- */

struct shared {
    struct reranker *r;
    atomic_bool is_over;
    atomic_int scored;
};

/* Whatever is loaded at the moment: it has the right score, or it is not there. */
static void *score_on(void *arg)
{
    struct shared *s = arg;
    str text = str_of(cross_reference[0].passage);
    while (!s->is_over) {
        struct ctx own = {0};
        double score = 0;
        enum status how = reranker_score(&own, s->r, S("one"), str_of(cross_reference[0].question),
                                         &text, 1, &score);
        if (how == OK) {
            CHECK(fabs(score - cross_reference[0].logit) < 1e-4);
            s->scored++;
        } else {
            CHECK_INT(how, UNSUPPORTED);
        }
        ctx_free(&own);
    }
    return NULL;
}

TEST_NEEDS(models_are_replaced_while_others_score, no_onednn)
{
    enum { THREADS = 2, ROUNDS = 12 };
    static const char *const names[] = {"one", "two", "one", ""};
    pthread_t threads[THREADS];
    str folder = folder_new(ctx);
    tiny_cross(ctx, folder, "one");
    tiny_cross(ctx, folder, "two");
    struct shared s = {.r = reranker_new(folder)};
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, score_on, &s), 0);
    for (int i = 0; i < ROUNDS; i++)
        CHECK_OK(reranker_load(ctx, s.r, str_of(names[i % 4])));
    CHECK_OK(reranker_load(ctx, s.r, S("one")));
    while (!s.scored) {
    }
    s.is_over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    reranker_free(s.r);
}

/* --- what there is --- */

TEST_NEEDS(the_folder_is_listed_and_checked, no_onednn)
{
    str folder = folder_new(ctx), *names;
    size_t n;
    reranker_list(ctx, S("/nowhere/at/all"), &names, &n);
    CHECK_INT(n, 0);
    tiny_cross(ctx, folder, "two");
    tiny_cross(ctx, folder, "one");
    str other = str_printf(&ctx->arena, S_FMT "/potion", S_ARG(folder));
    CHECK_INT(mkdir(other.p, 0755), 0);
    tiny_static(ctx, other);
    reranker_list(ctx, folder, &names, &n);
    CHECK_INT(n, 2);
    CHECK_STR(names[0], S("one"));
    CHECK_STR(names[1], S("two"));
    CHECK_OK(reranker_check(ctx, folder, S("one")));
    CHECK_STATUS(reranker_check(ctx, folder, S("potion")), UNSUPPORTED);
    must_say(ctx, "architectures");
    CHECK_STATUS(reranker_check(ctx, folder, S("three")), NOT_FOUND);
    must_say(ctx, "three/config.json");
}
