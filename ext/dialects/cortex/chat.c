/* chat.c - Cortex's chat: a message in a session, and what the model is given for it. */
#include "ext/dialects/cortex/chat.h"

#include "base/id.h"
#include "core/tokens.h"
#include "surface/common/switches.h"
#include "surface/common/without_memory.h"
#include "surface/proxy/demo_answer.h"
#include "surface/proxy/session_history.h"
#include "surface/proxy/splice.h"

/*
 * Unlike the proxy, where the client brings the conversation, Cortex's clients send one message and
 * the name of a session. So the whole request to the model is written here: a system message, the
 * session's earlier messages as far as the window has room, and the new one with the memory block
 * beside it. The message itself is never shortened; memory is what gives way.
 *
 * The order: find session, model and window (chat_scene_of), see that the message fits, begin the
 * turn, ask the model. stream.c turns the answer into Cortex's shapes and keeps the turn before the
 * client has the end.
 */

/* BODY_MAX only guards against a session out of all proportion: the window decides long before. */
enum { BODY_MAX = 256 << 20, KEY_MAX = 4000 };

#define SYSTEM                                                                                     \
    "You are a helpful assistant. The conversation may have begun before what you see of it. Use " \
    "what is remembered of the user where it helps, and do not mention it where it does not."

/* --- shapes --- */

const char *const chat_preferences[] = {"fast", "balanced", "powerful", NULL};

SHAPE(chat_config, (BOOL, stream, .help = "answer as server-sent events"),
      (STR, model_preference, .otherwise_str = "balanced", .one_of = chat_preferences,
       .help = "which of the models that the server is set to"),
      (STR, switch_ai_api_key, .otherwise_str = "", .max = KEY_MAX, .empty = EMPTY_NULL,
       .help = "key for the model's server; else the user's stored one, else the server's own"),
      (STR, embedding_model, .otherwise_str = "", .max = 200, .empty = EMPTY_NULL,
       .help = "accepted and ignored: all vectors come from one embedding source"));

SHAPE(chat_in, (STR, session_id, .required = true, .min = 1, .max = 256),
      (STR, message, .required = true, .min = 1, .help = "what the user says"),
      (OBJECT, config, struct chat_config, .inside = chat_config_fields));

/* --- where the message is said --- */

/* Cortex's own settings put openai/ before the models of every server that speaks OpenAI's dialect,
 * and these servers do not know the prefix. */
static str model_of(const struct settings *s, str preference)
{
    const str models[] = {s->model_fast, s->model_balanced, s->model_powerful};
    str model = models[name_index(chat_preferences, preference, 1)], rest = model;
    bool is_openai = str_is(str_cut(&rest, '/'), "openai") && rest.n;
    bool is_name = SOME(i, s->n_upstreams, str_is(s->upstreams[i].name, "openai"));
    return is_openai && !is_name ? rest : model;
}

/* A request names a preference, no model. Until somebody names a model or an upstream, the built-in
 * model answers, under its own name. */
static enum status find_model(struct ctx *ctx, const struct settings *s, struct chat_scene *scene)
{
    str preference = scene->wish.preference;
    str setting = str_printf(&ctx->arena, "model_" S_FMT, S_ARG(preference));
    bool is_free = !s->n_upstreams && s->from[setting_of(setting)] == FROM_DEFAULT;
    scene->model = is_free ? S(DEMO_MODEL) : model_of(s, preference);
    if (soft(ctx, target_of(ctx, s, scene->model, &scene->to)))
        return OK;
    return fail(ctx, UPSTREAM,
                "no model server is set for '" S_FMT "', the model for " S_FMT
                ": start rememberd with --upstream URL, or set " S_FMT " to " DEMO_MODEL,
                S_ARG(scene->model), S_ARG(preference), S_ARG(setting));
}

/* Used by the chat and by its preview (context.c), so that both see the same model, window and
 * room. room is what the model's window has left for the message and the block, in tokens. */
