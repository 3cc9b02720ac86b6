/* admin.c - health, metrics, the description of the API, and the page that says what this is. */
#include "base/clock.h"
#include "base/id.h"
#include "base/once.h"

#include <assert.h>

#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/etag.h"

/*
 * What operators and their tools ask: /health for people and scripts, /health/live and /ready in
 * the shapes of Cortex's probes, /metrics for Prometheus, /openapi.json and the page at /. Probes
 * answer 503 when the database does not, so that a load balancer takes the server out. A model
 * server that is away only makes it degraded: memory works without it.
 */

/* --- health --- */

SHAPE(health_out, (STR, status, .help = "ok or failing"), (STR, version), (INT, uptime_s),
      (STR, store, .help = "ok, or the error"));

static enum status show_health(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    (void)in;
    bool is_well = engine_ping(ctx, app->engine) == OK;
    struct health_out shape = {
        .status = is_well ? S("ok") : S("failing"),
        .version = S(REMEMBERD_VERSION),
        .store = is_well ? S("ok") : str_of(ctx->why),
        .uptime_s = (clock_mono_us() - app->started_us) / 1000000,
    };
    out->code = is_well ? 200 : 503;
    return reply_fields(out, health_out_fields, &shape);
}

SHAPE(check, (STR, status, .help = "healthy, degraded, unhealthy, or unknown until checked"),
      (NUM, latency_ms));
