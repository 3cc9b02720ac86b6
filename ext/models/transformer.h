/* transformer.h - a BERT encoder: the mean of its token vectors is the vector of a text. */
#pragma once

#include "base/ctx.h"

struct transformer;

/* Reads config.json, tokenizer.json and model.safetensors of the folder. UNSUPPORTED: oneDNN is not
 * installed, or the model is of another kind. */
MUST_USE enum status transformer_open(struct ctx *ctx, str folder, struct transformer **out);
void transformer_close(struct transformer *t);
size_t transformer_dimensions(const struct transformer *t);

/* n vectors of length 1, one after the other. Thread-safe; each call uses one core. Only the first
 * 512 tokens of a text count. TIMED_OUT at the deadline of the ctx. */
MUST_USE enum status transformer_embed(struct ctx *ctx, const struct transformer *t,
                                       const str *texts, size_t n, float *out);
