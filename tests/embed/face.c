/* face.c - a text gets its vector from what is chosen now, and the status says what happened. */
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "lib/embedder.h"
#include "lib/tiny_models.h"

struct setting {
    struct app app;
    struct server *server;
    struct settings settings;
    str folder;
    struct embed *e;
};

/* A table and a transformer in the folder, and a server as upstream "fake". */
static struct setting *set_up(struct ctx *ctx, const char *source)
{
    struct setting *s = NEW(&ctx->arena, struct setting);
    s->app.dimensions = 8;
    s->server = embedder_open(ctx, &s->app);
    s->settings = embedder_settings(ctx, s->server);
    s->folder = folder_new(ctx);
    s->settings.embedding_source =
        (enum embed_source)name_index(embed_choice_names, str_of(source), EMBED_AUTO);
    s->settings.embedding_model = S("fake/tiny/model");
    s->settings.embedding_static = s->settings.embedding_transformers = true;
    s->settings.model_dir = s->folder;
    s->settings.static_model = S("us/table");
    s->settings.transformers_model = S("us/bert");
    s->e = embed_new(&s->settings, model_folder(ctx, &s->settings, S("/nowhere")));
    return s;
}

static void tear_down(struct setting *s)
{
    s->app.let_go = true;
    embed_free(s->e);
    fake_server_close(s->server);
}

static str sub(struct ctx *ctx, const struct setting *s, const char *name)
{
    str path = str_printf(&ctx->arena, S_FMT "/%s", S_ARG(s->folder), name);
    CHECK_INT(mkdir(path.p, 0755), 0);
    return path;
}

static float length(const struct embedding *v)
{
    float square = 0;
    for (size_t i = 0; i < v->dimensions; i++)
        square += v->v[i] * v->v[i];
    return sqrtf(square);
}

TEST(a_table_gives_vectors_and_the_cache_keeps_them)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v[3];
    struct embed_status status;
    const str texts[] = {S("the cat"), S("  "), S("mats")};
    tiny_static(ctx, sub(ctx, s, "table"));
    CHECK_OK(embed_texts(ctx, s->e, texts, 3, v));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(v[i].source, EMBED_STATIC);
        CHECK_INT(v[i].dimensions, TINY_STATIC);
        CHECK_STR(v[i].model, S("table"));
        CHECK(!v[i].cached && fabsf(length(&v[i]) - (i != 1)) < 1e-5f);
    }
    struct embedding again[3];
    CHECK_OK(embed_texts(ctx, s->e, texts, 3, again));
    CHECK(again[0].cached && !again[1].cached && again[2].cached);
    CHECK(memcmp(v[2].v, again[2].v, TINY_STATIC * sizeof(float)) == 0);
    embed_status(ctx, s->e, &status);
    CHECK(status.available && status.hits == 2 && status.misses == 2 && status.size == 2);
    CHECK_STR(embed_signature(ctx, s->e), S("static:table:4"));
    tear_down(s);
}

TEST(a_missing_model_is_said_and_found_when_it_comes)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v;
    struct embed_status status;
    str text = S("the cat");
    embed_status(ctx, s->e, &status);
    CHECK(!status.available && holds(status.reason, "table/model.safetensors: No such file"));
    CHECK_STATUS(embed_texts(ctx, s->e, &text, 1, &v), STORAGE);
    CHECK_INT(ctx->detail, EMBED_LOAD_FAILED);
    CHECK(!holds(str_of(ctx->why), "model pull"));
    embed_status(ctx, s->e, &status);
    CHECK(!status.available && str_starts(status.reason, S("model_load_failed:")));
    tiny_static(ctx, sub(ctx, s, "table"));
    ctx_clear_failure(ctx);
    CHECK_STATUS(embed_texts(ctx, s->e, &text, 1, &v), STORAGE);
    struct embed_choice again = embed_choice_of(&s->settings);
    embed_choose(s->e, &again);
    ctx_clear_failure(ctx);
    CHECK_OK(embed_texts(ctx, s->e, &text, 1, &v));
    embed_status(ctx, s->e, &status);
    CHECK(status.available && !status.reason.n);
    tear_down(s);
}

TEST(another_choice_serves_one_call_and_changes_nothing)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v[2], own;
    struct embed_status status;
    const str texts[] = {S("the cat"), S("mats")};
    struct embed_choice other = {.source = EMBED_REMOTE, .provider_model = S("fake/tiny/model")};
    tiny_static(ctx, sub(ctx, s, "table"));
    CHECK_OK(embed_texts_by(ctx, s->e, &other, texts, 2, v));
    CHECK(v[1].source == EMBED_REMOTE && v[1].dimensions == 8 && fabsf(length(&v[1]) - 1) < 1e-5f);
    s->app.mode = BREAKS;
    CHECK_STATUS(embed_texts_by(ctx, s->e, &other, texts, 2, v), UPSTREAM);
    CHECK_INT(ctx->detail, EMBED_REQUEST_FAILED);
    ctx_clear_failure(ctx);
    embed_status(ctx, s->e, &status);
    CHECK(status.available && status.source == EMBED_STATIC);
    CHECK_OK(embed_texts(ctx, s->e, texts, 1, &own));
    CHECK(own.source == EMBED_STATIC && own.dimensions == TINY_STATIC);
    other.source = EMBED_STATIC; /* and not enabled */
    CHECK_STATUS(embed_texts_by(ctx, s->e, &other, texts, 2, v), UNSUPPORTED);
    tear_down(s);
}

