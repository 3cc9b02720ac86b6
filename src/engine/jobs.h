/* jobs.h - a part of the engine's face: long work that somebody asked for, and can watch. */
#pragma once

#include "core/backup_file.h"
#include "core/memory.h"

struct engine;

enum job_kind {
    JOB_REINDEX,
    JOB_CONSOLIDATE,
    JOB_COMPACT,
    JOB_DISTIL,
    JOB_PRUNE,
    JOB_BACKUP,
    JOB_VERIFY_BACKUP
};
enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED };
/* NULL-ended, in the order of the enums. */
extern const char *const job_kinds[];
extern const char *const job_states[];

/* Whether a kind is about the whole server, so that only an operator may ask for it. */
bool job_is_servers(enum job_kind kind);

struct job_ask {
    enum job_kind kind;
    struct pool_ref pool;    /* space "": each space of the user. Not read for the server's jobs */
    bool dry_run;            /* consolidate and compact; BAD_INPUT for the others */
    bool all;                /* reindex: makes every vector again, not only missing ones */
    int64_t older_than_days; /* compact: 1 to 365; 0: 30 */
    str name;                /* verify_backup: of a file in backup_dir */
};

struct job_info {
    str id;
    struct job_ask ask;
    enum job_state state;
    int64_t done, total;             /* parts; total 0: not known yet */
    int64_t created, started, ended; /* unix ms; 0: not yet */
    str result;                      /* a JSON object, or "" */
    str error;                       /* why it failed, or "" */
};

/* Jobs run one after the other in threads of their own and are kept until the process ends, the
 * last JOBS_KEPT of those that have ended. Each change of one is an EVENT_JOB_CHANGED. CONFLICT:
 * one of this kind is queued or running for one of these spaces. TOO_BUSY: too many are queued. */
enum { JOBS_KEPT = 100, JOB_THREADS = 2, JOBS_QUEUED_MAX = 32 };
MUST_USE enum status engine_begin_job(struct ctx *ctx, struct engine *e, const struct job_ask *ask,
                                      struct job_info *out);
/* Of a user, newest first; with_servers: also those of the server. */
void engine_jobs(struct ctx *ctx, struct engine *e, str user, bool with_servers,
                 struct job_info **out, size_t *n);
/* Asks a job to end; it does so when it next looks, and keeps what it has done. CONFLICT when it
 * has ended, NOT_FOUND without a note. */
MUST_USE enum status engine_cancel_job(struct ctx *ctx, struct engine *e, str id,
                                       struct job_info *out);

/* A backup into backup_dir, which is set, made when it is missing. */
MUST_USE enum status engine_backup(struct ctx *ctx, struct engine *e, struct backup_file *out);
