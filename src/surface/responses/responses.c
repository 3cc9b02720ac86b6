/* responses.c - OpenAI's Responses API with memory around it. */
#include <assert.h>

#include "base/id.h"
#include "core/tokens.h"
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/switches.h"
#include "surface/common/without_memory.h"
#include "surface/proxy/chat_fields.h"
#include "surface/proxy/controls.h"
#include "surface/proxy/passthrough.h"
#include "surface/proxy/upstream.h"
#include "surface/responses/answer.h"
#include "surface/responses/caller.h"
#include "surface/responses/items.h"
#include "surface/responses/response_fields.h"

/*
 * As at chat completions: the headers, then the body, then a turn of the engine, whose blocks are
 * spliced into the body. A client either sends the whole conversation, and gets the blocks of
 * earlier turns put back; or it names the response or the conversation that it goes on from. Then
 * the model's server has the earlier messages with their blocks, and the engine finds out what
 * these have told already.
 */

/* Lives in the arena of the exchange, like the relay. */
struct chat {
    const struct json *root, *model;
    str sent; /* the body as the upstream may get it */
    struct target to;
    struct items items;
    str previous;   /* the response that this one goes on from, or "" */
    bool is_held;   /* the model's server has the earlier messages */
    bool is_unkept; /* it will not have this one */
    enum without_memory without;
    struct turn_in in;
    struct turn *turn;
    struct splice body;
};

/* --- what a request says --- */

/* These belong to chat completions; a client that counts on them must learn that. */
static enum status refuse_wishes(struct ctx *ctx, const struct request *in)
{
    static const char *const headers[] = {"X-Memory-Tools", "X-Session-History", NULL};
    for (const char *const *h = headers; *h; h++) {
        str wish = str_trim(request_header(in, *h));
        if (wish.n && !str_eq_nocase(wish, S("off")))
            return fail_field(ctx, *h, "must be off at this endpoint");
    }
    return OK;
}

static void drop_memory(struct chat *c, enum without_memory why)
{
    if (c->in.mode != MODE_OFF)
        c->without = why;
    c->in.mode = MODE_OFF;
}

/* By its id, which may be the member itself. */
static str conversation_of(const struct json *root)
{
    const struct json *v = json_get(root, "conversation");
    return v && v->type == JSON_OBJECT ? json_string(json_get(v, "id")) : json_string(v);
}

/* Many conversations share a key that says which prompts begin alike; one that is a UUID is the
 * name of one conversation. */
static str cache_key_of(const struct json *root)
{
    str key = json_string(json_get(root, "prompt_cache_key"));
    return id_is_uuid(key) ? key : S("");
}

/* Our own header first, then the name under which the model's server keeps the conversation, then
 * the names that programs have for it. */
static enum status name_session(struct ctx *ctx, const struct request *in, struct chat *c)
{
    str held = conversation_of(c->root);
    if (held.n > SESSION_NAME_MAX)
        return fail_field(ctx, "conversation", "must have at most %d bytes", SESSION_NAME_MAX);
    if (held.n && !str_trim(request_header(in, "X-Session-Id")).n)
        c->in.session = held;
    TRY(controls_name_session(ctx, c->root, &c->in));
    if (!c->in.session.n)
        c->in.session = cache_key_of(c->root);
    c->previous = json_string(json_get(c->root, "previous_response_id"));
    c->is_held = c->previous.n || held.n;
    return OK;
}

/* Agents and the program's own questions see what the chat sees and teach nothing. */
static enum memory_mode mode_for(enum caller caller, enum memory_mode asked)
{
    if (caller == CALLER_CHAT || asked == MODE_OFF)
        return asked;
    return asked == MODE_AFTER ? MODE_OFF : MODE_READONLY;
}

static void read_items(struct ctx *ctx, const struct request *in, struct chat *c)
{
    size_t own;
    if (!items_read(&ctx->arena, c->root, caller_is_codex(in), &c->items)) {
        drop_memory(c, WITHOUT_FOR_MESSAGES);
        return;
    }
    enum caller caller = caller_of(ctx, in, &c->items, &own);
    items_cut(&c->items, own);
    c->in.said = c->items.said;
    c->in.n_said = c->items.n;
    c->in.mode = mode_for(caller, c->in.mode);
    c->in.is_aside = caller == CALLER_ASIDE && c->in.mode == MODE_READONLY;
}

static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct chat *c)
{
    struct json *root;
    c->sent = in->body;
    TRY(json_parse(ctx, c->sent, &root));
    TRY(controls_find_who(ctx, app, in, root, &c->in));
    TRY(controls_hide_space(ctx, &root, &c->sent));
    c->root = root;
    TRY(name_session(ctx, in, c));
    c->model = json_get(root, "model");
    if (c->model && c->model->type != JSON_STRING)
        c->model = NULL;
    TRY(target_of(ctx, app->settings, json_string(c->model), &c->to));
    const struct json *tools = json_get(root, "tools"), *store = json_get(root, "store");
    c->is_unkept = store && store->type == JSON_BOOL && !json_is_true(store);
    c->in.model = c->to.model;
    c->in.stand_in = !c->to.up;
    c->in.has_tools = tools && tools->n > 0;
    c->in.replays = c->to.up != NULL;
    c->in.brings_all = !c->is_held;
    read_items(ctx, in, c);
    if (c->is_held && c->in.mode != MODE_OFF)
        engine_goes_on(ctx, app->engine, &c->in, c->previous);
    return OK;
}

/* --- asking --- */

