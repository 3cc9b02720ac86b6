/* memory.c - looking after Osaurus's memory: its ten knobs, how it does, sync, tidying. */
#include "ext/dialects/osaurus/osaurus.h"
#include "surface/common/list_page.h"
#include "surface/common/settings_json.h"

/*
 * What Osaurus's clients ask about memory itself: ten settings under Osaurus's names
 * (/memory/config), how distilling and search are doing (/memory/status), and two things that
 * otherwise happen by themselves, now: distilling what waits (/memory/sync) and consolidating
 * (/memory/consolidate). /memory/log tells what the background did, in numbers and kinds, never
 * with the text of a conversation.
 */

static const char agent_help[] =
    "one of your agents; default: your own, or for an admin all agents of the user";

/* --- the ten settings --- */

/* Osaurus clamps a number to its range; the other dialects refuse it. */
#define KNOB(...)                                                                                  \
    {                                                                                              \
        WIRE(__VA_ARGS__), .clamps = true                                                          \
    }
static const struct field config_fields[] = {
    KNOB(BOOL, memory, "enabled"),
    KNOB(ENUM, embedding_backend, "embeddingBackend"),
    KNOB(STR, agent_embedding_model, "embeddingModel"),
    KNOB(ENUM, extraction_mode, "extractionMode"),
    KNOB(ENUM, gate_mode, "relevanceGateMode"),
    KNOB(INT, memory_budget, "memoryBudgetTokens"),
    KNOB(INT, summary_debounce_s, "summaryDebounceSeconds"),
    KNOB(INT, consolidation_hours, "consolidationIntervalHours"),
    KNOB(NUM, salience_floor, "salienceFloor"),
    KNOB(INT, episode_days, "episodeRetentionDays"),
    {0},
};

static HANDLER(show_config)
{
    return reply_fields(out, config_fields, engine_runtime(app->engine));
}

static HANDLER(change_config)
{
    TRY(change_settings(ctx, app, config_fields, in->json));
    return show_config(ctx, app, in, out);
}

/* --- how it does --- */

SHAPE(agent_in, (AS_STR, agent, "agent_id", .max = SPACE_NAME_MAX, .help = agent_help));

/* A signal is a turn that waits to be distilled; a session is dead after too many failures and
 * waits for a sync. */
SHAPE(pending_out, (INT, signals, .help = "turns waiting to be distilled"),
      (INT, sessions, .help = "conversations of these turns"),
      (INT, dead, .help = "conversations that failed too often; POST /memory/sync retries them"),
      (TIME, oldest, .help = "time of the oldest waiting turn; null: none"),
      (STR, error, .empty = EMPTY_NULL, .help = "last error of a conversation"));

SHAPE(counts_out, (INT, agents), (INT, pinned, .help = "facts in force"), (INT, episodes),
      (INT, sessions, .help = "conversations"),
      (INT, turns, .help = "messages, of the user and of the assistant"));

static FIELDS_OF(consolidate_report, tidied_out,
                 (AS_TIME, began, "at", .help = "null: not run yet"),
                 (AS_INT, took_ms, "duration_ms"), (INT, looked_at, .help = "facts and episodes"),
                 (INT, merged, .help = "duplicate episodes merged"),
                 (INT, promoted, .help = "facts promoted because conversations return to them"),
                 (INT, evicted, .help = "unused facts that were archived"),
                 (INT, pruned, .help = "episodes deleted after their retention"));

/* Two ways to search: by words, which always work unless the index is broken, and by vectors, which
 * need a source and a store. */
SHAPE(tiers_out, (BOOL, words, .help = "whether keyword search works"),
      (BOOL, vectors, .help = "whether vector search works"),
      (STR, backend, .help = "sqlite-vec, qdrant or none"),
      (STR, model, .empty = EMPTY_NULL, .help = "embedding model"), (AS_INT, rows, "vector_rows"),
      (AS_INT, waiting, "vectors_waiting"), (AS_INT, failed, "vectors_failed"),
      (STR, reason, .empty = EMPTY_NULL, .help = "what does not work, and why"));

struct processing_out {
    struct distil_status of;
    int64_t average_ms, bytes;
};
static FIELDS(processing_out, (AS_INT, of.day.calls, "calls"),
              (AS_INT, of.day.failures, "failures"), (AS_INT, of.day.tokens_in, "input_tokens"),
              (AS_INT, of.day.tokens_out, "output_tokens"),
              (AS_INT, average_ms, "average_duration_ms"), (AS_INT, of.hour_tokens, "hour_tokens"),
              (AS_INT, of.hour_budget, "hour_budget"), (AS_INT, bytes, "database_bytes"));