TEST(a_known_model_that_is_missing_says_how_it_comes)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v;
    str text = S("the cat");
    s->settings.static_model = S("minishlab/potion-base-8M");
    CHECK_STATUS(embed_texts(ctx, s->e, &text, 1, &v), STORAGE);
    CHECK(holds(str_of(ctx->why), "rememberd model pull"));
    tear_down(s);
}

TEST(a_broken_model_is_said)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v;
    str text = S("the cat"), folder = sub(ctx, s, "table");
    tiny_static(ctx, folder);
    file_write(ctx, folder, "model.safetensors", S("\377\377\377\377\377\377\377\377"));
    CHECK_STATUS(embed_texts(ctx, s->e, &text, 1, &v), STORAGE);
    CHECK(holds(str_of(ctx->why), "the header has"));
    tear_down(s);
}

TEST(a_model_stays_in_its_folder)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v;
    str text = S("the cat");
    s->settings.static_model = S("../..");
    CHECK_STATUS(embed_texts(ctx, s->e, &text, 1, &v), STORAGE);
    CHECK(holds(str_of(ctx->why), "is not a valid model name"));
    tear_down(s);
}

TEST(the_choice_acts_at_once)
{
    struct setting *s = set_up(ctx, "static");
    struct embedding v;
    struct embed_status status;
    str text = S("the cat");
    tiny_static(ctx, sub(ctx, s, "table"));
    CHECK_OK(embed_texts(ctx, s->e, &text, 1, &v));
    struct embed_choice remote = {EMBED_AUTO, S("fake/tiny/model"), true, true};
    embed_choose(s->e, &remote);
    CHECK_STR(embed_signature(ctx, s->e), S("remote:tiny/model:0"));
    CHECK_OK(embed_texts(ctx, s->e, &text, 1, &v));
    CHECK_INT(v.source, EMBED_REMOTE);
    CHECK_INT(v.dimensions, 8);
    CHECK_STR(embed_signature(ctx, s->e), S("remote:tiny/model:8"));
    CHECK_OK(embed_texts(ctx, s->e, &text, 1, &v));
    CHECK(v.cached);
    CHECK_INT(s->app.calls, 1);
    struct embed_choice none = {EMBED_STATIC, S(""), false, false};
    embed_choose(s->e, &none);
    CHECK_STATUS(embed_texts(ctx, s->e, &text, 1, &v), UNSUPPORTED);
    CHECK(holds(str_of(ctx->why), "not enabled"));
    embed_status(ctx, s->e, &status);
    CHECK(status.source == EMBED_NONE && !status.available && status.reason.n);
    CHECK_STR(embed_signature(ctx, s->e), S(""));
    tear_down(s);
}

TEST(a_remote_failure_is_kept_until_a_success)
{
    struct setting *s = set_up(ctx, "remote");
    struct embedding v[2];
    struct embed_status status;
    const str texts[] = {S("one"), S("")};
    s->app.mode = LIMITS;
    CHECK_STATUS(embed_texts(ctx, s->e, texts, 2, v), UPSTREAM);
    CHECK_INT(ctx->detail, EMBED_RATE_LIMITED);
    embed_status(ctx, s->e, &status);
    CHECK(!status.available && str_starts(status.reason, S("rate_limited:")));
    s->app.mode = SERVES;
    ctx_clear_failure(ctx);
    CHECK_OK(embed_texts(ctx, s->e, texts, 2, v));
    CHECK_INT(s->app.texts, 1);
    CHECK(v[1].dimensions == 8 && v[1].v[0] == 0);
    embed_status(ctx, s->e, &status);
    CHECK(status.available && status.dimensions == 8);
    s->app.dimensions = 9;
    CHECK_STATUS(embed_texts(ctx, s->e, (const str[]){S("two")}, 1, v), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "9 dimensions, expected 8"));
    tear_down(s);
}

/* --- from several threads, while the choice changes --- */

struct worker {
    pthread_t thread;
    struct embed *e;
    bool failed;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < 200; i++) {
        struct ctx ctx = {0};
        struct embedding v[2];
        struct embed_status status;
        const str texts[] = {str_printf(&ctx.arena, "the cat %d", i % 50), S("mat")};
        enum status s = embed_texts(&ctx, w->e, texts, 2, v);
        w->failed |= s != OK || v[0].dimensions != v[1].dimensions || length(&v[1]) < 0.9f;
        embed_status(&ctx, w->e, &status);
        ctx_free(&ctx);
    }
    return NULL;
}

TEST(many_threads_ask_while_the_choice_changes)
{
    enum { THREADS = 4 };
    struct setting *s = set_up(ctx, "static");
    struct worker workers[THREADS] = {0};
    tiny_static(ctx, sub(ctx, s, "table"));
    enum embed_source other = no_onednn() ? EMBED_STATIC : EMBED_TRANSFORMERS;
    tiny_bert(ctx, sub(ctx, s, "bert"));
    for (int i = 0; i < THREADS; i++) {
        workers[i].e = s->e;
        CHECK_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 100; i++) {
        struct embed_choice c = {i % 2 ? EMBED_STATIC : other, S(""), true, true};
        embed_choose(s->e, &c);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(!workers[i].failed);
    }
    tear_down(s);
}
