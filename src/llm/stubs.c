/* stubs.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "llm/llm.h"

enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out)
{
    return fail(ctx, UNSUPPORTED, "llm_ask is not built yet");
}

enum status llm_rerank(struct ctx *ctx, const struct upstream *up, str model, str query,
                       const str *documents, size_t n, int64_t timeout_ms, double *scores)
{
    return fail(ctx, UNSUPPORTED, "llm_rerank is not built yet");
}
