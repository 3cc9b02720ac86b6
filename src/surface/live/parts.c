/* parts.c - the parts that recall is made of, and what was done in the background. */
#include <math.h>

#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * The state of the parts is the server's, so it is for admins; the numbers in it are of the
 * caller's own memories. Qdrant is asked at that moment, so /v1/engine is its test as well. What it
 * holds is searched alone, to compare it with what a chat finds.
 */

enum { QUERY_MAX = 65536, PAYLOAD_MAX = 65536, KIND_MAX = 64 };

SHAPE(words_part, (BOOL, available));

SHAPE(embedding_part, (BOOL, available, .help = "whether a text can be embedded now"),
      (STR, source, .empty = EMPTY_NULL,
       .help = "remote, static, transformers or encoder; null: none"),
      (STR, model, .empty = EMPTY_NULL),
      (INT, dimensions, .empty = EMPTY_NULL, .help = "null: not known yet"),
      (STR, reason, .help = "why it is unavailable, or empty"),
      (INT, cached, .help = "vectors of texts that are kept for reuse"),
      (INT, hits, .help = "texts whose vector was kept"),
      (INT, misses, .help = "texts whose vector had to be made"));

SHAPE(vectors_part, (BOOL, available), (STR, store, .help = "sqlite-vec, qdrant or none"),
      (INT, rows, .help = "vectors of the user"),
      (INT, waiting, .help = "texts that wait for a vector"),
      (INT, failed, .help = "texts that got none after several tries"),
      (STR, reason, .help = "why it is unavailable, or empty"));

SHAPE(qdrant_part, (BOOL, enabled), (BOOL, available, .help = "whether it answered now"),
      (NUM, latency_ms, .empty = EMPTY_NULL, .help = "null: it was not asked"),
      (INT, waiting, .help = "memories that are not there yet"),
      (STR, error, .help = "why it did not answer, or empty"),
      (STR, note, .help = "what differs from its settings and works, or empty"));

SHAPE(rerank_part, (BOOL, enabled), (BOOL, available),
      (STR, model, .empty = EMPTY_NULL, .help = "upstream/model"),
      (STR, reason, .help = "why it is unavailable, or empty"));

#define PART(MEMBER) (OBJECT, MEMBER, struct MEMBER##_part, .inside = MEMBER##_part_fields)
SHAPE(parts_out, PART(words), PART(embedding), PART(vectors), PART(qdrant), PART(rerank));

static HANDLER(parts_get)
{
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct engine_status s;
    TRY(engine_status(ctx, app->engine, everywhere, true, &s));
    struct parts_out shape = {
        .words = {s.words_ok},
        .embedding = {s.embedding.available, str_of(s.embedding_source), s.embedding.model,
                      s.embedding.dimensions, s.embedding.reason, s.embedding.size,
                      s.embedding.hits, s.embedding.misses},
        .vectors = {s.vectors.available, str_of(s.vectors.backend), s.vectors.rows,
                    s.vectors.waiting, s.vectors.failed, s.vectors.reason},
        .qdrant = {s.qdrant.enabled, s.qdrant.healthy,
                   s.qdrant.took_us ? (double)s.qdrant.took_us / 1000 : NAN, s.qdrant.waiting,
                   s.qdrant.error, s.qdrant.note},
        .rerank = {s.rerank.enabled, s.rerank.available, s.rerank.model, s.rerank.reason},
    };
    return reply_fields(out, parts_out_fields, &shape);
}

/* --- Qdrant --- */

SHAPE(search_in, (STR, query, .required = true, .min = 1, .max = QUERY_MAX, .help = "the query"),
      (INT, limit, .otherwise = 5, .min = 1, .max = 50, .help = "most results"));

SHAPE(hit_out, (STR, id), (NUM, score),
      (JSON, payload, .empty = EMPTY_OUT, .help = "what Qdrant keeps beside it"));

SHAPE(hits_out,
      (JSON, results, .required = true, .inside = hit_out_fields, .help = "nearest first"));

