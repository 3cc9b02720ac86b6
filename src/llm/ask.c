/* ask.c - one request to a remote model, in the API of its server. */
#include <ctype.h>

#include "core/tokens.h"
#include "llm/inside.h"

/*
 * The two APIs differ in path, request and answer, so each is a row of functions (struct dialect);
 * everything else is common. Requests are never streamed: the callers need the whole answer before
 * they can use any of it. Strings of an answer point into the ctx's arena.
 */

static void write_message(struct json_out *w, const char *role, str text)
{
    json_open(w, '{');
    json_member_str(w, "role", str_of(role));
    json_member_str(w, "content", text);
    json_close(w, '}');
}

/* The content as one text; servers send a string or a list of parts. */
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

/* By response_format many servers force valid JSON; one that refuses it is asked without. */
static void write_openai(struct json_out *w, const struct llm_ask *ask, const struct manner *how)
{
    json_member_open(w, "messages", '[');
    if (ask->system.n)
        write_message(w, "system", ask->system);
    write_message(w, "user", ask->user);
    json_close(w, ']');
    json_member_int(w, how->newer ? "max_completion_tokens" : "max_tokens", ask->max_tokens);
    json_member_bool(w, "stream", false);
    if (how->as_json)
        json_member_raw(w, "response_format", S("{\"type\":\"json_object\"}"));
}

/* --- Anthropic's messages --- */

/* max_tokens is required by this API. It has no JSON mode, so how->as_json changes nothing here:
 * the prompt asks for JSON in any case. */
static void write_anthropic(struct json_out *w, const struct llm_ask *ask,
                            UNUSED const struct manner *how)
{
    json_member_int(w, "max_tokens", ask->max_tokens);
    if (ask->system.n)
        json_member_str(w, "system", ask->system);
    json_member_open(w, "messages", '[');
    write_message(w, "user", ask->user);
    json_close(w, ']');
}

/* --- either --- */

struct dialect {
    const char *path;
    void (*write)(struct json_out *w, const struct llm_ask *ask, const struct manner *how);
    /* Of an answer: where it has them, and the reason to finish that says it was cut. */
    const char *text, *tokens_in, *tokens_out, *reason, *is_cut;
};
static const struct dialect openai = {"/v1/chat/completions",
                                      write_openai,
                                      "choices.0.message.content",
                                      "usage.prompt_tokens",
                                      "usage.completion_tokens",
                                      "choices.0.finish_reason",
                                      "length"};
static const struct dialect anthropic = {"/v1/messages",       write_anthropic,       "content",
                                         "usage.input_tokens", "usage.output_tokens", "stop_reason",
                                         "max_tokens"};

static str request_body(struct arena *a, const struct llm_ask *ask, const struct dialect *speaks,
                        const struct manner *how)
{
    struct json_out w = json_in(a, REQUEST_MAX);
    json_open(&w, '{');
    json_member_str(&w, "model", ask->model);
    speaks->write(&w, ask, how);
    json_close(&w, '}');
    return buf_str(w.b);
}

/* Some chat templates open the thought themselves, so only the closing tag is in the text; who
 * writes of such tags quotes them. */
str llm_without_thought(str answer)
{
    str text = str_trim(answer);
    size_t end = str_find(text, S("</think>"));
    str rest = end < text.n ? str_sub(text, end + strlen("</think>"), text.n) : S("");
    char last = end && end <= text.n ? text.p[end - 1] : ' ', next = rest.n ? rest.p[0] : ' ';
    bool is_mark = ispunct((unsigned char)next) || next & 0x80;
    bool is_quoted = char_is_one_of(next, "`'\",.;:)") ||
                     (is_mark && char_is_one_of(last, "`'\"*>|[(\x9c\x9e")); /* “ „ */
    bool closes = end < str_find(text, S("<think>")) && !is_quoted;
    return str_starts(text, S("<think>")) || closes ? str_trim(rest) : answer;
}

/* By the text of the refusal, as servers have no common code for an unknown parameter. */
static bool body_names(struct arena *a, str body, str what)
{
    str lower = str_lower(a, body);
    return str_find(lower, what) < lower.n;
}

/* Whether the server refused a request parameter; then how is changed for another try. */
static bool adapt_manner(struct arena *a, const struct heard *heard, struct manner *how)
{
    /* Newer OpenAI models accept only max_completion_tokens, and name it in the refusal. */
    if (!how->newer && body_names(a, heard->body, S("max_completion_tokens")))
        return how->newer = true;
    bool is_refused = how->as_json && (body_names(a, heard->body, S("response_format")) ||
                                       body_names(a, heard->body, S("json")));
    how->as_json &= !is_refused;
    return is_refused;
}

/* Estimates what the server does not count, so that the token budget holds everywhere. */
static void estimate_tokens(const struct llm_ask *ask, struct llm_answer *answer)
{
    enum { COUNT_MAX = 100000000 }; /* no model reads or writes as much at once */
    if (answer->tokens_in <= 0 || answer->tokens_in > COUNT_MAX)
        answer->tokens_in = tokens_of(ask->system) + tokens_of(ask->user);
    if (answer->tokens_out <= 0 || answer->tokens_out > COUNT_MAX)
        answer->tokens_out = tokens_of(answer->text);
}

/* The loop ends: each round changes a parameter, and there are two. how is in and out: what one
 * request learnt about its server saves the next one the refused try. */
enum status llm_put(struct ctx *ctx, const struct llm_ask *ask, struct manner *how,
                    struct llm_answer *out, struct heard *heard)
{
    struct arena *a = &ctx->arena;
    const struct dialect *speaks = str_is(ask->up->dialect, "anthropic") ? &anthropic : &openai;
    *out = (struct llm_answer){.text = S("")};
    for (;;) {
        str body = request_body(a, ask, speaks, how);
        enum status s =
            llm_post(ctx, ask->up, speaks->path, body, ask->timeout_ms, ask->user, heard);
        if (s == OK)
            break;
        if (s == TIMED_OUT) /* the server has probably read, and counts, the prompt */
            estimate_tokens(ask, out);
        if (s != UPSTREAM || heard->may_pass || !adapt_manner(a, heard, how))
            return s;
        soft(ctx, s);
    }
    *out = (struct llm_answer){
        .text = text_of(a, json_at(heard->root, speaks->text)),
        .tokens_in = json_int_or(json_at(heard->root, speaks->tokens_in), 0),
        .tokens_out = json_int_or(json_at(heard->root, speaks->tokens_out), 0),
        .is_cut = str_is(json_string(json_at(heard->root, speaks->reason)), speaks->is_cut),
    };
    /* Some gateways send an error with status 200; what it counts was spent. */
    bool fails = !out->text.n && json_get(heard->root, "error");
    if (!fails || out->tokens_in > 0)
        estimate_tokens(ask, out);
    else
        out->tokens_in = out->tokens_out = 0;
    out->text = str_trim(llm_without_thought(out->text));
    if (fails)
        return fail(ctx, UPSTREAM, "the model server: " S_FMT,
                    S_ARG(http_complaint(a, heard->root->source, SAID_MAX, ask->up->key, &ask->user,
                                         1)));
    return OK;
}

enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out)
{
    struct manner how = {0};
    struct heard heard;
    TRY(llm_put(ctx, ask, &how, out, &heard));
    return out->text.n ? OK : fail(ctx, UPSTREAM, "the answer of the model has no text");
}
