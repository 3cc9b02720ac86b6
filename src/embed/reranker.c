/* reranker.c - the reranking model of this machine: loaded by one thread, used by any. */
#include "embed/reranker.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "embed/cross_encoder.h"

/*
 * Which model it is may change while chats use it. They hold the lock for reading while they score;
 * a load reads the files without it and takes it for writing only to put the new model in place. So
 * no chat waits for a load, but a load may wait for chats.
 */

enum { RETRY_US = 10 * 1000 * 1000, WHY_MAX = 400, NAME_MAX_BYTES = 200, LISTED_MAX = 100 };

struct reranker {
    struct arena arena; /* of folder */
    str folder;
    pthread_mutex_t loading; /* one load at a time */
    pthread_rwlock_t lock;   /* of the members below */
    struct cross_encoder *model;
    char name[NAME_MAX_BYTES + 1];   /* of model, or "" */
    char failed[NAME_MAX_BYTES + 1]; /* what could not be loaded, or "" */
    char why[WHY_MAX];
    atomic_int_least64_t retry_us; /* earliest next try of failed */
};

struct reranker *reranker_new(str folder)
{
    struct reranker *r = heap_alloc(sizeof *r);
    r->folder = str_dup(&r->arena, folder);
    pthread_mutex_init(&r->loading, NULL);
    pthread_rwlock_init(&r->lock, NULL);
    return r;
}

void reranker_free(struct reranker *r)
{
    if (!r)
        return;
    cross_encoder_close(r->model);
    pthread_rwlock_destroy(&r->lock);
    pthread_mutex_destroy(&r->loading);
    arena_free(&r->arena);
    free(r);
}

/* --- loading --- */

/* With a slash or a dot in front a name could lead out of the folder. */
static enum status open_model(struct ctx *ctx, str folder, str name, struct cross_encoder **out)
{
    if (!name.n || name.n > NAME_MAX_BYTES || name.p[0] == '.' || str_find(name, S("/")) < name.n)
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not a valid model name", S_ARG(name));
    return cross_encoder_open(ctx,
                              str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(name)),
                              out);
}

/* The old model is closed when no chat uses it any more. */
static void put_model(struct reranker *r, str name, struct cross_encoder *model)
{
    pthread_rwlock_wrlock(&r->lock);
    struct cross_encoder *old = r->model;
    r->model = model;
    r->failed[0] = 0;
    snprintf(r->name, sizeof r->name, S_FMT, S_ARG(name));
    pthread_rwlock_unlock(&r->lock);
    cross_encoder_close(old);
}

/* The model before stays where it is: the settings may name it again. */
static void note_failure(struct reranker *r, str name, const char *why)
{
    bool is_new = !str_is(name, r->failed) || strncmp(r->why, why, WHY_MAX - 1) != 0;
    pthread_rwlock_wrlock(&r->lock);
    snprintf(r->failed, sizeof r->failed, S_FMT, S_ARG(name));
    snprintf(r->why, sizeof r->why, "%s", why);
    r->retry_us = clock_mono_us() + RETRY_US;
    pthread_rwlock_unlock(&r->lock);
    if (is_new)
        log_event(LOG_WARN, "reranker.failed", "model=" S_FMT " why=\"%s\"", S_ARG(name), why);
}

/* Of the thread that holds r->loading, which alone writes names; so it reads them without the other
 * lock. */
static enum status load_alone(struct ctx *ctx, struct reranker *r, str name)
{
    struct cross_encoder *model = NULL;
    if (str_is(name, r->name))
        return OK;
    if (!name.n) {
        put_model(r, name, NULL);
        return OK;
    }
    if (str_is(name, r->failed) && clock_mono_us() < r->retry_us)
        return fail(ctx, UNSUPPORTED, "%s", r->why);
    int64_t began = clock_mono_us();
    struct ctx own = ctx_detached(ctx); /* frees the parsed vocabulary, which takes megabytes */
    enum status s = open_model(&own, r->folder, name, &model);
    if (s == OK) {
        put_model(r, name, model);
        log_event(LOG_INFO, "reranker.loaded", "model=" S_FMT " ms=%lld", S_ARG(name),
                  (long long)((clock_mono_us() - began) / 1000));
    } else {
        note_failure(r, name, own.why);
        s = fail(ctx, UNSUPPORTED, "%s", own.why);
    }
    ctx_free(&own);
    return s;
}

enum status reranker_load(struct ctx *ctx, struct reranker *r, str name)
{
    pthread_mutex_lock(&r->loading);
    enum status s = load_alone(ctx, r, name);
    pthread_mutex_unlock(&r->loading);
    return s;
}

void reranker_retry(struct reranker *r)
{
    r->retry_us = 0;
}

/* --- using it --- */

/* With the lock for reading. */
static enum status check_ready(struct ctx *ctx, const struct reranker *r, str name)
{
    if (r->model && str_is(name, r->name))
        return OK;
    if (str_is(name, r->failed))
        return fail(ctx, UNSUPPORTED, "%s", r->why);
    return fail(ctx, UNSUPPORTED, "the model is not loaded yet");
}

enum status reranker_ready(struct ctx *ctx, struct reranker *r, str name)
{
    pthread_rwlock_rdlock(&r->lock);
    enum status s = check_ready(ctx, r, name);
    pthread_rwlock_unlock(&r->lock);
    return s;
}

/* Time that ran out after the first texts is no failure: the best by recall came first. */
static enum status score_some(struct ctx *ctx, const struct reranker *r, str question,
                              const str *texts, size_t n, double *scores)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++)
        scores[i] = NAN;
    enum status s = cross_encoder_score(ctx, r->model, question, texts, n, scores, &done);
    bool is_enough = s == TIMED_OUT && done && !ctx_is_cut(ctx);
    return is_enough && soft_if(ctx, s, TIMED_OUT) ? OK : s;
}

enum status reranker_score(struct ctx *ctx, struct reranker *r, str name, str question,
                           const str *texts, size_t n, double *scores)
{
    pthread_rwlock_rdlock(&r->lock);
    enum status s = check_ready(ctx, r, name);
    if (s == OK)
        s = score_some(ctx, r, question, texts, n, scores);
    pthread_rwlock_unlock(&r->lock);
    return s;
}

/* --- what there is --- */

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

void reranker_list(struct ctx *ctx, str folder, str **out, size_t *n)
{
    DIR *d = opendir(str_c(&ctx->arena, folder));
    *out = NEW_N(&ctx->arena, str, LISTED_MAX);
    *n = 0;
    if (!d)
        return;
    for (struct dirent *e; *n < LISTED_MAX && (e = readdir(d));) {
        str at = str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), e->d_name);
        if (e->d_name[0] != '.' && cross_encoder_is_in(ctx, at))
            (*out)[(*n)++] = str_dup(&ctx->arena, str_of(e->d_name));
    }
    closedir(d);
    qsort(*out, *n, sizeof **out, by_bytes);
}

enum status reranker_check(struct ctx *ctx, str folder, str name)
{
    struct cross_encoder *model = NULL;
    TRY(open_model(ctx, folder, name, &model));
    cross_encoder_close(model);
    return OK;
}
