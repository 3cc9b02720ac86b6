/* stream.c - a model's answer in Cortex's shapes; the turn is kept before it is over. */
#include "base/clock.h"
#include "base/id.h"
#include "base/sse.h"
#include "core/prices.h"
#include "core/tokens.h"
#include "ext/dialects/cortex/chat.h"
#include "surface/common/memory_json.h"
#include "surface/common/said.h"
#include "surface/proxy/answer_capture.h"
#include "surface/proxy/demo_answer.h"

/*
 * The model's server speaks OpenAI's dialect, the client Cortex's: a stream of events message, done
 * and error, or one JSON object. So no byte of the server's answer goes on; a filter reads it and
 * writes its own. The last event goes out after the turn is kept: a client that has it finds the
 * answer in the session.
 */
enum {
    WHOLE_MAX = 8 << 20, /* bytes of an answer or its text */
    EVENT_MAX = 256 << 10,
    COMPLAINT_MAX = 300 /* bytes of the server's error text that are shown */
};

/* --- shapes --- */

SHAPE(chat_usage, (INT, tokens_in, .help = "as the model's server counts, else estimated"),
      (INT, tokens_out));
SHAPE(chat_envelope, (STR, message_id), (STR, sender_agent_key),
      (TIME, timestamp, .required = true), (STR, in_reply_to, .empty = EMPTY_OUT));
struct chat_out {
    const struct json *envelope; /* NULL: none */
    str message_id, content;
    struct chat_usage usage;
    double cost_usd;
    str model;
};
FIELDS(chat_out, (JSON, envelope, .empty = EMPTY_OUT),
       (STR, message_id, .help = "of the answer, in the history"), (STR, content),
       (OBJECT, usage, struct chat_usage, .inside = chat_usage_fields),
       (NUM, cost_usd, .help = "by the setting prices, else 0"), (STR, model));

SHAPE(chunk, (STR, chunk), (STR, id));
SHAPE(done_event, (STR, status), (OBJECT, usage, struct chat_usage, .inside = chat_usage_fields),
      (NUM, cost_usd), (STR, model));

const struct json *chat_envelope(struct ctx *ctx, str in_reply_to)
{
    const struct chat_envelope shape = {.message_id = id_random(&ctx->arena),
                                        .sender_agent_key = S("traylinx-cortex"),
                                        .timestamp = clock_ms(),
                                        .in_reply_to = in_reply_to};
    return in_reply_to.n ? json_object_of(ctx, chat_envelope_fields, &shape) : NULL;
}

static void write_event(struct buf *to, struct arena *a, const char *name,
                        const struct field *table, const void *shape, size_t most)
{
    struct json_out w = json_in(a, most);
    fields_write(&w, table, shape);
    sse_write(to, str_of(name), buf_str(w.b));
}

static void write_chunk(struct buf *to, struct arena *a, const struct chat_scene *scene, str text)
{
    const struct chunk shape = {text, scene->in.answer_id};
    write_event(to, a, "message", chunk_fields, &shape, text.n * 6 + 1024);
}

/* The whole answer, or the event that ends a stream. */
static void write_end(struct ctx *ctx, struct buf *to, const struct chat_scene *scene, str prices,
                      str text, const struct chat_usage *usage)
{
    double cost = price_of(prices, scene->model, usage->tokens_in, usage->tokens_out);
    if (scene->wish.is_stream) {
        const struct done_event shape = {S("completed"), *usage, cost, scene->to.model};
        write_event(to, &ctx->arena, "done", done_event_fields, &shape, 4096);
        return;
    }
    const struct chat_out shape = {.envelope = chat_envelope(ctx, scene->wish.in_reply_to),
                                   .message_id = scene->in.answer_id,
                                   .content = text,
                                   .usage = *usage,
                                   .cost_usd = cost,
                                   .model = scene->to.model};
    struct json_out w = json_to(to);
    fields_write(&w, chat_out_fields, &shape);
}

/* --- the model's server answers --- */

struct chat_answer {
    struct filter filter;
    struct engine *engine;
    const struct chat_scene *scene;
    bool is_stream;  /* read as it comes */
    bool has_ended;  /* the stream gave a reason to finish, or [DONE] */
    bool is_read;    /* whole: kept, or found to be no answer */
    struct buf held; /* an answer that is read when it is whole */
    struct buf text; /* the text of a stream */
    struct buf out;  /* for the client */
    struct sse events;
    struct ctx scratch; /* for one event at a time */
    struct ctx own;     /* for what outlives one event */
    str fault;          /* JSON of an event with an error */
    struct chat_usage usage;
};

static struct chat_answer *answer_of(struct filter *f)
{
    return container_of(f, struct chat_answer, filter);
}

