/* chat.c - chat completions with memory around them, and the routes of the proxy. */
#include <assert.h>

#include "core/tokens.h"

#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/said.h"
#include "surface/common/switches.h"
#include "surface/proxy/answer_capture.h"
#include "surface/proxy/chat_fields.h"
#include "surface/proxy/demo_answer.h"
#include "surface/proxy/message_blocks.h"
#include "surface/proxy/model_request.h"
#include "surface/proxy/passthrough.h"
#include "surface/proxy/session_history.h"
#include "surface/proxy/tool_loop.h"

/*
 * A completion: read the headers, and the body when memory or the choice of an upstream needs it;
 * begin a turn, which finds the block; splice the block, the session's messages and our tool into
 * the body; relay it, with the tool loop and the capture of the answer as filters.
 */
#define HISTORY_HEADER "X-Session-History"

/* --- what a chat request says --- */

struct chat {
    struct model_request ask;
    const struct json *messages; /* NULL when there is nothing to work with */
    bool wants_tools;            /* offer the memory tool to the model */
    bool wants_history;
    struct window window; /* the session's earlier messages, if the request lacks them */
};

/* A session that the server keeps for the client goes on while memory is switched off for all. */
static void drop_memory(struct chat *c, enum without_memory why)
{
    enum memory_mode asked = c->ask.in.mode;
    model_drop_memory(&c->ask, why);
    if (c->wants_history && why == WITHOUT_FOR_SETTING)
        c->ask.in.mode = asked;
}

/* A header without a value counts as absent; a word other than on and off is refused rather than
 * guessed at. */
static enum status read_wish(struct ctx *ctx, const struct request *in, const char *header,
                             bool *out)
{
    str wish = str_trim(request_header(in, header));
    bool is_on = str_eq_nocase(wish, S("on"));
    if (wish.n && !is_on && !str_eq_nocase(wish, S("off")))
        return fail_field(ctx, header, "must be one of: on, off");
    *out = is_on;
    return OK;
}

static enum status read_wishes(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c)
{
    TRY(read_wish(ctx, in, "X-Memory-Tools", &c->wants_tools));
    TRY(read_wish(ctx, in, HISTORY_HEADER, &c->wants_history));
    if (c->wants_history && !c->ask.in.session.n)
        return fail_field(ctx, HISTORY_HEADER, "needs X-Session-Id, the session's name");
    if (!engine_remembers(app->engine))
        drop_memory(c, WITHOUT_FOR_SETTING);
    if (model_is_packed(in))
        drop_memory(c, WITHOUT_FOR_ENCODING);
    return OK;
}

/* A body without proper messages is passed on without memory. Nothing of a session is added to the
 * program's own message: it brings what it is about. */
static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct chat *c)
{
    TRY(model_read(ctx, app, in, &c->ask));
    TRY(controls_name_session(ctx, c->ask.root, &c->ask.in));
    c->ask.in.has_tools |= json_get(c->ask.root, "functions") != NULL;
    c->messages = model_read_messages(ctx, in, &c->ask);
    c->wants_history &= !c->ask.in.is_aside;
    return OK;
}

/* The client has sent new messages only: the earlier ones come from the session. The turn is
 * durable, since the next request must find these messages there. */
static enum status read_history(struct ctx *ctx, struct app *app, struct chat *c)
{
    struct turn_in *t = &c->ask.in;
    int64_t system_tokens = 0;
    str asked = S("");
    assert(t->session.n && c->messages);
    t->is_durable = true;
    if (!history_is_wanted(t->said, t->n_said))
        return OK;
    for (size_t i = t->n_said; i-- > 0;) {
        if (str_is(t->said[i].role, "user"))
            asked = t->said[i].text;
        else
            system_tokens += tokens_of(t->said[i].text);
    }
    return history_of(ctx, app, t, system_tokens, asked, &c->window);
}

/* --- asking --- */

