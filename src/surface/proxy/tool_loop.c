/* tool_loop.c - the tool loop: an answer that only calls our tool is hidden and asked again. */
#include "surface/proxy/tool_loop.h"

#include "base/clock.h"
#include "base/sse.h"

#include "surface/common/said.h"
#include "surface/proxy/memory_tool.h"
#include "surface/proxy/merged_answer.h"

/*
 * The client asks once and gets one answer. Behind that, each round asks the model with our tool in
 * its list, reads the answer as it passes (a stream event by event, JSON when it is whole), and
 * hides an answer whose calls are all ours. The searches run on a worker; their results and the
 * model's message are added to the conversation, which is sent again. The client's own bytes stay
 * as they came (splice), so that the model server's prompt cache still fits.
 */
enum {
    WHOLE_MAX = 4 << 20,   /* bytes of a JSON answer that are held back to be read */
    EVENT_MAX = 256 << 10, /* the same of an event; longer ones pass as they come */
    ERROR_MAX = 64 << 10,  /* bytes of an error that are read */
    SAID_MAX = 8 << 20,    /* bytes that the rounds may add to the conversation */
    SEARCHES_MAX = 8,      /* calls of one answer that are run */
    SEARCH_MS = 5000,      /* for all searches of one answer */
    TOOL_MAX = 16 << 10    /* bytes of the tool's definition */
};

enum reading {
    NOT_YET,     /* no byte has come */
    AS_IT_COMES, /* not ours to read: an error, or longer than a limit */
    WHOLE,       /* one JSON text: held back until its end */
    STREAM,      /* events: each is held back until its blank line */
    FAILURE      /* an error after a stream that the client reads: becomes an event in it */
};

struct tool_loop {
    struct filter filter;
    const struct model_request *ask;
    int64_t left;    /* rounds: how often the model may still be asked again */
    struct buf said; /* messages that earlier rounds added to the conversation: JSON after commas */
    struct ctx own;  /* for what outlives one answer */
    struct ctx scratch;  /* for one event */
    struct arena bodies; /* for the next request */
    struct merged_answer merged;
    bool is_shown; /* the client has read some bytes */
    /* of the answer that is coming in: */
    enum reading reading;
    struct tool_calls calls;
    struct buf held, out; /* held: waits to be whole; out: goes on */
    struct sse events;
    size_t line_n; /* bytes of the line that is not whole yet */
    bool after_cr, was_event;
    bool has_ended; /* a reason to finish was given */
    bool is_hidden; /* nothing more is shown: another answer follows */
};

static struct tool_loop *loop_of(struct filter *f)
{
    return container_of(f, struct tool_loop, filter);
}

/* --- offering --- */

static bool is_list(const struct json *v)
{
    return v && v->type == JSON_ARRAY;
}

static str tool_definition(struct ctx *ctx)
{
    struct json_out w = json_in(&ctx->arena, TOOL_MAX);
    fields_schema(&w, search_memory_here_fields, SCHEMA_STRICT, NULL);
    return JSON_FORM(&ctx->arena,
                     "{'type':'function','function':{'name':'" SEARCH_MEMORY
                     "','description':%,'parameters':%}}",
                     quote_json(&ctx->arena, str_of(search_memory_help)), buf_str(w.b));
}

bool tool_loop_offer(struct ctx *ctx, struct splice *body, const struct json *root)
{
    const struct json *tools = json_get(root, "tools");
    bool is_none = !tools || tools->type == JSON_NULL;
    if ((!is_none && !is_list(tools)) || offers_tool(root, SEARCH_MEMORY) ||
        json_get(root, "functions") || json_int_or(json_get(root, "n"), 1) != 1)
        return false;
    str tool = tool_definition(ctx);
    /* Last in the list: the client's tools keep their place in the cached prompt. */
    if (!tools)
        splice_at(body, root->source.p + 1, 0,
                  str_printf(&ctx->arena, "\"tools\":[" S_FMT "],", S_ARG(tool)));
    else if (is_none)
        splice_at(body, tools->source.p, tools->source.n,
                  str_printf(&ctx->arena, "[" S_FMT "]", S_ARG(tool)));
    else
        splice_at(body, tools->source.p + tools->source.n - 1, 0,
                  str_printf(&ctx->arena, "%s" S_FMT, tools->n ? "," : "", S_ARG(tool)));
    return true;
}

/* --- searching, on a worker --- */