/* Streams may bring counts more than once, or 0 before the end: the last positive one counts. */
static void read_usage(struct chat_answer *a, const struct json *answer)
{
    const struct json *usage = json_get(answer, "usage");
    int64_t in = json_int_or(json_get(usage, "prompt_tokens"), 0);
    int64_t out = json_int_or(json_get(usage, "completion_tokens"), 0);
    a->usage.tokens_in = in > 0 ? in : a->usage.tokens_in;
    a->usage.tokens_out = out > 0 ? out : a->usage.tokens_out;
}

/* One event of OpenAI's stream becomes at most one of Cortex's. An error inside the stream is kept
 * for the end, which words it; what came before it has gone out already. */
static void read_event(void *arg, UNUSED str name, str data)
{
    struct chat_answer *a = arg;
    assert(a->is_stream && !a->is_read);
    struct ctx *ctx = &a->scratch;
    struct json *answer;
    if (str_is(data, "[DONE]")) {
        a->has_ended = true;
        return;
    }
    if (json_parse(ctx, data, &answer) == OK) {
        const struct json *choice = json_at(answer, "choices.0");
        str text = text_of_content(&ctx->arena, json_at(choice, "delta.content"));
        const struct json *error = json_get(answer, "error");
        if (error && error->type != JSON_NULL && !a->fault.n)
            a->fault = str_dup(&a->own.arena, data);
        read_usage(a, answer);
        a->has_ended |= json_string(json_get(choice, "finish_reason")).n > 0;
        buf_add(&a->text, text);
        if (text.n)
            write_chunk(&a->out, &ctx->arena, a->scene, text);
    }
    ctx_clear_failure(ctx);
    arena_reset(&ctx->arena);
}

/* The code is of the model's server; the client gets 200 or, before the first byte, the code of the
 * failure. */
static bool is_success(const struct relay *r)
{
    return r->code >= 200 && r->code <= 299;
}

static void begin_answer(struct filter *f, struct relay *r)
{
    struct chat_answer *a = answer_of(f);
    a->is_stream = a->scene->wish.is_stream && is_success(r) &&
                   str_find(r->type, S("text/event-stream")) < r->type.n;
}

/* is_enough makes the relay end the transfer: no more of an answer over WHOLE_MAX is read. */
static str read_bytes(struct filter *f, struct relay *r, str bytes)
{
    struct chat_answer *a = answer_of(f);
    if (!a->is_stream) {
        buf_add(&a->held, bytes);
        r->is_enough = a->held.full;
        return S("");
    }
    buf_clear(&a->out);
    sse_feed(&a->events, bytes, read_event, a);
    r->is_enough = a->text.full;
    return buf_str(&a->out);
}

/* The turn is kept before the last byte goes out, and only a worker may wait for the disk. */
static bool end_answer(UNUSED struct filter *f, UNUSED struct relay *r, UNUSED str *rest)
{
    return true;
}

/* --- on a worker --- */

static enum status fail_with_text(struct ctx *ctx, const struct chat_answer *a, const char *what,
                                  str answer)
{
    const struct chat_scene *s = a->scene;
    str said = http_complaint(&ctx->arena, answer, COMPLAINT_MAX, s->key, s->asked.v, s->asked.n);
    return fail(ctx, UPSTREAM, "the model's server %s%s" S_FMT, what, said.n ? ": " : "",
                S_ARG(said));
}

static enum status read_whole(struct ctx *ctx, struct chat_answer *a, str *out)
{
    struct json *answer;
    str body = buf_str(&a->held);
    if (a->held.full || !soft(ctx, json_parse(ctx, body, &answer)))
        return fail(ctx, UPSTREAM, "the answer of the model's server is not a chat completion");
    *out = text_of_content(&ctx->arena, json_at(answer, "choices.0.message.content"));
    if (!str_trim(*out).n && json_get(answer, "error"))
        return fail_with_text(ctx, a, "answers with an error", body);
    read_usage(a, answer);
    return OK;
}

/* The assistant's text; a failure when the answer has none. */
static enum status read_answer(struct ctx *ctx, struct chat_answer *a, const struct relay *r,
                               str *out)
{
    if (!is_success(r))
        return fail_with_text(ctx, a, str_printf(&ctx->arena, "answers %d", r->code).p,
                              a->held.full ? S("") : buf_str(&a->held));
    if (!a->is_stream) {
        TRY(read_whole(ctx, a, out));
    } else if (a->fault.n) {
        return fail_with_text(ctx, a, "broke off", a->fault);
    } else if (!a->has_ended || a->text.full || a->events.dropped) {
        return fail(ctx, UPSTREAM, "the model's answer %s",
                    a->has_ended ? "is too long" : "ended in the middle");
    } else {
        *out = buf_str(&a->text);
    }
    return str_trim(*out).n ? OK : fail(ctx, UPSTREAM, "the model's answer has no text");
}

