/* cortex_chat.c - Cortex's chat: a message in a session, and what the model is given for it. */
#include "surface/cortex_chat.h"

#include "base/id.h"
#include "core/tokens.h"
#include "surface/demo.h"
#include "surface/history.h"
#include "surface/splice.h"

enum { BODY_MAX = 256 << 20, KEY_MAX = 4000 };

#define SYSTEM                                                                                     \
    "You are a helpful assistant. The conversation may have begun before what you see of it. Use " \
    "what is remembered of the user where it helps, and do not mention it where it does not."

/* --- shapes --- */

const char *const chat_preferences[] = {"fast", "balanced", "powerful", NULL};

struct chat_config {
    bool stream;
    str model_preference, switch_ai_api_key, embedding_model;
};
static const struct field chat_config_fields[] = {
    {BOOL(struct chat_config, stream), .help = "answer as server-sent events"},
    {STR(struct chat_config, model_preference), .otherwise_str = "balanced",
     .one_of = chat_preferences, .help = "which of the models that the server is set to"},
    {STR(struct chat_config, switch_ai_api_key), .otherwise_str = "", .max = KEY_MAX,
     .empty = EMPTY_NULL,
     .help = "key for the model's server; else the user's stored one, else the server's own"},
    {STR(struct chat_config, embedding_model), .otherwise_str = "", .max = 200, .empty = EMPTY_NULL,
     .help = "accepted and ignored: one source makes the vectors of all"},
    {0},
};

struct chat_in {
    str session_id, message;
    struct chat_config config;
};
static const struct field chat_in_fields[] = {
    {STR(struct chat_in, session_id), .required = true, .min = 1, .max = 256},
    {STR(struct chat_in, message), .required = true, .min = 1, .help = "what the user says"},
    {FIELD_(struct chat_in, config, struct chat_config, FIELD_OBJECT, "config"),
     .inside = chat_config_fields},
    {0},
};

/* --- where it is said --- */

static bool has_upstream(const struct settings *s, str name)
{
    for (size_t i = 0; i < s->n_upstreams; i++)
        if (str_eq(s->upstreams[i].name, name))
            return true;
    return false;
}

/* Cortex's own settings put openai/ before the models of any server that speaks OpenAI's dialect;
 * it is no part of their names. */
static str model_of(const struct settings *s, str preference)
{
    const str models[] = {s->model_fast, s->model_balanced, s->model_powerful};
    str model = models[name_index(chat_preferences, preference, 1)], rest = model;
    bool is_openai = str_is(str_cut(&rest, '/'), "openai") && rest.n;
    return is_openai && !has_upstream(s, S("openai")) ? rest : model;
}

static enum status find_model(struct ctx *ctx, const struct settings *s, struct chat_scene *scene,
                              str preference)
{
    scene->model = model_of(s, preference);
    scene->to = (struct target){.model = S(DEMO_MODEL)};
    if (s->n_upstreams && target_of(ctx, s, scene->model, &scene->to) != OK) {
        ctx_clear_failure(ctx);
        return fail(ctx, UPSTREAM,
                    "no model server is set for '" S_FMT "', the model for " S_FMT
                    ": see the setting model_" S_FMT,
                    S_ARG(scene->model), S_ARG(preference), S_ARG(preference));
    }
    if (!scene->to.up)
        scene->model = S(DEMO_MODEL);
    return OK;
}

static enum status find_session(struct ctx *ctx, struct app *app, const struct request *in, str id,
                                struct chat_scene *out)
{
    TRY(session_of(ctx, app, in, id, &out->turn.pool, &out->session));
    out->turn.session = out->session.id;
    return OK;
}

enum status chat_scene_of(struct ctx *ctx, struct app *app, const struct request *in, str session,
                          str preference, str message, struct chat_scene *out)
{
    const struct settings *s = app->settings;
    *out = (struct chat_scene){0};
    TRY(find_session(ctx, app, in, session, out));
    TRY(find_model(ctx, s, out, preference));
    out->system = out->to.up && target_rejects_system(&ctx->arena, &out->to) ? S("") : S(SYSTEM);
    out->turn.model = out->to.model;
    TRY(history_of(ctx, app, &out->turn, tokens_of(out->system), message, &out->window));
    const struct shares *shares = &out->window.shares;
    out->room = shares->total - shares->system - shares->history - shares->generation;
    return OK;
}