static enum status run_call(struct ctx *ctx, struct app *app, const struct tool_loop *o,
                            const struct model_call *call, struct searched *out)
{
    struct json *arguments;
    struct search_memory_in in = {0};
    if (call->arguments.full || !soft(ctx, json_parse(ctx, buf_str(&call->arguments), &arguments)))
        return fail(ctx, BAD_INPUT, "the arguments are not a JSON object");
    TRY(fields_read(ctx, search_memory_here_fields, arguments, true, &in));
    in.turn = turn_out_of(o->ask->turn);
    return search_memory(ctx, app, o->ask->in.pool, &in, out);
}

/* The tool's answer for the model: what was found, or what was wrong with the call. */
static str answer_call(struct ctx *ctx, struct tool_loop *o, struct app *app,
                       const struct model_call *call)
{
    /* A search reads far more than its text: the rest is freed here, not after the whole chat. */
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct searched found;
    enum status s = run_call(&own, app, o, call, &found);
    if (s == OK) {
        turn_note_search(o->ask->turn, found.scope, found.v, found.n);
        return str_dup(&o->own.arena, found.text);
    }
    const char *why = own.why[0] ? own.why : status_name(s);
    return str_printf(&o->own.arena, "Error: %s%s%s", own.field, own.field[0] ? ": " : "", why);
}

/* The deadline is for all searches together and is put back afterwards: the next question to the
 * model has its own. A conversation over SAID_MAX is cut back to what it was, and the model is
 * asked a last time without calls. */
static void answer_calls(struct ctx *ctx, struct tool_loop *o, struct app *app)
{
    struct arena *a = &o->own.arena;
    int64_t deadline = ctx->deadline_us;
    size_t before = o->said.n;
    struct json_out w = json_to(&o->said);
    assert(o->calls.n && tool_calls_are_ours(&o->calls));
    buf_byte(&o->said, ',');
    tool_calls_write_message(&o->calls, &w);
    ctx->deadline_us = clock_mono_us() + SEARCH_MS * 1000;
    for (size_t i = 0; i < o->calls.n; i++) {
        const struct model_call *call = &o->calls.v[i];
        str text = i < SEARCHES_MAX ? answer_call(ctx, o, app, call)
                                    : S("Error: too many searches at once");
        buf_add(&o->said, JSON_FORM(a, ",{'role':'tool','tool_call_id':%,'content':%}",
                                    quote_json(a, call->id), quote_json(a, text)));
    }
    ctx->deadline_us = deadline;
    if (!o->said.full)
        return;
    o->said.n = before; /* the conversation is too long to go on: the next answer is the last */
    o->said.full = false;
    o->left = 0;
}

/* --- asking again --- */

/* A forced call has been made, so that the next choice is free; the last round forbids calls. */
static str next_choice(const struct tool_loop *o, const struct json *choice)
{
    const struct json *tools = json_get(o->ask->root, "tools");
    if (!o->left)
        return S("\"none\"");
    if (str_is(json_string(json_at(choice, "function.name")), SEARCH_MEMORY))
        return S("\"auto\"");
    bool is_only_ours = !is_list(tools) || !tools->n;
    return is_only_ours && str_is(json_string(choice), "required") ? S("\"auto\"") : S("");
}

/* The client's body, our messages at the end of its list, and the choice of tools. It is made anew
 * each round from the client's bytes, so splices do not pile up. */
static str next_body(struct tool_loop *o)
{
    struct splice s = o->ask->body;
    str messages = o->ask->messages->source;
    const struct json *choice = json_get(o->ask->root, "tool_choice");
    str now = next_choice(o, choice);
    arena_free(&o->bodies);
    s.arena = &o->bodies;
    s.cuts = DUP_N(&o->bodies, s.cuts, s.n, s.cap);
    splice_at(&s, messages.p + messages.n - 1, 0, buf_str(&o->said));
    if (now.n && choice)
        splice_at(&s, choice->source.p, choice->source.n, now);
    else if (now.n)
        splice_at(&s, o->ask->root->source.p + 1, 0,
                  str_printf(&o->bodies, "\"tool_choice\":" S_FMT ",", S_ARG(now)));
    return splice_done(&s);
}

/* The state of one answer; what outlives it is in merged and said. */
static void expect_answer(struct tool_loop *o)
{
    o->reading = NOT_YET;
    o->calls = tool_calls_none(&o->own.arena);
    buf_clear(&o->held);
    sse_free(&o->events);
    o->events = sse_reader(EVENT_MAX);
    o->line_n = 0;
    o->after_cr = o->was_event = o->has_ended = o->is_hidden = false;
}

/* Only when all calls are ours: a mix goes to the client, which must answer its own calls at once.
 * The arguments of an answer that was cut short may be incomplete. */
static bool is_for_us(const struct tool_loop *o, str finish)
{
    return o->left > 0 && tool_calls_are_ours(&o->calls) && !str_is(finish, "length") &&
           !str_is(finish, "content_filter");
}

