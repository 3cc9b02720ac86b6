/* ask.c - asking a model elsewhere: one question, one answer, or an order for what was found. */
#include <math.h>

#include "base/json.h"
#include "base/words.h"
#include "http/http.h"
#include "llm/llm.h"

/* A document is judged by its beginning: rerankers read a few hundred words. */
enum { ANSWER_MAX = 8 << 20, DOCUMENT_MAX = 8000, SAID_MAX = 200, REQUEST_MAX = 64 << 20 };

/* --- the call --- */

/* What the server says is wrong, for a person. */
static str complaint(struct arena *a, str body)
{
    struct ctx own = {0};
    struct json *root;
    str said = S("");
    if (json_parse(&own, body, &root) == OK) {
        static const char *const places[] = {"error.message", "error", "message", "detail", NULL};
        for (const char *const *place = places; *place && !said.n; place++)
            said = json_string(json_at(root, *place));
    }
    said = str_dup(a, utf8_cut(said, SAID_MAX));
    ctx_free(&own);
    return said;
}

/* One POST; every code but 2xx is a failure that says what the server said. */
static enum status post(struct ctx *ctx, const struct upstream *up, const char *path, str body,
                        int64_t timeout_ms, struct json **out)
{
    struct arena *a = &ctx->arena;
    struct header headers[] = {
        {S("Content-Type"), S("application/json")},
        {S("Authorization"), str_printf(a, "Bearer " S_FMT, S_ARG(up->key))},
    };
    struct call call = {.url = upstream_url(a, up, str_of(path), S("")),
                        .method = S("POST"),
                        .headers = headers,
                        .n_headers = up->key.n ? 2 : 1,
                        .body = body,
                        .timeout_ms = timeout_ms,
                        .answer_max = ANSWER_MAX};
    struct answer answer;
    enum status s = http_call(ctx, &call, &answer);
    if (s != OK) {
        str why = str_dup(a, str_of(ctx->why));
        ctx_clear_failure(ctx);
        return fail(ctx, s == TIMED_OUT ? TIMED_OUT : UPSTREAM, "the server: " S_FMT, S_ARG(why));
    }
    if (answer.code < 200 || answer.code > 299) {
        str said = complaint(a, answer.body);
        enum status how = answer.code == 401 || answer.code == 403 ? NO_AUTH : UPSTREAM;
        return fail(ctx, how, "the server answers %d%s" S_FMT, answer.code, said.n ? ": " : "",
                    S_ARG(said));
    }
    if (json_parse(ctx, answer.body, out) != OK) {
        ctx_clear_failure(ctx);
        return fail(ctx, UPSTREAM, "the server's answer is no JSON");
    }
    return OK;
}

/* --- one answer --- */

static void write_message(struct json_out *w, const char *role, str text)
{
    json_open(w, '{');
    json_key(w, "role");
    json_str(w, str_of(role));
    json_key(w, "content");
    json_str(w, text);
    json_close(w, '}');
}

static str question(struct arena *a, const struct llm_ask *ask, const char *limit)
{
    struct buf b = buf_make(a, REQUEST_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "model");
    json_str(&w, ask->model);
    json_key(&w, "messages");
    json_open(&w, '[');
    if (ask->system.n)
        write_message(&w, "system", ask->system);
    write_message(&w, "user", ask->user);
    json_close(&w, ']');
    json_key(&w, limit);
    json_int(&w, ask->max_tokens);
    json_key(&w, "stream");
    json_bool(&w, false);
    json_close(&w, '}');
    return buf_str(&b);
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

/* A model that thinks aloud puts its answer behind that. */
static str without_thought(str text)
{
    text = str_trim(text);
    if (!str_starts(text, S("<think>")))
        return text;
    size_t end = str_find(text, S("</think>"));
    return end < text.n ? str_trim(str_sub(text, end + strlen("</think>"), text.n)) : S("");
}

enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out)
{
    struct arena *a = &ctx->arena;
    struct json *root;
    enum status s = post(ctx, ask->up, "/v1/chat/completions", question(a, ask, "max_tokens"),
                         ask->timeout_ms, &root);
    /* OpenAI's newer models know the limit by another name only, and say so. */
    str newer = S("max_completion_tokens"), why = str_of(ctx->why);
    if (s == UPSTREAM && str_find(why, newer) < why.n) {
        ctx_clear_failure(ctx);
        s = post(ctx, ask->up, "/v1/chat/completions", question(a, ask, newer.p), ask->timeout_ms,
                 &root);
    }
    TRY(s);
    const struct json *choice = json_at(root, "choices.0");
    str text = without_thought(text_of(a, json_at(choice, "message.content")));
    if (!text.n)
        return fail(ctx, UPSTREAM, "the model's answer has no text");
    *out = (struct llm_answer){
        .text = text,
        .tokens_in = json_int_or(json_at(root, "usage.prompt_tokens"), 0),
        .tokens_out = json_int_or(json_at(root, "usage.completion_tokens"), 0),
        .is_cut = str_is(json_string(json_get(choice, "finish_reason")), "length"),
    };
    return OK;
}

/* --- an order --- */

static str order_body(struct arena *a, const struct llm_order *order)
{
    struct buf b = buf_make(a, REQUEST_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "model");
    json_str(&w, order->model);
    json_key(&w, "query");
    json_str(&w, utf8_cut(order->query, DOCUMENT_MAX));
    json_key(&w, "documents");
    json_open(&w, '[');
    for (size_t i = 0; i < order->n; i++)
        json_str(&w, utf8_cut(order->documents[i], DOCUMENT_MAX));
    json_close(&w, ']');
    json_key(&w, "top_n");
    json_int(&w, (int64_t)order->n);
    json_close(&w, '}');
    return buf_str(&b);
}

enum status llm_rerank(struct ctx *ctx, const struct llm_order *order, double *scores)
{
    struct json *root;
    size_t named = 0, n = order->n;
    TRY(post(ctx, order->up, "/v1/rerank", order_body(&ctx->arena, order), order->timeout_ms,
             &root));
    /* Cohere and most others say results, Voyage says data. */
    const struct json *results = json_get(root, "results");
    if (!results)
        results = json_get(root, "data");
    double *given = NEW_N(&ctx->arena, double, n + 1);
    for (size_t i = 0; i < n; i++)
        given[i] = NAN;
    bool is_list = results && results->type == JSON_ARRAY;
    for (const struct json *r = is_list ? results->first : NULL; r; r = r->next) {
        int64_t at = json_int_or(json_get(r, "index"), -1);
        double score = json_num_or(json_get(r, "relevance_score"), NAN);
        if (at < 0 || (uint64_t)at >= n || !isfinite(score) || !isnan(given[at]))
            continue;
        given[at] = score;
        named++;
    }
    if (!named)
        return fail(ctx, UPSTREAM, "the server's answer names none of the documents");
    memcpy(scores, given, n * sizeof *scores);
    return OK;
}
