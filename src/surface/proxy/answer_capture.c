/* answer_capture.c - the assistant's text out of a JSON answer or a stream of events or lines. */
#include "surface/proxy/answer_capture.h"

#include "base/sse.h"
#include "surface/common/said.h"

enum {
    TEXT_MAX = 1 << 20,   /* bytes of a stream's text that are kept; the rest is not */
    ANSWER_MAX = 4 << 20, /* a longer JSON answer is not read */
    EVENT_MAX = 256 << 10,
    NAME_MAX_BYTES = 1000,
    CALLS_MAX = 16 << 10,
    ITEMS_MAX = 64 << 10,
    FACT_BYTES = 96
};

/* The bytes are read, never changed: what the client gets does not depend on what is captured. */
struct answer_capture {
    struct filter filter;
    struct engine *engine;
    struct turn *turn;
    const struct answer_reader *reader;
    enum form { UNREAD, WHOLE, EVENTS, LINES } form;              /* LINES: each is JSON */
    bool has_ended;                                               /* the stream's last event came */
    enum ending { ENDS_OPEN, ENDS_FINISHED, ENDS_BROKEN } ending; /* what it said of its end */
    bool is_kept;                                                 /* the turn, before the end */
    bool is_durable;  /* a turn that cannot be kept breaks the answer off */
    bool is_whole;    /* the text is all there; whoever keeps the turn may read it */
    struct buf text;  /* of a stream: the assistant's text so far; else: the JSON as it comes */
    struct buf early; /* the same by the events that others repeat */
    struct answer_naming naming; /* of a stream, as the reader has found it */
    struct buf late;             /* the end of the answer, held back until the turn is kept */
    struct sse events;
    struct buf line;    /* that is not whole yet */
    size_t run;         /* of base64, at the end of the bytes so far */
    struct ctx scratch; /* for one event at a time */
    struct trace *trace;
    char facts[2][FACT_BYTES]; /* model and id of the trace, which lives as long as the exchange */
};

static struct answer_capture *capture_of(struct filter *f)
{
    return container_of(f, struct answer_capture, filter);
}

/* --- facts of an answer --- */

/* OpenAI's APIs and Anthropic's have an object of counts, in the answer itself or in a member of an
 * event; Ollama has its counts beside the text. */
static const struct count_place {
    const char *name;
    bool is_input, adds; /* adds: the count of another row does not include this one */
} in_usage[] =
    {
        {"prompt_tokens", true, false},
        {"input_tokens", true, false},
        {"cache_read_input_tokens", true, true},
        {"cache_creation_input_tokens", true, true},
        {"completion_tokens", false, false},
        {"output_tokens", false, false},
        {0},
},
  beside_text[] = {{"prompt_eval_count", true, false}, {"eval_count", false, false}, {0}};

static void note_counts(const struct json *o, const struct count_place *rows,
                        struct chat_facts *out)
{
    int64_t n[2] = {0};
    if (!o || o->type != JSON_OBJECT)
        return;
    for (const struct count_place *row = rows; row->name; row++) {
        int64_t count = json_int_or(json_get(o, row->name), 0);
        if (count > 0)
            n[row->is_input] = row->adds ? n[row->is_input] + count : count;
    }
    out->tokens_in = n[true] ? n[true] : out->tokens_in;
    out->tokens_out = n[false] ? n[false] : out->tokens_out;
}

static void note_text(const struct json *v, char to[FACT_BYTES], str *out)
{
    str text = json_string(v);
    if (!text.n || text.n >= FACT_BYTES || out->n)
        return;
    memcpy(to, text.p, text.n);
    *out = (str){to, text.n};
}

/* From a whole answer, or an event of a stream: whatever it has, in any of the APIs. */
static void note_facts(struct answer_capture *c, const struct json *piece)
{
    struct chat_facts *out = &c->trace->chat;
    if (!c->trace->is_recorded)
        return;
    const struct json *places[] = {piece, json_get(piece, "message"), json_get(piece, "response")};
    note_counts(piece, beside_text, out);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || places[i]->type != JSON_OBJECT)
            continue;
        note_counts(json_get(places[i], "usage"), in_usage, out);
        note_text(json_get(places[i], "model"), c->facts[0], &out->answered_by);
        note_text(json_get(places[i], "id"), c->facts[1], &out->answer_id);
    }
}