/* What another server keeps is passed on only if it is JSON. */
static const struct json *payload_of(struct ctx *ctx, str text)
{
    return text.n <= PAYLOAD_MAX ? json_of_text(ctx, text) : NULL;
}

static enum status check_qdrant(struct ctx *ctx, struct app *app)
{
    const struct settings *r = engine_runtime(app->engine);
    return r->qdrant_enabled && r->qdrant_host.n
               ? OK
               : fail(ctx, UNSUPPORTED,
                      "Qdrant is not used: set qdrant_enabled and qdrant_host first");
}

static HANDLER(qdrant_search)
{
    const struct search_in *q = in->in;
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct qdrant_hit *v;
    struct hits_out shape;
    size_t n;
    TRY(check_qdrant(ctx, app));
    TRY(engine_qdrant_search(ctx, app->engine, everywhere, q->query, (size_t)q->limit, &v, &n));
    struct hit_out *items = NEW_N(&ctx->arena, struct hit_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct hit_out){v[i].id, v[i].score, payload_of(ctx, v[i].payload)};
    return list_reply(ctx, hits_out_fields, &shape, items, n, sizeof *items, out);
}

SHAPE(cleanup_out, (INT, erased, .help = "points that were older"),
      (INT, retention_days, .help = "the setting"));

/* Only points of the caller's user; the database keeps its memories. */
static HANDLER(qdrant_cleanup)
{
    struct cleanup_out shape = {0, engine_runtime(app->engine)->retention_days};
    TRY(check_qdrant(ctx, app));
    TRY(engine_qdrant_cleanup(ctx, app->engine, in->who.pool.user, &shape.erased));
    return reply_fields(out, cleanup_out_fields, &shape);
}

/* --- the log --- */

SHAPE(log_in,
      (STR, kind, .max = KIND_MAX,
       .help = "only distil, consolidate, gate, rewrite, summary, profile, dedup, compact, reindex "
               "or prune"),
      (INT, limit, .otherwise = 50, .min = 1, .max = 500, .help = "most rows"));

static FIELDS_OF(work, work_out,
                 (AS_STR, pool.space, "space",
                  .help = "empty: several spaces, or the whole server"),
                 (STR, kind), (STR, status, .help = "success, skipped, empty, error or dead"),
                 (STR, details, .help = "numbers and reasons, never texts"),
                 (STR, model, .empty = EMPTY_NULL, .help = "null: no model was called"),
                 (INT, tokens_in, .help = "tokens sent to the model"),
                 (INT, tokens_out, .help = "tokens that the model answered"), (INT, took_ms),
                 (TIME, created));
LIST_PAGE(log_out, work_out_fields, "newest first, of the last 30 days");

/* One page: a log is read from its end. */
static HANDLER(log_list)
{
    const struct log_in *l = in->in;
    struct pool_ref pool;
    struct work *v;
    size_t n;
    TRY(auth_spaces(ctx, app, &in->who, &pool));
    TRY(engine_work_log(ctx, app->engine, &pool, l->kind, (size_t)l->limit, &v, &n));
    struct list_page page = {.total = (int64_t)n};
    return list_reply(ctx, log_out_fields, &page, v, n, sizeof *v, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/engine", parts_get), .access = ACCESS_ADMIN, ANSWERS(parts_out),
     .help = "state of words, embedding, vectors, Qdrant and reranking; asks Qdrant"},
    {ROUTE("POST", "/v1/engine/qdrant/search", qdrant_search), .scope = MAY_READ, READS(search_in),
     .access = ACCESS_ADMIN, ANSWERS(hits_out), .help = "what Qdrant alone finds"},
    {ROUTE("POST", "/v1/engine/qdrant/cleanup", qdrant_cleanup), .access = ACCESS_ADMIN,
     ANSWERS(cleanup_out), .help = "erase the user's points in Qdrant that retention_days ends"},
    {ROUTE("GET", "/v1/log", log_list), READS(log_in), ANSWERS(log_out),
     .help = "what was done in the background, and what it cost"},
    {0},
};

const struct surface surface_parts = STRICT_SURFACE("engine", routes);