#define CHECKED(M, HELP)                                                                           \
    {                                                                                              \
        FIELD_(struct checks, M, struct check, FIELD_OBJECT, #M), .inside = check_fields,          \
                                                                  .help = HELP                     \
    }
/* Cortex has a database, a cache and a model gateway to look at. Here one store takes the place of
 * the first three, and the model server that of the others. */
struct checks {
    struct check store, postgres, redis, llm, llm_config;
};
static const struct field checks_fields[] = {
    CHECKED(store, "a read"),
    CHECKED(postgres, "the same: what Cortex's probes look at"),
    CHECKED(redis, "the same"),
    CHECKED(llm, "the default model server's list of models, looked at every 15 s at most"),
    CHECKED(llm_config, "the same"),
    {0},
};
SHAPE(live_out,
      (STR, status,
       .help = "healthy, degraded (a model server is set and does not answer) or unhealthy"),
      (OBJECT, checks, struct checks, .inside = checks_fields), (TIME, timestamp));

/* A read, timed. Unlike /health it shows no words of a failure: probes look at the status. */
static struct check check_store(struct ctx *ctx, struct app *app)
{
    int64_t began = clock_mono_us();
    bool is_well = engine_ping(ctx, app->engine) == OK;
    return (struct check){is_well ? S("healthy") : S("unhealthy"),
                          (double)(clock_mono_us() - began) / 1e3};
}

/* A probe must answer fast, so the look at the model is short and its result is used again for
 * LOOK_EVERY_US microseconds. LIST_MAX: a longer list of models is an answer as well. */
enum { LOOK_MS = 2000, LOOK_EVERY_US = 15000000, LIST_MAX = 4 << 20 };

/* Any answer counts, also an error; only an unreachable server does not answer. */
static bool model_answers(struct ctx *ctx, const struct upstream *up)
{
    const struct call call = {.timeout_ms = LOOK_MS, .answer_max = LIST_MAX};
    struct answer answer;
    enum status s = http_call_upstream(ctx, up, "/v1/models", call, &answer);
    return soft(ctx, s) || s == TOO_LARGE;
}

/* The endpoint is open to everyone, so one request at a time probes and the others get the last
 * result. */
static struct check check_model(struct ctx *ctx, struct app *app)
{
    struct model_look *look = &app->model;
    str none = S("");
    const struct upstream *up = settings_upstream(app->settings, &none);
    int64_t now = clock_mono_us(), at = atomic_load(&look->at_us);
    if (!up && !app->settings->n_upstreams)
        return (struct check){S("healthy"), 0};
    up = up ? up : &app->settings->upstreams[0];
    if ((!at || now - at >= LOOK_EVERY_US) &&
        atomic_compare_exchange_strong(&look->at_us, &at, now)) {
        bool answers = model_answers(ctx, up);
        atomic_store(&look->took_us, clock_mono_us() - now);
        atomic_store(&look->answers, answers ? 1 : 2);
    }
    int answers = atomic_load(&look->answers);
    return (struct check){!answers       ? S("unknown")
                          : answers == 1 ? S("healthy")
                                         : S("degraded"),
                          (double)atomic_load(&look->took_us) / 1e3};
}

/* The same two results under five names, for probes that look at any of them. */
static enum status show_live(struct ctx *ctx, struct app *app, const struct request *in,
                             struct reply *out)
{
    const struct check store = check_store(ctx, app), model = check_model(ctx, app);
    bool is_well = str_is(store.status, "healthy");
    const struct live_out shape = {
        .status = !is_well                           ? S("unhealthy")
                  : str_is(model.status, "degraded") ? S("degraded")
                                                     : S("healthy"),
        .checks = {store, store, store, model, model},
        .timestamp = clock_ms(),
    };
    (void)in;
    out->code = is_well ? 200 : 503;
    return reply_fields(out, live_out_fields, &shape);
}

SHAPE(ready_out, (BOOL, ready), (STR, message));

static enum status show_ready(struct ctx *ctx, struct app *app, const struct request *in,
                              struct reply *out)
{
    bool is_well = engine_ping(ctx, app->engine) == OK;
    const struct ready_out shape = {is_well,
                                    is_well ? S("Service is ready")
                                            : str_printf(&ctx->arena, "Service is not ready: %s",
                                                         ctx->why)};
    (void)in;
    out->code = is_well ? 200 : 503;
    return reply_fields(out, ready_out_fields, &shape);
}

/* --- metrics --- */

/* The text format of Prometheus, version 0.0.4: a HELP and a TYPE line before each value. %.15g
 * keeps counters exact up to 10^15. */
static void write_metric(struct buf *b, const char *name, const char *type, const char *help,
                         double v)
{
    buf_printf(b, "# HELP rememberd_%s %s\n# TYPE rememberd_%s %s\nrememberd_%s %.15g\n", name,
               help, name, type, name, v);
}

/* Of http: *_total only grow, the others are as they are now. */
static void server_metrics(struct buf *b, const struct server_stats *s)
{
    write_metric(b, "requests_total", "counter", "requests read", (double)s->requests);
    write_metric(b, "errors_total", "counter", "replies with a code of 500 or more",
                 (double)s->errors);
    write_metric(b, "relays_total", "counter", "requests passed on upstream", (double)s->relays);
    write_metric(b, "relays_cancelled_total", "counter", "relays whose client left",
                 (double)s->relays_cancelled);
    write_metric(b, "bytes_in_total", "counter", "bytes from clients", (double)s->bytes_in);
    write_metric(b, "bytes_out_total", "counter", "bytes to clients", (double)s->bytes_out);
    write_metric(b, "rejected_busy_total", "counter", "requests refused, queue full",
                 (double)s->rejected_busy);
    write_metric(b, "rejected_connections_total", "counter", "connections refused",
                 (double)s->rejected_connections);
    write_metric(b, "shed_connections_total", "counter",
                 "idle connections closed to make room for a new one", (double)s->shed_connections);
    write_metric(b, "connections", "gauge", "open connections", (double)s->connections);
    write_metric(b, "requests_active", "gauge", "requests being answered", (double)s->active);
    write_metric(b, "requests_queued", "gauge", "requests waiting for a worker", (double)s->queued);
}

/* Of memory: recalls of chats, what they added, and what the background did. */
static void engine_metrics(struct buf *b, const struct engine_stats *s)
{
    write_metric(b, "recalls_total", "counter", "recalls", (double)s->recalls);
    write_metric(b, "recalled_total", "counter", "recalls that added something",
                 (double)s->recalled);
    write_metric(b, "injected_tokens_total", "counter", "tokens injected",
                 (double)s->injected_tokens);
    write_metric(b, "recalls_silent_total", "counter", "recalls that added nothing",
                 (double)s->silent);
    write_metric(b, "recalls_timed_out_total", "counter", "recalls over the deadline",
                 (double)s->timed_out);
    write_metric(b, "recalls_failed_total", "counter", "recalls that failed", (double)s->failed);
    write_metric(b, "turns_total", "counter", "turns kept", (double)s->turns);
    write_metric(b, "turns_dropped_total", "counter", "turns lost to a full queue",
                 (double)s->dropped_turns);
    write_metric(b, "helper_prompts_total", "counter",
                 "prompts of chat programs that got no memory and were not kept",
                 (double)s->helpers);
    write_metric(b, "instructions_left_out_total", "counter",
                 "lines left out of chats because they read as instructions",
                 (double)s->instructions);
    write_metric(b, "rerank_failures_total", "counter", "calls of the reranker that failed",
                 (double)s->rerank_failed);
    write_metric(b, "facts_total", "counter", "facts extracted", (double)s->facts);
    write_metric(b, "distilled_total", "counter", "conversations distilled", (double)s->distilled);
    write_metric(b, "distil_failures_total", "counter", "conversations that could not be distilled",
                 (double)s->distil_failed);
    write_metric(b, "core_tokens", "gauge", "tokens of the core model in the last hour",
                 (double)s->core_tokens);
}

/* Of the database, over all users. */
static void store_metrics(struct buf *b, const struct store_stats *s)
{
    write_metric(b, "store_users", "gauge", "users", (double)s->users);
    write_metric(b, "store_pools", "gauge", "pools", (double)s->pools);
    write_metric(b, "store_sessions", "gauge", "conversations", (double)s->sessions);
    write_metric(b, "store_messages", "gauge", "messages", (double)s->messages);
    write_metric(b, "store_memories", "gauge", "memories", (double)s->memories);
    write_metric(b, "store_receipts", "gauge", "receipts", (double)s->receipts);
    write_metric(b, "store_bytes", "gauge", "size of the database file", (double)s->bytes);
    write_metric(b, "store_wal_bytes", "gauge", "size of the write-ahead log",
                 (double)s->wal_bytes);
    write_metric(b, "store_queued", "gauge", "writes waiting", (double)s->queued);
    write_metric(b, "store_writes_total", "counter", "writes", (double)s->writes);
    write_metric(b, "store_commits_total", "counter", "commits", (double)s->commits);
    write_metric(b, "store_failures_total", "counter", "failed writes", (double)s->failures);
}

/* Prometheus counts a bucket with all smaller ones. */
static void recall_histogram(struct buf *b, const struct engine_stats *s)
{
    uint64_t sum = 0;
    buf_add(b, S("# HELP rememberd_recall_seconds time of a recall\n"
                 "# TYPE rememberd_recall_seconds histogram\n"));
    for (size_t i = 0; i < RECALL_BUCKETS - 1; i++) {
        sum += s->recall_buckets[i];
        buf_printf(b, "rememberd_recall_seconds_bucket{le=\"%g\"} %llu\n",
                   (double)recall_bucket_us[i] / 1e6, (unsigned long long)sum);
    }
    sum += s->recall_buckets[RECALL_BUCKETS - 1];
    buf_printf(b, "rememberd_recall_seconds_bucket{le=\"+Inf\"} %llu\n", (unsigned long long)sum);
    buf_printf(b, "rememberd_recall_seconds_sum %.9g\nrememberd_recall_seconds_count %llu\n",
               (double)s->recall_us_sum / 1e6, (unsigned long long)sum);
}

/* Admins only: counts over all users tell something about each of them. */
static enum status show_metrics(struct ctx *ctx, struct app *app, const struct request *in,
                                struct reply *out)
{
    struct server_stats server = {0};
    assert(app->server);
    struct engine_stats engine;
    (void)in;
    TRY(engine_stats(ctx, app->engine, &engine));
    server_stats(app->server, &server);
    out->type = S("text/plain; version=0.0.4; charset=utf-8");
    write_metric(&out->body, "uptime_seconds", "gauge", "time since start",
                 (double)(clock_mono_us() - app->started_us) / 1e6);
    server_metrics(&out->body, &server);
    engine_metrics(&out->body, &engine);
    recall_histogram(&out->body, &engine);
    store_metrics(&out->body, &engine.store);
    return OK;
}

/* --- describing itself --- */

enum { DOCUMENT_MAX = 16 << 20 }; /* bytes of /openapi.json */

/* It shows no setting, so it is the same as long as the process lives. */
struct document {
    struct buf text;
    char etag[20];
};

static void *make_document(const void *list, size_t n, size_t size)
{
    struct document *d = heap_alloc(sizeof *d);
    (void)n, (void)size;
    d->text = buf_make(NULL, DOCUMENT_MAX);
    surface_openapi(list, &d->text);
    assert(!d->text.full);
    const str text = buf_str(&d->text);
    snprintf(d->etag, sizeof d->etag, "\"%016llx\"", (unsigned long long)hash64(&text, 1));
    return d;
}

/* To write it takes longer than any other answer, and anyone may ask for it. The bytes are not
 * copied: a body is only read once the handler has returned. */
static enum status show_openapi(struct ctx *ctx, struct app *app, const struct request *in,
                                struct reply *out)
{
    const struct document *d = once_of(app->surfaces, 1, sizeof *d, make_document);
    (void)ctx;
    reply_header(out, "Cache-Control", S("no-cache"));
    if (!etag_reply(in, str_of(d->etag), out))
        out->body = d->text;
    return OK;
}

/* Only described: the document is written by openapi.c. */
static const struct field openapi_out_fields[] = {
    {.name = "openapi", .type = FIELD_STR, .help = "3.1.0"},
    {.name = "info", .type = FIELD_RAW, .otherwise_str = "{}"},
    {.name = "paths", .type = FIELD_RAW, .otherwise_str = "{}"},
    {.name = "components", .type = FIELD_RAW, .otherwise_str = "{}"},
    {0},
};

static const struct route routes[] = {
    {ROUTE("GET", "/health", show_health), .words.code_too = 503, .access = ACCESS_OPEN,
     ANSWERS(health_out), .help = "whether the server works"},
    {ROUTE("GET", "/health/live", show_live), .words.code_too = 503, .access = ACCESS_OPEN,
     ANSWERS(live_out), .help = "whether the database and the model server answer, and how fast"},
    {ROUTE("GET", "/ready", show_ready), .words.code_too = 503, .access = ACCESS_OPEN,
     ANSWERS(ready_out), .help = "whether the database answers"},
    {ROUTE("GET", "/metrics", show_metrics), .words.type = "text/plain", .access = ACCESS_ADMIN,
     .help = "counters for Prometheus"},
    {ROUTE("GET", "/openapi.json", show_openapi), ANSWERS(openapi_out), .access = ACCESS_OPEN,
     .help = "OpenAPI description of this API"},
    {0},
};

const struct surface surface_admin = PROBLEM_SURFACE("admin", routes);
