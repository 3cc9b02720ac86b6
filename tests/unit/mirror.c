/* mirror.c - Qdrant follows the store: everything, in batches, whatever goes wrong meanwhile. */
#include "engine/vectors/qdrant_sync.h"

#include <pthread.h>

#include "engine/state/state.h"
#include "lib/clock.h"
#include "lib/engine.h"
#include "lib/server.h"

/* --- a server that is both: Qdrant, as far as it is asked, and a maker of vectors --- */

enum mode { SERVES, IS_DOWN, HAS_OTHER_SIZE, HATES_POISON };

struct kept {
    char id[40], content[64];
};

struct app {
    pthread_mutex_t lock;
    enum mode mode;
    int calls, puts, embedded;
    struct kept points[200];
    size_t n;
};

static struct kept *point_of(struct app *app, str id)
{
    for (size_t i = 0; i < app->n; i++)
        if (str_is(id, app->points[i].id))
            return &app->points[i];
    return NULL;
}

static enum status describe(struct app *app, struct reply *out)
{
    return fake_reply(out, 200,
                      app->mode == HAS_OTHER_SIZE
                          ? "{\"result\":{\"config\":{\"params\":{\"vectors\":{\"size\":3}}}}}"
                          : "{\"result\":{\"config\":{\"params\":{\"vectors\":{\"size\":2}}}}}");
}

static enum status put(struct app *app, const struct request *in, struct reply *out)
{
    app->puts++;
    if (app->mode == HATES_POISON && str_find(in->body, S("poison")) < in->body.n)
        return fake_reply(out, 400, "{\"status\":{\"error\":\"Wrong input: poison\"}}");
    for (const struct json *p = json_get(in->json, "points")->first; p; p = p->next) {
        str id = json_string(json_get(p, "id"));
        struct kept *k = point_of(app, id);
        k = k ? k : &app->points[app->n++];
        snprintf(k->id, sizeof k->id, S_FMT, S_ARG(id));
        snprintf(k->content, sizeof k->content, S_FMT,
                 S_ARG(json_string(json_at(p, "payload.content"))));
    }
    return fake_reply(out, 200, "{\"result\":{\"status\":\"completed\"}}");
}

/* All that is here belongs to one owner. */
static enum status retrieve(struct app *app, const struct request *in, struct reply *out)
{
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "result");
    json_open(&w, '[');
    for (const struct json *id = json_get(in->json, "ids")->first; id; id = id->next)
        if (point_of(app, json_string(id))) {
            json_open(&w, '{');
            json_key(&w, "id");
            json_str(&w, json_string(id));
            json_key(&w, "payload");
            json_raw(&w, S("{\"userId\":\"anna\",\"apiKeyId\":\"default\"}"));
            json_close(&w, '}');
        }
    json_close(&w, ']');
    json_close(&w, '}');
    return OK;
}

static enum status drop(struct app *app, const struct request *in, struct reply *out)
{
    for (const struct json *id = json_get(in->json, "points")->first; id; id = id->next) {
        struct kept *k = point_of(app, json_string(id));
        if (k)
            *k = app->points[--app->n];
    }
    return fake_reply(out, 200, "{\"result\":{\"status\":\"completed\"}}");
}

static enum status find_one(struct app *app, struct reply *out)
{
    buf_printf(&out->body,
               "{\"result\":{\"points\":[{\"id\":\"%s\",\"score\":0.5,\"payload\":{"
               "\"memoryId\":\"%s\",\"userId\":\"anna\",\"apiKeyId\":\"default\"}}]}}",
               app->points[0].id, app->points[0].id);
    return OK;
}

static enum status answer(struct app *app, const struct request *in, struct reply *out)
{
    str verb = in->params[1];
    app->calls++;
    if (app->mode == IS_DOWN)
        return fake_reply(out, 503, "some shards are not ready");
    if (str_is(in->path, "/readyz"))
        return fake_reply(out, 200, "all shards are ready");
    if (str_is(in->method, "GET"))
        return describe(app, out);
    if (str_is(in->method, "PUT"))
        return put(app, in, out);
    return str_is(verb, "delete")  ? drop(app, in, out)
           : str_is(verb, "query") ? find_one(app, out)
                                   : retrieve(app, in, out);
}