/* --- what goes to the model --- */

/* Memory helps, but never at the price of the question. */
static void begin(struct ctx *ctx, struct app *app, struct chat_scene *scene, int64_t left)
{
    struct turn *t = &scene->turn;
    engine_begin_turn(ctx, app->engine, t);
    if (tokens_of(t->block) <= left)
        return;
    t->block = t->record.block = S("");
    t->record.tokens = 0;
    t->record.reason = S("what was found has no room beside the message");
    for (size_t i = 0; i < t->record.n; i++)
        t->record.lines[i].injected = false;
}

static str body_of(struct ctx *ctx, const struct chat_scene *scene, bool is_stream)
{
    struct buf b = buf_make(&ctx->arena, BODY_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "model");
    json_str(&w, scene->to.model);
    json_key(&w, "messages");
    json_open(&w, '[');
    if (scene->system.n)
        history_message(&w, S("system"), scene->system);
    history_write(&w, &scene->window);
    history_message(&w, S("user"), scene->turn.said[0].text);
    json_close(&w, ']');
    json_key(&w, "stream");
    json_bool(&w, is_stream);
    buf_add(&b, is_stream ? S(CHAT_USAGE_WISH) : S("}"));
    return b.full ? S("") : buf_str(&b);
}

/* The block is put where the proxy would put it. */
static enum status with_block(struct ctx *ctx, const struct app *app,
                              const struct chat_scene *scene, str body, str *out)
{
    struct json *root;
    struct splice s = {.body = body};
    if (!body.n)
        return fail(ctx, TOO_LARGE, "the conversation is too long for one request");
    *out = body;
    if (!scene->turn.block.n)
        return OK;
    TRY(json_parse(ctx, body, &root));
    const struct json *messages = json_get(root, "messages"), *at = messages->first;
    while (at->next)
        at = at->next;
    const struct block block = {.text = scene->turn.block,
                                .where = target_placement(app->settings, &scene->to),
                                .no_system = target_rejects_system(&ctx->arena, &scene->to)};
    splice_block(&ctx->arena, &s, root, messages, at, &block);
    *out = splice_done(&ctx->arena, &s);
    return OK;
}

static enum status credential_of(struct ctx *ctx, struct app *app, const struct chat_scene *scene,
                                 str given, str *out)
{
    *out = str_trim(given);
    TRY(engine_check_model_key(ctx, "switch_ai_api_key", *out));
    if (!out->n)
        TRY(engine_model_key(ctx, app->engine, scene->turn.pool.user, out));
    if (!out->n)
        *out = scene->to.up->key;
    return OK;
}

static struct relay *relay_of(struct ctx *ctx, const struct chat_scene *scene, str key,
                              bool is_stream, str body)
{
    struct arena *a = &ctx->arena;
    struct relay *r = NEW(a, struct relay);
    struct header *headers = NEW_N(a, struct header, 3);
    *r = (struct relay){
        .url = upstream_url(a, scene->to.up, S("/v1/chat/completions"), S("")),
        .method = S("POST"),
        .headers = headers,
        .body = body,
    };
    headers[r->n_headers++] = (struct header){S("Content-Type"), S("application/json")};
    headers[r->n_headers++] =
        (struct header){S("Accept"), is_stream ? S("text/event-stream") : S("application/json")};
    if (key.n)
        headers[r->n_headers++] =
            (struct header){S("Authorization"), str_printf(a, "Bearer " S_FMT, S_ARG(key))};
    return r;
}

static int64_t tokens_asked(const struct chat_scene *scene)
{
    return tokens_of(scene->system) + scene->window.tokens + tokens_of(scene->turn.block) +
           tokens_of(scene->turn.said[0].text);
}