enum status chat_scene_of(struct ctx *ctx, struct app *app, const struct request *in,
                          const struct chat_wish *wish, struct chat_scene *out)
{
    const struct settings *s = app->settings;
    assert(in->who.pool.user.n);
    *out = (struct chat_scene){.request = in, .wish = *wish};
    /* Whoever begins a turn writes into the session, so it must be one that the caller reaches. */
    TRY(session_of(ctx, app, in, wish->session, &out->in.pool, &out->session));
    out->in.session = out->session.id;
    TRY(switches_mode(ctx, in, &out->in.mode));
    TRY(find_model(ctx, s, out));
    out->system = out->to.up && target_rejects_system(&ctx->arena, &out->to) ? S("") : S(SYSTEM);
    out->in.model = out->to.model;
    out->in.stand_in = !out->to.up;
    TRY(history_of(ctx, app, &out->in, tokens_of(out->system), wish->message, &out->window));
    if (out->in.mode == MODE_OFF) {
        /* The shares stay: the message may take what it might have taken. */
        out->window.v = NULL;
        out->window.n = out->in.n_window = 0;
        out->window.tokens = 0;
        out->in.window = NULL;
    }
    const struct shares *shares = &out->window.shares;
    out->room = shares->total - shares->system - shares->history - shares->generation;
    return OK;
}

/* --- what goes to the model --- */

/* The texts of the window are parted as session_history.h says, and the message of the user is
 * last. The block is put where the proxy would put it. */
static enum status body_of(struct ctx *ctx, const struct app *app, const struct chat_scene *scene,
                           str block, str *out)
{
    struct arena *a = &ctx->arena;
    struct json_out w = json_in(a, BODY_MAX);
    enum placement where = target_placement(app->settings, &scene->to);
    bool is_users = where == PLACE_FIRST_USER || target_rejects_system(a, &scene->to);
    str role = is_users ? S("user") : S("system");
    str said = scene->in.said[0].text, before = history_unanswered(a, &scene->window);
    json_open(&w, '{');
    json_member_str(&w, "model", scene->to.model);
    json_member_open(&w, "messages", '[');
    if (block.n && (where == PLACE_SYSTEM || where == PLACE_FIRST_USER))
        history_message(&w, role, block);
    if (scene->system.n)
        history_message(&w, S("system"), scene->system);
    history_write(a, &w, &scene->window);
    if (block.n && where == PLACE_BEFORE_USER)
        history_message(&w, role, block);
    if (before.n)
        said = str_printf(a, S_FMT "\n\n" S_FMT, S_ARG(before), S_ARG(said));
    if (block.n && where == PLACE_USER_SUFFIX)
        said = str_printf(a, S_FMT "\n\n" S_FMT, S_ARG(said), S_ARG(block));
    history_message(&w, S("user"), said);
    json_close(&w, ']');
    json_member_bool(&w, "stream", scene->wish.is_stream);
    buf_add(w.b, scene->wish.is_stream ? S(CHAT_USAGE_WISH) : S("}"));
    *out = buf_str(w.b);
    return w.b->full ? fail(ctx, TOO_LARGE, "the conversation is too long for one request") : OK;
}

/* The nearest key wins: of this request, of the user, of the server. */
static enum status credential_of(struct ctx *ctx, struct app *app, const struct chat_scene *scene,
                                 str *out)
{
    *out = str_trim(scene->wish.key);
    TRY(engine_check_model_key(ctx, "switch_ai_api_key", *out));
    if (!out->n)
        TRY(engine_model_key(ctx, app->engine, scene->in.pool.user, out));
    /* A front end's people ask its model. */
    if (!out->n)
        TRY(engine_model_key(ctx, app->engine, scene->request->who.own.user, out));
    if (!out->n)
        *out = scene->to.up->key;
    return OK;
}

/* No header of the client goes on: it speaks Cortex's dialect and its credential is one of ours. */
static struct relay *relay_of(struct ctx *ctx, const struct chat_scene *scene, str body)
{
    struct arena *a = &ctx->arena;
    str key = scene->key;
    struct relay *r = NEW(a, struct relay);
    const struct header headers[] = {
        {S("Content-Type"), S("application/json")},
        {S("Accept"), scene->wish.is_stream ? S("text/event-stream") : S("application/json")},
        {S("Authorization"), str_printf(a, "Bearer " S_FMT, S_ARG(key))},
    };
    *r = (struct relay){
        .secret = key,
        .url = upstream_url(a, scene->to.up, S("/v1/chat/completions"), S("")),
        .method = S("POST"),
        .headers = DUP_N(a, headers, 3, 3),
        .n_headers = key.n ? 3 : 2,
        .body = body,
    };
    return r;
}

