/* osaurus_memory.c - looking after Osaurus's memory: its ten knobs, how it does, sync, tidying. */
#include <math.h>

#include "surface/osaurus.h"
#include "surface/shapes.h"

static const char agent_help[] =
    "one of your agents; without it your own, or for an admin all of its user's";

/* --- the ten knobs --- */

/*
 * As live_osaurus_fields has them, but without limits: Osaurus brings a number into its range,
 * where the other dialects refuse it. What is no such number or name is refused here, too.
 */
static const struct field config_in_fields[] = {
    {BOOL(struct live_osaurus, enabled), .help = "whether chats are given memory and kept"},
    {AS_STR(struct live_osaurus, embedding_backend, "embeddingBackend"), .help = "mlx or none"},
    {AS_STR(struct live_osaurus, embedding_model, "embeddingModel"),
     .help = "kept for Osaurus's clients"},
    {AS_STR(struct live_osaurus, extraction_mode, "extractionMode"),
     .help = "sessionEnd or manual"},
    {AS_STR(struct live_osaurus, gate_mode, "relevanceGateMode"), .help = "off, heuristic or llm"},
    {AS_INT(struct live_osaurus, budget_tokens, "memoryBudgetTokens"), .help = "100 to 4000"},
    {AS_INT(struct live_osaurus, debounce_s, "summaryDebounceSeconds"), .help = "10 to 3600"},
    {AS_INT(struct live_osaurus, consolidation_h, "consolidationIntervalHours"),
     .help = "1 to 168"},
    {AS_NUM(struct live_osaurus, salience_floor, "salienceFloor"), .help = "0 to 1"},
    {AS_INT(struct live_osaurus, episode_days, "episodeRetentionDays"),
     .help = "0 to 3650; 0: for ever"},
    {0},
};

static enum status config(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    (void)ctx, (void)in;
    reply_fields(out, live_osaurus_fields, &engine_live(app->engine)->osaurus);
    return OK;
}

static const struct field *knob(str name)
{
    for (const struct field *f = live_osaurus_fields; f->name; f++)
        if (str_is(name, f->name))
            return f;
    return NULL;
}

/* The same members, each number within its range. */
static enum status clamped(struct ctx *ctx, const struct json *object, struct json **out)
{
    struct buf b = buf_make(&ctx->arena, object->source.n + (64 << 10));
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (const struct json *m = object->first; m; m = m->next) {
        const struct field *f = knob(m->key);
        double v = json_num_or(m, 0);
        json_key(&w, f ? f->name : "");
        if (f && m->type == JSON_NUMBER && (v < f->min || v > f->max))
            json_num(&w, v < f->min ? f->min : f->max);
        else
            json_raw(&w, m->source);
    }
    json_close(&w, '}');
    return json_parse(ctx, buf_str(&b), out);
}

static enum status change_config(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    struct json *object;
    TRY(clamped(ctx, in->json, &object));
    TRY(engine_change_osaurus_settings(ctx, app->engine, object));
    return config(ctx, app, in, out);
}

/* --- how it does --- */

struct agent_in {
    str agent;
};
static const struct field agent_in_fields[] = {
    {AS_STR(struct agent_in, agent, "agent_id"), .max = AGENT_MAX, .help = agent_help},
    {0},
};

struct pending_out {
    int64_t signals, sessions, dead, oldest;
    str error;
};
static const struct field pending_out_fields[] = {
    {INT(struct pending_out, signals), .help = "turns that wait"},
    {INT(struct pending_out, sessions), .help = "conversations that they are of"},
    {INT(struct pending_out, dead), .help = "those that failed too often: POST /memory/sync"},
    {TIME(struct pending_out, oldest), .help = "null: none waits"},
    {STR(struct pending_out, error), .empty = EMPTY_NULL, .help = "why one was not distilled"},
    {0},
};

struct counts_out {
    int64_t agents, pinned, episodes, sessions, turns;
};
static const struct field counts_out_fields[] = {
    {INT(struct counts_out, agents)},
    {INT(struct counts_out, pinned), .help = "facts that are true"},
    {INT(struct counts_out, episodes)},
    {INT(struct counts_out, sessions), .help = "conversations"},
    {INT(struct counts_out, turns), .help = "messages, of the user and of the assistant"},
    {0},
};