/* A whole answer as the client sees it, or "" when another answer follows. */
static str read_whole(struct ctx *ctx, struct tool_loop *o)
{
    assert(o->reading == WHOLE && !o->calls.n);
    struct json *answer;
    str text = buf_str(&o->held);
    if (!soft(ctx, json_parse(ctx, text, &answer)))
        return text; /* not ours to judge: the client gets it as it came */
    const struct json *choice = json_at(answer, "choices.0");
    tool_calls_set_message(&o->calls, json_get(choice, "message"));
    merged_answer_note_usage(&o->merged, answer);
    if (is_for_us(o, json_string(json_get(choice, "finish_reason"))))
        return S("");
    return merged_answer_whole(&o->merged, &ctx->arena, text, answer, &o->calls);
}

/* On a worker: runs the searches and makes the next request. */
static enum status answer_model(struct filter *f, struct ctx *ctx, struct app *app, struct relay *r,
                                struct filter_work *out)
{
    struct tool_loop *o = loop_of(f);
    if (o->reading == WHOLE) {
        out->rest = read_whole(ctx, o);
        if (out->rest.n)
            return OK;
    }
    assert(o->left > 0);
    o->left--;
    answer_calls(ctx, o, app);
    ctx_clear_failure(ctx);
    r->body = next_body(o);
    merged_answer_next(&o->merged);
    expect_answer(o);
    out->asks_again = true;
    return OK;
}

/* --- reading, on the loop --- */

/* What of one event goes on: all, a part, or "" for nothing. Hidden events are still read, since
 * usage and calls come in them. */
static str shown_data(struct tool_loop *o, str data)
{
    struct json *chunk;
    struct ctx *ctx = &o->scratch;
    if (str_is(data, "[DONE]")) {
        o->is_hidden |= !o->has_ended && is_for_us(o, S(""));
        return o->is_hidden ? S("") : data;
    }
    if (!soft(ctx, json_parse(ctx, data, &chunk)))
        return o->is_hidden ? S("") : data;
    const struct json *choice = json_at(chunk, "choices.0");
    str finish = json_string(json_get(choice, "finish_reason"));
    merged_answer_note_usage(&o->merged, chunk);
    tool_calls_add_delta(&o->calls, json_get(choice, "delta"));
    if (o->is_hidden)
        return S("");
    o->has_ended |= finish.n > 0;
    o->is_hidden = finish.n && is_for_us(o, finish);
    return merged_answer_chunk(&o->merged, &ctx->arena, data, chunk, &o->calls, o->is_hidden);
}

/* An event without changes goes on byte for byte. */
static void on_event(void *arg, str event, str data)
{
    struct tool_loop *o = arg;
    assert(o->reading == STREAM);
    str now = shown_data(o, data);
    if (now.p == data.p && now.n == data.n)
        buf_add(&o->out, buf_str(&o->held));
    else if (now.n)
        sse_write(&o->out, event, now);
    buf_clear(&o->held);
    arena_reset(&o->scratch.arena);
    o->was_event = true;
}

/* Up to and with the next line end (CR, LF or both), or all bytes. */
static str next_piece(struct tool_loop *o, str *bytes, bool *is_blank)
{
    size_t n = 0;
    bool is_second = o->after_cr && bytes->p[0] == '\n';
    while (n < bytes->n && bytes->p[n] != '\n' && bytes->p[n] != '\r')
        n++;
    bool ends = n < bytes->n;
    *is_blank = ends && !is_second && !o->line_n && !n;
    o->line_n = ends ? 0 : o->line_n + n;
    o->after_cr = ends && bytes->p[n] == '\r';
    str piece = str_sub(*bytes, 0, n + ends);
    *bytes = str_sub(*bytes, n + ends, bytes->n);
    return piece;
}

/* Bytes are held back until their event is whole. A block without an event (comments that keep the
 * connection alive) goes on at its blank line. */
static void read_stream(struct tool_loop *o, str bytes)
{
    while (bytes.n) {
        bool is_blank;
        str all = bytes, piece = next_piece(o, &bytes, &is_blank);
        if (o->held.n + piece.n > EVENT_MAX) {
            o->reading = AS_IT_COMES;
            buf_add(&o->out, buf_str(&o->held));
            buf_add(&o->out, all);
            return;
        }
        buf_add(&o->held, piece);
        o->was_event = false;
        sse_feed(&o->events, piece, on_event, o);
        if (!is_blank || o->was_event)
            continue;
        if (!o->is_hidden)
            buf_add(&o->out, buf_str(&o->held));
        buf_clear(&o->held);
    }
}

/* The kind of answer decides how it is read. A later answer that is no stream, after the client has
 * read some of one, can only be told as an event. */
