/* remote.c - asking a server for vectors, and distrusting what it answers. */
#include "embed/remote.h"

#include "base/words.h"
#include "embed/floats.h"
#include "http/http.h"

/* Texts in one request; what servers take at least. A text longer than this many bytes is cut:
 * servers refuse more than about 8,000 tokens. */
enum { BATCH = 64, TEXT_MAX = 24000, ANSWER_MAX = 64 << 20, DIMENSIONS_MAX = 1 << 14 };

static str address(struct arena *a, const struct upstream *up)
{
    return upstream_url(a, up, S("/v1/embeddings"), S(""));
}

static str question(struct arena *a, const struct remote *r, const str *texts, size_t n)
{
    size_t size = 1024;
    for (size_t i = 0; i < n; i++)
        size += texts[i].n * 6 + 8;
    struct buf b = buf_make(a, size);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    json_key(&w, "model");
    json_str(&w, r->model);
    json_key(&w, "input");
    if (n > 1)
        json_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        json_str(&w, utf8_cut(texts[i], TEXT_MAX));
    if (n > 1)
        json_close(&w, ']');
    json_close(&w, '}');
    return buf_str(&b);
}

static enum status refused(struct ctx *ctx, const struct answer *answer, const str *texts, size_t n)
{
    const char *reason = answer->code == 401 || answer->code == 403 ? "no_key"
                         : answer->code == 429                      ? "rate_limited"
                                                                    : "request_failed";
    enum { SAID_MAX = 200 };
    str said = http_complaint(&ctx->arena, answer->body, SAID_MAX, texts, n);
    return fail(ctx, UPSTREAM, "%s: the embedding server answers %d%s" S_FMT, reason, answer->code,
                said.n ? ": " : "", S_ARG(said));
}

static enum status ask(struct ctx *ctx, const struct remote *r, const str *texts, size_t n,
                       struct answer *out)
{
    struct arena *a = &ctx->arena;
    struct header headers[] = {{S("Content-Type"), S("application/json")},
                               {S("Authorization"),
                                str_printf(a, "Bearer " S_FMT, S_ARG(r->up->key))}};
    struct call call = {.url = address(a, r->up),
                        .method = S("POST"),
                        .headers = headers,
                        .n_headers = r->up->key.n ? 2 : 1,
                        .body = question(a, r, texts, n),
                        .timeout_ms = r->timeout_ms,
                        .answer_max = ANSWER_MAX};
    enum status s = http_call(ctx, &call, out);
    if (s != OK) {
        str why = str_dup(a, str_of(ctx->why));
        ctx_clear_failure(ctx);
        return fail(ctx, s, "%s: the embedding server: " S_FMT,
                    s == TIMED_OUT ? "timeout" : "request_failed", S_ARG(why));
    }
    return out->code == 200 ? OK : refused(ctx, out, texts, n);
}

static enum status odd(struct ctx *ctx, const char *what)
{
    return fail(ctx, UPSTREAM, "request_failed: the embedding server's answer has %s", what);
}

static enum status read_vector(struct ctx *ctx, const struct json *v, size_t dimensions, float *out)
{
    size_t i = 0;
    if (!v || v->type != JSON_ARRAY || v->n != dimensions)
        return fail(ctx, UPSTREAM,
                    "request_failed: the embedding server gives %u values where %zu were expected",
                    v ? v->n : 0, dimensions);
    for (const struct json *value = v->first; value; value = value->next) {
        if (value->type != JSON_NUMBER)
            return odd(ctx, "a vector of something else than numbers");
        out[i++] = (float)json_num_or(value, 0);
    }
    if (!floats_unit(out, dimensions) || floats_dot(out, out, dimensions) < 0.5f)
        return odd(ctx, "a vector without a direction");
    return OK;
}

/* The place of a vector: its "index", else the order in which it stands. */
static size_t place_of(const struct json *item, size_t otherwise, size_t n)
{
    int64_t index = json_int_or(json_get(item, "index"), (int64_t)otherwise);
    return index >= 0 && (uint64_t)index < n ? (size_t)index : n;
}

static enum status read_vectors(struct ctx *ctx, const struct json *data, size_t dimensions,
                                float *out)
{
    size_t i = 0;
    bool *seen = NEW_N(&ctx->arena, bool, data->n + 1);
    for (const struct json *item = data->first; item; item = item->next, i++) {
        size_t at = place_of(item, i, data->n);
        if (at == data->n || seen[at])
            return odd(ctx, "vectors whose numbers do not fit");
        seen[at] = true;
        TRY(read_vector(ctx, json_get(item, "embedding"), dimensions, out + at * dimensions));
    }
    return OK;
}

static enum status read_data(struct ctx *ctx, str body, size_t n, const struct json **out)
{
    struct json *root;
    if (json_parse(ctx, body, &root) != OK) {
        ctx_clear_failure(ctx);
        return odd(ctx, "no JSON");
    }
    const struct json *data = json_get(root, "data");
    if (!data || data->type != JSON_ARRAY || data->n != n)
        return odd(ctx, "another number of vectors than was asked for");
    *out = data;
    return OK;
}

/* What is gathered over all requests; room for it is made when the first vector has come. */
struct gathered {
    struct arena *arena;
    size_t n, dimensions;
    float *v;
};

/* Its ctx dies with the request: a parsed answer is thirty times as large as its vectors. */
static enum status gather(struct ctx *ctx, const struct remote *r, const str *texts, size_t n,
                          size_t at, struct gathered *g)
{
    struct answer answer;
    const struct json *data = NULL;
    TRY(ask(ctx, r, texts + at, n, &answer));
    TRY(read_data(ctx, answer.body, n, &data));
    if (!g->dimensions)
        g->dimensions = json_at(data, "0.embedding") ? json_at(data, "0.embedding")->n : 0;
    if (!g->dimensions || g->dimensions > DIMENSIONS_MAX)
        return odd(ctx, "no vector of a size that is known here");
    if (!g->v)
        g->v = NEW_N(g->arena, float, g->n * g->dimensions);
    return read_vectors(ctx, data, g->dimensions, g->v + at * g->dimensions);
}

enum status remote_embed(struct ctx *ctx, const struct remote *r, const str *texts, size_t n,
                         float **out, size_t *dimensions)
{
    struct gathered g = {.arena = &ctx->arena, .n = n, .dimensions = r->dimensions};
    for (size_t at = 0; at < n; at += BATCH) {
        struct ctx own = {.deadline_us = ctx->deadline_us, .is_cut = ctx->is_cut};
        enum status s = gather(&own, r, texts, n - at < BATCH ? n - at : BATCH, at, &g);
        if (s != OK)
            fail(ctx, s, "%s", own.why);
        ctx_free(&own);
        TRY(s);
    }
    *out = g.v;
    *dimensions = g.dimensions;
    return OK;
}
