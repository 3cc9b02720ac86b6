/* rounds.c - answers are read as they pass; where one only calls our tool, another is asked for. */
#include "surface/rounds.h"

#include "base/clock.h"
#include "base/sse.h"

#include "surface/search_memory.h"
#include "surface/view.h"

/* WHOLE_MAX, EVENT_MAX: what is held back to be read; more passes as it is. */
enum { WHOLE_MAX = 4 << 20, EVENT_MAX = 256 << 10, ERROR_MAX = 64 << 10, SAID_MAX = 8 << 20 };
enum { SEARCHES_MAX = 8, SEARCH_MS = 2000, LINES_MAX = 200, TOOL_MAX = 16 << 10 };

/* How an answer is treated. */
enum reading { NOT_YET, AS_IT_COMES, WHOLE, STREAM, FAILURE };

struct rounds {
    struct rounds_in in;
    struct splice body;
    int64_t left;    /* how often the model may be asked again */
    struct buf said; /* what the answers before added to the conversation: JSON behind commas */
    void (*done)(struct ctx *ctx, struct app *app, struct relay *r, enum status how);
    struct ctx own;      /* of what lives over the answers */
    struct ctx scratch;  /* of one event */
    struct arena bodies; /* of the request that is being made */
    struct view view;
    bool is_shown; /* the client has some of it */
    /* of the answer that comes */
    enum reading reading;
    struct calls calls;
    struct buf held, out; /* what waits to be whole; what goes on */
    struct sse events;
    size_t line_n; /* bytes of the line that is not whole yet */
    bool after_cr, was_event;
    bool has_ended; /* a reason to finish was given */
    bool is_hidden; /* from here on nothing is shown, since another answer follows */
};

/* --- offering --- */

static bool has_own_tool(const struct json *tools)
{
    for (const struct json *t = tools ? tools->first : NULL; t; t = t->next)
        if (str_is(json_string(json_at(t, "function.name")), SEARCH_MEMORY))
            return true;
    return false;
}

static bool is_list(const struct json *v)
{
    return v && v->type == JSON_ARRAY;
}

static str definition(struct ctx *ctx)
{
    struct buf b = buf_make(&ctx->arena, TOOL_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "type");
    json_str(&w, S("function"));
    json_key(&w, "function");
    json_open(&w, '{');
    json_key(&w, "name");
    json_str(&w, S(SEARCH_MEMORY));
    json_key(&w, "description");
    json_str(&w, str_of(search_memory_help));
    json_key(&w, "parameters");
    fields_schema(&w, search_memory_here_fields, true);
    json_close(&w, '}');
    json_close(&w, '}');
    return buf_str(&b);
}

