/* qdrant.c - what is said to Qdrant, byte for byte, and what is made of its answers. */
#include <pthread.h>

#include "base/id.h"
#include "lib/clock.h"
#include "lib/server.h"
#include "store/store.h"

/* --- a server that writes down what it is asked and answers by a script --- */

struct line {
    const char *asked; /* "GET /readyz" */
    int code;
    const char *body;
};

struct app {
    pthread_mutex_t lock;
    struct buf seen; /* "METHOD path body\n" for each request */
    str key;         /* the last api-key header */
    struct arena arena;
    const struct line *script; /* ends with an empty row */
};

static enum status answer(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    str asked = str_printf(&ctx->arena, S_FMT " " S_FMT "%s" S_FMT, S_ARG(in->method),
                           S_ARG(in->path), in->query.n ? "?" : "", S_ARG(in->query));
    pthread_mutex_lock(&app->lock);
    buf_add(&app->seen, asked);
    buf_printf(&app->seen, "%s" S_FMT "\n", in->body.n ? " " : "", S_ARG(in->body));
    app->key = str_dup(&app->arena, request_header(in, "api-key"));
    const struct line *l = app->script;
    while (l->asked && !str_is(asked, l->asked))
        l++;
    out->code = l->asked ? l->code : 404;
    if (out->code == 302)
        reply_header(out, "Location", S("/readyz"));
    buf_add(&out->body, str_of(l->asked ? l->body : "{\"status\":{\"error\":\"Not found\"}}"));
    pthread_mutex_unlock(&app->lock);
    return OK;
}

static const struct route routes[] = {
    {.method = "GET", .path = "/readyz", .run = answer},
    {.method = "GET", .path = "/collections/{name}", .run = answer},
    {.method = "PUT", .path = "/collections/{name}", .run = answer},
    {.method = "PUT", .path = "/collections/{name}/index", .run = answer},
    {.method = "PUT", .path = "/collections/{name}/points", .run = answer},
    {.method = "POST", .path = "/collections/{name}/points", .run = answer},
    {.method = "POST", .path = "/collections/{name}/points/{verb}", .run = answer},
    {0},
};

struct setting {
    struct app app;
    struct server *server;
    struct qdrant_settings q;
};

static struct setting *set_up(struct ctx *ctx)
{
    static const struct line nothing[] = {{0}};
    struct setting *s = NEW(&ctx->arena, struct setting);
    pthread_mutex_init(&s->app.lock, NULL);
    s->app.seen = buf_make(NULL, 1 << 20);
    s->app.script = nothing;
    s->server = fake_server_open(ctx, routes, &s->app);
    s->q = (struct qdrant_settings){.url = server_url(ctx, s->server),
                                    .key = S("top-secret"),
                                    .collection = S("mem"),
                                    .quantization = S("none"),
                                    .timeout_ms = 5000};
    return s;
}

static void tear_down(struct setting *s)
{
    fake_server_close(s->server);
    buf_free(&s->app.seen);
    arena_free(&s->app.arena);
    pthread_mutex_destroy(&s->app.lock);
}

/* What was asked since the last look. */
static str seen(struct ctx *ctx, struct setting *s)
{
    pthread_mutex_lock(&s->app.lock);
    str text = str_dup(&ctx->arena, buf_str(&s->app.seen));
    buf_clear(&s->app.seen);
    pthread_mutex_unlock(&s->app.lock);
    return text;
}

#define UNNAMED                                                                                    \
    "{\"result\":{\"config\":{\"params\":{\"vectors\":{\"size\":2,"                                \
    "\"distance\":\"Cosine\"}}}},\"status\":\"ok\",\"time\":0.1}"
#define NAMED                                                                                      \
    "{\"result\":{\"config\":{\"params\":{\"vectors\":{\"text\":{\"size\":2,"                      \
    "\"distance\":\"Cosine\"}}}}},\"status\":\"ok\",\"time\":0.1}"