/* A server that rejects stream_options is asked again without that member. */
static bool asks_otherwise(struct ctx *ctx, struct chat_answer *a, struct relay *r)
{
    str body = buf_str(&a->held), wish = S(CHAT_USAGE_WISH);
    if (is_success(r) || !str_ends(r->body, wish) || str_find(body, S("stream_options")) == body.n)
        return false;
    r->body = str_printf(&ctx->arena, S_FMT "}", S_ARG(str_sub(r->body, 0, r->body.n - wish.n)));
    buf_clear(&a->held);
    return true;
}

static void complete_usage(struct chat_usage *usage, const struct chat_scene *scene, str text)
{
    if (!usage->tokens_in)
        usage->tokens_in = scene->tokens_in;
    if (!usage->tokens_out)
        usage->tokens_out = tokens_of(text);
}

/* The turn first, then the bytes: what the client reads as done is in the session already. is_read
 * tells the later calls that nobody else may keep the turn. At most one more request: only one
 * whose body still ends with the wish is asked again without it. */
static enum status finish_answer(struct filter *f, struct ctx *ctx, struct app *app,
                                 struct relay *r, struct filter_work *out)
{
    struct chat_answer *a = answer_of(f);
    str text;
    assert(!a->is_read);
    ctx_clear_failure(ctx);
    out->asks_again = asks_otherwise(ctx, a, r);
    if (out->asks_again)
        return OK;
    a->is_read = true;
    TRY(read_answer(ctx, a, r, &text));
    TRY(engine_end_turn(ctx, app->engine, a->scene->turn, text));
    complete_usage(&a->usage, a->scene, text);
    buf_clear(&a->out);
    /* Of a stream that the server answered whole. */
    if (a->scene->wish.is_stream && !a->is_stream)
        write_chunk(&a->out, &ctx->arena, a->scene, text);
    write_end(ctx, &a->out, a->scene, app->settings->prices, text, &a->usage);
    out->rest = buf_str(&a->out);
    return OK;
}

/* --- when it goes wrong --- */

static str no_text(UNUSED struct ctx *ctx, UNUSED void *arg)
{
    return S("");
}

/* A client that has read the event finds its message in the session. */
static str word_failure(struct filter *f, struct relay *r, enum status how, str why)
{
    struct chat_answer *a = answer_of(f);
    if (!a->is_read && is_success(r))
        engine_turn_answered(a->engine, a->scene->turn, no_text, NULL);
    struct ctx *ctx = &a->scratch;
    struct reply words = {.body = buf_make(&ctx->arena, 64 << 10)};
    ctx_clear_failure(ctx);
    fail(ctx, how, S_FMT, S_ARG(why));
    word_cortex_error(ctx, how, a->scene->request, &words);
    buf_clear(&a->out);
    sse_write(&a->out, S("error"), buf_str(&words.body));
    return buf_str(&a->out);
}

/* Of an answer that broke off only the user's message is kept; with an error nothing is. */
static void free_answer(struct filter *f, struct ctx *ctx, struct app *app, struct relay *r,
                        enum status how)
{
    struct chat_answer *a = answer_of(f);
    if (!engine_finish_turn(ctx, app->engine, a->scene->turn) && how != OK && !a->is_read &&
        is_success(r))
        turn_keep(ctx, app, a->scene->turn, S(""));
    buf_free(&a->held);
    buf_free(&a->text);
    buf_free(&a->out);
    sse_free(&a->events);
    ctx_free(&a->scratch);
    ctx_free(&a->own);
}

/* out may hold one event for each piece of text, so it may grow to several times the text
 * itself. */
void chat_answer_add(struct ctx *ctx, struct app *app, struct relay *relay,
                     const struct chat_scene *scene)
{
    static const struct filter_ops ops = {.head = begin_answer,
                                          .data = read_bytes,
                                          .end = end_answer,
                                          .work = finish_answer,
                                          .failed = word_failure,
                                          .done = free_answer};
    assert(scene->turn && scene->in.answer_id.n);
    struct chat_answer *a = NEW(&ctx->arena, struct chat_answer);
    a->engine = app->engine;
    a->scene = scene;
    a->held = buf_make(NULL, WHOLE_MAX);
    a->text = buf_make(NULL, WHOLE_MAX);
    a->out = buf_make(NULL, 8 * WHOLE_MAX);
    a->events = sse_reader(EVENT_MAX);
    a->scratch = ctx_detached(ctx);
    relay_add_filter(relay, &a->filter, &ops);
}

/* For the built-in model: the same shapes, with the text cut into the pieces that demo_words
 * gives. */
enum status chat_answer_now(struct ctx *ctx, struct app *app, const struct chat_scene *scene,
                            str text, struct reply *out)
{
    struct chat_usage usage = {0};
    str rest = text;
    assert(scene->turn && scene->in.answer_id.n);
    complete_usage(&usage, scene, text);
    while (scene->wish.is_stream && rest.n)
        write_chunk(&out->body, &ctx->arena, scene, demo_words(&rest));
    write_end(ctx, &out->body, scene, app->settings->prices, text, &usage);
    return OK;
}