static enum status ask(__attribute__((unused)) struct ctx *ctx, struct app *app,
                       const struct request *in, struct reply *out)
{
    pthread_mutex_lock(&app->lock);
    enum status s = answer(app, in, out);
    pthread_mutex_unlock(&app->lock);
    return s;
}

static enum status embed(__attribute__((unused)) struct ctx *ctx, struct app *app,
                         const struct request *in, struct reply *out)
{
    const struct json *input = json_get(in->json, "input");
    size_t n = input->type == JSON_ARRAY ? input->n : 1;
    pthread_mutex_lock(&app->lock);
    app->embedded += (int)n;
    pthread_mutex_unlock(&app->lock);
    buf_add(&out->body, S("{\"data\":["));
    for (size_t i = 0; i < n; i++)
        buf_printf(&out->body, "%s{\"index\":%zu,\"embedding\":[3,4]}", i ? "," : "", i);
    buf_add(&out->body, S("]}"));
    return OK;
}

static const struct route routes[] = {
    {.method = "GET", .path = "/readyz", .run = ask},
    {.method = "GET", .path = "/collections/{name}", .run = ask},
    {.method = "PUT", .path = "/collections/{name}/points", .run = ask, .wants_json = true},
    {.method = "POST", .path = "/collections/{name}/points", .run = ask, .wants_json = true},
    {.method = "POST", .path = "/collections/{name}/points/{verb}", .run = ask, .wants_json = true},
    {.method = "POST", .path = "/v1/embeddings", .run = embed, .wants_json = true},
    {0},
};

struct fake {
    struct app app;
    struct server *server;
};

static void fake_end(struct fake *f)
{
    fake_server_close(f->server);
    pthread_mutex_destroy(&f->app.lock);
}

static void fake_begin(struct ctx *ctx, struct fake *f)
{
    pthread_mutex_init(&f->app.lock, NULL);
    f->server = fake_server_open(ctx, routes, &f->app);
}

static void set_mode(struct fake *f, enum mode mode)
{
    pthread_mutex_lock(&f->app.lock);
    f->app.mode = mode;
    pthread_mutex_unlock(&f->app.lock);
}

static struct app now_of(struct fake *f)
{
    pthread_mutex_lock(&f->app.lock);
    struct app app = f->app;
    pthread_mutex_unlock(&f->app.lock);
    return app;
}

/* --- what the tests do again and again --- */

#define FAKE(f)                                                                                    \
    CLEANUP(fake_end) struct fake f = {0};                                                         \
    fake_begin(ctx, &f)

/* The fake as upstream "fake" and as Qdrant. */
static void turn_on(struct ctx *ctx, struct engine *e, struct settings *s, struct fake *f)
{
    s->upstreams[0] = (struct upstream){.name = S("fake"), .url = server_url(ctx, f->server)};
    s->n_upstreams = 1;
    change_runtime_settings(ctx, e,
                            str_printf(&ctx->arena,
                                       "{\"qdrant_enabled\":true,\"qdrant_host\":\"" S_FMT
                                       "\",\"qdrant_embedding_model\":\"fake/tiny\"}",
                                       S_ARG(server_url(ctx, f->server)))
                                .p);
}

static void add(struct ctx *ctx, struct engine *e, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct memory m = {.content = str_printf(&ctx->arena, "memory %d", i)};
        CHECK_OK(engine_add(ctx, e, mine, &m));
    }
}

/* Runs until there is no more; the number of rounds. */
static int follow(struct ctx *ctx, struct engine *e)
{
    bool more = true;
    int rounds = 0;
    for (; more; rounds++)
        CHECK_OK(engine_mirror_some(ctx, e, &more));
    return rounds;
}

static struct engine_status status_of(struct ctx *ctx, struct engine *e, bool probe)
{
    struct engine_status s = {0};
    mirror_status(ctx, e, probe, &s);
    return s;
}

