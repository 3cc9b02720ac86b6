/* messages.c - Anthropic's Messages API with memory around it. */
#include "surface/common/error_body.h"
#include "surface/common/helper_calls.h"
#include "surface/common/said.h"
#include "surface/messages/talk.h"
#include "surface/proxy/held.h"
#include "surface/proxy/passthrough.h"

/* --- reading an answer --- */

static str whole_text(struct arena *a, const struct json *answer)
{
    return talk_text(a, json_get(answer, "content"), true);
}

/* Text blocks are joined as talk_text joins them when the client sends the answer back, so that it
 * is known again. */
static void add_piece(UNUSED struct arena *a, const struct json *event, struct buf *text)
{
    str type = json_string(json_get(event, "type"));
    const struct json *block = json_get(event, "content_block"), *delta = json_get(event, "delta");
    if (str_is(type, "content_block_start")) {
        if (!json_says(block, "type", "text"))
            return;
        buf_add(text, text->n ? S("\n") : S(""));
        buf_add(text, json_string(json_get(block, "text")));
    } else if (json_says(delta, "type", "text_delta")) {
        buf_add(text, json_string(json_get(delta, "text")));
    }
}

static bool is_stop(str event, UNUSED str data)
{
    return str_is(event, "message_stop");
}

static bool has_reason(const struct json *event)
{
    return json_string(json_at(event, "delta.stop_reason")).n > 0;
}

static void name_block(const struct json *block, struct buf *calls)
{
    str name = json_string(json_get(block, "name")), type = json_string(json_get(block, "type"));
    if (type.n && !str_is(type, "text"))
        buf_printf(calls, "%s" S_FMT, calls->n ? "\n" : "", S_ARG(name.n ? name : type));
}

/* A whole answer, or the event that begins one or a block of it. */
static void name_message(const struct json *piece, struct answer_naming *out)
{
    const struct json *inside = json_get(piece, "message"), *content = json_get(piece, "content");
    const struct json *message = inside ? inside : piece;
    if (!out->name.n && json_says(message, "type", "message"))
        buf_add(&out->name, json_string(json_get(message, "id")));
    name_block(json_get(piece, "content_block"), &out->calls);
    for (const struct json *b = content ? content->first : NULL; b; b = b->next)
        name_block(b, &out->calls);
    str reason = json_string(json_get(content ? piece : json_get(piece, "delta"), "stop_reason"));
    if (reason.n && !out->calls.n) /* it may be empty */
        buf_printf(&out->calls, "(" S_FMT ")", S_ARG(reason));
}

static const struct answer_reader message_reader = {whole_text, add_piece, is_stop,
                                                    .is_finished = has_reason};
static const struct answer_reader thread_reader = {whole_text, add_piece, is_stop,
                                                   .name = name_message, .is_finished = has_reason};

/* --- the built-in model's --- */

#define MESSAGE(CONTENT, REASON, TOKENS)                                                           \
    "{'id':'msg_%i','type':'message','role':'assistant','model':'" DEMO_MODEL                      \
    "','content':[" CONTENT "],'stop_reason':" REASON ",'stop_sequence':null," USAGE(TOKENS) "}"
#define USAGE(TOKENS)                                                                              \
    "'usage':{'input_tokens':%p,'cache_creation_input_tokens':0,'cache_read_input_tokens':0,"      \
    "'output_tokens':" TOKENS "}"
/* An event has its name twice: beside the data and in it, before its other members. */
#define EVENT(NAME, MEMBERS) NAME, "{'type':'" NAME "'" MEMBERS "}"

static const struct demo_event events[] = {
    {EVENT("message_start", ",'message':" MESSAGE("", "null", "0"))},
    {EVENT("content_block_start", ",'index':0,'content_block':{'type':'text','text':''}")},
    {EVENT("content_block_delta", ",'index':0,'delta':{'type':'text_delta','text':%w}"),
     .repeats = true},
    {EVENT("content_block_stop", ",'index':0")},
    {EVENT("message_delta",
           ",'delta':{'stop_reason':'end_turn','stop_sequence':null}," USAGE("%o"))},
    {EVENT("message_stop", "")},
    {0},
};
static const struct demo_forms message_forms = {MESSAGE("{'type':'text','text':%a}", "'end_turn'",
                                                        "%o"),
                                                events};

/* --- the API as /openapi.json describes it --- */