#define DONE "{\"result\":{\"operation_id\":1,\"status\":\"completed\"},\"status\":\"ok\"}"
#define EMPTY "{\"result\":[],\"status\":\"ok\"}"
#define ID "0b6ab4ea-8d0c-4a37-9b4e-000000000001"

static const struct memory memory = {.id = {ID, 36},
                                     .type = TYPE_PROCEDURAL,
                                     .session = {"s1", 2},
                                     .key = {"k", 1},
                                     .content = {"say \"hi\"", 8},
                                     .metadata = {"{\"a\":1}", 7},
                                     .created = 1700000000999,
                                     .expires = 1800000000001};
static const float vector[] = {0.6f, 0.8f};
static const struct pool_ref pool = {{"local", 5}, {"work", 4}};
static const struct qdrant_point point = {{{"local", 5}, {"work", 4}}, &memory, vector, 2};

/* --- putting --- */

TEST(the_first_put_makes_the_collection)
{
    static const struct line script[] = {
        {"PUT /collections/mem", 200, "{\"result\":true,\"status\":\"ok\"}"},
        {0},
    };
    struct setting *s = set_up(ctx);
    s->app.script = script;
    CHECK_STATUS(qdrant_put(ctx, &s->q, &point, 1, true), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "was made and is not there"));
    str asked = seen(ctx, s);
    CHECK(str_starts(asked, S("GET /collections/mem\nPUT /collections/mem "
                              "{\"vectors\":{\"size\":2,\"distance\":\"Cosine\"}}\n"
                              "PUT /collections/mem/index?wait=true "
                              "{\"field_name\":\"userId\",\"field_schema\":\"keyword\"}\n")));
    CHECK(holds(asked, "{\"field_name\":\"expiresAtUnix\",\"field_schema\":\"integer\"}\n"));
    CHECK_STR(s->app.key, S("top-secret"));
    ctx_clear_failure(ctx);
    s->q.quantization = S("int8");
    CHECK_STATUS(qdrant_put(ctx, &s->q, &point, 1, true), UPSTREAM);
    CHECK(holds(seen(ctx, s), "\"Cosine\"},\"quantization_config\":{\"scalar\":{\"type\":\"int8\","
                              "\"always_ram\":true,\"quantile\":0.99}}}\n"));
    ctx_clear_failure(ctx);
    s->q.quantization = S("binary");
    CHECK_STATUS(qdrant_put(ctx, &s->q, &point, 1, true), UPSTREAM);
    CHECK(holds(seen(ctx, s), "\"quantization_config\":{\"binary\":{\"always_ram\":true}}}\n"));
    tear_down(s);
}

#define PAYLOAD                                                                                    \
    "\"payload\":{\"kind\":\"omniroute_memory\",\"memoryId\":\"" ID "\",\"userId\":\"local\","     \
    "\"apiKeyId\":\"work\",\"sessionId\":\"s1\",\"type\":\"procedural\",\"key\":\"k\","            \
    "\"content\":\"say \\\"hi\\\"\",\"metadata\":{\"a\":1},\"createdAtUnix\":1700000000,"          \
    "\"expiresAtUnix\":1800000000}"

TEST(a_point_is_a_memory)
{
    static const struct line unnamed[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points", 200, EMPTY},
        {"PUT /collections/mem/points?wait=true", 200, DONE},
        {0},
    };
    static const struct line named[] = {
        {"GET /collections/mem", 200, NAMED},
        {"POST /collections/mem/points", 200, EMPTY},
        {"PUT /collections/mem/points?wait=true", 200, DONE},
        {0},
    };
    struct setting *s = set_up(ctx);
    s->app.script = unnamed;
    CHECK_OK(qdrant_put(ctx, &s->q, &point, 1, true));
    str asked = seen(ctx, s);
    CHECK(str_ends(asked, S("PUT /collections/mem/points?wait=true {\"points\":[{\"id\":\"" ID "\","
                            "\"vector\":[0.600000024,0.800000012]," PAYLOAD "}]}\n")));
    s->app.script = named;
    CHECK_OK(qdrant_put(ctx, &s->q, &point, 1, true));
    CHECK(holds(seen(ctx, s), "\"vector\":{\"text\":[0.600000024,0.800000012]},\"payload\""));
    tear_down(s);
}

