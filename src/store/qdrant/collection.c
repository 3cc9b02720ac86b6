/* collection.c - Qdrant's health, and the collection: what it holds, and how it is made. */
#include "store/qdrant/collection.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "store/qdrant/rest.h"

/*
 * A collection may already exist, made by this server, by an earlier product or by hand. So its
 * shape is asked for before each use: the vector's name and size. Only a missing collection is
 * created; an existing one is never changed.
 */

/* --- health --- */

/* Bytes of the message that an unhealthy server leaves in a status. */
enum { HEALTH_WORDS_MAX = 200 };

/* /readyz needs no key, so reading the collection shows whether the server accepts ours. */
static enum status ask_health(struct ctx *ctx, const struct qdrant_settings *q, int64_t *took_us)
{
    struct qdrant_answer answer;
    struct qdrant_collection c;
    int64_t began = clock_mono_us();
    TRY(qdrant_ask(ctx, q, "GET", NULL, S(""), &answer));
    if (answer.code != 200)
        return qdrant_refused(ctx, &answer);
    int64_t took = clock_mono_us() - began;
    TRY(qdrant_look(ctx, q, &c));
    *took_us = took;
    return OK;
}

enum status qdrant_health(struct ctx *ctx, const struct qdrant_settings *q, int64_t *took_us)
{
    enum status s = ask_health(ctx, q, took_us);
    if (s != OK)
        ctx->why[utf8_cut(str_of(ctx->why), HEALTH_WORDS_MAX).n] = 0;
    return s;
}

/* --- the collection --- */

/* Unnamed vectors are described by the object itself, named ones by its members. */
static enum status read_collection(struct ctx *ctx, const struct qdrant_settings *q,
                                   const struct json *info, struct qdrant_collection *out)
{
    const struct json *vectors = json_at(info, "config.params.vectors");
    const struct json *one = vectors;
    *out = (struct qdrant_collection){.exists = true};
    if (vectors && !json_get(vectors, "size")) {
        one = vectors->type == JSON_OBJECT ? vectors->first : NULL;
        out->is_named = true;
        out->vector = one ? json_name(one) : S("");
    }
    out->dimensions = json_int_or(json_get(one, "size"), 0);
    return out->dimensions > 0
               ? OK
               : fail(ctx, UPSTREAM, "Qdrant: the collection '" S_FMT "' holds no vectors",
                      S_ARG(q->collection));
}

enum status qdrant_look(struct ctx *ctx, const struct qdrant_settings *q,
                        struct qdrant_collection *out)
{
    struct qdrant_answer answer;
    TRY(qdrant_ask(ctx, q, "GET", "", S(""), &answer));
    if (answer.code == 404) {
        *out = (struct qdrant_collection){0};
        return OK;
    }
    return answer.code == 200 ? read_collection(ctx, q, answer.result, out)
                              : qdrant_refused(ctx, &answer);
}

enum status qdrant_fits(struct ctx *ctx, const struct qdrant_settings *q,
                        const struct qdrant_collection *c, size_t dimensions)
{
    if ((size_t)c->dimensions == dimensions)
        return OK;
    return fail(ctx, UPSTREAM,
                "Qdrant: the collection '" S_FMT "' holds vectors of %lld numbers and the "
                "embedding model makes %zu; name another collection or model",
                S_ARG(q->collection), (long long)c->dimensions, dimensions);
}

/* --- making it --- */

/* rescore (search.c) corrects quantized scores by the full vectors; quantile 0.99 leaves out
 * outliers when the range of int8 is chosen (Qdrant's documentation on quantization). */
static const char *quantization_of(str kind)
{
    return str_is(kind, "int8")     ? ",\"quantization_config\":{\"scalar\":{\"type\":\"int8\","
                                      "\"always_ram\":true,\"quantile\":0.99}}"
           : str_is(kind, "binary") ? ",\"quantization_config\":{\"binary\":{\"always_ram\":true}}"
                                    : "";
}

/* 409: another client has made it meanwhile. */
static enum status make_collection(struct ctx *ctx, const struct qdrant_settings *q,
                                   size_t dimensions)
{
    struct qdrant_answer answer;
    str body = str_printf(&ctx->arena, "{\"vectors\":{\"size\":%zu,\"distance\":\"Cosine\"}%s}",
                          dimensions, quantization_of(q->quantization));
    TRY(qdrant_ask(ctx, q, "PUT", "", body, &answer));
    bool is_made = (answer.code >= 200 && answer.code <= 299) || answer.code == 409;
    return is_made ? OK : qdrant_refused(ctx, &answer);
}

/*
 * What filters name. A server in strict mode refuses a filter over what has no index, and without
 * one each search reads every point. A server that refuses an index still serves.
 */
static enum status make_indexes(struct ctx *ctx, const struct qdrant_settings *q)
{
    static const struct {
        const char *field, *schema;
    } rows[] = {
        {"userId", "keyword"}, {"apiKeyId", "keyword"},      {"sessionId", "keyword"},
        {"kind", "keyword"},   {"createdAtUnix", "integer"}, {"expiresAtUnix", "integer"},
    };
    struct qdrant_answer answer;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(qdrant_ask(ctx, q, "PUT", "/index?wait=true",
                       str_printf(&ctx->arena, "{\"field_name\":\"%s\",\"field_schema\":\"%s\"}",
                                  rows[i].field, rows[i].schema),
                       &answer));
    return OK;
}

enum status qdrant_ensure(struct ctx *ctx, const struct qdrant_settings *q, size_t dimensions,
                          bool may_make, struct qdrant_collection *out)
{
    struct qdrant_collection c;
    TRY(qdrant_look(ctx, q, &c));
    if (!c.exists && !may_make)
        return fail(ctx, NOT_FOUND, "Qdrant: there is no collection '" S_FMT "'",
                    S_ARG(q->collection));
    if (!c.exists) {
        TRY(make_collection(ctx, q, dimensions));
        TRY(make_indexes(ctx, q));
        TRY(qdrant_look(ctx, q, &c));
    }
    if (!c.exists)
        return fail(ctx, UPSTREAM, "Qdrant: the collection '" S_FMT "' was made and is not there",
                    S_ARG(q->collection));
    TRY(qdrant_fits(ctx, q, &c, dimensions));
    *out = c;
    return OK;
}