/* --- reading --- */

/* With several choices only the first can go on, so only it is kept. */
static const struct json *kept_choice(const struct json *answer)
{
    const struct json *c = json_at(answer, "choices.0");
    while (c && json_int_or(json_get(c, "index"), 0) != 0)
        c = c->next;
    return c;
}

/* A spoken answer has its words beside the sound. */
static str text_of_message(struct arena *a, const struct json *message)
{
    str spoken = json_string(json_at(message, "audio.transcript"));
    return spoken.n ? spoken : text_of_content(a, json_get(message, "content"));
}

static str text_of_completion(struct arena *a, const struct json *answer)
{
    return text_of_message(a, json_get(kept_choice(answer), "message"));
}

static void add_delta(struct arena *a, const struct json *event, struct buf *text)
{
    buf_add(text, text_of_message(a, json_get(kept_choice(event), "delta")));
}

static bool is_done(UNUSED str event, str data)
{
    return str_is(data, "[DONE]");
}

static bool has_reason(const struct json *piece)
{
    return json_string(json_get(kept_choice(piece), "finish_reason")).n > 0;
}

const struct answer_reader completion_reader = {text_of_completion, add_delta, is_done,
                                                .is_finished = has_reason};

static bool has_error(const struct json *piece)
{
    const struct json *error = json_get(piece, "error");
    return (error && error->type != JSON_NULL) || json_says(piece, "object", "error");
}

/* A stream's pieces are added up as they come; an event that is no JSON is left out and does not
 * stop the rest. */
static void read_event(void *arg, str event, str data)
{
    struct answer_capture *c = arg;
    struct json *piece;
    bool is_end = c->reader->is_end && c->reader->is_end(event, data);
    c->has_ended |= is_end;
    c->events.dropped = 0; /* it was not the last one */
    if (is_end && !c->trace->is_recorded && (c->text.n || !c->reader->early))
        return;
    if (soft(&c->scratch, json_parse(&c->scratch, data, &piece))) {
        note_facts(c, piece);
        if (!is_end) /* its text came before */
            c->reader->piece(&c->scratch.arena, piece, &c->text);
        if (c->reader->early && !c->text.n)
            c->reader->early(&c->scratch.arena, piece, &c->early);
        if (!is_end && c->reader->name)
            c->reader->name(piece, &c->naming);
        c->has_ended |= c->reader->is_last && c->reader->is_last(piece);
        if (has_error(piece) || has_error(json_get(piece, "response")))
            c->ending = ENDS_BROKEN;
        else if (c->reader->is_finished && c->reader->is_finished(piece) && !c->ending)
            c->ending = ENDS_FINISHED;
    }
    arena_reset(&c->scratch.arena);
}

/* A line over the limit is left out, like an event. */
static void read_lines(struct answer_capture *c, str bytes)
{
    while (bytes.n) {
        bool is_whole = str_find(bytes, S("\n")) < bytes.n;
        buf_add(&c->line, str_cut(&bytes, '\n'));
        if (!is_whole)
            return;
        if (!c->line.full && c->line.n)
            read_event(c, S(""), buf_str(&c->line));
        buf_clear(&c->line);
    }
}

/* Only 200 is an answer to keep. The limit depends on what is collected: text alone, or a whole
 * JSON object around it. */
static void begin_answer(struct filter *f, struct relay *r)
{
    struct answer_capture *c = capture_of(f);
    bool is_lines = str_find(r->type, S("application/x-ndjson")) < r->type.n;
    bool is_events = str_find(r->type, S("text/event-stream")) < r->type.n;
    c->form = r->code != 200 ? UNREAD : is_lines ? LINES : is_events ? EVENTS : WHOLE;
    c->text.max = c->form == WHOLE ? ANSWER_MAX : TEXT_MAX;
}

