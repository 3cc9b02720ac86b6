/* chat.c - chat completions with memory around them, and the routes of the proxy. */
#include "core/tokens.h"

#include "surface/common/error_body.h"
#include "surface/common/said.h"
#include "surface/common/switches.h"
#include "surface/proxy/model_chat.h"
#include "surface/proxy/passthrough.h"
#include "surface/proxy/session_history.h"
#include "surface/proxy/tool_loop.h"

/* --- the API as /openapi.json describes it --- */

/*
 * The members are those of OpenAI's API that its clients use; a model's server may know more, and
 * all of them are passed on: they are only described here, never checked. rememberd itself reads
 * model, messages, stream, tools and what names a person or a space.
 */

SHAPE(chat_message,
      (STR, role, .required = true, .help = "system, developer, user, assistant or tool"),
      (JSON, content, .help = "a text, or a list of parts"), (STR, name, .help = "who speaks"),
      (JSON, tool_calls, .help = "of an assistant"),
      (STR, tool_call_id, .help = "of a tool's result"));

SHAPE(completion_in,
      (STR, model, .required = true, .help = "a model of the default upstream, or UPSTREAM/MODEL"),
      (JSON, messages, .required = true, .inside = chat_message_fields),
      (BOOL, stream, .help = "answer with events"), (JSON, stream_options, .help = "include_usage"),
      (NUM, temperature), (NUM, top_p), (INT, n), (INT, max_tokens), (INT, max_completion_tokens),
      (JSON, stop, .help = "a text, or up to four"), (INT, seed),
      (JSON, tools, .help = "functions that the model may call"),
      (JSON, tool_choice, .help = "which"),
      (JSON, response_format, .help = "text, JSON, or a JSON Schema"),
      (STR, reasoning_effort, .help = "how long a model thinks"), OPENAI_PERSON_ROWS, SPACE_ROW);

SHAPE(completion_message, (STR, role, .help = "assistant"),
      (JSON, content, .help = "a text, or null beside tool_calls"),
      (JSON, tool_calls, .empty = EMPTY_OUT));
SHAPE(choice, (INT, index),
      (OBJECT, message, struct completion_message, .inside = completion_message_fields),
      (STR, finish_reason, .empty = EMPTY_NULL));
SHAPE(token_counts, (INT, prompt_tokens), (INT, completion_tokens), (INT, total_tokens));
SHAPE(completion_out, (STR, id, .help = "of the answer"), (STR, object, .help = "chat.completion"),
      (INT, created, .help = "seconds since 1970"), (STR, model, .help = "the model that answered"),
      (JSON, choices, .inside = choice_fields),
      (OBJECT, usage, struct token_counts, .inside = token_counts_fields, .empty = EMPTY_OUT));

SHAPE(model, (STR, id, .help = "the model's name"), (STR, object, .help = "model"), (INT, created),
      (STR, owned_by, .help = "who offers it"),
      (STR, type, .help = "model: this member and the next ones are of Anthropic's API"),
      (STR, display_name, .help = "for people"), (STR, created_at, .help = "when it was made"));
SHAPE(models_out, (STR, object, .help = "list"), (JSON, data, .inside = model_fields),
      (BOOL, has_more, .help = "of Anthropic's API"), (STR, first_id, .help = "of this list"),
      (STR, last_id, .help = "of this list"));

/*
 * The richest of the model APIs: besides the blocks, the session's messages and our tool are
 * spliced into the body, and the tool loop is a filter.
 */
struct chat {
    struct model_request ask;
    bool has_tool;        /* the memory tool is offered to the model */
    struct window window; /* the session's earlier messages, if the request lacks them */
};

/* The client has sent new messages only: the earlier ones come from the session. The turn is
 * durable, since the next request must find these messages there. */
static enum status read_history(struct ctx *ctx, struct app *app, struct chat *c)
{
    struct turn_in *t = &c->ask.in;
    int64_t system_tokens = 0;
    const struct said *asked = NULL;
    assert(t->session.n && c->ask.messages);
    t->is_durable = true;
    for (size_t i = t->n_said; i-- > 0;) {
        if (str_is(t->said[i].role, "user"))
            asked = &t->said[i];
        else if (role_is_system(t->said[i].role))
            system_tokens += tokens_of(t->said[i].text);
        else
            return OK; /* with an answer or a tool call it brings the conversation itself */
    }
    return asked ? history_of(ctx, app, t, system_tokens, asked->text, &c->window) : OK;
}

