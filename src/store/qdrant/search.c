/* search.c - asking Qdrant for what is near, always bound to an owner, and clearing what is old. */
#include "base/clock.h"
#include "store/qdrant/rest.h"

/* --- filters --- */

static void match(struct json_out *w, const char *key, str value)
{
    json_open(w, '{');
    json_key(w, "key");
    json_str(w, str_of(key));
    json_key(w, "match");
    json_open(w, '{');
    json_key(w, "value");
    json_str(w, value);
    json_close(w, '}');
    json_close(w, '}');
}

static void range(struct json_out *w, const char *key, const char *than, int64_t value)
{
    json_open(w, '{');
    json_key(w, "key");
    json_str(w, str_of(key));
    json_key(w, "range");
    json_open(w, '{');
    json_key(w, than);
    json_int(w, value);
    json_close(w, '}');
    json_close(w, '}');
}

/* Opens a filter and its conditions on the owner; the caller closes the filter. */
static void begin_filter(struct json_out *w, struct pool_ref pool, str session)
{
    json_key(w, "filter");
    json_open(w, '{');
    json_key(w, "must");
    json_open(w, '[');
    match(w, "kind", S("omniroute_memory"));
    match(w, "userId", pool.user);
    if (pool.space.n)
        match(w, "apiKeyId", pool.space);
    if (session.n)
        match(w, "sessionId", session);
    json_close(w, ']');
}

/* What never expires has null there, which no range holds. */
static void write_filter(struct json_out *w, const struct qdrant_find *f)
{
    begin_filter(w, f->pool, f->session);
    json_key(w, "must_not");
    json_open(w, '[');
    range(w, "expiresAtUnix", "lte", clock_ms() / 1000);
    json_close(w, ']');
    json_close(w, '}');
}

/* --- searching --- */

/* The older form of the call has the vector's name beside it, the newer one apart. */
static void write_vector(struct json_out *w, const struct qdrant_collection *c,
                         const struct qdrant_find *f, bool is_old)
{
    json_key(w, is_old ? "vector" : "query");
    if (is_old && c->is_named) {
        json_open(w, '{');
        json_key(w, "name");
        json_str(w, c->vector);
        json_key(w, "vector");
    }
    qdrant_vector(w, f->v, f->dimensions);
    if (is_old && c->is_named)
        json_close(w, '}');
    if (!is_old && c->is_named) {
        json_key(w, "using");
        json_str(w, c->vector);
    }
}

static str question(struct arena *a, const struct qdrant_settings *q,
                    const struct qdrant_collection *c, const struct qdrant_find *f, bool is_old)
{
    struct buf b = buf_make(a, QDRANT_BODY_MAX);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    write_vector(&w, c, f, is_old);
    json_key(&w, "limit");
    json_int(&w, f->limit ? (int64_t)f->limit : 1);
    if (str_is(q->quantization, "int8") || str_is(q->quantization, "binary")) {
        json_key(&w, "params");
        json_raw(&w, S("{\"quantization\":{\"rescore\":true}}"));
    }
    write_filter(&w, f);
    json_key(&w, "with_payload");
    json_bool(&w, true);
    json_close(&w, '}');
    return buf_str(&b);
}

/*
 * /points/search is OmniRoute's call; the contract of Qdrant 1.19 has it no more, and servers
 * before 1.10 have nothing else. One that does not know a path answers 404 without an envelope.
 */
static enum status ask(struct ctx *ctx, const struct qdrant_settings *q,
                       const struct qdrant_collection *c, const struct qdrant_find *f,
                       const struct json **out)
{
    static const char *const paths[] = {"/points/query", "/points/search"};
    struct qdrant_answer answer = {0};
    for (size_t i = 0; i < 2; i++) {
        TRY(qdrant_ask(ctx, q, "POST", qdrant_path(&ctx->arena, q, paths[i]),
                       question(&ctx->arena, q, c, f, i == 1), &answer));
        if (answer.code != 404)
            break;
    }
    if (answer.code != 200)
        return qdrant_refused(ctx, &answer);
    const struct json *points = json_get(answer.result, "points");
    *out = points ? points : answer.result;
    return *out ? OK : fail(ctx, UPSTREAM, "Qdrant answers a search without a result");
}

static struct qdrant_hit hit_of(const struct json *point)
{
    const struct json *payload = json_get(point, "payload");
    return (struct qdrant_hit){.id = json_string(json_get(payload, "memoryId")),
                               .score = json_num_or(json_get(point, "score"), 0),
                               .payload = payload ? payload->source : S("{}")};
}

/* A server that takes no notice of the filter shows nobody what is another's. */
enum status qdrant_search(struct ctx *ctx, const struct qdrant_settings *q,
                          const struct qdrant_find *f, struct qdrant_hit **out, size_t *n)
{
    struct qdrant_collection c;
    const struct json *points = NULL;
    size_t count = 0;
    TRY(qdrant_look(ctx, q, &c));
    if (!c.exists)
        return fail(ctx, NOT_FOUND, "Qdrant: there is no collection '" S_FMT "'",
                    S_ARG(q->collection));
    TRY(qdrant_fits(ctx, q, &c, f->dimensions));
    TRY(ask(ctx, q, &c, f, &points));
    struct qdrant_hit *hits = NEW_N(&ctx->arena, struct qdrant_hit, points->n + 1);
    for (const struct json *p = points->first; p && count < f->limit; p = p->next)
        if (qdrant_is_of(p, f->pool))
            hits[count++] = hit_of(p);
    *out = hits;
    *n = count;
    return OK;
}

/* --- clearing --- */

static str old_ones(struct arena *a, str user, int64_t before, bool to_count)
{
    struct buf b = buf_make(a, 4096 + user.n * 6);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    begin_filter(&w, (struct pool_ref){.user = user}, S(""));
    json_key(&w, "should");
    json_open(&w, '[');
    range(&w, "expiresAtUnix", "lt", clock_ms() / 1000);
    range(&w, "createdAtUnix", "lt", before / 1000);
    json_close(&w, ']');
    json_close(&w, '}');
    if (to_count) {
        json_key(&w, "exact");
        json_bool(&w, true);
    }
    json_close(&w, '}');
    return buf_str(&b);
}

enum status qdrant_cleanup(struct ctx *ctx, const struct qdrant_settings *q, str user,
                           int64_t before, int64_t *deleted)
{
    struct qdrant_collection c;
    const struct json *result;
    TRY(qdrant_look(ctx, q, &c));
    int64_t count = 0;
    if (c.exists) {
        TRY(qdrant_want(ctx, q, "POST", qdrant_path(&ctx->arena, q, "/points/count"),
                        old_ones(&ctx->arena, user, before, true), &result));
        count = json_int_or(json_get(result, "count"), 0);
    }
    if (count > 0)
        TRY(qdrant_want(ctx, q, "POST", qdrant_path(&ctx->arena, q, "/points/delete?wait=true"),
                        old_ones(&ctx->arena, user, before, false), &result));
    *deleted = count;
    return OK;
}