/* The id that stands in the request after this text. */
static str id_behind(str asked, const char *text)
{
    size_t at = str_find(asked, str_of(text)) + strlen(text);
    CHECK(at + UUID_TEXT <= asked.n);
    return str_sub(asked, at, at + UUID_TEXT);
}

TEST(a_foreign_point_is_never_touched)
{
    static const struct line script[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points", 200,
         "{\"result\":[{\"id\":\"" ID "\",\"payload\":{\"userId\":\"local\",\"apiKeyId\":\"home\"}}"
         "],\"status\":\"ok\"}"},
        {"PUT /collections/mem/points?wait=true", 200, DONE},
        {"POST /collections/mem/points/delete?wait=true", 200, DONE},
        {0},
    };
    struct setting *s = set_up(ctx);
    struct qdrant_ref ours = {pool, S(ID)}, theirs = {{S("local"), S("home")}, S(ID)};
    s->app.script = script;
    CHECK_OK(qdrant_put(ctx, &s->q, &point, 1, true));
    str asked = seen(ctx, s), derived = id_behind(asked, "{\"points\":[{\"id\":\"");
    CHECK(id_is_uuid(derived) && !str_is(derived, ID));
    CHECK(holds(asked,
                str_printf(&ctx->arena, "{\"ids\":[\"" ID "\",\"" S_FMT "\"]", S_ARG(derived)).p));
    CHECK(holds(asked, "\"memoryId\":\"" ID "\""));
    CHECK_OK(qdrant_delete(ctx, &s->q, &ours, 1));
    CHECK(!holds(seen(ctx, s), "points/delete"));
    CHECK_OK(qdrant_delete(ctx, &s->q, &theirs, 1));
    CHECK(holds(seen(ctx, s), "points/delete?wait=true {\"points\":[\"" ID "\"]}\n"));
    tear_down(s);
}

TEST(two_owners_of_one_id_in_one_put_have_two_points)
{
    static const struct line script[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points", 200, EMPTY},
        {"PUT /collections/mem/points?wait=true", 200, DONE},
        {0},
    };
    struct setting *s = set_up(ctx);
    struct qdrant_point two[] = {point, point};
    two[1].pool.user = S("bea");
    s->app.script = script;
    CHECK_OK(qdrant_put(ctx, &s->q, two, 2, true));
    str asked = seen(ctx, s);
    CHECK_STR(id_behind(asked, "{\"points\":[{\"id\":\""), S(ID));
    CHECK(!str_is(id_behind(asked, "1800000000}},{\"id\":\""), ID));
    tear_down(s);
}

TEST(an_id_that_is_no_uuid_gets_one)
{
    static const struct line script[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points", 200, EMPTY},
        {"PUT /collections/mem/points?wait=true", 200, DONE},
        {0},
    };
    struct setting *s = set_up(ctx);
    struct memory old = memory;
    struct qdrant_point p = point;
    old.id = S("17");
    p.memory = &old;
    s->app.script = script;
    CHECK_OK(qdrant_put(ctx, &s->q, &p, 1, true));
    str asked = seen(ctx, s);
    CHECK(id_is_uuid(id_behind(asked, "{\"points\":[{\"id\":\"")));
    CHECK(holds(asked, "\"memoryId\":\"17\""));
    tear_down(s);
}

/* --- searching and clearing --- */

#define HIT(MEMORY, SCORE, USER, SPACE)                                                            \
    "{\"id\":\"" ID "\",\"version\":1,\"score\":" SCORE ",\"payload\":{\"memoryId\":\"" MEMORY     \
    "\",\"userId\":\"" USER "\",\"apiKeyId\":\"" SPACE "\"}}"
#define HITS                                                                                       \
    "[" HIT("m0", "0.9", "bea", "work") "," HIT("m1", "0.5", "local", "work") "," HIT(             \
        "m9", "0.4", "local", "home") "," HIT("m2", "0.25", "local", "work") "]"