/* Nothing of a session is added to the program's own message: it brings what it is about. */
static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct model_request *m)
{
    m->in.has_tools |= json_get(m->root, "functions") != NULL;
    TRY(model_read_messages(ctx, app, in, m));
    if (m->wants_history && !m->in.is_aside && m->in.mode != MODE_OFF)
        TRY(read_history(ctx, app, container_of(m, struct chat, ask)));
    return OK;
}

/* Of two splices at one place the first one comes first in the body: a block for the front is put
 * in before the session's messages, a block beside the message after them. The tool is offered only
 * where its searches make sense: the client asked for it and memory is on. */
static void splice_chat(struct ctx *ctx, struct app *app, struct model_request *m)
{
    struct chat *c = container_of(m, struct chat, ask);
    const struct turn_out *turn = turn_out_of(m->turn);
    history_put_earlier(&ctx->arena, &c->window, turn,
                        blocks_placement(app, m) == PLACE_USER_PREFIX);
    blocks_put_earlier(app, m);
    blocks_put(ctx, app, m, true);
    if (c->window.n)
        history_splice(&m->body, m->messages, &c->window);
    blocks_put(ctx, app, m, false);
    c->has_tool = m->wants_tools && turn->mode != MODE_OFF && engine_remembers(app->engine) &&
                  tool_loop_offer(ctx, &m->body, m->root);
}

/* The tool loop hides answers that only call our tool from the capture. */
static void add_tool_loop(struct ctx *ctx, struct app *app, struct relay *r,
                          struct model_request *m)
{
    if (container_of(m, struct chat, ask)->has_tool)
        tool_loop_add(ctx, r, m, app->settings->tool_rounds);
}

static void begin_demo(UNUSED struct ctx *ctx, UNUSED struct app *app, struct model_request *m,
                       struct demo *d)
{
    d->with_usage = json_is_true(json_at(m->root, "stream_options.include_usage"));
    d->prompt_tokens += container_of(m, struct chat, ask)->window.tokens;
}

static const struct model_dialect chat_dialect = {
    .member = "messages",
    .rule = MESSAGES_RULE,
    .has_wishes = true,
    .read = read_chat,
    .put = splice_chat,
    .add_filters = add_tool_loop,
    .reader = &completion_reader,
    .demo = &completion_forms,
    .begin_demo = begin_demo,
};

static HANDLER(complete_chat)
{
    return model_chat(ctx, app, in, &chat_dialect, &NEW(&ctx->arena, struct chat)->ask, out);
}

/* Without memory a chat is a relay like any other, which the loop starts without a worker. */
static bool is_quick_chat(const struct app *app, const struct request *in)
{
    bool is_off = switches_mode_or_full(in) == MODE_OFF;
    return (is_off || !request_header(in, "X-Session-History").n) && model_is_quick(app, in);
}

/* --- the table: what is passed on, and for whom --- */

/* For every client: nothing that others have stored is reached. */
#define PASSES .run = pass_request, .quick_if = is_quick_to_pass, .help = "forwarded"
/* All else, up to six segments behind /v1: ROUTE_PARAMS_MAX. A route with literal segments wins
 * over these, so other surfaces keep their paths of /v1. */
#define GUARDED                                                                                    \
    .run = pass_guarded, .quick_if = is_quick_to_pass,                                             \
    .help = "forwarded with the client's upstream key, or for an owner"
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
    {ROUTE("GET", "/v1/models", list_models), ANSWERS(models_out), .quick_if = is_quick_to_pass,
     .help = "models of the default upstream, or the built-in one"},
    {ROUTE("GET", "/v1/models/{id}", get_model), ANSWERS(model), .quick_if = is_quick_to_pass,
     .help = "one model"},
    {"POST", "/v1/completions", .run = pass_conversation, .quick_if = is_quick_to_pass,
     .help = "forwarded without memory"},
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
    GUARDED_AT("/v1/{a}/{b}/{c}/{d}/{e}"),
    GUARDED_AT("/v1/{a}/{b}/{c}/{d}/{e}/{f}"),
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

const struct surface surface_openai = MODEL_SURFACE("openai", routes, word_error, openai_errors);