/* In the order of their places: the block of this turn comes behind all earlier ones. */
static void put_blocks(struct ctx *ctx, struct chat *c)
{
    struct arena *a = &ctx->arena;
    const struct turn_out *t = turn_out_of(c->turn);
    const char *role = target_rejects_system(a, &c->to) ? "user" : "developer";
    struct cut *cuts = NEW_N(a, struct cut, t->n_earlier + 1);
    size_t n = 0;
    for (size_t i = 0; i < t->n_earlier; i++)
        if (!t->earlier[i].in_window) /* else the model's server has it */
            n += items_put(a, &c->items, t->earlier[i].at, role, t->earlier[i].block, &cuts[n]);
    if (t->block.n)
        n += items_put(a, &c->items, t->block_at, role, t->block, &cuts[n]);
    c->body.more = cuts;
    c->body.n_more = n;
}

static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c)
{
    assert(c->turn && c->to.up);
    c->body = (struct splice){.body = c->sent};
    put_blocks(ctx, c);
    if (c->model && c->to.model.n < c->model->string.n)
        splice_model(&ctx->arena, &c->body, c->model, c->to.model);
    str body = splice_done(&ctx->arena, &c->body);
    struct relay *r = relay_to(ctx, in, c->to.up, in->path, body);
    if (turn_out_of(c->turn)->mode != MODE_OFF)
        answer_capture_add(ctx, app, r, c->turn,
                           c->is_unkept ? &unkept_response_reader : &response_reader, false);
    return r;
}

/* --- answering --- */

/* The built-in model has no relay and thus no filters: the turn is kept here. It keeps its answers
 * as well: a client may go on from them. */
static enum status answer_demo(struct ctx *ctx, struct app *app, struct chat *c, struct reply *out)
{
    const struct turn_in *in = &c->in;
    str question = S(""), block = turn_out_of(c->turn)->block, id = response_id(&ctx->arena);
    struct demo d = {.stream = json_is_true(json_get(c->root, "stream")),
                     .prompt_tokens = tokens_of(block)};
    if (!c->items.said)
        return fail_field(ctx, "input", "must be a text, or a list of items");
    for (size_t i = 0; i < in->n_said; i++) {
        d.prompt_tokens += tokens_of(in->said[i].text);
        if (str_is(in->said[i].role, "user"))
            question = in->said[i].text;
    }
    d.answer = engine_demo_answer(ctx, question, block, in->window, in->n_window);
    response_write(ctx, &d, id, c->previous, out);
    if (!c->is_unkept)
        turn_name_answer(ctx, app->engine, c->turn, id, S(""));
    turn_keep(ctx, app, c->turn, d.answer);
    return OK;
}

static void add_headers(struct app *app, const struct chat *c, struct reply *out)
{
    controls_add_headers(&c->in, c->turn ? turn_out_of(c->turn) : NULL, out);
    without_memory_note(app, c->without, out);
}

/* POST /v1/responses. As at chat completions a packed body passes without memory, and so does one
 * for which memory is switched off. */
static enum status create_response(struct ctx *ctx, struct app *app, const struct request *in,
                                   struct reply *out)
{
    struct chat *c = NEW(&ctx->arena, struct chat);
    TRY(controls_read(ctx, in, &c->in));
    TRY(refuse_wishes(ctx, in));
    bool is_packed = request_header(in, "Content-Encoding").n > 0;
    if (!engine_remembers(app->engine))
        drop_memory(c, WITHOUT_FOR_SETTING);
    if (is_packed)
        drop_memory(c, WITHOUT_FOR_ENCODING);
    if (is_packed || (c->in.mode == MODE_OFF && passes_unread(app->settings, in->body))) {
        add_headers(app, c, out);
        return pass_body(ctx, app, in, in->path, out);
    }
    TRY(read_chat(ctx, app, in, c));
    c->turn = engine_begin_turn(ctx, app->engine, &c->in);
    add_headers(app, c, out);
    if (!c->to.up)
        return answer_demo(ctx, app, c, out);
    out->relay = ask_model(ctx, app, in, c);
    return OK;
}

/* Codex asks first whether the API is spoken over a WebSocket; after a 426 it goes on with HTTP at
 * once. All else is the model's server's, with the rule for what others have stored. */
static enum status open_socket(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    if (str_eq_nocase(str_trim(request_header(in, "Upgrade")), S("websocket"))) {
        fail(ctx, UNSUPPORTED, "there is no WebSocket here: send POST /v1/responses");
        word_openai_error(ctx, UNSUPPORTED, in, out);
        out->code = 426;
        ctx_clear_failure(ctx);
        return OK;
    }
    TRY(auth_model_server(ctx, in));
    return pass_body(ctx, app, in, in->path, out);
}

static bool is_quick_response(const struct app *app, const struct request *in)
{
    bool is_off = switches_mode_or_full(in) == MODE_OFF || !engine_remembers(app->engine);
    return is_off && is_quick_to_pass(app, in);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/responses", create_response), SENDS(response_in), HEADERS(response_header),
     SHOWS(completion_shown), ANSWERS(response_out), .words.stream = "text/event-stream",
     .quick_if = is_quick_response, .help = "a response with memory, streamed or whole"},
    {"GET", "/v1/responses", open_socket, .quick_if = is_quick_to_pass,
     .help = "passed on like stored responses; 426 for a WebSocket"},
    {0},
};

const struct surface surface_responses = {"responses",       routes,
                                          word_openai_error, auth_agent_request,
                                          SURFACE_SETTLES,   .errors = &openai_errors};