/* The wait after a failure is over. */
static void wait_out(struct engine *e)
{
    CHECK(e->qdrant.server.until_us != 0);
    e->qdrant.server.until_us = 1;
}

static int64_t waiting(struct ctx *ctx, struct store *s)
{
    struct sync_item *v;
    size_t n;
    int64_t all;
    CHECK_OK(store_sync_waiting(ctx, s, 0, &v, &n, &all));
    return all;
}

/* --- the tests --- */

TEST(without_a_host_nothing_is_asked)
{
    ENGINE(e, s, p);
    struct qdrant_hit *hits;
    struct embedding by;
    size_t n;
    int64_t x;
    add(ctx, e, 0, 1);
    CHECK_INT(follow(ctx, e), 1);
    CHECK(!status_of(ctx, e, true).qdrant.enabled);
    CHECK(!mirror_is_used(e));
    change_runtime_settings(ctx, e, "{\"qdrant_enabled\":true}");
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(waiting(ctx, s), 0);
    CHECK_STATUS(engine_qdrant_health(ctx, e, &x), UNSUPPORTED);
    CHECK_STR(str_of(ctx->why), S("not_configured"));
    CHECK_STATUS(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n), UNSUPPORTED);
    CHECK_STATUS(engine_qdrant_search(ctx, e, mine, S("x"), 5, &hits, &n), UNSUPPORTED);
    CHECK_STATUS(engine_qdrant_cleanup(ctx, e, S("anna"), &x), UNSUPPORTED);
    ctx_clear_failure(ctx);
    CHECK_STR(status_of(ctx, e, true).qdrant.error, S("not_configured"));
}

TEST(turning_it_on_brings_everything_there)
{
    FAKE(f);
    ENGINE(e, s, p);
    add(ctx, e, 0, 150);
    turn_on(ctx, e, &settings, &f);
    CHECK_INT(follow(ctx, e), 3);
    CHECK_INT(now_of(&f).n, 150);
    CHECK_INT(now_of(&f).puts, 3);
    CHECK_INT(now_of(&f).embedded, 150);
    CHECK_INT(waiting(ctx, s), 0);
    int calls = now_of(&f).calls;
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).calls, calls);
    CHECK(mirror_is_used(e));
}

TEST(changes_and_deletions_follow)
{
    FAKE(f);
    ENGINE(e, s, p);
    turn_on(ctx, e, &settings, &f);
    CHECK_INT(follow(ctx, e), 1);
    add(ctx, e, 0, 2);
    CHECK_INT(follow(ctx, e), 1);
    struct app app = now_of(&f);
    CHECK_INT(app.n, 2);
    struct change change = {.pool = mine,
                            .id = str_of(app.points[0].id),
                            .what = CHANGE_CONTENT,
                            .to = {.content = S("said anew")}};
    struct memory m;
    int64_t erased;
    CHECK_OK(engine_change(ctx, e, &change, &m));
    CHECK_OK(engine_forget(ctx, e, &(struct forget){.pool = mine, .id = str_of(app.points[1].id)},
                           &erased));
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).n, 1);
    CHECK_STR(str_of(now_of(&f).points[0].content), S("said anew"));
    struct memory was = {.key = S("home"), .content = S("lives in Rome")}, is = was;
    CHECK_OK(engine_add(ctx, e, mine, &was));
    CHECK_INT(follow(ctx, e), 1);
    is.content = S("lives in Oslo");
    CHECK_OK(engine_add(ctx, e, mine, &is));
    CHECK_INT(follow(ctx, e), 1);
    app = now_of(&f);
    CHECK_INT(app.n, 2);
    CHECK(point_of(&app, is.id) != NULL && point_of(&app, was.id) == NULL);
    CHECK_OK(engine_forget(ctx, e, &(struct forget){.pool = mine, .everything = true}, &erased));
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).n, 0);
}