/*
 * The members are those that clients use; a model's server may know more, and all of them are
 * passed on. rememberd itself reads model, messages, system, stream, max_tokens, tools, and what
 * names a person or a space.
 */

SHAPE(sent_message, (STR, role, .required = true, .help = "user, assistant or system"),
      (JSON, content, .help = "a text, or a list of blocks"));

/* What both bodies begin with. */
#define CONVERSATION                                                                               \
    (STR, model, .required = true,                                                                 \
     .help = "a model of the upstream for this API, or UPSTREAM/MODEL"),                           \
        (JSON, messages, .required = true, .inside = sent_message_fields),                         \
        (JSON, system, .help = "a text, or a list of text blocks"),                                \
        (JSON, tools, .help = "that the model may call"), (JSON, tool_choice, .help = "which"),    \
        (JSON, thinking, .help = "whether and how long the model thinks")

SHAPE(message_in, CONVERSATION,
      (INT, max_tokens, .help = "0 and 1 are for programs: without memory"),
      (BOOL, stream, .help = "answer with events"),
      (JSON, stop_sequences, .help = "texts at which the model stops"),
      (JSON, output_config, .help = "effort, and the form of the answer"),
      (JSON, cache_control, .help = "an automatic cache mark"),
      (JSON, metadata, .help = "user_id names the person"), SPACE_ROW);

SHAPE(content_block, (STR, type, .help = "text, thinking, tool_use and others"),
      (STR, text, .empty = EMPTY_OUT, .help = "of a text block"));
SHAPE(token_counts, (INT, input_tokens), (INT, output_tokens));
SHAPE(message_out, (STR, id, .help = "of the answer"), (STR, type, .help = "message"),
      (STR, role, .help = "assistant"), (STR, model, .help = "the model that answered"),
      (JSON, content, .inside = content_block_fields), (STR, stop_reason, .empty = EMPTY_NULL),
      (STR, stop_sequence, .empty = EMPTY_NULL),
      (OBJECT, usage, struct token_counts, .inside = token_counts_fields));

SHAPE(counted_in, CONVERSATION);
SHAPE(counted_out, (INT, input_tokens));

/*
 * As at chat completions: the headers, then the body, then a turn of the engine, whose blocks are
 * spliced into the body. A block is always a text block of its own behind what the user sent, never
 * in system or tools, since caches and signed thinking begin there. It has no cache_control: the
 * client's marks stay where they are. An automatic mark (cache_control of the request itself) comes
 * to stand on the block, which is right, because the block is there in every later request.
 */

/* --- what a request says --- */

/* The content of the last message of the user, and how many messages there are from it on. */
static const struct json *last_content(const struct json *root, size_t *from_end)
{
    const struct json *messages = json_get(root, "messages"), *found = NULL;
    *from_end = 0;
    for (const struct json *m = messages ? messages->first : NULL; m; m = m->next) {
        ++*from_end;
        if (json_says(m, "role", "user")) {
            found = json_get(m, "content");
            *from_end = 1;
        }
    }
    return found;
}

/* Each block of the system text by itself: clients put a line of their own before the others. */
static struct helper_facts facts_of(struct arena *a, const struct request *in,
                                    const struct json *root, const struct json *last)
{
    const struct json *system = json_get(root, "system"), *messages = json_get(root, "messages");
    bool has_blocks = system && system->type == JSON_ARRAY;
    str *texts = NEW_N(a, str, has_blocks ? system->n + 1 : 1);
    struct helper_facts f = {.in = in,
                             .root = root,
                             .system = texts,
                             .last = talk_text(a, last, true),
                             .messages = messages ? messages->n : 0};
    for (const struct json *b = has_blocks ? system->first : NULL; b; b = b->next)
        texts[f.n_system++] = json_string(json_get(b, "text"));
    if (!has_blocks)
        texts[f.n_system++] = json_string(system);
    return f;
}

/* False when there are no messages that can be read. */
static bool read_talk(struct ctx *ctx, const struct request *in, struct model_request *m)
{
    struct arena *a = &ctx->arena;
    struct talk talk;
    size_t from_end, aside = talk_aside(a, m->root);
    const struct json *last = last_content(m->root, &from_end);
    const struct helper_facts facts = facts_of(a, in, m->root, last);
    const struct helper_call *call = helper_call_find(&facts);
    helper_call_apply(a, aside && !call ? &helper_note : call, &m->in);
    if (!m->in.is_aside)
        aside = 0;
    else if (call)
        aside = from_end;
    if (!talk_read(a, m->root, aside, &talk))
        return false;
    m->in.said = talk.said;
    m->in.n_said = talk.n;
    m->places = talk.places;
    return true;
}