/* Of two splices at one place the first one comes first in the body: a block for the front is put
 * in before the session's messages, a block beside the message after them. */
static void splice_chat(struct ctx *ctx, const struct app *app, struct chat *c)
{
    bool is_front = blocks_placement(app, &c->ask) == PLACE_USER_PREFIX;
    history_put_earlier(&ctx->arena, &c->window, turn_out_of(c->ask.turn), is_front);
    blocks_put_earlier(ctx, app, &c->ask, c->messages);
    blocks_put(ctx, app, &c->ask, c->messages, true);
    if (c->window.n)
        history_splice(&ctx->arena, &c->ask.body, c->messages, &c->window);
    blocks_put(ctx, app, &c->ask, c->messages, false);
}

/* The tool is offered only where its searches make sense: the client asked for it and memory is on.
 * The capture comes behind the tool loop and so sees the one answer that the client sees. */
static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c, str path)
{
    assert(c->ask.turn && c->ask.to.up);
    c->ask.body = (struct splice){.body = c->ask.sent};
    splice_chat(ctx, app, c);
    bool is_remembered = turn_out_of(c->ask.turn)->mode != MODE_OFF;
    bool has_tool = c->wants_tools && is_remembered && engine_remembers(app->engine) &&
                    tool_loop_offer(ctx, &c->ask.body, c->ask.root);
    struct relay *r = model_relay(ctx, in, &c->ask, path);
    const struct tool_loop_in loop = {.body = &c->ask.body,
                                      .root = c->ask.root,
                                      .messages = c->messages,
                                      .pool = c->ask.in.pool,
                                      .turn = c->ask.turn,
                                      .max = app->settings->tool_rounds};
    if (has_tool)
        tool_loop_add(ctx, r, &loop);
    if (is_remembered) /* behind the tool loop, which hides answers that only call our tool */
        answer_capture_add(ctx, app, r, c->ask.turn, &completion_reader, c->ask.in.is_durable);
    return r;
}

/* --- answering --- */

/* The built-in model has no relay and thus no filters: the turn is kept here, and its failure is
 * the client's when the turn is durable. */
static enum status answer_demo(struct ctx *ctx, struct app *app, struct chat *c, struct reply *out)
{
    const struct turn_in *in = &c->ask.in;
    assert(c->ask.turn && !c->ask.to.up);
    size_t n = c->messages ? c->messages->n : 0; /* also those that are not the turn's */
    str block = turn_out_of(c->ask.turn)->block, question = said_question(in->said, n);
    struct demo d = {
        .stream = json_is_true(json_get(c->ask.root, "stream")),
        .with_usage = json_is_true(json_at(c->ask.root, "stream_options.include_usage")),
        .prompt_tokens = tokens_of(block) + c->window.tokens + said_tokens(in->said, n),
    };
    if (!c->messages)
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    TRY(engine_answer_demo(ctx, app->engine, c->ask.turn, question, &d.answer));
    demo_write(ctx, &d, out);
    return OK;
}

/* POST /v1/chat/completions of the OpenAI API. A packed body (Content-Encoding) cannot be read here
 * and is passed on as it is, without memory; so is one that memory was switched off for, when the
 * upstream does not depend on the model's name. */
static enum status complete_chat(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    struct chat *c = NEW(&ctx->arena, struct chat);
    const str path = S("/v1/chat/completions");
    TRY(controls_read(ctx, in, &c->ask.in));
    TRY(read_wishes(ctx, app, in, c));
    if (model_passes(app, in, &c->ask)) {
        controls_add_headers(ctx, app, &c->ask.in, c->ask.turn, c->ask.without, out);
        return pass_body(ctx, app, in, path, out);
    }
    TRY(read_chat(ctx, app, in, c));
    if (c->wants_history && c->ask.in.mode != MODE_OFF)
        TRY(read_history(ctx, app, c));
    c->ask.in.replays = blocks_are_replayed(app, &c->ask);
    c->ask.turn = engine_begin_turn(ctx, app->engine, &c->ask.in);
    controls_add_headers(ctx, app, &c->ask.in, c->ask.turn, c->ask.without, out);
    if (!c->ask.to.up)
        return answer_demo(ctx, app, c, out);
    out->relay = ask_model(ctx, app, in, c, path);
    return OK;
}

