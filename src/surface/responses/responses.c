/* responses.c - OpenAI's Responses API with memory around it. */
#include "base/id.h"
#include "surface/common/error_body.h"
#include "surface/common/helper_calls.h"
#include "surface/common/switches.h"
#include "surface/proxy/held.h"
#include "surface/proxy/passthrough.h"
#include "surface/responses/answer.h"
#include "surface/responses/items.h"
#include "surface/responses/stored.h"

/* --- the API as /openapi.json describes it --- */

/*
 * The members that clients use; a model's server may know more, and all of them are passed on.
 * rememberd itself reads model, input, instructions, tools, stream, store, what the response goes
 * on from, and what names a person, a space or a conversation.
 */

SHAPE(response_in,
      (STR, model, .required = true, .help = "a model of the default upstream, or UPSTREAM/MODEL"),
      (JSON, input, .required = true,
       .help = "what the user says, or a list of items: messages, calls and their results"),
      (STR, instructions, .help = "for this response alone"),
      (BOOL, stream, .help = "answer with events"),
      (BOOL, store, .help = "false: the model's server keeps nothing"),
      (STR, previous_response_id, .help = "the response that this one follows"),
      (JSON, conversation, .help = "the conversation that the model's server keeps: its id"),
      (INT, max_output_tokens), (NUM, temperature), (NUM, top_p),
      (JSON, tools, .help = "functions that the model may call"),
      (JSON, tool_choice, .help = "which"),
      (JSON, text, .help = "the format: text, or a JSON Schema"),
      (JSON, reasoning, .help = "how long a model thinks"),
      (JSON, include, .help = "what the answer has besides"),
      (STR, prompt_cache_key, .help = "names the conversation when it is a UUID"),
      OPENAI_PERSON_ROWS, SPACE_ROW);

SHAPE(output_item, (STR, type, .help = "message, reasoning, function_call and others"),
      (STR, id, .empty = EMPTY_OUT),
      (STR, role, .empty = EMPTY_OUT, .help = "of a message: assistant"),
      (STR, status, .empty = EMPTY_OUT),
      (JSON, content, .empty = EMPTY_OUT, .help = "of a message: its parts"));
SHAPE(token_counts, (INT, input_tokens), (INT, output_tokens), (INT, total_tokens));
SHAPE(response_out, (STR, id, .help = "of the response"), (STR, object, .help = "response"),
      (INT, created_at, .help = "seconds since 1970"),
      (STR, status, .help = "completed, incomplete, failed, in_progress, queued or cancelled"),
      (STR, model, .help = "the model that answered"), (JSON, output, .inside = output_item_fields),
      (STR, previous_response_id, .empty = EMPTY_NULL),
      (OBJECT, usage, struct token_counts, .inside = token_counts_fields, .empty = EMPTY_OUT));

/*
 * As at chat completions: the headers, then the body, then a turn of the engine, whose blocks are
 * spliced into the body. A client either sends the whole conversation, and gets the blocks of
 * earlier turns put back; or it names the response or the conversation that it goes on from. Then
 * the model's server has the earlier messages with their blocks, and the engine finds out what
 * these have told already.
 */

struct chat {
    struct model_request ask;
    str previous;   /* the response that this one goes on from, or "" */
    bool is_unkept; /* it will not have this one */
};

/* --- the program that asks --- */

/*
 * Programs send questions of their own to the same endpoint, often in the user's conversation: for
 * a title, for a summary in place of what was said, to fill the cache. Nobody has said these, so
 * they must neither be answered with new memories nor teach any. What marks a question as the
 * program's own wins over what names a part of the program. Titles and the like in other words are
 * told by their form, in the engine (helper_prompt.h).
 */

#define TURN_HEADER "X-Codex-Turn-Metadata" /* a JSON object */
#define SUMMARY_ORDER "You are performing a CONTEXT CHECKPOINT COMPACTION"

/* The number of items in front of the last message of the user; all of them without one. */
static size_t before_words(const struct talk *t)
{
    for (size_t i = t->n; i-- > 0;)
        if (str_is(t->said[i].role, "user"))
            return i;
    return t->n;
}

/* *own is how many of what was said are the conversation: the program's question may stand behind
 * them. */
static const struct helper_call *find_caller(struct ctx *ctx, const struct request *in,
                                             const struct talk *t, size_t *own)
{
    static const char *const own_parts[] = {"compact", "memory_consolidation", NULL};
    str header = request_header(in, TURN_HEADER);
    str part = str_trim(request_header(in, "X-OpenAI-Subagent"));
    const struct json *last = t->n ? t->places[t->n - 1] : NULL;
    size_t words = before_words(t);
    bool is_summary = words < t->n && str_starts(str_trim(t->said[words].text), S(SUMMARY_ORDER));
    const struct json *turn = json_of_text(ctx, header);
    str kind = json_string(json_get(turn, "request_kind"));
    *own = is_summary ? words : t->n; /* the other asides have no message of their own */
    if (is_summary || str_is_one_of(part, own_parts) ||
        (kind.n && !str_eq_nocase(str_trim(kind), S("turn"))) ||
        (last && str_is(item_type(last), "compaction_trigger")))
        return &helper_own;
    bool is_agent = part.n || str_trim(request_header(in, "X-Codex-Parent-Thread-Id")).n ||
                    str_trim(json_string(json_get(turn, "parent_thread_id"))).n;
    return is_agent ? &helper_agent : NULL;
}

/* --- what a request says --- */

