/* tap.c - the assistant's words out of a JSON answer or a stream of events. */
#include "base/log.h"
#include "base/sse.h"

#include "surface/tap.h"

/* A longer text is kept up to here; a longer JSON answer is not read at all. */
enum { TEXT_MAX = 1 << 20, ANSWER_MAX = 4 << 20, EVENT_MAX = 256 << 10 };

struct tap {
    struct turn *turn;
    bool has_begun, is_stream, is_wanted;
    struct buf text; /* of a stream: what was said so far; else: the JSON as it comes */
    struct sse events;
    struct ctx scratch; /* for one event at a time */
    /* of tap_before_end */
    const struct filter *inner;
    bool has_ended;  /* [DONE] came */
    bool inner_asks; /* the inner filter wants a worker */
    bool is_kept;
    struct buf late; /* waits for that */
};

/* --- reading --- */

/* A tool's result or a file may bring text in a user's message; only the kinds of text are said. */
static bool is_said(const struct json *part)
{
    static const char *const kinds[] = {"text", "input_text", "output_text", NULL};
    str kind = json_string(json_get(part, "type"));
    for (const char *const *k = kinds; *k; k++)
        if (str_is(kind, *k))
            return true;
    return !kind.n;
}

str text_of_content(struct arena *a, const struct json *content)
{
    if (!content || content->type != JSON_ARRAY)
        return json_string(content);
    struct buf b = buf_make(a, content->source.n);
    bool is_first = true;
    for (const struct json *part = content->first; part; part = part->next) {
        const struct json *text = json_get(part, "text");
        if (!text || text->type != JSON_STRING || !is_said(part))
            continue;
        buf_add(&b, is_first ? S("") : S("\n"));
        buf_add(&b, text->string);
        is_first = false;
    }
    return buf_str(&b);
}

/* The text of choices[0] of a whole answer ("message") or a piece of a stream ("delta"). */
static str text_of_choice(struct arena *a, const struct json *answer, const char *member)
{
    const struct json *choices = json_get(answer, "choices");
    if (!choices || choices->type != JSON_ARRAY)
        return S("");
    for (const struct json *c = choices->first; c; c = c->next)
        if (json_int_or(json_get(c, "index"), 0) == 0)
            return text_of_content(a, json_get(json_get(c, member), "content"));
    return S("");
}

static void hear_event(void *arg, str event, str data)
{
    struct tap *t = arg;
    struct json *answer;
    (void)event;
    if (str_is(data, "[DONE]")) {
        t->has_ended = true;
        return;
    }
    if (json_parse(&t->scratch, data, &answer) == OK)
        buf_add(&t->text, text_of_choice(&t->scratch.arena, answer, "delta"));
    ctx_clear_failure(&t->scratch);
    arena_reset(&t->scratch.arena);
}

static void hear(struct relay *r, str bytes)
{
    struct tap *t = r->tap;
    if (!t->has_begun) {
        t->has_begun = true;
        t->is_wanted = r->code == 200;
        t->is_stream = str_find(r->type, S("text/event-stream")) < r->type.n;
        t->text.max = t->is_stream ? TEXT_MAX : ANSWER_MAX;
    }
    if (!t->is_wanted)
        return;
    if (t->is_stream)
        sse_feed(&t->events, bytes, hear_event, t);
    else
        buf_add(&t->text, bytes);
}

/* --- keeping --- */

static str said(struct ctx *ctx, struct tap *t)
{
    struct json *answer;
    if (t->is_stream)
        return buf_str(&t->text);
    if (t->text.full || json_parse(ctx, buf_str(&t->text), &answer) != OK)
        return S("");
    return text_of_choice(&ctx->arena, answer, "message");
}

void turn_keep(struct ctx *ctx, struct app *app, struct turn *turn, str answer)
{
    ctx_clear_failure(ctx);
    if (engine_end_turn(ctx, app->engine, turn, answer) != OK)
        log_event(LOG_WARN, "turn.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
    ctx_clear_failure(ctx);
}

/* An answer that was cut short is not kept, what the user said is; an error keeps nothing. */
static void keep(struct ctx *ctx, struct app *app, struct relay *r, enum status how)
{
    struct tap *t = r->tap;
    if (r->code == 200 && !t->is_kept) {
        str answer = how == OK ? said(ctx, t) : S("");
        turn_keep(ctx, app, t->turn, answer);
    }
    buf_free(&t->text);
    buf_free(&t->late);
    sse_free(&t->events);
    ctx_free(&t->scratch);
}

/* --- keeping before the end --- */

/* An event is none before its blank line: so the end waits even where its line has begun to go. */
static str hold_end(struct relay *r, str bytes)
{
    struct tap *t = r->tap;
    bool had_ended = t->has_ended;
    if (!bytes.n)
        return bytes;
    hear(r, bytes);
    if (!t->has_ended)
        return bytes;
    size_t at = had_ended ? 0 : str_find(bytes, S("[DONE]"));
    at = at < bytes.n ? at : 0;
    buf_add(&t->late, str_sub(bytes, at, bytes.n));
    return str_sub(bytes, 0, at);
}

static str pass(struct relay *r, str bytes)
{
    const struct filter *inner = r->tap->inner;
    return hold_end(r, inner ? inner->pass(r, bytes) : bytes);
}

static bool over(struct relay *r, str *rest)
{
    struct tap *t = r->tap;
    *rest = S("");
    t->inner_asks = t->inner && t->inner->over(r, rest);
    *rest = hold_end(r, *rest);
    return t->inner_asks || r->code == 200;
}

static bool again(struct ctx *ctx, struct app *app, struct relay *r, str *rest)
{
    struct tap *t = r->tap;
    *rest = S("");
    if (t->inner_asks && t->inner->again(ctx, app, r, rest))
        return true;
    str before = hold_end(r, *rest);
    ctx_clear_failure(ctx);
    t->is_kept = true;
    if (r->code == 200)
        r->refused = engine_end_turn(ctx, app->engine, t->turn, said(ctx, t));
    *rest = str_printf(&ctx->arena, S_FMT S_FMT, S_ARG(before), S_ARG(buf_str(&t->late)));
    return false;
}

void tap_before_end(struct relay *relay)
{
    static const struct filter filter = {pass, over, again, NULL};
    relay->tap->inner = relay->filter;
    relay->filter = &filter;
    relay->piece = NULL;
}

void tap_on(struct ctx *ctx, struct relay *relay, struct turn *turn)
{
    struct tap *t = NEW(&ctx->arena, struct tap);
    t->turn = turn;
    t->text = buf_make(NULL, TEXT_MAX);
    t->late = buf_make(NULL, ANSWER_MAX);
    t->events = sse_reader(EVENT_MAX);
    relay->tap = t;
    relay->piece = hear;
    relay->done = keep;
}
