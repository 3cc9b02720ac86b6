/* job_kinds.c - the function of each kind of job. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/clock.h"
#include "engine/compact/compact.h"
#include "engine/distil/consolidate.h"
#include "engine/jobs/registry.h"

/*
 * A kind of a user's spaces takes one space after the other, which are the parts of its progress.
 * reindex and distil only mark what is to be done: the background does it, as after every write,
 * and the job watches how much is left. Cancelled, they stop watching; what was marked is done all
 * the same.
 */

enum {
    LOOK_MS = 200,
    DISTIL_US = 30 * 60 * 1000000 /* the longest that a distil job watches */
};

/* Until the next look; false when the job is cancelled. */
static bool wait_a_little(struct job_run *run)
{
    usleep(LOOK_MS * 1000);
    return ctx_has_time(run->ctx);
}

/* --- consolidate --- */

static FIELDS_OF(consolidate_line, change, (STR, what), (STR, id), (STR, why));

void consolidate_write(struct buf *out, const struct consolidate_report *r,
                       const struct field *report_fields, const struct field *line_fields)
{
    struct json_out w = json_to(out);
    json_open(&w, '{');
    json_key(&w, "report");
    fields_write(&w, report_fields, r);
    json_member_open(&w, "changes", '[');
    for (size_t i = 0; i < r->n; i++)
        fields_write(&w, line_fields, &r->lines[i]);
    json_close(&w, ']');
    json_close(&w, '}');
}

static enum status work_consolidate(struct job_run *run)
{
    struct pool_info *pools;
    struct consolidate_report all = {0};
    size_t n, cap = 0;
    enum status s = OK;
    TRY(run_pools(run->ctx, run->e, run->ask.pool, &pools, &n));
    for (size_t i = 0; i < n && s == OK && ctx_has_time(run->ctx); i++) {
        struct consolidate_report r = {0};
        job_progress(run, (int64_t)i, (int64_t)n);
        s = engine_consolidate(run->ctx, run->e, pools[i].pool, run->ask.dry_run, &r);
        report_add(run->ctx, &all, &cap, &r);
    }
    consolidate_write(&run->result, &all, consolidate_report_fields, change_fields);
    return s;
}

/* --- compact --- */

SHAPE(compacted, (INT, considered), (INT, replaced), (AS_INT, before, "tokens_before"),
      (AS_INT, after, "tokens_after"), (INT, summaries), (BOOL, is_cut));

static enum status work_compact(struct job_run *run)
{
    struct pool_info *pools;
    struct compacted all = {0};
    size_t n;
    enum status s = OK;
    TRY(run_pools(run->ctx, run->e, run->ask.pool, &pools, &n));
    for (size_t i = 0; i < n && s == OK && ctx_has_time(run->ctx); i++) {
        const struct condense_in in = {.pool = pools[i].pool,
                                       .older_than_days = run->ask.older_than_days ?: 30,
                                       .dry_run = run->ask.dry_run};
        struct condense_out r = {0};
        job_progress(run, (int64_t)i, (int64_t)n);
        s = engine_condense(run->ctx, run->e, &in, &r);
        all.considered += r.considered;
        all.replaced += r.replaced;
        all.before += r.before;
        all.after += r.after;
        all.summaries += r.n_summaries;
        all.is_cut |= r.is_cut;
    }
    struct json_out w = json_to(&run->result);
    fields_write(&w, compacted_fields, &all);
    return s;
}

/* --- distil --- */

SHAPE(distilled, (INT, sessions), (INT, waiting), (STR, reason, .empty = EMPTY_NULL));

/* What failed is tried again later, without the job. Conversations that come meanwhile wait for
 * their own time, so it ends by the clock at the latest. */
static enum status work_distil(struct job_run *run)
{
    struct distilled d = {0};
    int64_t until_us = clock_mono_us() + DISTIL_US;
    TRY(engine_sync(run->ctx, run->e, run->ask.pool, &d.sessions));
    for (;;) {
        CLEANUP(ctx_free) struct ctx look = ctx_child(run->ctx, 0);
        struct distil_status now;
        TRY(ctx_pass(run->ctx, &look, engine_distil_status(&look, run->e, &run->ask.pool, &now)));
        d.waiting = now.signals.sessions;
        d.reason = str_dup(&run->ctx->arena, now.reason);
        job_progress(run, d.sessions > d.waiting ? d.sessions - d.waiting : 0, d.sessions);
        if (d.waiting == now.signals.failed || !now.available || clock_mono_us() > until_us ||
            !wait_a_little(run))
            break;
    }
    struct json_out w = json_to(&run->result);
    fields_write(&w, distilled_fields, &d);
    return d.waiting && !ctx_is_cut(run->ctx)
               ? fail(run->ctx, UNSUPPORTED, "conversations still wait: " S_FMT,
                      S_ARG(d.reason.n ? d.reason : S("more have come")))
               : OK;
}

/* --- reindex --- */

SHAPE(reindexed, (INT, vectors), (INT, waiting), (INT, failed), (STR, source), (STR, model));

/* A source that fails is tried again by the background, so the job ends with its reason. */
static enum status watch_vectors(struct job_run *run, struct reindexed *out, str *reason)
{
    const struct pool_ref everyone = {.user = S(LOCAL_USER)};
    int64_t all = 0;
    do {
        CLEANUP(ctx_free) struct ctx look = ctx_child(run->ctx, 0);
        struct engine_status status;
        struct vector_stats now;
        TRY(ctx_pass(run->ctx, &look, engine_status(&look, run->e, everyone, false, &status)));
        TRY(ctx_pass(run->ctx, &look, store_vector_stats(&look, run->e->store, NULL, &now)));
        all = now.waiting > all ? now.waiting : all;
        *out =
            (struct reindexed){now.rows, now.waiting, now.failed, str_of(status.embedding_source),
                               str_dup(&run->ctx->arena, status.embedding.model)};
        *reason = str_dup(&run->ctx->arena, status.embedding.reason);
        job_progress(run, all - now.waiting, all);
    } while (out->waiting && !reason->n && out->source.n && wait_a_little(run));
    return OK;
}

