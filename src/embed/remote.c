/* remote.c - requests vectors from a server, and validates the answer. */
#include "embed/remote.h"

#include "base/utf8.h"
#include "embed/common/floats.h"
#include "embed/embed.h"
#include "http/http.h"

/*
 * The API is OpenAI's /v1/embeddings, which most servers offer. The answer is not trusted: the
 * number of vectors, their indices, their dimensions and every value are checked, because a vector
 * under the wrong text would be stored and found for years. A failure of one batch fails the whole
 * call; nothing of it is kept.
 */

/* BATCH: texts in one request, which every known server accepts. TEXT_MAX: longer texts are cut, as
 * servers refuse more than about 8,000 tokens. */
enum { BATCH = 64, TEXT_MAX = 24000, ANSWER_MAX = 64 << 20, DIMENSIONS_MAX = 1 << 14 };

/* One text is sent as a string, the form that every server accepts. */
static str request_body(struct arena *a, const struct remote *r, const str *texts, size_t n)
{
    /* Escaping makes at most six bytes of one. */
    struct json_out w = json_in(a, 1024 + n * (TEXT_MAX * 6 + 8));
    json_open(&w, '{');
    json_member_str(&w, "model", r->model);
    json_key(&w, "input");
    if (n > 1)
        json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        json_str(&w, utf8_cut(texts[i], TEXT_MAX));
    if (n > 1)
        json_close(&w, ']');
    json_close(&w, '}');
    return buf_str(w.b);
}

/* The message of the server is passed on without the texts: it ends up in logs and in status. */
static enum status fail_refused(struct ctx *ctx, const struct answer *answer, str key,
                                const str *texts, size_t n)
{
    enum embed_failure reason = answer->code == 401 || answer->code == 403 ? EMBED_NO_KEY
                                : answer->code == 429                      ? EMBED_RATE_LIMITED
                                                                           : EMBED_REQUEST_FAILED;
    enum { SAID_MAX = 200 };
    str said = http_complaint(&ctx->arena, answer->body, SAID_MAX, key, texts, n);
    return fail_as(ctx, UPSTREAM, reason, "%s: the embedding server answers %d%s" S_FMT,
                   embed_failure_names[reason], answer->code, said.n ? ": " : "", S_ARG(said));
}

/* The API is OpenAI's, whatever the server speaks in chats. Any code but 200 is a refusal. */
static enum status ask_server(struct ctx *ctx, const struct remote *r, const str *texts, size_t n,
                              struct answer *out)
{
    struct upstream up = *r->up;
    const struct call call = {.body = request_body(&ctx->arena, r, texts, n),
                              .timeout_ms = r->timeout_ms,
                              .answer_max = ANSWER_MAX};
    up.dialect = S("openai");
    enum status s = http_call_upstream(ctx, &up, "/v1/embeddings", call, out);
    if (s != OK) {
        str why = ctx_take_why(ctx);
        enum embed_failure reason = s == TIMED_OUT ? EMBED_TIMEOUT : EMBED_REQUEST_FAILED;
        return fail_as(ctx, s, reason, "%s: the embedding server: " S_FMT,
                       embed_failure_names[reason], S_ARG(why));
    }
    return out->code == 200 ? OK : fail_refused(ctx, out, r->up->key, texts, n);
}

static enum status fail_unusable(struct ctx *ctx, const char *what)
{
    return fail_as(ctx, UPSTREAM, EMBED_REQUEST_FAILED,
                   "request_failed: the answer of the embedding server has %s", what);
}

/* Vectors are normalised here, since not every server does, and search compares them by dot
 * product. floats_unit leaves a zero vector as it is; a length far from 1 tells it apart. */
static enum status read_vector(struct ctx *ctx, const struct json *v, size_t dimensions, float *out)
{
    size_t i = 0;
    if (!v || v->type != JSON_ARRAY || v->n != dimensions)
        return fail_as(ctx, UPSTREAM, EMBED_REQUEST_FAILED,
                       "request_failed: the embedding server returned %u dimensions, expected %zu",
                       v ? v->n : 0, dimensions);
    for (const struct json *value = v->first; value; value = value->next) {
        if (value->type != JSON_NUMBER)
            return fail_unusable(ctx, "a vector with values that are not numbers");
        out[i++] = (float)json_num_or(value, 0);
    }
    if (!floats_unit(out, dimensions) || floats_dot(out, out, dimensions) < 0.5f)
        return fail_unusable(ctx, "a zero or infinite vector");
    return OK;
}

/* Each place must be filled exactly once: n items with n different indices below n. Servers may
 * return vectors in another order than the texts; without an "index" that of the list counts. */
static enum status read_vectors(struct ctx *ctx, const struct json *data, size_t dimensions,
                                float *out)
{
    int64_t i = 0;
    bool *seen = NEW_N(&ctx->arena, bool, data->n + 1);
    for (const struct json *item = data->first; item; item = item->next, i++) {
        uint64_t at = (uint64_t)json_int_or(json_get(item, "index"), i);
        if (at >= data->n || seen[at])
            return fail_unusable(ctx, "a missing or repeated index");
        seen[at] = true;
        TRY(read_vector(ctx, json_get(item, "embedding"), dimensions, out + at * dimensions));
    }
    return OK;
}

/* The number of vectors must match: a missing one would shift all vectors after it. */
static enum status read_data(struct ctx *ctx, str body, size_t n, const struct json **out)
{
    struct json *root;
    if (!soft(ctx, json_parse(ctx, body, &root)))
        return fail_unusable(ctx, "invalid JSON");
    const struct json *data = json_get(root, "data");
    if (!data || data->type != JSON_ARRAY || data->n != n)
        return fail_unusable(ctx, "the wrong number of vectors");
    *out = data;
    return OK;
}

/* Vectors of all requests. Memory is allocated with the first one, which tells the dimensions. */
struct gathered {
    struct arena *arena;
    size_t n, dimensions;
    float *v;
};

/* The caller frees ctx after each batch: a parsed answer is 30 times the size of its vectors. */
static enum status gather_batch(struct ctx *ctx, const struct remote *r, const str *texts, size_t n,
                                size_t at, struct gathered *g)
{
    struct answer answer;
    const struct json *data = NULL;
    assert(n && at + n <= g->n);
    TRY(ask_server(ctx, r, texts + at, n, &answer));
    TRY(read_data(ctx, answer.body, n, &data));
    if (!g->dimensions)
        g->dimensions = json_at(data, "0.embedding") ? json_at(data, "0.embedding")->n : 0;
    if (!g->dimensions || g->dimensions > DIMENSIONS_MAX)
        return fail_unusable(ctx, "no vector, or too many dimensions");
    if (!g->v)
        g->v = NEW_N(g->arena, float, g->n * g->dimensions);
    return read_vectors(ctx, data, g->dimensions, g->v + at * g->dimensions);
}

/* In batches, one after the other: parallel requests would only meet rate limits sooner. */
enum status remote_embed(struct ctx *ctx, const struct remote *r, const str *texts, size_t n,
                         float **out, size_t *dimensions)
{
    struct gathered g = {.arena = &ctx->arena, .n = n, .dimensions = r->dimensions};
    for (size_t at = 0; at < n; at += BATCH) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        size_t some = n - at < BATCH ? n - at : BATCH;
        TRY(ctx_pass(ctx, &own, gather_batch(&own, r, texts, some, at, &g)));
    }
    *out = g.v;
    *dimensions = g.dimensions;
    return OK;
}