#define OWNER                                                                                      \
    "\"filter\":{\"must\":[{\"key\":\"kind\",\"match\":{\"value\":\"omniroute_memory\"}},"         \
    "{\"key\":\"userId\",\"match\":{\"value\":\"local\"}}"
#define EXPIRY "\"must_not\":[{\"key\":\"expiresAtUnix\",\"range\":{\"lte\":1700000000}}]}"

TEST(a_search_is_bound_to_its_owner)
{
    static const struct line script[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points/query", 200,
         "{\"result\":{\"points\":" HITS "},\"status\":\"ok\"}"},
        {0},
    };
    struct setting *s = set_up(ctx);
    struct qdrant_find f = {
        .pool = pool, .session = S("s1"), .v = vector, .dimensions = 2, .limit = 100};
    struct qdrant_hit *hits;
    size_t n;
    fake_clock_set(1700000000500);
    s->app.script = script;
    CHECK_OK(qdrant_search(ctx, &s->q, &f, &hits, &n));
    CHECK_INT(n, 2);
    CHECK_STR(hits[1].id, S("m2"));
    CHECK(hits[0].score == 0.5);
    CHECK_STR(hits[0].payload,
              S("{\"memoryId\":\"m1\",\"userId\":\"local\",\"apiKeyId\":\"work\"}"));
    CHECK_STR(seen(ctx, s), S("GET /collections/mem\nPOST /collections/mem/points/query {\"query\":"
                              "[0.600000024,0.800000012],\"limit\":100," OWNER
                              ",{\"key\":\"apiKeyId\",\"match\":{\"value\":\"work\"}},"
                              "{\"key\":\"sessionId\",\"match\":{\"value\":\"s1\"}}]," EXPIRY
                              ",\"with_payload\":true}\n"));
    f.pool.space = f.session = S("");
    s->q.quantization = S("int8");
    CHECK_OK(qdrant_search(ctx, &s->q, &f, &hits, &n));
    CHECK_INT(n, 3);
    CHECK(holds(seen(ctx, s),
                "\"limit\":100,\"params\":{\"quantization\":{\"rescore\":true}}," OWNER
                "]," EXPIRY));
    tear_down(s);
}

TEST(an_older_server_is_asked_in_its_words)
{
    static const struct line script[] = {
        {"GET /collections/mem", 200, NAMED},
        {"POST /collections/mem/points/search", 200, "{\"result\":" HITS ",\"status\":\"ok\"}"},
        {0},
    };
    struct setting *s = set_up(ctx);
    struct qdrant_find f = {.pool = pool, .v = vector, .dimensions = 2, .limit = 3};
    struct qdrant_hit *hits;
    size_t n;
    s->app.script = script;
    CHECK_OK(qdrant_search(ctx, &s->q, &f, &hits, &n));
    CHECK_INT(n, 2);
    str asked = seen(ctx, s);
    CHECK(holds(asked, "points/query {\"query\":[0.600000024,0.800000012],\"using\":\"text\",\"l"));
    f.limit = 1;
    CHECK_OK(qdrant_search(ctx, &s->q, &f, &hits, &n));
    CHECK_INT(n, 1);
    CHECK(holds(asked, "points/search {\"vector\":{\"name\":\"text\",\"vector\":[0.600000024,"
                       "0.800000012]},\"limit\":3,"));
    tear_down(s);
}

