/* remote.c - another server's vectors, and every way in which it can fail. */
#include "embed/remote.h"

#include <math.h>

#include "lib/embedder.h"
#include "lib/tiny_models.h"

enum { D = 8 };

struct setting {
    struct app app;
    struct server *server;
    struct settings settings;
    struct remote remote;
};

static struct setting *set_up(struct ctx *ctx)
{
    struct setting *s = NEW(&ctx->arena, struct setting);
    s->app.dimensions = D;
    s->server = embedder_open(ctx, &s->app);
    s->settings = embedder_settings(ctx, s->server);
    s->remote = (struct remote){.up = &s->settings.upstreams[0],
                                .model = S("tiny/model"),
                                .timeout_ms = 5000};
    return s;
}

static void tear_down(struct setting *s)
{
    s->app.let_go = true;
    fake_server_close(s->server);
}

TEST(vectors_have_length_one_and_stand_in_order)
{
    struct setting *s = set_up(ctx);
    str texts[100];
    float *v, *turned;
    size_t d, again;
    for (int i = 0; i < 100; i++)
        texts[i] = str_printf(&ctx->arena, "text %d \"quoted\"\n", i);
    CHECK_OK(remote_embed(ctx, &s->remote, texts, 100, &v, &d));
    CHECK_INT(d, D);
    CHECK_INT(s->app.calls, 2);
    CHECK_INT(s->app.texts, 100);
    s->app.mode = TURNS_AROUND;
    CHECK_OK(remote_embed(ctx, &s->remote, texts, 100, &turned, &again));
    CHECK(memcmp(v, turned, 100 * D * sizeof *v) == 0);
    for (int i = 0; i < 100; i++) {
        float square = 0;
        for (int j = 0; j < D; j++)
            square += v[i * D + j] * v[i * D + j];
        CHECK(fabsf(square - 1) < 1e-5f);
    }
    tear_down(s);
}

static void fails(struct ctx *ctx, struct setting *s, enum mode mode, enum status status,
                  const char *reason, const char *says)
{
    str text = S("hello");
    float *v;
    size_t d;
    s->app.mode = mode;
    ctx_clear_failure(ctx);
    CHECK_STATUS(remote_embed(ctx, &s->remote, &text, 1, &v, &d), status);
    CHECK_STR(str_of(embed_failure_names[ctx->detail]), str_of(reason));
    if (!holds(str_of(ctx->why), says))
        fail_msg("%s", ctx->why);
}

TEST(each_failure_has_its_reason)
{
    struct setting *s = set_up(ctx);
    fails(ctx, s, REFUSES_KEY, UPSTREAM, "no_key", "401: not today");
    fails(ctx, s, LIMITS, UPSTREAM, "rate_limited", "429");
    fails(ctx, s, BREAKS, UPSTREAM, "request_failed", "500: not today");
    fails(ctx, s, SPEAKS_NO_JSON, UPSTREAM, "request_failed", "invalid JSON");
    fails(ctx, s, GIVES_TOO_FEW, UPSTREAM, "request_failed", "wrong number of vectors");
    fails(ctx, s, GIVES_ZEROS, UPSTREAM, "request_failed", "zero or infinite");
    fails(ctx, s, GIVES_WORDS, UPSTREAM, "request_failed", "not numbers");
    s->remote.dimensions = D + 1;
    fails(ctx, s, SERVES, UPSTREAM, "request_failed", "8 dimensions, expected 9");
    s->remote.dimensions = 0;
    s->app.dimensions = 0;
    fails(ctx, s, SERVES, UPSTREAM, "request_failed", "no vector");
    s->remote.timeout_ms = 50;
    fails(ctx, s, STALLS, TIMED_OUT, "timeout", "in time");
    tear_down(s);
}

TEST(a_server_that_repeats_a_text_is_not_quoted)
{
    struct setting *s = set_up(ctx);
    const str texts[][2] = {{S("hello"), S("Anna said: not today, nor tomorrow")},
                            {S(" not "), S("hello")}};
    float *v;
    size_t d;
    s->app.mode = BREAKS;
    for (size_t i = 0; i < 2; i++) {
        ctx_clear_failure(ctx);
        CHECK_STATUS(remote_embed(ctx, &s->remote, texts[i], 2, &v, &d), UPSTREAM);
        CHECK(holds(str_of(ctx->why), "answers 500: (in words that repeat what was asked)"));
        CHECK(!holds(str_of(ctx->why), "today"));
    }
    tear_down(s);
}

TEST(two_vectors_of_one_number_are_refused)
{
    struct setting *s = set_up(ctx);
    str texts[] = {S("one"), S("two")};
    float *v;
    size_t d;
    s->app.mode = GIVES_TWICE;
    CHECK_STATUS(remote_embed(ctx, &s->remote, texts, 2, &v, &d), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "a missing or repeated index"));
    tear_down(s);
}

TEST(a_server_that_is_not_there_is_a_failed_request)
{
    struct upstream up = {.name = S("gone"), .url = S("http://127.0.0.1:1")};
    struct remote r = {.up = &up, .model = S("m"), .timeout_ms = 2000};
    str text = S("hello");
    float *v;
    size_t d;
    CHECK_STATUS(remote_embed(ctx, &r, &text, 1, &v, &d), UPSTREAM);
    CHECK_INT(ctx->detail, EMBED_REQUEST_FAILED);
}