static const str *asked_of(struct ctx *ctx, const struct chat_scene *scene, str key, size_t *n)
{
    str *v = NEW_N(&ctx->arena, str, scene->window.n + 3);
    *n = 0;
    v[(*n)++] = scene->turn.said[0].text;
    v[(*n)++] = scene->turn.block;
    v[(*n)++] = key;
    for (size_t i = 0; i < scene->window.n; i++)
        v[(*n)++] = scene->window.v[i].text;
    return v;
}

static enum status ask_model(struct ctx *ctx, struct app *app, const struct chat_wish *wish,
                             const struct chat_scene *scene, struct chat_answer_in *answer,
                             struct reply *out)
{
    str key, body = S("");
    TRY(credential_of(ctx, app, scene, wish->key, &key));
    TRY(with_block(ctx, app, scene, body_of(ctx, scene, wish->is_stream), &body));
    answer->asked = asked_of(ctx, scene, key, &answer->n_asked);
    out->relay = relay_of(ctx, scene, key, wish->is_stream, body);
    chat_answer_on(ctx, out->relay, answer);
    return OK;
}

static enum status check_room(struct ctx *ctx, const struct chat_scene *scene, str message)
{
    int64_t tokens = tokens_of(message);
    if (tokens <= scene->room)
        return OK;
    return fail_field(ctx, "token_budget",
                      "the message takes about %lld tokens, and %lld of the model's %lld are left "
                      "for it",
                      (long long)tokens, (long long)(scene->room > 0 ? scene->room : 0),
                      (long long)scene->window.shares.total);
}

enum status chat_say(struct ctx *ctx, struct app *app, const struct request *in,
                     const struct chat_wish *wish, struct reply *out)
{
    struct chat_scene *scene = NEW(&ctx->arena, struct chat_scene);
    struct said *said = NEW(&ctx->arena, struct said);
    struct turn *t = &scene->turn;
    if (!str_trim(wish->message).n)
        return fail_field(ctx, "message", "must say something");
    TRY(chat_scene_of(ctx, app, in, wish->session, wish->preference, wish->message, scene));
    TRY(check_room(ctx, scene, wish->message));
    *said = (struct said){.role = S("user"), .text = wish->message};
    t->said = said;
    t->n_said = 1;
    t->rewrite_ms = app->settings->rewrite_timeout_ms;
    t->is_durable = t->goes_on = true;
    t->answer_id = id_random(&ctx->arena);
    begin(ctx, app, scene, scene->room - tokens_of(wish->message));
    struct chat_answer_in answer = {.request = in,
                                    .turn = t,
                                    .model = scene->to.model,
                                    .priced = scene->model,
                                    .tokens_in = tokens_asked(scene),
                                    .is_stream = wish->is_stream,
                                    .in_reply_to = wish->in_reply_to};
    out->type = wish->is_stream ? S("text/event-stream")
                : wish->type.n  ? wish->type
                                : S("application/json");
    if (wish->is_stream)
        reply_header(out, "Cache-Control", S("no-cache"));
    if (t->receipt.n)
        reply_header(out, "X-Rememberd-Receipt", t->receipt);
    if (scene->to.up)
        return ask_model(ctx, app, wish, scene, &answer, out);
    t->stand_in = true;
    str text = engine_demo_answer(ctx, wish->message, t);
    return chat_answer_now(ctx, app, &answer, text, out);
}

static enum status chat(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
{
    const struct chat_in *c = in->in;
    const struct chat_wish wish = {.session = c->session_id,
                                   .message = c->message,
                                   .preference = c->config.model_preference,
                                   .key = c->config.switch_ai_api_key,
                                   .is_stream = c->config.stream};
    return chat_say(ctx, app, in, &wish, out);
}

static const struct route routes[] = {
    {"POST", "/v1/chat", chat, TAKES(chat_in), .gives = chat_out_fields,
     .help = "a message in a session, answered whole or as events (message, done, error)"},
    {"GET", "/v1/session/{id}/context", chat_context, TAKES(context_in),
     .gives = context_out_fields, .help = "what the model would be given with the next message"},
    {0},
};

const struct surface surface_cortex_chat = {"cortex", routes, word_cortex_error, admit_own,
                                            TRACE_HEADER};
