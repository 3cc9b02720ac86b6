/* rerank.c - requests relevance scores from a reranker. */
#include <math.h>

#include "base/utf8.h"
#include "llm/inside.h"

/*
 * The request and the answer are those of Cohere's rerank API, which Jina, Voyage, vLLM, llama.cpp
 * and others serve under the same path. Scores of different models have different scales; only
 * their order within one answer means something.
 */

/* Rerankers read a few hundred words, so only the beginning of a document is sent. */
enum { DOCUMENT_MAX = 8000 };

static str order_body(struct arena *a, const struct llm_order *order)
{
    struct json_out w = json_in(a, REQUEST_MAX);
    json_open(&w, '{');
    json_member_str(&w, "model", order->model);
    json_member_str(&w, "query", utf8_cut(order->query, DOCUMENT_MAX));
    json_member_open(&w, "documents", '[');
    for (size_t i = 0; i < order->n; i++)
        json_str(&w, utf8_cut(order->documents[i], DOCUMENT_MAX));
    json_close(&w, ']');
    json_member_int(&w, "top_n", (int64_t)order->n);
    json_close(&w, '}');
    return buf_str(w.b);
}

/* The texts that an error message of the server may not repeat. */
static str texts_of(struct arena *a, const struct llm_order *order)
{
    struct buf b = buf_make(a, REQUEST_MAX);
    buf_add(&b, order->query);
    for (size_t i = 0; i < order->n; i++)
        buf_printf(&b, "\n" S_FMT, S_ARG(utf8_cut(order->documents[i], DOCUMENT_MAX)));
    return buf_str(&b);
}

/* Bad entries are skipped, not fatal: a document without a score keeps its place. scores stays
 * untouched on failure. */
enum status llm_rerank(struct ctx *ctx, const struct llm_order *order, double *scores)
{
    struct heard heard;
    size_t named = 0, n = order->n;
    TRY(llm_post(ctx, order->up, "/v1/rerank", order_body(&ctx->arena, order), order->timeout_ms,
                 texts_of(&ctx->arena, order), &heard));
    /* Cohere and most others name the list results, Voyage names it data. */
    const struct json *results = json_get(heard.root, "results") ?: json_get(heard.root, "data");
    double *given = NEW_N(&ctx->arena, double, n + 1);
    for (size_t i = 0; i < n; i++)
        given[i] = NAN;
    bool is_list = results && results->type == JSON_ARRAY;
    for (const struct json *r = is_list ? results->first : NULL; r; r = r->next) {
        int64_t at = json_int_or(json_get(r, "index"), -1);
        double score = json_num_or(json_get(r, "relevance_score"), NAN);
        /* The first score of a document counts. */
        if (at < 0 || (uint64_t)at >= n || !isfinite(score) || !isnan(given[at]))
            continue;
        given[at] = score;
        named++;
    }
    if (!named)
        return fail(ctx, UPSTREAM, "the answer of the rerank server scores none of the documents");
    memcpy(scores, given, n * sizeof *scores);
    return OK;
}
