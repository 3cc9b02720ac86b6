/* model.c - a scripted model: answers, orders, and every way in which it can fail. */
#include "lib/model.h"

#include "lib/clock.h"

static void write_usage(struct json_out *w, bool is_anthropic)
{
    json_key(w, "usage");
    json_raw(w, is_anthropic ? S("{\"input_tokens\":12,\"output_tokens\":3}")
                             : S("{\"prompt_tokens\":12,\"completion_tokens\":3}"));
}

/* Answers with the next row of the script. */
static bool recite_script(struct app *app, bool is_anthropic, struct reply *out)
{
    const struct scripted *now = &app->script[atomic_fetch_add(&app->said, 1)];
    struct json_out w = json_to(&out->body);
    out->code = now->code || now->text || now->body ? now->code : 418;
    if (now->retry_after)
        reply_header(out, "Retry-After", str_of(now->retry_after));
    if (!now->text) {
        buf_add(&out->body, str_of(now->body ? now->body : "{}"));
        return true;
    }
    json_open(&w, '{');
    json_key(&w, is_anthropic ? "content" : "choices");
    json_open(&w, '[');
    json_open(&w, '{');
    if (!is_anthropic) {
        json_key(&w, "message");
        json_open(&w, '{');
    }
    json_key(&w, is_anthropic ? "text" : "content");
    json_str(&w, str_of(now->text));
    if (!is_anthropic)
        json_close(&w, '}');
    json_close(&w, '}');
    json_close(&w, ']');
    if (!now->counts_nothing)
        write_usage(&w, is_anthropic);
    json_close(&w, '}');
    return true;
}

/* True when this has answered the call: a refusal, a failure, no JSON, or a row of the script. */
static bool call_fails(struct app *app, const struct request *in, const char *model, bool is_shaped,
                       struct reply *out)
{
    bool is_anthropic = str_is(in->path, "/v1/messages");
    bool is_strict =
        str_is(request_header(in, "Authorization"), is_anthropic ? "" : "Bearer secret") &&
        str_is(request_header(in, "x-api-key"), is_anthropic ? "secret" : "") && is_shaped &&
        str_is(json_string(json_get(in->json, "model")), model);
    int call = atomic_fetch_add(&app->calls, 1);
    if (call < ASKED_MAX)
        app->as_json[call] = json_get(in->json, "response_format") != NULL;
    if (app->mode == STALLS)
        (void)COMES_TRUE(app->let_go || app->mode != STALLS);
    if (is_strict && app->script)
        return recite_script(app, is_anthropic, out);
    if (is_strict && app->mode == SPEAKS_NO_JSON) {
        buf_add(&out->body, S("<html>"));
        return true;
    }
    out->code = !is_strict ? 400 : app->mode == REFUSES_KEY ? 401 : app->mode == BREAKS ? 503 : 0;
    if (out->code)
        buf_add(&out->body, S("{\"error\":{\"message\":\"not today\"}}"));
    return out->code != 0;
}

/* --- answers --- */

static void write_content(struct json_out *w, const struct app *app)
{
    str answer = app->answer.n ? app->answer : S("said");
    if (app->mode == SAYS_NOTHING) {
        json_null(w);
    } else if (app->mode == ANSWERS_IN_PARTS) {
        json_raw(w, S("[{\"type\":\"text\",\"text\":\"sa\"},{\"type\":\"text\",\"text\":\"id\"}]"));
    } else if (app->mode == THINKS_ALOUD) {
        json_str(w, S("<think>\nWhat to say?\n</think>\n\nsaid\n"));
    } else {
        json_str(w, answer);
    }
}

static void write_answer(struct json_out *w, const struct app *app)
{
    json_open(w, '{');
    json_key(w, "choices");
    json_open(w, '[');
    json_open(w, '{');
    json_key(w, "finish_reason");
    json_str(w, app->mode == IS_CUT ? S("length") : S("stop"));
    json_key(w, "message");
    json_open(w, '{');
    json_key(w, "content");
    write_content(w, app);
    json_close(w, '}');
    json_close(w, '}');
    json_close(w, ']');
    write_usage(w, false);
    json_close(w, '}');
}

/* A call that stalls may overlap with the next one, so it leaves no trace. */
static void remember_user(struct app *app, const struct json *messages)
{
    const struct json *last = NULL;
    if (app->mode == STALLS)
        return;
    for (const struct json *m = messages ? messages->first : NULL; m; m = m->next)
        last = m;
    pthread_mutex_lock(&app->user_lock);
    snprintf(app->user, sizeof app->user, S_FMT, S_ARG(json_string(json_get(last, "content"))));
    pthread_mutex_unlock(&app->user_lock);
}

static enum status answer_chat(__attribute__((unused)) struct ctx *ctx, struct app *app,
                               const struct request *in, struct reply *out)
{
    const struct json *messages = json_get(in->json, "messages"), *last = NULL;
    for (const struct json *m = messages ? messages->first : NULL; m; m = m->next)
        last = m;
    bool newer = json_get(in->json, "max_completion_tokens") != NULL;
    bool older = json_get(in->json, "max_tokens") != NULL;
    bool is_shaped = last && str_is(json_string(json_get(last, "role")), "user") &&
                     json_string(json_get(last, "content")).n && newer != older &&
                     !json_is_true(json_get(in->json, "stream"));
    remember_user(app, messages);
    if (app->script && app->meanwhile)
        app->meanwhile(app->own);
    if (call_fails(app, in, "tiny/chat", is_shaped, out))
        return OK;
    if (app->mode == WANTS_NEWER && older) {
        out->code = 400;
        buf_add(&out->body, S("{\"error\":{\"message\":\"Unsupported: 'max_tokens'. Use "
                              "'max_completion_tokens' instead.\"}}"));
        return OK;
    }
    if (app->meanwhile)
        app->meanwhile(app->own);
    struct json_out w = json_to(&out->body);
    write_answer(&w, app);
    return OK;
}

