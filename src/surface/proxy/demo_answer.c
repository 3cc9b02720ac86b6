/* demo_answer.c - a completion or a stream of chunks, as an OpenAI client reads them. */
#include "surface/proxy/demo_answer.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/sse.h"
#include "base/utf8.h"
#include "core/tokens.h"

/*
 * The built-in model answers when no upstream is set, so that a first request works and memory can
 * be seen without a key. Its answers have the shapes of OpenAI's chat.completion and
 * chat.completion.chunk: a first chunk with the role, chunks with text, one with finish_reason, if
 * asked for one with usage and no choices, and [DONE].
 */

enum { CHUNK_BYTES = 48 }; /* of the text in one event, about */

struct writer {
    struct ctx *ctx;
    const struct demo *demo;
    struct buf *to;
    str id;
    int64_t created;
};

static void write_head(struct writer *w, struct json_out *j, const char *object)
{
    json_open(j, '{');
    json_member_str(j, "id", w->id);
    json_member_str(j, "object", str_of(object));
    json_member_int(j, "created", w->created);
    json_member_str(j, "model", S(DEMO_MODEL));
}

static void write_usage(struct writer *w, struct json_out *j)
{
    int64_t given = w->demo->prompt_tokens, made = tokens_of(w->demo->answer);
    json_member_open(j, "usage", '{');
    json_member_int(j, "prompt_tokens", given);
    json_member_int(j, "completion_tokens", made);
    json_member_int(j, "total_tokens", given + made);
    json_close(j, '}');
}

/* The one choice, in the member "message" or "delta"; an empty role is left out. */
static void write_choice(struct json_out *j, const char *what, str role, str text, bool has_text,
                         bool is_end)
{
    json_member_open(j, "choices", '[');
    json_open(j, '{');
    json_member_int(j, "index", 0);
    json_member_open(j, what, '{');
    if (role.n)
        json_member_str(j, "role", role);
    if (has_text)
        json_member_str(j, "content", text);
    json_close(j, '}');
    json_member_raw(j, "logprobs", S("null"));
    json_member_raw(j, "finish_reason", is_end ? S("\"stop\"") : S("null"));
    json_close(j, '}');
    json_close(j, ']');
}

/* --- the stream --- */

/* With include_usage every chunk has "usage": null but the last one, as OpenAI documents it. */
static void write_chunk(struct writer *w, str role, str text, bool has_text, bool is_end)
{
    struct buf b = buf_make(&w->ctx->arena, text.n * 6 + 1024);
    struct json_out j = json_to(&b);
    write_head(w, &j, "chat.completion.chunk");
    write_choice(&j, "delta", role, text, has_text, is_end);
    if (w->demo->with_usage)
        json_member_raw(&j, "usage", S("null"));
    json_close(&j, '}');
    sse_write(w->to, S(""), buf_str(&b));
}

static void write_usage_chunk(struct writer *w)
{
    struct buf b = buf_make(&w->ctx->arena, 1024);
    struct json_out j = json_to(&b);
    write_head(w, &j, "chat.completion.chunk");
    json_member_raw(&j, "choices", S("[]"));
    write_usage(w, &j);
    json_close(&j, '}');
    sse_write(w->to, S(""), buf_str(&b));
}

/* Cuts behind a space, so that no word is split. */
str demo_words(str *rest)
{
    size_t n = utf8_cut(*rest, CHUNK_BYTES).n;
    for (size_t space = n; n < rest->n && space > 0; space--) {
        if (rest->p[space - 1] == ' ') {
            n = space;
            break;
        }
    }
    str words = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return words;
}

/* The whole stream is written into the body at once: there is no model whose pace it would show. */
static void write_stream(struct writer *w, struct reply *out)
{
    str rest = w->demo->answer;
    out->type = S("text/event-stream");
    reply_header(out, "Cache-Control", S("no-cache"));
    write_chunk(w, S("assistant"), S(""), true, false);
    while (rest.n)
        write_chunk(w, S(""), demo_words(&rest), true, false);
    write_chunk(w, S(""), S(""), false, true);
    if (w->demo->with_usage)
        write_usage_chunk(w);
    sse_write(w->to, S(""), S("[DONE]"));
}

void demo_write(struct ctx *ctx, const struct demo *d, struct reply *out)
{
    struct writer w = {ctx, d, &out->body,
                       str_printf(&ctx->arena, "chatcmpl-" S_FMT, S_ARG(id_random(&ctx->arena))),
                       clock_ms() / 1000};
    if (d->stream) {
        write_stream(&w, out);
        return;
    }
    struct json_out j = json_to(&out->body);
    write_head(&w, &j, "chat.completion");
    write_choice(&j, "message", S("assistant"), d->answer, true, true);
    write_usage(&w, &j);
    json_close(&j, '}');
}
