/* later.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "llm/llm.h"

enum status llm_json(struct ctx *ctx, const struct llm_ask *ask, const struct field *table,
                     void *out, struct llm_answer *answer)
{
    return fail(ctx, UNSUPPORTED, "llm_json is not built yet");
}

enum status llm_object(struct ctx *ctx, str text, struct json **out)
{
    return fail(ctx, UNSUPPORTED, "llm_object is not built yet");
}