static enum status work_reindex(struct job_run *run)
{
    struct reindexed r;
    str reason = S("");
    int64_t waiting;
    TRY(engine_reindex(run->ctx, run->e, run->ask.all, &waiting));
    TRY(watch_vectors(run, &r, &reason));
    struct json_out w = json_to(&run->result);
    fields_write(&w, reindexed_fields, &r);
    if (!r.source.n)
        return fail(run->ctx, UNSUPPORTED, "no embedding source is usable: " S_FMT, S_ARG(reason));
    return r.waiting && reason.n
               ? fail(run->ctx, UPSTREAM, "the embedding source failed: " S_FMT, S_ARG(reason))
               : OK;
}

/* --- prune --- */

static enum status work_prune(struct job_run *run)
{
    int64_t now = clock_ms(), removed;
    TRY(engine_prune(run->ctx, run->e, now - run->e->settings->receipt_days * DAY_MS, now,
                     &removed));
    buf_printf(&run->result, "{\"removed\":%lld}", (long long)removed);
    return OK;
}

/* --- backups --- */

static str backup_path(struct ctx *ctx, const struct engine *e, str name)
{
    return str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(e->settings->backup_dir), S_ARG(name));
}

enum status engine_backup(struct ctx *ctx, struct engine *e, struct backup_file *out)
{
    str folder = e->settings->backup_dir;
    struct stat st;
    if (mkdir(str_c(&ctx->arena, folder), 0700) != 0 && errno != EEXIST)
        return fail(ctx, STORAGE, "backup_dir: cannot create the folder '" S_FMT "': %s",
                    S_ARG(folder), strerror(errno));
    *out = (struct backup_file){.at = clock_ms()};
    out->name = backup_name(&ctx->arena, BACKUP_STEM, out->at, 0);
    str path = backup_path(ctx, e, out->name);
    TRY(store_backup(ctx, e->store, path));
    out->bytes = stat(path.p, &st) == 0 ? st.st_size : 0;
    backups_drop_old(ctx, folder, e->settings->backup_keep);
    return OK;
}

static FIELDS(backup_file, (STR, name), (INT, bytes));

static enum status work_backup(struct job_run *run)
{
    struct backup_file made;
    TRY(engine_backup(run->ctx, run->e, &made));
    audit_note(run->ctx, "backup.made", S(""), "by=job");
    struct json_out w = json_to(&run->result);
    fields_write(&w, backup_file_fields, &made);
    return OK;
}

static enum status work_verify_backup(struct job_run *run)
{
    struct backup_file seen = {.name = run->ask.name};
    struct stat st;
    str path = backup_path(run->ctx, run->e, seen.name);
    if (stat(path.p, &st) != 0)
        return fail(run->ctx, NOT_FOUND, "there is no backup '" S_FMT "'", S_ARG(path));
    TRY(store_backup_check(run->ctx, run->e->store, path));
    seen.bytes = st.st_size;
    struct json_out w = json_to(&run->result);
    fields_write(&w, backup_file_fields, &seen);
    return OK;
}

/* --- the face --- */

static const struct {
    job_work *work;
    bool has_dry_run;
} kinds[] = {
    [JOB_REINDEX] = {work_reindex},
    [JOB_CONSOLIDATE] = {work_consolidate, true},
    [JOB_COMPACT] = {work_compact, true},
    [JOB_DISTIL] = {work_distil},
    [JOB_PRUNE] = {work_prune},
    [JOB_BACKUP] = {work_backup},
    [JOB_VERIFY_BACKUP] = {work_verify_backup},
};

/* A name that backup_name makes has no folder in it. */
static enum status check_backup(struct ctx *ctx, const struct engine *e, const struct job_ask *ask)
{
    struct backup_file file;
    bool verifies = ask->kind == JOB_VERIFY_BACKUP;
    if (ask->name.n && !verifies)
        return fail_field(ctx, "name", "must not be set but for the kind verify_backup");
    if ((verifies || ask->kind == JOB_BACKUP) && !e->settings->backup_dir.n)
        return fail(ctx, UNSUPPORTED, "backup_dir: is not set, so there is no folder of backups");
    if (verifies && !backup_name_read(BACKUP_STEM, ask->name, &file))
        return fail_field(ctx, "name", "must be that of a backup, as GET /v1/backups lists it");
    return OK;
}

enum status engine_begin_job(struct ctx *ctx, struct engine *e, const struct job_ask *ask,
                             struct job_info *out)
{
    assert(ask->kind < sizeof kinds / sizeof *kinds);
    if (ask->dry_run && !kinds[ask->kind].has_dry_run)
        return fail_field(ctx, "dry_run", "must not be set for the kind %s, which has none",
                          job_kinds[ask->kind]);
    if (ask->all && ask->kind != JOB_REINDEX)
        return fail_field(ctx, "all", "must not be set for the kind %s, but for reindex alone",
                          job_kinds[ask->kind]);
    if (ask->older_than_days && ask->kind != JOB_COMPACT)
        return fail_field(ctx, "older_than_days",
                          "must not be set for the kind %s, but for compact alone",
                          job_kinds[ask->kind]);
    TRY(check_backup(ctx, e, ask));
    return registry_begin(ctx, e->jobs, ask, kinds[ask->kind].work, out);
}
