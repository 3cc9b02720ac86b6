/* admin.c - health, the description of the API, and the page that says what this is. */
#include "base/clock.h"
#include "base/id.h"
#include "base/once.h"

#include "surface/common/error_body.h"
#include "surface/common/etag.h"

/*
 * What operators and their tools ask: /health for people and scripts, /health/live and /ready in
 * the shapes of Cortex's probes, /openapi.json and the page at /. Probes
 * answer 503 when the database does not, so that a load balancer takes the server out. A model
 * server that is away only makes it degraded: memory works without it.
 */

/* --- health --- */

SHAPE(health_out, (STR, status, .help = "ok or failing"), (STR, version), (INT, uptime_s),
      (STR, store, .help = "ok, or the error"));

/* Anyone may ask: of a file '/path/name' only the name is shown. */
static str public_why(struct ctx *ctx)
{
    str why = str_of(ctx->why);
    size_t at = str_find(why, S("'/")), name = at;
    for (size_t i = at + 1; i < why.n && why.p[i] != '\''; i++)
        name = why.p[i] == '/' ? i : name;
    return at == why.n ? why
                       : str_printf(&ctx->arena, S_FMT "'" S_FMT, S_ARG(str_sub(why, 0, at)),
                                    S_ARG(str_sub(why, name + 1, why.n)));
}

static HANDLER(show_health)
{
    bool is_well = engine_ping(ctx, app->engine) == OK;
    struct health_out shape = {.status = is_well ? S("ok") : S("failing"),
                               .version = S(REMEMBERD_VERSION),
                               .store = is_well ? S("ok") : public_why(ctx),
                               .uptime_s = (clock_mono_us() - app->started_us) / 1000000};
    out->code = is_well ? 200 : 503;
    return reply_fields(out, health_out_fields, &shape);
}

SHAPE(check, (STR, status, .help = "healthy, degraded, unhealthy, or unknown until checked"),
      (NUM, latency_ms));
/* Cortex has a database, a cache and a model gateway to look at. Here one store takes the place of
 * the first three, and the model server that of the others. */
#define CHECKED struct check, .inside = check_fields
SHAPE(checks, (OBJECT, store, CHECKED, .help = "a read"),
      (OBJECT, postgres, CHECKED, .help = "the same: what Cortex's probes look at"),
      (OBJECT, redis, CHECKED, .help = "the same"),
      (OBJECT, llm, CHECKED,
       .help = "the default model server's list of models, looked at every 15 s at most"),
      (OBJECT, llm_config, CHECKED, .help = "the same"));
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
    const struct upstream *up = settings_upstream(app->settings, &S(""));
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
static HANDLER(show_live)
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
    out->code = is_well ? 200 : 503;
    return reply_fields(out, live_out_fields, &shape);
}

SHAPE(ready_out, (BOOL, ready), (STR, message));

static HANDLER(show_ready)
{
    enum status s = server_is_draining(app->server)
                        ? fail(ctx, TOO_BUSY, "draining: the server is about to stop")
                        : engine_ping(ctx, app->engine);
    const struct ready_out shape = {s == OK, s == OK ? S("Service is ready")
                                                     : str_printf(&ctx->arena,
                                                                  "Service is not ready: " S_FMT,
                                                                  S_ARG(public_why(ctx)))};
    out->code = s == OK ? 200 : 503;
    return reply_fields(out, ready_out_fields, &shape);
}

/* --- describing itself --- */

enum { DOCUMENT_MAX = 16 << 20 }; /* bytes of /openapi.json */

/* It shows no setting, so it is the same as long as the process lives. */
struct document {
    struct buf text;
    char etag[20];
};

static void *make_document(const void *list, UNUSED size_t n, UNUSED size_t size)
{
    struct document *d = heap_alloc(sizeof *d);
    d->text = buf_make(NULL, DOCUMENT_MAX);
    surface_openapi(list, &d->text);
    assert(!d->text.full);
    const str text = buf_str(&d->text);
    snprintf(d->etag, sizeof d->etag, "\"%016llx\"", (unsigned long long)hash64(&text, 1));
    return d;
}

/* To write it takes longer than any other answer, and anyone may ask for it. The bytes are not
 * copied: a body is only read once the handler has returned. */
static HANDLER(show_openapi)
{
    const struct document *d = once_of(app->surfaces, 1, sizeof *d, make_document);
    reply_header(out, "Cache-Control", S("no-cache"));
    if (!etag_reply(in, str_of(d->etag), out))
        out->body = d->text;
    return OK;
}

/* Only described: the document is written by openapi.c. */
static const struct field openapi_out_fields[] = {
    {.name = "openapi", .type = FIELD_STR, .help = "3.1.0"},
    {.name = "info", .type = FIELD_RAW, .otherwise_str = "{}"},
    {.name = "servers", .type = FIELD_JSON},
    {.name = "tags", .type = FIELD_JSON},
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
    {ROUTE("GET", "/openapi.json", show_openapi), ANSWERS(openapi_out), .access = ACCESS_OPEN,
     .help = "OpenAPI description of this API"},
    {0},
};

const struct surface surface_admin = PROBLEM_SURFACE("admin", routes);