struct tidied_out {
    int64_t began, took_ms, looked_at, merged, promoted, evicted, pruned;
};
static const struct field tidied_out_fields[] = {
    {AS_TIME(struct tidied_out, began, "at"), .help = "null: there was none yet"},
    {AS_INT(struct tidied_out, took_ms, "duration_ms")},
    {INT(struct tidied_out, looked_at), .help = "facts and episodes"},
    {INT(struct tidied_out, merged), .help = "episodes that said the same"},
    {INT(struct tidied_out, promoted), .help = "facts that conversations come back to"},
    {INT(struct tidied_out, evicted), .help = "facts closed, as nobody used them"},
    {INT(struct tidied_out, pruned), .help = "episodes older than the retention"},
    {0},
};

struct tiers_out {
    bool words, vectors;
    str backend, model, reason;
    int64_t rows, waiting, failed;
};
static const struct field tiers_out_fields[] = {
    {BOOL(struct tiers_out, words), .help = "whether words are searched"},
    {BOOL(struct tiers_out, vectors), .help = "whether vectors are"},
    {STR(struct tiers_out, backend), .help = "sqlite-vec, qdrant or none"},
    {STR(struct tiers_out, model), .empty = EMPTY_NULL, .help = "that makes them"},
    {AS_INT(struct tiers_out, rows, "vector_rows")},
    {AS_INT(struct tiers_out, waiting, "vectors_waiting")},
    {AS_INT(struct tiers_out, failed, "vectors_failed")},
    {STR(struct tiers_out, reason), .empty = EMPTY_NULL, .help = "why not all is well"},
    {0},
};

struct processing_out {
    int64_t calls, failures, tokens_in, tokens_out, average_ms, hour_tokens, hour_budget, bytes;
};
static const struct field processing_out_fields[] = {
    {INT(struct processing_out, calls)},
    {INT(struct processing_out, failures)},
    {AS_INT(struct processing_out, tokens_in, "input_tokens")},
    {AS_INT(struct processing_out, tokens_out, "output_tokens")},
    {AS_INT(struct processing_out, average_ms, "average_duration_ms")},
    {INT(struct processing_out, hour_tokens)},
    {INT(struct processing_out, hour_budget)},
    {AS_INT(struct processing_out, bytes, "database_bytes")},
    {0},
};

