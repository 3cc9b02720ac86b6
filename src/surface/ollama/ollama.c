/* ollama.c - Ollama's own API: its chat with memory around it, the rest passed on. */
#include <assert.h>

#include "core/tokens.h"
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/said.h"
#include "surface/ollama/answer.h"
#include "surface/ollama/fields.h"
#include "surface/proxy/chat_fields.h"
#include "surface/proxy/message_blocks.h"
#include "surface/proxy/passthrough.h"

/*
 * As at chat completions: messages have a role and a text, so a block goes to the same places. Two
 * things differ. Every request brings its whole conversation. And a stream, which is what a request
 * gets unless it asks for none, is a line of JSON for each piece, of which the last one says that
 * it is the last. Images are members beside the text and are never touched.
 *
 * Only paths that compute an answer or list models are served. Those that fetch, make and delete
 * models change the server for all of its users.
 */

struct chat {
    struct model_request ask;
    const struct json *messages; /* NULL when there is nothing to work with */
};

static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct chat *c)
{
    TRY(model_read(ctx, app, in, &c->ask));
    TRY(controls_name_session(ctx, c->ask.root, &c->ask.in));
    c->ask.in.replays = blocks_are_replayed(app, &c->ask);
    c->ask.in.brings_all = true;
    c->messages = model_read_messages(ctx, in, &c->ask);
    return OK;
}

static struct relay *ask_model(struct ctx *ctx, struct app *app, const struct request *in,
                               struct chat *c)
{
    assert(c->ask.turn && c->ask.to.up);
    c->ask.body = (struct splice){.body = c->ask.sent};
    blocks_put_earlier(ctx, app, &c->ask, c->messages);
    blocks_put(ctx, app, &c->ask, c->messages, true);
    blocks_put(ctx, app, &c->ask, c->messages, false);
    struct relay *r = model_relay(ctx, in, &c->ask, in->path);
    if (turn_out_of(c->ask.turn)->mode != MODE_OFF)
        answer_capture_add(ctx, app, r, c->ask.turn, &ollama_reader, false);
    return r;
}

/* Without messages a client asks for the model to be loaded, which the built-in one always is. */
static enum status answer_demo(struct ctx *ctx, struct app *app, struct chat *c, struct reply *out)
{
    const struct json *stream = json_get(c->ask.root, "stream");
    const struct json *messages = json_get(c->ask.root, "messages");
    size_t n = c->messages ? c->messages->n : 0; /* also those that are not the turn's */
    str block = turn_out_of(c->ask.turn)->block, question = said_question(c->ask.in.said, n);
    struct demo d = {.stream = !stream || stream->type != JSON_BOOL || json_is_true(stream),
                     .prompt_tokens = tokens_of(block) + said_tokens(c->ask.in.said, n)};
    if (!c->messages && messages && (messages->type != JSON_ARRAY || messages->n))
        return fail_field(ctx, "messages", "must be an array of messages, each with a role");
    if (c->messages)
        TRY(engine_answer_demo(ctx, app->engine, c->ask.turn, question, &d.answer));
    else
        turn_keep(ctx, app, c->ask.turn, S(""));
    ollama_write_demo(ctx, &d, out);
    return OK;
}

/* POST /api/chat. As at chat completions a packed body passes without memory, and so does one for
 * which memory is switched off. */
static enum status ollama_chat(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    struct chat *c = NEW(&ctx->arena, struct chat);
    TRY(model_begin(ctx, app, in, &c->ask));
    if (model_passes(app, in, &c->ask)) {
        controls_add_headers(ctx, app, &c->ask.in, NULL, c->ask.without, out);
        return pass_body(ctx, app, in, in->path, out);
    }
    TRY(read_chat(ctx, app, in, c));
    c->ask.turn = engine_begin_turn(ctx, app->engine, &c->ask.in);
    controls_add_headers(ctx, app, &c->ask.in, c->ask.turn, c->ask.without, out);
    if (!c->ask.to.up)
        return answer_demo(ctx, app, c, out);
    out->relay = ask_model(ctx, app, in, c);
    return OK;
}

#define PASSES(METHOD, PATH)                                                                       \
    {                                                                                              \
        METHOD, PATH, .run = pass_request, .quick_if = is_quick_to_pass, .help = "passed on"       \
    }

static const struct route routes[] = {
    {ROUTE("POST", "/api/chat", ollama_chat), SENDS(ollama_chat_in), HEADERS(ollama_header),
     SHOWS(completion_shown), ANSWERS(ollama_chat_out), .words.stream = "application/x-ndjson",
     .quick_if = model_is_quick, .help = "a chat of Ollama's API with memory, streamed or whole"},
    {"POST", "/api/generate", .run = pass_conversation, .quick_if = is_quick_to_pass,
     .help = "passed on without memory"},
    PASSES("POST", "/api/embed"),
    PASSES("POST", "/api/embeddings"),
    PASSES("POST", "/api/show"),
    PASSES("GET", "/api/tags"),
    PASSES("GET", "/api/ps"),
    PASSES("GET", "/api/version"),
    {0},
};

/* --- errors --- */

static const struct field error_shape[] = {
    {AS_STR(struct error_body, message, "error")},
    {0},
};
static const struct error_shape ollama_errors = {"OllamaError", "application/json", error_shape};

/* One sentence, as Ollama's clients show it. */
static void word_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    static const struct error_rule rules[] = {{0}};
    struct error_body body = error_body_of(ctx, s, in, rules, "", out);
    error_body_write(out, error_shape, &body);
}

const struct surface surface_ollama = {"ollama",        routes,
                                       word_error,      auth_agent_request,
                                       SURFACE_SETTLES, .errors = &ollama_errors};