/* The model's server keeps a thread. */
static enum status guard_thread(struct ctx *ctx, struct app *app, const struct request *in,
                                struct model_request *m, const struct json *thread)
{
    if (!held_is_guarded(ctx, app, in, m))
        return OK;
    TRY(held_check_once(ctx, m->root, "thread"));
    TRY(held_check_once(ctx, thread, THREAD_ID));
    return held_check(ctx, app, m->who.pool.user, HELD_RESPONSE, THREAD_ID, "Message with id",
                      json_get(thread, THREAD_ID));
}

/* A request that continues a thread brings its new messages only. */
static enum status read_chat(struct ctx *ctx, struct app *app, const struct request *in,
                             struct model_request *m)
{
    const struct json *thread = json_get(m->root, "thread");
    str previous = json_string(json_get(thread, THREAD_ID));
    TRY(guard_thread(ctx, app, in, m, thread));
    TRY(controls_name_session(ctx, m->root, &m->in));
    m->reader = thread && thread->type == JSON_OBJECT ? &thread_reader : &message_reader;
    m->in.notes_owner &= m->reader->name != NULL;
    m->in.replays = m->to.up;
    m->in.brings_all = m->in.has_helpers = !previous.n; /* helpers begin no turn of a thread */
    if (!read_talk(ctx, in, m))
        model_drop_memory(m, WITHOUT_FOR_MESSAGES);
    if (previous.n && m->in.mode != MODE_OFF)
        engine_goes_on(ctx, app->engine, &m->in, previous);
    return OK;
}

/* In the order of their places: the block of this turn comes behind all earlier ones. */
static void put_blocks(UNUSED struct ctx *ctx, UNUSED struct app *app, struct model_request *m)
{
    const struct turn_out *t = turn_out_of(m->turn);
    for (const struct earlier_block *b = t->earlier; b < t->earlier + t->n_earlier; b++)
        if (!b->in_window) /* else the model's server has it */
            splice_part(&m->body, m->places[b->at], b->block);
    if (t->block.n && !splice_part(&m->body, m->places[t->block_at], t->block))
        turn_drop_block(m->turn, S("the message's content is neither text nor blocks"));
}

static const struct model_dialect messages_dialect = {
    .member = "messages",
    .rule = MESSAGES_RULE,
    .must_read = held_must_read,
    .read = read_chat,
    .put = put_blocks,
    .demo = &message_forms,
};

static HANDLER(complete_message)
{
    return model_chat(ctx, app, in, &messages_dialect, NEW(&ctx->arena, struct model_request), out);
}

/* POST /v1/messages/count_tokens: of what the client sends, without blocks. A block that the next
 * message will get cannot be known before, and finding it would be a recall for each count. */
static HANDLER(count_tokens)
{
    struct json *root;
    struct target to;
    struct talk talk;
    if (model_is_packed(in) || passes_unread(app->settings, in->body))
        return pass_body(ctx, app, in, in->path, out);
    TRY(json_parse(ctx, in->body, &root));
    TRY(target_for(ctx, app->settings, in, json_string(json_get(root, "model")), &to));
    if (to.up)
        return pass_body(ctx, app, in, in->path, out);
    if (!talk_read(&ctx->arena, root, 0, &talk))
        return fail_field(ctx, "messages", MESSAGES_RULE);
    buf_printf(&out->body, "{\"input_tokens\":%lld}", (long long)said_tokens(talk.said, talk.n));
    return OK;
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/messages", complete_message), SENDS(message_in), HEADERS(chat_header),
     SHOWS(completion_shown), ANSWERS(message_out), .words.stream = "text/event-stream",
     .quick_if = held_is_quick,
     .help = "a message of Anthropic's API with memory, streamed or whole"},
    {ROUTE("POST", "/v1/messages/count_tokens", count_tokens), SENDS(counted_in),
     ANSWERS(counted_out), .quick_if = is_quick_to_pass,
     .help = "how many tokens a message has, without memory"},
    {0},
};

const struct surface surface_anthropic =
    MODEL_SURFACE("anthropic", routes, word_anthropic_error, anthropic_errors);