TEST(without_a_collection_there_is_nothing_to_do)
{
    struct setting *s = set_up(ctx);
    struct qdrant_find f = {.pool = pool, .v = vector, .dimensions = 2, .limit = 3};
    struct qdrant_ref ref = {pool, S(ID)};
    struct qdrant_hit *hits;
    size_t n;
    int64_t deleted;
    CHECK_STATUS(qdrant_search(ctx, &s->q, &f, &hits, &n), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(qdrant_cleanup(ctx, &s->q, S("local"), 1, &deleted));
    CHECK_INT(deleted, 0);
    CHECK_STR(seen(ctx, s), S("GET /collections/mem\nGET /collections/mem\n"));
    CHECK_OK(qdrant_delete(ctx, &s->q, &ref, 1));
    tear_down(s);
}

TEST(clearing_counts_first)
{
    static const struct line none[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points/count", 200, "{\"result\":{\"count\":0}}"},
        {0},
    };
    static const struct line three[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points/count", 200, "{\"result\":{\"count\":3}}"},
        {"POST /collections/mem/points/delete?wait=true", 200, DONE},
        {0},
    };
    struct setting *s = set_up(ctx);
    int64_t deleted;
    fake_clock_set(1700000000500);
    s->app.script = none;
    CHECK_OK(qdrant_cleanup(ctx, &s->q, S("local"), 1600000000500, &deleted));
    CHECK_INT(deleted, 0);
#define OLD                                                                                        \
    OWNER "],\"should\":[{\"key\":\"expiresAtUnix\",\"range\":{\"lt\":1700000000}},"               \
          "{\"key\":\"createdAtUnix\",\"range\":{\"lt\":1600000000}}]}"
    CHECK_STR(seen(ctx, s), S("GET /collections/mem\nPOST /collections/mem/points/count {" OLD
                              ",\"exact\":true}\n"));
    s->app.script = three;
    CHECK_OK(qdrant_cleanup(ctx, &s->q, S("local"), 1600000000500, &deleted));
    CHECK_INT(deleted, 3);
    CHECK(str_ends(seen(ctx, s), S("points/delete?wait=true {" OLD "}\n")));
    tear_down(s);
}

/* --- what goes wrong --- */

static void health_fails(struct ctx *ctx, struct setting *s, int code, const char *body,
                         const char *says)
{
    struct line script[] = {{"GET /readyz", code, body}, {0}};
    int64_t took = -1;
    s->app.script = script;
    ctx_clear_failure(ctx);
    CHECK_STATUS(qdrant_health(ctx, &s->q, &took), UPSTREAM);
    CHECK_INT(took, -1);
    if (!holds(str_of(ctx->why), says))
        fail_msg("%s", ctx->why);
    CHECK(strlen(ctx->why) <= 200);
    CHECK(!holds(str_of(ctx->why), "top-secret"));
}

TEST(health_says_what_is_wrong)
{
    static const struct line well[] = {{"GET /readyz", 200, "all shards are ready"}, {0}};
    static const struct line locked[] = {
        {"GET /readyz", 200, "all shards are ready"},
        {"GET /collections/mem", 401, "Invalid API key or JWT"},
        {0},
    };
    struct setting *s = set_up(ctx);
    char *a_lot = arena_alloc(&ctx->arena, 1001);
    int64_t took = -1;
    s->app.script = well;
    CHECK_OK(qdrant_health(ctx, &s->q, &took));
    CHECK(took >= 0);
    memset(a_lot, 'a', 1000);
    health_fails(ctx, s, 503, "some shards are not ready", "503: some shards are not ready");
    health_fails(ctx, s, 503, a_lot, "aaaa");
    health_fails(ctx, s, 500, "the key top-secret is odd", "the key ********** is odd");
    (void)seen(ctx, s);
    health_fails(ctx, s, 302, "", "302");
    CHECK_STR(seen(ctx, s), S("GET /readyz\n"));
    s->app.script = locked;
    ctx_clear_failure(ctx);
    CHECK_STATUS(qdrant_health(ctx, &s->q, &took), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "401: Invalid API key"));
    tear_down(s);
}

TEST(vectors_of_another_length_are_not_sent)
{
    static const struct line script[] = {{"GET /collections/mem", 200, UNNAMED}, {0}};
    struct setting *s = set_up(ctx);
    static const float three[] = {1, 0, 0};
    struct qdrant_point p = point;
    p.v = three;
    p.dimensions = 3;
    s->app.script = script;
    CHECK_STATUS(qdrant_put(ctx, &s->q, &p, 1, true), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "'mem' holds vectors of 2 numbers and the embedding model makes "
                                  "3"));
    CHECK_STR(seen(ctx, s), S("GET /collections/mem\n"));
    tear_down(s);
}