/* Without memory a chat is a relay like any other, which the loop starts without a worker. */
static bool is_quick_chat(const struct app *app, const struct request *in)
{
    bool is_off = switches_mode_or_full(in) == MODE_OFF;
    return (is_off || !request_header(in, HISTORY_HEADER).n) && model_is_quick(app, in);
}

/* quick_if, not is_quick: the answer may be the upstream's, which needs libcurl. */
static bool is_quick_list(__attribute__((unused)) const struct app *app,
                          __attribute__((unused)) const struct request *in)
{
    return true;
}

/* --- the table: what is passed on, and for whom --- */

/* For every client: nothing that others have stored is reached. */
#define PASSES .run = pass_request, .quick_if = is_quick_to_pass, .help = "passed on"
#define PASSES_TALK                                                                                \
    .run = pass_conversation, .quick_if = is_quick_to_pass, .help = "passed on without memory"
/* All else, up to four segments behind /v1: ROUTE_PARAMS_MAX. A route with literal segments wins
 * over these, so other surfaces keep their paths of /v1. */
#define GUARDED                                                                                    \
    .run = pass_guarded, .quick_if = is_quick_to_pass,                                             \
    .help = "passed on with the client's own key, or for an admin token of local"
#define GUARDED_AT(PATH)                                                                           \
    {"GET", PATH, GUARDED}, {"POST", PATH, GUARDED},                                               \
    {                                                                                              \
        "DELETE", PATH, GUARDED                                                                    \
    }

static const struct route routes[] = {
    {ROUTE("POST", "/v1/chat/completions", complete_chat), SENDS(completion_in),
     HEADERS(completion_header), SHOWS(completion_shown), ANSWERS(completion_out),
     .words.stream = "text/event-stream", .quick_if = is_quick_chat,
     .help = "a chat completion with memory, streamed or whole"},
    {ROUTE("GET", "/v1/models", list_models), ANSWERS(models_out), .quick_if = is_quick_list,
     .help = "models of the default upstream, or the built-in one"},
    {ROUTE("GET", "/v1/models/{id}", get_model), ANSWERS(model), .quick_if = is_quick_list,
     .help = "one model"},
    {"POST", "/v1/completions", PASSES_TALK},
    {"POST", "/v1/responses/input_tokens", PASSES},
    {"POST", "/v1/embeddings", PASSES},
    {"POST", "/v1/moderations", PASSES},
    {"POST", "/v1/audio/speech", PASSES},
    {"POST", "/v1/audio/transcriptions", PASSES},
    {"POST", "/v1/audio/translations", PASSES},
    {"POST", "/v1/images/generations", PASSES},
    {"POST", "/v1/images/edits", PASSES},
    {"POST", "/v1/images/variations", PASSES},
    /* Of Anthropic's API; GET /v1/messages/{id} is ours. */
    GUARDED_AT("/v1/messages/batches"),
    GUARDED_AT("/v1/{a}"),
    GUARDED_AT("/v1/{a}/{b}"),
    GUARDED_AT("/v1/{a}/{b}/{c}"),
    GUARDED_AT("/v1/{a}/{b}/{c}/{d}"),
    {0},
};

/* The list of models is at the same path in Anthropic's API, and its batches are passed on. */
static void word_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    if (speaks_anthropic(in))
        word_anthropic_error(ctx, s, in, out);
    else
        word_openai_error(ctx, s, in, out);
}

const struct surface surface_openai = {"openai",        routes,
                                       word_error,      auth_agent_request,
                                       SURFACE_SETTLES, .errors = &openai_errors};