bool rounds_offer(struct ctx *ctx, struct splice *body, const struct json *root)
{
    const struct json *tools = json_get(root, "tools");
    bool is_none = !tools || tools->type == JSON_NULL;
    if ((!is_none && !is_list(tools)) || has_own_tool(tools) || json_get(root, "functions") ||
        json_int_or(json_get(root, "n"), 1) != 1)
        return false;
    str tool = definition(ctx);
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

static void note(struct ctx *ctx, struct turn *t, const struct searched *found)
{
    struct receipt *r = &t->record;
    size_t n = r->n + found->n < LINES_MAX ? found->n : r->n < LINES_MAX ? LINES_MAX - r->n : 0;
    struct receipt_line *lines = NEW_N(&ctx->arena, struct receipt_line, r->n + n + 1);
    if (r->n)
        memcpy(lines, r->lines, r->n * sizeof *lines);
    for (size_t i = 0; i < n; i++) {
        const struct recalled *c = &found->v[i];
        lines[r->n + i] = (struct receipt_line){
            .kind = c->is_memory ? S("memory") : S("message"),
            .id = str_dup(&ctx->arena, c->is_memory ? c->memory.id : c->message.id),
            .source = c->is_memory ? str_dup(&ctx->arena, c->memory.source) : S(""),
            .score = c->score,
            .tokens = c->tokens,
            .injected = true,
            .why = str_printf(&ctx->arena, "the model searched %s%s" S_FMT,
                              plan_scope_names[found->scope], c->why.n ? ": " : "", S_ARG(c->why)),
        };
    }
    r->lines = lines;
    r->n += n;
}

static enum status run_call(struct ctx *ctx, struct app *app, const struct tool_wish *call,
                            const struct turn *t, struct searched *out)
{
    struct json *arguments;
    struct search_memory_in in = {0};
    if (call->arguments.full || json_parse(ctx, buf_str(&call->arguments), &arguments) != OK) {
        ctx_clear_failure(ctx);
        return fail(ctx, BAD_INPUT, "the arguments are no JSON object");
    }
    TRY(fields_read(ctx, search_memory_here_fields, arguments, true, &in));
    in.is_readonly = t->mode == MODE_READONLY;
    in.turn = t;
    return search_memory(ctx, app, t->pool, &in, out);
}

/* What the model is told: what was found, or what was wrong with its call. */
static str answer_call(struct ctx *ctx, struct rounds *o, struct app *app,
                       const struct tool_wish *call)
{
    CLEANUP(ctx_free) struct ctx own = {.deadline_us = ctx->deadline_us, .is_cut = ctx->is_cut};
    struct searched found;
    struct turn *t = o->in.turn;
    enum status s = run_call(&own, app, call, t, &found);
    if (s == OK) {
        note(ctx, t, &found);
        return str_dup(&o->own.arena, found.text);
    }
    const char *why = own.why[0] ? own.why : status_name(s);
    return str_printf(&o->own.arena, "Error: %s%s%s", own.field, own.field[0] ? ": " : "", why);
}

static void tell(struct rounds *o, const struct tool_wish *call, str text)
{
    struct json_out w = json_to(&o->said);
    buf_byte(&o->said, ',');
    json_open(&w, '{');
    json_key(&w, "role");
    json_str(&w, S("tool"));
    json_key(&w, "tool_call_id");
    json_str(&w, call->id);
    json_key(&w, "content");
    json_str(&w, text);
    json_close(&w, '}');
}

static void answer_calls(struct ctx *ctx, struct rounds *o, struct app *app)
{
    int64_t deadline = ctx->deadline_us;
    size_t before = o->said.n;
    struct json_out w = json_to(&o->said);
    buf_byte(&o->said, ',');
    calls_write_message(&o->calls, &w);
    ctx->deadline_us = clock_mono_us() + SEARCH_MS * 1000;
    for (size_t i = 0; i < o->calls.n; i++) {
        str text = i < SEARCHES_MAX ? answer_call(ctx, o, app, &o->calls.v[i])
                                    : S("Error: too many searches at once");
        tell(o, &o->calls.v[i], text);
    }
    ctx->deadline_us = deadline;
    if (!o->said.full)
        return;
    o->said.n = before; /* no more than this is asked back, so it is the last answer */
    o->said.full = false;
    o->left = 0;
}

/* --- asking again --- */

/* A call that was demanded has been made; with the last answer there shall be none. */
static str choice_now(const struct rounds *o, const struct json *choice)
{
    const struct json *tools = json_get(o->in.root, "tools");
    if (!o->left)
        return S("\"none\"");
    if (str_is(json_string(json_at(choice, "function.name")), SEARCH_MEMORY))
        return S("\"auto\"");
    bool is_only_ours = !is_list(tools) || !tools->n;
    return is_only_ours && str_is(json_string(choice), "required") ? S("\"auto\"") : S("");
}

static str next_body(struct rounds *o)
{
    struct splice s = o->body;
    str messages = o->in.messages->source;
    const struct json *choice = json_get(o->in.root, "tool_choice");
    str now = choice_now(o, choice);
    arena_free(&o->bodies);
    splice_at(&s, messages.p + messages.n - 1, 0, buf_str(&o->said));
    if (now.n && choice)
        splice_at(&s, choice->source.p, choice->source.n, now);
    else if (now.n)
        splice_at(&s, o->in.root->source.p + 1, 0,
                  str_printf(&o->bodies, "\"tool_choice\":" S_FMT ",", S_ARG(now)));
    return splice_done(&o->bodies, &s);
}

static void expect_answer(struct rounds *o)
{
    o->reading = NOT_YET;
    o->calls = calls_none(&o->own.arena);
    buf_clear(&o->held);
    sse_free(&o->events);
    o->events = sse_reader(EVENT_MAX);
    o->line_n = 0;
    o->after_cr = o->was_event = o->has_ended = o->is_hidden = false;
}

/* Whether the model's calls are answered here: all are ours, and it was not cut short. */
static bool is_for_us(const struct rounds *o, str finish)
{
    return o->left > 0 && calls_are_ours(&o->calls) && !str_is(finish, "length") &&
           !str_is(finish, "content_filter");
}

/* A whole answer: what the client gets of it, or "" when another one follows. */
static str read_whole(struct ctx *ctx, struct rounds *o)
{
    struct json *answer;
    str text = buf_str(&o->held);
    if (json_parse(ctx, text, &answer) != OK) {
        ctx_clear_failure(ctx);
        return text;
    }
    const struct json *choice = first_choice(answer);
    calls_take(&o->calls, json_get(choice, "message"));
    view_hear(&o->view, answer);
    if (is_for_us(o, json_string(json_get(choice, "finish_reason"))))
        return S("");
    return view_answer(&o->view, &ctx->arena, text, answer, &o->calls);
}

static bool again(struct ctx *ctx, struct app *app, struct relay *r, str *rest)
{
    struct rounds *o = r->rounds;
    if (o->reading == WHOLE) {
        *rest = read_whole(ctx, o);
        if (rest->n)
            return false;
    }
    o->left--;
    answer_calls(ctx, o, app);
    ctx_clear_failure(ctx);
    r->body = next_body(o);
    view_next(&o->view);
    expect_answer(o);
    return true;
}

/* --- reading, on the loop --- */

static str shown(struct rounds *o, str data)
{
    struct json *chunk;
    struct ctx *ctx = &o->scratch;
    if (str_is(data, "[DONE]")) {
        o->is_hidden |= !o->has_ended && is_for_us(o, S(""));
        return o->is_hidden ? S("") : data;
    }
    if (json_parse(ctx, data, &chunk) != OK) {
        ctx_clear_failure(ctx);
        return o->is_hidden ? S("") : data;
    }
    const struct json *choice = first_choice(chunk);
    str finish = json_string(json_get(choice, "finish_reason"));
    view_hear(&o->view, chunk);
    calls_hear(&o->calls, json_get(choice, "delta"));
    if (o->is_hidden)
        return S("");
    o->has_ended |= finish.n > 0;
    o->is_hidden = finish.n && is_for_us(o, finish);
    return view_chunk(&o->view, &ctx->arena, data, chunk, &o->calls, o->is_hidden);
}

/* An event that stays as it is goes on as its own bytes. */
static void on_event(void *arg, str event, str data)
{
    struct rounds *o = arg;
    str now = shown(o, data);
    if (now.p == data.p && now.n == data.n)
        buf_add(&o->out, buf_str(&o->held));
    else if (now.n)
        sse_write(&o->out, event, now);
    buf_clear(&o->held);
    arena_reset(&o->scratch.arena);
    o->was_event = true;
}

/* Up to and with the next line's end, or what there is. */
static str next_piece(struct rounds *o, str *bytes, bool *is_blank)
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

/* Comments, which keep a connection alive, wait for no event. */
static void read_stream(struct rounds *o, str bytes)
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

static void begin(struct rounds *o, const struct relay *r)
{
    bool is_stream = str_find(r->type, S("text/event-stream")) < r->type.n;
    bool is_json = str_find(r->type, S("json")) < r->type.n;
    if (r->code == 200 && is_stream)
        o->reading = STREAM;
    else if (o->is_shown)
        o->reading = FAILURE;
    else
        o->reading = r->code == 200 && is_json ? WHOLE : AS_IT_COMES;
}

static str pass(struct relay *r, str bytes)
{
    struct rounds *o = r->rounds;
    if (o->reading == NOT_YET)
        begin(o, r);
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

/* The client reads a stream already, so the failure is an event in it. */
static str error_event(struct rounds *o, const struct relay *r)
{
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

static bool over(struct relay *r, str *rest)
{
    struct rounds *o = r->rounds;
    if (o->reading == NOT_YET)
        begin(o, r);
    if (o->reading == FAILURE)
        *rest = error_event(o, r);
    if (o->reading == STREAM && (o->is_hidden || (!o->has_ended && is_for_us(o, S("")))))
        return true;
    if (o->reading != WHOLE && o->reading != STREAM)
        return false;
    *rest = buf_str(&o->held);
    bool is_plain = !o->view.is_later && str_find(*rest, S(SEARCH_MEMORY)) == rest->n;
    if (o->reading == STREAM || is_plain || !rest->n)
        return false;
    *rest = S("");
    return true;
}

/* --- life --- */

static void done(struct ctx *ctx, struct app *app, struct relay *r, enum status how)
{
    struct rounds *o = r->rounds;
    if (o->done)
        o->done(ctx, app, r, how);
    buf_free(&o->held);
    buf_free(&o->out);
    buf_free(&o->said);
    sse_free(&o->events);
    ctx_free(&o->scratch);
    ctx_free(&o->own);
    arena_free(&o->bodies);
}

void rounds_on(struct ctx *ctx, struct relay *relay, const struct rounds_in *in)
{
    static const struct filter filter = {pass, over, again, NULL};
    struct rounds *o = NEW(&ctx->arena, struct rounds);
    o->in = *in;
    o->body = *in->body;
    o->left = in->max;
    o->said = buf_make(NULL, SAID_MAX);
    o->held = buf_make(NULL, WHOLE_MAX);
    o->out = buf_make(NULL, WHOLE_MAX + (1 << 20));
    o->view = view_new(&o->own);
    o->done = relay->done;
    expect_answer(o);
    relay->rounds = o;
    relay->filter = &filter;
    relay->done = done;
}
