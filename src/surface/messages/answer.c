/* answer.c - answers in Anthropic's shapes: reading a model's text, writing the built-in one's. */
#include "surface/messages/answer.h"

#include "base/id.h"
#include "base/sse.h"
#include "core/tokens.h"
#include "surface/messages/talk.h"

/* --- reading --- */

static str whole_text(struct arena *a, const struct json *answer)
{
    return talk_text(a, json_get(answer, "content"));
}

/* Text blocks are joined as talk_text joins them when the client sends the answer back, so that it
 * is known again. After an error event the answer is of no use. */
static void add_piece(UNUSED struct arena *a, const struct json *event, struct buf *text)
{
    str type = json_string(json_get(event, "type"));
    const struct json *block = json_get(event, "content_block"), *delta = json_get(event, "delta");
    if (str_is(type, "error")) {
        buf_clear(text);
    } else if (str_is(type, "content_block_start")) {
        if (!str_is(json_string(json_get(block, "type")), "text"))
            return;
        buf_add(text, text->n ? S("\n") : S(""));
        buf_add(text, json_string(json_get(block, "text")));
    } else if (str_is(json_string(json_get(delta, "type")), "text_delta")) {
        buf_add(text, json_string(json_get(delta, "text")));
    }
}

static bool is_stop(str event, UNUSED str data)
{
    return str_is(event, "message_stop");
}

const struct answer_reader message_reader = {whole_text, add_piece, is_stop, NULL, NULL};

/* --- the built-in model's --- */

struct writer {
    struct ctx *ctx;
    const struct demo *demo;
    struct buf *to;
    str id;
};

static void write_usage(struct json_out *j, int64_t given, int64_t made)
{
    json_member_open(j, "usage", '{');
    json_member_int(j, "input_tokens", given);
    json_member_int(j, "cache_creation_input_tokens", 0);
    json_member_int(j, "cache_read_input_tokens", 0);
    json_member_int(j, "output_tokens", made);
    json_close(j, '}');
}

static void write_stop(struct json_out *j, bool is_whole)
{
    json_key(j, "stop_reason");
    if (is_whole)
        json_str(j, S("end_turn"));
    else
        json_null(j);
    json_key(j, "stop_sequence");
    json_null(j);
}

static void write_text_block(struct json_out *j, str text)
{
    json_open(j, '{');
    json_member_str(j, "type", S("text"));
    json_member_str(j, "text", text);
    json_close(j, '}');
}

/* Whole, or as the first event of a stream has it: without content. */
static void write_message(const struct writer *w, struct json_out *j, bool is_whole)
{
    json_open(j, '{');
    json_member_str(j, "id", w->id);
    json_member_str(j, "type", S("message"));
    json_member_str(j, "role", S("assistant"));
    json_member_str(j, "model", S(DEMO_MODEL));
    json_member_open(j, "content", '[');
    if (is_whole)
        write_text_block(j, w->demo->answer);
    json_close(j, ']');
    write_stop(j, is_whole);
    write_usage(j, w->demo->prompt_tokens, is_whole ? tokens_of(w->demo->answer) : 0);
    json_close(j, '}');
}

/* --- its stream --- */

/* An event has its name twice: beside the data and in it. */
static struct json_out begin_event(struct buf *b, const char *name)
{
    struct json_out j = json_to(b);
    buf_clear(b);
    json_open(&j, '{');
    json_member_str(&j, "type", str_of(name));
    return j;
}

static void end_event(const struct writer *w, struct json_out *j, const char *name)
{
    json_close(j, '}');
    sse_write(w->to, str_of(name), buf_str(j->b));
}

static void write_delta(const struct writer *w, struct buf *b, str words)
{
    struct json_out j = begin_event(b, "content_block_delta");
    json_member_int(&j, "index", 0);
    json_member_open(&j, "delta", '{');
    json_member_str(&j, "type", S("text_delta"));
    json_member_str(&j, "text", words);
    json_close(&j, '}');
    end_event(w, &j, "content_block_delta");
}

static void write_stream(const struct writer *w, struct reply *out)
{
    struct buf b = buf_make(&w->ctx->arena, w->demo->answer.n * 6 + 1024);
    str rest = w->demo->answer;
    out->type = S("text/event-stream");
    reply_header(out, "Cache-Control", S("no-cache"));
    struct json_out j = begin_event(&b, "message_start");
    json_key(&j, "message");
    j.comma = false;
    write_message(w, &j, false);
    end_event(w, &j, "message_start");
    j = begin_event(&b, "content_block_start");
    json_member_int(&j, "index", 0);
    json_key(&j, "content_block");
    write_text_block(&j, S(""));
    end_event(w, &j, "content_block_start");
    while (rest.n)
        write_delta(w, &b, demo_words(&rest));
    j = begin_event(&b, "content_block_stop");
    json_member_int(&j, "index", 0);
    end_event(w, &j, "content_block_stop");
    j = begin_event(&b, "message_delta");
    json_member_open(&j, "delta", '{');
    write_stop(&j, true);
    json_close(&j, '}');
    write_usage(&j, w->demo->prompt_tokens, tokens_of(w->demo->answer));
    end_event(w, &j, "message_delta");
    j = begin_event(&b, "message_stop");
    end_event(w, &j, "message_stop");
}

void answer_write_demo(struct ctx *ctx, UNUSED const struct model_request *m, struct demo *d,
                       struct reply *out)
{
    const struct writer w = {ctx, d, &out->body,
                             str_printf(&ctx->arena, "msg_" S_FMT, S_ARG(id_random(&ctx->arena)))};
    if (d->stream) {
        write_stream(&w, out);
        return;
    }
    struct json_out j = json_to(&out->body);
    write_message(&w, &j, true);
}
