/* jobs.c - /v1/jobs: long work that is asked for, watched and cancelled. */
#include "base/clock.h"

#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * A job of a user's spaces is the affair of those who reach these spaces; one of the whole server,
 * that of operators. A job that a caller may not see is answered like one that does not exist.
 */

SHAPE(
    job_in,
    (ENUM_OF, kind, enum job_kind, .required = true, .one_of = job_kinds,
     .help = "reindex: make vectors; consolidate: merge, promote and close memories; compact: put "
             "summaries in the place of old memories; distil: conversations that wait; prune: "
             "remove old receipts and expired memories; backup: copy the database into backup_dir; "
             "verify_backup: read each page of such a copy. reindex, prune and those of backups "
             "are of the whole server and for operators"),
    (BOOL, dry_run, .help = "consolidate, compact: report what would change, without changing it"),
    (BOOL, all, .help = "reindex: every vector again, not only missing ones"),
    (INT, older_than_days, .min = 1, .max = 365,
     .help = "compact: only memories of at least this age; default 30"),
    (STR, name, .max = 100, .help = "verify_backup: as GET /v1/backups lists it"));

struct job_out {
    struct job_info j;
    str kind, state;
    bool is_servers;
    int64_t took_ms;
};
static FIELDS(job_out, (AS_STR, j.id, "id"), (STR, kind),
              (AS_STR, j.ask.pool.space, "space", .empty = EMPTY_NULL,
               .help = "null: every space of the user"),
              (AS_BOOL, is_servers, "server", .help = "it is about the whole server"),
              (AS_BOOL, j.ask.dry_run, "dry_run"),
              (STR, state, .help = "queued, running, done, failed or cancelled"),
              (AS_INT, j.done, "done", .help = "steps that are done"),
              (AS_INT, j.total, "total", .help = "steps in all; 0 until it is known"),
              (AS_TIME, j.created, "created"), (AS_TIME, j.started, "started"),
              (AS_TIME, j.ended, "ended"), (INT, took_ms, .help = "until it ended, or until now"),
              (AS_RAW, j.result, "result", .help = "what it did; null until it has ended"),
              (AS_STR, j.error, "error", .empty = EMPTY_NULL, .help = "why it failed"));

static struct job_out shape_of(const struct job_info *j)
{
    int64_t until = j->ended ? j->ended : clock_ms();
    return (struct job_out){.j = *j,
                            .kind = str_of(job_kinds[j->ask.kind]),
                            .state = str_of(job_states[j->state]),
                            .is_servers = job_is_servers(j->ask.kind),
                            .took_ms = j->started ? until - j->started : 0};
}

/* --- what the caller may see --- */

/* A job of every space shows ids of each, so it is for those who reach them all. */
static enum status jobs_seen(struct ctx *ctx, struct app *app, const struct identity *who,
                             struct job_info **out, size_t *n)
{
    struct pool_ref everywhere;
    struct pools pools;
    struct identity unnamed = *who;
    size_t have;
    unnamed.space_from = NULL;
    TRY(auth_pools(ctx, app, &unnamed, &pools));
    TRY(auth_spaces(ctx, app, &unnamed, &everywhere));
    engine_jobs(ctx, app->engine, who->pool.user, auth_has(who, RUNS_SERVER), out, &have);
    *n = 0;
    for (size_t i = 0; i < have; i++) {
        const struct job_info *j = &(*out)[i];
        str space = j->ask.pool.space;
        if (job_is_servers(j->ask.kind) || !everywhere.space.n ||
            SOME(k, pools.n, space.n && str_eq(space, pools.v[k].space)))
            (*out)[(*n)++] = *j;
    }
    return OK;
}

static enum status find_job(struct ctx *ctx, struct app *app, const struct request *in,
                            struct job_info *out)
{
    struct job_info *v;
    size_t n;
    TRY(jobs_seen(ctx, app, &in->who, &v, &n));
    for (size_t i = 0; i < n; i++) {
        if (str_eq(v[i].id, in->params[0])) {
            *out = v[i];
            return OK;
        }
    }
    return fail(ctx, NOT_FOUND, "there is no job with this id; the list ends with the process");
}

/* Without a space that is named, every space in one job for those who reach them all. */
static HANDLER(job_begin)
{
    const struct job_in *a = in->in;
    struct job_ask ask = {.kind = a->kind,
                          .dry_run = a->dry_run,
                          .all = a->all,
                          .name = a->name,
                          .older_than_days = a->older_than_days};
    struct job_info made;
    if (job_is_servers(a->kind)) {
        TRY(auth_may(ctx, ACCESS_OPERATOR, &in->who));
        TRY(identity_may(ctx, &in->who, MAY_MANAGE));
    }
    TRY(auth_spaces(ctx, app, &in->who, &ask.pool));
    TRY(engine_begin_job(ctx, app->engine, &ask, &made));
    struct job_out shape = shape_of(&made);
    out->code = 202;
    reply_header(out, "Location", str_printf(&ctx->arena, "/v1/jobs/" S_FMT, S_ARG(made.id)));
    return reply_fields(out, job_out_fields, &shape);
}

LIST_PAGE(jobs_out, job_out_fields, "newest first");

/* At most JOBS_KEPT and those that run: one page. */
static HANDLER(job_list)
{
    struct job_info *v;
    size_t n;
    TRY(jobs_seen(ctx, app, &in->who, &v, &n));
    struct job_out *items = NEW_N(&ctx->arena, struct job_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = shape_of(&v[i]);
    struct list_page page = {.total = (int64_t)n};
    return list_reply(ctx, jobs_out_fields, &page, items, n, sizeof *items, out);
}

static HANDLER(job_get)
{
    struct job_info j;
    TRY(find_job(ctx, app, in, &j));
    struct job_out shape = shape_of(&j);
    return reply_fields(out, job_out_fields, &shape);
}

/* 202: the job ends when it next looks. */
static HANDLER(job_cancel)
{
    struct job_info j;
    TRY(find_job(ctx, app, in, &j));
    TRY(engine_cancel_job(ctx, app->engine, j.id, &j));
    struct job_out shape = shape_of(&j);
    out->code = 202;
    return reply_fields(out, job_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/jobs", job_begin), .words.code = 202, READS(job_in), ANSWERS(job_out),
     .help = "begin long work; answers at once with its id"},
    {ROUTE("GET", "/v1/jobs", job_list), ANSWERS(jobs_out), .help = "jobs of this process"},
    {ROUTE("GET", "/v1/jobs/{id}", job_get), ANSWERS(job_out),
     .help = "one job: how far it is, what it did"},
    {ROUTE("DELETE", "/v1/jobs/{id}", job_cancel), .words.code = 202, ANSWERS(job_out),
     .help = "cancel a job"},
    {0},
};

const struct surface surface_jobs = STRICT_SURFACE("jobs", routes);