static enum status ask_model(struct ctx *ctx, struct app *app, struct chat_scene *scene,
                             struct reply *out)
{
    str body = S(""), block = turn_out_of(scene->turn)->block;
    TRY(credential_of(ctx, app, scene, &scene->key));
    TRY(body_of(ctx, app, scene, block, &body));
    /* The texts of the request, which no complaint of the model's server may bring into a log. */
    struct strs asked = {NEW_N(&ctx->arena, str, scene->window.n + 2), 0};
    asked.v[asked.n++] = scene->in.said[0].text;
    asked.v[asked.n++] = block;
    for (size_t i = 0; i < scene->window.n; i++)
        asked.v[asked.n++] = scene->window.v[i].text;
    scene->asked = asked;
    out->relay = relay_of(ctx, scene, body);
    chat_answer_add(ctx, app, out->relay, scene);
    return OK;
}

/* The message itself is never cut: a client whose message does not fit must know. */
static enum status check_room(struct ctx *ctx, const struct chat_scene *scene)
{
    int64_t tokens = tokens_of(scene->wish.message);
    if (tokens <= scene->room)
        return OK;
    return fail_field(ctx, "token_budget",
                      "the message takes about %lld tokens, and %lld of the model's %lld are left "
                      "for it",
                      (long long)tokens, (long long)(scene->room > 0 ? scene->room : 0),
                      (long long)scene->window.shares.total);
}

/* rewrite_ms lets a follow-up question be rewritten before memory is searched. answer_id is made
 * now, since the events of a stream carry it before the answer is kept. */
enum status chat_say(struct ctx *ctx, struct app *app, const struct request *in,
                     const struct chat_wish *wish, struct reply *out)
{
    struct chat_scene *scene = NEW(&ctx->arena, struct chat_scene);
    struct said *said = NEW(&ctx->arena, struct said);
    struct turn_in *asks = &scene->in;
    if (!str_trim(wish->message).n)
        return fail_field(ctx, "message", "must not be blank");
    TRY(chat_scene_of(ctx, app, in, wish, scene));
    TRY(check_room(ctx, scene));
    *said = (struct said){.role = S("user"), .text = wish->message};
    asks->said = said;
    asks->n_said = 1;
    asks->rewrite_ms = app->settings->rewrite_timeout_ms;
    asks->is_durable = asks->goes_on = true;
    asks->answer_id = id_random(&ctx->arena);
    asks->replays =
        scene->to.up && placement_is_beside(target_placement(app->settings, &scene->to));
    scene->turn = engine_begin_turn(ctx, app->engine, asks);
    const struct turn_out *turn = turn_out_of(scene->turn);
    /* Memory helps, but never at the price of the question. */
    if (tokens_of(turn->block) > scene->room - tokens_of(wish->message))
        turn_drop_block(scene->turn, S("the memory block has no room beside the message"));
    history_put_earlier(&ctx->arena, &scene->window, turn, false);
    scene->tokens_in = tokens_of(scene->system) + scene->window.tokens + tokens_of(turn->block) +
                       tokens_of(wish->message);
    out->type = wish->is_stream ? S("text/event-stream")
                : wish->type.n  ? wish->type
                                : S("application/json");
    if (wish->is_stream)
        reply_header(out, "Cache-Control", S("no-cache"));
    if (turn->receipt.n)
        reply_header(out, "X-Rememberd-Receipt", turn->receipt);
    if (asks->mode != MODE_OFF && !engine_remembers(app->engine))
        without_memory_note(app, WITHOUT_FOR_SETTING, out);
    if (scene->to.up)
        return ask_model(ctx, app, scene, out);
    str text;
    TRY(engine_answer_demo(ctx, app->engine, scene->turn, wish->message, &text));
    return chat_answer_now(ctx, app, scene, text, out);
}

/* The body may name a person, so the request is copied with that identity: in->who itself is
 * const. */
static HANDLER(answer_chat)
{
    const struct chat_in *c = in->in;
    const struct chat_wish wish = {.session = c->session_id,
                                   .message = c->message,
                                   .preference = c->config.model_preference,
                                   .key = c->config.switch_ai_api_key,
                                   .is_stream = c->config.stream};
    struct request *as = NEW(&ctx->arena, struct request);
    *as = *in;
    TRY(auth_chat(ctx, app, in, in->json, &as->who));
    return chat_say(ctx, app, as, &wish, out);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/chat", answer_chat), .scope = MAY_CHAT, HEADERS(switch),
     .words.stream = "text/event-stream", READS(chat_in), ANSWERS(chat_out),
     .help = "a message in a session, answered whole or as events (message, done, error)"},
    {0},
};

const struct surface surface_cortex_chat = CORTEX_SURFACE(routes);
