/* ask.c - asking a model elsewhere: one question, one answer, in the server's dialect. */
#include "base/json.h"
#include "base/words.h"
#include "core/tokens.h"
#include "llm/inside.h"

static void write_message(struct json_out *w, const char *role, str text)
{
    json_open(w, '{');
    json_key(w, "role");
    json_str(w, str_of(role));
    json_key(w, "content");
    json_str(w, text);
    json_close(w, '}');
}

/* The content as one text, whether it is a string or a list of parts. */
static str text_of(struct arena *a, const struct json *content)
{
    if (!content || content->type != JSON_ARRAY)
        return json_string(content);
    struct buf b = buf_make(a, ANSWER_MAX);
    for (const struct json *part = content->first; part; part = part->next)
        buf_add(&b, json_string(json_get(part, "text")));
    return buf_str(&b);
}

/* --- OpenAI's chat completions --- */

static void write_openai(struct json_out *w, const struct llm_ask *ask, const struct manner *how)
{
    json_key(w, "messages");
    json_open(w, '[');
    if (ask->system.n)
        write_message(w, "system", ask->system);
    write_message(w, "user", ask->user);
    json_close(w, ']');
    json_key(w, how->newer ? "max_completion_tokens" : "max_tokens");
    json_int(w, ask->max_tokens);
    json_key(w, "stream");
    json_bool(w, false);
    if (!how->as_json)
        return;
    json_key(w, "response_format");
    json_raw(w, S("{\"type\":\"json_object\"}"));
}

static void read_openai(struct arena *a, const struct json *root, struct llm_answer *out)
{
    const struct json *choice = json_at(root, "choices.0");
    *out = (struct llm_answer){
        .text = text_of(a, json_at(choice, "message.content")),
        .tokens_in = json_int_or(json_at(root, "usage.prompt_tokens"), 0),
        .tokens_out = json_int_or(json_at(root, "usage.completion_tokens"), 0),
        .is_cut = str_is(json_string(json_get(choice, "finish_reason")), "length"),
    };
}

/* --- Anthropic's messages --- */

static void write_anthropic(struct json_out *w, const struct llm_ask *ask,
                            __attribute__((unused)) const struct manner *how)
{
    json_key(w, "max_tokens");
    json_int(w, ask->max_tokens);
    if (ask->system.n) {
        json_key(w, "system");
        json_str(w, ask->system);
    }
    json_key(w, "messages");
    json_open(w, '[');
    write_message(w, "user", ask->user);
    json_close(w, ']');
}

static void read_anthropic(struct arena *a, const struct json *root, struct llm_answer *out)
{
    *out = (struct llm_answer){
        .text = text_of(a, json_get(root, "content")),
        .tokens_in = json_int_or(json_at(root, "usage.input_tokens"), 0),
        .tokens_out = json_int_or(json_at(root, "usage.output_tokens"), 0),
        .is_cut = str_is(json_string(json_get(root, "stop_reason")), "max_tokens"),
    };
}

/* --- either --- */

struct dialect {
    const char *path;
    void (*write)(struct json_out *w, const struct llm_ask *ask, const struct manner *how);
    void (*read)(struct arena *a, const struct json *root, struct llm_answer *out);
};
static const struct dialect openai = {"/v1/chat/completions", write_openai, read_openai};
static const struct dialect anthropic = {"/v1/messages", write_anthropic, read_anthropic};

static str question(struct arena *a, const struct llm_ask *ask, const struct dialect *speaks,
                    const struct manner *how)
{
    struct buf b = buf_make(a, REQUEST_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "model");
    json_str(&w, ask->model);
    speaks->write(&w, ask, how);
    json_close(&w, '}');
    return buf_str(&b);
}

/* A model that thinks aloud puts its answer behind that; where its template opens the thought, only
 * the end of it is seen. */
static str without_thought(str text)
{
    text = str_trim(text);
    size_t end = str_find(text, S("</think>"));
    if (str_starts(text, S("<think>")) || end < str_find(text, S("<think>")))
        return end < text.n ? str_trim(str_sub(text, end + strlen("</think>"), text.n)) : S("");
    return text;
}

static bool names(struct arena *a, str body, str what)
{
    str lower = str_lower(a, body);
    return str_find(lower, what) < lower.n;
}

/* Whether the refusal is one of the manner; then the next is to be tried. */
static bool adapt(struct arena *a, const struct heard *heard, struct manner *how)
{
    /* OpenAI's newer models know the limit by another name only, and say so. */
    if (!how->newer && names(a, heard->body, S("max_completion_tokens")))
        return how->newer = true;
    bool is_refused = how->as_json && (names(a, heard->body, S("response_format")) ||
                                       names(a, heard->body, S("json")));
    how->as_json &= !is_refused;
    return is_refused;
}

/* What a server does not count is estimated. */
static void count(const struct llm_ask *ask, struct llm_answer *answer)
{
    if (answer->tokens_in <= 0)
        answer->tokens_in = tokens_of(ask->system) + tokens_of(ask->user);
    if (answer->tokens_out <= 0)
        answer->tokens_out = tokens_of(answer->text);
}

enum status llm_put(struct ctx *ctx, const struct llm_ask *ask, struct manner *how,
                    struct llm_answer *out, struct heard *heard)
{
    struct arena *a = &ctx->arena;
    const struct dialect *speaks = llm_is_anthropic(ask->up) ? &anthropic : &openai;
    for (;;) {
        str body = question(a, ask, speaks, how);
        enum status s =
            llm_post(ctx, ask->up, speaks->path, body, ask->timeout_ms, ask->user, heard);
        if (s == OK)
            break;
        if (s != UPSTREAM || heard->may_pass || !adapt(a, heard, how))
            return s;
        ctx_clear_failure(ctx);
    }
    speaks->read(a, heard->root, out);
    /* Some gateways say what is wrong under a code that promises success. */
    if (!out->text.n && json_get(heard->root, "error"))
        return fail(ctx, UPSTREAM, "the server: " S_FMT,
                    S_ARG(http_complaint(a, heard->root->source, SAID_MAX, &ask->user, 1)));
    count(ask, out);
    out->text = without_thought(out->text);
    return OK;
}

enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out)
{
    struct manner how = {0};
    struct heard heard;
    struct llm_answer answer;
    TRY(llm_put(ctx, ask, &how, &answer, &heard));
    if (!answer.text.n)
        return fail(ctx, UPSTREAM, "the model's answer has no text");
    *out = answer;
    return OK;
}
