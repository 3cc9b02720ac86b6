/* reranker.c - the reranking model of this machine: loaded by one thread, used by any. */
#include "embed/reranker.h"

#include <dirent.h>
#include <math.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "embed/embed.h"

/*
 * Which model it is may change while chats use it. Each of them holds the model that it began with,
 * and who gives it back last closes it. So a load waits for no chat, and no chat for a load: the
 * lock is held to look and to swap, never to read files or to score.
 */

enum { RETRY_US = 10 * 1000 * 1000, WHY_MAX = 400, LISTED_MAX = 100 };

struct loaded {
    void *model;
    atomic_int holders; /* the reranker, and who scores */
    char name[MODEL_NAME_MAX + 1];
};

struct reranker {
    struct arena arena; /* of folder */
    str folder;
    pthread_mutex_t loading;         /* one load at a time */
    atomic_int_least64_t retry_us;   /* earliest next try of failed */
    pthread_mutex_t lock;            /* of the members below */
    struct loaded *now;              /* NULL: none is loaded */
    char failed[MODEL_NAME_MAX + 1]; /* what could not be loaded, or "" */
    char why[WHY_MAX];
};

static void give_back(struct loaded *l)
{
    if (!l || atomic_fetch_sub(&l->holders, 1) > 1)
        return;
    reranking_kind->close(l->model);
    free(l);
}

struct reranker *reranker_new(str folder)
{
    struct reranker *r = heap_alloc(sizeof *r);
    r->folder = str_dup(&r->arena, folder);
    pthread_mutex_init(&r->loading, NULL);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void reranker_free(struct reranker *r)
{
    if (!r)
        return;
    give_back(r->now);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->loading);
    arena_free(&r->arena);
    free(r);
}

/* --- loading --- */

static enum status open_model(struct ctx *ctx, str folder, str name, void **out)
{
    str path;
    TRY(model_place(ctx, folder, name, &path));
    if (!reranking_kind)
        return fail(ctx, UNSUPPORTED, "this program was built without reranking models");
    return reranking_kind->open(ctx, path, out);
}

static struct loaded *loaded_of(str name, void *model)
{
    struct loaded *l = heap_alloc(sizeof *l);
    l->model = model;
    l->holders = 1;
    snprintf(l->name, sizeof l->name, S_FMT, S_ARG(name));
    return l;
}

static void put_model(struct reranker *r, struct loaded *next)
{
    pthread_mutex_lock(&r->lock);
    struct loaded *old = r->now;
    r->now = next;
    r->failed[0] = 0;
    pthread_mutex_unlock(&r->lock);
    give_back(old);
}

/* The model before stays where it is: the settings may name it again. */
static void note_failure(struct reranker *r, str name, const char *why)
{
    bool is_new = !str_is(name, r->failed) || strncmp(r->why, why, WHY_MAX - 1) != 0;
    pthread_mutex_lock(&r->lock);
    snprintf(r->failed, sizeof r->failed, S_FMT, S_ARG(name));
    snprintf(r->why, sizeof r->why, "%s", why);
    pthread_mutex_unlock(&r->lock);
    r->retry_us = clock_mono_us() + RETRY_US;
    if (is_new)
        log_event(LOG_WARN, "reranker.failed", "model=\"" S_FMT "\" why=\"%s\"", S_ARG(name), why);
}

/* Frees the parsed vocabulary, which takes megabytes, when it is done. */
static enum status load_files(struct ctx *ctx, struct reranker *r, str name)
{
    void *model = NULL;
    int64_t began = clock_mono_us();
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    if (open_model(&own, r->folder, name, &model) != OK) {
        note_failure(r, name, own.why);
        return fail(ctx, UNSUPPORTED, "%s", own.why);
    }
    put_model(r, loaded_of(name, model));
    log_event(LOG_INFO, "reranker.loaded", "model=\"" S_FMT "\" ms=%lld", S_ARG(name),
              (long long)((clock_mono_us() - began) / 1000));
    return OK;
}

/* The thread that holds r->loading alone writes what r->lock guards; so it may read that without.
 */
enum status reranker_load(struct ctx *ctx, struct reranker *r, str name)
{
    HOLD(&r->loading);
    if (str_is(name, r->now ? r->now->name : ""))
        return OK;
    if (!name.n) {
        put_model(r, NULL);
        return OK;
    }
    if (str_is(name, r->failed) && clock_mono_us() < r->retry_us)
        return fail(ctx, UNSUPPORTED, "%s", r->why);
    return load_files(ctx, r, name);
}

void reranker_retry(struct reranker *r)
{
    r->retry_us = 0;
}

/* --- using it --- */

/* The model, to be given back; NULL and the reason when it is not there. */
static struct loaded *take_model(struct ctx *ctx, struct reranker *r, str name)
{
    HOLD(&r->lock);
    if (r->now && str_is(name, r->now->name)) {
        atomic_fetch_add(&r->now->holders, 1);
        return r->now;
    }
    (void)fail(ctx, UNSUPPORTED, "%s",
               str_is(name, r->failed) ? r->why : "the model is not loaded yet");
    return NULL;
}

enum status reranker_ready(struct ctx *ctx, struct reranker *r, str name)
{
    struct loaded *l = take_model(ctx, r, name);
    give_back(l);
    return l ? OK : UNSUPPORTED;
}

/* Time that ran out after the first texts is no failure: the best by recall came first. */
enum status reranker_score(struct ctx *ctx, struct reranker *r, str name, str question,
                           const str *texts, size_t n, double *scores)
{
    size_t done = 0;
    struct loaded *l = take_model(ctx, r, name);
    if (!l)
        return UNSUPPORTED;
    for (size_t i = 0; i < n; i++)
        scores[i] = NAN;
    enum status s = reranking_kind->score(ctx, l->model, question, texts, n, scores, &done);
    give_back(l);
    bool is_enough = s == TIMED_OUT && done && !ctx_is_cut(ctx);
    return is_enough && soft_if(ctx, s, TIMED_OUT) ? OK : s;
}

/* --- what there is --- */

ORDER(by_bytes, str, str_cmp(*x, *y));

void reranker_list(struct ctx *ctx, str folder, str **out, size_t *n)
{
    DIR *d = opendir(str_c(&ctx->arena, folder));
    *out = NEW_N(&ctx->arena, str, LISTED_MAX);
    *n = 0;
    if (!d)
        return;
    for (struct dirent *e; *n < LISTED_MAX && (e = readdir(d));) {
        str at = str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), e->d_name);
        if (e->d_name[0] != '.' && reranking_kind && reranking_kind->is_in(ctx, at))
            (*out)[(*n)++] = str_dup(&ctx->arena, str_of(e->d_name));
    }
    closedir(d);
    qsort(*out, *n, sizeof **out, by_bytes);
}

enum status reranker_check(struct ctx *ctx, str folder, str name)
{
    void *model = NULL;
    TRY(open_model(ctx, folder, name, &model));
    reranking_kind->close(model);
    return OK;
}