static enum status answer_messages(__attribute__((unused)) struct ctx *ctx, struct app *app,
                                   const struct request *in, struct reply *out)
{
    const struct json *list = json_get(in->json, "messages");
    const struct json *system = json_get(in->json, "system");
    struct json_out w = json_to(&out->body);
    bool is_shaped = str_is(request_header(in, "anthropic-version"), "2023-06-01") &&
                     json_int_or(json_get(in->json, "max_tokens"), 0) > 0 && list &&
                     str_is(json_string(json_at(list, "0.role")), "user") &&
                     json_string(json_at(list, "0.content")).n &&
                     (!system || json_string(system).n) && in->json->n == 3 + (system != NULL);
    remember_user(app, list);
    if (call_fails(app, in, "tiny/chat", is_shaped, out))
        return OK;
    json_open(&w, '{');
    json_key(&w, "type");
    json_str(&w, S("message"));
    json_key(&w, "content");
    json_raw(&w, app->mode == SAYS_NOTHING
                     ? S("[]")
                     : S("[{\"type\":\"thinking\",\"thinking\":\"What to say?\"},"
                         "{\"type\":\"text\",\"text\":\"sa\"},"
                         "{\"type\":\"text\",\"text\":\"id\"}]"));
    json_key(&w, "stop_reason");
    json_str(&w, app->mode == IS_CUT ? S("max_tokens") : S("end_turn"));
    write_usage(&w, true);
    json_close(&w, '}');
    return OK;
}

/* --- orders --- */

struct judged {
    size_t index, length;
};

static int longest_first(const void *a, const void *b)
{
    const struct judged *x = a, *y = b;
    return (x->length < y->length) - (x->length > y->length);
}

static void write_result(struct json_out *w, int64_t index, double score)
{
    json_open(w, '{');
    json_key(w, "index");
    json_int(w, index);
    json_key(w, "relevance_score");
    json_num(w, score);
    json_close(w, '}');
}

static void write_results(struct json_out *w, const struct app *app, const struct judged *v,
                          size_t n)
{
    json_open(w, '{');
    json_key(w, "results");
    json_open(w, '[');
    if (app->mode == NAMES_ONE) {
        write_result(w, (int64_t)n - 1, 0.5);
    } else if (app->mode == NAMES_ODD) {
        write_result(w, -1, 0.9);
        write_result(w, (int64_t)n, 0.9);
        json_raw(w, S("{\"index\":0,\"relevance_score\":\"much\"}"));
        json_raw(w, S("7"));
        write_result(w, 1, 0.4);
        write_result(w, 1, 0.9);
    } else if (app->mode != SAYS_NOTHING) {
        for (size_t i = 0; i < n; i++)
            write_result(w, (int64_t)v[i].index, 1 / (double)(i + 1));
    }
    json_close(w, ']');
    json_close(w, '}');
}

static enum status answer_order(struct ctx *ctx, struct app *app, const struct request *in,
                                struct reply *out)
{
    const struct json *documents = json_get(in->json, "documents");
    size_t n = documents && documents->type == JSON_ARRAY ? documents->n : 0, i = 0;
    struct judged *v = NEW_N(&ctx->arena, struct judged, n + 1);
    bool is_shaped = n && json_string(json_get(in->json, "query")).n &&
                     json_int_or(json_get(in->json, "top_n"), 0) == (int64_t)n;
    for (const struct json *d = n ? documents->first : NULL; d; d = d->next, i++) {
        v[i] = (struct judged){i, json_string(d).n};
        is_shaped &= d->type == JSON_STRING;
    }
    if (call_fails(app, in, "tiny/order", is_shaped, out))
        return OK;
    qsort(v, n, sizeof *v, longest_first);
    struct json_out w = json_to(&out->body);
    write_results(&w, app, v, n);
    return OK;
}

/* --- the server --- */

static const struct route routes[] = {
    {.method = "POST", .path = "/v1/chat/completions", .run = answer_chat, .wants_json = true},
    {.method = "POST", .path = "/v1/messages", .run = answer_messages, .wants_json = true},
    {.method = "POST", .path = "/v1/rerank", .run = answer_order, .wants_json = true},
    {0},
};

struct model *model_open(struct ctx *ctx)
{
    struct model *m = NEW(&ctx->arena, struct model);
    pthread_mutex_init(&m->app.user_lock, NULL);
    m->server = fake_server_open(ctx, routes, &m->app);
    m->up = fake_server_upstream(ctx, m->server);
    return m;
}

void model_close(struct model *m)
{
    m->app.let_go = true;
    fake_server_close(m->server);
}

void model_closep(struct model **m)
{
    model_close(*m);
}

void model_be_upstream(const struct model *m, struct settings *settings)
{
    settings->upstreams[0] = m->up;
    settings->n_upstreams = 1;
}

void model_be_core(const struct model *m, struct settings *settings)
{
    model_be_upstream(m, settings);
    settings->core_model = S("fake/tiny/chat");
}
