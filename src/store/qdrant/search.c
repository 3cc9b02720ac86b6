/* search.c - asking Qdrant for what is near, always bound to an owner, and clearing what is old. */
#include "base/clock.h"
#include "store/qdrant/collection.h"
#include "store/qdrant/points.h"
#include "store/qdrant/rest.h"

/*
 * Every filter names the kind, the user and, unless all spaces are meant, the space. The "must"
 * part is built in one place (begin_filter), so no question can be asked without an owner.
 */

/* --- filters --- */

static void write_match(struct json_out *w, const char *key, str value)
{
    json_open(w, '{');
    json_member_str(w, "key", str_of(key));
    json_member_open(w, "match", '{');
    json_member_str(w, "value", value);
    json_close(w, '}');
    json_close(w, '}');
}

static void write_range(struct json_out *w, const char *key, const char *than, int64_t value)
{
    json_raw(w, str_printf(w->b->arena, "{\"key\":\"%s\",\"range\":{\"%s\":%lld}}", key, than,
                           (long long)value));
}

/* Opens a filter and its conditions on the owner; the caller closes the filter. */
static void begin_filter(struct json_out *w, struct pool_ref pool, str session)
{
    json_member_open(w, "filter", '{');
    json_member_open(w, "must", '[');
    write_match(w, "kind", S(QDRANT_KIND));
    write_match(w, "userId", pool.user);
    if (pool.space.n)
        write_match(w, "apiKeyId", pool.space);
    if (session.n)
        write_match(w, "sessionId", session);
    json_close(w, ']');
}

/* --- searching --- */

/* The older form of the call puts the vector's name into the vector, the newer one beside it. */
static void write_vector(struct json_out *w, const struct qdrant_collection *c,
                         const struct qdrant_find *f, bool is_old)
{
    json_key(w, is_old ? "vector" : "query");
    if (is_old && c->is_named) {
        json_open(w, '{');
        json_member_str(w, "name", c->vector);
        json_key(w, "vector");
    }
    qdrant_vector(w, f->v, f->dimensions);
    if (is_old && c->is_named)
        json_close(w, '}');
    if (!is_old && c->is_named)
        json_member_str(w, "using", c->vector);
}

static str search_question(struct arena *a, const struct qdrant_settings *q,
                           const struct qdrant_collection *c, const struct qdrant_find *f,
                           bool is_old)
{
    struct json_out w = json_in(a, QDRANT_BODY_MAX);
    json_open(&w, '{');
    write_vector(&w, c, f, is_old);
    json_member_int(&w, "limit", f->limit ? (int64_t)f->limit : 1);
    if (str_is(q->quantization, "int8") || str_is(q->quantization, "binary"))
        json_member_raw(&w, "params", S("{\"quantization\":{\"rescore\":true}}"));
    begin_filter(&w, f->pool, f->session);
    json_member_open(&w, "must_not", '[');
    /* A point that never expires has null there, which is in no range. */
    write_range(&w, "expiresAtUnix", "lte", clock_ms() / 1000);
    json_close(&w, ']');
    json_close(&w, '}');
    json_member_bool(&w, "with_payload", true);
    json_close(&w, '}');
    return buf_str(w.b);
}

/*
 * Servers before 1.10 know /points/search alone, and the contract of Qdrant 1.19 has dropped it. A
 * server answers an unknown path with 404 without an envelope.
 */
static enum status ask_search(struct ctx *ctx, const struct qdrant_settings *q,
                              const struct qdrant_collection *c, const struct qdrant_find *f,
                              const struct json **out)
{
    static const char *const paths[] = {"/points/query", "/points/search"};
    struct qdrant_answer answer = {0};
    for (size_t i = 0; i < 2; i++) {
        TRY(qdrant_ask(ctx, q, "POST", paths[i], search_question(&ctx->arena, q, c, f, i == 1),
                       &answer));
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

/* Owners are checked again here: a server that ignores the filter must not show one user's memories
 * to another. */
enum status qdrant_search(struct ctx *ctx, const struct qdrant_settings *q,
                          const struct qdrant_find *f, struct qdrant_hit **out, size_t *n)
{
    struct qdrant_collection c;
    const struct json *points = NULL;
    TRY(qdrant_ensure(ctx, q, f->dimensions, false, &c));
    TRY(ask_search(ctx, q, &c, f, &points));
    *out = NEW_N(&ctx->arena, struct qdrant_hit, points->n + 1);
    *n = 0;
    for (const struct json *p = points->first; p && *n < f->limit; p = p->next)
        if (qdrant_is_of(p, f->pool))
            (*out)[(*n)++] = hit_of(p);
    return OK;
}

/* --- clearing --- */

/* "should" needs one of its conditions: expired, or older than before. Both the count and the
 * deletion use this filter. */
static str old_ones(struct arena *a, str user, int64_t before, bool to_count)
{
    struct json_out w = json_in(a, 4096 + user.n * 6);
    json_open(&w, '{');
    begin_filter(&w, (struct pool_ref){.user = user}, S(""));
    json_member_open(&w, "should", '[');
    write_range(&w, "expiresAtUnix", "lt", clock_ms() / 1000);
    write_range(&w, "createdAtUnix", "lt", before / 1000);
    json_close(&w, ']');
    json_close(&w, '}');
    if (to_count)
        json_member_bool(&w, "exact", true);
    json_close(&w, '}');
    return buf_str(w.b);
}

/* Counted first, as deleting by a filter reports no number. Points written in between are deleted
 * and not counted. */
enum status qdrant_cleanup(struct ctx *ctx, const struct qdrant_settings *q, str user,
                           int64_t before, int64_t *deleted)
{
    struct qdrant_collection c;
    const struct json *result;
    TRY(qdrant_look(ctx, q, &c));
    int64_t count = 0;
    if (c.exists) {
        TRY(qdrant_want(ctx, q, "POST", "/points/count", old_ones(&ctx->arena, user, before, true),
                        &result));
        count = json_int_or(json_get(result, "count"), 0);
    }
    if (count > 0)
        TRY(qdrant_want(ctx, q, "POST", "/points/delete?wait=true",
                        old_ones(&ctx->arena, user, before, false), &result));
    *deleted = count;
    return OK;
}
