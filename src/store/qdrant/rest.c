/* rest.c - one request to Qdrant's REST interface, and what its answer says. */
#include "store/qdrant/rest.h"

#include "base/utf8.h"
#include "http/http.h"

/*
 * Every call is one HTTP request without retries: the caller's queue repeats. Any answer of the
 * server is OK here, whatever its code (qdrant_want alone insists on 2xx). The message of a refusal
 * is passed on without our key and without the body that we sent.
 */

enum { ANSWER_MAX = 64 << 20, WORDS_MAX = 280 };

static str path_of(struct arena *a, const struct qdrant_settings *q, const char *behind)
{
    if (!behind)
        return S("/readyz");
    struct buf b = buf_make(a, 4096);
    buf_add(&b, S("/collections/"));
    buf_add(&b, percent_encode(a, q->collection));
    buf_add(&b, str_of(behind));
    return buf_str(&b);
}

/* "host:6333", "[::1]" and "::1" are all hosts; a colon outside brackets begins a port. */
static bool has_port(str authority)
{
    size_t bracket = str_find(authority, S("]"));
    str rest = bracket < authority.n ? str_sub(authority, bracket, authority.n) : authority;
    return str_find(rest, S(":")) < rest.n;
}

static bool is_bare_v6(str authority)
{
    str rest = authority;
    str_cut(&rest, ':');
    return authority.n && authority.p[0] != '[' && str_find(rest, S(":")) < rest.n;
}

/* "" stays "": Qdrant is not configured. A path behind the host is kept, for servers behind a
 * proxy. */
str qdrant_url(struct arena *a, str host, int64_t port)
{
    host = str_trim_end(str_trim(host), "/");
    if (!host.n)
        return S("");
    size_t scheme = str_find(host, S("://"));
    size_t from = scheme < host.n ? scheme + 3 : 0;
    str behind = str_sub(host, from, host.n), authority = str_cut(&behind, '/');
    if (is_bare_v6(authority))
        authority = str_printf(a, "[" S_FMT "]", S_ARG(authority));
    struct buf b = buf_make(a, host.n + 64);
    buf_add(&b, from ? str_sub(host, 0, from) : S("http://"));
    buf_add(&b, authority);
    if (!has_port(authority))
        buf_printf(&b, ":%lld", (long long)port);
    if (behind.n)
        buf_printf(&b, "/" S_FMT, S_ARG(behind));
    return buf_str(&b);
}

static void read_answer(struct ctx *ctx, const struct qdrant_settings *q, str body,
                        const struct answer *answer, struct qdrant_answer *out)
{
    struct json *root = NULL;
    soft(ctx, json_parse(ctx, answer->body, &root));
    *out = (struct qdrant_answer){.code = answer->code, .result = json_get(root, "result")};
    if (answer->code < 200 || answer->code > 299)
        out->words = http_complaint(&ctx->arena, answer->body, WORDS_MAX, q->key, &body, 1);
}

enum status qdrant_ask(struct ctx *ctx, const struct qdrant_settings *q, const char *method,
                       const char *behind, str body, struct qdrant_answer *out)
{
    if (!q->url.n)
        return fail(ctx, UNSUPPORTED, "not_configured");
    struct header headers[] = {{S("content-type"), S("application/json")}, {S("api-key"), q->key}};
    struct answer answer = {0};
    str path = path_of(&ctx->arena, q, behind);
    struct call call = {.url = str_printf(&ctx->arena, S_FMT S_FMT, S_ARG(q->url), S_ARG(path)),
                        .method = str_of(method),
                        .headers = headers,
                        .n_headers = q->key.n ? 2 : 1,
                        .body = body,
                        .timeout_ms = q->timeout_ms,
                        .answer_max = ANSWER_MAX};
    enum status s = http_call(ctx, &call, &answer);
    if (s != OK) {
        str why = utf8_cut(ctx_take_why(ctx), WORDS_MAX);
        return fail(ctx, s == TIMED_OUT ? TIMED_OUT : UPSTREAM, "Qdrant: " S_FMT, S_ARG(why));
    }
    read_answer(ctx, q, body, &answer, out);
    return OK;
}

enum status qdrant_refused(struct ctx *ctx, const struct qdrant_answer *answer)
{
    return fail(ctx, UPSTREAM, "Qdrant answers %d%s" S_FMT, answer->code,
                answer->words.n ? ": " : "", S_ARG(answer->words));
}

enum status qdrant_want(struct ctx *ctx, const struct qdrant_settings *q, const char *method,
                        const char *behind, str body, const struct json **result)
{
    struct qdrant_answer answer = {0};
    TRY(qdrant_ask(ctx, q, method, behind, body, &answer));
    if (answer.code < 200 || answer.code > 299)
        return qdrant_refused(ctx, &answer);
    if (!answer.result)
        return fail(ctx, UPSTREAM, "Qdrant answers %d without a result", answer.code);
    *result = answer.result;
    return OK;
}