TEST(turned_off_nothing_is_asked_and_nothing_is_forgotten)
{
    FAKE(f);
    ENGINE(e, s, p);
    int64_t erased;
    turn_on(ctx, e, &settings, &f);
    add(ctx, e, 0, 3);
    CHECK_INT(follow(ctx, e), 1);
    struct app app = now_of(&f);
    change_runtime_settings(ctx, e, "{\"qdrant_enabled\":false}");
    add(ctx, e, 3, 4);
    CHECK_OK(engine_forget(ctx, e, &(struct forget){.pool = mine, .id = str_of(app.points[0].id)},
                           &erased));
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).calls, app.calls);
    CHECK(!mirror_is_used(e));
    change_runtime_settings(ctx, e, "{\"qdrant_enabled\":true}");
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).n, 3);
    CHECK_INT(now_of(&f).embedded, 3 + 1);
}

TEST(another_collection_begins_anew_and_no_host_ends_it)
{
    FAKE(f);
    ENGINE(e, s, p);
    turn_on(ctx, e, &settings, &f);
    add(ctx, e, 0, 3);
    CHECK_INT(follow(ctx, e), 1);
    int puts = now_of(&f).puts;
    change_runtime_settings(ctx, e, "{\"qdrant_collection\":\"other\"}");
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).puts, puts + 1);
    CHECK_INT(now_of(&f).embedded, 3 + 3);
    change_runtime_settings(ctx, e, "{\"qdrant_host\":\"\"}");
    add(ctx, e, 3, 4);
    CHECK_INT(waiting(ctx, s), 1);
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(waiting(ctx, s), 0);
    add(ctx, e, 4, 5);
    CHECK_INT(waiting(ctx, s), 0);
}

TEST(what_is_down_is_left_alone_and_nothing_is_lost)
{
    FAKE(f);
    ENGINE(e, s, p);
    struct qdrant_hit *hits;
    struct embedding by;
    size_t n;
    turn_on(ctx, e, &settings, &f);
    set_mode(&f, IS_DOWN);
    add(ctx, e, 0, 5);
    CHECK_INT(follow(ctx, e), 1);
    int calls = now_of(&f).calls;
    CHECK(calls > 0);
    CHECK_INT(waiting(ctx, s), 5);
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).calls, calls);
    CHECK(!mirror_is_used(e));
    CHECK_STATUS(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "Qdrant failed: circuit open, not retried for 1 s"));
    ctx_clear_failure(ctx);
    CHECK_INT(now_of(&f).calls, calls);
    struct engine_status quiet = status_of(ctx, e, false), asked = status_of(ctx, e, true);
    CHECK(!quiet.qdrant.probed && holds(quiet.qdrant.error, "503: some shards"));
    CHECK(asked.qdrant.probed && !asked.qdrant.healthy && asked.qdrant.waiting == 5);
    wait_out(e);
    CHECK(mirror_is_used(e));
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(e->qdrant.server.wait_ms, 2000);
    set_mode(&f, SERVES);
    wait_out(e);
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).n, 5);
    CHECK_INT(waiting(ctx, s), 0);
    CHECK_STR(status_of(ctx, e, false).qdrant.error, S(""));
    CHECK(status_of(ctx, e, true).qdrant.healthy);
    CHECK_OK(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n));
    CHECK_INT(n, 1);
    CHECK_STR(hits[0].id, str_of(now_of(&f).points[0].id));
}

TEST(a_search_finds_what_was_just_added_and_waits_for_no_backlog)
{
    FAKE(f);
    ENGINE(e, s, p);
    struct qdrant_hit *hits;
    struct embedding by;
    size_t n;
    turn_on(ctx, e, &settings, &f);
    add(ctx, e, 0, 3);
    CHECK_OK(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n));
    CHECK_INT(now_of(&f).n, 3);
    CHECK_INT(n, 1);
    add(ctx, e, 3, 70);
    CHECK_STATUS(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n), UPSTREAM);
    CHECK_STR(str_of(ctx->why), S("67 memories are not in Qdrant yet"));
    CHECK(mirror_is_used(e));
    ctx_clear_failure(ctx);
    CHECK_INT(follow(ctx, e), 2);
    CHECK_OK(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n));
}