/* Images are left out, whose JSON is then short enough. Text over the limit is dropped and the
 * answer is not held up: the client's bytes do not depend on what is kept. */
static void read_bytes(struct filter *f, UNUSED struct relay *r, str bytes)
{
    struct answer_capture *c = capture_of(f);
    if (c->form == UNREAD || c->is_whole)
        return;
    struct buf piece = buf_make(NULL, bytes.n);
    buf_add_words(c->form == WHOLE ? &c->text : &piece, &c->run, bytes);
    if (c->form == LINES)
        read_lines(c, buf_str(&piece));
    else if (c->form == EVENTS)
        sse_feed(&c->events, buf_str(&piece), read_event, c);
    buf_free(&piece);
}

/* --- keeping --- */

static struct answer_naming naming_in(struct arena *a)
{
    return (struct answer_naming){buf_make(a, NAME_MAX_BYTES), buf_make(a, CALLS_MAX),
                                  buf_make(a, ITEMS_MAX)};
}

/* A name that was cut off is another one. */
static str whole_name(const struct buf *b)
{
    return b->full ? S("") : buf_str(b);
}

static void name_answer(struct ctx *ctx, const struct answer_capture *c,
                        const struct answer_naming *naming)
{
    const struct answer_names names = {whole_name(&naming->name), buf_str(&naming->calls),
                                       whole_name(&naming->items)};
    if (c->reader->name)
        turn_name_answer(ctx, c->engine, c->turn, &names);
}

/* A JSON answer is parsed only here, on whichever thread keeps the turn, so that the loop never
 * parses a long one. Of a stream that stopped nothing is kept; an event that was too long to be
 * read may have been its end. */
static str captured_text(struct ctx *ctx, void *capture)
{
    struct answer_capture *c = capture;
    struct json *answer;
    read_lines(c, S("\n")); /* the last one may lack its end */
    if (c->form != WHOLE) {
        bool may_be_whole = c->has_ended || c->ending == ENDS_FINISHED || c->events.dropped;
        name_answer(ctx, c, &c->naming);
        if (c->ending == ENDS_BROKEN || !may_be_whole)
            return S("");
        return buf_str(c->text.n ? &c->text : &c->early);
    }
    if (c->text.full || json_parse(ctx, buf_str(&c->text), &answer) != OK)
        return S("");
    note_facts(c, answer);
    if (c->reader->name) {
        struct answer_naming naming = naming_in(&ctx->arena);
        c->reader->name(answer, &naming);
        name_answer(ctx, c, &naming);
    }
    return has_error(answer) ? S("") : c->reader->whole(&ctx->arena, answer);
}

