/* registry.h - the jobs of this process: queued, running and ended. */
#pragma once

#include "engine/jobs.h"
#include "engine/state/state.h"

struct entry;

/* What a kind works with. Its ctx is cut when the job is cancelled. */
struct job_run {
    struct ctx *ctx;
    struct engine *e;
    struct job_ask ask;
    struct buf result; /* a JSON object, when it goes well */
    struct entry *entry;
};
typedef enum status job_work(struct job_run *run);

struct registry *registry_new(struct engine *e);
/* Cancels what runs and waits for it. NULL is fine. */
void registry_free(struct registry *r);
MUST_USE enum status registry_begin(struct ctx *ctx, struct registry *r, const struct job_ask *ask,
                                    job_work *work, struct job_info *out);
/* How far a job is, for those who look. */
void job_progress(struct job_run *run, int64_t done, int64_t total);