struct status_out {
    bool enabled, distils;
    str core_model, reason;
    struct pending_out pending;
    struct counts_out counts;
    struct tidied_out consolidation;
    struct tiers_out search;
    const struct json *processing;
};
#define PART(M, TABLE)                                                                             \
    FIELD_(struct status_out, M, struct TABLE, FIELD_OBJECT, #M), .inside = TABLE##_fields
static const struct field status_out_fields[] = {
    {BOOL(struct status_out, enabled), .help = "the switch"},
    {STR(struct status_out, core_model), .empty = EMPTY_NULL, .help = "null: turns wait for one"},
    {AS_BOOL(struct status_out, distils, "distilling"), .help = "whether what is due is distilled"},
    {STR(struct status_out, reason), .empty = EMPTY_NULL,
     .help = "why it is not, or what failed last"},
    {PART(pending, pending_out)},
    {PART(counts, counts_out)},
    {PART(consolidation, tidied_out), .help = "the last one of your user's"},
    {PART(search, tiers_out)},
    {JSON(struct status_out, processing), .empty = EMPTY_NULL,
     .help = "for admins, of the whole server: calls, failures, input_tokens, output_tokens and "
             "average_duration_ms of the core model in 24 hours, hour_tokens of hour_budget (0: no "
             "limit), database_bytes; null for others"},
    {0},
};

/* What waits in each, together. */
static enum status gather(struct ctx *ctx, struct app *app, const struct agent *v, size_t n,
                          struct status_out *out)
{
    struct pending_out *p = &out->pending;
    out->counts.agents = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        struct distil_status s;
        out->counts.pinned += v[i].pinned;
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
    struct processing_out shape = {
        .calls = s->day.calls,
        .failures = s->day.failures,
        .tokens_in = s->day.tokens_in,
        .tokens_out = s->day.tokens_out,
        .average_ms = s->day.calls ? s->day.took_ms / s->day.calls : 0,
        .hour_tokens = s->hour_tokens,
        .hour_budget = s->hour_budget,
        .bytes = stats.store.bytes,
    };
    struct buf b = buf_make(&ctx->arena, 4096);
    struct json_out w = json_to(&b);
    fields_write(&w, processing_out_fields, &shape);
    struct json *v = NEW(&ctx->arena, struct json);
    *v = (struct json){.type = JSON_OBJECT, .source = buf_str(&b)};
    out->processing = v;
    return OK;
}

static enum status add_consolidation(struct ctx *ctx, struct app *app, str user,
                                     struct tidied_out *out)
{
    struct consolidate_report r;
    enum status s = engine_consolidated(ctx, app->engine, user, &r);
    if (s == NOT_FOUND)
        return OK;
    TRY(s);
    *out = (struct tidied_out){r.began,    r.took_ms, r.looked_at, r.merged,
                               r.promoted, r.evicted, r.pruned};
    return OK;
}

static enum status add_tiers(struct ctx *ctx, struct app *app, struct pool_ref pool,
                             struct tiers_out *out)
{
    struct engine_status s;
    TRY(engine_status(ctx, app->engine, pool, false, &s));
    bool is_used = !str_is(engine_live(app->engine)->osaurus.embedding_backend, "none");
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

static enum status agents_in(struct ctx *ctx, struct app *app, const struct request *in,
                             struct pool_ref pool, struct agent **out, size_t *n)
{
    struct agent *v = NEW(&ctx->arena, struct agent);
    if (!pool.space.n)
        return agents_of(ctx, app, in, out, n);
    enum status s = engine_agent(ctx, app->engine, pool, v);
    *out = v;
    *n = s == OK;
    if (s == NOT_FOUND)
        ctx_clear_failure(ctx);
    return s == NOT_FOUND ? OK : s;
}

static enum status status(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct agent_in *a = in->in;
    struct status_out shape = {.enabled = engine_live(app->engine)->osaurus.enabled};
    struct pool_ref pool;
    struct agent *v;
    size_t n;
    struct distil_status s;
    TRY(agent_pool(ctx, app, in, a->agent, &pool));
    TRY(agents_in(ctx, app, in, pool, &v, &n));
    TRY(gather(ctx, app, v, n, &shape));
    TRY(engine_distil_status(ctx, app->engine, &pool, &s));
    shape.core_model = s.core_model;
    shape.distils = s.available;
    shape.reason = s.reason.n ? s.reason : shape.pending.error;
    TRY(add_consolidation(ctx, app, pool.user, &shape.consolidation));
    TRY(add_tiers(ctx, app, pool, &shape.search));
    if (in->who.is_admin)
        TRY(add_processing(ctx, app, &s, &shape));
    reply_fields(out, status_out_fields, &shape);
    return OK;
}

/* --- sync --- */

struct sync_out {
    str status, reason;
    int64_t sessions;
    bool distils;
};
static const struct field sync_out_fields[] = {
    {STR(struct sync_out, status), .required = true, .help = "ok"},
    {INT(struct sync_out, sessions), .required = true, .help = "that are due now"},
    {AS_BOOL(struct sync_out, distils, "distilling"), .required = true,
     .help = "whether the background distils them; false: they go on waiting"},
    {STR(struct sync_out, reason), .required = true, .empty = EMPTY_NULL, .help = "why not"},
    {0},
};

static enum status sync_now(struct ctx *ctx, struct app *app, const struct request *in,
                            struct reply *out)
{
    const struct agent_in *a = in->in;
    struct pool_ref pool;
    struct distil_status s;
    struct sync_out shape = {.status = S("ok")};
    TRY(agent_pool(ctx, app, in, a->agent, &pool));
    TRY(needs_memory(ctx, app));
    TRY(engine_sync(ctx, app->engine, pool, &shape.sessions));
    TRY(engine_distil_status(ctx, app->engine, &pool, &s));
    shape.distils = s.available;
    shape.reason = s.available ? S("") : s.reason;
    reply_fields(out, sync_out_fields, &shape);
    return OK;
}

/* --- consolidation --- */

struct consolidate_in {
    str agent;
    bool dry_run;
};
static const struct field consolidate_in_fields[] = {
    {AS_STR(struct consolidate_in, agent, "agent_id"), .max = AGENT_MAX, .help = agent_help},
    {BOOL(struct consolidate_in, dry_run), .help = "show what would change, and change nothing"},
    {0},
};

static const struct field line_fields[] = {
    {STR(struct consolidate_line, what), .help = "merge, promote, evict or prune"},
    {STR(struct consolidate_line, id), .help = "of the memory"},
    {STR(struct consolidate_line, text)},
    {STR(struct consolidate_line, why)},
    {0},
};

struct consolidate_out {
    bool dry_run;
    struct tidied_out report;
    const struct json *changes;
};
static const struct field consolidate_out_fields[] = {
    {BOOL(struct consolidate_out, dry_run), .required = true},
    {FIELD_(struct consolidate_out, report, struct tidied_out, FIELD_OBJECT, "report"),
     .inside = tidied_out_fields},
    {JSON(struct consolidate_out, changes), .required = true, .inside = line_fields,
     .help = "the first 200"},
    {0},
};

static enum status consolidate(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    const struct consolidate_in *c = in->in;
    struct pool_ref pool;
    struct consolidate_report r;
    TRY(agent_pool(ctx, app, in, c->agent, &pool));
    TRY(needs_memory(ctx, app));
    TRY(engine_consolidate(ctx, app->engine, pool, c->dry_run, &r));
    struct consolidate_out shape = {
        .dry_run = r.dry_run,
        .report = {r.began, r.took_ms, r.looked_at, r.merged, r.promoted, r.evicted, r.pruned},
    };
    TRY(json_list(ctx, line_fields, r.lines, r.n, sizeof *r.lines, &shape.changes));
    reply_fields(out, consolidate_out_fields, &shape);
    return OK;
}

/* --- the log --- */

struct log_in {
    str agent, kind;
    int64_t limit;
};
static const struct field log_in_fields[] = {
    {AS_STR(struct log_in, agent, "agent_id"), .max = AGENT_MAX, .help = agent_help},
    {AS_STR(struct log_in, kind, "task_type"), .max = 64,
     .help = "only distil, consolidate, gate, summary, profile or dedup"},
    {INT(struct log_in, limit), .otherwise = 20, .min = 1, .max = 500, .help = "most rows"},
    {0},
};

struct work_out {
    str agent, kind, status, details, model;
    int64_t tokens_in, tokens_out, took_ms, created;
};
static const struct field work_out_fields[] = {
    {AS_STR(struct work_out, agent, "agent_id")},
    {AS_STR(struct work_out, kind, "task_type")},
    {STR(struct work_out, status), .help = "success, skipped, empty, error or dead"},
    {STR(struct work_out, details), .help = "never what was said"},
    {STR(struct work_out, model), .empty = EMPTY_NULL, .help = "null: none was asked"},
    {AS_INT(struct work_out, tokens_in, "input_tokens")},
    {AS_INT(struct work_out, tokens_out, "output_tokens")},
    {AS_INT(struct work_out, took_ms, "duration_ms")},
    {AS_TIME(struct work_out, created, "created_at")},
    {0},
};

struct log_out {
    const struct json *log;
};
static const struct field log_out_fields[] = {
    {JSON(struct log_out, log), .required = true, .inside = work_out_fields,
     .help = "newest first, of the last 30 days"},
    {0},
};

static enum status work_log(struct ctx *ctx, struct app *app, const struct request *in,
                            struct reply *out)
{
    const struct log_in *l = in->in;
    struct pool_ref pool;
    struct work *v;
    size_t n;
    TRY(agent_pool(ctx, app, in, l->agent, &pool));
    TRY(engine_work_log(ctx, app->engine, &pool, l->kind, (size_t)l->limit, &v, &n));
    struct work_out *items = NEW_N(&ctx->arena, struct work_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct work_out){v[i].pool.space, v[i].kind,    v[i].status,
                                     v[i].details,    v[i].model,   v[i].tokens_in,
                                     v[i].tokens_out, v[i].took_ms, v[i].created};
    struct log_out shape;
    TRY(json_list(ctx, work_out_fields, items, n, sizeof *items, &shape.log));
    reply_fields(out, log_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {"GET", "/memory/config", config, .access = ACCESS_ADMIN, .gives = live_osaurus_fields,
     .help = "the ten settings that act now"},
    {"PUT", "/memory/config", change_config, .takes = config_in_fields,
     .takes_size = sizeof(struct live_osaurus), .strict = true, .access = ACCESS_ADMIN,
     .gives = live_osaurus_fields,
     .help = "change those that are named, each within its range; they act at once"},
    {"GET", "/memory/status", status, TAKES(agent_in), .strict = true, .gives = status_out_fields,
     .help = "what waits, what there is, what was done last"},
    {"POST", "/memory/sync", sync_now, TAKES(agent_in), .strict = true, .gives = sync_out_fields,
     .help = "distil now what waits, and what failed too often once more"},
    {"POST", "/memory/consolidate", consolidate, TAKES(consolidate_in), .strict = true,
     .gives = consolidate_out_fields, .help = "merge, promote, evict and prune now"},
    {"GET", "/memory/log", work_log, TAKES(log_in), .strict = true, .gives = log_out_fields,
     .help = "what was done in the background"},
    {0},
};

const struct surface surface_osaurus_memory = {"osaurus", routes, word_osaurus_error, admit_own};