static void note_lost(struct ctx *ctx, enum status s)
{
    if (s != OK)
        log_event(LOG_WARN, "turn.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
    soft(ctx, s);
}

/* For callers whose client has its answer already, or gets it in any case: there is nobody left to
 * tell but the log. */
void turn_keep(struct ctx *ctx, struct app *app, struct turn *turn, str answer)
{
    ctx_clear_failure(ctx);
    note_lost(ctx, engine_end_turn(ctx, app->engine, turn, answer));
}

/* Of an answer that broke off only the user's words are kept: nobody has read the rest. With an
 * error nothing is kept, since the client will send the same messages again. */
static void end_capture(struct filter *f, struct ctx *ctx, struct app *app, struct relay *r,
                        enum status how)
{
    struct answer_capture *c = capture_of(f);
    bool is_due = r->code == 200 && !c->is_kept;
    if (is_due)
        trace_begin(c->trace, STAGE_KEEP);
    c->is_kept |= engine_finish_turn(ctx, app->engine, c->turn);
    if (is_due && !c->is_kept)
        turn_keep(ctx, app, c->turn, how == OK ? captured_text(ctx, c) : S(""));
    if (is_due)
        trace_end(c->trace, STAGE_KEEP);
    buf_free(&c->text);
    buf_free(&c->early);
    buf_free(&c->naming.name);
    buf_free(&c->naming.calls);
    buf_free(&c->naming.items);
    buf_free(&c->late);
    buf_free(&c->line);
    sse_free(&c->events);
    ctx_free(&c->scratch);
}

/* The client's next question may come with the next byte. */
static void hand_over(struct filter *f, UNUSED struct relay *r)
{
    struct answer_capture *c = capture_of(f);
    assert(!c->is_kept);
    if (c->form == UNREAD || c->is_whole)
        return;
    c->is_whole = true;
    engine_turn_answered(c->engine, c->turn, captured_text, c);
}

/* A client goes on at a stream's last event. */
static void watch_bytes(struct filter *f, struct relay *r, str bytes)
{
    read_bytes(f, r, bytes);
    if (capture_of(f)->has_ended)
        hand_over(f, r);
}

/* --- keeping before the end --- */

/* Everything from [DONE] on waits, or the piece that ends the answer. A client acts on an event at
 * its blank line only, so that it is early enough even when the first bytes of the line have gone
 * out with the piece before. */
static str hold_end(struct filter *f, struct relay *r, str bytes)
{
    struct answer_capture *c = capture_of(f);
    bool had_ended = c->has_ended;
    read_bytes(f, r, bytes);
    if (!c->has_ended)
        return bytes;
    size_t at = had_ended ? 0 : str_find(bytes, S("[DONE]"));
    at = at < bytes.n ? at : 0;
    buf_add(&c->late, str_sub(bytes, at, bytes.n));
    return str_sub(bytes, 0, at);
}

static bool end_answer(UNUSED struct filter *f, struct relay *r, UNUSED str *rest)
{
    return r->code == 200;
}

/* The client still waits for its last bytes, so a failure can reach it: as an error, or as an
 * answer that breaks off. */
static enum status keep_turn(struct filter *f, struct ctx *ctx, struct app *app,
                             UNUSED struct relay *r, struct filter_work *out)
{
    struct answer_capture *c = capture_of(f);
    assert(!c->is_kept);
    ctx_clear_failure(ctx);
    c->is_kept = true; /* also when it fails: done must not try again what the client saw fail */
    trace_begin(c->trace, STAGE_KEEP);
    enum status s = engine_end_turn(ctx, app->engine, c->turn, captured_text(ctx, c));
    trace_end(c->trace, STAGE_KEEP);
    if (c->is_durable)
        TRY(s);
    note_lost(ctx, s);
    out->rest = buf_str(&c->late);
    return OK;
}

#define HOLDING                                                                                    \
    .head = begin_answer, .data = hold_end, .end = end_answer, .work = keep_turn,                  \
    .done = end_capture

void answer_capture_add(struct ctx *ctx, struct app *app, struct relay *relay, struct turn *turn,
                        const struct answer_reader *reader, bool is_durable, struct trace *trace)
{
    static const struct filter_ops watching = {.head = begin_answer,
                                               .watch = watch_bytes,
                                               .last = hand_over,
                                               .done = end_capture};
    static const struct filter_ops holding = {HOLDING}, delaying = {HOLDING, .shows_head = true};
    struct answer_capture *c = NEW(&ctx->arena, struct answer_capture);
    assert(turn && (turn_out_of(turn)->mode != MODE_OFF || reader->name));
    c->reader = reader;
    c->trace = trace;
    c->engine = app->engine;
    c->turn = turn;
    c->is_durable = is_durable;
    c->text = c->early = buf_make(NULL, TEXT_MAX);
    c->naming = naming_in(NULL);
    c->late = buf_make(NULL, ANSWER_MAX);
    c->events = sse_reader(EVENT_MAX);
    c->line = buf_make(NULL, EVENT_MAX);
    relay_add_filter(relay, &c->filter,
                     is_durable                        ? &holding
                     : engine_keeps_first(app->engine) ? &delaying
                                                       : &watching);
}