static void begin_answer(struct filter *f, struct relay *r)
{
    struct tool_loop *o = loop_of(f);
    assert(o->reading == NOT_YET && !o->held.n);
    bool is_stream = str_find(r->type, S("text/event-stream")) < r->type.n;
    bool is_json = str_find(r->type, S("json")) < r->type.n;
    if (r->code == 200 && is_stream)
        o->reading = STREAM;
    else if (o->is_shown)
        o->reading = FAILURE;
    else
        o->reading = r->code == 200 && is_json ? WHOLE : AS_IT_COMES;
}

/* On the loop. The returned text is in o->out and lives until the next call. */
static str read_bytes(struct filter *f, UNUSED struct relay *r, str bytes)
{
    struct tool_loop *o = loop_of(f);
    assert(o->reading != NOT_YET); /* head comes before data */
    if (o->reading == AS_IT_COMES)
        return bytes;
    buf_clear(&o->out);
    if (o->reading == STREAM) {
        read_stream(o, bytes);
    } else if (o->held.n + bytes.n <= (o->reading == WHOLE ? WHOLE_MAX : ERROR_MAX)) {
        buf_add(&o->held, bytes);
    } else if (o->reading == WHOLE) {
        o->reading = AS_IT_COMES;
        buf_add(&o->out, buf_str(&o->held));
        buf_add(&o->out, bytes);
    }
    o->is_shown |= o->out.n > 0;
    return buf_str(&o->out);
}

/* The client has the head of a stream, so the failure must be an event. */
static str error_event(struct tool_loop *o, const struct relay *r)
{
    assert(o->is_shown);
    struct json *answer = NULL;
    struct ctx *ctx = &o->scratch;
    bool is_error = json_parse(ctx, buf_str(&o->held), &answer) == OK && json_get(answer, "error");
    buf_clear(&o->out);
    if (is_error)
        sse_write(&o->out, S(""), answer->source);
    else
        buf_printf(&o->out,
                   "data: {\"error\":{\"message\":\"the upstream answered %d when it was asked "
                   "again after a search\",\"type\":\"server_error\",\"param\":null,"
                   "\"code\":\"upstream_error\"}}\n\n",
                   r->code);
    return buf_str(&o->out);
}

/* True when the worker is needed: to search, or to read a whole answer that may hold our calls. */
static bool end_answer(struct filter *f, struct relay *r, str *rest)
{
    struct tool_loop *o = loop_of(f);
    if (o->reading == FAILURE)
        *rest = error_event(o, r);
    if (o->reading == STREAM && (o->is_hidden || (!o->has_ended && is_for_us(o, S("")))))
        return true;
    if (o->reading != WHOLE && o->reading != STREAM)
        return false;
    *rest = buf_str(&o->held);
    /* Most answers call nothing: without our tool's name in them they need no worker. */
    bool is_plain = !o->merged.is_later && str_find(*rest, S(SEARCH_MEMORY)) == rest->n;
    if (o->reading == STREAM || is_plain || !rest->n)
        return false;
    *rest = S("");
    return true;
}

/* --- life --- */

/* The done call of the filter: it comes once for each relay that the loop got, also for one whose
 * upstream was never asked, so nothing leaks when a client leaves. */
static void free_loop(struct filter *f, UNUSED struct ctx *ctx, UNUSED struct app *app,
                      UNUSED struct relay *r, UNUSED enum status how)
{
    struct tool_loop *o = loop_of(f);
    buf_free(&o->held);
    buf_free(&o->out);
    buf_free(&o->said);
    sse_free(&o->events);
    ctx_free(&o->scratch);
    ctx_free(&o->own);
    arena_free(&o->bodies);
}

/* Buffers are on the heap, not in the arena, as they grow and are freed by free_loop. They take no
 * memory before their first byte. */
void tool_loop_add(struct ctx *ctx, struct relay *relay, const struct model_request *ask,
                   int64_t rounds)
{
    static const struct filter_ops ops = {.head = begin_answer,
                                          .data = read_bytes,
                                          .end = end_answer,
                                          .work = answer_model,
                                          .done = free_loop};
    struct tool_loop *o = NEW(&ctx->arena, struct tool_loop);
    assert(ask->turn && is_list(ask->messages));
    o->ask = ask;
    o->left = rounds;
    o->said = buf_make(NULL, SAID_MAX);
    o->held = buf_make(NULL, WHOLE_MAX);
    o->out = buf_make(NULL, WHOLE_MAX + (1 << 20));
    o->merged = merged_answer_new(&o->own);
    expect_answer(o);
    relay_add_filter(relay, &o->filter, &ops);
}