SHAPE(
    status_out, (BOOL, enabled, .help = "whether memory is on"),
    (STR, core_model, .empty = EMPTY_NULL, .help = "null: not configured, so turns wait"),
    (AS_BOOL, distils, "distilling", .help = "whether due conversations are distilled"),
    (STR, reason, .empty = EMPTY_NULL, .help = "why distilling is off, or the last error"),
    (OBJECT, pending, struct pending_out, .inside = pending_out_fields),
    (OBJECT, counts, struct counts_out, .inside = counts_out_fields),
    (OBJECT, consolidation, struct consolidate_report, .inside = tidied_out_fields,
     .help = "the last consolidation for your user"),
    (OBJECT, search, struct tiers_out, .inside = tiers_out_fields),
    (JSON, processing, .empty = EMPTY_NULL,
     .help = "for admins, of the whole server: calls, failures, input_tokens, output_tokens and "
             "average_duration_ms of the core model in 24 hours, hour_tokens of hour_budget (0: no "
             "limit), database_bytes; null for others"));

static enum status gather_agents(struct ctx *ctx, struct app *app, const struct pool_sum *v,
                                 size_t n, struct status_out *out)
{
    struct pending_out *p = &out->pending;
    out->counts.agents = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        struct distil_status s;
        out->counts.pinned += v[i].facts;
        out->counts.episodes += v[i].episodes;
        out->counts.sessions += v[i].pool.sessions;
        out->counts.turns += v[i].pool.messages;
        if (!v[i].signals)
            continue;
        TRY(engine_distil_status(ctx, app->engine, &v[i].pool.pool, &s));
        p->signals += s.signals.signals;
        p->sessions += s.signals.sessions;
        p->dead += s.signals.dead;
        p->error = s.signals.error.n ? s.signals.error : p->error;
        if (s.signals.oldest && (!p->oldest || s.signals.oldest < p->oldest))
            p->oldest = s.signals.oldest;
    }
    return OK;
}

static enum status add_processing(struct ctx *ctx, struct app *app, const struct distil_status *s,
                                  struct status_out *out)
{
    struct engine_stats stats;
    TRY(engine_stats(ctx, app->engine, &stats));
    struct processing_out shape = {*s, s->day.calls ? s->day.took_ms / s->day.calls : 0,
                                   stats.store.bytes};
    out->processing = json_object_of(ctx, processing_out_fields, &shape);
    return OK;
}

/* The first reason that explains why vectors do not work: the source of embeddings before the store
 * of vectors. */
static enum status add_tiers(struct ctx *ctx, struct app *app, struct pool_ref pool,
                             struct tiers_out *out)
{
    struct engine_status s;
    TRY(engine_status(ctx, app->engine, pool, false, &s));
    bool is_used = engine_runtime(app->engine)->embedding_backend != BACKEND_NONE;
    str reason = s.embedding.reason.n ? s.embedding.reason : s.vectors.reason;
    *out = (struct tiers_out){
        .words = s.words_ok,
        .vectors = is_used && s.embedding.available && s.vectors.available,
        .backend = is_used ? str_of(s.vectors.backend) : S("none"),
        .model = s.embedding.model,
        .rows = s.vectors.rows,
        .waiting = s.vectors.waiting,
        .failed = s.vectors.failed,
        .reason = is_used ? reason : S("embeddingBackend is none"),
    };
    return OK;
}

/* Without a name all agents; a name that nothing was kept under is an agent with counts of 0. */
static enum status agents_in(struct ctx *ctx, struct app *app, const struct request *in,
                             struct pool_ref pool, struct pool_sum **out, size_t *n)
{
    struct pool_sum *v = NEW(&ctx->arena, struct pool_sum);
    if (!pool.space.n)
        return agents_of(ctx, app, in, out, n);
    enum status s = engine_agent(ctx, app->engine, pool, v);
    *out = v;
    *n = s == OK;
    return soft_or(ctx, s, NOT_FOUND);
}

/* One answer from several sources, asked one after the other: the numbers may be of slightly
 * different moments. */
static HANDLER(show_status)
{
    const struct agent_in *a = in->in;
    struct status_out shape = {.enabled = engine_runtime(app->engine)->memory};
    struct pool_ref pool;
    struct pool_sum *v;
    size_t n;
    struct distil_status s;
    TRY(agent_pool(ctx, app, in, a->agent, &pool));
    TRY(agents_in(ctx, app, in, pool, &v, &n));
    TRY(gather_agents(ctx, app, v, n, &shape));
    TRY(engine_distil_status(ctx, app->engine, &pool, &s));
    shape.core_model = s.core_model;
    shape.distils = s.available;
    shape.reason = s.reason.n ? s.reason : shape.pending.error;
    /* NOT_FOUND means that none has run yet: all members are 0 or null then. */
    TRY(soft_or(ctx, engine_consolidated(ctx, app->engine, pool.user, &shape.consolidation),
                NOT_FOUND));
    TRY(add_tiers(ctx, app, pool, &shape.search));
    if (in->who.is_admin && !in->who.is_person) /* counts of all users */
        TRY(add_processing(ctx, app, &s, &shape));
    return reply_fields(out, status_out_fields, &shape);
}

/* --- sync --- */

SHAPE(sync_out, (STR, status, .help = "ok"),
      (INT, sessions, .help = "conversations that are due now"),
      (AS_BOOL, distils, "distilling",
       .help = "whether they are distilled in the background; false: they wait"),
      (STR, reason, .empty = EMPTY_NULL, .help = "why they wait"));