TEST(a_search_that_waited_for_another_thread_in_vain_is_no_failure_of_the_server)
{
    FAKE(f);
    ENGINE(e, s, p);
    struct qdrant_hit *hits;
    struct embedding by;
    size_t n;
    turn_on(ctx, e, &settings, &f);
    add(ctx, e, 0, 3);
    e->qdrant.is_syncing = true; /* as that thread has it */
    ctx->deadline_us = clock_mono_us() + 50000;
    CHECK_STATUS(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n), TOO_BUSY);
    ctx->deadline_us = 0;
    e->qdrant.is_syncing = false;
    CHECK(mirror_is_used(e));
    ctx_clear_failure(ctx);
    CHECK_OK(mirror_search(ctx, e, mine, S(""), S("x"), 5, &by, &hits, &n));
    CHECK_INT(n, 1);
}

TEST(a_collection_of_another_size_is_told_and_loses_nothing)
{
    FAKE(f);
    ENGINE(e, s, p);
    struct qdrant_hit *hits;
    size_t n;
    turn_on(ctx, e, &settings, &f);
    set_mode(&f, HAS_OTHER_SIZE);
    add(ctx, e, 0, 2);
    CHECK_INT(follow(ctx, e), 1);
    struct engine_status now = status_of(ctx, e, true);
    CHECK(!now.qdrant.healthy && now.qdrant.waiting == 2);
    CHECK(holds(now.qdrant.error, "holds vectors of 3 numbers and the embedding model makes 2"));
    CHECK_STATUS(engine_qdrant_search(ctx, e, mine, S("x"), 5, &hits, &n), UPSTREAM);
    ctx_clear_failure(ctx);
    set_mode(&f, SERVES);
    CHECK(status_of(ctx, e, true).qdrant.healthy);
    CHECK_INT(follow(ctx, e), 1);
    CHECK_INT(now_of(&f).n, 2);
}

TEST(what_is_refused_is_tried_three_times_and_holds_up_nobody)
{
    FAKE(f);
    ENGINE(e, s, p);
    turn_on(ctx, e, &settings, &f);
    CHECK_INT(follow(ctx, e), 1);
    set_mode(&f, HATES_POISON);
    struct memory bad = {.content = S("poison")};
    add(ctx, e, 0, 2);
    CHECK_OK(engine_add(ctx, e, mine, &bad));
    add(ctx, e, 2, 4);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(waiting(ctx, s), i ? 1 : 5);
        CHECK_INT(follow(ctx, e), 1);
        CHECK_INT(now_of(&f).n, 4);
        fake_clock_advance(120000);
    }
    CHECK_INT(waiting(ctx, s), 0);
    struct engine_status st = status_of(ctx, e, true);
    CHECK(st.qdrant.healthy);
    CHECK(holds(st.qdrant.error, bad.id.p) && holds(st.qdrant.error, "400: Wrong input: poison"));
}

TEST(the_model_is_the_named_one_or_the_first_tiers)
{
    FAKE(f);
    ENGINE(e, s, p);
    settings.encoder = false;
    turn_on(ctx, e, &settings, &f);
    add(ctx, e, 0, 1);
    CHECK_INT(follow(ctx, e), 1);
    CHECK_STR(status_of(ctx, e, false).qdrant.note, S(""));
    change_runtime_settings(ctx, e, "{\"qdrant_embedding_model\":\"nowhere/large\"}");
    CHECK_INT(follow(ctx, e), 1);
    CHECK(holds(status_of(ctx, e, false).qdrant.error, "no_key"));
    change_runtime_settings(ctx, e,
                            "{\"embedding_source\":\"remote\",\"embedding_model\":\"fake/other\"}");
    CHECK_INT(follow(ctx, e), 1);
    CHECK(holds(status_of(ctx, e, false).qdrant.note, "no upstream 'nowhere' is configured"));
    CHECK_INT(waiting(ctx, s), 0);
    change_runtime_settings(ctx, e, "{\"qdrant_embedding_model\":\"tiny\"}");
    CHECK_INT(follow(ctx, e), 1);
    CHECK(holds(status_of(ctx, e, true).qdrant.error, "'tiny' is not UPSTREAM/MODEL"));
}