TEST(a_refusal_is_told_in_the_servers_words)
{
    char *body = arena_alloc(&ctx->arena, 1000);
    memset(body, 'w', 900);
    memcpy(body, "{\"status\":{\"error\":\"Wrong input: ", 33);
    memcpy(body + 900, "\"}}", 4);
    struct line script[] = {
        {"GET /collections/mem", 200, UNNAMED},
        {"POST /collections/mem/points", 200, EMPTY},
        {"PUT /collections/mem/points?wait=true", 400, body},
        {0},
    };
    struct setting *s = set_up(ctx);
    s->app.script = script;
    CHECK_STATUS(qdrant_put(ctx, &s->q, &point, 1, true), BAD_INPUT);
    CHECK(str_starts(str_of(ctx->why), S("Qdrant answers 400: Wrong input: wwww")));
    CHECK(strlen(ctx->why) <= 300);
    ctx_clear_failure(ctx);
    script[2].code = 507;
    CHECK_STATUS(qdrant_put(ctx, &s->q, &point, 1, true), UPSTREAM);
    ctx_clear_failure(ctx);
    script[0].body = "<html>";
    CHECK_STATUS(qdrant_put(ctx, &s->q, &point, 1, true), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "holds no vectors"));
    tear_down(s);
}

TEST(without_an_address_nothing_is_asked)
{
    struct qdrant_settings q = {.collection = S("mem")};
    struct qdrant_find f = {.pool = pool, .v = vector, .dimensions = 2, .limit = 3};
    struct qdrant_hit *hits;
    size_t n;
    int64_t x;
    CHECK_STATUS(qdrant_health(ctx, &q, &x), UNSUPPORTED);
    CHECK_STR(str_of(ctx->why), S("not_configured"));
    CHECK_STATUS(qdrant_put(ctx, &q, &point, 1, true), UNSUPPORTED);
    CHECK_STATUS(qdrant_delete(ctx, &q, NULL, 0), UNSUPPORTED);
    CHECK_STATUS(qdrant_search(ctx, &q, &f, &hits, &n), UNSUPPORTED);
    CHECK_STATUS(qdrant_cleanup(ctx, &q, S("local"), 1, &x), UNSUPPORTED);
    q = (struct qdrant_settings){.url = S("http://127.0.0.1:1"),
                                 .collection = S("m"),
                                 .timeout_ms = 2000};
    ctx_clear_failure(ctx);
    CHECK_STATUS(qdrant_health(ctx, &q, &x), UPSTREAM);
}

TEST(a_host_becomes_an_address)
{
    static const char *const rows[][2] = {
        {"localhost", "http://localhost:6333"},
        {" 10.0.0.1/ ", "http://10.0.0.1:6333"},
        {"box:7000", "http://box:7000"},
        {"https://x.cloud.example//", "https://x.cloud.example:6333"},
        {"https://x.example:443/qdrant/", "https://x.example:443/qdrant"},
        {"http://x.example/qdrant", "http://x.example:6333/qdrant"},
        {"::1", "http://[::1]:6333"},
        {"[::1]", "http://[::1]:6333"},
        {"http://[::1]:7000", "http://[::1]:7000"},
        {"", ""},
        {" / ", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(qdrant_url(&ctx->arena, str_of(rows[i][0]), 6333), str_of(rows[i][1]));
}

TEST(any_name_of_a_collection_stays_inside_its_path)
{
    static const struct line well[] = {{"GET /readyz", 200, "ready"}, {0}};
    struct setting *s = set_up(ctx);
    int64_t took;
    s->q.collection = S("a b?é");
    s->app.script = well;
    CHECK_OK(qdrant_health(ctx, &s->q, &took));
    CHECK_STR(seen(ctx, s), S("GET /readyz\nGET /collections/a b?é\n"));
    tear_down(s);
}
