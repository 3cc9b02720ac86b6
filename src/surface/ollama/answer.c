/* answer.c - answers in Ollama's shape: reading a model's text, and writing the built-in one's. */
#include "surface/ollama/answer.h"

#include "base/clock.h"
#include "base/time_text.h"
#include "core/tokens.h"

/* --- reading --- */

static str text_of(const struct json *answer)
{
    return json_string(json_at(answer, "message.content"));
}

static str whole_text(__attribute__((unused)) struct arena *a, const struct json *answer)
{
    return text_of(answer);
}

static void add_line(__attribute__((unused)) struct arena *a, const struct json *line,
                     struct buf *text)
{
    buf_add(text, text_of(line));
}

/* An error in the middle of a stream is a line of its own, behind which nothing comes. */
static bool is_done(const struct json *line)
{
    return json_is_true(json_get(line, "done"));
}

const struct answer_reader ollama_reader = {whole_text, add_line, NULL, is_done, NULL};

/* --- the built-in model's --- */

/* There was no work to measure: the durations are 0. */
static void write_end(struct json_out *j, const struct demo *d)
{
    static const char *const durations[] = {"total_duration", "load_duration",
                                            "prompt_eval_duration", "eval_duration", NULL};
    json_member_str(j, "done_reason", d->answer.n ? S("stop") : S("load"));
    for (const char *const *name = durations; *name; name++)
        json_member_int(j, *name, 0);
    json_member_int(j, "prompt_eval_count", d->prompt_tokens);
    json_member_int(j, "eval_count", tokens_of(d->answer));
}

static void write_piece(struct ctx *ctx, const struct demo *d, str text, bool is_last,
                        struct reply *out)
{
    struct json_out j = json_to(&out->body);
    json_open(&j, '{');
    json_member_str(&j, "model", S(DEMO_MODEL));
    json_member_str(&j, "created_at", time_write(&ctx->arena, clock_ms(), "%Y-%m-%dT%H:%M:%SZ"));
    json_member_open(&j, "message", '{');
    json_member_str(&j, "role", S("assistant"));
    json_member_str(&j, "content", text);
    json_close(&j, '}');
    json_member_bool(&j, "done", is_last);
    if (is_last)
        write_end(&j, d);
    json_close(&j, '}');
}

void ollama_write_demo(struct ctx *ctx, __attribute__((unused)) const struct model_request *m,
                       struct demo *d, struct reply *out)
{
    str rest = d->answer;
    if (!d->stream) {
        write_piece(ctx, d, d->answer, true, out);
        return;
    }
    out->type = S("application/x-ndjson");
    while (rest.n) {
        write_piece(ctx, d, demo_words(&rest), false, out);
        buf_byte(&out->body, '\n');
    }
    write_piece(ctx, d, S(""), true, out);
    buf_byte(&out->body, '\n');
}