static HANDLER(sync_now)
{
    const struct agent_in *a = in->in;
    struct pool_ref pool;
    struct distil_status s;
    struct sync_out shape = {.status = S("ok")};
    struct job_info job;
    TRY(agent_pool(ctx, app, in, a->agent, &pool));
    TRY(needs_memory(ctx, app));
    TRY(engine_sync(ctx, app->engine, pool, &shape.sessions));
    TRY(engine_distil_status(ctx, app->engine, &pool, &s));
    /* A job watches them, unless one does already. */
    if (s.available && shape.sessions)
        soft(ctx, engine_begin_job(ctx, app->engine,
                                   &(struct job_ask){.kind = JOB_DISTIL, .pool = pool}, &job));
    shape.distils = s.available;
    shape.reason = s.available ? S("") : s.reason;
    return reply_fields(out, sync_out_fields, &shape);
}

/* --- consolidation --- */

SHAPE(consolidate_in, (AS_STR, agent, "agent_id", .max = SPACE_NAME_MAX, .help = agent_help),
      (BOOL, dry_run, .help = "report what would change without changing it"));

static FIELDS_OF(consolidate_line, line, (STR, what, .help = "merge, promote, evict or prune"),
                 (STR, id, .help = "of the memory"), (STR, text), (STR, why));

SHAPE(consolidate_out, (BOOL, dry_run),
      (OBJECT, report, struct consolidate_report, .inside = tidied_out_fields),
      (JSON, changes, .inside = line_fields, .help = "the first 200"));

static HANDLER(consolidate_now)
{
    const struct consolidate_in *c = in->in;
    struct pool_ref pool;
    struct consolidate_out shape;
    TRY(agent_pool(ctx, app, in, c->agent, &pool));
    TRY(needs_memory(ctx, app));
    TRY(engine_consolidate(ctx, app->engine, pool, c->dry_run, &shape.report));
    const struct consolidate_report *r = &shape.report;
    shape.dry_run = r->dry_run;
    return list_reply(ctx, consolidate_out_fields, &shape, r->lines, r->n, sizeof *r->lines, out);
}

/* --- the log --- */

SHAPE(log_in, (AS_STR, agent, "agent_id", .max = SPACE_NAME_MAX, .help = agent_help),
      (AS_STR, kind, "task_type", .max = 64,
       .help = "only distil, consolidate, gate, rewrite, summary, profile, dedup, compact, reindex "
               "or prune"),
      (INT, limit, .otherwise = 20, .min = 1, .max = 500, .help = "most rows"));

static FIELDS_OF(work, work_out, (AS_STR, pool.space, "agent_id"), (AS_STR, kind, "task_type"),
                 (STR, status, .help = "success, skipped, empty, error or dead"),
                 (STR, details, .help = "never the text of a conversation"),
                 (STR, model, .empty = EMPTY_NULL, .help = "null: no model was called"),
                 (AS_INT, tokens_in, "input_tokens"), (AS_INT, tokens_out, "output_tokens"),
                 (AS_INT, took_ms, "duration_ms"), (AS_TIME, created, "created_at"));

static FIELDS_OF(list_page, log_out,
                 LIST_ITEMS_AS("log", work_out_fields, "newest first, of the last 30 days"));

static HANDLER(work_log)
{
    const struct log_in *l = in->in;
    struct pool_ref pool;
    struct work *v;
    size_t n;
    TRY(agent_pool(ctx, app, in, l->agent, &pool));
    TRY(engine_work_log(ctx, app->engine, &pool, l->kind, (size_t)l->limit, &v, &n));
    return list_reply(ctx, log_out_fields, &(struct list_page){0}, v, n, sizeof *v, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/memory/config", show_config), .access = ACCESS_ADMIN, ANSWERS(config),
     .help = "the current settings"},
    {ROUTE("PUT", "/memory/config", change_config), READS_AS(config, settings), .strict = true,
     .access = ACCESS_OPERATOR, ANSWERS(config),
     .help = "change settings; numbers are clamped to their range; takes effect at once"},
    {ROUTE("GET", "/memory/status", show_status), READS(agent_in), .strict = true,
     ANSWERS(status_out), .help = "state of distillation, memory and consolidation"},
    {ROUTE("POST", "/memory/sync", sync_now), READS(agent_in), .strict = true, ANSWERS(sync_out),
     .help = "distil waiting conversations now and retry failed ones"},
    {ROUTE("POST", "/memory/consolidate", consolidate_now), READS(consolidate_in), .strict = true,
     ANSWERS(consolidate_out), .help = "run consolidation now"},
    {ROUTE("GET", "/memory/log", work_log), READS(log_in), .strict = true, ANSWERS(log_out),
     .help = "log of background work"},
    {0},
};

const struct surface surface_osaurus_memory = {"osaurus",          routes,
                                               word_osaurus_error, auth_request,
                                               SURFACE_SETTLES,    .errors = &osaurus_errors};
