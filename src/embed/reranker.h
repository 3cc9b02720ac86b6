/* reranker.h - the reranking model of this machine: loaded by one thread, used by any. */
#pragma once

#include "base/ctx.h"

struct reranker;

/* How files of a folder become a model that reads a question and a passage together. */
struct reranking_kind {
    /* Whether the folder's config.json is that of such a model; no other file is read. */
    bool (*is_in)(struct ctx *ctx, str folder);
    MUST_USE enum status (*open)(struct ctx *ctx, str folder, void **out);
    void (*close)(void *model);
    /*
     * scores[i] is the model's number for texts[i], greater for a better answer. The texts are read
     * in their order, and *done is how many have a score: all, or after a failure those before it.
     * TIMED_OUT at the deadline of the ctx or when it is cut. Thread-safe.
     */
    MUST_USE enum status (*score)(struct ctx *ctx, const void *model, str question,
                                  const str *texts, size_t n, double *scores, size_t *done);
};

/* Of ext/models; NULL in a program without it. */
extern const struct reranking_kind *const reranking_kind;

/* folder: that of all models, as model_folder gives it. Nothing is loaded. */
struct reranker *reranker_new(str folder);
void reranker_free(struct reranker *r);

/* Makes NAME the model, which takes up to a second unless it is loaded already; "" drops what is
 * loaded. A failure is kept for 10 seconds, so that a broken file is not read again and again. */
MUST_USE enum status reranker_load(struct ctx *ctx, struct reranker *r, str name);
/* The next load tries at once: its user may just have put the files in place. */
void reranker_retry(struct reranker *r);

/* OK when it is loaded; else UNSUPPORTED and why not. Never waits for a load. */
MUST_USE enum status reranker_ready(struct ctx *ctx, struct reranker *r, str name);

/*
 * scores[i] belongs to texts[i]: greater is better, of any range. The texts are read in their order
 * for as long as the ctx has time; later ones are NAN. UNSUPPORTED when it is not loaded; TIMED_OUT
 * when there was no time for the first text or the ctx is cut.
 */
MUST_USE enum status reranker_score(struct ctx *ctx, struct reranker *r, str name, str question,
                                    const str *texts, size_t n, double *scores);

/* The models in the folder, by name; their weights may be missing or broken. */
void reranker_list(struct ctx *ctx, str folder, str **out, size_t *n);
/* Whether the model there can be loaded, and why not. */
MUST_USE enum status reranker_check(struct ctx *ctx, str folder, str name);
