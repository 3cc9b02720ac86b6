/* ollama.c - Ollama's own API: its chat with memory around it, the rest passed on. */
#include "surface/common/error_body.h"
#include "surface/proxy/model_chat.h"
#include "surface/proxy/passthrough.h"

/* --- reading --- */

static str text_of(UNUSED struct arena *a, const struct json *answer)
{
    return json_string(json_at(answer, "message.content"));
}

static void add_line(struct arena *a, const struct json *line, struct buf *text)
{
    buf_add(text, text_of(a, line));
}

/* An error in the middle of a stream is a line of its own, behind which nothing comes. */
static bool is_done(const struct json *line)
{
    return json_is_true(json_get(line, "done"));
}

static const struct answer_reader ollama_reader = {text_of, add_line, .is_last = is_done};

/* --- the built-in model's --- */

/* There was no work to measure: the durations are 0. An empty answer says that the model is
 * loaded. */
#define PIECE(TEXT, DONE)                                                                          \
    "{'model':'" DEMO_MODEL "','created_at':'%z','message':{'role':'assistant','content':" TEXT    \
    "},'done':" DONE "}"
#define LAST                                                                                       \
    "true,'done_reason':'%r','total_duration':0,'load_duration':0,'prompt_eval_duration':0,"       \
    "'eval_duration':0,'prompt_eval_count':%p,'eval_count':%o"

static const struct demo_event lines[] = {
    {"", PIECE("%w", "false"), .repeats = true},
    {"", PIECE("''", LAST)},
    {0},
};
static const struct demo_forms ollama_forms = {PIECE("%a", LAST), lines, .is_lines = true};

/* --- the API as /openapi.json describes it --- */

/*
 * The members are those that clients use; Ollama may know more, and all of them are passed on.
 * rememberd itself reads model, messages, stream, tools, options.num_predict, and what names a
 * person, a space or a conversation.
 */

SHAPE(sent_message, (STR, role, .required = true, .help = "system, user, assistant or tool"),
      (STR, content, .help = "the text"), (JSON, images, .help = "in base64, forwarded untouched"),
      (JSON, tool_calls, .help = "of an assistant"),
      (STR, tool_name, .help = "of a tool's result"));

SHAPE(ollama_chat_in,
      (STR, model, .required = true,
       .help = "a model of the upstream for this API, or UPSTREAM/MODEL"),
      (JSON, messages, .inside = sent_message_fields,
       .help = "the whole conversation; without any, the model is loaded"),
      (BOOL, stream, .help = "false: one answer; else a line for each piece"),
      (JSON, format, .help = "json, or a JSON Schema"),
      (JSON, options, .help = "of the model, such as num_ctx and temperature"),
      (JSON, keep_alive, .help = "how long the model stays loaded"),
      (JSON, tools, .help = "functions that the model may call"),
      (JSON, think, .help = "whether and how long the model thinks"), SPACE_ROW);

SHAPE(answered, (STR, role, .help = "assistant"),
      (STR, content, .help = "the text, or a piece of it"), (STR, thinking, .empty = EMPTY_OUT),
      (JSON, tool_calls, .empty = EMPTY_OUT));
SHAPE(ollama_chat_out, (STR, model, .help = "the model that answered"),
      (STR, created_at, .help = "when"),
      (OBJECT, message, struct answered, .inside = answered_fields),
      (BOOL, done, .help = "of a stream: whether this is the last line"),
      (STR, done_reason, .empty = EMPTY_OUT),
      (INT, total_duration, .empty = EMPTY_OUT, .help = "ns"),
      (INT, prompt_eval_count, .empty = EMPTY_OUT, .help = "tokens"),
      (INT, eval_count, .empty = EMPTY_OUT, .help = "tokens"));

/*
 * As at chat completions: messages have a role and a text, so a block goes to the same places. Two
 * things differ. Every request brings its whole conversation. And a stream, which is what a request
 * gets unless it asks for none, is a line of JSON for each piece, of which the last one says that
 * it is the last. Images are members beside the text and are never touched.
 *
 * Only paths that compute an answer or list models are served. Those that fetch, make and delete
 * models change the server for all of its users.
 */

/* Without messages a client asks for the model to be loaded, which the built-in one always is. */
static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct model_request *m)
{
    const struct json *messages = json_get(m->root, "messages");
    m->in.brings_all = true;
    m->asks_nothing = !messages || (messages->type == JSON_ARRAY && !messages->n);
    return model_read_messages(ctx, app, in, m);
}

static void put_blocks(struct ctx *ctx, struct app *app, struct model_request *m)
{
    blocks_put_earlier(app, m);
    blocks_put(ctx, app, m, true);
    blocks_put(ctx, app, m, false);
}

static const struct model_dialect ollama_dialect = {
    .member = "messages",
    .rule = MESSAGES_RULE,
    .streams = true,
    .read = read_chat,
    .put = put_blocks,
    .reader = &ollama_reader,
    .demo = &ollama_forms,
};

/* POST /api/chat */
static HANDLER(ollama_chat)
{
    return model_chat(ctx, app, in, &ollama_dialect, NEW(&ctx->arena, struct model_request), out);
}

#define PASSES(METHOD, PATH)                                                                       \
    {                                                                                              \
        METHOD, PATH, .run = pass_request, .quick_if = is_quick_to_pass, .help = "forwarded"       \
    }

static const struct route routes[] = {
    {ROUTE("POST", "/api/chat", ollama_chat), SENDS(ollama_chat_in), HEADERS(chat_header),
     SHOWS(completion_shown), ANSWERS(ollama_chat_out), .words.stream = "application/x-ndjson",
     .quick_if = model_is_quick, .help = "a chat of Ollama's API with memory, streamed or whole"},
    {"POST", "/api/generate", .run = pass_conversation, .quick_if = is_quick_to_pass,
     .help = "forwarded without memory"},
    PASSES("POST", "/api/embed"),
    PASSES("POST", "/api/embeddings"),
    PASSES("POST", "/api/show"),
    PASSES("GET", "/api/tags"),
    PASSES("GET", "/api/ps"),
    PASSES("GET", "/api/version"),
    {0},
};

/* --- errors --- */

static FIELDS_OF(error_body, error, (AS_STR, message, "error"));
static const struct error_shape ollama_errors = {"OllamaError", "application/json", error_fields};

/* One sentence, as Ollama's clients show it. */
static void word_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    static const struct error_rule rules[] = {{0}};
    struct error_body body = error_body_of(ctx, s, in, rules, "", out);
    error_body_write(out, error_fields, &body);
}

const struct surface surface_ollama = MODEL_SURFACE("ollama", routes, word_error, ollama_errors);