/* Our own header first, then the name under which the model's server keeps the conversation, then
 * the names that programs have for it. The conversation's id may be the member itself. Many
 * conversations share a key that says which prompts begin alike; one that is a UUID is the name of
 * one conversation. */
static enum status name_session(struct ctx *ctx, const struct request *in, struct chat *c)
{
    const struct json *conversation = json_get(c->ask.root, "conversation");
    bool is_object = conversation && conversation->type == JSON_OBJECT;
    str held = json_string(is_object ? json_get(conversation, "id") : conversation);
    str key = json_string(json_get(c->ask.root, "prompt_cache_key"));
    TRY(session_name_check(ctx, held, "conversation"));
    if (held.n && !str_trim(request_header(in, "X-Session-Id")).n)
        c->ask.in.session = held;
    TRY(controls_name_session(ctx, c->ask.root, &c->ask.in));
    if (!c->ask.in.session.n && id_is_uuid(key))
        c->ask.in.session = key;
    c->previous = json_string(json_get(c->ask.root, "previous_response_id"));
    c->ask.in.brings_all = !c->previous.n && !held.n; /* else the model's server has the rest */
    return OK;
}

/* Front ends that speak this API as they speak chat completions have their calls in one table. */
static void read_items(struct ctx *ctx, const struct request *in, struct model_request *m)
{
    struct talk talk;
    size_t own;
    bool is_codex = request_header(in, TURN_HEADER).n || /* it sends texts in the user's name */
                    str_starts(request_header(in, "Originator"), S("codex"));
    if (!items_read(&ctx->arena, m->root, is_codex, &talk)) {
        model_drop_memory(m, WITHOUT_FOR_MESSAGES);
        return;
    }
    const struct helper_call *call = find_caller(ctx, in, &talk, &own);
    m->in.said = talk.said;
    m->in.n_said = own;
    m->places = talk.places;
    helper_call_apply(&ctx->arena, call, &m->in);
    m->in.has_helpers |= call == &helper_agent; /* its titles are told by their form */
    if (!call)
        helper_call_read(&ctx->arena, in, m->root, &m->in);
    assert(m->in.n_said <= talk.n);
}

static enum status read_response(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct model_request *m)
{
    struct chat *c = container_of(m, struct chat, ask);
    if (held_is_guarded(ctx, app, in, m))
        TRY(stored_check(ctx, app, m->who.pool.user, m->root));
    TRY(name_session(ctx, in, c));
    const struct json *store = json_get(m->root, "store");
    c->is_unkept = store && store->type == JSON_BOOL && !json_is_true(store);
    m->reader = c->is_unkept ? &unkept_response_reader : &response_reader;
    m->in.replays = m->to.up != NULL;
    read_items(ctx, in, m);
    if (!m->in.brings_all && m->in.mode != MODE_OFF)
        engine_goes_on(ctx, app->engine, &m->in, c->previous);
    return OK;
}

/* --- asking and answering --- */

/* In the order of their places: the block of this turn comes behind all earlier ones. */
static void put_blocks(struct ctx *ctx, UNUSED struct app *app, struct model_request *m)
{
    const struct turn_out *t = turn_out_of(m->turn);
    const char *role = target_rejects_system(&ctx->arena, &m->to) ? "user" : "developer";
    for (const struct earlier_block *b = t->earlier; b < t->earlier + t->n_earlier; b++) {
        assert(b->in_window || b->at < m->in.n_said);
        if (!b->in_window) /* else the model's server has it */
            items_put(&m->body, m->places[b->at], role, b->block);
    }
    assert(!t->block.n || t->block_at < m->in.n_said);
    if (t->block.n)
        items_put(&m->body, m->places[t->block_at], role, t->block);
}

/* The built-in model keeps its answers as well: a client may go on from them. */
static void begin_demo(struct ctx *ctx, struct app *app, struct model_request *m, struct demo *d)
{
    const struct chat *c = container_of(m, const struct chat, ask);
    const struct answer_names names = {.name = response_id(&ctx->arena, "resp_")};
    d->id = names.name;
    d->message = response_id(&ctx->arena, "msg_");
    d->previous = c->previous;
    if (!c->is_unkept)
        turn_name_answer(ctx, app->engine, m->turn, &names);
}

static const struct model_dialect responses_dialect = {
    .member = "input",
    .rule = "must be a text, or a list of items",
    .must_read = held_must_read,
    .read = read_response,
    .put = put_blocks,
    .demo = &response_forms,
    .begin_demo = begin_demo,
};

/* POST /v1/responses. Without memory a body passes only where it cannot name what others have
 * stored. */
static HANDLER(create_response)
{
    return model_chat(ctx, app, in, &responses_dialect, &NEW(&ctx->arena, struct chat)->ask, out);
}

/* Codex asks first whether the API is spoken over a WebSocket; after a 426 it goes on with HTTP at
 * once. All else is the model's server's, with the rule for what others have stored. */
static HANDLER(open_socket)
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

static const struct route routes[] = {
    {ROUTE("POST", "/v1/responses", create_response), SENDS(response_in), HEADERS(chat_header),
     SHOWS(completion_shown), ANSWERS(response_out), .words.stream = "text/event-stream",
     .quick_if = held_is_quick, .help = "a response with memory, streamed or whole"},
    {"GET", "/v1/responses", open_socket, .quick_if = is_quick_to_pass,
     .help = "forwarded like stored responses; 426 for a WebSocket"},
    {0},
};

const struct surface surface_responses =
    MODEL_SURFACE("responses", routes, word_openai_error, openai_errors);
