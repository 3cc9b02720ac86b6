/* transformer.h - a BERT-family encoder: tokens through its layers, their mean as the vector. */
#pragma once

#include "base/ctx.h"

struct transformer;

/* config.json, tokenizer.json and model.safetensors of the folder. UNSUPPORTED when this build has
 * no oneDNN or the model is of another kind. */
MUST_USE enum status transformer_open(struct ctx *ctx, str folder, struct transformer **out);
void transformer_close(struct transformer *t);
size_t transformer_dimensions(const struct transformer *t);

/* n vectors of length 1, one after the other; from several threads at once, each with one core.
 * Only the first 512 tokens of a text count. Stops with TIMED_OUT at the ctx's deadline. */
MUST_USE enum status transformer_embed(struct ctx *ctx, const struct transformer *t,
                                       const str *texts, size_t n, float *out);
